# SPDX-License-Identifier: BSD-2-Clause
#
# batch-page.awk - all traces of a batch on one page that needs no network: a row each, with what the
# manifest knows, its state, its tables and its pictures; a click on a heading sorts.
#
# Reads lines of fields with tabs between: state, name, why; or "file", path of a result.
# In the environment, where awk leaves backslashes as they are: manifest=FILE, recipe=NAME, key=TEXT
function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/"/, "\\&quot;", text)
    return text
}

# A path in a link: what is no letter, digit or one of -_.,/@+ is left to the browser, but for these, and for
# bytes beyond ASCII, which may be no UTF-8.
function link(path,    i) {
    gsub(/%/, "%25", path)
    gsub(/#/, "%23", path)
    gsub(/\?/, "%3F", path)
    if (path ~ /[\200-\377]/)
        for (i = 128; i < 256; i++) gsub(sprintf("%c", i), sprintf("%%%X", i), path)
    return escaped(path)
}

BEGIN {
    FS = "\t"
    manifest = ENVIRON["manifest"]
    recipe = ENVIRON["recipe"]
    key = ENVIRON["key"]
}

$1 == "file" {
    name = $2
    sub(/\/.*/, "", name)
    file = $2
    sub(/^[^\/]*\//, "", file)
    if (file ~ /\.png$|\.svg$/)
        pictures[name] = pictures[name] "<a href=\"" link($2) "\"><img loading=lazy src=\"" link($2) "\" alt=\"" \
            escaped(file) "\" title=\"" escaped(file) "\"></a>"
    else
        tables[name] = tables[name] " <a href=\"" link($2) "\">" escaped(file) "</a>"
    next
}

{
    order[++n] = $2
    state[$2] = $1
    why[$2] = $3
    count[$1]++
}

function manifest_rows(    line, f, rest, name) {
    getline line < manifest
    while ((getline line < manifest) > 0) {
        split(line, f, ",")
        rest = line
        sub(/^[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,"/, "", rest) # Debian's awk has no {6}
        name = rest
        sub(/".*/, "", name)
        rest = substr(rest, length(name) + 4)
        sub(/"$/, "", rest)
        gsub(/""/, "\"", rest)
        bytes[name] = f[1]
        hash[name] = f[3]
        records[name] = f[4]
        command[name] = rest
    }
}

END {
    manifest_rows()
    print "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>" n " traces, " escaped(recipe) "</title>"
    print "<style>body{font:14px sans-serif;margin:1.5em}table{border-collapse:collapse}th,td{padding:.3em .6em;border-bottom:1px solid #ddd;" \
        "text-align:left;vertical-align:top}th{cursor:pointer;position:sticky;top:0;background:#fff}th:after{content:' \\2195';color:#999}" \
        "td.n{text-align:right;font-variant-numeric:tabular-nums}img{width:160px;margin-right:4px;border:1px solid #ddd}" \
        "td.c{max-width:24em;overflow-wrap:anywhere;font-family:monospace}.failed,.changed,.absent{background:#fdd}.missing,.running{background:#ffd}</style></head><body>"
    print "<h1>" n " traces, recipe " escaped(recipe) "</h1>"
    printf "<p>"
    m = split("whole running missing absent changed failed", s, " ")
    for (i = 1; i <= m; i++) if (count[s[i]]) printf "%d %s. ", count[s[i]], s[i]
    print "Made by " escaped(key) ".</p>"
    print "<table id=t><thead><tr><th>trace<th>state<th class=n>records<th class=n>bytes<th>command<th>tables<th>pictures</tr></thead><tbody>"
    for (i = 1; i <= n; i++) {
        name = order[i]
        printf "<tr class=%s><td title=\"XXH128 %s\">%s<td>%s<td class=n>%s<td class=n>%s<td class=c>%s<td>%s<td>%s</tr>\n", state[name],
            hash[name], escaped(name), state[name] (why[name] ? "<br>" escaped(why[name]) : ""), records[name], bytes[name],
            escaped(command[name]), tables[name], pictures[name]
    }
    print "</tbody></table>"
    # one order for a whole column: numbers where all are, those that are missing first; else text, with its numbers as such
    print "<script>document.querySelectorAll('th').forEach((h,c)=>{let up=1;h.onclick=()=>{const b=document.querySelector('tbody');" \
        "const v=r=>r.cells[c].textContent,n=r=>v(r)===''?-1:+v(r);[...b.rows].sort((x,y)=>up*(h.className==='n'?n(x)-n(y)" \
        ":v(x).localeCompare(v(y),'en',{numeric:true}))).forEach(r=>b.append(r));up=-up}})</script></body></html>"
}
