/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_codec [-l LEVEL] [-n] [FILE...] - speed and size of the codecs on one core.
 *
 * A FILE is a stream, whose accesses are taken into memory and encoded without hints, as when a
 * pipe is packed. Without a FILE, rows are made up: loops over arrays, with hints unless -n.
 * Rates are million rows per second of CPU time, the best of three runs over the whole trace;
 * frames are decoded in pieces, as a program without output takes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/codec/cf_codec.h"

enum { COLUMNS = 7, RUNS = 3 };

struct trace {
    size_t rows;
    uint64_t *time, *addr, *pc;
    uint32_t *size, *insns, *hint;
    uint8_t *op;
};

/* Coded columns of one frame with their bytes, kept to be decoded. */
struct kept {
    size_t rows;
    unsigned count;
    struct cf_coded column[COLUMNS + 1];
    uint8_t *bytes;
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *take(size_t n, size_t width)
{
    void *p = calloc(n, width);
    if (!p) {
        fprintf(stderr, "bench_codec: out of memory\n");
        exit(3);
    }
    return p;
}

static void allocate(struct trace *t, size_t rows)
{
    t->rows = rows;
    t->time = take(rows, 8);
    t->addr = take(rows, 8);
    t->pc = take(rows, 8);
    t->size = take(rows, 4);
    t->insns = take(rows, 4);
    t->hint = take(rows, 4);
    t->op = take(rows, 1);
}

static void release(struct trace *t)
{
    free(t->time);
    free(t->addr);
    free(t->pc);
    free(t->size);
    free(t->insns);
    free(t->hint);
    free(t->op);
}

static void copy(void *to, size_t at, size_t width, const struct cf_frame *f, unsigned column)
{
    const void *values = cf_values(f, column);
    if (values)
        memcpy((uint8_t *)to + at * width, values, f->rows * width);
}

/* Reads the file twice: how many rows there are, then what is in them. */
static int load(struct trace *t, char *path)
{
    size_t rows = 0;
    for (int pass = 0; pass < 2; pass++) {
        static const unsigned wanted[] = {CF_TIME, CF_ADDR, CF_PC, CF_SIZE, CF_INSNS, CF_OP};
        struct cf_reader *r = cf_reader_open(&path, 1);
        struct cf_frame *f;
        if (!r)
            return -1;
        for (size_t i = 0; pass && i < sizeof wanted / sizeof *wanted; i++)
            cf_reader_want(r, CF_ACCESS, wanted[i], CF_OPTIONAL);
        if (pass)
            allocate(t, rows);
        rows = 0;
        while (cf_reader_next(r, &f) > 0) {
            if (f->table != CF_ACCESS)
                continue;
            if (pass) {
                copy(t->time, rows, 8, f, CF_TIME);
                copy(t->addr, rows, 8, f, CF_ADDR);
                copy(t->pc, rows, 8, f, CF_PC);
                copy(t->size, rows, 4, f, CF_SIZE);
                copy(t->insns, rows, 4, f, CF_INSNS);
                copy(t->op, rows, 1, f, CF_OP);
            }
            rows += f->rows;
        }
        unsigned damages = cf_reader_damages(r);
        if (damages)
            fprintf(stderr, "bench_codec: %s\n", cf_reader_problem(r));
        cf_reader_close(r);
        if (damages || !rows)
            return -1;
    }
    return 0;
}

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Loops of 4 to 35 accesses that run 1 to 64 times; one access in 16 goes anywhere in 16 MiB. */
static void synthesize(struct trace *t, size_t rows)
{
    uint64_t seed = 88172645463325252u, time = 0;
    allocate(t, rows);
    for (size_t i = 0; i < rows;) {
        unsigned loop = random_number(&seed) % 200, length = 4 + loop * 7 % 32;
        uint64_t base = random_number(&seed) % (1 << 24);
        for (unsigned turn = random_number(&seed) % 64 + 1; turn && i < rows; turn--)
            for (unsigned q = 0; q < length && i < rows; q++, i++) {
                unsigned id = loop * 36 + q;
                t->time[i] = time += 1 + id % 3;
                t->pc[i] = 0x400000 + id * 5;
                t->size[i] = 1u << id % 4;
                t->op[i] = id % 4 ? CF_LOAD : CF_STORE;
                t->hint[i] = id + 1;
                t->addr[i] = 0x7f0000000000 + q * 65536 + base + turn * t->size[i];
                if (id % 16 == 0)
                    t->addr[i] = 0x600000000000 + random_number(&seed) % (1 << 24);
            }
    }
}

static size_t frame_rows(const struct trace *t, size_t at)
{
    return t->rows - at < CF_FILE_ROWS ? t->rows - at : CF_FILE_ROWS;
}

static int encode(struct cf_encoder *e, const struct trace *t, size_t at, int hinted,
                  struct cf_coded *out)
{
    const struct cf_values columns[] = {
        {CF_TIME, t->time + at, 0},   {CF_TID, NULL, 1234},       {CF_OP, t->op + at, 0},
        {CF_SIZE, t->size + at, 0},   {CF_ADDR, t->addr + at, 0}, {CF_PC, t->pc + at, 0},
        {CF_INSNS, t->insns + at, 0},
    };
    return cf_encoder_frame(e, CF_ACCESS, frame_rows(t, at), columns,
                            sizeof columns / sizeof *columns, hinted ? t->hint + at : NULL, NULL, 0,
                            out);
}

/* All columns of a frame, or the one, in pieces of so many rows. */
static double decode_rate(const struct trace *t, const struct kept *kept, size_t frames,
                          unsigned column, size_t piece)
{
    double best = 1e30;
    struct cf_decoder *d = cf_decoder_new();
    for (int run = 0; run < RUNS; run++) {
        double start = cpu_seconds();
        for (size_t f = 0; f < frames; f++) {
            cf_decoder_frame(d, kept[f].rows, kept[f].column, kept[f].count);
            for (size_t at = 0; cf_decoder_piece(d, at, piece); at += piece)
                for (unsigned i = 0; i < kept[f].count; i++) {
                    const struct cf_coded *c = &kept[f].column[i];
                    if (c->id == CF_CODE || (column && c->id != column))
                        continue;
                    if (!cf_decoder_column(d, i, NULL)) {
                        fprintf(stderr, "bench_codec: %s\n", cf_decoder_problem(d));
                        exit(1);
                    }
                }
        }
        double took = cpu_seconds() - start;
        best = took < best ? took : best;
    }
    cf_decoder_free(d);
    return (double)t->rows / best / 1e6;
}

static void wire_rates(const struct trace *t)
{
    static uint8_t scratch[CF_WIRE_ROWS * 4 + 8];
    double best[2] = {1e30, 1e30};
    struct cf_decoder *d = cf_decoder_new();
    size_t bytes = 0;
    for (int run = 0; run < RUNS; run++) {
        double took[2] = {0, 0};
        bytes = 0;
        for (size_t at = 0; at < t->rows; at += CF_WIRE_ROWS) {
            size_t n = t->rows - at < CF_WIRE_ROWS ? t->rows - at : CF_WIRE_ROWS;
            double a = cpu_seconds();
            struct cf_coded c = {.id = CF_TIME};
            cf_encode_wire(CF_U64, t->time + at, n, scratch, &c);
            double b = cpu_seconds();
            cf_decoder_frame(d, n, &c, 1);
            if (!cf_decoder_column(d, 0, NULL))
                exit(1);
            took[0] += b - a;
            took[1] += cpu_seconds() - b;
            bytes += c.bytes;
        }
        for (int i = 0; i < 2; i++)
            best[i] = took[i] < best[i] ? took[i] : best[i];
    }
    cf_decoder_free(d);
    printf("  wire, time alone: encode %.0f decode %.0f M/s, %.2f bytes a row\n",
           (double)t->rows / best[0] / 1e6, (double)t->rows / best[1] / 1e6,
           (double)bytes / (double)t->rows);
}

static void measure(const char *name, const struct trace *t, int level, int hinted)
{
    size_t frames = (t->rows + CF_FILE_ROWS - 1) / CF_FILE_ROWS;
    struct kept *kept = take(frames, sizeof *kept);
    struct cf_encoder *e = cf_encoder_new(level);
    double best = 1e30;
    for (int run = 0; run < RUNS; run++) {
        double took = 0;
        for (size_t f = 0; f < frames; f++) {
            struct kept *k = &kept[f];
            double start = cpu_seconds();
            int n = encode(e, t, f * CF_FILE_ROWS, hinted, k->column);
            took += cpu_seconds() - start;
            if (n < 0)
                exit(3);
            if (run)
                continue;
            size_t bytes = 0;
            for (int i = 0; i < n; i++)
                bytes += (k->column[i].bytes + 7u) / 8 * 8;
            k->rows = frame_rows(t, f * CF_FILE_ROWS);
            k->count = (unsigned)n;
            k->bytes = take(bytes + 8, 1);
            bytes = 0;
            for (int i = 0; i < n; i++) {
                if (k->column[i].bytes)
                    memcpy(k->bytes + bytes, k->column[i].data, k->column[i].bytes);
                bytes += (k->column[i].bytes + 7u) / 8 * 8;
            }
        }
        best = took < best ? took : best;
    }
    cf_encoder_free(e);
    double total = 0, part[CF_CODE + 1] = {0};
    for (size_t f = 0; f < frames; f++) {
        uint8_t *at = kept[f].bytes;
        for (unsigned i = 0; i < kept[f].count; i++) {
            struct cf_coded *c = &kept[f].column[i];
            c->data = at;
            at += (c->bytes + 7u) / 8 * 8;
            part[c->id] += c->bytes;
            total += c->bytes;
        }
    }
    double rows = (double)t->rows;
    printf("%s: %.4f bytes a record (code %.4f time %.4f op %.4f size %.4f insns %.4f pc %.4f addr "
           "%.4f)\n  level %d%s: encode %.0f; decode all %.0f (whole frames %.0f), addr %.0f, pc "
           "%.0f, time %.0f M/s\n",
           name, total / rows, part[CF_CODE] / rows, part[CF_TIME] / rows, part[CF_OP] / rows,
           part[CF_SIZE] / rows, part[CF_INSNS] / rows, part[CF_PC] / rows, part[CF_ADDR] / rows,
           level, hinted ? "" : " without hints", rows / best / 1e6,
           decode_rate(t, kept, frames, 0, CF_PIECE_ROWS),
           decode_rate(t, kept, frames, 0, CF_FILE_ROWS),
           decode_rate(t, kept, frames, CF_ADDR, CF_PIECE_ROWS),
           decode_rate(t, kept, frames, CF_PC, CF_PIECE_ROWS),
           decode_rate(t, kept, frames, CF_TIME, CF_PIECE_ROWS));
    wire_rates(t);
    for (size_t f = 0; f < frames; f++)
        free(kept[f].bytes);
    free(kept);
}

int main(int argc, char **argv)
{
    int option, level = 3, hinted = 1, status = 0;
    struct trace t;
    while ((option = getopt(argc, argv, "l:n")) != -1) {
        if (option == 'l')
            level = atoi(optarg);
        else if (option == 'n')
            hinted = 0;
        else
            return 2;
    }
    if (optind == argc) {
        synthesize(&t, 1 << 22);
        measure("synthetic", &t, level, hinted);
        release(&t);
    }
    for (int i = optind; i < argc; i++) {
        if (load(&t, argv[i]) < 0) {
            status = 1;
            continue;
        }
        measure(argv[i], &t, level, 0);
        release(&t);
    }
    return status;
}
