/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-heatmap - accesses (or cached lines) of each page over time: which memory is hot, and when.
 *
 * In: a stream, as a rule after cf-resolve, whose columns region and page name the pages. Without
 * them a page is address / 4096 in "[unresolved]". Out: CSV, one row a page and time bin that got
 * something; or a drawing where standard output is a terminal; and pictures into files.
 *
 * One pass. Memory: 8 bytes a page that was touched and fine time bin (four a bin) in which it
 * was, and 512 bytes for each 64 neighbouring pages; it depends on the pages and the number of
 * bins, not on the length of the trace. The end takes about 20 bytes more a page and final bin.
 * Counting is in heatmap/count.c; the pictures are in heatmap/render_*.c.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "formats/stream/cf.h"
#include "formats/program/cf_made.h"
#include "formats/program/cf_tool.h"

#include "filters/parts/heatmap/heat.h"
#include "filters/picture/output.h"

static const char usage[] =
    "Usage: cf-heatmap [OPTION]... [FILE]...\n"
    "Count the accesses of each page over time or, from snapshots, its cached lines. Writes\n"
    "CSV, or draws the map where standard output is a terminal.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -b, --bins N         at most N time bins, of equal width                        [200]\n"
    "  -w, --bin-width W    bins of W ticks of the clock instead\n"
    "      --time A-B       only from A to B, both included; also A+LENGTH, A-, -B\n"
    "      --from A, --to B the same as two options\n"
    "      --value WHAT     accesses, bytes, loads, stores, misses, cost            [accesses]\n"
    "      --op LIST        load, store, ifetch, prefetch, flush         [all but ifetch]\n"
    "      --all            count all operations, instruction fetches too\n"
    "      --region GLOB    only mappings whose name matches, such as '*heap*'\n"
    "  -n, --top N          only the N mappings with the largest sums [pictures 12, CSV all]\n"
    "      --table TABLE    access or line    [access, or line where there are no accesses]\n"
    "      --level N        from snapshots: only lines in cache level N\n"
    "      --csv, --term    CSV even to a terminal, the drawing even to a file\n"
    "      --png FILE       also a picture; - is standard output, then without CSV\n"
    "      --html FILE      also a page to explore in a browser, in one file\n"
    "      --size WxH       of the picture, in pixels                                [1200x800]\n"
    "      --scale SCALE    of the colours, log or linear                                 [log]\n"
    "  -q, --quiet          no progress, no hints\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-capture trace -- ls | cf-resolve | cf-heatmap --html map.html > map.csv\n";

enum value { ACCESSES, BYTES, LOADS, STORES, MISSES, COST };
static const char *const value_names[] = {"accesses", "bytes", "loads", "stores", "misses", "cost"};

enum {
    OPT_TIME = 256,
    OPT_FROM,
    OPT_TO,
    OPT_VALUE,
    OPT_OP,
    OPT_ALL,
    OPT_REGION,
    OPT_TABLE,
    OPT_LEVEL,
    OPT_SCALE,
};

struct options {
    uint32_t bins, top; /* top 0: not given */
    uint64_t width, from, to;
    enum value value;
    uint8_t ops[256]; /* 1 for each that counts */
    uint8_t levels[256];
    const char *region;
    unsigned table; /* 0: whatever comes */
    struct cf_output output;
    int linear, level_given, from_given;
};

/* Everything that the loop works on. */
struct work {
    struct cf_tool *tool;
    const struct options *o;
    struct cf_reader *reader;
    struct heat *accesses, *lines;
    uint64_t access_rows, line_rows, unresolved_rows;
    char *unit, *command;
    int units_differ, no_misses;
    struct cf_mix mix;
    int no_place[2];                /* accesses, lines came without an address */
    uint64_t segment, line_segment; /* of the stream; the last that had lines */
    unsigned line_segments;         /* that had any, 2 = several */
    uint64_t amount[HEAT_SLICE];
    uint8_t counts[HEAT_SLICE];
};

static void parse_options(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    static const struct option table[] = {
        {"bins", required_argument, NULL, 'b'},
        {"bin-width", required_argument, NULL, 'w'},
        {"top", required_argument, NULL, 'n'},
        {"time", required_argument, NULL, OPT_TIME},
        {"from", required_argument, NULL, OPT_FROM},
        {"to", required_argument, NULL, OPT_TO},
        {"value", required_argument, NULL, OPT_VALUE},
        {"op", required_argument, NULL, OPT_OP},
        {"all", no_argument, NULL, OPT_ALL},
        {"region", required_argument, NULL, OPT_REGION},
        {"table", required_argument, NULL, OPT_TABLE},
        {"level", required_argument, NULL, OPT_LEVEL},
        {"scale", required_argument, NULL, OPT_SCALE},
        CF_PICTURE_OPTIONS,
        CF_TERM_OPTIONS,
        CF_INPUT_OPTIONS,
    };
    int option, all = 0, ops_given = 0;

    *o = (struct options){.bins = 200, .to = UINT64_MAX, .output = {.width = 1200, .height = 800}};
    while ((option = getopt_long(argc, argv, "b:w:n:" CF_COMMON_LETTERS, table, NULL)) != -1) {
        switch (option) {
        case 'b':
            o->bins = (uint32_t)cf_parse_u64(t, "--bins", optarg, 1, 1 << 16);
            break;
        case 'w':
            o->width = cf_parse_u64(t, "--bin-width", optarg, 1, UINT64_MAX);
            break;
        case 'n':
            o->top = (uint32_t)cf_parse_u64(t, "--top", optarg, 1, UINT32_MAX);
            break;
        case OPT_TIME:
            cf_parse_range(t, "--time", optarg, &o->from, &o->to);
            o->from_given = optarg[0] != '-';
            break;
        case OPT_FROM:
            o->from = cf_parse_u64(t, "--from", optarg, 0, UINT64_MAX);
            o->from_given = 1;
            break;
        case OPT_TO:
            o->to = cf_parse_u64(t, "--to", optarg, 0, UINT64_MAX);
            break;
        case OPT_VALUE:
            o->value =
                cf_parse_name(t, "--value", optarg, value_names, sizeof *value_names, COST + 1);
            break;
        case OPT_OP:
            cf_parse_ops(t, "--op", optarg, o->ops);
            ops_given = 1;
            break;
        case OPT_ALL:
            all = 1;
            break;
        case OPT_REGION:
            o->region = optarg;
            break;
        case OPT_TABLE:
            o->table = cf_parse_word(t, "--table", optarg, "access line") ? CF_LINE : CF_ACCESS;
            break;
        case OPT_LEVEL:
            o->levels[cf_parse_u64(t, "--level", optarg, 0, 255)] = 1;
            o->level_given = 1;
            break;
        case OPT_SCALE:
            o->linear = cf_parse_word(t, "--scale", optarg, "log linear") == 1;
            break;
        default:
            cf_output_option(t, &o->output, option, optarg);
        }
    }
    if (o->from > o->to)
        cf_die(t, CF_EXIT_USAGE, "--from: the time ends before it begins");
    if (all || !ops_given) {
        memset(o->ops, 1, sizeof o->ops);
        o->ops[CF_IFETCH] = (uint8_t)all;
    }
    if (o->value == LOADS || o->value == STORES) {
        unsigned only = o->value == LOADS ? CF_LOAD : CF_STORE;
        for (unsigned op = 0; op < 256; op++)
            o->ops[op] = o->ops[op] && op == only;
    }
    /* times that are asked for are times of accesses: snapshots have numbers */
    if (!o->table && (o->from || o->to != UINT64_MAX || o->value != ACCESSES))
        o->table = CF_ACCESS;
    if (o->table == CF_LINE && o->value != ACCESSES)
        cf_die(t, CF_EXIT_USAGE, "--value: of snapshots only lines are counted");
    cf_output_check(t, &o->output);
}

static const char *region_name(void *arg, uint32_t region)
{
    const char *name = region ? cf_reader_text(arg, region) : "";

    return *name ? name : "[unresolved]";
}

static int region_wanted(void *arg, uint32_t region)
{
    const struct work *w = arg;

    return fnmatch(w->o->region, region_name(w->reader, region), 0) == 0;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* What the rows of a slice count, where that is not 1. */
static const uint64_t *amounts(struct work *w, const struct cf_frame *f, uint32_t at, uint32_t n)
{
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);
    const uint32_t *each = w->o->value == BYTES  ? cf_u32(f, CF_SIZE)
                           : w->o->value == COST ? cf_u32(f, CF_COST)
                                                 : NULL;

    if (each && weight) {
        for (uint32_t i = 0; i < n; i++)
            w->amount[i] = times(each[at + i], weight[at + i]);
    } else if (each) {
        for (uint32_t i = 0; i < n; i++)
            w->amount[i] = each[at + i];
    } else {
        return weight ? weight + at : NULL;
    }
    return w->amount;
}

/* Which rows of a slice are misses of an operation that counts. */
static const uint8_t *find_misses(struct work *w, const struct cf_frame *f, uint32_t at, uint32_t n)
{
    const uint8_t *hit = cf_u8(f, CF_HIT), *class = cf_u8(f, CF_CLASS), *op = cf_u8(f, CF_OP);
    const uint8_t *level = hit || class ? NULL : cf_u8(f, CF_LEVEL);

    if (!hit && !class && !level)
        w->no_misses = 1;
    for (uint32_t i = 0; i < n; i++) {
        int miss = (hit && hit[at + i] == CF_FROM_MEMORY) || (class && class[at + i]) ||
                   (level && level[at + i] == CF_FROM_MEMORY);
        w->counts[i] = miss && (!op || w->o->ops[op[at + i]]);
    }
    return w->counts;
}

static void check(struct work *w, int status, int snapshots)
{
    if (status == HEAT_TOO_MANY_BINS && snapshots)
        cf_die(w->tool, CF_EXIT_INPUT,
               "the numbers of snapshots span more than %d: choose some by cf-select",
               HEAT_MOST_BINS);
    if (status == HEAT_TOO_MANY_BINS)
        cf_die(w->tool, CF_EXIT_USAGE,
               "--bin-width: the stream spans more than %d bins: choose wider ones, or --bins",
               HEAT_MOST_BINS);
    if (status)
        cf_out_of_memory(w->tool);
}

/* How many of the first rows are of the same snapshot. A snapshot has thousands of them. */
static uint32_t of_one_snapshot(const uint32_t *snapshot, uint32_t rows)
{
    enum { BLOCK = 64 };
    uint32_t n = 0;

    for (; rows - n >= BLOCK; n += BLOCK) {
        uint32_t other = 0;

        for (unsigned i = 0; i < BLOCK; i++)
            other |= snapshot[n + i] ^ *snapshot;
        if (other)
            break;
    }
    while (n < rows && snapshot[n] == *snapshot)
        n++;
    return n;
}

/* Addresses of lines: of those of which only the physical one is known, that. */
static const uint64_t *addresses(struct work *w, const uint64_t *addr, const uint64_t *phys,
                                 uint32_t n)
{
    uint32_t i = 0;

    while (i < n && addr[i])
        i++;
    if (i == n)
        return addr;
    for (i = 0; i < n; i++)
        w->amount[i] = addr[i] ? addr[i] : phys[i];
    return w->amount;
}

static void add_frame(struct work *w, const struct cf_frame *f)
{
    static const uint8_t as_is[256] = {0, 1};
    const uint64_t *time = cf_u64(f, CF_TIME), *addr = cf_u64(f, CF_ADDR);
    const uint64_t *phys = cf_u64(f, CF_PHYS);
    const uint32_t *region = cf_u32(f, CF_REGION), *page = cf_u32(f, CF_PAGENO);
    const uint32_t *snapshot = cf_u32(f, CF_SNAP);
    const uint8_t *op = cf_u8(f, CF_OP), *level = cf_u8(f, CF_LEVEL);
    struct heat_rows r = {.from = w->o->from, .to = w->o->to};

    if (!addr)
        addr = phys;
    if (!addr && !(region && page)) {
        w->no_place[f->table == CF_LINE] = 1;
        return;
    }
    if (!region || !page)
        w->unresolved_rows += f->rows;
    for (uint32_t at = 0, n; at < f->rows; at += n) {
        n = f->rows - at < HEAT_SLICE ? f->rows - at : HEAT_SLICE;
        if (f->table == CF_LINE && snapshot)
            n = of_one_snapshot(snapshot + at, n);
        r.rows = n;
        r.region = region && page ? region + at : NULL;
        r.page = page ? page + at : NULL;
        r.addr = addr ? addr + at : NULL;
        if (f->table == CF_ACCESS) {
            r.times = time ? time + at : NULL;
            r.amount = amounts(w, f, at, n);
            r.kind = op ? op + at : NULL;
            r.pass = w->o->ops;
            if (w->o->value == MISSES) {
                r.kind = find_misses(w, f, at, n);
                r.pass = as_is;
            }
            check(w, heat_add(w->accesses, &r), 0);
        } else {
            r.time = snapshot ? snapshot[at] : 0;
            if (addr && phys && addr != phys)
                r.addr = addresses(w, addr + at, phys + at, n);
            r.kind = w->o->level_given && level ? level + at : NULL;
            r.pass = w->o->levels;
            check(w, heat_add(w->lines, &r), 1);
        }
    }
    *(f->table == CF_ACCESS ? &w->access_rows : &w->line_rows) += f->rows;
    if (f->table == CF_LINE && w->line_segments < 2 && w->line_segment != w->segment) {
        w->line_segments++;
        w->line_segment = w->segment;
    }
}

static void note_header(struct work *w, const struct cf_header *h)
{
    const char *unit = h->clock_unit ? h->clock_unit : "";

    cf_picture_command(w->tool, &w->command, h->command);
    w->segment++;
    cf_mix_check(&w->mix, w->tool, h);
    if (!w->unit) {
        w->unit = cf_need(w->tool, strdup(unit));
    } else if (strcmp(w->unit, unit)) {
        w->units_differ = 1;
    }
}

static void want_columns(struct work *w)
{
    static const unsigned both[] = {CF_ADDR, CF_PHYS, CF_REGION, CF_PAGENO};
    const struct options *o = w->o;

    for (unsigned i = 0; i < sizeof both / sizeof both[0]; i++) {
        cf_reader_want(w->reader, CF_ACCESS, both[i], CF_OPTIONAL);
        cf_reader_want(w->reader, CF_LINE, both[i], CF_OPTIONAL);
    }
    cf_reader_want(w->reader, CF_ACCESS, CF_TIME, CF_OPTIONAL);
    cf_reader_want(w->reader, CF_ACCESS, CF_OP, CF_OPTIONAL);
    cf_reader_want(w->reader, CF_ACCESS, CF_WEIGHT, CF_OPTIONAL);
    cf_reader_want(w->reader, CF_LINE, CF_SNAP, CF_OPTIONAL);
    if (o->level_given)
        cf_reader_want(w->reader, CF_LINE, CF_LEVEL, CF_REQUIRED);
    if (o->value == BYTES)
        cf_reader_want(w->reader, CF_ACCESS, CF_SIZE, CF_REQUIRED);
    if (o->value == COST) {
        w->mix.column[0] = CF_COST;
        cf_reader_want(w->reader, CF_ACCESS, CF_COST, CF_REQUIRED);
    }
    if (o->value == MISSES) {
        w->mix.column[0] = CF_HIT;
        w->mix.column[1] = CF_CLASS;
        cf_reader_want(w->reader, CF_ACCESS, CF_HIT, CF_OPTIONAL);
        cf_reader_want(w->reader, CF_ACCESS, CF_CLASS, CF_OPTIONAL);
        cf_reader_want(w->reader, CF_ACCESS, CF_LEVEL, CF_OPTIONAL);
    }
    cf_reader_unify(w->reader);
    cf_reader_pieces(w->reader);
    if (o->table == CF_ACCESS && (o->from || o->to != UINT64_MAX))
        cf_reader_range(w->reader, o->from, o->to);
}

static void make_heats(struct work *w)
{
    const struct options *o = w->o;
    uint64_t width = o->width;

    /* with both ends known, the bins can be as wide as they have to be from the beginning */
    if (!width && o->from_given && o->to != UINT64_MAX)
        width = (o->to - o->from) / o->bins + 1;
    w->accesses = cf_need(w->tool, heat_new(o->bins, width, o->from));
    w->lines = cf_need(w->tool, heat_new(1, 1, 0));
    if (o->region) {
        heat_filter(w->accesses, region_wanted, w);
        heat_filter(w->lines, region_wanted, w);
    }
}

/* ---- output ---- */

static int write_png(const void *map, FILE *out, uint32_t width, uint32_t height)
{
    return heat_png(map, out, width, height);
}

static int write_html(const void *map, FILE *out)
{
    return heat_html(map, out);
}

/* The table whose rows could not be counted although they are what is asked for, or NULL. */
static const char *lacks_place(const struct work *w)
{
    if (w->no_place[0])
        return "access";
    return w->no_place[1] && !w->access_rows ? "line" : NULL;
}

static void hints(const struct work *w)
{
    const char *placeless = lacks_place(w);

    if (placeless)
        cf_warn(w->tool, "table %s has no column 'addr': what made the stream did not record it",
                placeless);
    if (w->no_misses && w->access_rows)
        cf_warn(w->tool, "no column hit, class or level tells of misses");
    if (w->tool->quiet)
        return;
    if (w->unresolved_rows)
        cf_warn(w->tool,
                "%llu rows have no mapping: pages are address / 4096; run cf-resolve "
                "before to see mappings",
                (unsigned long long)w->unresolved_rows);
    if (w->line_segments > 1)
        cf_warn(w->tool, "snapshots of several streams: those with the same number are added up");
    if (w->units_differ)
        cf_warn(w->tool, "the streams count time in different units: their times do not compare");
}

static void output(struct work *w)
{
    const struct options *o = w->o;
    int snapshots = o->table ? o->table == CF_LINE : !w->access_rows && w->line_rows;
    struct cf_terminal terminal = cf_terminal_here();
    struct heat_map map = {0};
    int drawn = 0;

    check(w, heat_finish(snapshots ? w->lines : w->accesses, region_name, w->reader, &map),
          snapshots);
    map.what = snapshots ? "lines" : o->value == COST ? "cycles" : value_names[o->value];
    map.unit = snapshots ? "snapshot" : w->unit ? w->unit : "";
    map.command = w->command ? w->command : "";
    map.top = o->top ? o->top : 12;
    map.linear = o->linear;
    cf_output_pictures(w->tool, &o->output, &map, write_png, write_html);
    switch (cf_output_stdout(w->tool, &o->output)) {
    case CF_STDOUT_PICTURE:
        break;
    case CF_STDOUT_DRAWING:
        drawn = heat_term(&map, stdout, &terminal);
        break;
    case CF_STDOUT_CSV:
        heat_csv(&map, stdout, o->top ? o->top : UINT32_MAX);
    }
    if (drawn)
        cf_die(w->tool, CF_EXIT_ENVIRONMENT, "standard output: %s", strerror(errno));
    heat_map_free(&map);
}

int main(int argc, char **argv)
{
    static struct work w;
    struct options o;
    struct cf_tool tool;
    struct cf_frame *f;
    int status;

    cf_tool_init(&tool, argc, argv, "cf-heatmap", usage);
    parse_options(&tool, &o, argc, argv);
    w.tool = &tool;
    w.o = &o;
    w.reader = cf_tool_reader(&tool, argv + optind, argc - optind);
    want_columns(&w);
    make_heats(&w);
    while (cf_reader_next(w.reader, &f) > 0) {
        if (f->table == CF_HEADER)
            note_header(&w, f->header);
        else if ((f->table == CF_ACCESS || f->table == CF_LINE) &&
                 (!o.table || o.table == f->table))
            add_frame(&w, f);
        cf_tool_progress(&tool, w.reader);
    }
    hints(&w);
    output(&w);
    status = cf_tool_finish(&tool, w.reader, NULL);
    if (((w.no_misses && w.access_rows) || lacks_place(&w)) && status == CF_EXIT_OK)
        status = CF_EXIT_INPUT;
    cf_mix_free(&w.mix);
    heat_free(w.accesses);
    heat_free(w.lines);
    free(w.unit);
    free(w.command);
    return status;
}
