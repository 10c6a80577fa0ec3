const map = data;

// The cells: for each row the step of its page number, how many cells, and for each of them the
// step of its bin and its value, all as numbers of 7 bits a byte, lowest first.
function numbers(base64) {
  const text = atob(base64);
  let at = 0;
  return (of = Number) => {
    let value = of(0), unit = of(1), byte;
    do {
      byte = text.charCodeAt(at++);
      value += of(byte & 127) * unit;
      unit *= of(128);
    } while (byte > 127);
    return value;
  };
}
const count = map.total > Number.MAX_SAFE_INTEGER ? BigInt : Number; // what holds sums to the last digit
function decode() {
  const next = numbers(map.data);
  map.page = new Float64Array(map.rows);
  map.rowTotal = Array(map.rows).fill(count(0));
  map.first = new Float64Array(map.rows + 1);
  map.bin = new Uint32Array(map.cells);
  map.value = new (count === BigInt ? BigUint64Array : Float64Array)(map.cells);
  let row = 0, cell = 0;
  map.bands = map.bands.map(([name, total, rows, resolved], index) => {
    const band = {name, total, resolved, index, first: row, rows, ticked: true};
    for (let page = 0; rows--; row++) {
      page += next();
      map.page[row] = page;
      map.first[row] = cell;
      for (let cells = next(), bin = 0; cells--; cell++) {
        bin += next();
        map.bin[cell] = bin;
        map.rowTotal[row] += map.value[cell] = next(count);
      }
    }
    return band;
  });
  map.first[row] = cell;
  delete map.data;
}
decode();

// The functions of a page's cells, which may be wider than bins: for each row how many cells, and for
// each of them the step of its bin, its sum, how many functions, and of each its number and its part.
function decodeNames() {
  const next = numbers(map.names.cells);
  map.named = Array.from({length: map.rows}, () => {
    const cells = [];
    for (let count = next(), bin = 0; count--;) {
      const cell = {bin: bin += next(), total: next(), parts: []};
      for (let parts = next(); parts--;) cell.parts.push([next(), next()]);
      cells.push(cell);
    }
    return cells;
  });
  delete map.names.cells;
}
if (map.names) decodeNames();

// What is known of the functions of a row from one time to another, those of most first, as a text;
// or '', where none is known. Times are ticks since the start.
function functionsAt(row, from, to) {
  const width = map.names?.width, part = {}, at = bin => bin * width - map.names.before;
  const cells = (map.named?.[row] || []).filter(c => at(c.bin) < to && at(c.bin + 1) > from);
  const total = cells.reduce((sum, c) => sum + c.total, 0);
  for (const c of cells) for (const [i, count] of c.parts) part[i] = (part[i] || 0) + count;
  const most = Object.entries(part).sort((a, b) => b[1] - a[1]).slice(0, 3);
  if (!most.length) return '';
  const first = at(cells[0].bin), end = at(cells[cells.length - 1].bin + 1);
  // a part is no less than that, and may be more where a cell has many functions
  const named = most.map(([i, count]) => map.names.list[i] + ' (' + (100 * count / total).toFixed(0) + ' %)').join(', ');
  return named + (first < from || end > to ? ', from ' + exact(after(first)) + ' to ' + exact(after(end)) : '');
}

// Pixels as a canvas holds them.
const pixel = hex => rgb(hex).reduce((all, v, k) => all + v * 256 ** k, 0xff000000);
const colour = Uint32Array.from({length: 256}, (_, i) => pixel(heatColour(i / 255)));
const ground = pixel(GROUND), gap = pixel(GAP);

// of a page that nobody resolved, its address
const pageName = (band, row) => band.resolved ? String(map.page[row]) : '0x' + (map.page[row] * 4096).toString(16);
const snapshots = map.unit === 'snapshot';
// snapshots at even times have an axis of time: each shows what was since the one before it
const timed = !snapshots || map.period > 0, clock = (snapshots ? map.clock : map.unit) || 'ticks';
// what the axis shows: ticks since the start, which a number may not hold to its last digit, or times
const axisTime = bin => !snapshots ? ticks(bin)
  : timed ? map.zero + (Number(start) + ticks(bin) - 1) * map.period : Number(start) + ticks(bin);

const start = BigInt(map.start), binTicks = BigInt(map.width), ticks = bin => bin * Number(binTicks);
const after = ticks => start + BigInt(Math.round(ticks)), time = bin => start + BigInt(bin) * binTicks;

// ---- state ----
const full = {x0: 0, x1: Math.max(1, map.bins), y0: 0, y1: 1};
let view = {...full}, linear = map.linear, shown = [], height = 0;
const canvas = $('map');
let context = canvas.getContext('2d');
const LEFT = 256, RIGHT = 14, TOP = 4, BOTTOM = 44;

// Bins are drawn in groups, of a power of two, so that at most so many groups are in view; snapshots one by
// one, since lines of several do not add up.
const MOST_GROUPS = snapshots ? Infinity : 256, peaks = {};
let group = 1;
function regroup() {
  const before = group;
  for (group = 1; (view.x1 - view.x0) / group > MOST_GROUPS;) group *= 2;
  if (group !== before) drawLegend();
}
// Calls act(group's number, sum) for each group of a row that has any; until it returns true.
function eachGroup(row, act) {
  for (let c = map.first[row]; c < map.first[row + 1];) {
    const at = Math.floor(map.bin[c] / group);
    let sum = count(0);
    for (; c < map.first[row + 1] && Math.floor(map.bin[c] / group) === at; c++) sum += map.value[c];
    if (act(at, sum)) return;
  }
}
function peak() {
  if (!(group in peaks)) {
    peaks[group] = 0;
    for (let r = 0; r < map.rows; r++)
      eachGroup(r, (at, sum) => { if (sum > peaks[group]) peaks[group] = sum; });
  }
  return Number(peaks[group]);
}

function scale(value) {
  const most = peak();
  if (value >= most) return 1;
  return linear ? value / most : value > 1 ? Math.log(value) / Math.log(most) : 0;
}

// ---- layout: which page stands at which height, in pixels of the view without zoom ----
const SHORT = 3, LEAST = 34, BETWEEN = 6;
function layout() {
  const want = $('search').value.trim().toLowerCase();
  const most = +$('most').value;
  shown = map.bands.filter(b => b.ticked && b.name.toLowerCase().includes(want)).slice(0, most);
  const room = Math.max(300, $('help').parentElement.clientHeight - canvas.offsetTop
    + $('help').parentElement.offsetTop - $('help').offsetHeight - 24);
  height = Math.max(room - TOP - BOTTOM, shown.length * (LEAST + BETWEEN));
  for (const b of shown) {
    b.entries = b.rows;
    b.holes = 0;
    for (let r = b.first + 1; r < b.first + b.rows; r++) {
      const hole = map.page[r] - map.page[r - 1] - 1;
      if (hole > SHORT) b.holes++; else b.entries += hole;
    }
  }
  const size = (b, f) => Math.max(LEAST, Math.min(f * Math.sqrt(b.entries + b.holes), 16 * (b.entries + b.holes)));
  let low = 0, high = height;
  for (let i = 0; i < 50; i++) {
    const f = (low + high) / 2;
    if (shown.reduce((sum, b) => sum + size(b, f) + BETWEEN, 0) <= height) low = f; else high = f;
  }
  let y = 0;
  for (const b of shown) {
    const h = size(b, low), gap = b.holes ? Math.min(5, h / 4 / b.holes) : 0;
    b.top = y;
    b.bottom = y + h;
    b.pitch = (h - gap * b.holes) / b.entries;
    b.y = new Float64Array(b.rows);
    for (let i = 0; i < b.rows; i++) {
      if (i) {
        const hole = map.page[b.first + i] - map.page[b.first + i - 1] - 1;
        y += b.pitch + (hole > SHORT ? gap : hole * b.pitch);
      }
      b.y[i] = y;
    }
    y = b.bottom + BETWEEN;
  }
  full.y1 = Math.max(y - BETWEEN, 1);
  height = Math.min(height, full.y1);
}

// Index of the last entry of a sorted array that is not above a value, or -1.
function search(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
}

// Rows of a band that a stretch of the layout shows: [first, last] as indices into the band, or
// null where there are none; `hole`: pages are left out there.
function rowsAt(b, y0, y1) {
  const thin = y1 - y0 > b.pitch, middle = (y0 + y1) / 2;
  const last = search(b.y, thin ? y1 - 1e-9 : middle);
  if (last < 0) return {rows: null};
  let first = last;
  if (thin) while (first > 0 && b.y[first - 1] + b.pitch > y0) first--;
  if (b.y[last] + b.pitch > (thin ? y0 : middle)) return {rows: [first, last]};
  return {rows: null, hole: last + 1 < b.rows
    && map.page[b.first + last + 1] - map.page[b.first + last] - 1 > SHORT};
}

// ---- drawing ----
function paintBand(b, pixels, width, lines, ratio) {
  const perLine = (view.y1 - view.y0) / lines, perBin = width / (view.x1 - view.x0);
  const from = Math.max(0, Math.round((b.top - view.y0) / perLine));
  const to = Math.min(lines, Math.round((b.bottom - view.y0) / perLine));
  const hottest = new Float64Array(width);
  let before = null;
  for (let line = from; line < to; line++) {
    const y0 = view.y0 + line * perLine, {rows, hole} = rowsAt(b, y0, y0 + perLine);
    const at = line * width;
    if (!rows) {
      pixels.fill(hole ? gap : ground, at, at + width);
      before = null;
      continue;
    }
    if (before && before[0] === rows[0] && before[1] === rows[1] && line > from) {
      pixels.copyWithin(at, at - width, at);
      continue;
    }
    before = rows;
    hottest.fill(0);
    for (let r = b.first + rows[0]; r <= b.first + rows[1]; r++) {
      eachGroup(r, (at, cells) => {
        const bin = at * group, sum = Number(cells);
        if (bin + group <= view.x0) return false;
        if (bin >= view.x1) return true;
        const a = Math.max(0, Math.floor((bin - view.x0) * perBin));
        const z = Math.min(width, Math.max(a + 1, Math.floor((bin + group - view.x0) * perBin)));
        for (let x = a; x < z; x++) if (hottest[x] < sum) hottest[x] = sum;
        return false;
      });
    }
    for (let x = 0; x < width; x++)
      pixels[at + x] = hottest[x] ? colour[Math.round(scale(hottest[x]) * 255)] : ground;
  }
}

// Of a path the last part, where not all of it fits.
const base = name => name.startsWith('/') ? name.slice(name.lastIndexOf('/') + 1) || name : name;
function cut(text, width) {
  if (context.measureText(text).width <= width) return text;
  text = base(text);
  if (context.measureText(text).width <= width) return text;
  let keep = text.length - 1;
  while (keep > 4 && context.measureText(text.slice(0, keep / 3) + '\u2026' + text.slice(-keep * 2 / 3)).width > width) keep--;
  return text.slice(0, keep / 3) + '\u2026' + text.slice(-keep * 2 / 3);
}

function labelBand(b, toScreen) {
  const top = Math.max(TOP, toScreen(b.top)), bottom = Math.min(TOP + height, toScreen(b.bottom));
  context.strokeStyle = css('--rule');
  context.strokeRect(LEFT - .5, top - .5, plotWidth() + 1, bottom - top + 1);
  if (bottom - top < 12) return;
  context.textAlign = 'left';
  context.fillStyle = css('--ink');
  context.font = '600 13px system-ui, sans-serif';
  context.fillText(cut(b.name, LEFT - (b.resolved ? 70 : 110)), 14, top + 12);
  context.fillStyle = css('--bar');
  context.fillRect(3, top, 5, bottom - top);
  context.fillStyle = css('--accent');
  const bar = (bottom - top) * b.total / map.total;
  context.fillRect(3, bottom - bar, 5, bar);
  context.font = '12px system-ui, sans-serif';
  context.fillStyle = css('--pale');
  if (bottom - top >= 30) context.fillText(short(b.total) + ', ' + percent(b.total / map.total), 14, top + 27);
  if (bottom - top >= 46) context.fillText(b.rows + (b.rows === 1 ? ' page' : ' pages'), 14, top + 42);
  // page numbers where rows have room
  context.textAlign = 'right';
  let before = -1e9;
  const perPixel = (view.y1 - view.y0) / height;
  for (let y = top; y < bottom; y += 1) {
    if (y - before < 15) continue;
    const v = view.y0 + (y - TOP) * perPixel, {rows} = rowsAt(b, v, v + perPixel);
    if (!rows || (before > 0 && y - before < 40)) continue;
    // in the middle of a high row
    const middle = toScreen(b.y[rows[0]] + b.pitch / 2);
    const at = rows[0] === rows[1] && middle > y && middle < bottom - 4 ? middle : y;
    context.fillText(pageName(b, b.first + rows[0]), LEFT - 8, Math.max(top + 9, at + 4));
    context.fillRect(LEFT - 5, Math.round(at), 4, 1);
    before = Math.max(at, toScreen(b.y[rows[1]] + b.pitch) - 20);
    y = Math.max(y, before);
  }
}

function drawAxis(width) {
  const t0 = axisTime(view.x0), t1 = axisTime(view.x1);
  const origin = snapshots ? 0 : Number(start), zero = timed && (t0 + origin) / 4 > t1 - t0 ? t0 : -origin;
  const [divisor, name] = timed ? timeUnit(t1 - zero, clock) : [1, ''];
  const gap = !timed ? Math.max(1, step(t1 - t0, width / 90)) : step((t1 - t0) / divisor, width / 90);
  const digits = Math.max(0, Math.min(8, -Math.floor(Math.log10(gap) + 1e-9)));
  const bottom = TOP + height;
  context.font = '12px system-ui, sans-serif';
  context.textAlign = 'center';
  for (let k = Math.ceil((t0 - zero) / divisor / gap - 1e-9); k * gap <= (t1 - zero) / divisor; k++) {
    const x = LEFT + (k * gap * divisor + zero - t0) / (t1 - t0) * width;
    context.fillStyle = css('--pale');
    context.fillRect(Math.round(x), bottom + 2, 1, 5);
    context.fillStyle = css('--ink');
    context.fillText((k * gap).toFixed(digits), x, bottom + 20);
  }
  context.fillStyle = css('--pale');
  context.fillText(!timed ? 'snapshot'
    : 'time (' + name + (zero + origin ? ' after ' + exact(snapshots ? Math.round(zero) : after(zero)) : '') + ')', LEFT + width / 2, bottom + 38);
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function draw(ratio = window.devicePixelRatio || 1) {
  regroup();
  const outer = canvas.clientWidth, width = Math.max(50, outer - LEFT - RIGHT);
  canvas.style.height = height + TOP + BOTTOM + 'px';
  canvas.width = Math.round(outer * ratio);
  canvas.height = Math.round((height + TOP + BOTTOM) * ratio);
  const w = Math.round(width * ratio), h = Math.max(1, Math.round(height * ratio));
  context.fillStyle = css('--paper'); // a saved picture has a ground
  context.fillRect(0, 0, canvas.width, canvas.height);
  const image = context.createImageData(w, h);
  const pixels = new Uint32Array(image.data.buffer);
  for (const b of shown)
    if (b.bottom > view.y0 && b.top < view.y1) paintBand(b, pixels, w, h, ratio);
  context.putImageData(image, Math.round(LEFT * ratio), Math.round(TOP * ratio));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const toScreen = y => TOP + (y - view.y0) * height / (view.y1 - view.y0);
  for (const b of shown) labelBand(b, toScreen);
  if (!shown.length) {
    context.fillStyle = css('--pale');
    context.font = '15px system-ui, sans-serif';
    context.fillText(map.bands.length ? 'No mapping is chosen.' : 'Nothing was counted.', LEFT, 60);
  }
  if (map.bins) drawAxis(width);
  if (drag && drag.box) {
    context.fillStyle = '#ffffff33';
    context.strokeStyle = '#ffffffcc';
    const [x, y, bw, bh] = drag.box;
    context.fillRect(x, y, bw, bh);
    context.strokeRect(x + .5, y + .5, bw, bh);
  }
  $('reset').disabled = ['x0', 'x1', 'y0', 'y1'].every(k => view[k] === full[k]);
}

function drawLegend() {
  $('per').textContent = map.what + ' per page' + (snapshots ? '' : group > 1 ? ` and ${group} bins` : ' and bin');
  const legend = $('legend'), ratio = window.devicePixelRatio || 1, w = 354, h = 34, bar = 260, left = 48;
  legend.style.width = w + 'px';
  legend.style.height = h + 'px';
  legend.width = w * ratio;
  legend.height = h * ratio;
  const c = legend.getContext('2d');
  c.scale(ratio, ratio);
  c.fillStyle = GROUND;
  c.fillRect(8, 2, 14, 13);
  c.strokeStyle = css('--rule');
  c.strokeRect(7.5, 1.5, 15, 14);
  for (let x = 0; x < bar; x++) {
    c.fillStyle = heatColour(x / (bar - 1));
    c.fillRect(left + x, 2, 1, 13);
  }
  c.fillStyle = css('--ink');
  c.font = '11px system-ui, sans-serif';
  c.textAlign = 'center';
  c.fillText('none', 15, 29);
  const most = peak(), marks = [most];
  if (linear) {
    const s = step(most, 4);
    for (let v = s; v < most; v += s) marks.push(v);
  } else {
    for (let v = 1; v < most; v *= 10) marks.push(v);
  }
  const taken = [];
  for (const v of marks) {
    const x = left + scale(v) * (bar - 1);
    if (v < 1 || taken.some(t => Math.abs(t - x) < 38)) continue;
    taken.push(x);
    c.fillRect(x, 15, 1, 3);
    c.fillText(short(v), x, 29);
  }
}
