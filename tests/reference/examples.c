/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * examples.c - what the manuals say, by hand: the model must do it before it judges programs, and
 * the programs are compared with it on the same machines.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

/* A level: what is not given here is non-inclusive, private, LRU, write-back and allocates. */
#define CACHE(k, s, w, l, d, ...)                                                                  \
    {                                                                                              \
        .kind = (k), .sets = (s), .ways = (w), .line = (l), .depth = (d), __VA_ARGS__              \
    }
#define COUNT(l, c, n)                                                                             \
    {                                                                                              \
        l, c, n                                                                                    \
    }

struct example {
    const char *name;
    unsigned cores;
    struct level level[4];
    const char *rows;  /* "OP ADDRESS SIZE CPU", comma; process is the CPU with `processes` */
    const char *hit;   /* by cf-cache; NULL: not looked at */
    const char *class; /* by cf-classify */
    unsigned walk;     /* before them, so many loads of 8 bytes, 64 apart from 16 MiB on */
    int processes;
    struct {
        unsigned level; /* the number of levels for memory */
        enum count what;
        uint64_t n;
    } counts[6];
};

static const struct example examples[] = {
    {.name = "an access that straddles lines has its slowest part, wherever the stream is cut",
     .level = {CACHE(UNIFIED, 8, 2, 64, 1), CACHE(UNIFIED, 8192, 16, 64, 2)},
     .walk = 8191,
     .rows = "load 0xfffffc 8 0",
     .hit = "255"},
    {.name = "loads are classified at the data cache, not at the unified level for fetches too",
     .level = {CACHE(DATA, 1, 2, 64, 1), CACHE(UNIFIED, 16, 1, 64, 2)},
     .rows = "load 0 1 0,load 0x400 1 0,load 0x40 1 0,load 0 1 0",
     .class = "1 1 1 2"},
    {.name =
         "fetches are classified at the instruction cache, not at the unified level for data too",
     .level = {CACHE(INSTRUCTION, 1, 2, 64, 1), CACHE(UNIFIED, 16, 1, 64, 2)},
     .rows = "ifetch 0 1 0,ifetch 0x400 1 0,ifetch 0x40 1 0,ifetch 0 1 0",
     .class = "1 1 1 2"},
    {.name = "a flush reaches the fully associative cache beside an instruction cache",
     .level = {CACHE(INSTRUCTION, 4, 2, 64, 1), CACHE(DATA, 4, 2, 64, 1)},
     .rows = "ifetch 0x1000 4 0,flush 0x1000 4 0,ifetch 0x1000 4 0",
     .class = "1 0 2"},
    {.name =
         "lines that an instruction cache loses to an inclusive level at the depth of the data's",
     .cores = 2,
     .level = {CACHE(DATA, 1, 2, 64, 2), CACHE(INSTRUCTION, 1, 2, 64, 1),
               CACHE(INSTRUCTION, 1, 1, 64, 2, .inclusion = INCLUSIVE)},
     .rows = "ifetch 0 1 0,ifetch 64 1 0,ifetch 0 1 0",
     .class = "1 1 3"},
    {.name = "what an instruction cache evicts is no copy beside a modified line",
     .cores = 2,
     .level = {CACHE(INSTRUCTION, 4, 1, 64, 1), CACHE(DATA, 16, 4, 64, 1),
               CACHE(UNIFIED, 8, 4, 64, 2, .inclusion = EXCLUSIVE),
               CACHE(UNIFIED, 64, 16, 64, 3, .shared_by = 2)},
     .rows = "ifetch 0x402 4 0,store 0x40a 4 1,ifetch 0x27 4 0,store 0x40a 4 1,load 0x420 4 0",
     .hit = "255 3 255 1 3"},
    {.name = "a prefetch between two references to a line is not passed over",
     .level = {CACHE(UNIFIED, 1, 2, 64, 1, .prefetcher = NEXT_LINE)},
     .rows = "load 0x1000 4 0,load 0x1008 4 0,load 0x1fc0 4 0,load 0x1000 4 0",
     .hit = "255 1 255 1"},
    {.name = "the last line of the address space of a second process",
     .cores = 2,
     .level = {CACHE(UNIFIED, 1, 2, 4, 1)},
     .processes = 1,
     .rows = "load 0 1 0,load 0xfffffffffffffffc 4 1,load 0xfffffffffffffffc 4 1",
     .hit = "255 255 1"},
    {.name = "a store that no level takes in is a write of memory",
     .level = {CACHE(UNIFIED, 1, 2, 64, 1, .no_allocate = 1)},
     .rows = "store 0 8 0,load 0x40 8 0,store 0x40 8 0",
     .hit = "255 255 1",
     .counts = {COUNT(1, STORES, 0), COUNT(1, WRITES, 1), COUNT(1, LOADS, 1)}},
    {.name = "a dirty line that only passes is a write and a write-back",
     .level = {CACHE(UNIFIED, 1, 1, 64, 1), CACHE(UNIFIED, 1, 1, 64, 2, .no_allocate = 1)},
     .rows = "store 0 8 0,load 0x40 8 0",
     .hit = "255 255",
     .counts = {COUNT(1, WRITES, 1), COUNT(1, WRITE_MISSES, 1), COUNT(1, WRITEBACKS, 1),
                COUNT(2, WRITES, 1)}},
    {.name = "a store that is only passed on is neither",
     .level = {CACHE(UNIFIED, 1, 1, 64, 1, .no_allocate = 1),
               CACHE(UNIFIED, 1, 1, 64, 2, .no_allocate = 1)},
     .rows = "store 0 8 0",
     .hit = "255",
     .counts = {COUNT(1, STORES, 1), COUNT(1, WRITES, 0), COUNT(1, WRITEBACKS, 0),
                COUNT(2, WRITES, 1)}},
    {.name = "a dirty line that is shorter than those of the next level has the rest read first",
     .level = {CACHE(UNIFIED, 1, 1, 64, 1), CACHE(UNIFIED, 1, 1, 128, 2)},
     .rows = "store 0 8 0,load 0x100 8 0",
     .hit = "255 255",
     .counts = {COUNT(1, WRITES, 1), COUNT(1, WRITE_MISSES, 1), COUNT(2, LOADS, 2),
                COUNT(2, STORES, 1), COUNT(2, WRITES, 0)}},
    {.name = "a load moves a dirty line from an exclusive shared level, and takes it from others",
     .cores = 2,
     .level = {CACHE(UNIFIED, 1, 1, 64, 1),
               CACHE(UNIFIED, 1, 4, 64, 2, .shared_by = 2, .inclusion = EXCLUSIVE)},
     .rows = "store 0 8 0,load 0x40 8 0,load 0 8 1,load 0 8 0",
     .hit = "255 255 2 2",
     .counts = {COUNT(0, INVALIDATIONS, 1), COUNT(2, WRITES, 0)}},
    {.name = "an instruction cache asks no other core",
     .cores = 2,
     .level = {CACHE(INSTRUCTION, 4, 2, 64, 1), CACHE(DATA, 4, 2, 64, 1),
               CACHE(UNIFIED, 64, 4, 64, 2, .shared_by = 2)},
     .rows = "store 0 8 1,ifetch 0 4 0",
     .hit = "255 2",
     .counts = {COUNT(1, WRITEBACKS, 0), COUNT(2, WRITES, 0)}},
    {.name = "a fetch that leaves a unified level does",
     .cores = 2,
     .level = {CACHE(INSTRUCTION, 4, 2, 64, 1), CACHE(DATA, 4, 2, 64, 1),
               CACHE(UNIFIED, 16, 4, 64, 2), CACHE(UNIFIED, 64, 4, 64, 3, .shared_by = 2)},
     .rows = "store 0 8 1,ifetch 0 4 0",
     .hit = "255 3",
     .counts = {COUNT(1, WRITEBACKS, 1), COUNT(3, WRITES, 1)}},
    {.name = "so does one that goes another way than data from there",
     .cores = 2,
     .level = {CACHE(UNIFIED, 4, 2, 64, 1), CACHE(INSTRUCTION, 4, 2, 64, 2, .shared_by = 2),
               CACHE(DATA, 4, 2, 64, 2), CACHE(UNIFIED, 64, 4, 64, 3, .shared_by = 2)},
     .rows = "store 0 8 1,ifetch 0 4 0,store 0 8 1,load 0 8 0",
     .hit = "255 3 1 3",
     .counts = {COUNT(0, WRITEBACKS, 2), COUNT(0, INVALIDATIONS, 1)}},
    {.name = "what an instruction cache evicts enters no exclusive level while another core has it "
             "dirty",
     .cores = 2,
     .level = {CACHE(INSTRUCTION, 1, 1, 16, 1), CACHE(DATA, 4, 4, 16, 1),
               CACHE(UNIFIED, 16, 4, 16, 2, .shared_by = 2, .inclusion = EXCLUSIVE)},
     .rows = "ifetch 0x1000 4 0,store 0x1000 4 1,ifetch 0x2000 4 0,ifetch 0x1000 4 0",
     .hit = "255 255 255 255",
     .counts = {COUNT(2, WRITES, 1), COUNT(2, WRITE_MISSES, 1)}},
    {.name = "a flush of two lines finds both before one takes the other along, in a longer line",
     .level = {CACHE(UNIFIED, 4, 2, 64, 1), CACHE(UNIFIED, 4, 4, 64, 2, .inclusion = INCLUSIVE),
               CACHE(UNIFIED, 12, 1, 128, 3, .inclusion = INCLUSIVE)},
     .rows = "store 0x103e 8 0,flush 0x103e 8 0,load 0x103e 8 0",
     .hit = "255 1 255",
     .counts = {COUNT(0, FLUSHES, 1), COUNT(0, BACK_INVALIDATIONS, 1), COUNT(3, WRITES, 1)}},
    {.name = "bit-plru: the last bit that is set clears the others",
     .level = {CACHE(UNIFIED, 1, 4, 64, 1, .policy = CF_BIT_PLRU)},
     .rows = "load 0 1 0,load 64 1 0,load 128 1 0,load 192 1 0,load 256 1 0,load 64 1 0,"
             "load 320 1 0,load 192 1 0,load 128 1 0,load 64 1 0,load 256 1 0",
     .hit = "255 255 255 255 255 1 255 1 255 1 255"},
    {.name = "nru: bits are cleared when a way is wanted and none is clear",
     .level = {CACHE(UNIFIED, 1, 4, 64, 1, .policy = CF_NRU)},
     .rows = "load 0 1 0,load 64 1 0,load 128 1 0,load 192 1 0,load 256 1 0,load 64 1 0,"
             "load 320 1 0,load 192 1 0,load 128 1 0,load 256 1 0,load 64 1 0",
     .hit = "255 255 255 255 255 1 255 1 255 255 255"},
    {.name = "srrip: 2 for what comes in, 0 for a hit, and the lowest 3 goes",
     .level = {CACHE(UNIFIED, 1, 4, 64, 1, .policy = CF_SRRIP)},
     .rows = "load 0 1 0,load 64 1 0,load 128 1 0,load 192 1 0,load 64 1 0,load 256 1 0,"
             "load 320 1 0,load 192 1 0,load 384 1 0,load 256 1 0,load 64 1 0",
     .hit = "255 255 255 255 1 255 255 1 255 255 1"},
    {.name = "a free way is taken before any line is replaced",
     .level = {CACHE(UNIFIED, 1, 2, 64, 1, .policy = CF_NRU)},
     .rows =
         "load 0 1 0,load 64 1 0,flush 64 1 0,load 128 1 0,load 0 1 0,load 192 1 0,load 128 1 0",
     .hit = "255 255 1 255 1 255 1",
     .counts = {COUNT(0, EVICTIONS, 1)}},
    {.name = "stride: the table of pages is direct-mapped, a page 64 further takes the place",
     .level = {CACHE(UNIFIED, 64, 4, 64, 1, .prefetcher = STRIDE)},
     .rows = "load 0 1 0,load 64 1 0,load 0x40000 1 0,load 128 1 0,load 192 1 0",
     .hit = "255 255 255 255 255",
     .counts = {COUNT(0, PREFETCHES_ISSUED, 0)}},
    {.name = "stride: a page 63 further does not",
     .level = {CACHE(UNIFIED, 64, 4, 64, 1, .prefetcher = STRIDE)},
     .rows = "load 0 1 0,load 64 1 0,load 0x3f000 1 0,load 128 1 0,load 192 1 0",
     .hit = "255 255 255 255 1",
     .counts = {COUNT(0, PREFETCHES_ISSUED, 2), COUNT(0, PREFETCHES_USEFUL, 1)}},
};

static const char *const ops[] = {"", "load", "store", "ifetch", "prefetch", "flush"};

static void make_run(struct run *r, const struct example *e)
{
    unsigned n = 0;

    memset(r, 0, sizeof(*r));
    r->machine.cores = e->cores ? e->cores : 1;
    r->machine.seed = 1;
    for (unsigned i = 0; i < 4 && e->level[i].ways; i++) {
        r->machine.level[i] = e->level[i];
        if (!r->machine.level[i].shared_by)
            r->machine.level[i].shared_by = 1;
        r->machine.levels++;
    }
    r->classify_level = e->class ? -1 : -2;
    r->stream = (struct stream){.has_op = 1, .has_size = 1, .has_cpu = 1, .has_pid = e->processes};
    r->stream.row = calloc(e->walk + strlen(e->rows), sizeof(*r->stream.row));
    if (!r->stream.row)
        abort();
    for (; n < e->walk; n++)
        r->stream.row[n] = (struct row){.op = LOAD, .addr = 0x1000000 + n * 64, .size = 8};
    for (const char *s = e->rows; s; s = (s = strchr(s, ',')) ? s + 1 : NULL) {
        struct row *row = &r->stream.row[n++];
        char *end;

        for (enum op op = LOAD; op < OPS; op++)
            if (strncmp(s, ops[op], strlen(ops[op])) == 0 && s[strlen(ops[op])] == ' ')
                row->op = (uint8_t)op;
        row->addr = strtoull(strchr(s, ' '), &end, 0);
        row->size = (uint32_t)strtoul(end, &end, 10);
        row->cpu = (uint32_t)strtoul(end, &end, 10);
        row->pid = 1 + row->cpu;
    }
    r->stream.rows = n;
}

/* Are the last values of the column those of the text? */
static int ends_with(const uint8_t *values, unsigned rows, const char *text)
{
    char got[256] = "";
    unsigned n = 1;

    for (const char *s = text; (s = strchr(s, ' ')); s++)
        n++;
    for (unsigned i = rows - n; i < rows; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u", i > rows - n ? " " : "",
                 values[i]);
    return strcmp(got, text) == 0;
}

int check_example(unsigned i, const char **name, char *what, size_t size)
{
    const struct example *e = &examples[i];
    struct run r;
    uint8_t *hit, *class;
    struct classes *c;
    struct model *m;
    int good = 1;

    if (i >= sizeof(examples) / sizeof(*examples))
        return -1;
    *name = e->name;
    make_run(&r, e);
    hit = calloc(r.stream.rows, 1);
    class = calloc(r.stream.rows, 1);
    if (!hit || !class)
        abort();
    c = e->class ? classes_new(&r.machine, -1) : NULL;
    m = model_new(&r.machine, c ? classes_see : NULL, c);
    run_model(m, c, &r, hit, class);
    if (e->hit && !ends_with(hit, r.stream.rows, e->hit))
        good = !snprintf(what, size, "the model: hit is not %s", e->hit);
    if (e->class && !ends_with(class, r.stream.rows, e->class))
        good = !snprintf(what, size, "the model: class is not %s", e->class);
    for (unsigned k = 0; k < 6; k++)
        if (model_counts(m, e->counts[k].level)[e->counts[k].what] != e->counts[k].n &&
            (e->counts[k].level || e->counts[k].what || e->counts[k].n))
            good = !snprintf(what, size, "the model: %s of level %u is not %u",
                             count_names[e->counts[k].what], e->counts[k].level,
                             (unsigned)e->counts[k].n);
    good = good && compare_run(&r, what, size) == 0;
    model_free(m);
    classes_free(c);
    free(hit);
    free(class);
    free(r.stream.row);
    return good;
}
