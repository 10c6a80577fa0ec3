/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_stream KIND [FILE]: makes and checks streams that no program of the suite would write, for
 * all-programs.bats. FILE is a packed file; without it a raw stream goes to standard output.
 *
 *   plain    accesses, mappings, heap objects, a task
 *
 *   full     as plain, with every column that a filter of the suite adds, snapshots, page timings
 *            and probes: input for every program
 *
 *   bare     accesses that have a time and nothing else, snapshots, and lines that have the number
 *            of their snapshot and nothing else
 *
 *   odd      mappings without a byte, with an end before their start, and one that is right;
 *            accesses in it of an operation that there is not, of none, and a load
 *
 *   empty    a header and an end frame
 *
 *   unknown  as full, with two columns that are in no list (a number and a string), a column of
 *            floating-point numbers, and two tables that are in no list, one of them without a
 *            name; the variable THEIR_NUMBER names the first of these columns
 *
 *   cut      as plain, without the end frame
 *
 *   check    reads FILE or standard input: every row that is there has the unknown columns with the
 *            values that `unknown` gave them, and the unknown tables are complete; prints the
 *            number of access rows and what is wrong
 *
 * make_stream through LINE [COLUMN KEY VALUE]...: hands standard input on as a program does whose
 * command line is LINE, and which states these facts of columns. A VALUE of digits is a number.
 * The variable OBSERVED is what its headers say was observed, instead of what they said.
 *
 * What an unknown column holds is a function of the address, so that it can be checked after rows
 * were dropped or brought into another order. Memory: the rows, some hundred kilobytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "reseal.h"

enum {
    ROWS = 20000, /* more than one frame of a pipe */
    UNLISTED_ROWS = 1000,
    NUMBER = 40000, /* unknown columns */
    WORD = 40001,
    REAL = 40002,
    NAMED_TABLE = 300, /* unknown tables */
    NAMELESS_TABLE = 301,
    TABLE_BIT = 65536,
};

static uint64_t number_of(uint64_t addr)
{
    return addr * 3 + 1;
}

static double real_of(uint64_t addr)
{
    return (double)addr / 7.0;
}

static void word_of(uint64_t addr, char *text, size_t size)
{
    snprintf(text, size, "word, \"%" PRIu64 "\"\n", addr % 13);
}

static int must(int status, struct cf_writer *w)
{
    if (status) {
        fprintf(stderr, "make_stream: %s\n", cf_writer_problem(w));
        exit(1);
    }
    return status;
}

static void make_snapshots(struct cf_writer *w)
{
    enum { LINES = 96 };
    uint32_t set[LINES], way[LINES], pid[LINES];
    uint64_t addr[LINES], phys[LINES];
    uint8_t level[LINES];

    for (uint32_t s = 1; s <= 6; s++) {
        const struct cf_values snapshot[] = {
            {CF_SNAP, NULL, s},
            {CF_TIME, NULL, 50000 + s * 10000}, /* behind the accesses */
            {CF_MODE, NULL, 0},
            {CF_COST_TOTAL, NULL, 100 + s}};
        const struct cf_values line[] = {
            {CF_SNAP, NULL, s},  {CF_LEVEL, level, 0}, {CF_SET, set, 0},   {CF_WAY, way, 0},
            {CF_STATE, NULL, 3}, {CF_PHYS, phys, 0},   {CF_ADDR, addr, 0}, {CF_PID, pid, 0}};

        for (uint32_t i = 0; i < LINES; i++) {
            level[i] = i < 16 ? 1 : 2;
            set[i] = i < 16 ? i % 8 : (i - 16) % 32;
            way[i] = i < 16 ? i / 8 : (i - 16) / 32;
            /* a third of the lines is replaced from one snapshot to the next */
            addr[i] = 0x10000 + (i + (i % 3 == 0 ? s * 128 : 0)) * 64;
            phys[i] = addr[i] + 0x80000000;
            pid[i] = 7 + i % 2;
        }
        must(cf_writer_rows(w, CF_SNAPSHOT, 1, snapshot, 4, NULL), w);
        must(cf_writer_rows(w, CF_LINE, LINES, line, 8, NULL), w);
    }
}

static void make_bare(struct cf_writer *w)
{
    enum { BARE = 3 };
    const uint64_t time[BARE] = {1, 2, 3};
    const struct cf_values access[] = {{CF_TIME, time, 0}};

    must(cf_writer_rows(w, CF_ACCESS, BARE, access, 1, NULL), w);
    for (uint32_t s = 1; s <= 3; s++) {
        const struct cf_values snapshot[] = {
            {CF_SNAP, NULL, s}, {CF_TIME, NULL, 3 + s}, {CF_MODE, NULL, 0}};
        const struct cf_values line[] = {{CF_SNAP, NULL, s}};

        must(cf_writer_rows(w, CF_SNAPSHOT, 1, snapshot, 3, NULL), w);
        must(cf_writer_rows(w, CF_LINE, BARE, line, 1, NULL), w);
    }
}

static void make_odd(struct cf_writer *w)
{
    enum { ODD = 3, AT = 0x2000 };
    const uint64_t start[ODD] = {AT, AT + 0x1000, AT}, stop[ODD] = {AT, AT, AT + 0x1000};
    const uint64_t time[ODD] = {1, 2, 3}, addr[ODD] = {AT, AT + 128, AT};
    const uint8_t op[ODD] = {9, 0, CF_LOAD};
    const struct cf_values map[] = {
        {CF_TIME, NULL, 0},   {CF_PID, NULL, 1},  {CF_OP, NULL, CF_MAPPED},
        {CF_START, start, 0}, {CF_STOP, stop, 0}, {CF_LABEL, NULL, cf_writer_string(w, "[heap]")}};
    const struct cf_values access[] = {{CF_TIME, time, 0},
                                       {CF_PID, NULL, 1},
                                       {CF_OP, op, 0},
                                       {CF_SIZE, NULL, 1},
                                       {CF_ADDR, addr, 0}};

    must(cf_writer_rows(w, CF_MAP, ODD, map, 6, NULL), w);
    must(cf_writer_rows(w, CF_ACCESS, ODD, access, 5, NULL), w);
}

static void make_timings(struct cf_writer *w)
{
    const uint32_t heap = cf_writer_string(w, "[heap]"), chase = cf_writer_string(w, "capacity");

    for (uint64_t i = 0; i < 40; i++) {
        const struct cf_values page[] = {{CF_REGION, NULL, heap},
                                         {CF_PAGENO, NULL, i % 10},
                                         {CF_SAMPLE, NULL, i / 10},
                                         {CF_RUNTIME, NULL, 100000 - (i % 10) * 777 + i},
                                         {CF_POLICY, NULL, 0}};
        /* 4 cycles up to 32 KiB, 40 beyond */
        const struct cf_values probe[] = {{CF_EXPERIMENT, NULL, chase},
                                          {CF_PARAMETER, NULL, 1024ull << i / 4},
                                          {CF_REPEAT, NULL, i % 4},
                                          {CF_MISSES, NULL, i / 4 > 5 ? 1000 : 1},
                                          {CF_TIME, NULL, i / 4 > 5 ? 40000 : 4000},
                                          {CF_CPU, NULL, 0},
                                          {CF_LEVEL, NULL, 1},
                                          {CF_ACCESSES, NULL, 1000},
                                          {CF_METHOD, NULL, CF_METHOD_COUNTER},
                                          {CF_SPOILT, NULL, i == 39 ? CF_SPOILT_DRIFT : 0}};

        must(cf_writer_rows(w, CF_PAGE, 1, page, 5, NULL), w);
        must(cf_writer_rows(w, CF_PROBE, 1, probe, 10, NULL), w);
    }
}

/* What the accesses hold. */
static struct {
    uint64_t time[ROWS], addr[ROWS], pc[ROWS], number[ROWS], dist[ROWS];
    uint32_t word[ROWS], size[ROWS], pageno[ROWS], cost[ROWS], node[ROWS];
    uint8_t op[ROWS], hit[ROWS], class[ROWS];
    double real[ROWS];
} row;

static void fill_rows(const uint32_t *words)
{
    for (uint64_t i = 0; i < ROWS; i++) {
        row.time[i] = 10 + i * 3;
        /* strides over 64 KiB, every address once */
        row.addr[i] = 0x10000 + (i % 128) * 512 + (i / 128) * 8;
        row.pc[i] = 0x401000 + (i % 16) * 4;
        row.size[i] = 8;
        row.op[i] = i % 3 == 2 ? CF_STORE : CF_LOAD;
        row.number[i] = number_of(row.addr[i]);
        row.word[i] = words[row.addr[i] % 13];
        row.real[i] = real_of(row.addr[i]);
        row.dist[i] = i % 5 ? i % 200 : UINT64_MAX;
        row.hit[i] = row.dist[i] < 16 ? 1 : row.dist[i] < 128 ? 2 : 255;
        row.class[i] = i % 5 && (i % 4 || row.hit[i] == 1) ? i % 4 : 1; /* each miss has one */
        row.node[i] = 1 + i % 2;
        row.cost[i] = row.hit[i] == 1 ? 4 : row.hit[i] == 2 ? 20 : 180;
        row.pageno[i] = (uint32_t)((row.addr[i] - 0x10000) / 4096);
    }
}

/* A process, its two mappings, a heap object. */
static void make_events(struct cf_writer *w, uint32_t task, uint32_t map, uint32_t heap)
{
    uint64_t zero = 0;
    const struct cf_values begin[] = {{CF_TIME, &zero, 0},  {CF_PID, NULL, 7},
                                      {CF_TID, NULL, 7},    {CF_OP, NULL, CF_BEGIN},
                                      {CF_PARENT, NULL, 1}, {CF_LABEL, NULL, task}};
    const struct cf_values alloc[] = {{CF_TIME, &zero, 0},      {CF_PID, NULL, 7},
                                      {CF_TID, NULL, 7},        {CF_OP, NULL, CF_ALLOC},
                                      {CF_ADDR, NULL, 0x10000}, {CF_BYTES, NULL, 4096},
                                      {CF_STACK_ID, NULL, 0}};

    must(cf_writer_rows(w, CF_TASK, 1, begin, 6, NULL), w);
    for (int i = 0; i < 2; i++) {
        const struct cf_values c[] = {
            {CF_TIME, &zero, 0},
            {CF_PID, NULL, 7},
            {CF_OP, NULL, CF_MAPPED},
            {CF_START, NULL, i ? 0x10000 : 0x400000},
            {CF_STOP, NULL, i ? 0x40000 : 0x410000},
            {CF_OFFSET, NULL, 0},
            {CF_PERMS, NULL, i ? CF_PERM_R | CF_PERM_W : CF_PERM_R | CF_PERM_X},
            {CF_LABEL, NULL, i ? heap : map}};

        must(cf_writer_rows(w, CF_MAP, 1, c, 8, NULL), w);
    }
    must(cf_writer_rows(w, CF_OBJECT, 1, alloc, 7, NULL), w);
}

/* Columns and a table that are in no list; the strings of the first in `words`. */
static void name_unknown(struct cf_writer *w, uint32_t *words)
{
    const char *const their = getenv("THEIR_NUMBER");
    char text[64];

    for (uint64_t i = 0; i < 13; i++) {
        word_of(i, text, sizeof(text));
        words[i] = cf_writer_string(w, text);
    }
    must(cf_writer_name(w, NUMBER, CF_U64, their ? their : "their_number"), w);
    must(cf_writer_name(w, WORD, CF_STR, "their_word"), w);
    must(cf_writer_name(w, REAL, CF_F64, "their_real"), w);
    must(cf_writer_name(w, NAMED_TABLE + TABLE_BIT, CF_U64, "their_table"), w);
}

static void unlisted_tables(struct cf_writer *w)
{
    for (unsigned t = NAMED_TABLE; t <= NAMELESS_TABLE; t++) {
        const struct cf_values c[] = {{CF_TIME, row.time, 0},
                                      {CF_RUNTIME, row.number, 0},
                                      {CF_EXPERIMENT, row.word, 0},
                                      {CF_ADDR, row.addr, 0}};

        must(cf_writer_rows(w, t, UNLISTED_ROWS, c, 4, NULL), w);
    }
}

static void make_contents(struct cf_writer *w, int unknown, int full)
{
    const uint32_t task = cf_writer_string(w, "demo"), map = cf_writer_string(w, "/bin/demo"),
                   heap = cf_writer_string(w, "[heap]");
    uint32_t words[13] = {0};
    /* what every stream has, what filters add, what is in no list */
    const struct cf_values access[] = {{CF_TIME, row.time, 0},      {CF_PID, NULL, 7},
                                       {CF_TID, NULL, 7},           {CF_OP, row.op, 0},
                                       {CF_SIZE, row.size, 0},      {CF_ADDR, row.addr, 0},
                                       {CF_PC, row.pc, 0},          {CF_REGION, NULL, heap},
                                       {CF_PAGENO, row.pageno, 0},  {CF_OBJ, NULL, 1},
                                       {CF_SITE, NULL, map},        {CF_FUNCTION, NULL, task},
                                       {CF_SOURCE, NULL, map},      {CF_SYMBOL, NULL, 0},
                                       {CF_DIST, row.dist, 0},      {CF_HIT, row.hit, 0},
                                       {CF_CLASS, row.class, 0},    {CF_COST, row.cost, 0},
                                       {CF_STACK_ID, row.node, 0},  {CF_INLINED, NULL, task},
                                       {CF_RUNTIME, row.number, 0}, {CF_EXPERIMENT, row.word, 0},
                                       {CF_PARAMETER, row.real, 0}};
    const struct cf_values source[] = {
        {CF_SOURCE, NULL, map}, {CF_LABEL, NULL, map}, {CF_BUILT, NULL, 1}};

    if (unknown)
        name_unknown(w, words);
    fill_rows(words);
    make_events(w, task, map, heap);
    if (unknown)
        unlisted_tables(w);
    for (uint32_t i = 1; full && i <= 2; i++) {
        const struct cf_values c[] = {{CF_PID, NULL, 7},         {CF_STACK_ID, NULL, i},
                                      {CF_PARENT, NULL, i - 1},  {CF_PC, NULL, 0x401000 + i},
                                      {CF_FUNCTION, NULL, task}, {CF_SOURCE, NULL, map}};

        must(cf_writer_rows(w, CF_STACK, 1, c, 6, NULL), w);
    }
    must(cf_writer_rows(w, CF_ACCESS, ROWS, access, unknown ? 23 : full ? 20 : 7, NULL), w);
    if (full) {
        make_snapshots(w);
        make_timings(w);
        must(cf_writer_rows(w, CF_FILE, 1, source, 3, NULL), w);
    }
}

static int make(const char *kind, const char *file)
{
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .source = (char *)"make_stream",
                                     .command = (char *)"none"};
    struct cf_writer *w = cf_writer_open(file, "make_stream");
    const int unknown = !strcmp(kind, "unknown");
    char problem[512] = "";

    if (!w)
        return 1;
    must(cf_writer_header(w, &header), w);
    if (!strcmp(kind, "bare"))
        make_bare(w);
    else if (!strcmp(kind, "odd"))
        make_odd(w);
    else if (strcmp(kind, "empty"))
        make_contents(w, unknown, unknown || !strcmp(kind, "full"));
    if (cf_writer_close(w, strcmp(kind, "cut") != 0, problem, sizeof(problem))) {
        fprintf(stderr, "make_stream: %s\n", problem);
        return 1;
    }
    return 0;
}

/* The library writes no column that it does not know: so `unknown` is written with columns that
   accesses never have, which then get their foreign numbers and types in the bytes. */
static void make_foreign(uint8_t *p, size_t bytes)
{
    static const struct {
        uint16_t from, to;
        uint8_t type;
    } change[] = {
        {CF_RUNTIME, NUMBER, CF_U64}, {CF_EXPERIMENT, WORD, CF_STR}, {CF_PARAMETER, REAL, CF_F64}};

    for (size_t at = 0, n; at < bytes && (n = reseal_size(p + at, bytes - at)); at += n) {
        const unsigned table = p[at + 8] | p[at + 9] << 8, columns = p[at + 10] | p[at + 11] << 8;

        if (p[at] == 0x89 ||
            (table != CF_ACCESS && table != NAMED_TABLE && table != NAMELESS_TABLE))
            continue;
        for (unsigned i = 0; i < columns; i++) {
            uint8_t *c = p + at + RESEAL_FRAME + i * RESEAL_COLUMN;

            for (unsigned k = 0; k < 3; k++)
                if ((c[0] | c[1] << 8) == change[k].from) {
                    c[0] = change[k].to & 255;
                    c[1] = change[k].to >> 8;
                    c[2] = change[k].type;
                    break;
                }
        }
    }
    reseal(p, bytes);
}

/* `unknown` to standard output, which it must go through twice. */
static int make_unknown(void)
{
    const int out = dup(1), between = memfd_create("unknown", 0);
    uint8_t *bytes;
    off_t n;

    if (out < 0 || between < 0 || dup2(between, 1) < 0 || make("unknown", NULL))
        return 1;
    n = lseek(between, 0, SEEK_END);
    bytes = mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE, MAP_PRIVATE, between, 0);
    if (bytes == MAP_FAILED)
        return 1;
    make_foreign(bytes, (size_t)n);
    for (off_t at = 0; at < n;) {
        const ssize_t some = write(out, bytes + at, (size_t)(n - at));

        if (some <= 0)
            return 1;
        at += some;
    }
    return 0;
}

static int wrong(const char *what, const struct cf_frame *f, uint32_t row)
{
    printf("table %u, frame %" PRIu64 ", row %u: %s\n", f->table, f->number, row, what);
    return 1;
}

/* The unknown columns of one frame. Returns how many things are wrong. */
static int check_frame(const struct cf_reader *in, const struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR), *number = cf_u64(f, NUMBER);
    const uint32_t *word = cf_u32(f, WORD);
    const double *real = cf_values(f, REAL);
    char text[64];

    if (!f->rows)
        return 0;
    if (!addr || !number || !word || (f->table == CF_ACCESS && !real))
        return wrong("an unknown column is lost", f, 0);
    for (uint32_t i = 0; i < f->rows; i++) {
        word_of(addr[i], text, sizeof(text));
        if (number[i] != number_of(addr[i]))
            return wrong("their_number is not what it was", f, i);
        if (strcmp(cf_reader_text(in, word[i]), text))
            return wrong("their_word is not what it was", f, i);
        if (f->table == CF_ACCESS && real[i] != real_of(addr[i]))
            return wrong("their_real is not what it was", f, i);
    }
    return 0;
}

static int check(char *file)
{
    struct cf_reader *in = cf_reader_open(&file, file != NULL);
    struct cf_frame *f;
    uint64_t access = 0, named = 0, nameless = 0;
    const char *name;
    int bad = 0;

    if (!in)
        return 1;
    cf_reader_want_all(in);
    while (cf_reader_next(in, &f) > 0) {
        if (f->table != CF_ACCESS && f->table != NAMED_TABLE && f->table != NAMELESS_TABLE)
            continue;
        *(f->table == CF_ACCESS     ? &access
          : f->table == NAMED_TABLE ? &named
                                    : &nameless) += f->rows;
        bad += check_frame(in, f);
    }
    if (named != UNLISTED_ROWS || nameless != UNLISTED_ROWS)
        bad += printf("unknown tables hold %" PRIu64 " and %" PRIu64 " rows, not %d each\n", named,
                      nameless, UNLISTED_ROWS) > 0;
    name = cf_reader_column_name(in, NUMBER);
    if (!name || strcmp(name, "their_number"))
        bad += printf("the name of column %d is lost\n", NUMBER) > 0;
    name = cf_reader_table_name(in, NAMED_TABLE);
    if (!name || strcmp(name, "their_table"))
        bad += printf("the name of table %d is lost\n", NAMED_TABLE) > 0;
    if (cf_reader_damages(in))
        bad += printf("damaged: %s\n", cf_reader_problem(in)) > 0;
    printf("%" PRIu64 " access rows, %d wrong\n", access, bad);
    cf_reader_close(in);
    return bad != 0;
}

static int through(char **argv, int argc)
{
    struct cf_reader *in = cf_reader_open(NULL, 0);
    struct cf_writer *out = cf_writer_open(NULL, argv[0]);
    char problem[256];
    struct cf_frame *f;

    if (!in || !out)
        return 3;
    cf_reader_partials(in);
    if (getenv("OBSERVED"))
        cf_writer_command(out, getenv("OBSERVED"));
    for (int i = 1; i + 2 < argc; i += 3) {
        const char *value = argv[i + 2];

        if (*value && strspn(value, "0123456789") == strlen(value))
            (void)cf_writer_number(out, argv[i], argv[i + 1], strtoull(value, NULL, 10));
        else
            (void)cf_writer_fact(out, argv[i], argv[i + 1], value);
    }
    while (cf_reader_next(in, &f) > 0 && cf_writer_frame(out, f) == 0)
        ;
    cf_reader_close(in);
    if (cf_writer_close(out, 1, problem, sizeof(problem)) == 0)
        return 0;
    fprintf(stderr, "make_stream: %s\n", problem);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "through"))
        return through(argv + 2, argc - 2);
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: make_stream plain|empty|unknown|cut|check [FILE]\n");
        return 2;
    }
    if (!strcmp(argv[1], "unknown"))
        return make_unknown();
    return strcmp(argv[1], "check") ? make(argv[1], argv[2]) : check(argv[2]);
}
