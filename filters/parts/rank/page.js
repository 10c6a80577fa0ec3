// Rows are [name, value as a text with every digit], and of a profile [name, value, least, most, region];
// runs [k, mean, least, most].
const profile = 'set' in data, MOST_ROWS = 500;
const LEFT = 64, RIGHT = 18, TOP = 8, BOTTOM = 34, FONT = '12px system-ui, sans-serif';
const palette = ['#1f5fa8', '#c8502a', '#2f8f4e', '#8c4fa3', '#a07d12', '#3f9aa8', '#6b6b6b', '#c23b78'];
const base = profile ? data.only ? data.none : data.every : 0;
const curves = profile ? [['best', 'cached', palette[0]], ['moved', 'moved', palette[1]]].filter(([c]) => data[c].length) : [];
const rows = data.rows.map((r, i) => ({rank: i + 1, name: r[0], exact: profile ? r[1] : BigInt(r[1]), value: +r[1], least: r[2] ?? +r[1], most: r[3] ?? +r[1], region: r[4]}));
let sum = 0;
for (const r of rows) {
  r.share = data.total > 0 && r.value > 0 ? r.value / data.total : 0;
  r.sum = sum += r.share;
}
let shown = rows, hover = -1;

// ---- colours: those of the paper for heap and stack, then one for each region while they last, and one for the others ----
const regions = profile ? [...new Set(rows.map(r => r.region))] : [], OTHERS = palette.length - 1;
const rest = regions.filter(r => !/^\[(heap|stack)/.test(r));
const placeOf = region => !region || region.startsWith('[heap') ? 0 : region.startsWith('[stack') ? 1 : Math.min(2 + rest.indexOf(region), OTHERS);
const colourOf = region => palette[placeOf(region)];
const keys = rest.length > OTHERS - 1 ? [...regions.filter(r => placeOf(r) < OTHERS), 'others'] : regions;
const keyColour = key => key === 'others' ? palette[OTHERS] : colourOf(key);
function legend() {
  $('legend').replaceChildren();
  for (const key of keys) {
    const span = add($('legend'), 'span');
    add(span, 'i').style.background = distinct(keyColour(key));
    span.append(key);
  }
}
// The same on a canvas, in as many rows as it takes, from (x, y) on.
function drawKeys(g, names, colour, x, y, width) {
  const left = x;
  g.textAlign = 'left';
  for (const name of names) {
    const room = g.measureText(name).width + 16;
    if (x > left && x + room > left + width) [x, y] = [left, y + 18];
    g.fillStyle = distinct(colour(name));
    g.fillRect(x, y, 11, 11);
    g.fillStyle = css('--ink');
    g.fillText(name, x + 16, y + 10);
    x += room + 14;
  }
  return y + 18;
}

// ---- drawing ----
function axes(g, width, height, least, most, last, mark, title) {
  const up = step(most - least, height / 36), low = Math.floor(least / up + 1e-9), top = Math.ceil(most / up - 1e-9) * up || (low ? 0 : 1);
  const y = v => TOP + height * (top - Math.min(Math.max(v, low * up), top)) / (top - low * up);
  g.font = FONT;
  g.fillStyle = css('--side');
  g.fillRect(LEFT, TOP, width, height);
  g.fillStyle = css('--pale');
  g.textAlign = 'right';
  for (let k = low; k * up <= top * (1 + 1e-9); k++) {
    g.fillRect(LEFT - 4, y(k * up), low && !k ? width + 4 : 4, 1);
    g.fillText(mark(k * up, top), LEFT - 7, y(k * up) + 4);
  }
  g.textAlign = 'center';
  const along = Math.max(1, step(last, width / 70));
  for (let v = 0; v <= last; v += along) {
    g.fillRect(LEFT + v * width / last, TOP + height, 1, 4);
    g.fillText(axisNumber(v, last), LEFT + v * width / last, TOP + height + 16);
  }
  g.fillText(title, LEFT + width / 2, TOP + height + 31);
  return y;
}
const inPercent = v => +v.toFixed(3) + ' %';

function drawBars(g, outer, height) {
  const width = Math.max(1, outer - LEFT - RIGHT), unit = base > 0 ? 100 / base : 1;
  const least = shown.reduce((m, r) => Math.min(m, unit * r.least), 0), most = shown.reduce((m, r) => Math.max(m, unit * r.most), 0);
  const y = axes(g, width, height, least, most || (least ? 0 : 1), shown.length || 1, base > 0 ? inPercent : axisNumber, 'the greatest first');
  const columns = Math.min(shown.length, Math.floor(width)), slot = width / (columns || 1);
  for (let c = 0; c < columns; c++) {
    const i = Math.floor(c * shown.length / columns), r = shown[i], x = LEFT + c * slot, at = y(unit * r.value), zero = y(0);
    g.fillStyle = distinct(colourOf(r.region));
    g.fillRect(x, Math.min(at, zero), slot > 3 ? slot - 1 : slot, Math.abs(zero - at));
    g.fillStyle = css('--ink');
    if (profile && slot >= 4 && r.most > r.least) g.fillRect(x + slot / 2 - 1, y(unit * r.most), 1, y(unit * r.least) - y(unit * r.most));
  }
  if (hover >= 0 && hover < shown.length) {
    g.globalAlpha = 0.35;
    g.fillRect(LEFT + hover * width / shown.length, TOP, Math.max(1, width / shown.length), height);
    g.globalAlpha = 1;
  }
}

function drawCurve(g, outer, height) {
  const width = Math.max(1, outer - LEFT - RIGHT), runs = curves.flatMap(([c]) => data[c]);
  const first = data.none ?? runs[0][1], unit = first > 0 ? 100 / first : 1, last = Math.max(1, ...curves.map(([c]) => data[c].at(-1)[0]));
  const most = runs.reduce((m, r) => Math.max(m, unit * r[3]), 0);
  const y = axes(g, width, height, 0, most, last, inPercent, 'best pages that are ' + curves.map(c => c[1]).join(' or '));
  g.fillStyle = css('--pale');
  if ('every' in data) for (let x = LEFT; x < LEFT + width; x += 10) g.fillRect(x, y(unit * data.every), Math.min(6, LEFT + width - x), 1);
  if (data.by_run && data.set <= last) {
    const x = LEFT + data.set * width / last, right = x < LEFT + width / 2;
    g.fillRect(x, TOP, 1, height);
    g.textAlign = right ? 'left' : 'right';
    g.fillText('working set: ' + data.set, x + (right ? 5 : -5), TOP + 14);
  }
  for (const [c, , colour] of curves) {
    g.fillStyle = g.strokeStyle = distinct(colour);
    g.lineWidth = 1.6;
    g.beginPath();
    data[c].forEach(([k, mean], i) => g[i ? 'lineTo' : 'moveTo'](LEFT + k * width / last, y(unit * mean)));
    g.stroke();
    for (const [k, , low, high] of data[c]) if (high > low) g.fillRect(LEFT + k * width / last, y(unit * high), 1, y(unit * low) - y(unit * high));
  }
  if (curves.length > 1) drawKeys(g, curves.map(c => c[1]), name => curves.find(c => c[1] === name)[2], LEFT + width - 140, TOP + 6, 140);
}

function paint(canvas, by) {
  const ratio = devicePixelRatio || 1, box = canvas.getBoundingClientRect(), g = canvas.getContext('2d');
  canvas.width = Math.round(box.width * ratio);
  canvas.height = Math.round(box.height * ratio);
  g.scale(ratio, ratio);
  by(g, box.width, box.height - TOP - BOTTOM);
}
function draw() {
  legend();
  paint($('bars'), drawBars);
  if (curves.length) paint($('curve'), drawCurve);
}

// ---- the table ----
const columns = ['rank', profile ? 'page' : 'name', data.value, ...profile ? ['least', 'most'] : [], 'share', 'cumulative'];
for (const c of columns) add($('head'), 'th', c).scope = 'col';
function list() {
  $('list').replaceChildren();
  for (const r of shown.slice(0, MOST_ROWS)) {
    const row = $('list').insertRow();
    if (profile && r.rank <= data.set) row.className = 'set';
    for (const text of [r.rank, r.name, exact(r.exact), ...profile ? [exact(r.least), exact(r.most)] : [], percent(r.share), percent(r.sum)])
      row.insertCell().textContent = text;
  }
  const rest = shown.length - MOST_ROWS;
  $('more').textContent = [rest > 0 ? `and ${rest} more here` : '', data.all > rows.length ? `of ${data.all} in all, ${rows.length} were taken in` : '']
    .filter(t => t).join('; ');
}
function tips(r) {
  return [['b', r.name], ['div', `rank ${r.rank}: ${exact(r.exact)} ${data.value}, ${percent(r.share)} of all`],
    ...profile ? [['div', `from ${exact(r.least)} to ${exact(r.most)}`]] : []];
}

$('bars').onpointermove = e => {
  const box = $('bars').getBoundingClientRect(), x = (e.clientX - box.left - LEFT) / Math.max(1, box.width - LEFT - RIGHT);
  hover = x < 0 || x >= 1 ? -1 : Math.floor(x * shown.length);
  draw();
  if (shown[hover]) showTip(e, tips(shown[hover])); else hideTip();
};
$('bars').onpointerleave = () => { hover = -1; hideTip(); draw(); };
$('bars').onkeydown = e => {
  if (e.key === 'ArrowRight') hover = Math.min(shown.length - 1, hover + 1);
  else if (e.key === 'ArrowLeft') hover = Math.max(0, hover - 1);
  else if (e.key === 'Escape') hover = -1;
  else return;
  e.preventDefault();
  draw();
  const box = $('bars').getBoundingClientRect();
  if (shown[hover]) showTip({clientX: box.left + LEFT, clientY: box.top}, tips(shown[hover])); else hideTip();
};
$('search').oninput = () => {
  const text = $('search').value.toLowerCase();
  shown = rows.filter(r => r.name.toLowerCase().includes(text));
  hover = -1;
  list();
  draw();
};

// ---- save as ----
const WIDTH = 900, HEIGHT = 320;
function svg() {
  const g = new Recorder($('bars').getContext('2d'));
  g.font = FONT;
  let top = keys.length ? drawKeys(g, keys, keyColour, LEFT, 30, WIDTH - LEFT) : 30;
  const parts = g.out;
  for (const by of [drawBars, ...curves.length ? [drawCurve] : []]) {
    g.out = [];
    hover = -1;
    by(g, WIDTH, HEIGHT - TOP - BOTTOM);
    parts.push(`<g transform="translate(0 ${top})">\n${g.out.join('\n')}\n</g>`);
    top += HEIGHT;
  }
  return svgText(WIDTH, top, parts.join('\n'));
}
function csv() {
  return csvRow(columns) + shown.map(r => csvRow([r.rank, r.name, r.exact, ...profile ? [r.least, r.most] : [], +r.share.toFixed(6), +r.sum.toFixed(6)])).join('');
}
const files = {png: () => painted(svg()), svg, csv};
saveAs($('tools'), 'ranking', files);

$('barsTitle').textContent = data.value + (base > 0 ? data.only ? ', in percent of the runtime with no page cached'
  : ', in percent of the runtime with all pages cached' : '');
$('bars').setAttribute('aria-label', $('barsTitle').textContent);
$('runs').hidden = !curves.length;
$('runsTitle').textContent = 'none' in data ? 'runtime, in percent of that with no page cached' : 'runtime, in percent of the first';
$('curve').setAttribute('aria-label', $('runsTitle').textContent);
list();
onresize = draw;
onColours(draw);
draw();
