// What all pages have in common; the script of the page itself follows.
const $ = id => document.getElementById(id);
const data = JSON.parse($('data').textContent);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

for (const id of ['title', 'command', 'summary']) $(id).textContent = data[id] || '';
document.title = data.title;

function add(parent, tag, text, kind) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (kind) e.className = kind;
  parent.append(e);
  return e;
}

// ---- numbers for people ----
function short(value) {
  if (value < 1000 && value === Math.floor(value)) return String(value);
  let i = 0;
  while (value >= 999.5 && i < 6) { value /= 1000; i++; }
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + (i ? ' ' + ' kMGTPE'.charAt(i) : '');
}
const exact = value => value.toLocaleString('en-US').replace(/,/g, '\u202f');
// What times up to `most` are divided by to be short, and what they are then.
function timeUnit(most, unit) {
  const much = ['', 'thousand ', 'million ', 'billion ', 'trillion ', 'quadrillion ', 'quintillion '];
  let i = 0;
  for (; i < 6 && most >= 10000; i++) most /= 1000;
  return [1000 ** i, unit === 'nanoseconds' ? much[Math.max(0, i - 3)] + ['ns', '\u00b5s', 'ms', 's'][Math.min(i, 3)] : much[i] + unit];
}
const percent = part => (100 * part).toFixed(part < 0.1 ? 2 : 1) + ' %';
// In the largest unit in which it has no more than quarters, or rounded.
function bytes(value, rounded = false) {
  let i = 0;
  for (; value >= 1024 && (rounded || value % 256 === 0) && i < 6; i++) value /= 1024;
  return +value.toFixed(rounded ? 1 : 2) + ' ' + ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][i] + 'B';
}
// What stands at a mark of an axis up to `most`: all in one unit.
function axisNumber(value, most) {
  let i = 0;
  for (; most >= 1000 && i < 6; i++) { value /= 1000; most /= 1000; }
  return +value.toFixed(6) + (i && value ? ' ' + ' kMGTPE'.charAt(i) : '');
}
// The step of an axis: 1, 2 or 5 times a power of ten.
function step(range, marks) {
  const rough = range / Math.max(1, marks), power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find(k => k * power >= rough * (1 - 1e-9));
}

// ---- colours, and their contrast by WCAG 2.1 (relative luminance, contrast ratio) ----
const rgb = hex => [1, 3, 5].map(i => parseInt(hex.length > 4 ? hex.substr(i, 2) : hex[(i + 1) / 2].repeat(2), 16));
const light = hex => rgb(hex).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
function contrast(a, b) {
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}
// A part of one colour over another.
const blend = (over, under, part) => '#' + rgb(over).map((v, k) =>
  Math.round(part * v + (1 - part) * rgb(under)[k]).toString(16).padStart(2, '0')).join('');
// A colour that stands out from its ground: as it is, or with as much of the ink as that takes.
function distinct(colour, ground = css('--side')) {
  let part = 0;
  while (part < 1 && contrast(blend(css('--ink'), colour, part), ground) < 3) part += 0.05;
  return blend(css('--ink'), colour, Math.min(1, part));
}
const heatColour = t => '#' + RAMP.substr(6 * Math.round(t * 255), 6);
const [GROUND, GAP] = [0, 6].map(i => '#' + GROUNDS.substr(i, 6)); // nothing counted, pages left out
const inkOn = colour => contrast(colour, '#000000') > contrast(colour, '#ffffff') ? '#000000' : '#ffffff';

// ---- the tip: elements as [tag, text], beside the pointer ----
function showTip(event, lines) {
  const tip = $('tip');
  tip.replaceChildren();
  for (const [tag, text] of lines) add(tip, tag, text);
  tip.style.display = 'block';
  const r = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 16, innerWidth - r.width - 6)) + 'px';
  tip.style.top = (event.clientY + 18 + r.height > innerHeight ? event.clientY - r.height - 10 : event.clientY + 18) + 'px';
}
function hideTip() { $('tip').style.display = 'none'; }

// ---- save as ----
const markup = text => text.replace(/[&<>"]/g, c => '&#' + c.charCodeAt(0) + ';');
const field = value => /[",\n\r]/.test(value) ? '"' + String(value).replace(/"/g, '""') + '"' : String(value ?? '');
const csvRow = values => values.map(field).join() + '\n';

// What a page draws on a canvas, as elements of an SVG.
class Recorder {
  constructor(real) { this.real = real; this.out = []; this.path = ''; this.globalAlpha = 1; this.lineWidth = 1; }
  createImageData(w, h) { return this.real.createImageData(w, h); }
  measureText(text) { this.real.font = this.font; return this.real.measureText(text); }
  setTransform() {}
  scale() {}
  put(shape, style) {
    this.out.push(`<${shape} ${style}${this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : ''}/>`);
  }
  filled() { return `fill="${this.fillStyle}"`; }
  stroked() { return `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"`; }
  putImageData(image, x, y) {
    const part = Object.assign(document.createElement('canvas'), {width: image.width, height: image.height});
    part.getContext('2d').putImageData(image, 0, 0);
    this.put(`image x="${x}" y="${y}" width="${image.width}" height="${image.height}"`, `href="${part.toDataURL()}"`);
  }
  fillRect(x, y, w, h) { this.put(`rect x="${x}" y="${y}" width="${w}" height="${h}"`, this.filled()); }
  strokeRect(x, y, w, h) { this.put(`rect x="${x}" y="${y}" width="${w}" height="${h}"`, this.stroked()); }
  beginPath() { this.path = ''; }
  moveTo(x, y) { this.path += `M${+x.toFixed(2)} ${+y.toFixed(2)}`; }
  lineTo(x, y) { this.path += `${this.path ? 'L' : 'M'}${+x.toFixed(2)} ${+y.toFixed(2)}`; }
  fill() { this.put(`path d="${this.path}"`, this.filled()); }
  stroke() { this.put(`path d="${this.path}"`, this.stroked()); }
  fillText(text, x, y) {
    const anchor = {left: 'start', center: 'middle', right: 'end'}[this.textAlign] || 'start';
    this.out.push(`<text x="${x}" y="${y}" fill="${this.fillStyle}" text-anchor="${anchor}" style="font:${this.font}">${markup(String(text))}</text>`);
  }
}

// The text of an SVG file; inner: its elements.
function svgText(width, height, inner) {
  const space = new DOMParser().parseFromString('<svg>', 'text/html').querySelector('svg').namespaceURI;
  return `<svg xmlns="${space}" width="${width}" height="${height}">
<rect width="100%" height="100%" fill="${css('--paper')}"/>
<text x="14" y="20" fill="${css('--ink')}" style="font:600 16px sans-serif">${markup(data.title)}</text>
${inner}</svg>\n`;
}
const pngBytes = canvas => Uint8Array.from(atob(canvas.toDataURL().split(',')[1]), c => c.charCodeAt(0));
// An SVG as PNG, painted by the browser at twice its size.
async function painted(svg) {
  const image = new Image(), canvas = document.createElement('canvas');
  image.src = 'data:image/svg+xml,' + encodeURIComponent(svg);
  await image.decode();
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return pngBytes(canvas);
}
const TYPES = {png: 'image/png', svg: 'image/svg+xml', csv: 'text/csv'};

// Buttons that save: `forms` has for "png", "svg", "csv" a function that returns what the file holds.
function saveAs(parent, name, forms) {
  const span = add(parent, 'span', 'Save as ', 'save control');
  for (const [form, content] of Object.entries(forms)) {
    const button = add(span, 'button', form.toUpperCase());
    span.append(' ');
    button.addEventListener('click', async () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([await content()], {type: TYPES[form]}));
      link.download = name + '.' + form;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
}

// Calls it when the colours of the page change: dark, light, paper.
function onColours(act) {
  for (const media of ['(prefers-color-scheme: dark)', 'print']) matchMedia(media).addEventListener('change', act);
}
