const page = $('page'), list = data.findings;
const colour = f => `var(--${f.class.replace('allocator_', '')})`;
const plural = (n, what) => exact(n) + ' ' + what + (n === 1 ? '' : 's');
const place = p => [p.source, p.function].filter(x => x).join(', ') || p.pc;

// ---- all of it ----

const tiles = add(page, 'div', undefined, 'tiles');
function tile(value, what) {
  const box = add(tiles, 'div');
  add(box, 'b', value);
  add(box, 'span', what, 'pale');
}
tile(exact(data.samples), 'samples');
if (data.loads) tile(percent(data.load_misses / data.loads), 'of the loads missed');
if (data.stores) tile(percent(data.store_misses / data.stores), 'of the stores missed');
tile(exact(list.length), list.length === 1 ? 'finding' : 'findings');
if (data.lost) add(page, 'p', data.lost, 'warning');
if (!list.length) add(page, 'p', 'No finding: ' + data.no_finding + '.');

const controls = add(page, 'div', undefined, 'control');
controls.id = 'controls';
const search = add(controls, 'input');
search.id = 'search';
search.type = 'search';
search.placeholder = 'search in findings';
search.setAttribute('aria-label', 'search in findings');
const type = add(controls, 'select');
type.id = 'type';
type.setAttribute('aria-label', 'type of findings');
add(type, 'option', 'all types').value = '';
for (const c of new Set(list.map(f => f.class))) add(type, 'option', list.find(f => f.class === c).title).value = c;
const found = add(controls, 'span', '', 'pale');
found.id = 'found';

// ---- findings ----

function statements(section, f) {
  add(section, 'h3', f.statements.length > 1 ? 'Accessed by the instructions at' : 'Accessed by the instruction at');
  const all = add(section, 'ol');
  for (const s of f.statements) {
    const item = add(all, 'li');
    add(item, 'code', place(s));
    if (f.statements.length > 1 && f.misses) add(item, 'span', '  ' + percent(s.misses / f.misses), 'pale');
    if (!s.excerpt.length) continue;
    const text = add(item, 'pre'), at = +s.source.slice(s.source.lastIndexOf(':') + 1);
    for (const [n, line] of s.excerpt) add(text, 'div', String(n).padStart(6) + '  ' + line, n === at ? 'hot' : '');
  }
}

function size(m) {
  return m.least_bytes === m.most_bytes ? plural(m.most_bytes, 'byte') : exact(m.least_bytes) + ' to ' + plural(m.most_bytes, 'byte');
}

function memory(section, f) {
  const kinds = {global: 'global object ', mapping: 'mapping ', unknown: 'memory of which no object is known'};
  add(section, 'h3', 'Related to');
  const all = add(section, 'ul');
  for (const m of f.memory) {
    const item = add(all, 'li');
    if (m.kind !== 'heap') {
      item.textContent = kinds[m.kind];
      if (m.name) add(item, 'code', m.name);
      continue;
    }
    item.textContent = plural(m.objects, 'heap object') + (m.tid === undefined ? '' : ` (${size(m)})`) +
      (f.class === 'allocator_false_sharing' && m.tid !== undefined ? `, allocated by thread ${m.tid} at` : ', allocated at');
    const calls = add(item, 'ol');
    calls.start = 0;
    for (const frame of m.stack) add(add(calls, 'li'), 'code', place(frame));
    if (!m.stack.length) add(calls, 'li', 'a place that is not known');
  }
}

const words = f => [f.title, f.class, ...f.statements.map(place), ...f.memory.flatMap(m => [m.name, ...m.stack.map(place)])].join('\n').toLowerCase();
const sections = list.map((f, i) => {
  const section = add(page, 'section');
  section.style.borderLeftColor = colour(f);
  add(section, 'h2', `${i + 1}. ${f.title}`);
  add(section, 'p', `${f.share_percent.toFixed(1)} % of all misses, in ${plural(f.samples, 'sample')}` +
    (f.cache_lines ? ` of ${plural(f.cache_lines, 'cache line')}` : '') +
    `; without them the time for memory shrinks by at most ${f.bound_percent.toFixed(1)} %`);
  const bar = add(section, 'div', undefined, 'bar'), part = add(bar, 'i');
  part.style.width = Math.min(100, f.share_percent) + '%';
  part.style.background = colour(f);
  bar.addEventListener('pointermove', e => showTip(e, [['b', f.title], ['div', `${exact(f.misses)} misses, ${f.share_percent.toFixed(1)} % of all`]]));
  bar.addEventListener('pointerleave', hideTip);
  statements(section, f);
  memory(section, f);
  add(section, 'p', (f.threads.length > 1 ? 'Threads: ' : 'Thread: ') +
    f.threads.map(t => t.tid + (f.threads.length > 1 && f.misses ? ` (${percent(t.misses / f.misses)})` : '')).join(', '));
  add(section, 'p', 'To mend it: ' + f.fix, 'fix');
  return {f, section, words: words(f)};
});

function choose() {
  const want = search.value.toLowerCase();
  let shown = 0;
  for (const {f, section, words} of sections) {
    section.hidden = !(words.includes(want) && (!type.value || f.class === type.value));
    shown += !section.hidden;
  }
  found.textContent = want || type.value ? plural(shown, 'finding') : '';
}
search.addEventListener('input', choose);
type.addEventListener('change', choose);

// ---- save as ----

function csv() {
  let out = csvRow(['finding', 'class', 'origin', 'misses', 'share_percent', 'bound_percent', 'sources', 'memory', 'threads', 'fix']);
  sections.forEach(({f, section}, i) => {
    if (!section.hidden)
      out += csvRow([i + 1, f.class, f.origin, f.misses, f.share_percent, f.bound_percent, f.statements.map(s => s.source || s.pc).join('; '),
        f.memory.map(m => m.name).join('; '), f.threads.map(t => t.tid).join('; '), f.fix]);
  });
  return out;
}
saveAs(controls, 'findings', {csv});
