/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept_stream.c - streams that every later version has to read (cf-stream(5), COMPATIBILITY).
 *
 *   make DIRECTORY   a stream of each form that a writer makes, and beside it, as NAME.csv, what it
 *                    holds: all tables, columns, types and codecs
 *   sums [FILE]      what a stream holds, as a reader sees it: of each table and column the type,
 *                    the rows, and a checksum of all values, of strings their texts
 *   holds FILE...    the tables, columns and codecs that stand in the files, found without the
 *                    library's reader
 *   newer FILE       the stream as one that holds a codec of the future
 *   token FILE       the stream with a token in its second frame of stretches that numbers none
 *   raw FILE A B     the stream whose accesses, some in stretches, have a column B, a number a row,
 *                    instead of column A
 *   known            those that this version knows
 */
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "formats/codec/cf_codec.h"
#include "formats/stream/cf.h"
#include "kept_kinds.h"
#include "piped.h"
#include "reseal.h"

enum {
    THEIR_TABLE = 300, /* in no list */
    THEIR_NUMBER = 40000,
    THEIR_WORD = 40001,
    THEIR_SHORT = 40002,
    TABLE_BIT = 65536,
};

/* ---- sums ---- */

static void sum_frame(struct cf_reader *r, const struct cf_frame *f)
{
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *d = &f->column[i];
        const uint8_t *v = d->values;
        const size_t width = cf_type_width(d->type);

        if (!width)
            continue;
        if (!v) {
            fprintf(stderr, "table %u: column %u has no values\n", f->table, d->id);
            exit(1);
        }
        for (uint32_t row = 0; row < f->rows; row++, v += width)
            if (d->type == CF_STR) {
                const char *text = cf_reader_text(r, *(const uint32_t *)(const void *)v);

                sum_add(f->table, d->id, d->type, 1, text, strlen(text) + 1);
            } else
                sum_add(f->table, d->id, d->type, 1, v, width);
    }
}

static int sum_file(char *file)
{
    struct cf_reader *r = cf_reader_open(&file, 1);
    struct cf_frame *f;

    if (!r)
        return 1;
    cf_reader_want_all(r);
    cf_reader_check_index(r);
    while (cf_reader_next(r, &f) > 0)
        if (f->table != CF_HEADER && f->table != CF_STRING && f->table != CF_NAME)
            sum_frame(r, f);
    if (cf_reader_problem(r)) {
        fprintf(stderr, "%s\n", cf_reader_problem(r));
        return 1;
    }
    cf_reader_close(r);
    sums_print(stdout);
    return 0;
}

/* ---- what stands in a file ---- */

static uint8_t bytes[1 << 24];

static size_t load(const char *path)
{
    FILE *in = fopen(path, "rb");
    const size_t size = in ? fread(bytes, 1, sizeof bytes, in) : 0;

    if (!size || size == sizeof bytes)
        exit(1);
    fclose(in);
    return size;
}

static int holds(const char *path)
{
    const size_t size = load(path);
    size_t n;

    for (size_t at = 0; at < size; at += n) {
        const uint8_t *head = bytes + at, *d = head + RESEAL_FRAME;
        const unsigned columns = head[10] | head[11] << 8;

        if (!(n = reseal_size(head, size - at)) || d + columns * RESEAL_COLUMN > head + n)
            return 1;
        if (head[0] != 'C') /* a header */
            continue;
        printf("table %d\n", head[8] | head[9] << 8);
        for (unsigned i = 0; i < columns; i++, d += RESEAL_COLUMN)
            printf("column %d\ntype %d\ncodec %d\n", d[0] | d[1] << 8, d[2], d[3]);
    }
    return 0;
}

/* Writes the stream with a codec that nobody knows, of column size in the accesses. */
static int newer(const char *path)
{
    const size_t size = load(path);
    int found = 0;

    for (size_t at = 0, n; (n = reseal_size(bytes + at, size - at)) != 0; at += n)
        for (uint8_t *d = bytes + at + RESEAL_FRAME;
             bytes[at] == 'C' && bytes[at + 8] == CF_ACCESS && d < bytes + at + n;
             d += RESEAL_COLUMN)
            if (d[0] == CF_SIZE && !d[1]) {
                d[3] = CF_CODECS + 10;
                found = 1;
                break;
            }
    reseal(bytes, size);
    return !found || fwrite(bytes, 1, size, stdout) != size;
}

/* The data of a frame's column of this codec, and its length; NULL where it has none. */
static uint8_t *column_of(uint8_t *frame, unsigned codec, size_t *length)
{
    const size_t columns = frame[10] | frame[11] << 8;
    uint8_t *data = frame + RESEAL_FRAME + columns * RESEAL_COLUMN;

    for (const uint8_t *d = frame + RESEAL_FRAME;
         d < frame + RESEAL_FRAME + columns * RESEAL_COLUMN; d += RESEAL_COLUMN) {
        *length = reseal_u32(d + 4);
        if (d[3] == codec)
            return data;
        data += (*length + 7) & ~(size_t)7;
    }
    return NULL;
}

static int wrong_token(const char *path)
{
    const size_t size = load(path);
    unsigned found = 0;
    size_t length;

    for (size_t at = 0, n; found < 2 && (n = reseal_size(bytes + at, size - at)) != 0; at += n) {
        uint8_t *data = bytes[at] == 'C' ? column_of(bytes + at, CF_STRETCHES, &length) : NULL;

        if (data && ++found == 2)
            memset(data + length - 2, 0xff, 2);
    }
    reseal(bytes, size);
    return found < 2 || fwrite(bytes, 1, size, stdout) != size;
}

/* Writes a frame with a number a row instead of the column at `d`; its length. */
static size_t write_raw(uint8_t *frame, size_t n, uint8_t *d, unsigned to)
{
    const uint32_t rows = reseal_u32(frame + 12);
    const size_t width = cf_type_width(cf_column_type(to)), more = (rows * width + 7) & ~(size_t)7;
    const size_t old = (reseal_u32(d + 4) + 7) & ~(size_t)7, bytes_now = n + more - old;
    uint8_t *whole = calloc(1, n + more);
    size_t before = RESEAL_FRAME + RESEAL_COLUMN * (size_t)(frame[10] | frame[11] << 8);

    for (const uint8_t *c = frame + RESEAL_FRAME; c < d; c += RESEAL_COLUMN)
        before += (reseal_u32(c + 4) + 7) & ~(size_t)7;
    memcpy(d, (const uint8_t[]){(uint8_t)to, (uint8_t)(to >> 8), cf_column_type(to), CF_RAW}, 4);
    memcpy(d + 4, &(uint32_t){(uint32_t)(rows * width)}, 4);
    memset(d + 8, 0, 8);
    memcpy(frame + 4, &(uint32_t){(uint32_t)bytes_now}, 4);
    memcpy(whole, frame, before);
    for (uint32_t i = 0; i < rows; i++)
        whole[before + i * width] = (uint8_t)(i / 500 % 3 * 64);
    memcpy(whole + before + more, frame + before + old, n - before - old);
    reseal_one(whole, bytes_now);
    n = fwrite(whole, 1, bytes_now, stdout);
    free(whole);
    return n;
}

static int raw(const char *path, unsigned from, unsigned to)
{
    const size_t size = load(path);
    size_t written = 0, length;
    unsigned found = 0;

    for (size_t at = 0, n; (n = reseal_size(bytes + at, size - at)) != 0; at += n) {
        uint8_t *frame = bytes + at, *d = frame + RESEAL_FRAME;
        const int is = frame[0] == 'C' && frame[8] == CF_ACCESS;

        while (is && (d[0] | d[1] << 8) != (int)from)
            d += RESEAL_COLUMN;
        found += is && column_of(frame, CF_STRETCHES, &length);
        if (at + n == size) { /* the trailer states the length */
            reseal_put64(frame + n - 24, written + n);
            reseal_one(frame, n);
        }
        written += is ? write_raw(frame, n, d, to) : fwrite(frame, 1, n, stdout);
    }
    return !found;
}

#define ID(id, n, ...) n,
static const unsigned tables[] = {CF_TABLES(ID)}, columns[] = {CF_COLUMNS(ID)};

static int known(void)
{
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        printf("table %u\n", tables[i]);
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
        printf("column %u\n", columns[i]);
    for (unsigned i = CF_U8; i <= CF_BLOB; i++)
        printf("type %u\n", i);
    for (unsigned i = 0; i < CF_CODECS; i++)
        printf("codec %u\n", i);
    return 0;
}

/* ---- making them ---- */

/* The rows of each table, and the columns that it has with the filters of the suite. */
static const struct {
    unsigned table;
    uint32_t rows;
    uint16_t column[44];
} content[] = {
    {CF_TASK, 40, {CF_TIME, CF_PID, CF_TID, CF_PARENT, CF_OP, CF_LABEL}},
    {CF_MAP,
     60,
     {CF_TIME, CF_PID, CF_OP, CF_START, CF_STOP, CF_OFFSET, CF_PERMS, CF_LABEL, CF_BUILD}},
    {CF_STACK, 300, {CF_PID, CF_STACK_ID, CF_PARENT, CF_PC}},
    {CF_OBJECT, 300, {CF_TIME, CF_PID, CF_TID, CF_OP, CF_ADDR, CF_BYTES, CF_STACK_ID}},
    {CF_SWITCH, 90, {CF_TIME, CF_PID, CF_TID, CF_CPU, CF_COUNT}},
    {CF_UNPLACED, 50, {CF_TIME, CF_CPU, CF_OP, CF_SIZE, CF_PC, CF_LEVEL, CF_PHYS}},
    {CF_FILE, 20, {CF_SOURCE, CF_LABEL, CF_BUILT}},
    {CF_LOST, 20, {CF_TIME, CF_CPU, CF_PID, CF_TID, CF_COUNT, CF_LABEL}},
    {CF_BUS, 200, {CF_TIME, CF_OP, CF_SIZE, CF_ADDR, CF_MASTER, CF_TRANSFER, CF_BURST}},
    {CF_ACCESS,
     MOST_ROWS,
     {CF_TIME,         CF_CPU,       CF_PID,    CF_TID,    CF_OP,    CF_SIZE,     CF_ADDR,
      CF_PHYS,         CF_PC,        CF_LEVEL,  CF_WEIGHT, CF_INSNS, CF_STAGE,    CF_DATA_SRC,
      CF_STACK_ID,     CF_REGION,    CF_PAGENO, CF_OBJ,    CF_SITE,  CF_FUNCTION, CF_SOURCE,
      CF_SYMBOL,       CF_INLINED,   CF_DIST,   CF_HIT,    CF_CLASS, CF_COST,     CF_DIST_WEIGHT,
      CF_CLASS_BEHIND, THEIR_NUMBER, THEIR_WORD}},
    {CF_SNAPSHOT, 3, {CF_SNAP, CF_TIME, CF_MODE, CF_COST_TOTAL, CF_LEVEL, CF_SETS, CF_WAYS}},
    {CF_LINE,
     MOST_ROWS,
     {CF_SNAP, CF_LEVEL, CF_CPU, CF_SET, CF_WAY, CF_STATE, CF_PHYS, CF_ADDR, CF_PID}},
    {CF_PAGE,
     500,
     {CF_REGION, CF_PAGENO, CF_SAMPLE, CF_RUNTIME, CF_POLICY, CF_BEST, CF_CALL_NUMBER}},
    {CF_PROBE,
     500,
     {CF_EXPERIMENT, CF_PARAMETER, CF_REPEAT, CF_LEVEL, CF_ACCESSES, CF_MISSES, CF_TIME, CF_CPU,
      CF_METHOD, CF_SPOILT}},
    {CF_PARTIAL, 100, {CF_ENTRY, CF_KEY1,  CF_KEY2,  CF_KEY3,  CF_KEY4,  CF_KEY5,  CF_KEY6,
                       CF_KEY7,  CF_KEY8,  CF_KEY9,  CF_KEY10, CF_TEXT1, CF_TEXT2, CF_TEXT3,
                       CF_TEXT4, CF_TEXT5, CF_SUM1,  CF_SUM2,  CF_SUM3,  CF_SUM4,  CF_SUM5,
                       CF_SUM6,  CF_SUM7,  CF_SUM8,  CF_SUM9,  CF_SUM10, CF_SUM11, CF_SUM12,
                       CF_SUM13, CF_SUM14, CF_SUM15, CF_SUM16, CF_SUM17, CF_SUM18, CF_SUM19,
                       CF_SUM20, CF_SUM21, CF_SUM22, CF_SUM23, CF_SUM24}},
    {THEIR_TABLE, 100, {CF_TIME, THEIR_NUMBER, THEIR_WORD, THEIR_SHORT}},
};

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static const char *const words[] = {"main", "x", "a longer one, \"quoted\"\nwith a line",
                                    "Stra\303\237e", "\xff\xfe no UTF-8"};
enum { WORDS = sizeof words / sizeof *words };
enum what {
    RECORDS,
    KINDS,
    STRETCHES,
    PARTIALS
}; /* rows of all tables, of known origin, in stretches, of a partial result */

static enum cf_type type_of(unsigned column)
{
    return column == THEIR_NUMBER  ? CF_I64
           : column == THEIR_WORD  ? CF_STR
           : column == THEIR_SHORT ? CF_U16
                                   : cf_column_type(column);
}

/* Lines of caches: each page has eight in neighbouring sets. */
static uint64_t line_of(unsigned column, uint64_t i)
{
    const uint64_t page = (i / 32 * 4 + (i + i / 4) % 4) * 5 % 12, line = i / 4 % 64 * 64;

    switch (column) {
    case CF_SNAP:
        return 1 + i / 1000;
    case CF_LEVEL:
        return 2;
    case CF_CPU:
        return 0;
    case CF_SET:
        return i / 4;
    case CF_WAY:
        return i % 4;
    case CF_STATE:
        return page % 2 ? CF_STATE_MODIFIED : CF_STATE_SHARED;
    case CF_PHYS:
        return 0x80000000 + (page * 0x23456 << 12) + line;
    case CF_ADDR:
        return 0x400000 + (page * 0x2345678 << 12) + line;
    default:
        return 70000 * (page % 3);
    }
}

/* Values in as many ways as there are codecs for them: the same, of one, two, four or eight bytes,
   that rise, that repeat, and without any order. */
static uint64_t value_of(unsigned table, unsigned column, uint64_t i)
{
    const uint64_t random = mixed(i * 977 + column * 31 + table);

    if (table == CF_LINE)
        return line_of(column, i);
    switch (column) {
    case CF_TIME:
        return table == CF_PROBE ? random % 100000 : i * 3 + i / 100;
    case CF_OP:
        return 1 + i * i % 5;
    case CF_PC:
        return 0x400000 + i * i % 7 * 5;
    case CF_SNAP:
        return 1 + i;
    case CF_ADDR:
        return 0x7f0000001000 + i % 5 * 0x10000 + i * 8 + (i % 17 ? 0 : random % 4096);
    case CF_PHYS:
        return 0x80000000 + (random % 64 << 12) + i % 64 * 64;
    case CF_DATA_SRC:
        return random;
    case CF_WEIGHT:
        return 20000;
    case CF_DIST:
        return i % 3 ? random % 1000 : UINT64_MAX;
    case CF_CPU:
        return i / 500 % 2;
    case CF_PID:
        return 70000;
    case CF_TID:
        return 70000 + i / 700;
    case CF_SIZE:
        return 1u << i % 4;
    case THEIR_NUMBER:
        return (uint64_t)((int64_t)(random % 2001) - 1000);
    default:
        break;
    }
    switch (type_of(column)) {
    case CF_U8:
        return random % 4;
    case CF_U32:
        return column % 3 == 0 ? 7 + random % 200 : column % 3 == 1 ? random % 50000 : i;
    case CF_STR:
        return random % WORDS;
    default:
        return column % 2 ? random % UINT64_C(3000000000) : i * i;
    }
}

/* One column of a table, in memory of its own; its sum is taken. */
static void fill(struct cf_values *v, unsigned table, unsigned column, uint32_t rows,
                 const uint32_t *word)
{
    static uint64_t room[40][MOST_ROWS];
    static unsigned next;
    void *to = room[next++ % 40];
    const enum cf_type type = type_of(column);

    *v = (struct cf_values){column, to, 0};
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t value = value_of(table, column, i);
        const char *text = words[value % WORDS];

        if (type == CF_STR)
            ((uint32_t *)to)[i] = word[value % WORDS];
        else if (type == CF_F64)
            ((double *)to)[i] = (double)value / 7;
        else if (type == CF_U8)
            ((uint8_t *)to)[i] = (uint8_t)value;
        else if (type == CF_U16)
            ((uint16_t *)to)[i] = (uint16_t)value;
        else if (type == CF_U32)
            ((uint32_t *)to)[i] = (uint32_t)value;
        else
            ((uint64_t *)to)[i] = value;
        if (type == CF_STR)
            sum_add(table, column, type, 1, text, strlen(text) + 1);
        else
            sum_add(table, column, type, 1, (char *)to + i * cf_type_width(type),
                    cf_type_width(type));
    }
}

static void write_table(struct cf_writer *w, unsigned at, const uint32_t *word)
{
    struct cf_values v[40];
    unsigned n = 0;

    for (; n < 40 && content[at].column[n]; n++)
        fill(&v[n], content[at].table, content[at].column[n], content[at].rows, word);
    must(cf_writer_rows(w, content[at].table, content[at].rows, v, n, NULL));
}

/* DIRECTORY/NAME.cf, packed or as a pipe has it, of every table or of accesses by kind alone. */
static void make(const char *directory, const char *name, int packed, enum what what)
{
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .clock_hz = 1000000000,
                                     .machine = (char *)"tegra-x1",
                                     .line_size = 64,
                                     .source = (char *)"kept_stream",
                                     .command = (char *)"prog 'a b' \"c\""};
    char path[4096], sum[4096], problem[256];
    struct cf_writer *w;
    uint32_t word[WORDS];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s.cf", directory, name);
    snprintf(sum, sizeof sum, "%s/%s.csv", directory, name);
    if (!packed)
        piped_begin(path);
    w = cf_writer_open(packed ? path : NULL, "kept_stream");
    if (!w)
        abort();
    must(cf_writer_number(w, "dist", "line_size", 64) || cf_writer_header(w, &header));
    must(cf_writer_name(w, THEIR_NUMBER, CF_I64, "their_number") ||
         cf_writer_name(w, THEIR_WORD, CF_STR, "their_word") ||
         cf_writer_name(w, THEIR_SHORT, CF_U16, "their_short") ||
         cf_writer_name(w, THEIR_TABLE + TABLE_BIT, 0, "their_table"));
    for (unsigned i = 0; i < WORDS; i++)
        word[i] = cf_writer_string(w, words[i]);
    if (what == KINDS)
        write_kinds(w);
    else if (what == STRETCHES)
        write_stretches(w);
    else
        for (unsigned i = 0; i < sizeof content / sizeof *content; i++)
            if ((content[i].table == CF_PARTIAL) == (what == PARTIALS))
                write_table(w, i, word);
    must(cf_writer_close(w, 1, problem, sizeof problem));
    piped_end();
    if (!(out = fopen(sum, "w")))
        abort();
    sums_print(out);
    must(fclose(out));
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "make")) {
        make(argv[2], "pipe", 0, RECORDS);
        make(argv[2], "packed", 1, RECORDS);
        make(argv[2], "pipe-kinds", 0, KINDS);
        make(argv[2], "packed-kinds", 1, KINDS);
        make(argv[2], "pipe-stretches", 0, STRETCHES);
        make(argv[2], "partial", 1, PARTIALS);
        return 0;
    }
    if (argc > 1 && argc < 4 && !strcmp(argv[1], "sums"))
        return sum_file(argc == 3 ? argv[2] : (char *)"-");
    if (argc > 2 && !strcmp(argv[1], "holds")) {
        int status = 0;

        for (int i = 2; i < argc; i++)
            status |= holds(argv[i]);
        return status;
    }
    if (argc == 3 && !strcmp(argv[1], "newer"))
        return newer(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "token"))
        return wrong_token(argv[2]);
    if (argc == 5 && !strcmp(argv[1], "raw"))
        return raw(argv[2], cf_column_find(argv[3]), cf_column_find(argv[4]));
    if (argc == 2 && !strcmp(argv[1], "known"))
        return known();
    fprintf(stderr,
            "kept_stream make DIRECTORY | sums [FILE] | holds FILE... | newer FILE | token FILE | "
            "raw FILE A B | known\n");
    return 2;
}
