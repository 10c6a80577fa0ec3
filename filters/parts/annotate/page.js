const all = data.totals[0].sum, HOTTEST = 10;
let heat = data.sort;
const whole = v => typeof v === 'string' ? BigInt(v) : v; // a sum above 2^53

// A value of a sum, with its share of all; a dot for nothing.
function values(row, sum) {
  data.values.forEach((value, i) => {
    const v = sum ? sum[i] : 0, cell = add(row, 'td');
    if (value.ratio) cell.textContent = v == null || !sum ? '' : (100 * v).toFixed(2) + ' %';
    else if (!v) cell.textContent = '.';
    else {
      cell.textContent = whole(v).toLocaleString('en-US') + ' ';
      add(cell, 'small', '(' + (100 * v / all[i]).toFixed(1).padStart(5) + ' %)');
    }
  });
}

function head(table, last, sorted) {
  const row = add(table.createTHead(), 'tr');
  data.values.forEach((value, i) => {
    const cell = add(row, 'th', sorted ? undefined : value.name);
    cell.scope = 'col';
    if (!sorted) return;
    const button = add(cell, 'button', value.name);
    button.title = 'the greatest first';
    button.onclick = () => sorted(i);
  });
  for (const text of last) add(row, 'th', text, text ? 'last' : '').scope = 'col';
  return add(table, 'tbody');
}

const anchor = (f, line) => 'f' + f + '-' + line[0];

// ---- totals, files ----

const totals = head($('totals'), ['']);
data.totals.forEach((part, i) => {
  if (i && !part.sum.some(v => v)) return;
  const row = add(totals, 'tr');
  values(row, part.sum);
  add(row, 'td', part.name, 'last');
});

const files = head($('files'), ['file'], sortFiles);
const rows = data.files.map((file, f) => {
  const row = add(files, 'tr');
  values(row, file.sum);
  const cell = add(row, 'td', undefined, 'last');
  add(cell, 'a', file.name).href = '#f' + f;
  if (file.lack) add(cell, 'small', ' ' + file.lack);
  return row;
});

const rest = data.rest.files ? add(files, 'tr') : null;
if (rest) {
  values(rest, data.rest.sum);
  add(rest, 'td', data.rest.files + ' more, of which no line is shown', 'last');
}

function sortFiles(i) {
  const order = data.files.map((_, f) => f).sort((x, y) => data.files[y].sum[i] - data.files[x].sum[i] || x - y);
  files.append(...order.map(f => rows[f]));
  if (rest) files.append(rest);
  [...$('files').tHead.rows[0].cells].forEach((cell, k) => {
    if (k === i) cell.setAttribute('aria-sort', 'descending');
    else cell.removeAttribute('aria-sort');
  });
}

// ---- source ----

const sections = []; // files: section, rows with the text of each
const lines = []; // those with values: file, line, row, cell of the number
data.files.forEach((file, f) => {
  const section = add($('sources'), 'section'), title = add(section, 'h2', file.name + ' ');
  title.id = 'f' + f;
  add(title, 'small', (file.path && file.path !== file.name ? file.path : '') + (file.lack ? ' ' + file.lack : ''));
  const body = head(add(add(section, 'div', undefined, 'wide'), 'table', undefined, 'source'), ['line', 'source']);
  const texts = [];
  sections.push({section, texts});
  let last = 0;
  for (const line of file.lines) {
    const row = add(body, 'tr', undefined, line[0] > last + 1 && body.rows.length > 1 ? 'gap' : '');
    last = line[0];
    row.id = anchor(f, line);
    texts.push({row, line, text: (line[2] ?? '').toLowerCase()});
    values(row, line[1]);
    const number = add(row, 'td', line[0] || '-', 'number');
    add(row, 'td', line[2] ?? '', 'last');
    if (line[1]) lines.push({f, line, row, number});
  }
});

// ---- heat ----

function paint() {
  const most = lines.reduce((m, l) => Math.max(m, l.line[1][heat] || 0), 0);
  for (const {line, row, number} of lines) {
    const v = line[1][heat] || 0, t = most && Math.sqrt(v / most);
    const colour = heatColour(t);
    number.style.background = v ? colour : '';
    number.style.color = v ? inkOn(colour) : '';
    row.lastChild.style.background = v ? blend(colour, css('--paper'), 0.16) : '';
  }
  const body = $('hot').tBodies[0] || head($('hot'), ['line']);
  body.replaceChildren();
  $('hot-title').textContent = 'Hottest lines by ' + data.values[heat].name;
  const hottest = lines.filter(l => l.line[1][heat]).sort((x, y) => y.line[1][heat] - x.line[1][heat]);
  for (const {f, line} of hottest.slice(0, HOTTEST)) {
    const row = add(body, 'tr'), text = (line[2] ?? '').trim();
    values(row, line[1]);
    const cell = add(row, 'td', undefined, 'last');
    add(cell, 'a', data.files[f].name + (line[0] ? ':' + line[0] : '')).href = '#' + anchor(f, line);
    if (text) cell.append('  ' + (text.length > 80 ? text.slice(0, 78) + '…' : text));
  }
}

data.values.forEach((value, i) => { add($('heat'), 'option', value.name).value = i; });
$('heat').value = heat;
$('heat').onchange = () => { heat = +$('heat').value; paint(); };
paint();

// ---- search: the lines that hold a text ----

$('search').addEventListener('input', () => {
  const want = $('search').value.toLowerCase();
  let found = 0;
  for (const {section, texts} of sections) {
    let any = 0;
    for (const {row, text} of texts) any += !(row.hidden = !text.includes(want));
    section.hidden = !any;
    found += any;
  }
  $('found').textContent = want ? found + (found === 1 ? ' line' : ' lines') : '';
});

// ---- the tip: values with their names, since the head of a long table is out of view ----

const shownValue = (i, v) => v == null ? '' : data.values[i].ratio ? (100 * v).toFixed(2) + ' %'
  : exact(whole(v)) + (v ? ', ' + percent(v / all[i]) + ' of all' : '');
for (const {f, line, row} of lines) {
  row.addEventListener('pointermove', e => showTip(e, [['b', data.files[f].name + (line[0] ? ':' + line[0] : '')],
    ...data.values.map((value, i) => ['div', value.name + ': ' + shownValue(i, line[1][i])])]));
  row.addEventListener('pointerleave', hideTip);
}

// ---- save as ----

function csv() {
  let out = csvRow(['file', 'line', ...data.values.map(v => v.name), 'text']);
  data.files.forEach((file, f) => {
    for (const {row, line} of sections[f].texts)
      if (!row.hidden) out += csvRow([file.name, line[0] || '', ...data.values.map((_, i) => line[1] ? line[1][i] ?? '' : ''), line[2] ?? '']);
  });
  return out;
}
saveAs($('controls'), 'source', {csv});
onColours(paint);
