// ---- zoom ----
function clamp() {
  for (const [a, b, least] of [['x0', 'x1', Math.min(1, full.x1)], ['y0', 'y1', 1e-4 * full.y1]]) {
    let span = Math.min(full[b], Math.max(view[b] - view[a], least));
    let start = Math.max(0, Math.min(view[a], full[b] - span));
    view[a] = start;
    view[b] = span >= full[b] ? full[b] : start + span;
  }
}
function zoom(a, b, centre, factor) {
  const span = (view[b] - view[a]) * factor, part = (centre - view[a]) / (view[b] - view[a]);
  view[a] = centre - span * part;
  view[b] = view[a] + span;
  changed();
}
function pan(a, b, by) {
  const span = view[b] - view[a];
  view[a] = Math.max(0, Math.min(full[b] - span, view[a] + by));
  view[b] = view[a] + span;
  changed();
}
function reset() { view = {...full}; changed(); }
function changed() { clamp(); remember(); redraw(); }

// The view stands in the address, so that it can be kept and sent.
function remember() {
  const words = [];
  if (view.x0 !== full.x0 || view.x1 !== full.x1) words.push('bins=' + view.x0.toFixed(3) + '-' + view.x1.toFixed(3));
  if (view.y0 !== full.y0 || view.y1 !== full.y1)
    words.push('pages=' + (view.y0 / full.y1).toFixed(5) + '-' + (view.y1 / full.y1).toFixed(5));
  if ($('search').value) words.push('search=' + encodeURIComponent($('search').value));
  if (linear) words.push('linear=1');
  try { history.replaceState(null, '', '#' + words.join('&')); } catch (e) { /* a stored page may refuse */ }
}
function recall() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const range = key => {
    const [a, b] = (hash.get(key) || '').split('-').map(Number);
    return b > a ? [a, b] : null;
  };
  if (hash.get('search')) $('search').value = hash.get('search');
  if (hash.has('linear')) linear = hash.get('linear') === '1';
  relist();
  view = {...full};
  const x = range('bins'), y = range('pages');
  if (x) [view.x0, view.x1] = x;
  if (y) [view.y0, view.y1] = y.map(v => v * full.y1);
  clamp();
}

const place = e => {
  const r = canvas.getBoundingClientRect();
  return [e.clientX - r.left, e.clientY - r.top];
};
const plotWidth = () => Math.max(50, canvas.clientWidth - LEFT - RIGHT);
const toBin = x => view.x0 + (x - LEFT) / plotWidth() * (view.x1 - view.x0);
const toY = y => view.y0 + (y - TOP) / height * (view.y1 - view.y0);

canvas.addEventListener('wheel', e => {
  e.preventDefault();
  const [x, y] = place(e), turn = e.deltaMode ? 30 : 1;
  // browsers make of Shift and wheel a level movement
  const amount = (e.shiftKey ? e.deltaX || e.deltaY : e.deltaY) * turn, factor = Math.exp(amount * 0.002);
  if (e.shiftKey) zoom('y0', 'y1', toY(y), factor);
  else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan('x0', 'x1', e.deltaX * turn / plotWidth() * (view.x1 - view.x0));
  else zoom('x0', 'x1', toBin(Math.max(LEFT, x)), factor);
  hover(e);
}, {passive: false});

let drag = null;
canvas.addEventListener('pointerdown', e => {
  if (e.button > 1) return;
  const [x, y] = place(e);
  drag = {x, y, move: e.shiftKey || e.button === 1, view: {...view}};
  try { canvas.setPointerCapture(e.pointerId); } catch (err) { /* a made-up event has no pointer */ }
  canvas.focus({preventScroll: true});
  e.preventDefault();
});
canvas.addEventListener('pointermove', e => {
  const [x, y] = place(e);
  if (!drag) return hover(e);
  hideTip();
  if (drag.move) {
    view = {...drag.view};
    view.x0 = Math.max(0, Math.min(full.x1 - (view.x1 - view.x0), view.x0 - (x - drag.x) / plotWidth() * (view.x1 - view.x0)));
    view.x1 = view.x0 + drag.view.x1 - drag.view.x0;
    view.y0 = Math.max(0, Math.min(full.y1 - (view.y1 - view.y0), view.y0 - (y - drag.y) / height * (view.y1 - view.y0)));
    view.y1 = view.y0 + drag.view.y1 - drag.view.y0;
    changed();
    return;
  }
  // a flat box means time, a narrow one pages
  const wide = Math.abs(x - drag.x) > 8, high = Math.abs(y - drag.y) > 8;
  const left = Math.max(LEFT, Math.min(x, drag.x)), right = Math.min(LEFT + plotWidth(), Math.max(x, drag.x));
  const top = Math.max(TOP, Math.min(y, drag.y)), bottom = Math.min(TOP + height, Math.max(y, drag.y));
  drag.box = !wide && !high ? null
    : [wide ? left : LEFT, high ? top : TOP, wide ? right - left : plotWidth(), high ? bottom - top : height];
  redraw();
});
function release() {
  if (drag && drag.box) {
    const [x, y, w, h] = drag.box;
    const next = {x0: toBin(x), x1: toBin(x + w), y0: toY(y), y1: toY(y + h)};
    drag = null;
    view = next;
    changed();
  }
  drag = null;
}
canvas.addEventListener('pointerup', release);
canvas.addEventListener('pointercancel', () => { drag = null; redraw(); });
canvas.addEventListener('dblclick', reset);
canvas.addEventListener('pointerleave', hideTip);
canvas.addEventListener('keydown', e => {
  const across = (view.x1 - view.x0) / 10, down = (view.y1 - view.y0) / 10;
  const middle = [(view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2];
  const act = {
    ArrowLeft: () => pan('x0', 'x1', -across), ArrowRight: () => pan('x0', 'x1', across),
    ArrowUp: () => pan('y0', 'y1', -down), ArrowDown: () => pan('y0', 'y1', down),
    '+': () => e.shiftKey && e.code !== 'Equal' ? zoom('y0', 'y1', middle[1], 1 / 1.5) : zoom('x0', 'x1', middle[0], 1 / 1.5),
    '=': () => zoom('x0', 'x1', middle[0], 1 / 1.5),
    '-': () => zoom('x0', 'x1', middle[0], 1.5), '_': () => zoom('y0', 'y1', middle[1], 1.5),
    '*': () => zoom('y0', 'y1', middle[1], 1 / 1.5),
    '0': reset,
  }[e.key];
  if (act) { e.preventDefault(); act(); }
});
$('reset').addEventListener('click', reset);

// ---- the tip ----
function hover(e) {
  const [x, y] = place(e);
  const v = toY(y), b = shown.find(b => v >= b.top && v < b.bottom), bin = Math.floor(toBin(x));
  if (!b || x < LEFT || x >= LEFT + plotWidth() || bin < 0 || bin >= map.bins || y < TOP || y >= TOP + height) {
    hideTip();
    return;
  }
  const perPixel = (view.y1 - view.y0) / height, {rows, hole} = rowsAt(b, v - perPixel / 2, v + perPixel / 2);
  const lines = [['b', b.name]], at = Math.floor(bin / group);
  const span = snapshots ? 'snapshot ' + exact(time(bin)) + (timed ? ', ' + exact(Math.round(axisTime(bin + 1))) + ' ' + clock : '')
    : exact(time(at * group)) + ' \u2013 ' + exact(time(Math.min(map.bins, (at + 1) * group))) + ' ' + (map.unit || 'ticks');
  if (rows) {
    let best = b.first + rows[0], value = -1;
    for (let r = b.first + rows[0]; r <= b.first + rows[1]; r++) {
      let got = count(0);
      eachGroup(r, (which, sum) => { if (which === at) got = sum; return which >= at; });
      if (got > value) { value = got; best = r; }
    }
    lines.push(['div', 'page ' + pageName(b, best) + (rows[1] > rows[0] ? ' (hottest of ' + (rows[1] - rows[0] + 1) + ' pages here)' : '')]);
    lines.push(['div', span]);
    lines.push(['div', exact(value) + ' ' + map.what + (value ? ', ' + percent(Number(value) / map.total) + ' of all' : '')]);
    const by = value && functionsAt(best, ticks(at * group), ticks(Math.min(map.bins, (at + 1) * group)));
    if (by) lines.push(['div', 'by ' + by]);
    lines.push(['span', 'page in all: ' + exact(map.rowTotal[best]) + ' ' + map.what + ', ' + percent(Number(map.rowTotal[best]) / b.total) + ' of its mapping']);
  } else {
    lines.push(['div', hole ? 'pages left out: nobody touched them' : 'a page that nobody touched']);
  }
  showTip(e, lines);
}

// ---- save as ----
function svg() {
  const real = context, width = canvas.clientWidth;
  context = new Recorder(real);
  try { draw(1); } finally {
    var out = context.out;
    context = real;
    draw();
  }
  return svgText(width, height + TOP + BOTTOM + 30, `<g transform="translate(0 30)">${out.join('\n')}</g>`);
}

function csv() {
  const rows = [snapshots ? 'region,page,snapshot,' + map.what : 'region,page,time_start,time_end,' + map.what];
  for (const b of shown)
    for (let i = 0; i < b.rows; i++) {
      if (b.y[i] + b.pitch <= view.y0 || b.y[i] >= view.y1) continue;
      for (let c = map.first[b.first + i]; c < map.first[b.first + i + 1]; c++) {
        const bin = map.bin[c];
        if (bin + 1 <= view.x0 || bin >= view.x1) continue;
        rows.push([field(b.name), map.page[b.first + i], time(bin), ...(snapshots ? [] : [time(bin + 1)]), map.value[c]].join());
      }
    }
  return rows.join('\n') + '\n';
}

const files = {png: () => pngBytes(canvas), svg, csv};
saveAs($('tools'), 'heatmap', files);

// ---- the list of mappings ----
const body = document.querySelector('tbody');
for (const b of map.bands) {
  const row = body.insertRow(), label = document.createElement('label'), tick = document.createElement('input');
  tick.type = 'checkbox';
  tick.checked = true;
  tick.addEventListener('change', () => { b.ticked = tick.checked; relist(); reset(); });
  // where it is too long, the dots stand before its end, in which names differ
  const name = [...base(b.name)], end = Math.max(0, name.length - 14);
  for (const part of [name.slice(0, end), name.slice(end)])
    label.append(Object.assign(document.createElement('bdi'), {textContent: part.join('')}));
  label.prepend(tick);
  label.title = b.name;
  row.insertCell().append(label);
  row.insertCell().textContent = short(b.total);
  const share = row.insertCell();
  share.textContent = percent(b.total / map.total);
  share.style.setProperty('--part', 100 * b.total / map.total + '%');
  b.row = row;
  b.tick = tick;
}
function relist() {
  layout();
  const want = $('search').value.trim().toLowerCase(), drawn = new Set(shown);
  for (const b of map.bands) {
    b.row.hidden = !b.name.toLowerCase().includes(want);
    b.row.classList.toggle('hidden', !drawn.has(b));
  }
}
for (const [id, on] of [['every', true], ['none', false]]) {
  $(id).addEventListener('click', () => {
    for (const b of map.bands) if (!b.row.hidden) b.ticked = b.tick.checked = on;
    relist();
    reset();
  });
}
$('search').addEventListener('input', () => { relist(); reset(); });
for (const n of [...new Set([map.top, 6, 12, 24, 48, 100, 1000])].sort((a, b) => a - b))
  $('most').add(new Option(n === 1000 ? '1000' : n, n, n === map.top, n === map.top));
$('most').addEventListener('change', () => { relist(); reset(); });
for (const radio of document.querySelectorAll('[name=scale]')) {
  radio.addEventListener('change', () => { linear = radio.value === 'linear'; drawLegend(); changed(); });
}

$('what').textContent = map.what;
canvas.setAttribute('aria-label', map.title + '. ' + map.summary + '. The table beside it holds the totals.');
recall();
document.querySelector('[name=scale][value=' + (linear ? 'linear' : 'log') + ']').checked = true;
drawLegend();
draw();
addEventListener('resize', () => {
  const before = full.y1;
  layout();
  view.y0 *= full.y1 / before;
  view.y1 *= full.y1 / before;
  clamp();
  redraw();
});
onColours(() => { drawLegend(); draw(); });
