// Series are {name, axis, values, points: [[parameter, value, spread, repeats]], fits, beyond, sure}.
const LEFT = 56, RIGHT = 26, TOP = 20, BOTTOM = 34, FONT = '12px system-ui, sans-serif', LINE = '#005aa0', BAND = '#d98a2b';
let hover = null; // [series, point]

const inBytes = s => s.axis.includes('byte');
const named = (s, v) => inBytes(s) ? bytes(v) : String(v);

// Where parameters stand: even steps, or a scale of doublings where few of them lie in the upper part.
function scale(s) {
  const at = s.points.map(p => p[0]), last = Math.max(...at), first = Math.min(...at.filter(v => v > 0), last) || 1;
  const far = at.filter(v => 4 * v > last).length, even = / (capacity|associativity|pages)$/.test(s.name);
  const doublings = !even && last > first && (2 * far < at.length || last > 64 * first);
  const low = doublings ? first : Math.min(...at);
  const part = doublings ? v => Math.log2(Math.max(v, low) / low) / Math.log2(last / low) : v => last > low ? (v - low) / (last - low) : 0.5;
  return {low, last, doublings, part};
}
function marks(s, k, width) {
  const out = [];
  if (k.doublings) {
    const each = Math.max(1, Math.ceil(Math.log2(k.last / k.low) / Math.max(1, width / 56)));
    for (let e = Math.ceil(Math.log2(k.low)); 2 ** e <= k.last; e += each) out.push(2 ** e);
    return out;
  }
  const along = inBytes(s) ? 2 ** Math.ceil(Math.log2(Math.max(1, (k.last - k.low) / (width / 70)))) : Math.max(1, step(k.last - k.low || 1, width / 50));
  for (let v = Math.ceil(k.low / along) * along; v <= k.last; v += along) out.push(v);
  return out;
}

function drawSeries(s, g, outer, height) {
  const width = Math.max(1, outer - LEFT - RIGHT), k = scale(s), most = s.points.reduce((m, p) => Math.max(m, p[1]), 0) || 1;
  const up = step(most, height / 36), top = Math.ceil(most / up - 1e-9) * up, x = v => LEFT + width * Math.min(1, Math.max(0, k.part(v)));
  const y = v => TOP + height * (1 - v / top);
  g.font = FONT;
  g.fillStyle = css('--side');
  g.fillRect(LEFT, TOP, width, height);
  if ('fits' in s) {
    const [a, b] = [x(s.fits), x(s.beyond)].sort((p, q) => p - q);
    g.globalAlpha = 0.35;
    g.fillStyle = distinct(BAND);
    g.fillRect(a, TOP, Math.max(2, b - a), height);
    g.globalAlpha = 1;
    g.fillStyle = css('--ink');
    g.textAlign = a > LEFT + width * 0.8 ? 'right' : a < LEFT + width * 0.2 ? 'left' : 'center';
    g.fillText(named(s, s.fits) + (s.sure >= 0.95 ? '' : `? (${percent(s.sure)})`), (a + b) / 2, TOP - 6);
  }
  g.fillStyle = css('--pale');
  g.textAlign = 'right';
  for (let v = 0; v <= top * (1 + 1e-9); v += up) {
    g.fillRect(LEFT - 4, y(v), 4, 1);
    g.fillText(axisNumber(v, top), LEFT - 7, y(v) + 4);
  }
  g.textAlign = 'center';
  for (const v of marks(s, k, width)) {
    g.fillRect(x(v), TOP + height, 1, 4);
    g.fillText(named(s, v), x(v), TOP + height + 16);
  }
  g.fillText(s.axis, LEFT + width / 2, TOP + height + 31);
  g.fillStyle = g.strokeStyle = distinct(LINE);
  g.lineWidth = 1.4;
  g.beginPath();
  s.points.forEach((p, i) => g[i ? 'lineTo' : 'moveTo'](x(p[0]), y(p[1])));
  g.stroke();
  if (s.points.length < 400) for (const p of s.points) g.fillRect(x(p[0]) - 2, y(p[1]) - 2, 4, 4);
  if (hover && hover[0] === s && s.points[hover[1]]) {
    const p = s.points[hover[1]];
    g.fillStyle = css('--ink');
    g.fillRect(x(p[0]) - 4, y(p[1]) - 4, 8, 8);
  }
}

function paint(s) {
  const ratio = devicePixelRatio || 1, box = s.canvas.getBoundingClientRect(), g = s.canvas.getContext('2d');
  s.canvas.width = Math.round(box.width * ratio);
  s.canvas.height = Math.round(box.height * ratio);
  g.scale(ratio, ratio);
  drawSeries(s, g, box.width, box.height - TOP - BOTTOM);
}
function draw() { data.series.forEach(paint); }

function tips(s, p) {
  return [['b', s.name], ['div', `${named(s, p[0])}: ${+p[1].toPrecision(5)} ${s.values} an access`],
    ['div', `${p[3]} measurement${p[3] === 1 ? '' : 's'}, spread ${+p[2].toPrecision(3)}`]];
}
function point(s, i, event) {
  const before = hover;
  hover = i < 0 || i >= s.points.length ? null : [s, i];
  if (before && before[0] !== s) paint(before[0]);
  paint(s);
  if (hover) showTip(event, tips(s, s.points[i])); else hideTip();
}

for (const s of data.series) {
  const figure = add($('figures'), 'figure');
  add(figure, 'figcaption', `${s.name}: ${s.values} of an access`);
  s.canvas = add(figure, 'canvas');
  s.canvas.tabIndex = 0;
  s.canvas.setAttribute('role', 'img');
  s.canvas.setAttribute('aria-label', s.name);
  s.canvas.setAttribute('aria-describedby', 'help');
  s.canvas.onpointermove = e => {
    const box = s.canvas.getBoundingClientRect(), width = Math.max(1, box.width - LEFT - RIGHT), k = scale(s);
    const at = (e.clientX - box.left - LEFT) / width;
    let best = -1;
    s.points.forEach((p, i) => { if (best < 0 || Math.abs(k.part(p[0]) - at) < Math.abs(k.part(s.points[best][0]) - at)) best = i; });
    point(s, at < -0.05 || at > 1.05 ? -1 : best, e);
  };
  s.canvas.onpointerleave = () => point(s, -1);
  s.canvas.onkeydown = e => {
    const at = hover && hover[0] === s ? hover[1] : -1, box = s.canvas.getBoundingClientRect();
    const to = {ArrowRight: Math.min(s.points.length - 1, at + 1), ArrowLeft: Math.max(0, at - 1), Escape: -1}[e.key];
    if (to === undefined) return;
    e.preventDefault();
    point(s, to, {clientX: box.left + LEFT, clientY: box.top});
  };
}

// ---- what is known ----
for (const c of ['of', 'what', 'value', 'how', 'confidence', 'by']) add($('head'), 'th', c).scope = 'col';
for (const r of data.known) {
  const row = $('list').insertRow();
  for (const text of [r[0], r[1], r[2], r[3], r[3] === 'assumed' ? '' : r[4].toFixed(3), r[5]]) row.insertCell().textContent = text;
}

// ---- save as ----
const WIDTH = 460, HEIGHT = 280, ACROSS = 2;
function svg() {
  hover = null;
  const parts = data.series.map((s, i) => {
    const g = new Recorder(s.canvas.getContext('2d'));
    drawSeries(s, g, WIDTH, HEIGHT - 20 - TOP - BOTTOM);
    return `<g transform="translate(${i % ACROSS * WIDTH} ${34 + Math.floor(i / ACROSS) * HEIGHT})">
<text x="${LEFT}" y="12" fill="${css('--ink')}" style="font:${FONT}">${markup(s.name)}: ${s.values} of an access</text>
<g transform="translate(0 20)">\n${g.out.join('\n')}\n</g>\n</g>`;
  });
  return svgText(ACROSS * WIDTH, 34 + Math.max(1, Math.ceil(parts.length / ACROSS)) * HEIGHT, parts.join('\n'));
}
function csv() {
  return csvRow(['experiment', 'parameter', 'value', 'spread', 'measurements']) +
    data.series.map(s => s.points.map(p => csvRow([s.name, ...p])).join('')).join('');
}
const files = {png: () => painted(svg()), svg, csv};
saveAs($('tools'), 'probe', files);
onresize = draw;
onColours(draw);
draw();
