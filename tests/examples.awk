# SPDX-License-Identifier: BSD-2-Clause
# The commands of a man page, each on a line: of section EXAMPLES, or of all sections with -v all=1.
# A line that begins with "$ " or "# " (then for root, which the output keeps) is a command; where
# no line of a block does, all are, but for those that continue the one before.

function clean(s) {
    gsub(/\\&/, "", s)
    gsub(/\\-/, "-", s)
    gsub(/\\\(aq/, "'", s)
    gsub(/\\e/, "\\", s)
    return s
}

function put() {
    if (command != "")
        print command
    command = ""
}

function take(line) {
    if (command != "" && command ~ /(\\|[|]|&&)$/) {
        sub(/\\$/, "", command)
        sub(/^ +/, "", line)
        command = command " " line
    } else {
        put()
        command = line
    }
}

function finish(    i, prompts, goes_on) {
    for (i = 1; i <= lines; i++)
        prompts += line[i] ~ /^[$#] /
    for (i = 1; i <= lines; i++) {
        goes_on = command ~ /(\\|[|]|&&)$/
        if (line[i] ~ /^\$ /)
            take(substr(line[i], 3))
        else if (line[i] ~ /^# / || !prompts || goes_on)
            take(line[i])
    }
    put()
    lines = 0
}

/^\.Sh / { on = all || /EXAMPLES/ }
!on { next }
/^\.Bd -literal/ { literal = 1; next }
/^\.Ed/ { finish(); literal = 0; next }
/^\.Dl / { line[lines = 1] = clean(substr($0, 5)); finish() }
literal { line[++lines] = clean($0) }
