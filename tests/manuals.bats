# SPDX-License-Identifier: BSD-2-Clause
#
# The man pages against the programs: each says what the other does.
load lib

page_of() {
    local f
    for f in "$ROOT"/filters/"$1".1 "$ROOT"/capture/"$1".1; do
        [[ -f $f ]] && echo "$f" && return
    done
    return 1
}

# text PAGE: as plain text without line breaks inside options
text() {
    mandoc -T ascii -O width=200 "$1" | sed 's/.\x08//g'
}

# Long options that a text names.
options() {
    grep -oE -e '(^|[^-[:alnum:]_])--[a-z][-a-z0-9]+' | grep -oE -e '--[a-z][-a-z0-9]+' | sort -u
}

@test "every program has a man page with all its sections" {
    local p page section bad=
    for p in $(programs | grep -v template); do
        page=$(page_of "$p") || { bad+="$p has no man page"$'\n' && continue; }
        for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES; do
            grep -q "^\.Sh $section\$" "$page" || bad+="$p(1) has no section $section"$'\n'
        done
    done
    [[ -z $bad ]] || fail "$bad"
}

@test "the options of --help and of the man page are the same" {
    local p page bad= more
    for p in $(programs | grep -v template); do
        page=$(page_of "$p") || continue
        "$p" --help | options >"help" || :
        text "$page" | options >"man" || :
        more=$(comm -23 help man | tr '\n' ' ')
        [[ -z $more ]] || bad+="$p(1) does not tell of: $more"$'\n'
        # A page may speak of other programs' options: only where an option is introduced it counts.
        grep -E '^\.It Fl|^\.It Xo' "$page" | grep -oE 'Fl -[a-z][-a-z0-9]+' | sed 's/Fl -/--/' |
            sort -u >tagged || :
        more=$(comm -13 help tagged | tr '\n' ' ')
        [[ -z $more ]] || bad+="$p --help does not tell of: $more"$'\n'
    done
    [[ -z $bad ]] || fail "$bad"
}

@test "every option of a man page is one that the program takes" {
    local p page option bad=
    for p in $(programs | grep -v template); do
        page=$(page_of "$p") || continue
        for option in $(grep -E '^\.It Fl' "$page" | grep -oE 'Fl -[a-z][-a-z0-9]+' | sed 's/Fl -/--/' | sort -u); do
            # The option, then one that does not exist: getopt must complain about the second alone.
            timeout 20 "$p" "$option" --no-such-option </dev/null >out 2>err || :
            ! grep -qE "(unrecognized|unknown|invalid) option.*'?$option'?\$" err ||
                bad+="$p does not know $option of its page"$'\n'
        done
    done
    [[ -z $bad ]] || fail "$bad"
}

@test "the tour and the format have their pages" {
    [[ -f $ROOT/pipelines/cf-pipelines.7 ]]
    [[ -f $ROOT/formats/cf-stream.5 ]]
    [[ -f $ROOT/formats/cf-machine.5 ]]
}

@test "cf-stream(5) names every table and column that the library knows" {
    local word bad=
    text "$ROOT/formats/cf-stream.5" >page
    for word in $(sed -n 's/^ *{CF_[A-Z_]*, *"\([a-z_]*\)".*/\1/p' "$ROOT"/formats/cf_names.c); do
        grep -qw -e "$word" page || bad+="$word "
    done
    [[ -z $bad ]] || fail "cf-stream(5) does not tell of: $bad"
}

@test "cf-pipelines(7) and README name no program that does not exist" {
    local name bad=
    for name in $(text "$ROOT/pipelines/cf-pipelines.7" | cat - "$ROOT/README.md" |
        grep -oE '\bcf-[a-z]+(-[a-z0-9]+)*' | sort -u); do
        [[ -x $B/bin/$name ]] || ls "$ROOT"/*/"$name".[157] >/dev/null 2>&1 || bad+="$name "
    done
    [[ -z $bad ]] || fail "there is no $bad"
}
