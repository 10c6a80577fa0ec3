/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_machine.c - machine descriptions: what a good one means, what is said of a bad one and at
 * which line, that writing and reading give the same, and every installed one. Works in a directory
 * of its own, which is removed at the end. Keys index and tlb
 * are in test_machine_tlb.c; what `host` is, in test_machine_host.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/machine_file.h"

static void smallest(void)
{
    struct cf_machine *m = load(SMALL);

    need(m != NULL, "the smallest description loads: %s", problem);
    is_u64(m->cpus, 1, "one CPU by default");
    is_u64(m->level[0].sets, 8, "sets are computed");
    is_u64(m->level[0].depth, 1, "depth is computed");
    ok(m->level[0].kind == CF_UNIFIED && m->level[0].policy == CF_LRU &&
           m->level[0].inclusion == CF_NON_INCLUSIVE && m->level[0].shared_by == 1 &&
           m->level[0].write_back && m->level[0].write_allocate,
       "unified, private, LRU, write-back, write-allocate, non-inclusive by default");
    is_text(m->name, "m", "the name is the file's by default");
    round_trip(m, "smallest");
    cf_machine_free(m);
}

static void full(void)
{
    struct cf_machine *m;

    m = load("name: 'Full: \"one\", \\ and \xc3\xa9'\nsource: >\n  two\n  lines\n\n  and \"more\"\n"
             "cpus: 4\nclock_hz: 1900000000\nline_size: 32\nlevels:\n"
             "  - {name: L1I, kind: instruction, size: 0x3000, ways: 3, policy: fifo}\n"
             "  - name: L1D\n    kind: data\n    size: 8 KiB\n    ways: 4\n    write: through\n"
             "    allocate: false\n    policy: tree-plru\n"
             "  - {name: L2, size: 1MiB, ways: 16, line_size: 64, shared_by: 4, policy: random,"
             " inclusion: exclusive}\n"
             "  - {name: L3, size: 3M, ways: 12, line_size: 64, shared_by: 2, policy: srrip,"
             " inclusion: inclusive, depth: 5}\n"
             "latency: {L1D: 4, memory: 200, L2: 0x15}\n");
    need(m != NULL, "a full description loads: %s", problem);
    is_text(m->name, "Full: \"one\", \\ and \xc3\xa9", "name");
    is_text(m->source, "two lines\nand \"more\"\n", "source, folded");
    is_u64(m->level[0].size, 12288, "hexadecimal size");
    is_u64(m->level[0].sets, 128, "three ways");
    ok(m->level[0].policy == CF_FIFO && m->level[1].policy == CF_TREE_PLRU, "policies");
    ok(!m->level[1].write_back && !m->level[1].write_allocate, "write-through without allocation");
    is_u64(m->level[0].depth, 1, "instructions at depth 1");
    is_u64(m->level[1].depth, 1, "data at depth 1 too");
    is_u64(m->level[2].depth, 2, "unified behind both");
    is_u64(m->level[3].depth, 5, "a stated depth is kept");
    is_u64(m->level[2].line, 64, "a level's own line size");
    ok(cf_latency_cycles(&m->level[1].latency, CF_LOAD, 0) == 4 &&
           cf_latency_cycles(&m->level[1].latency, CF_STORE, CF_LOAD) == 4 &&
           cf_latency_cycles(&m->level[1].latency, CF_IFETCH, CF_FLUSH) == 4,
       "latency of a level, for all that a program waits for");
    ok(cf_latency_cycles(&m->level[1].latency, CF_PREFETCH, 0) == 0 &&
           cf_latency_cycles(&m->level[1].latency, CF_FLUSH, CF_STORE) == 0,
       "nobody waits for a prefetch or a flush");
    ok(cf_latency_cycles(&m->level[2].latency, CF_LOAD, 0) == 21, "latency in hexadecimal");
    ok(cf_latency_cycles(&m->level[3].latency, CF_LOAD, 0) == -1, "latency not stated");
    ok(cf_latency_cycles(&m->memory, CF_STORE, CF_STORE) == 200, "latency of memory");
    ok(m->latency_rule == CF_LATENCY_TOTAL, "a latency is a total by default");
    is_text(m->file, file, "the file is known");
    is_u64(m->level[3].sets, 4096, "3M of 12 ways");
    round_trip(m, "full");
    cf_machine_free(m);
}

/* How a description may be written. */
static void forms(void)
{
    struct cf_machine *m;

    m = load("name: \"a\\N\\L\\uFEFF\\t\\x01\"\n" SMALL);
    need(m != NULL, "a name with control characters loads: %s", problem);
    round_trip(m, "control characters");
    cf_machine_free(m);

    m = load("levels:\n" L1 "line_size: 64\n");
    ok(m != NULL, "the order of the keys is free");
    cf_machine_free(m);

    m = load(
        "\xef\xbb\xbf---\r\nline_size: 64\r\nlevels: [{name: A, size: 64, ways: 1}]\r\n...\r\n");
    ok(m && m->level[0].sets == 1, "byte order mark, CR LF, flow style");
    cf_machine_free(m);

    is_text(cf_policy_name(CF_MASTER_INDEX), "master-index", "name of a policy");
    ok(cf_policy_name((enum cf_replacement)99) == NULL, "no name for no policy");
}

/* As --latency does, from the latencies that latencies() has. */
static void change_latencies(struct cf_machine *m)
{
    const struct cf_latency *l = &m->level[2].latency;
    char *text;

    text = machine_text(m);
    ok(text && strstr(text, "store_after_store: 9") && strstr(text, "\"I.1\": 0") &&
           strstr(text, "latency_rule: added"),
       "as text");
    free(text);

    ok(cf_machine_set_latency(m, "L2.load_after_load", 7, problem, sizeof problem) == 0 &&
           cf_latency_cycles(l, CF_LOAD, CF_LOAD) == 7 && cf_latency_cycles(l, CF_LOAD, 0) == 21,
       "one is added");
    ok(cf_machine_set_latency(m, "I.1", 2, problem, sizeof problem) == 0 &&
           cf_latency_cycles(&m->level[0].latency, CF_IFETCH, 0) == 2,
       "a level with a dot in its name");
    ok(cf_machine_set_latency(m, "I.1.ifetch", 3, problem, sizeof problem) == 0 &&
           cf_latency_cycles(&m->level[0].latency, CF_IFETCH, 0) == 3,
       "and its operation");
    ok(cf_machine_set_latency(m, "L2", 8, problem, sizeof problem) == 0 &&
           cf_latency_cycles(l, CF_STORE, CF_STORE) == 8 &&
           cf_latency_cycles(l, CF_PREFETCH, 0) == 3,
       "a number for a level takes the place of all that a program waits for");
    ok(cf_machine_set_latency(m, "memory.store", 0, problem, sizeof problem) == 0 &&
           cf_latency_cycles(&m->memory, CF_STORE, 0) == 0,
       "memory");
    ok(cf_machine_set_latency(m, "L3", 8, problem, sizeof problem) == -1 &&
           strstr(problem, "no level 'L3': give one of I.1, D, L2, memory"),
       "no such level: %s", problem);
    ok(cf_machine_set_latency(m, "L3.load", 8, problem, sizeof problem) == -1 &&
           strstr(problem, "no level 'L3'"),
       "no such level with a key");
    ok(cf_machine_set_latency(m, "L2.fetch", 8, problem, sizeof problem) == -1 &&
           strstr(problem, "no operation 'fetch': known are load"),
       "no such operation: %s", problem);
    ok(cf_machine_set_latency(m, "D.ifetch", 8, problem, sizeof problem) == -1 &&
           strstr(problem, "a data cache"),
       "an operation that the level does not serve: %s", problem);
    ok(cf_machine_set_latency(m, "L2", 1000000001, problem, sizeof problem) == -1 &&
           strstr(problem, "out of range"),
       "too many cycles: %s", problem);
    ok(cf_machine_set_latency(m, "", 8, problem, sizeof problem) == -1, "nothing: %s", problem);
    ok(cf_machine_set_latency(m, ".", 8, problem, sizeof problem) == -1, "a dot: %s", problem);
}

static void latencies(void)
{
    struct cf_machine *m =
        load(HEAD "  - {name: I.1, size: 1KiB, ways: 2, kind: instruction}\n"
                  "  - {name: D, size: 1KiB, ways: 2, kind: data}\n"
                  "  - {name: L2, size: 4KiB, ways: 2}\n"
                  "latency: {I.1: 0, D: {load: 1, store: 0, flush: 5},\n"
                  "  L2: {load: 21, store: 12, store_after_store: 9, load_after_ifetch: 22,\n"
                  "       ifetch: 20, prefetch: 3, prefetch_after_prefetch: 2},\n"
                  "  memory: {load: 1000000000}}\nlatency_rule: added\n");
    struct cf_latency *l;

    need(m != NULL, "latencies by operation load: %s", problem);
    ok(m->latency_rule == CF_LATENCY_ADDED, "the rule");
    ok(cf_latency_cycles(&m->level[0].latency, CF_IFETCH, 0) == 0, "0 cycles are stated cycles");
    l = &m->level[1].latency;
    ok(cf_latency_cycles(l, CF_LOAD, 0) == 1 && cf_latency_cycles(l, CF_STORE, CF_LOAD) == 0 &&
           cf_latency_cycles(l, CF_FLUSH, 0) == 5 && cf_latency_cycles(l, CF_IFETCH, 0) == -1,
       "by operation");
    ok(!cf_latency_has_previous(l), "which depends on nothing else");
    l = &m->level[2].latency;
    ok(cf_latency_has_previous(l), "and this one does");
    ok(cf_latency_cycles(l, CF_STORE, CF_STORE) == 9 &&
           cf_latency_cycles(l, CF_STORE, CF_LOAD) == 12 &&
           cf_latency_cycles(l, CF_STORE, 0) == 12 &&
           cf_latency_cycles(l, CF_LOAD, CF_STORE) == 21 &&
           cf_latency_cycles(l, CF_LOAD, CF_IFETCH) == 22 &&
           cf_latency_cycles(l, CF_PREFETCH, CF_PREFETCH) == 2 &&
           cf_latency_cycles(l, CF_PREFETCH, CF_LOAD) == 3,
       "by the operation before, else whatever came before");
    ok(cf_latency_cycles(l, 0, 0) == -1 && cf_latency_cycles(l, 6, 0) == -1 &&
           cf_latency_cycles(l, CF_LOAD, 6) == -1 && cf_latency_cycles(l, 255, 255) == -1,
       "none for what is no operation");
    ok(cf_latency_cycles(&m->memory, CF_LOAD, 0) == 1000000000, "the most that there may be");
    ok(cf_latency_cycles(&m->memory, CF_STORE, 0) == -1, "a store is not stated by a load");
    round_trip(m, "latencies by operation");
    change_latencies(m);
    cf_machine_free(m);
}

#define LATENCY "latency:\n"

static void bad_latencies(void)
{
    struct cf_machine *m;

    refused(SMALL "latency: 4\n", 4, "'latency' is a value");
    refused(SMALL "latency: [4]\n", 4, "'latency' is a list");
    refused(SMALL "latency: {L2: 4}\n", 4, "unknown key 'L2' in latency: known are L1, memory");
    refused(SMALL LATENCY "  L1: fast\n", 5, "'L1: fast' is not a whole number");
    refused(SMALL LATENCY "  L1: -1\n", 5, "is not a whole number");
    refused(SMALL LATENCY "  L1: 1000000001\n", 5, "out of range");
    refused(SMALL LATENCY "  L1: [1]\n", 5, "'L1' is a list");
    refused(SMALL LATENCY "  L1: {}\n", 5, "latency of L1 is empty");
    refused(SMALL LATENCY "  L1:\n    load: 1\n    fetch: 2\n", 7,
            "unknown key 'fetch' in latency of L1: known are load, store, ifetch, prefetch, flush");
    refused(SMALL LATENCY "  memory: {load_after: 2}\n", 5, "unknown key 'load_after'");
    refused(SMALL LATENCY "  L1: {load_after_: 2}\n", 5, "unknown key");
    refused(SMALL LATENCY "  L1: {_after_load: 2}\n", 5, "unknown key");
    refused(SMALL LATENCY "  L1: {load_after_load_after_load: 2}\n", 5, "unknown key");
    refused(SMALL LATENCY "  L1: {load: 1, mapped: 2}\n", 5, "unknown key");
    refused(SMALL LATENCY "  L1: {load: 1, load: 2}\n", 5, "a second time");
    refused(SMALL LATENCY "  L1: {load: {store: 2}}\n", 5, "'load' is a mapping");
    refused(SMALL LATENCY "  L1: {load: 4000000000}\n", 5, "out of range");
    refused(SMALL LATENCY "  L1:\n    load_after_store: 2\n    store: 1\n", 6,
            "'load_after_store' in latency of L1 without 'load'");
    refused(HEAD "  - {name: D, size: 1KiB, ways: 2, kind: data}\nlatency: {D: {ifetch: 1}}\n", 4,
            "'ifetch' in latency of D, which is a data cache");
    refused(HEAD "  - {name: I, size: 1KiB, ways: 2, kind: instruction}\n"
                 "latency: {I: {ifetch_after_load: 1, ifetch: 1}}\n",
            4, "which is an instruction cache");
    m = load(SMALL "latency_rule: added\n");
    need(m && m->latency_rule == CF_LATENCY_ADDED, "a rule for latencies that options will state");
    round_trip(m, "a rule alone");
    cf_machine_free(m);
    refused(SMALL "latency: {L1: 1}\nlatency_rule: sum\n", 5,
            "'latency_rule: sum' is not known: give one of total, added");
}

static void bad_levels(void)
{
    refused("", 0, "is empty");
    refused("# only a comment\n", 0, "is empty");
    refused("- 1\n", 1, "is a list");
    refused("just text\n", 1, "is a value");
    refused("line_size: 64\n", 1, "has no 'levels'");
    refused("levels:\n" L1, 1, "has no 'line_size'");
    refused("line_size: 64\nlevels: []\n", 2, "'levels' is empty");
    refused("line_size: 64\nlevels: {a: 1}\n", 2, "'levels' is a mapping");
    refused("line_size: 64\nlevels: [L1]\n", 2, "a level is a value");
    refused("line_size: 64\nlevels: [{size: 1, ways: 1}]\n", 2, "has no 'name'");
    refused(HEAD "  - {name: L1, ways: 2}\n", 3, "level L1 has no 'size'");
    refused(HEAD "  - {name: L1, size: 1KiB}\n", 3, "level L1 has no 'ways'");
    refused(HEAD L1 "cpu: 4\n", 4, "unknown key 'cpu' in a machine: known are name, source, cpus");
    refused(HEAD L1 "latency_source: a book\n", 4, "does not begin with a grade");
    refused(HEAD L1 "latency_source: [measured]\n", 4, "'latency_source' is a list: give a text");
    refused(HEAD L1 "  - {name: L2, size: 1KiB, ways: 2,\n     assoc: 4}\n", 5,
            "unknown key 'assoc' in a level");
    refused(HEAD "  - {name: L1, size: 1000, ways: 2}\n", 3, "1000 is no multiple of 2 ways");
    refused(HEAD "  - {name: L1, size: 64, ways: 2}\n", 3, "is no multiple");
    refused(HEAD "  - {name: L1, size: 32kB, ways: 2}\n", 3, "'size: 32kB' is not a size");
    refused(HEAD "  - {name: L1, size: -1, ways: 2}\n", 3, "is not a size");
    refused(HEAD "  - {name: L1, size: 0, ways: 2}\n", 3, "out of range");
    refused(HEAD "  - {name: L1, size: 99999999999999999999, ways: 2}\n", 3, "is not a size");
    refused(HEAD "  - {name: L1, size: 99999999999G, ways: 2}\n", 3, "is not a size");
    refused(HEAD "  - {name: L1, size: 32T, ways: 2}\n", 3, "is not a size");
    refused(HEAD "  - {name: L1, size: [1], ways: 2}\n", 3, "'size' is a list");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 0}\n", 3, "'ways: 0' is out of range");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2KiB}\n", 3, "is not a whole number");
    refused(HEAD "  - {name: L1, size: 1MiB, ways: 1025}\n", 3, "give 1 to 1024");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, policy: lrru}\n", 3,
            "'policy: lrru' is not known: give one of lru, fifo, random");
    refused(HEAD "  - {name: L1, size: 192, ways: 3, policy: tree-plru}\n", 3, "power of two");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, write: around}\n", 3, "through, back");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, allocate: maybe}\n", 3, "false, true");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, kind: code}\n", 3, "unified, data");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, inclusion: some}\n", 3, "exclusive");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, line_size: 48}\n", 3, "no power of two");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, shared_by: 0}\n", 3, "out of range");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, depth: 17}\n", 3, "out of range");
    refused(HEAD "  - {name: '', size: 1KiB, ways: 2}\n", 3, "empty name");
    refused(HEAD "  - {name: memory, size: 1KiB, ways: 2}\n", 3, "rename it");
    refused(HEAD "  - {name: a234567890123456789012345678901234, size: 1KiB, ways: 2}\n", 3,
            "longer than 31 bytes");
    refused(HEAD L1 L1, 4, "two levels are named 'L1'");
    refused(HEAD L1 "  - {name: L2, size: 1KiB, ways: 2, depth: 1}\n", 4, "from the core outwards");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, shared_by: 4}\ncpus: 2\n", 4,
            "shared by 4 of 2 CPUs");
}

static void bad_documents(void)
{
    refused("line_size: 0\nlevels:\n" L1, 1, "out of range");
    refused("line_size: 100\nlevels:\n" L1, 1, "no power of two");
    refused(SMALL "clock_hz: 1.9e9\n", 4, "is not a whole number");
    refused(SMALL "line_size: 32\n", 4, "'line_size' stands here a second time, after line 1");
    refused(HEAD "  - {name: L1, size: 1KiB, ways: 2, ways: 4}\n", 3, "a second time");
    refused(SMALL "---\n" SMALL, 4, "a second document");
    refused("line_size: &a 64\nlevels:\n" L1, 1, "anchors (&) and aliases (*)");
    refused("line_size: *a\nlevels:\n" L1, 1, "anchors");
    refused("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", 1, "anchors");
    refused("line_size: !!int 64\nlevels:\n" L1, 1, "tags (!) are not allowed");
    refused("line_size: 64\nlevels: !a\n" L1, 2, "tags (!)");
    refused(HEAD "  - !a {name: L1, size: 1KiB, ways: 2}\n", 3, "tags (!)");
    refused("line_size: [[[[[[[[[1]]]]]]]]]\n", 1, "nested more than 8 deep");
    refused("? {a: 1}\n: 2\n", 1, "a key is a mapping");
    refused("line_size: 64\n  levels: x\n", 2, "no valid YAML");
    refused("line_size: \"\\0\"\n", 1, "a zero byte");
    refused("line_size: \xff\xfe\n", 0, "byte 11: ");
    refused("\n%YAML 1.1\n---\n" SMALL, 2, "directives (%) are not allowed: remove the line");
    refused("%TAG ! b\n---\n" SMALL, 1, "directives (%)");
}

static void too_much(void)
{
    static char text[3 << 20];
    size_t at;

    at = (size_t)sprintf(text, "line_size: 64\nlevels:\n");
    for (int i = 0; i < 17; i++)
        at += (size_t)sprintf(text + at, "  - {name: L%d, size: 1KiB, ways: 2}\n", i);
    refused(text, 19, "more than 16 levels");
    at = (size_t)sprintf(text, "x: [");
    for (int i = 0; i < 5000; i++)
        at += (size_t)sprintf(text + at, "1,\n");
    refused(text, 4096 - 3 + 1, "more than 4096 values");
    memset(text, '[', 100000);
    text[100000] = '\0';
    refused(text, 1, "nested");
    memset(text, '#', 1 << 20);
    text[1 << 20] = '\0';
    refused(text, 0, "is empty"); /* 1 MiB is allowed */
    memset(text, '#', (1 << 20) + 1);
    text[(1 << 20) + 1] = '\0';
    refused(text, 0, "over 1 MiB");
}

static void no_files(void)
{
    ok(!load_bytes("line_size: 64\0\nlevels:\n", 23), "a zero byte in the file: %s", problem);
    ok(!cf_machine_load("/nonexistent/x.yaml", problem, sizeof problem) &&
           strstr(problem, "/nonexistent/x.yaml: No such file"),
       "a file that does not exist");
    ok(!cf_machine_load(dir, problem, sizeof problem) && errno == 0 && strstr(problem, "directory"),
       "a directory, which is no refusal of the environment");
    ok(!cf_machine_load("no-such-machine", problem, sizeof problem) &&
           strstr(problem, "tegra-x1, ") && strstr(problem, "host"),
       "an unknown name lists the known ones");
    ok(!cf_machine_load("", problem, sizeof problem), "an empty name");
    ok(!cf_machine_load("no-such-machine", problem, 10) && strlen(problem) < 10,
       "a small buffer is not overrun");
}

/* The names of those that are installed, with commas: what is said of one that is not. */
static char *installed(void)
{
    static const char before[] = "give one of ", after[] = "host, or a FILE.yaml";
    const char *first, *end;

    if (cf_machine_load("no-such-machine", problem, sizeof problem))
        return NULL;
    first = strstr(problem, before);
    end = strstr(problem, after);
    return first && end ? strndup(first + strlen(before), (size_t)(end - first) - strlen(before))
                        : NULL;
}

/* Of each level, and of memory, what comes there takes a stated number of cycles. */
static void states_all(const struct cf_machine *m, const char *name)
{
    for (uint32_t i = 0; i <= m->levels; i++) {
        const struct cf_latency *l = i < m->levels ? &m->level[i].latency : &m->memory;
        const enum cf_kind kind = i < m->levels ? m->level[i].kind : CF_UNIFIED;

        for (unsigned op = CF_LOAD; op <= CF_IFETCH; op++)
            if (kind == CF_UNIFIED || (op == CF_IFETCH) == (kind == CF_INSTRUCTION_CACHE))
                ok(cf_latency_cycles(l, op, 0) >= 0, "%s: level %u, %s", name, i, cf_op_name(op));
    }
}

static void installed_ones(void)
{
    static const char *const wanted[] = {"atom-d525",  "leon4-n2x",      "leon4-n2x-l2-off",
                                         "odroid-xu4", "raspberry-pi-4", "tegra-x1",
                                         "xeon-6230",  "zynq-ultrascale"};
    char *list = installed(), *save = NULL, before[256] = "";
    struct cf_machine *m;
    int count = 0;

    need(list != NULL, "there is a list");
    for (char *n = strtok_r(list, ", ", &save); n; n = strtok_r(NULL, ", ", &save)) {
        ok(strcmp(before, n) < 0, "%s comes in order", n);
        snprintf(before, sizeof before, "%s", n);
        m = cf_machine_load(n, problem, sizeof problem);
        if (ok(m != NULL, "%s loads", n)) {
            ok(m->source && strlen(m->source) > 40, "%s says where its numbers come from", n);
            ok(m->latency_source && strlen(m->latency_source) > 80,
               "%s says where its latencies come from", n);
            states_all(m, n);
            round_trip(m, n);
        } else {
            note("%s", problem);
        }
        cf_machine_free(m);
        count++;
    }
    free(list);
    ok(count >= (int)(sizeof wanted / sizeof *wanted), "%d are installed", count);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        m = cf_machine_load(wanted[i], problem, sizeof problem);
        ok(m != NULL, "%s is among them", wanted[i]);
        cf_machine_free(m);
    }
    m = cf_machine_load("tegra-x1", problem, sizeof problem);
    if (m)
        is_u64(m->level[2].sets, 2048, "sets of the Tegra X1's second level, as in the paper");
    cf_machine_free(m);
    m = cf_machine_load("leon4-n2x", problem, sizeof problem);
    if (m) {
        is_u64(m->level[0].sets, 128, "sets of the LEON4's first level, as in the paper");
        is_u64(m->level[2].sets, 2048, "sets of the LEON4's second level, as in the paper");
        ok(m->latency_rule == CF_LATENCY_ADDED, "its latencies add up, as in the paper");
    }
    cf_machine_free(m);
}

/* Every beginning of every description, and every description with one byte changed, either loads
   or is refused with a message. */
static void damaged_ones(void)
{
    char *list = installed(), *save = NULL, path[1000];
    unsigned long loaded = 0, refused_ones = 0, silent = 0, seed = 1;

    need(list != NULL, "there is a list");
    for (char *n = strtok_r(list, ", ", &save); n; n = strtok_r(NULL, ", ", &save)) {
        static char text[8192], changed[8192];
        struct cf_machine *m;
        size_t size;
        FILE *f;

        snprintf(path, sizeof path, "formats/machines/%s.yaml", n);
        f = fopen(path, "r");
        if (!f)
            continue;
        size = fread(text, 1, sizeof text, f);
        fclose(f);
        for (size_t i = 0; i < 2 * size; i++) {
            memcpy(changed, text, size);
            seed = seed * 6364136223846793005UL + 1442695040888963407UL;
            if (i >= size)
                changed[i - size] = (char)(seed >> 56);
            m = load_bytes(changed, i < size ? i : size);
            if (m)
                loaded++;
            else if (strstr(problem, file) && strlen(problem) > strlen(file) + 5)
                refused_ones++;
            else
                silent++;
            cf_machine_free(m);
        }
    }
    free(list);
    is_u64(silent, 0, "%lu damaged files loaded, %lu were refused, each with a message", loaded,
           refused_ones);
    ok(refused_ones > 1000 && loaded > 100, "both happened");
}

/* With names: shows these descriptions, for tests/machine.bats. */
static int show(int count, char **names)
{
    for (int i = 0; i < count; i++) {
        struct cf_machine *m = cf_machine_load(names[i], problem, sizeof problem);
        char *text = m ? machine_text(m) : NULL;

        puts(text ? text : problem);
        free(text);
        if (!m)
            return 1;
        cf_machine_free(m);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return show(argc - 1, argv + 1);
    make_directory();
    smallest();
    full();
    forms();
    latencies();
    bad_latencies();
    bad_levels();
    bad_documents();
    too_much();
    no_files();
    installed_ones();
    damaged_ones();
    remove_directory();
    return done();
}
