#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The pages that --html writes, each opened in a browser without a screen: no message on its console,
# and what a reader does brings what it should. Skipped where there is no Chromium.

load lib

# in_browser PAGE.html: runs the body of an async function, on standard input, in the page; it fills
# in the object `got`, which is printed as JSON, one member a line. A fault of the page is an error.
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
        --virtual-time-budget=10000 --enable-logging=stderr --user-data-dir="$PWD/profile" \
        --dump-dom "file://$PWD/probed.html" >dom 2>console </dev/null || fail "$(tail -n 5 console)" || return
    ! grep -E 'CONSOLE' console || fail "the console says so" || return
    grep -oE 'GOT[A-Za-z0-9+/=]*END' dom | sed 's/^GOT//; s/END$//' | base64 -d >got
    echo >>got
    grep -qxF 'faults []' got || fail "$(cat got)"
}

# Of the colours of both schemes, those of text on their grounds, by WCAG 2.1, 1.4.3.
contrast='
  const light = c => c.match(/\w\w/g).map(h => parseInt(h, 16) / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const schemes = [...document.styleSheets[0].cssRules].flatMap(r => r.cssRules?.length ? [...r.cssRules] : [r])
    .filter(r => r.selectorText === ":root").map(r => {
      const v = n => { const c = r.style.getPropertyValue(n).trim(); return c.length === 4 ? c.replace(/\w/g, "$&$&") : c; };
      return ["--ink", "--pale", "--accent"].flatMap(t => ["--paper", "--side"].map(g => {
        const [a, b] = [light(v(t)), light(v(g))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      }));
    });
  got.schemes = schemes.length;
  got.readable = Math.min(...schemes.flat()) >= 4.5;'

@test "the map: hover, zoom, search, save, and colours that can be read" {
    awk 'BEGIN { print "time,addr,region,page"
        for (i = 0; i < 4000; i++) printf "%d,0x1000,%s,%d\n", i, i % 4 ? "[heap]" : "\"lib, \"\"so\"\"\"", i / 400 }' | stream map.cf
    cf-heatmap -q --html map.html map.cf >map.csv
    in_browser map.html <<END
  const box = canvas.getBoundingClientRect(), x = box.left + LEFT + 5, y = box.top + TOP + 5;
  canvas.dispatchEvent(new PointerEvent('pointermove', lean(x, y)));
  got.tip = [...\$('tip').children].map(e => e.textContent);
  got.merged = [map.bins, group, peak()];
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
  got.csv = file('csv')[0];
  got.fewer = part < got.csv.length;
  const image = file('svg')[0], tree = new DOMParser().parseFromString(image, 'image/svg+xml');
  got.svg = [tree.querySelectorAll('parsererror').length, tree.querySelectorAll('image').length];
  got.names = [...tree.querySelectorAll('text')].map(t => t.textContent).filter(t => t.includes('heap') || t.includes('lib'));
  got.png = [...file('png')[0].slice(1, 4)];
  got.files = [];
  HTMLAnchorElement.prototype.click = function () { got.files.push(this.download, this.href.slice(0, 5)); };
  for (const button of document.querySelectorAll('#save button')) button.click();
  \$('search').value = 'HEA';
  \$('search').dispatchEvent(new Event('input'));
  got.found = shown.map(b => b.name);
  $contrast
END
    diff -u - <(grep -v '^csv ' got) <<'END'
tip ["[heap]","page 0","16 – 32 records","12 accesses, 0.30 % of all","page in all: 300 accesses, 10.0 % of its mapping"]
merged [4000,16,12]
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
files ["heatmap.png","blob:","heatmap.svg","blob:","heatmap.csv","blob:"]
found ["[heap]"]
schemes 3
readable true
faults []
END
    # all of the map in view: the rows of the program
    sed -n 's/^csv //p' got | python3 -c 'import json, sys; sys.stdout.write(json.load(sys.stdin))' >saved.csv
    same <(cf-heatmap -q --bins 4096 map.cf | sed 's/_records//g') saved.csv
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
  plot.setPointerCapture = () => {}; // a made-up event has no pointer
  plot.dispatchEvent(new PointerEvent('pointerdown', lean(at(5), y)));
  plot.dispatchEvent(new PointerEvent('pointermove', lean(at(9), y)));
  plot.dispatchEvent(new PointerEvent('pointerup', lean(at(9), y)));
  got.view = view;
  \$('reset').click();
  got.whole = view;
  document.querySelector('#list input').click();
  got.shown = shown;
  $contrast
END
    same - got <<'END'
where "snapshot 5, 500 cycles"
cell "12.5 %"
view [5,10]
whole [0,20]
shown [true,false]
schemes 2
readable true
faults []
END
}

@test "curves over sizes: their page opens, and hover names a size" {
    awk 'BEGIN { print "time,addr"; for (i = 0; i < 3000; i++) printf "%d,%d\n", i, i * 64 % 12800 }' | stream walk.cf
    cf-sweep -q --ways 1,3 --min 1K --max 4K --html sweep.html walk.cf >sweep.csv
    in_browser sweep.html <<'END'
  const plot = panels[0].canvas, box = plot.getBoundingClientRect();
  plot.dispatchEvent(new PointerEvent('pointermove', lean(box.left + LEFT + 3, box.top + 20)));
  got.where = $('where').textContent;
  got.cells = cells.map(row => row[0].textContent);
END
    same - got <<END
where "1 KiB"
cells ["$(awk -F, '$2 == 1 && $3 == 1024 { print $6 }' sweep.csv)",""]
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
  $contrast
  got.heat = data.colours.every((c, i) => {
    const [a, b] = [light(c), light(inkOn(i / (data.colours.length - 1)))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05) >= 4.5;
  });
  got.link = document.getElementById(\$('hot').querySelector('a').getAttribute('href').slice(1)).cells[0].textContent;
END
    same - got <<'END'
summary "3 of 4 counted lines in 2 of 3 files: those with 0.1 % of a value"
totals [["2,992 (100.0 %)","450 (100.0 %)","all"],["2,990 ( 99.9 %)","450 (100.0 %)","lines below"],["1 ( 0.0 %)",".","lines under the threshold"],["1 ( 0.0 %)",".","without source line"]]
files ["n/x.c","<i>.c not found","1 more, of which no line is shown"]
sorted ["<i>.c not found","n/x.c","1 more, of which no line is shown"]
hot ["n/x.c:2  if (a < 1 && b) </script><b id=\"x\">\\x1b[1m'\"&amp;"]
marks 0
source [["f0-1","1","int a;"],["f0-2","2","        if (a < 1 && b) </script><b id=\"x\">\\x1b[1m'\"&amp;"],["f0-3","3","}"],["f1-7","7",""]]
ground [1,2]
hotter ["Hottest lines by accesses","<i>.c:7","n/x.c:2  if (a < 1 && b) </script><b id=\"x\">\\x1b[1m'\"&amp;","n/x.c:3  }"]
schemes 3
readable true
heat true
link "2,000 ( 66.8 %)"
faults []
END
    # the rows are of all that was counted, whatever the page shows
    [[ $(awk -F, 'NR > 1 { sum += $3 } END { print sum }' rows.csv) == 2992 ]]
}

@test "the report: tables, curve and map of it, and colours that can be read" {
    awk 'BEGIN { print "time,pid,tid,op,addr,size,region,page,function,source"
        for (i = 0; i < 4000; i++) printf "%d,7,7,load,%d,8,[heap],%d,\"<b>f\",x.c:1\n", i, i * 32, int(i * 32 / 4096) }' | stream map.cf
    cf-report -q -m raspberry-pi-4 --html page.html map.cf
    in_browser page.html <<END
  got.heads = [...document.querySelectorAll('h2')].map(e => e.textContent.slice(0, 14));
  got.name = document.querySelector('section:nth-of-type(3) td.name code').textContent;
  got.curve = document.querySelectorAll('svg circle').length > 10;
  got.marks = [...document.querySelectorAll('svg text')].some(e => e.textContent.startsWith('L1D'));
  const c = document.querySelector('canvas'), image = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  got.drawn = image.some((v, i) => i % 4 < 3 && v > 150);
  $contrast
END
    same - got <<'END'
heads ["Levels","Why the first ","Functions that","Source lines t","Misses of load","Pages over tim"]
name "<b>f"
curve true
marks true
drawn true
schemes 3
readable true
faults []
END
}
