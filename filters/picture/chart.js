const names = data.size || data.snapshot, points = names.length, shown = data.series.map(() => true);
let view = [0, points], hover = -1, drag = null;

// Times are texts, since a number may not hold them to the last digit; the axis shows what comes after `zero`.
const at = i => BigInt(data.time?.[i] ?? 0), gap = at(1) - at(0), last = at(points - 1);
const first = gap < at(0) ? at(0) - gap : 0n, zero = first / 4n > last - first ? first : 0n;
// Sizes stand on a scale of doublings. Each has the room to the middle between it and the next.
const doublings = data.size?.map(Math.log2), apart = i => (doublings[Math.min(i + 1, points - 1)] - doublings[i] || 1) / 2;
const between = () => [...doublings.map((v, i) => v - apart(Math.max(i - 1, 0))), doublings[points - 1] + apart(points - 2)];
// Where points begin, and the last one ends: each ends at its time.
const edges = data.size && points ? between()
  : data.time ? [first, ...data.time].map(t => Number(BigInt(t) - zero)) : [...names.keys(), points];
const onAxis = (v, width) => LEFT + (v - edges[view[0]]) / (edges[view[1]] - edges[view[0]]) * width;
const across = (i, width) => onAxis(edges[i], width);
const [scale, scaled] = timeUnit(Number(last - zero), data.unit);
const timeTitle = 'time (' + scaled + (zero ? ' after ' + exact(zero) : '') + ')';
const point = data.size ? 'cache size' : 'snapshot';
// Of little its first two digits: a miss ratio has more than one behind the point.
const part = v => v && v < 0.1 ? +v.toPrecision(2) : v.toFixed(1);
const say = v => v == null ? '' : data.whole ? part(100 * v / data.whole) + ' %' : v < 100 ? short(v) : Math.round(v).toString();
// Of several streams, snapshots have no number in common.
const numbered = !data.own || !data.time;
const where = i => data.size ? bytes(data.size[i])
  : [...numbered ? ['snapshot ' + data.snapshot[i]] : [], ...data.time ? [data.time[i] + ' ' + data.unit] : []].join(', ');

$('reset').textContent = data.size ? 'All sizes' : 'All snapshots';
$('help').textContent = `Point at a ${point} to read it; the table then shows its values, else the means. `
  + 'Drag to zoom. Keys: arrows go from one to the next, 0 shows all. Untick a series to leave it out.';

const cells = data.series.map((s, i) => {
  const row = $('list').insertRow(), label = document.createElement('label');
  const box = document.createElement('input'), dot = document.createElement('i');
  box.type = 'checkbox';
  box.checked = true;
  box.onchange = () => { shown[i] = box.checked; row.classList.toggle('left', !box.checked); draw(); };
  s.dot = dot;
  label.append(box, dot, s.name);
  row.insertCell().append(label);
  return data.panels.map(() => row.insertCell());
});
const columnName = k => data.panels.length > 1 ? (k ? 'reused' : 'active') : data.size ? 'misses' : data.whole ? 'share' : 'lines';
const panels = data.panels.map((p, k) => {
  const figure = add($('charts'), 'figure');
  add(figure, 'figcaption', p.title);
  const canvas = add(figure, 'canvas');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', p.title);
  add($('head'), 'th', columnName(k)).scope = 'col';
  return {canvas, ...p};
});
// The areas lie one on the other with the first series below: the table has it below, too.
if (panels[0].stacked) $('list').append(...[...$('list').rows].reverse());

const LEFT = 52, BOTTOM = 34, TOP = 8, RIGHT = 18, FONT = '12px system-ui, sans-serif';

// `own` of a series says which points are its own, where others lie between.
function mean(lines, from, to, own) {
  let sum = 0, n = 0;
  for (let i = from; i < to; i++) if (lines[i] != null && (!own || own[i])) { sum += lines[i]; n++; }
  return n ? sum / n : to > from ? null : 0;
}

// The columns that are drawn: as many as there are points in view, but none narrower than a pixel.
function columns(width) {
  const count = view[1] - view[0], drawn = Math.min(count, width);
  return Array.from({length: drawn}, (_, c) => {
    const [from, to] = [c, c + 1].map(c => view[0] + Math.floor(c * count / drawn));
    const left = across(from, width), right = across(to, width);
    return {from, to, left, right, middle: data.size ? onAxis(doublings[from], width) : (left + right) / 2};
  });
}

// Areas from the uppermost down, each covering what lies below it, or lines, the first on top.
function drawSeries(g, p, width, y) {
  const all = columns(width), sums = all.map(() => 0), tops = [];
  data.series.forEach((s, i) => {
    tops.push(all.map(({from, to}, c) => {
      const v = shown[i] ? mean(p.lines[i], from, to) : p.stacked ? 0 : null;
      return p.stacked ? (sums[c] += v) : v;
    }));
  });
  for (let i = data.series.length; i-- > 0;) {
    if (!shown[i]) continue;
    g.fillStyle = g.strokeStyle = data.series[i].drawn;
    // a size that the series does not have breaks no line
    const line = all.map((column, c) => ({...column, v: tops[i][c]})).filter(({v}) => v != null || !data.size);
    g.lineWidth = line.length > 1 ? 1.6 : 6;
    g.beginPath();
    let broken = true; // no value before this one
    line.forEach(({left, right, middle, v}, c) => {
      if (v != null && p.stacked) { g.lineTo(left, y(v)); g.lineTo(right, y(v)); }
      else if (v != null) g[broken ? 'moveTo' : 'lineTo'](middle, y(v));
      if (v != null && broken && !p.stacked && line[c + 1]?.v == null) { g.moveTo(middle - 3, y(v)); g.lineTo(middle + 3, y(v)); } // a dot
      broken = v == null;
    });
    if (p.stacked) { g.lineTo(LEFT + width, y(0)); g.lineTo(LEFT, y(0)); g.fill(); } else g.stroke();
  }
}

function drawUpright(g, height, y) {
  const unit = data.whole ? data.whole / 100 : 1, up = Math.min(step(data.top / unit, height / 40), data.top / unit);
  g.fillStyle = css('--pale');
  g.textAlign = 'right';
  for (let v = 0; v * unit <= data.top * (1 + 1e-9); v += up) {
    g.fillRect(LEFT - 4, y(v * unit), 4, 1);
    g.fillText(data.whole ? +v.toFixed(6) + ' %' : axisNumber(v, data.top), LEFT - 7, y(v * unit) + 4);
  }
}

// The caches of a machine.
function drawSigns(g, width, bottom) {
  let end = 0, row = 0;
  g.textAlign = 'left';
  for (const [size, name] of data.signs || []) {
    const x = onAxis(Math.log2(size), width), room = g.measureText(name).width;
    if (size < data.size[0] || size > data.size[points - 1] || x < LEFT || x > LEFT + width) continue;
    const from = Math.min(x + 4, LEFT + width - room);
    row = from < end ? row + 15 : 0;
    end = from + room;
    g.fillRect(x, TOP, 1, bottom - TOP);
    g.fillText(name, from, TOP + 12 + row);
  }
  g.textAlign = 'center';
}

function drawLevel(g, width, bottom) {
  const count = view[1] - view[0];
  let before = -99;
  const mark = (x, text, room) => {
    if (x < before + room) return;
    before = x;
    g.fillRect(x, bottom, 1, 4);
    g.fillText(text, x, bottom + 16);
  };
  g.textAlign = 'center';
  // powers of two, or where these are fewer than two, the points
  const inView = data.size?.slice(...view) ?? [], powers = inView.filter(size => Number.isInteger(Math.log2(size)));
  for (const size of powers.length > 1 ? powers : inView)
    mark(onAxis(Math.log2(size), width), bytes(size), Math.max(60, g.measureText(bytes(size)).width + 8));
  const [from, to] = view.map(i => edges[i] / scale), along = step(to - from, width / 70);
  for (let k = Math.ceil(from / along - 1e-9); data.time && k * along <= to; k++)
    mark(LEFT + (k * along - from) / (to - from) * width, +(k * along).toPrecision(12), 40);
  // one where the number passes a multiple of the step, and where another stream begins
  const block = i => Math.floor(data.snapshot[i] / Math.max(1, along));
  for (let i = view[0]; !data.size && !data.time && i < view[1]; i++)
    if (i > view[0] ? block(i) !== block(i - 1) || data.snapshot[i] < data.snapshot[i - 1] : data.snapshot[i] % Math.max(1, along) === 0)
      mark(LEFT + (i - view[0] + 0.5) * width / count, data.snapshot[i], 40);
  drawSigns(g, width, bottom);
  g.fillText(data.size ? 'cache size' : data.time ? timeTitle : 'snapshot', LEFT + width / 2, bottom + 31);
}

// One panel on a canvas of that size.
function drawPanel(p, g, outer, height) {
  const width = Math.max(1, Math.floor(outer - LEFT - RIGHT)), count = view[1] - view[0];
  const y = v => TOP + height * (1 - v / data.top);
  g.font = FONT;
  g.fillStyle = css('--side');
  g.fillRect(LEFT, TOP, width, height);
  if (!count) return;
  drawSeries(g, p, width, y);
  drawUpright(g, height, y);
  drawLevel(g, width, TOP + height);
  g.globalAlpha = 0.35;
  if (hover >= view[0] && hover < view[1])
    g.fillRect(across(hover, width), TOP, Math.max(1, across(hover + 1, width) - across(hover, width)), height);
  if (drag && drag[0] !== drag[1]) {
    const [a, b] = [Math.min(...drag), Math.max(...drag) + 1];
    g.fillRect(across(a, width), TOP, across(b, width) - across(a, width), height);
  }
  g.globalAlpha = 1;
}

function draw() {
  for (const s of data.series) s.dot.style.background = s.drawn = distinct(s.colour);
  for (const p of panels) {
    const ratio = devicePixelRatio || 1, box = p.canvas.getBoundingClientRect();
    p.canvas.width = Math.round(box.width * ratio);
    p.canvas.height = Math.round(box.height * ratio);
    const g = p.canvas.getContext('2d');
    g.scale(ratio, ratio);
    drawPanel(p, g, box.width, box.height - TOP - BOTTOM);
  }
  cells.forEach((row, s) => row.forEach((cell, k) => {
    const lines = panels[k].lines[s];
    cell.textContent = say(hover < 0 ? mean(lines, view[0], view[1], data.own?.[s]) : lines[hover]);
  }));
  $('where').textContent = hover < 0 ? '' : where(hover);
}

// ---- hover, zoom ----
function pointAt(canvas, event) {
  const box = canvas.getBoundingClientRect(), count = view[1] - view[0];
  const x = (event.clientX - box.left - LEFT) / Math.max(1, Math.floor(box.width - LEFT - RIGHT));
  const [from, to] = view.map(i => edges[i]), past = edges.findIndex(e => e > from + x * (to - from));
  return x < 0 || x >= 1 || !count ? -1 : Math.max(view[0], past - 1);
}

function tell(event, k) {
  if (hover < 0) return hideTip();
  const lines = [['b', where(hover)]];
  data.series.forEach((s, i) => {
    const v = panels[k].lines[i][hover];
    if (shown[i] && v != null && lines.length < 22) lines.push(['div', s.name + ': ' + say(v)]);
  });
  showTip(event, lines);
}

panels.forEach(({canvas}, k) => {
  canvas.onpointerdown = e => {
    const at = pointAt(canvas, e);
    if (at < 0) return;
    try { canvas.setPointerCapture(e.pointerId); } catch (err) { /* a made-up event has no pointer */ }
    drag = [at, at];
  };
  canvas.onpointermove = e => {
    hover = pointAt(canvas, e);
    if (drag && hover >= 0) drag[1] = hover;
    draw();
    tell(e, k);
  };
  canvas.onpointerup = () => {
    if (drag && drag[0] !== drag[1]) view = [Math.min(...drag), Math.max(...drag) + 1];
    drag = null;
    draw();
  };
  canvas.onpointercancel = () => { drag = null; draw(); };
  canvas.onpointerleave = () => { hover = -1; hideTip(); draw(); };
  canvas.onkeydown = e => {
    if (e.key === 'ArrowRight') hover = Math.min(view[1] - 1, Math.max(hover, view[0] - 1) + 1);
    else if (e.key === 'ArrowLeft') hover = Math.max(view[0], (hover < 0 ? view[1] : hover) - 1);
    else if (e.key === 'Escape' || e.key === '0') { hover = -1; view = [0, points]; }
    else return;
    e.preventDefault();
    draw();
  };
});
$('reset').onclick = () => { view = [0, points]; hover = -1; draw(); };

// ---- save as: what is in view, with its legend ----
const WIDTH = 640, HEIGHT = 400, LEGEND = 220, ROW = 18, HEAD = 30;
function svg() {
  hover = -1;
  const g = new Recorder(panels[0].canvas.getContext('2d')), out = [];
  panels.forEach((p, k) => {
    g.out = [];
    drawPanel(p, g, WIDTH, HEIGHT - TOP - BOTTOM);
    g.fillStyle = css('--pale');
    g.textAlign = 'left';
    g.fillText(p.title, LEFT, -4);
    out.push(`<g transform="translate(${k * WIDTH} ${HEAD + 20})">`, ...g.out, '</g>');
  });
  const series = data.series.filter((_, i) => shown[i]);
  if (panels[0].stacked) series.reverse();
  g.out = [];
  series.forEach((s, i) => {
    g.fillStyle = s.drawn;
    g.fillRect(0, ROW * i, 12, 12);
    g.fillStyle = css('--ink');
    g.fillText(s.name, 18, ROW * i + 10);
  });
  out.push(`<g transform="translate(${panels.length * WIDTH + 10} ${HEAD + 30})">`, ...g.out, '</g>');
  return svgText(panels.length * WIDTH + LEGEND, Math.max(HEIGHT + HEAD + 20, ROW * series.length + HEAD + 40), out.join('\n'));
}
// Fractions of the whole where there is one.
function csv() {
  let out = csvRow([...numbered ? [data.size ? 'size_bytes' : 'snapshot'] : [], ...data.time ? ['time'] : [], 'series',
    ...panels.map((_, k) => columnName(k) + (data.whole ? '_percent' : ''))]);
  for (let i = view[0]; i < view[1]; i++)
    data.series.forEach((s, n) => {
      if (shown[n] && data.own?.[n][i] !== 0) out += csvRow([...numbered ? [names[i]] : [], ...data.time ? [data.time[i]] : [], s.name, ...panels.map(p => {
        const v = p.lines[n][i];
        return v == null ? '' : data.whole ? +(100 * v / data.whole).toPrecision(9) : v;
      })]);
    });
  return out;
}
const files = {png: () => painted(svg()), svg, csv};
saveAs($('tools'), 'chart', files);

onresize = draw;
onColours(draw);
draw();
