#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The pages that --html writes, each opened in a browser without a screen: no message on its console,
# and what a reader does brings what it should. Skipped where there is no Chromium.

load lib

# [SCHEME=0] in_browser PAGE.html: runs the body of an async function, on standard input, in the page; it fills
# in the object `got`, which is printed as JSON, one member a line. A fault of the page is an error.
# SCHEME 0 is the dark one.
in_browser() {
    local browser
    browser=$(command -v chromium-headless-shell || command -v chromium || command -v google-chrome) ||
        skip "no browser: chromium or chromium-headless-shell opens the pages"
    python3 - "$1" probed.html 3<&0 <<'END'
import os, sys
page, probe = open(sys.argv[1]).read(), os.fdopen(3).read()
page = page.replace('<head>', '''<head><script>
const got = {}, faults = [];
// no frame is due at a time that a test could wait for
window.requestAnimationFrame = draw => setTimeout(draw);
addEventListener('error', e => faults.push(e.message));
addEventListener('unhandledrejection', e => faults.push(String(e.reason)));
for (const kind of ['error', 'warn']) console[kind] = (...words) => faults.push(words.join(' '));
</script>''', 1)
page = page.replace('</body>', '''<script>
addEventListener('load', async () => {
  const drawn = () => new Promise(done => setTimeout(done, 50));
  const lean = (x, y, more) => ({clientX: x, clientY: y, bubbles: true, cancelable: true, ...more});
  try { %s } catch (e) { faults.push(String(e)); }
  got.faults = faults;
  const lines = Object.entries(got).map(([k, v]) => k + ' ' + JSON.stringify(v)).join('\\n');
  document.body.append('GOT' + btoa(unescape(encodeURIComponent(lines))) + 'END');
});
</script></body>''' % probe, 1)
open(sys.argv[2], 'w').write(page)
END
    timeout 300 "$browser" --no-sandbox --disable-gpu --hide-scrollbars --window-size=1300,900 \
        ${SCHEME:+--blink-settings=preferredColorScheme=$SCHEME} --virtual-time-budget=10000 --enable-logging=stderr --user-data-dir="$PWD/profile" \
        --dump-dom "file://$PWD/probed.html" >dom 2>console </dev/null || fail "$(tail -n 5 console)" || return
    ! grep -E 'CONSOLE' console || fail "the console says so" || return
    grep -oE 'GOT[A-Za-z0-9+/=]*END' dom | sed 's/^GOT//; s/END$//' | base64 -d >got
    echo >>got
    grep -qxF 'faults []' got || fail "$(cat got)"
}

# What holds of every page. The colours of its three schemes by WCAG 2.1: those of text on each of
# their grounds (1.4.3), those of what is drawn (1.4.11). What paper shows: the rules of the style for
# it, as if the page were printed.
all_pages='
  const lightness = c => c.match(/\w\w/g).map(h => parseInt(h, 16) / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (x, y) => { const [a, b] = [x, y].map(lightness).sort((p, q) => q - p); return (a + 0.05) / (b + 0.05); };
  const sheet = [...document.styleSheets[0].cssRules], schemes = [];
  for (const media of ["", "(prefers-color-scheme: dark)", "print"]) {
    const scheme = {...schemes[0]}, rules = media ? sheet.filter(r => r.media?.mediaText === media).flatMap(r => [...r.cssRules]) : sheet;
    for (const r of rules.filter(r => r.selectorText === ":root")) for (const name of r.style) scheme[name] = r.style.getPropertyValue(name).trim();
    schemes.push(scheme);
  }
  const low = [], must = (what, x, y, least) => { if (!(ratio(x, y) >= least)) low.push([what, x, y, ratio(x, y).toFixed(2)].join(" ")); };
  schemes.forEach((c, k) => {
    for (const ground of ["--paper", "--side"]) {
      for (const text of ["--ink", "--pale", "--accent"]) must(k + text, c[text], c[ground], 4.5);
      for (const drawn in c) if (!["--paper", "--side", "--rule", "--bar"].includes(drawn)) must(k + drawn, c[drawn], c[ground], 3);
    }
    must(k + "--bar", c["--ink"], c["--bar"], 4.5);
  });
  for (let i = 0; i < 256; i++) must("heat " + i, RAMP.substr(6 * i, 6), GROUNDS.substr(0, 6), 3);
  must("gap", GROUNDS.substr(6), GROUNDS.substr(0, 6), 3);
  got.schemes = schemes.map(c => c["--paper"]);
  got.low = low;
  const paper = document.createElement("style");
  paper.textContent = sheet.filter(r => r.media?.mediaText === "print").flatMap(r => [...r.cssRules]).map(r => r.cssText).join("\n");
  document.head.append(paper);
  const seen = e => e.getClientRects().length > 0;
  got.printed = [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
    [...document.querySelectorAll("button, input, select, #help, #tip, .save")].filter(seen).length,
    seen($("title")) && seen(document.querySelector("main"))];
  paper.remove();
  const click = HTMLAnchorElement.prototype.click;
  // what stands in place of a page where no script may run, and only there
  const without = document.querySelector("noscript");
  got.script = [without.textContent.includes("allow JavaScript"), seen(without)];
  got.saved = [];
  HTMLAnchorElement.prototype.click = function () { got.saved.push(this.download, this.href.slice(0, 5)); };
  for (const button of document.querySelectorAll(".save button")) { button.click(); await drawn(); }
  await drawn();
  HTMLAnchorElement.prototype.click = click;'

# holds_of_all FILE...: the page is as all are, and saves these files; the other lines stay in `got`.
holds_of_all() {
    same - <(grep -E '^(schemes|low|printed|script|saved) ' got) <<END
schemes ["#ffffff","#16171d","#ffffff"]
low []
printed ["rgb(255, 255, 255)","rgb(0, 0, 0)",0,true]
script [true,false]
saved [$(printf '"%s","blob:"\n' "$@" | paste -sd,)]
END
    sed -i -E '/^(schemes|low|printed|script|saved|faults) /d' got
}

@test "a ranking: bars, the curve of the best k, search, table, save" {
    { echo region,page,runtime_cycles,policy,k
        printf '%s\n' ,0,1000,1,0 ,0,400,2,0 '[heap],0,700,3,0' '[heap],0,720,3,0' '[stack],3,900,3,0' ,0,1000,5,0 ,0,710,5,1 ,0,400,5,2; } >rows.csv
    cf-capture csv -q --table page rows.csv | cf-rank -q --by page --value gain --html rank.html >/dev/null
    in_browser rank.html <<END
  const box = \$('bars').getBoundingClientRect();
  \$('bars').dispatchEvent(new PointerEvent('pointermove', lean(box.left + LEFT + 5, box.top + TOP + 5)));
  got.tip = [...\$('tip').children].map(e => e.textContent);
  \$('bars').dispatchEvent(new PointerEvent('pointerleave'));
  got.hidden = \$('tip').style.display;
  got.table = [...\$('list').rows].map(r => [r.className, ...[...r.cells].map(c => c.textContent)]);
  got.curve = !\$('runs').hidden;
  got.csv = files.csv();
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml');
  got.svg = [tree.querySelectorAll('parsererror').length, tree.querySelectorAll('path').length];
  got.working = [...tree.querySelectorAll('text')].map(t => t.textContent).filter(t => t.includes('working'));
  \$('search').value = 'STA';
  \$('search').dispatchEvent(new Event('input'));
  got.found = [...\$('list').rows].map(r => r.cells[1].textContent);
  \$('search').value = '';
  \$('search').dispatchEvent(new Event('input'));
  $all_pages
END
    holds_of_all ranking.png ranking.svg ranking.csv
    diff -u - got <<'END'
tip ["[heap] 0","rank 1: 290 gain_cycles, 74.4 % of all","from 280 to 300"]
hidden "none"
table [["set","1","[heap] 0","290","280","300","74.4 %","74.4 %"],["set","2","[stack] 3","100","100","100","25.6 %","100.0 %"]]
curve true
csv "rank,page,gain_cycles,least,most,share,cumulative\n1,[heap] 0,290,280,300,0.74359,0.74359\n2,[stack] 3,100,100,100,0.25641,1\n"
svg [0,1]
working ["working set: 2"]
found ["[stack] 3"]
END
    # what a page loses lies below 0
    printf '%s\n' region,page,runtime_cycles,policy,k ,0,1000,1,0 '[heap],0,700,3,0' '[heap],1,1200,3,0' >rows.csv
    cf-capture csv -q --table page rows.csv | cf-rank -q --by page --value gain --html loss.html >/dev/null
    in_browser loss.html <<'END'
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml');
  const number = (e, ...names) => names.map(n => Math.round(e.getAttribute(n)));
  got.axis = [...tree.querySelectorAll('text')].filter(t => /%$/.test(t.textContent)).map(t => t.textContent);
  got.bars = [...tree.querySelectorAll('rect')].filter(r => r.getAttribute('width') > 300 && r.getAttribute('height') > 9).slice(1).map(r => number(r, 'y', 'height'));
END
    same - got <<'END'
axis ["-20 %","-10 %","0 %","10 %","20 %","30 %"]
bars [[8,167],[175,111]]
faults []
END
}

@test "a profile of many regions: no two share a colour unsaid, and both curves are named" {
    local i
    { printf '%s\n' region,page,runtime_cycles,policy,k ,0,1000,1,0 '[heap],0,890,3,0' ,0,990,5,0 ,0,500,5,4 ,0,990,6,0 ,0,600,6,4
        for i in {0..8}; do echo "lib<$i,0,$((900 + i)),3,0"; done; } >rows.csv
    cf-capture csv -q --table page rows.csv >many.cf
    cf-rank -q --by page --value gain --html many.html --picture many.png many.cf >/dev/null
    in_browser many.html <<'END'
  const shown = [...$('legend').children].map(e => [e.textContent, e.firstChild.style.background]);
  got.legend = shown.map(e => e[0]);
  got.apart = new Set(shown.map(e => e[1])).size;
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml'), texts = [...tree.querySelectorAll('text')].map(t => t.textContent);
  got.saved = texts.filter(t => /^(lib|.heap|others|cached|moved)/.test(t));
  const fills = [...tree.querySelectorAll('rect')].filter(r => r.getAttribute('height') > 100 && r.getAttribute('width') < 200).map(r => r.getAttribute('fill'));
  got.bars = [fills.length, new Set(fills).size];
END
    same - got <<'END'
legend ["[heap]","lib<0","lib<1","lib<2","lib<3","lib<4","others"]
apart 7
saved ["[heap]","lib<0","lib<1","lib<2","lib<3","lib<4","others","cached","moved"]
bars [10,7]
faults []
END
    # the names of the curves stand at the right, where the ground would be
    [[ $(inks many.png 760-890 288-312) -gt 3 ]]
    grep -v ,6,4 rows.csv | grep -v ,6,0 | cf-capture csv -q --table page >one.cf
    cf-rank -q --by page --value gain --picture one.png one.cf >/dev/null
    [[ $(inks one.png 760-890 288-312) -le 3 ]]
}

@test "the map: hover, zoom, search, save, and colours that can be read" {
    awk 'BEGIN { print "time,addr,region,page"
        for (i = 0; i < 4000; i++) printf "%d,0x1000,%s,%d\n", i, i % 4 ? "[heap]" : "\"lib, \"\"so\"\"\"", i / 400 }' | stream map.cf
    cf-heatmap -q --html map.html map.cf >map.csv
    in_browser map.html <<END
  const box = canvas.getBoundingClientRect(), x = box.left + LEFT + 5, y = box.top + TOP + 5;
  canvas.dispatchEvent(new PointerEvent('pointermove', lean(x, y)));
  got.tip = [...\$('tip').children].map(e => e.textContent);
  got.merged = [map.bins, group, peak(), \$('per').textContent];
  got.tipShown = \$('tip').style.display;
  canvas.dispatchEvent(new WheelEvent('wheel', lean(x, y, {deltaY: -700})));
  await drawn();
  got.finer = [group, peak()];
  got.zoomed = view.x1 - view.x0 < full.x1 / 2;
  got.address = location.hash.startsWith('#bins=');
  const part = csv().length;
  await drawn();
  \$('reset').click();
  got.whole = view.x1 === full.x1;
  canvas.dispatchEvent(new PointerEvent('pointerdown', lean(x + 100, y)));
  canvas.dispatchEvent(new PointerEvent('pointermove', lean(x + 300, y)));
  canvas.dispatchEvent(new PointerEvent('pointerup', lean(x + 300, y)));
  got.dragged = view.x1 - view.x0 > 1 && view.x1 - view.x0 < full.x1;
  await drawn();
  \$('reset').click();
  got.csv = files.csv();
  got.fewer = part < got.csv.length;
  const image = files.svg(), tree = new DOMParser().parseFromString(image, 'image/svg+xml');
  got.svg = [tree.querySelectorAll('parsererror').length, tree.querySelectorAll('image').length];
  got.names = [...tree.querySelectorAll('text')].map(t => t.textContent).filter(t => t.includes('heap') || t.includes('lib'));
  got.png = [...files.png().slice(1, 4)];
  \$('search').value = 'HEA';
  \$('search').dispatchEvent(new Event('input'));
  got.found = shown.map(b => b.name);
  $all_pages
END
    holds_of_all heatmap.png heatmap.svg heatmap.csv
    diff -u - <(grep -v '^csv ' got) <<'END'
tip ["[heap]","page 0","16 – 32 records","12 accesses, 0.30 % of all","page in all: 300 accesses, 10.0 % of its mapping"]
merged [4000,16,12,"accesses per page and 16 bins"]
tipShown "block"
finer [4,3]
zoomed true
address true
whole true
dragged true
fewer true
svg [0,1]
names ["[heap]","lib, \"so\""]
png [80,78,71]
found ["[heap]"]
END
    # all of the map in view: the rows of the program
    sed -n 's/^csv //p' got | python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin))' >saved.csv
    same <(cf-heatmap -q --bins 4096 map.cf | sed 's/_records//g') saved.csv
}

@test "the map of many snapshots: a value is that of one, and no sum of several" {
    { echo snapshot,level,addr,pid; for i in {1..600}; do echo "$i,2,0,7"; ((i % 2)) || echo "$i,2,64,7"; done; } | stream many.cf -t line
    cf-heatmap -q --html many.html many.cf >many.csv
    in_browser many.html <<'END'
  got.legend = [peak(), $('per').textContent];
  const box = canvas.getBoundingClientRect();
  got.tips = [0, 1, 301, 598].map(bin => {
    canvas.dispatchEvent(new PointerEvent('pointermove', lean(box.left + LEFT + (bin + 0.5) / map.bins * plotWidth(), box.top + TOP + 3)));
    return [...$('tip').children].slice(2, 4).map(e => e.textContent.split(',')[0]);
  });
  got.csv = files.csv();
END
    same - <(grep -v '^csv ' got) <<'END'
legend [2,"lines per page"]
tips [["snapshot 1","1 lines"],["snapshot 2","2 lines"],["snapshot 302","2 lines"],["snapshot 599","1 lines"]]
faults []
END
    sed -n 's/^csv //p' got | python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin))' | same many.csv -
}

@test "the map and charts have times to the last digit, which JavaScript's numbers do not" {
    local i t=1795914644998939252
    { echo time,op,size,addr,region,page
        for i in {0..49}; do echo "$((t + 7 * i)),load,8,$((i % 3 * 4096)),heap,$((i % 3))"; done; } | stream ns.cf -c nanoseconds
    cf-heatmap -q --html ns.html ns.cf >/dev/null
    in_browser ns.html <<'END'
  got.csv = files.csv();
  const texts = () => [...new DOMParser().parseFromString(files.svg(), 'image/svg+xml').querySelectorAll('text')].map(t => t.textContent);
  got.axis = texts().filter(t => /^(\d+|time.*)$/.test(t)).slice(1);
  got.long = [timeUnit(2e16, 'records'), timeUnit(1.8e19, 'nanoseconds')];
END
    same - <(grep -v '^csv ' got) <<'END'
axis ["0","50","100","150","200","250","300","time (ns after 1 795 914 644 998 939 252)"]
long [[1000000000000000,"quadrillion records"],[1000000000000000000,"billion s"]]
faults []
END
    sed -n 's/^csv //p' got | python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin))' >saved.csv
    same <(cf-heatmap -q --bins 4096 ns.cf | sed 's/_nanoseconds//g') saved.csv
    printf 'snapshot,time,mode,level,sets,ways\n' >snapshots.csv
    printf 'snapshot,level,pid\n' >lines.csv
    for i in {1..20}; do
        echo "$i,$((t + i)),1,2,4,2" >>snapshots.csv
        echo "$i,2,7" >>lines.csv
    done
    stream chart.cf -t line --clock nanoseconds --with snapshot=snapshots.csv lines.csv
    cf-occupancy -q --html chart.html chart.cf >/dev/null
    in_browser chart.html <<'END'
  got.csv = files.csv().split('\n').slice(1, 3);
  got.axis = [...new DOMParser().parseFromString(files.svg(), 'image/svg+xml').querySelectorAll('text')].map(t => t.textContent).filter(t => /^\d+$|^time/.test(t));
END
    same - <(head -n -1 got) <<'END'
csv ["1,1795914644998939253,pid 7,12.5","2,1795914644998939254,pid 7,12.5"]
axis ["0","5","10","15","20","time (ns after 1 795 914 644 998 939 252)"]
END
}

@test "sums have every digit, which JavaScript's numbers above 2^53 do not" {
    { echo time,op,addr,region,page,function,weight,cost
        echo 1,load,0x1000,m,7,f,4503599627369,4009; echo 2,load,0x1000,m,3,g,1,3; echo 3,load,0x1000,m,3,g,99,5; } | stream large.cf
    cf-heatmap -q --value cost --html map.html large.cf >map.csv
    in_browser map.html <<'END'
  const box = canvas.getBoundingClientRect(), b = shown[0], at = b.y[1] + b.pitch / 2;
  canvas.dispatchEvent(new PointerEvent('pointermove', lean(box.left + LEFT + 0.5 / map.bins * plotWidth(),
    box.top + TOP + (at - view.y0) / (view.y1 - view.y0) * height)));
  got.tip = [...$('tip').children].map(e => e.textContent).slice(-3);
  got.csv = files.csv();
END
    same - <(grep -v '^csv ' got) <<'END'
tip ["18 054 930 906 122 321 cycles, 100.0 % of all","by f (100 %)","page in all: 18 054 930 906 122 321 cycles, 100.0 % of its mapping"]
faults []
END
    sed -n 's/^csv //p' got | python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin))' >saved.csv
    same <(sed 's/_records//g; s/cost_cycles/cycles/' map.csv) saved.csv
    cf-rank -q --by page --value cost --html rank.html large.cf >/dev/null
    in_browser rank.html <<'END'
  const box = $('bars').getBoundingClientRect();
  $('bars').dispatchEvent(new PointerEvent('pointermove', lean(box.left + LEFT + 5, box.top + TOP + 5)));
  got.tip = [...$('tip').children].map(e => e.textContent);
  got.table = [...$('list').rows].map(r => r.cells[2].textContent);
  got.csv = files.csv();
END
    same - got <<'END'
tip ["m, page 7","rank 1: 18 054 930 906 122 321 cost_cycles, 100.0 % of all"]
table ["18 054 930 906 122 321","498"]
csv "rank,name,cost_cycles,share,cumulative\n1,\"m, page 7\",18054930906122321,1,1\n2,\"m, page 3\",498,0,1\n"
faults []
END
    printf '%s\n' time,op,addr,source,weight,cost 1,load,64,x.c:1,4503599627369,4009 2,load,64,x.c:2,9,9 | stream lines.cf
    cf-annotate -q --value cost --html source.html lines.cf >rows.csv
    in_browser source.html <<'END'
  got.totals = $('totals').tBodies[0].rows[0].cells[0].textContent;
  document.querySelector('.source tbody tr').dispatchEvent(new PointerEvent('pointermove', lean(50, 50)));
  got.tip = [...$('tip').children].map(e => e.textContent);
  got.csv = csv();
END
    same - got <<'END'
totals "18,054,930,906,122,402 (100.0 %)"
tip ["x.c:1","cost_cycles: 18 054 930 906 122 321, 100.0 % of all"]
csv "file,line,cost_cycles,text\nx.c,1,18054930906122321,\n"
faults []
END
}

# hovers PAGE.html PAGE BIN...: what the tip says of page number PAGE of the first mapping at each bin.
hovers() {
    local page=$1 row=$2
    shift 2
    in_browser "$page" <<END
  got.tips = [$(printf '%s\n' "$@" | paste -sd,)].map(bin => {
    const box = canvas.getBoundingClientRect(), b = shown[0], at = b.y[$row] + b.pitch / 2;
    canvas.dispatchEvent(new PointerEvent('pointermove', lean(
      box.left + LEFT + (bin + 0.5 - view.x0) / (view.x1 - view.x0) * plotWidth(),
      box.top + TOP + (at - view.y0) / (view.y1 - view.y0) * height)));
    return [...\$('tip').children].map(e => e.textContent).filter(t => t.startsWith('by ')).join() || 'nothing';
  });
END
    sed -n 's/^tips //p' got
}

@test "the map names the functions of a cell, those of most first; without names it says nothing" {
    # page 0: f and g, then h alone, then no function; page 1: seventy that count little, and one that counts much
    awk 'BEGIN { print "time,addr,region,page,function"
        for (i = 0; i < 256; i++) print i ",0x1000,m,0," (i < 64 ? (i % 4 ? "f" : "\"<g,\"\"i>\"") : i < 128 ? "h" : "")
        for (i = 256; i < 512; i++) print i ",0x2000,m,1," (i % 3 ? "s" i % 70 : "much") }' | stream named.cf
    cf-heatmap -q --bin-width 64 --html named.html named.cf >/dev/null
    run -0 hovers named.html 0 0 1 2
    is '["by f (75 %), <g,\"i> (25 %)","by h (100 %)","nothing"]'
    # also at times that JavaScript's numbers do not hold
    { echo time,addr,region,page,function; for i in {1000..1127}; do echo "1152921504606847$i,0x1000,m,0,$([ "$i" -ge 1064 ] || echo f)"; done; } | stream late.cf
    cf-heatmap -q --bin-width 64 --from 1152921504606847999 --html late.html late.cf >/dev/null
    run -0 hovers late.html 0 0
    [[ $output == *'by f '* ]] || fail "$output"
    # a third of all is found whatever comes between, and is stated as no more than it is
    run -0 hovers named.html 1 4 7
    [[ $output =~ ^\[\"by\ much\ \(([0-9]+)\ %\) && ${BASH_REMATCH[1]} -ge 13 && ${BASH_REMATCH[1]} -le 34 ]] || fail "$output"
    # what does not count is not named: operations, times, mappings
    awk 'BEGIN { print "time,op,addr,region,page,function"
        for (i = 0; i < 64; i++) print i ",load,0x1000,m,0,f\n" i ",store,0x1000,m,0,g\n" i ",store,0x1000,other,0,x" }' | stream ops.cf
    cf-heatmap -q --op store --region m --bin-width 64 --html ops.html ops.cf >/dev/null
    run -0 hovers ops.html 0 0
    is '["by g (100 %)"]'
    run ! grep -q '"list":.*"[fx]"' ops.html
    cut -d, -f1-4 <(cf-cat --csv --columns time,addr,region,page named.cf) | stream nameless.cf
    cf-heatmap -q --html nameless.html nameless.cf >/dev/null
    run -0 hovers nameless.html 0 0
    is '["nothing"]'
}

@test "the map of one mapping: its share, 100 %, has room in its column" {
    printf 'time,addr\n1,0\n2,64\n' | stream one.cf
    cf-heatmap -q --html one.html one.cf >/dev/null
    in_browser one.html <<'END'
  got.past = $('list').scrollWidth - $('list').clientWidth;
END
    grep -qxF 'past 0' got || fail "$(<got)"
}

@test "the functions of cells take no more memory or page than is said, and names of any length are cut" {
    # 300,000 pages, each in eight bins by functions of its own: more cells than are kept
    awk 'BEGIN { print "time,addr,function"
        for (t = 0; t < 4; t++) for (i = 0; i < 75000; i++) printf "%d,%.0f,f%d\n", t * 75000 + i, i * 4096, i }' | stream wide.cf
    cf-heatmap -q --html wide.html wide.cf >/dev/null
    [[ $(stat -c %s wide.html) -lt 8000000 ]]
    python3 - wide.html <<'END'
import base64, json, sys
page = open(sys.argv[1]).read()
data = json.loads(page.split('id="data">')[1].split('</script>')[0])
raw, at = base64.b64decode(data['names']['cells']), 0
def number():
    global at
    value = shift = 0
    while True:
        byte, at = raw[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value
cells = named = 0
for row in range(data['rows']):
    for cell in range(number()):
        cells += 1
        number(), number()
        count = number()
        named += count
        for i in range(count):
            assert number() < len(data['names']['list'])
            number()
assert at == len(raw)
assert 65536 <= cells <= 131072, cells
assert len(data['names']['list']) == 4096 <= named
END
    { echo time,addr,function; printf '1,4096,%0500d\n' 7; } | stream long.cf
    cf-heatmap -q --html long.html long.cf >/dev/null
    grep -qE '"list":\["0{252}\.\.\."\]' long.html
}

@test "a chart: hover, zoom, a series left out" {
    printf 'snapshot,time,mode,level,sets,ways\n' >snapshots.csv
    printf 'snapshot,level,pid\n' >lines.csv
    local i
    for i in {1..20}; do
        echo "$i,${i}00,1,2,4,2" >>snapshots.csv
        printf '%s\n' "$i,2,7" "$i,2,8" >>lines.csv
    done
    stream chart.cf -t line --clock cycles --with snapshot=snapshots.csv lines.csv
    cf-occupancy -q --html chart.html chart.cf >/dev/null
    in_browser chart.html <<END
  const plot = panels[0].canvas, box = plot.getBoundingClientRect(), y = box.top + 20;
  const at = i => box.left + LEFT + (i + 0.5) * (box.width - LEFT - RIGHT) / 20;
  plot.dispatchEvent(new PointerEvent('pointermove', lean(at(4), y)));
  got.where = \$('where').textContent;
  got.cell = cells[0][0].textContent;
  got.tip = [...\$('tip').children].map(e => e.textContent);
  plot.dispatchEvent(new PointerEvent('pointerdown', lean(at(5), y)));
  plot.dispatchEvent(new PointerEvent('pointermove', lean(at(9), y)));
  plot.dispatchEvent(new PointerEvent('pointerup', lean(at(9), y)));
  got.view = view;
  got.rows = files.csv().split('\\n').length - 2;
  \$('reset').click();
  got.whole = view;
  document.querySelector('#list input').click();
  got.shown = shown;
  got.csv = files.csv();
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml');
  got.svg = [tree.querySelectorAll('parsererror').length, tree.querySelectorAll('path').length];
  got.texts = [...tree.querySelectorAll('text')].map(t => t.textContent).filter(t => !/^[0-9]/.test(t));
  got.png = [...(await files.png()).slice(1, 4)];
  $all_pages
END
    holds_of_all chart.png chart.svg chart.csv
    # the series that is left is that of the second box, since the first area lies below
    same - <(grep -v '^csv ' got) <<'END'
where "snapshot 5, 500 cycles"
cell "12.5 %"
tip ["snapshot 5, 500 cycles","pid 7: 12.5 %","pid 8: 12.5 %"]
view [5,10]
rows 10
whole [0,20]
shown [true,false]
svg [0,1]
texts ["Cache occupancy by process","time (cycles)","share of the cache","pid 7"]
png [80,78,71]
END
    sed -n 's/^csv //p' got | python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin))' | head -n 3 >saved.csv
    same saved.csv - <<'END'
snapshot,time,series,share_percent
1,100,pid 7,12.5
2,200,pid 7,12.5
END
}

@test "a chart of uneven snapshots: each stands at its time, and what is named is there" {
    printf 'snapshot,time,mode,level,sets,ways\n' >snapshots.csv
    printf 'snapshot,level,pid\n' >lines.csv
    local i
    for i in 1 2 3 5 10 11 12 40 41 60; do
        echo "$i,${i}00,1,2,4,2" >>snapshots.csv
        echo "$i,2,7" >>lines.csv
    done
    stream uneven.cf -t line --clock cycles --with snapshot=snapshots.csv lines.csv
    cf-occupancy -q --html uneven.html --picture uneven.svg uneven.cf >/dev/null
    in_browser uneven.html <<'END'
  const texts = () => [...new DOMParser().parseFromString(files.svg(), 'image/svg+xml').querySelectorAll('text')]
    .filter(t => /^\d+$/.test(t.textContent)).map(t => [+t.textContent, Math.round((t.getAttribute('x') - LEFT) / (WIDTH - LEFT - RIGHT) * 1000)]);
  got.marks = texts();
  const box = panels[0].canvas.getBoundingClientRect();
  got.hover = [50, 450, 2000, 4050, 5900].map(time => {
    const x = box.left + LEFT + time / 6000 * (box.width - LEFT - RIGHT);
    panels[0].canvas.dispatchEvent(new PointerEvent('pointermove', lean(x, box.top + 20)));
    return $('where').textContent;
  });
  view = [7, 9];
  got.zoomed = texts();
END
    same - got <<'END'
marks [[0,0],[1000,167],[2000,333],[3000,500],[4000,667],[5000,833],[6000,1000]]
hover ["snapshot 1, 100 cycles","snapshot 5, 500 cycles","snapshot 40, 4000 cycles","snapshot 41, 4100 cycles","snapshot 60, 6000 cycles"]
zoomed [[1500,103],[2000,276],[2500,448],[3000,621],[3500,793],[4000,966]]
faults []
END
    # without times: numbers of snapshots that are there
    cut -d, -f1,3- snapshots.csv >timeless.csv
    stream timeless.cf -t line --with snapshot=timeless.csv lines.csv
    cf-occupancy -q --html timeless.html timeless.cf >/dev/null
    in_browser timeless.html <<'END'
  got.marks = [...new DOMParser().parseFromString(files.svg(), 'image/svg+xml').querySelectorAll('text')].map(t => t.textContent).filter(t => /^\d+$/.test(t));
END
    same - got <<'END'
marks ["2","5","10","12","40","60"]
faults []
END
    [[ $(COLUMNS=90 cf-occupancy -q --term timeless.cf | sed -n '/ snapshot$/p' | xargs) == '2 5 10 12 40 60 snapshot' ]]
}

@test "a chart of a cache of unknown size: lines by that name, and means below one" {
    { echo snapshot,pid; for i in {1..8}; do echo "$i,7"; done; echo 8,8; } | stream bare.cf -t line
    cf-occupancy -q --html bare.html bare.cf >/dev/null
    in_browser bare.html <<'END'
  got.heads = [...$('head').children].map(e => e.textContent);
  got.means = data.series.map((s, i) => s.name + ' ' + cells[i][0].textContent);
  got.csv = files.csv().split('\n').slice(0, 2);
END
    same - got <<'END'
heads ["series","lines"]
means ["pid 7 1","pid 8 0.13"]
csv ["snapshot,series,lines","1,pid 7,1"]
faults []
END
}

@test "a chart of several runs: means, and rows that are saved, are of each one's own snapshots" {
    local i
    for i in {1..10}; do echo "$i,${i}0,1,2,4,2"; done | cat <(echo snapshot,time,mode,level,sets,ways) - >snapshots.csv
    for i in {1..10}; do printf '%s\n' "$i,2,7,0" "$i,2,7,1"; done | cat <(echo snapshot,level,pid,set) - |
        stream dense.cf -t line --clock cycles --with snapshot=snapshots.csv
    printf 'snapshot,time,mode,level,sets,ways\n1,100,1,2,4,2\n2,200,1,2,4,2\n' >snapshots.csv
    printf '%s\n' snapshot,level,pid,set 1,2,7,0 2,2,7,{0..2} | stream few.cf -t line --clock cycles --with snapshot=snapshots.csv
    cf-sets -q --html sets.html few.cf dense.cf >/dev/null
    in_browser sets.html <<'END'
  got.names = data.series.map(s => s.name);
  got.means = cells.map(row => row[0].textContent);
  const box = panels[0].canvas.getBoundingClientRect();
  panels[0].canvas.dispatchEvent(new PointerEvent('pointermove', lean(box.left + LEFT + 5, box.top + 20)));
  got.where = $('where').textContent;
  got.held = cells.map(row => row[0].textContent);
  got.csv = files.csv().split('\n').filter(l => !l.includes('dense'));
END
    same - got <<'END'
names ["pid 7 of dense.cf","pid 7 of few.cf"]
means ["25.0 %","25.0 %"]
where "10 cycles"
held ["25.0 %","12.5 %"]
csv ["time,series,active_percent,reused_percent","100,pid 7 of few.cf,12.5,0","200,pid 7 of few.cf,37.5,0",""]
faults []
END
}

@test "a chart of many series: all stand out, in the light and in the dark" {
    awk 'BEGIN { print "time,addr"; for (i = 0; i < 3000; i++) printf "%d,%d\n", i, i * 64 % 12800 }' | stream walk.cf
    cf-sweep -q --ways "$(seq -s, 21)" --min 1K --max 4K --html chart.html walk.cf >/dev/null
    for scheme in 0 1; do
        SCHEME=$scheme in_browser chart.html <<END
  $all_pages
  got.ground = css('--side');
  got.low = data.series.filter(s => ratio(s.drawn, css('--side')) < 3).map(s => s.drawn);
  got.series = new Set(data.series.map(s => s.colour)).size;
  // on light paper they are what a picture has
  got.same = data.series.every(s => s.drawn === s.colour);
END
        holds_of_all chart.png chart.svg chart.csv
        grep -v '^series' got >>schemes
        grep '^series' got | awk '{ exit !($2 >= 21) }'
        grep -qF '"summary":"LRU caches of lines of 64 bytes"' chart.html
    done
    same - schemes <<'END'
ground "#1e2028"
same false
ground "#f5f6f9"
same true
END
    # there are no more colours: that some are those of two is said
    cf-sweep -q --ways "$(seq -s, 22)" --min 1K --max 4K --html more.html --picture more.png walk.cf >/dev/null
    grep -qF '"summary":"LRU caches of lines of 64 bytes; some series share a colour"' more.html
    cf-sweep -q --ways "$(seq -s, 21)" --min 1K --max 4K --picture chart.png walk.cf >/dev/null
    [[ $(inks chart.png 180-320 32-42) == 1 && $(inks more.png 180-320 32-42) -gt 1 ]]
    # fewer are told apart where processes have the colours of their names
    { echo snapshot,level,pid; for i in {1..15}; do echo "1,2,$i"; done; } | stream fifteen.cf -t line
    cf-occupancy -q --lines 64 --top 14 --html fewer.html fifteen.cf >/dev/null
    cf-occupancy -q --lines 64 --top 15 --html all.html fifteen.cf >/dev/null
    run ! grep -qF 'share a colour' fewer.html
    grep -qF '; some series share a colour"' all.html
}

@test "curves over sizes: their page opens, and hover names a size" {
    awk 'BEGIN { print "time,addr"; for (i = 0; i < 3000; i++) printf "%d,%d\n", i, i * 64 % 12800 }' | stream walk.cf
    cf-sweep -q --ways 1,3 --min 1K --max 4K --html sweep.html walk.cf >sweep.csv
    in_browser sweep.html <<'END'
  const plot = panels[0].canvas, box = plot.getBoundingClientRect();
  plot.dispatchEvent(new PointerEvent('pointermove', lean(box.left + LEFT + 3, box.top + 20)));
  got.where = $('where').textContent;
  got.cells = cells.map(row => row[0].textContent);
  got.lines = [...new DOMParser().parseFromString(files.svg(), 'image/svg+xml').querySelectorAll('path')].map(p => p.getAttribute('d').replace(/[^ML]/g, ''));
END
    same - got <<END
where "1 KiB"
cells ["$(awk -F, '$2 == 1 && $3 == 1024 { print $6 }' sweep.csv)",""]
lines ["ML","MLL"]
faults []
END
    # the caches of a machine stand on the curve, each at its size
    awk 'BEGIN { print "time,addr"; for (i = 0; i < 40000; i++) printf "%d,%d\n", i, i * 64 % 1280000 }' | stream long.cf
    cf-distance -q long.cf | cf-mrc -q -m raspberry-pi-4 --html mrc.html >mrc.csv
    in_browser mrc.html <<END
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml');
  got.texts = [...tree.querySelectorAll('text')].map(t => t.textContent).filter(t => /^L/.test(t));
  $all_pages
END
    holds_of_all chart.png chart.svg chart.csv
    same - got <<'END'
texts ["L1D","L2"]
END
    # sizes that are no powers of two, and differ, have numbers that do
    cf-distance -q long.cf | cf-mrc -q --at 1030K,1040K,1050K --html near.html >/dev/null
    in_browser near.html <<'END'
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml');
  got.axis = [...tree.querySelectorAll('text')].map(t => t.textContent).filter(t => /B$/.test(t));
  got.where = [0, 1].map(where);
  got.sizes = [1, 1023, 49152, 1310720, 1573376, 2 ** 40].map(v => bytes(v));
END
    same - got <<'END'
axis ["1030 KiB","1040 KiB","1050 KiB"]
where ["1030 KiB","1040 KiB"]
sizes ["1 B","1023 B","48 KiB","1.25 MiB","1536.5 KiB","1 TiB"]
faults []
END
    # they stand on a scale of doublings, and so does what is marked
    cf-distance -q long.cf | cf-mrc -q -m raspberry-pi-4 --at 1K,4K,1M --html far.html >/dev/null
    in_browser far.html <<'END'
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml'), between = (a, b, v) => ((v - a) / (b - a)).toFixed(2);
  const [a, b, c] = tree.querySelector('path').getAttribute('d').match(/[ML][0-9.]+/g).map(m => +m.slice(1));
  got.curve = between(a, c, b);
  const thin = e => e.getAttribute('width') === '1' && e.getAttribute('height') > 99;
  got.signs = [...tree.querySelectorAll('rect')].filter(thin).map(e => between(a, c, +e.getAttribute('x')));
  const box = panels[0].canvas.getBoundingClientRect();
  const wide = box.width - LEFT - RIGHT;
  got.where = [2 ** 10.9, 2 ** 11.1, 2 ** 17].map(size => {
    const at = doublings => (doublings - edges[0]) / (edges[3] - edges[0]);
    panels[0].canvas.dispatchEvent(new PointerEvent('pointermove', lean(box.left + LEFT + at(Math.log2(size)) * wide, box.top + 20)));
    return $('where').textContent;
  });
END
    same - got <<'END'
curve "0.20"
signs ["0.50","1.00"]
where ["1 KiB","4 KiB","1 MiB"]
faults []
END
}

@test "annotated source: sorted files, another heat, a link to a line, text that is no mark-up" {
    mkdir n
    printf 'int a;\n\tif (a < 1 && b) </script><b id="x">\x1b[1m%s\n}\n' "'\"&amp;" >n/x.c
    {
        echo time,addr,source,hit,function
        awk 'BEGIN { for (i = 0; i < 900; i++) print i ",0x10,n/x.c:2," (i % 2 ? 255 : 1) ",f"
            for (i = 0; i < 90; i++) print 900 + i ",0x10,n/x.c:3,1,f"
            for (i = 0; i < 2000; i++) print 990 + i ",0x10,<i>.c:7,1,g"
            print "9999,0x10,,1,"
            print "9999,0x10,few.c:1,1," }'
    } | stream in.cf
    cf-annotate -q --html a.html --context 1 in.cf >rows.csv
    in_browser a.html <<END
  const texts = (id, k) => [...\$(id).querySelectorAll('tbody tr')].map(r => r.cells[r.cells.length - k].textContent);
  got.summary = \$('summary').textContent;
  got.totals = [...\$('totals').tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent.replace(/ +/g, ' ')));
  got.files = texts('files', 1);
  \$('files').tHead.rows[0].cells[0].querySelector('button').click();
  got.sorted = texts('files', 1);
  got.hot = texts('hot', 1);
  got.marks = document.querySelectorAll('b, i').length;
  const rows = [...document.querySelectorAll('.source tbody tr')];
  got.source = rows.map(r => [r.id, ...[...r.cells].slice(-2).map(c => c.textContent)]);
  const ground = rows.map(r => r.querySelector('.number').style.background);
  got.ground = [ground.filter(g => g).length, new Set(ground).size];
  \$('heat').value = 0;
  \$('heat').dispatchEvent(new Event('change'));
  got.hotter = [\$('hot-title').textContent, ...texts('hot', 1)];
  $all_pages
  got.heat = [...Array(101).keys()].every(t => ratio(heatColour(t / 100), inkOn(heatColour(t / 100))) >= 4.5);
  // text on the paler colour of a hot line
  got.behind = schemes.every(c => [...Array(101).keys()].every(t => ratio(c['--ink'], blend(heatColour(t / 100), c['--paper'], 0.16)) >= 4.5));
  rows[1].dispatchEvent(new PointerEvent('pointermove', lean(50, 50)));
  got.tip = [...\$('tip').children].map(e => e.textContent);
  got.csv = csv();
  const find = text => { \$('search').value = text; \$('search').dispatchEvent(new Event('input')); };
  find('IF (');
  got.found = [\$('found').textContent, rows.filter(r => r.offsetParent).map(r => r.id).join(), csv().split('\\n').length - 2];
  find('');
  got.link = document.getElementById(\$('hot').querySelector('a').getAttribute('href').slice(1)).cells[0].textContent;
END
    holds_of_all source.csv
    same - <(grep -v '^csv ' got) <<'END'
summary "3 of 4 counted lines in 2 of 3 files: those with 0.1 % of a value"
totals [["2,992 (100.0 %)","450 (100.0 %)","all"],["2,990 ( 99.9 %)","450 (100.0 %)","lines below"],["1 ( 0.0 %)",".","lines under the threshold"],["1 ( 0.0 %)",".","without source line"]]
files ["n/x.c","<i>.c not found","1 more, of which no line is shown"]
sorted ["<i>.c not found","n/x.c","1 more, of which no line is shown"]
hot ["n/x.c:2  if (a < 1 && b) </script><b id=\"x\">\\x1b[1m'\"&amp;"]
marks 0
source [["f0-1","1","int a;"],["f0-2","2","        if (a < 1 && b) </script><b id=\"x\">\\x1b[1m'\"&amp;"],["f0-3","3","}"],["f1-7","7",""]]
ground [1,2]
hotter ["Hottest lines by accesses","<i>.c:7","n/x.c:2  if (a < 1 && b) </script><b id=\"x\">\\x1b[1m'\"&amp;","n/x.c:3  }"]
heat true
behind true
tip ["n/x.c:2","accesses: 900, 30.1 % of all","misses: 450, 100.0 % of all"]
found ["1 line","f0-2",1]
link "2,000 ( 66.8 %)"
END
    sed -n 's/^csv //p' got | python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin))' >saved.csv
    same saved.csv - <<'END'
file,line,accesses,misses,text
n/x.c,1,,,int a;
n/x.c,2,900,450,"        if (a < 1 && b) </script><b id=""x"">\x1b[1m'""&amp;"
n/x.c,3,90,0,}
<i>.c,7,2000,0,
END
    # the rows are of all that was counted, whatever the page shows
    [[ $(awk -F, 'NR > 1 { sum += $3 } END { print sum }' rows.csv) == 2992 ]]
}

@test "a miss ratio of a millionth is no 0: on the axis of the report, and where one points" {
    awk 'BEGIN { print "time,op,addr,size"; for (i = 0; i < 400000; i++) print i ",load," i % 2 * 64 ",8" }' | stream tiny.cf
    cf-report -q -m raspberry-pi-4 --html page.html tiny.cf
    in_browser page.html <<'END'
  got.axis = [...document.querySelectorAll('svg text')].map(e => e.textContent).filter(t => t.endsWith('%'));
  document.querySelector('svg').dispatchEvent(new PointerEvent('pointermove', lean(200, 300)));
  got.tip = $('tip').lastChild.textContent;
END
    same - got <<'END'
axis ["0 %","0.000131 %","0.000263 %","0.000394 %","0.000525 %"]
tip "0.0005 % of loads and stores miss"
faults []
END
    cf-distance -q tiny.cf | cf-mrc -q --html mrc.html >/dev/null
    in_browser mrc.html <<'END'
  got.said = panels[0].lines[0].map(say);
END
    same - got <<'END'
said ["100.0 %","0.0005 %"]
faults []
END
}

@test "the report: that its map leaves out mappings is said, as in the text" {
    awk 'BEGIN { print "time,op,addr,size,region,page"
        for (i = 0; i < 900; i++) printf "%d,load,%d,8,m%d,0\n", i, i % 9 * 4096, i % 9 }' | stream nine.cf
    cf-report -q -m raspberry-pi-4 --html page.html nine.cf
    in_browser page.html <<END
  const bands = [...document.querySelectorAll('.band')];
  got.map = [bands[0].textContent, bands.length, document.querySelector('section:last-of-type > p:last-child').textContent];
END
    same - got <<'END'
map ["m0: 100 accesses, 11.11 %, 1 page",6,"and 3 smaller mappings"]
faults []
END
}

@test "the report: tables, curve and map of it, and colours that can be read" {
    awk 'BEGIN { print "time,pid,tid,op,addr,size,region,page,function,source"
        for (i = 0; i < 4000; i++) printf "90071992547499%04d,7,7,load,%d,8,[heap],%d,\"<b>f\",x.c:1\n", i + 1, i * 32, int(i * 32 / 4096) }' | stream map.cf
    cf-report -q -m raspberry-pi-4 --html page.html map.cf
    in_browser page.html <<END
  got.heads = [...document.querySelectorAll('h2')].map(e => e.textContent.slice(0, 14));
  got.name = document.querySelector('section:nth-of-type(3) td.name code').textContent;
  got.curve = document.querySelectorAll('svg circle').length > 10;
  got.marks = [...document.querySelectorAll('svg text')].some(e => e.textContent.startsWith('L1D'));
  const c = document.querySelector('canvas'), image = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  got.drawn = image.some((v, i) => i % 4 < 3 && v > 150);
  const told = () => [...\$('tip').children].map(e => e.textContent);
  const point = (e, x, y) => {
    const r = e.getBoundingClientRect();
    e.dispatchEvent(new PointerEvent('pointermove', lean(r.left + x * r.width, r.top + y * r.height)));
    return told();
  };
  got.cell = point(c, 0.001, 0.01);
  const box = c.getBoundingClientRect(), drag = (kind, x) => c.dispatchEvent(new PointerEvent(kind, lean(box.left + x * box.width, box.top + 2)));
  const wide = c.width;
  drag('pointerdown', 0.5); drag('pointermove', 0.6); drag('pointerup', 0.6);
  got.zoomed = [c.width < wide / 4, point(c, 0.001, 0.01)[1]];
  drag('pointerdown', 0.5); drag('pointerup', 0.5);
  got.clicked = c.width < wide / 4; // is no drag
  const reset = [...document.querySelectorAll('button')].find(b => b.textContent === 'All times');
  got.reset = [reset.disabled, (reset.click(), c.width === wide), reset.disabled];
  drag('pointerdown', 0.5); drag('pointermove', 0.6); drag('pointerup', 0.6);
  c.dispatchEvent(new KeyboardEvent('keydown', {key: '0'}));
  got.keys = c.width === wide;
  const named = () => [...document.querySelectorAll('td.name')].filter(e => e.getClientRects().length).map(e => e.textContent);
  const look = text => { \$('search').value = text; \$('search').dispatchEvent(new Event('input')); return [named(), \$('search').parentNode.textContent.trim()]; };
  got.every = named().length;
  got.found = look('X.C:');
  got.none = look('nowhere');
  got.again = look('')[0].length === got.every;
  got.point = point(document.querySelector('svg'), 0, 0.5);
  got.bar = point(document.querySelector('.bar'), 0.1, 0.5);
  got.tables = files.tables().split('\\n').slice(0, 2);
  got.curveRows = files.curve().split('\\n')[0];
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml');
  got.svg = [tree.querySelectorAll('parsererror').length, files.svg().includes('var('), tree.querySelectorAll('circle').length > 10];
  got.png = [...(await files.png()).slice(1, 4)];
  $all_pages
END
    holds_of_all report.csv curve.png curve.svg curve.csv
    same - got <<'END'
heads ["Levels","Why the first ","Functions that","Source lines t","Misses of load","Pages over tim"]
name "<b>f"
curve true
marks true
drawn true
cell ["[heap]","900 719 925 474 990 000 – 900 719 925 474 990 048 records","47 accesses of the hottest page here"]
zoomed [true,"900 719 925 474 992 016 – 900 719 925 474 992 064 records"]
clicked true
reset [false,true,true]
keys true
every 4
found [["x.c:1first touches: touch less memory, or prefetch it"],"1 row"]
none [[],"0 rows"]
again true
point ["1 KiB","50 % of loads and stores miss"]
bar ["compulsory: 2 000, 100.00 %","capacity: 0, 0.00 %","conflict: 0, 0.00 %"]
tables ["table,name,accesses,misses,last_level_misses,compulsory,capacity,conflict,true_sharing,false_sharing","functions,<b>f,4000,2000,2000,2000,0,0,0,0"]
curveRows "size_bytes,miss_ratio"
svg [0,false,true]
png [80,78,71]
END
}

@test "traces of a batch: a click on a heading gives each column one order" {
    local name n=0
    echo bytes,modified,xxh128,records,clock,source,name,command >manifest.csv
    for name in 10 1a 1e3 9 a,b; do
        printf 'whole\t%s\t\n' "$name"
        echo "$((n % 3)),0,0,$((n++ % 3 * 1000)),,,\"$name\",\"\"" >>manifest.csv
    done >states
    printf 'absent\tgone\tin came.csv, not in traces\n' >>states
    manifest=manifest.csv recipe=explore key=k awk -f "$ROOT/pipelines/batch-page.awk" states >page.html
    in_browser page.html <<'END'
  const names = c => (document.querySelectorAll('th')[c].click(), [...document.querySelector('tbody').rows].map(r => r.cells[0].textContent));
  got.names = names(0);
  got.back = names(0);
  got.records = (names(0), names(2));
END
    same - got <<'END'
names ["1a","1e3","9","10","a,b","gone"]
back ["gone","a,b","10","9","1e3","1a"]
records ["gone","9","10","1a","a,b","1e3"]
faults []
END
}

@test "the findings: chosen by type and text, saved, and colours that can be read" {
    printf '%s\n' time,pid,tid,op,addr,bytes,stack,object,site,function,source '0,7,1,alloc,0x1000,8,0,1,<i> x.c:8,<i>,x.c:8' \
        '0,7,2,alloc,0x1008,8,0,2,<i> x.c:8,<i>,x.c:8' >objects.csv
    stream a.cf -w object=objects.csv <<'END'
time,pid,tid,op,addr,size,pc,level,weight,class,object,site,symbol,region,function,source
1,7,1,store,0x1000,8,0x400,2,300,7,1,<i> x.c:8,,[heap],f,x.c:2
2,7,2,store,0x1008,8,0x400,2,300,7,2,<i> x.c:8,,[heap],f,x.c:2
3,7,1,load,0x9000,8,0x500,memory,200,2,0,,"</script><b>v",/bin/x,g,x.c:3
4,7,1,load,0x8000,8,0x600,1,900,0,0,,,/bin/x,g,x.c:4
END
    printf '%s\n' 'int a;' 'if (a < 1 && b) </script><b>' '}' >x.c
    cf-report --cacheperf --html page.html a.cf
    in_browser page.html <<END
  const shown = () => [...document.querySelectorAll('section')].filter(s => s.getClientRects().length).map(s => s.querySelector('h2').textContent);
  got.tiles = [...document.querySelectorAll('.tiles b')].map(e => e.textContent);
  got.all = shown();
  got.first = [...document.querySelector('section').querySelectorAll('p, li code, ul > li')].map(e => e.textContent);
  got.source = [...document.querySelector('pre').children].map(e => e.textContent);
  got.hot = document.querySelector('pre .hot').textContent;
  got.marks = document.querySelectorAll('section b').length;
  got.tip = (document.querySelector('.bar').dispatchEvent(new PointerEvent('pointermove', lean(50, 50))), [...\$('tip').children].map(e => e.textContent));
  const find = text => { \$('search').value = text; \$('search').dispatchEvent(new Event('input')); return [...shown(), \$('found').textContent]; };
  got.found = find('<B>V');
  got.rows = csv().split('\\n').length - 2;
  got.none = find('nowhere');
  find('');
  \$('type').value = 'allocator_false_sharing';
  \$('type').dispatchEvent(new Event('change'));
  got.type = shown();
  \$('type').value = '';
  \$('type').dispatchEvent(new Event('change'));
  $all_pages
END
    holds_of_all findings.csv
    same - got <<'END'
tiles ["4","18.2 %","100.0 %","2"]
all ["1. Allocator's false sharing","2. Application's capacity misses"]
first ["75.0 % of all misses, in 2 samples of 1 cache line; without them the time for memory shrinks by at most 74.2 %","x.c:2, f","1 heap object (8 bytes), allocated by thread 1 atx.c:8, <i>","x.c:8, <i>","1 heap object (8 bytes), allocated by thread 2 atx.c:8, <i>","x.c:8, <i>","Threads: 1 (50.0 %), 2 (50.0 %)","To mend it: the allocator placed objects of several threads on one line: use another allocator, or align these objects to a line and pad them to a whole one"]
source ["     1  int a;","     2  if (a < 1 && b) </script><b>","     3  }"]
hot "     2  if (a < 1 && b) </script><b>"
marks 0
tip ["Allocator's false sharing","600 misses, 75.0 % of all"]
found ["2. Application's capacity misses","1 finding"]
rows 1
none ["0 findings"]
type ["1. Allocator's false sharing"]
END
}

@test "experiments: the tip of a measurement, keys, what is known, save" {
    make_probe search=0 paper=1 machine='a "machine" <b>' | cat >probe.cf
    cf-infer -q --csv --html probe.html probe.cf >/dev/null
    in_browser probe.html <<END
  const s = data.series[0], box = s.canvas.getBoundingClientRect();
  s.canvas.dispatchEvent(new PointerEvent('pointermove', lean(box.right - RIGHT, box.top + TOP + 5)));
  got.tip = [...\$('tip').children].map(e => e.textContent);
  s.canvas.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true}));
  got.before = \$('tip').textContent.split(':')[0];
  s.canvas.dispatchEvent(new PointerEvent('pointerleave'));
  got.hidden = \$('tip').style.display;
  got.title = \$('title').textContent;
  got.figures = [...document.querySelectorAll('figcaption')].map(e => e.textContent);
  got.known = [...\$('list').rows].map(r => [...r.cells].slice(0, 4).map(c => c.textContent));
  got.csv = files.csv().split('\n').slice(0, 2);
  const tree = new DOMParser().parseFromString(files.svg(), 'image/svg+xml');
  got.svg = [tree.querySelectorAll('parsererror').length, tree.querySelectorAll('text').length > 20];
  $all_pages
END
    holds_of_all probe.png probe.svg probe.csv
    diff -u - got <<'END'
tip ["L1 capacity","32 KiB: 1 misses an access","3 measurements, spread 0"]
before "L1 capacity31 KiB"
hidden "none"
title "a \"machine\" <b>"
figures ["L1 capacity: misses of an access","L1 associativity: misses of an access","L1 block: misses of an access"]
known [["L1","size","24576","measured"],["L1","ways","6","measured"],["L1","line_size","64","measured"]]
csv ["experiment,parameter,value,spread,measurements","L1 capacity,1024,0,0,3"]
svg [0,true]
END
}
