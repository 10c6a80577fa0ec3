# SPDX-License-Identifier: BSD-2-Clause
#
# Every program while calls fail: memory, open, read, write, close, mmap. Here some of each kind; all
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
    run -0 "$ROOT/tests/faults/run" -b "$B" -m 10 "${programs[@]}"
    [[ $(grep -c ' runs, 0 wrong$' <<<"$output") -ge ${#programs[@]} ]] || fail "$output"
}

@test "annotators: status 3 and a message, or the same output" {
    kinds annotator
}

@test "reducers and their pictures" {
    kinds reducer
}

@test "importers" {
    kinds importer
}

@test "captures" {
    kinds capture
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
