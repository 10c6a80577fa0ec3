# SPDX-License-Identifier: BSD-2-Clause
#
# Every program while calls fail: memory, open, read, write, close, mmap; and what it leaves. Here some of each kind; all
# of them are tried by `make check-long` (tests/run-long faults).
# Takes long: thousands of runs.
load lib

setup() {
    lib_setup
    sanitized && skip "the sanitizers have an allocator of their own"
    faults -k write -m 1 -- echo >/dev/null 2>notes || [[ $? == 1 ]] || skip "$(cat notes)"
}

# kinds KIND...: all programs of these kinds
kinds() {
    local programs
    mapfile -t programs < <(programs "$@")
    run -0 "$ROOT/tests/faults/run" -b "$B" -m 7 "${programs[@]}"
    sed -n 's/^\([^:]*\): [1-9][0-9]* runs, 0 wrong$/\1/p' <<<"$output" | sort -u |
        same <(printf '%s\n' "${programs[@]}" | sort) - || fail "$output"
}

@test "a program that is none, or of which nothing is tried, is a failure" {
    run -1 "$ROOT/tests/faults/run" -b "$B" nosuch
    is "nosuch: no such program"
    mkdir tree
    ln -s "$ROOT"/samples tree/
    cp -r "$ROOT"/tests tree/
    sed -i 's/^    cf-capture-din)/    cf-other)/' tree/tests/faults/run
    run -1 tree/tests/faults/run -b "$B" -m 1 cf-capture-din
    is "cf-capture-din: not tried: say in one() of tests/faults/run how it is called"
    run -3 faults -k write -- /bin/true
    is "faults: true: there is no such call to fail"
}

# bats test_tags=slow
@test "annotators: status 3 and a message, or the same output" {
    kinds annotator maker
}

# bats test_tags=slow
@test "reducers and their pictures" {
    kinds reducer
}

@test "a page for a browser, each allocation: nothing is left out of it, and no other file stays" {
    make_stream full | cf-cat -q --slice 0-30 -o tiny.cf
    run -0 faults -k malloc -f a.html -- cf-heatmap -q --html a.html tiny.cf
    has " runs, 0 wrong"
}

@test "importers" {
    kinds importer
}

# bats test_tags=slow
@test "captures" {
    kinds capture
}

@test "what a run that failed leaves is found: half a file, one in place of what was there, another file" {
    cat >half.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char text[8] = "", c = *argv[1];
    const char *name = strchr("st", c) ? "out.1.tmp" : "out";
    int there = access("out", F_OK) == 0, in = open("/etc/passwd", O_RDONLY);
    int out = c != 'b' || there ? open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600) : -1;
    (void)argc;
    if (!strchr("wn", c) && (read(in, text, 1) != 1 || read(in, text, 4) != 4))
        return fprintf(stderr, "half: cannot read; %s\n", c == 't' ? "see out.1.tmp" : ""), 3;
    if (out < 0) out = open(name, O_CREAT | O_WRONLY, 0600);
    if (write(out, "x", 1) != 1) return unlink("out"), fprintf(stderr, "half: cannot write\n"), 3;
    if (name[3]) rename(name, "out");
    if (write(1, "y", 1) != 1) return fprintf(stderr, "half: %s: cannot write\n", c == 'n' ? "out" : "-"), 3;
    return 0;
}
END
    cc -o half half.c
    run -1 faults -k read -f out -- ./half h
    has "half: read 1: status 3, makes out: half: cannot read"
    run -0 faults -k read -v 'test -e out' -f out -- ./half h
    run -1 faults -k read -v 'test -s out' -f out -- ./half h
    # what was there is there before every other run
    run -1 faults -k read -f out -- ./half b
    has "half: read 2: status 3, makes out: half: cannot read"
    has "half: 3 runs, 1 wrong"
    run -1 faults -k read -f out -- ./half s
    has "half: read 1: leaves out.1.tmp: half: cannot read"
    run -0 faults -k read -f out -- ./half t
    # one that was whole before another failed, unless it is said of this one
    run -0 faults -k write -n 2 -f out -- ./half w
    run -1 faults -k write -n 2 -f out -- ./half n
    has "half: write 2: status 3, makes out: half: out: cannot write"
    [[ ! -e out.1.tmp ]]
}

@test "what is wrong is found: a crash, other output, a status without a message, a leak of errors, what hangs or is left" {
    local want
    cat >bad.c <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char *p = malloc(9), text[8] = "", c = *argv[1];
    int fd = open("/etc/passwd", O_RDONLY);
    (void)argc;
    if (c == 'm') return strcpy(p, "x")[0] != 'x';
    if (!p) return fprintf(stderr, "bad: out of memory\n"), 3;
    if (fd < 0) return c == 'o' ? 3 : (fprintf(stderr, "bad: open\n"), 3);
    int got = read(fd, text, 4) == 4;
    if (!got && c == 'l' && fork() == 0) for (;;) pause();
    if (!got && c != 'r') return fprintf(stderr, "bad: read\n"), c == 's' ? 1 : 3;
    if (close(fd) != 0 && (c == 'h' || (c == 'l' && fork() == 0))) for (;;) pause();
    puts(text);
    if (fflush(stdout) != 0 && c != 'w') return fprintf(stderr, "bad: write\n"), 3;
    return 0;
}
END
    cc -o bad bad.c
    run -1 faults -k malloc -- ./bad m
    has "bad: malloc 1: signal 11"
    run -1 faults -k open -- ./bad o
    has "bad: open 1: no message"
    run -1 faults -k read -- ./bad r
    has "bad: read 1: status 0, other output"
    run -1 faults -k read -- ./bad s
    has "bad: read 1: status 1: bad: read"
    run -1 faults -k write -- ./bad w
    has "bad: write 1: status 0, other output"
    run -1 faults -k close -n 1 -w 4 -- ./bad h
    has "bad: close 1: hangs"
    # seen by what they may still call, and where no call is watched
    for want in read close; do
        run -1 faults -k $want -n 1 -w 4 -- ./bad l
        has "bad: $want 1: leaves processes behind"
    done
    # and a right one, all kinds
    run -0 faults -- ./bad -
    [[ $output =~ ^bad:\ ([0-9]+)\ runs,\ 0\ wrong$ ]] && ((BASH_REMATCH[1] >= 12)) || fail "$output"
}
