const page = $('page'), files = {tables};
const classes = Object.keys(data.classes).filter(c => data.interleaved || !c.endsWith("sharing"));

function make(tag, text, name) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (name) e.className = name;
  return e;
}
function put(parent, ...children) { for (const c of children) parent.append(c); return parent; }
const share = (a, b) => b ? (100 * a / b).toFixed(2) + " %" : "";
function section(title) { return put(page, put(make("section"), make("h2", title))).lastChild; }
function rows(parent, names, list) {
  const t = make("table"), head = make("tr");
  for (const n of names) head.append(make("th", n, n === names[0] ? "name" : ""));
  t.append(head);
  for (const r of list) t.append(r);
  parent.append(put(make("div", undefined, "wide"), t));
}
function cells(values) {
  const r = make("tr");
  for (const v of values) r.append(v instanceof Node ? v : make("td", v));
  return r;
}
function bar(of, total) {
  const b = make("div", undefined, "bar");
  for (const c of classes) {
    const i = make("i");
    i.style.width = (total ? 100 * of[c] / total : 0) + "%";
    i.style.background = `var(--${c})`;
    b.append(i);
  }
  b.addEventListener("pointermove", e => showTip(e, classes.map(c => ["div", `${c}: ${exact(of[c])}, ${share(of[c], total) || "0 %"}`])));
  b.addEventListener("pointerleave", hideTip);
  return put(make("td"), b);
}
function name(text, advice) {
  const td = make("td", undefined, "name");
  td.append(make("code", text));
  if (advice) td.append(make("span", advice, "advice"));
  return td;
}

// Each table as rows of CSV, under names of its own.
function tables() {
  const names = ["misses", ...data.functions.concat(data.source_lines).some(i => i.last_level_misses !== undefined) ? ["last_level_misses"] : [], ...Object.keys(data.classes)];
  let out = csvRow(["table", "name", "accesses", ...names]);
  for (const table of ["functions", "source_lines", "sites", "symbols", "threads"])
    for (const i of data[table]) out += csvRow([table, i.name, i.accesses, ...names.map(n => i[n] ?? "")]);
  return out;
}

function overview() {
  data.title = $("title").textContent = data.command || "a recording without a command";
  document.title = data.title + " - cacheflow report";
  $("command").textContent = "";
  const where = [data.date && "recorded " + data.date, data.host && "on " + data.host, data.kernel, data.cpu, data.source, data.tool];
  $("summary").textContent = where.filter(x => x).join(", ");
  put(page, make("p", "on the caches of " + data.machine + (data.machine_source ? ": " + data.machine_source : ""), "pale"));
  if (data.interleaved) put(page, make("p", `threads side by side on ${data.cores} cores`, "pale"));
  if (data.cores === 1 && data.threads.length > 1)
    put(page, make("p", `${data.processes > 1 ? "processes" : "threads"} one after the other, as recorded, on one core`, "pale"));
  const rest = [
    data.lost,
    data.unplaced && `${data.unplaced} accesses without an address are not on this page`,
    data.processes_without_accesses && `${data.processes_without_accesses} process${data.processes_without_accesses > 1 ? "es" : ""} began of which no access is recorded`,
    data.threads_in_turns && `threads took turns, and when is not known: each went to one of ${data.cores} cores, and nothing is said of lines that they share`,
    data.other_computers && "further parts were recorded on other computers",
    data.problem && "the recording is damaged: " + data.problem];
  for (const line of rest.filter(x => x)) put(page, make("p", line, "warning"));
  const tiles = make("div", undefined, "tiles");
  const tile = (v, what) => tiles.append(put(make("div"), make("b", v), make("span", what, "pale")));
  if (data.instructions) tile(short(data.instructions), "instructions");
  tile(short(data.loads), "loads");
  tile(short(data.stores), "stores");
  if (data.fetches) tile(short(data.fetches), "runs of instructions");
  tile(bytes(data.touched_bytes, true), "of data touched");
  tile(data.processes, data.processes === 1 ? "process" : "processes");
  if (data.thread_count) tile(data.thread_count, data.thread_count === 1 ? "thread" : "threads");
  page.append(tiles);
}

function processes() {
  if (data.processes < 2) return;
  const per = data.instructions;
  rows(section("Processes"), ["name", "process"].concat(per ? ["instructions"] : [], "accesses", "misses"),
    data.process_list.map(p => cells([name(p.name), String(p.pid)].concat(per ? [short(p.instructions)] : [],
      short(p.accesses), short(p.misses)))));
}

function levels() {
  const s = section("Levels"), per = data.instructions;
  rows(s, ["level", "accesses", "misses", "ratio"].concat(per ? ["per 1,000 instructions"] : []), data.levels.map(l =>
    cells([name(`${l.name}, ${bytes(l.size_bytes)}`), short(l.accesses), short(l.misses), share(l.misses, l.accesses)]
      .concat(per ? [(1000 * l.misses / per).toFixed(3)] : []))));
}

function why() {
  const s = section("Why the first level missed loads and stores");
  const total = classes.reduce((a, c) => a + data.classes[c], 0);
  const keys = make("p");
  for (const c of classes) {
    const k = make("span", undefined, "key"), i = make("i");
    i.style.background = `var(--${c})`;
    put(k, i, `${c} ${short(data.classes[c])} (${share(data.classes[c], total) || "0 %"})`);
    keys.append(k);
  }
  const all = bar(data.classes, total).firstChild;
  all.style.width = "100%";
  put(s, keys, all);
}

function table(title, what, list) {
  if (!list.length) return;
  const s = section(title), last = list[0].last_level_misses !== undefined;
  rows(s, [what, "misses", "share"].concat(last ? ["of memory"] : [], classes, ""), list.map(i =>
    cells([name(i.name, i.advice), short(i.misses), share(i.misses, data.misses)].concat(
      last ? [short(i.last_level_misses)] : [], classes.map(c => i[c] ? short(i[c]) : "."),
      bar(i, i.misses)))));
}

function shared() {
  if (!data.interleaved) return;
  const s = section("Lines that threads take from each other");
  if (!data.shared_lines.length) { s.append(make("p", "none")); return; }
  rows(s, ["source line", "process", "line", "offset", "thread", "true sharing", "false sharing", "what is there"],
    data.shared_lines.map(f => cells([name(f.source), String(f.pid), f.line, String(f.offset), String(f.tid),
      short(f.true_sharing), short(f.false_sharing), make("td", f.name)])));
  if (data.shared_lines_more) s.append(make("p", `and ${data.shared_lines_more} more rows`));
}

function threads() {
  if (data.threads.length < 2) return;
  const s = section("Threads");
  rows(s, ["name", "process", "thread", "accesses", "misses", "ratio"], data.threads.map(t =>
    cells([name(t.name), String(t.pid), String(t.tid), short(t.accesses), short(t.misses), share(t.misses, t.accesses)])));
}

function curve() {
  if (!data.curve.length) return;
  const s = section("Misses of loads and stores by size of a fully associative LRU cache");
  const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg");
  const W = 900, H = 320, L = 60, R = 30, T = 14, B = 34;
  let last = data.curve.findIndex((p, i) => p[1] === data.curve[data.curve.length - 1][1]);
  const most = Math.max(...data.caches.map(c => c[1]));
  last = Math.min(data.curve.length - 1, Math.max(last + 3, data.curve.findIndex(p => p[0] >= most) + 1));
  const shown = data.curve.slice(0, last + 1), x0 = Math.log2(shown[0][0]), x1 = Math.log2(shown[last][0]);
  const top = Math.max(...shown.map(p => p[1])) * 1.05 || 1;
  const x = v => L + (Math.log2(v) - x0) / (x1 - x0 || 1) * (W - L - R), y = v => H - B - v / top * (H - T - B);
  const el = (tag, at, text) => {
    const e = document.createElementNS(ns, tag);
    for (const k in at) e.setAttribute(k, at[k]);
    if (text !== undefined) e.textContent = text;
    svg.append(e);
    return e;
  };
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  svg.setAttribute("role", "img");
  for (let i = 0; i <= 4; i++) {
    el("line", {x1: L, x2: W - R, y1: y(top * i / 4), y2: y(top * i / 4), stroke: "var(--rule)"});
    el("text", {x: L - 6, y: y(top * i / 4) + 4, "text-anchor": "end"}, +(100 * top * i / 4).toPrecision(3) + " %");
  }
  for (let e = Math.ceil(x0); e <= x1; e += x1 - x0 > 14 ? 3 : 2)
    el("text", {x: x(2 ** e), y: H - B + 18, "text-anchor": "middle"}, bytes(2 ** e));
  data.caches.forEach(([what, size], i) => {
    if (size > shown[last][0]) return;
    const late = x(size) > W - R - 110; // no room to the right
    el("line", {x1: x(size), x2: x(size), y1: T, y2: H - B, stroke: "var(--conflict)", "stroke-dasharray": "4 3"});
    el("text", {x: x(size) + (late ? -4 : 4), y: T + 12 + 14 * (i % 3), "text-anchor": late ? "end" : "start"}, what + ", " + bytes(size));
  });
  el("polyline", {points: shown.map(p => x(p[0]) + "," + y(p[1])).join(" "), fill: "none", stroke: "var(--accent)", "stroke-width": 2});
  for (const p of shown) el("circle", {cx: x(p[0]), cy: y(p[1]), r: 3, fill: "var(--accent)"});
  svg.addEventListener("pointermove", e => {
    const r = svg.getBoundingClientRect(), at = (e.clientX - r.left) / r.width * W;
    const p = shown.reduce((a, b) => Math.abs(x(a[0]) - at) <= Math.abs(x(b[0]) - at) ? a : b);
    showTip(e, [["b", bytes(p[0])], ["div", `${+(100 * p[1]).toPrecision(5)} % of loads and stores miss`]]);
  });
  svg.addEventListener("pointerleave", hideTip);
  s.append(svg);
  const file = () => svgText(W, H + 30, '<g transform="translate(0 30)" style="font:12px sans-serif">'
    + svg.innerHTML.replace(/var\((--\w+)\)/g, (_, name) => css(name)).replace(/<text /g, `<text fill="${css("--pale")}" `) + "</g>");
  files.svg = file;
  files.png = () => painted(file());
  files.curve = () => csvRow(["size_bytes", "miss_ratio"]) + data.curve.map(csvRow).join("");
  saveAs(s, "curve", {png: files.png, svg: file, csv: files.curve});
}

function map() {
  const m = data.map;
  if (!m.bands.length) return;
  const s = section("Pages over time");
  const unit = data.unit || "ticks", time = x => BigInt(m.start) + BigInt(x) * BigInt(m.width), span = (a, b) => exact(time(a)) + " \u2013 " + exact(time(b)) + " " + unit;
  const says = make("p", "", "pale"), all = make("button", "All times", "control"), drawn = [];
  let view = [0, m.bins], drag = null; // bins, the last one exclusive
  const chosen = () => [Math.min(...drag), Math.max(...drag) + 1];
  const paint = () => {
    says.textContent = `time from left to right, ${span(...view)}; the brighter, the more accesses (log scale, at most ${short(m.peak)} in a cell)`;
    all.disabled = view[1] - view[0] === m.bins;
    for (const [b, c, g] of drawn) {
      const count = c.width = view[1] - view[0], image = g.createImageData(count, c.height);
      b.lines.forEach((l, row) => {
        for (let x = 0; x < count; x++) {
          const v = l ? l[view[0] + x] : 0;
          const hex = !l ? GAP : v ? heatColour(m.peak > 1 ? Math.log(v) / Math.log(m.peak) : 1) : GROUND;
          image.data.set([...rgb(hex), 255], 4 * (row * count + x));
        }
      });
      g.putImageData(image, 0, 0);
      g.fillStyle = "#ffffff60";
      if (drag) g.fillRect(chosen()[0] - view[0], 0, chosen()[1] - chosen()[0], c.height);
    }
  };
  const show = range => { view = range; drag = null; paint(); };
  all.onclick = () => show([0, m.bins]);
  put(s, says, put(make("p", "Drag over a map to see that time alone; 0 shows all again. ", "pale control"), all));
  for (const b of m.bands) {
    const box = make("div", undefined, "band"), c = make("canvas");
    put(box, make("div", `${b.name}: ${short(b.total)} accesses, ${share(b.total, m.total)}, ${b.pages} page${b.pages === 1 ? "" : "s"}`), c);
    c.tabIndex = 0;
    c.height = Math.max(1, b.lines.length);
    c.style.aspectRatio = "auto";
    c.style.height = Math.max(6, 4 * b.lines.length) + "px";
    drawn.push([b, c, c.getContext("2d")]);
    const at = e => {
      const r = c.getBoundingClientRect(), count = view[1] - view[0];
      return view[0] + Math.min(count - 1, Math.max(0, Math.floor((e.clientX - r.left) / r.width * count)));
    };
    c.addEventListener("pointerdown", e => {
      try { c.setPointerCapture(e.pointerId); } catch (err) { /* a made-up event has no pointer */ }
      drag = [at(e), at(e)];
    });
    c.addEventListener("pointermove", e => {
      const r = c.getBoundingClientRect(), x = at(e);
      const l = b.lines[Math.min(b.lines.length - 1, Math.max(0, Math.floor((e.clientY - r.top) / r.height * b.lines.length)))];
      if (drag) { drag[1] = x; paint(); }
      showTip(e, drag ? [["b", span(...chosen())]] : [["b", b.name], ["div", span(x, x + 1)],
        ["div", l ? exact(l[x]) + " accesses" + (l[x] ? " of the hottest page here" : "") : "pages left out: nobody touched them"]]);
    });
    c.addEventListener("pointerup", () => show(drag && drag[0] !== drag[1] ? chosen() : view));
    c.addEventListener("pointercancel", () => show(view));
    c.addEventListener("pointerleave", hideTip);
    c.addEventListener("keydown", e => { if (e.key === "0" || e.key === "Escape") show([0, m.bins]); });
    s.append(box);
  }
  const rest = m.mappings - m.bands.length;
  if (rest) s.append(make("p", `and ${rest} smaller mapping${rest === 1 ? "" : "s"}`));
  paint();
}

// Only the rows of all tables that hold a text.
function search() {
  const box = put(page, make("p", undefined, "control")).lastChild, input = make("input"), says = make("span", "", "pale");
  input.id = input.type = "search";
  input.placeholder = "Search all tables";
  input.setAttribute("aria-label", input.placeholder);
  put(box, input, " ", says);
  input.addEventListener("input", () => {
    const want = input.value.trim().toLowerCase();
    let found = 0;
    for (const row of document.querySelectorAll("section tr:has(td)")) {
      row.hidden = !row.textContent.toLowerCase().includes(want);
      found += !row.hidden;
    }
    says.textContent = want && `${found} row${found === 1 ? "" : "s"}`;
  });
}

overview();
search();
processes();
levels();
why();
table("Functions that miss most", "function", data.functions);
table("Source lines that miss most", "source line", data.source_lines);
table("Heap memory that misses most, by allocation", "allocated in", data.sites);
table("Global variables that miss most", "variable", data.symbols);
shared();
threads();
curve();
map();
saveAs(document.querySelector("header"), "report", {csv: tables});
