# SPDX-License-Identifier: BSD-2-Clause
#
# The man pages against the programs: each says what the other does.
load lib

setup() {
    lib_setup
    reached "manuals"
}

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

# introduced PAGE: the long options that the page introduces, each as "--long" or "-s, --long". It may
# speak of other programs' options elsewhere.
introduced() {
    grep -E '^\.It (Fl|Xo Fl) ' "$1" | sed 's/\\-/-/g; s/ Ar [^ ,]*//g; s/ Fl / /g' |
        grep -oE -e '( -?[A-Za-z0-9] ,)? --?[a-z][-a-z0-9]+' |
        sed -E 's/^ -?([A-Za-z0-9]) , --?/-\1, --/; s/^ --?([a-z])/--\1/' | sort -u
}

# in_help PROGRAM: the same from the program, less its examples, whose commands are not all its own.
# Where an option is named again it may go without its letter.
in_help() {
    "$1" --help | sed '/^[Ee]xample/,$d' | grep -oE -e '(-[A-Za-z0-9], )?(^|[^-[:alnum:]_])?--[a-z][-a-z0-9]+' |
        sed -E 's/^[^-]*//; s/ +--/ --/' | sort -u |
        awk '{ long[$NF] = NF > 1 ? $0 : long[$NF] == "" ? $0 : long[$NF] } END { for (o in long) print long[o] }' |
        sort
}

@test "an option is in --help as it is in the man page, and nowhere else" {
    local p page bad= more
    for p in $(programs | grep -v template); do
        page=$(page_of "$p") || continue
        in_help "$p" >help
        introduced "$page" >page
        [[ $p != cf-capture-lackey ]] || sed -i '/^--tool$/d; /^--trace-mem$/d' help # Valgrind's
        more=$(comm -23 help page | tr '\n' ' ')
        [[ -z $more ]] || bad+="$p(1) does not introduce: $more"$'\n'
        more=$(comm -13 help page | tr '\n' ' ')
        [[ -z $more ]] || bad+="$p --help does not tell of: $more"$'\n'
        [[ $(wc -l <help) -ge 3 ]] || bad+="$p: options of --help were not found"$'\n'
    done
    [[ -z $bad ]] || fail "$bad"
}

@test "a program takes the options of its man page, and no others" {
    local p page option bad= c more said
    for p in $(programs | grep -v template); do
        page=$(page_of "$p") || continue
        introduced "$page" | grep -oE -e '--.*' >page
        while read -r option; do
            # The option, an argument if it takes one, and one that does not exist: getopt must complain about that alone.
            said=$("$p" "$option" --no-such-option --no-such-option 2>&1 </dev/null >/dev/null) || :
            ! [[ $said$'\n' =~ (unrecognized|unknown|invalid)\ option[^$'\n']*"$option"\'?$'\n' ]] ||
                bad+="$p does not know $option of its page"$'\n'
        done <page
        # What it takes stands in tables in its source: <name>.c or the directory of its parts.
        c=${page%.1}
        # An old name warns, and stands nowhere.
        more=$(cat "$c.c" "$(dirname "$c")/parts/${p#cf-}"/*.c "$(dirname "$c")/${p#cf-capture-}"/*.c 2>/dev/null |
            grep -v CF_OLD | grep -oE "\{\"[a-z][-a-z0-9]+\", *((no|required|optional)_argument|0, CF_|'.', CF_)" | sed 's/{"/--/; s/".*//' |
            sort -u | comm -23 - <(sort -u page) | tr '\n' ' ')
        [[ -z $more ]] || bad+="$p takes what its page does not tell of: $more"$'\n'
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
    for word in $(sed -nE 's/^ *([TC]\(|\{)CF_[A-Z_]*,( [0-9]+,)? *"([a-z_]*)".*/\3/p' \
        "$ROOT"/formats/stream/cf_columns.h "$ROOT"/formats/stream/cf_names.c); do
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
