/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-resolve - says whose every access is: mapping and page, heap object and where it was
 * allocated, global variable, function and source line.
 *
 * In: a stream with accesses, and the mappings, heap objects, tasks and call stacks that explain
 * them. Out: the same, with more columns in the tables access and object.
 *
 * Rows of the other tables come before the accesses of their time, but maybe long before; they wait
 * in queues until the accesses have come as far. Memory: the mappings and objects that live at a
 * time, each distinct pc, file, symbol and call stack, and the queues: what happens within the span
 * of one frame of accesses, and never more than 16 M events of a kind (see resolve/timeline.c); at
 * all times some 18 MB for what the last accesses and pcs found, and for the kinds of a frame.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "filters/parts/resolve/columns.h"
#include "formats/stream/cf.h"
#include "formats/program/cf_options.h"
#include "formats/together/cf_processes.h"

static const char usage[] =
    "Usage: cf-resolve [OPTION]... [FILE]...\n"
    "Add mapping, page, heap object, allocation site, variable, function and source line to\n"
    "each access, and what applies of these to each cached line and heap object.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "  -a, --add LIST       which columns, comma-separated, of: region page object site symbol\n"
    "                       function source inlined  [all that the stream has the tables for]\n"
    "  -p, --page-size N    bytes in a page, a power of two  [4096]\n"
    "      --physical[=OFFSET]  mappings are found by physical address plus OFFSET, and whose\n"
    "                       they are, as without an MMU or where it maps all alike  [0]\n"
    "      --site-depth N   functions in an allocation site, with its callers  [1]\n"
    "      --skip NAME      never an allocation site: name the caller instead; may be repeated\n"
    "      --no-inline      name the function that code was inlined into, not the inlined one\n"
    "      --path-parts N   components of a source path to show, 0 for all  [2]\n"
    "      --sysroot DIR    the observed machine's files are below DIR\n"
    "      --debug-dir DIR  separate debug files are below DIR (and /usr/lib/debug)\n"
    "      --trust          take names from files that are another build than was recorded\n"
    "      --recording      where the input is cut off, keep FILE.partial and not FILE\n"
    "      --columns A,B    hand on only these columns of accesses, and those that are added\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "  -q, --quiet          no summary, no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "A name that neither the stream nor a file determines stays empty; nothing is guessed. Code\n"
    "without a known function has its place instead, such as gzip+0x2f0a.\n"
    "\n"
    "Examples:\n"
    "  cf-capture trace -- gzip -k file | cf-resolve | cf-rank --by function\n"
    "  cf-resolve --add region,page trace.cf | cf-heatmap > pages.csv\n";

static void process(struct state *s)
{
    static const unsigned wants[][2] = {
        {CF_TASK, CF_TIME},     {CF_TASK, CF_PID},        {CF_TASK, CF_TID},
        {CF_TASK, CF_OP},       {CF_TASK, CF_PARENT},     {CF_MAP, CF_TIME},
        {CF_MAP, CF_PID},       {CF_MAP, CF_OP},          {CF_MAP, CF_START},
        {CF_MAP, CF_STOP},      {CF_MAP, CF_OFFSET},      {CF_MAP, CF_PERMS},
        {CF_MAP, CF_LABEL},     {CF_MAP, CF_BUILD},       {CF_STACK, CF_PID},
        {CF_STACK, CF_PC},      {CF_STACK, CF_PARENT},    {CF_STACK, CF_STACK_ID},
        {CF_OBJECT, CF_TIME},   {CF_OBJECT, CF_PID},      {CF_OBJECT, CF_OP},
        {CF_OBJECT, CF_ADDR},   {CF_OBJECT, CF_BYTES},    {CF_OBJECT, CF_STACK_ID},
        {CF_ACCESS, CF_PID},    {CF_ACCESS, CF_OP},       {CF_ACCESS, CF_ADDR},
        {CF_SNAPSHOT, CF_SNAP}, {CF_SNAPSHOT, CF_TIME},   {CF_LINE, CF_SNAP},
        {CF_LINE, CF_ADDR},     {CF_LINE, CF_PID},        {CF_LINE, CF_PHYS},
        {CF_ACCESS, CF_PHYS},   {CF_ACCESS, CF_STACK_ID}, {CF_ACCESS, CF_CPU},
        {CF_SWITCH, CF_PID},    {CF_SWITCH, CF_TID},
    };
    struct cf_turns turns = {0};
    struct cf_frame *f;

    for (unsigned i = 0; i < sizeof wants / sizeof *wants; i++)
        cf_reader_want(s->in, wants[i][0], wants[i][1], CF_OPTIONAL);
    cf_tool_idle(s->in, s->out);
    while (cf_reader_next(s->in, &f) > 0) {
        cf_tool_progress(s->tool, s->in);
        cf_order_check(&turns, s->tool, f,
                       "names may be wrong or missing; run cf-resolve before cf-merge "
                       "--interleave");
        /* A header must have gone out before strings are defined in its segment. */
        if (f->table == CF_HEADER) {
            places_rest_of_nodes(s->t.places);
            if (cf_writer_frame(s->out, f) < 0)
                break;
        }
        columns_take(s, f);
        if (s->t.r.failed)
            cf_out_of_memory(s->tool);
        if (f->table != CF_HEADER && f->table != CF_STACK && /* which we write */
            cf_writer_frame(s->out, f) < 0)
            break;
    }
    places_rest_of_nodes(s->t.places);
}

/* One sentence on accesses or lines. Lines have no program counter, so nothing is said of code. */
static void print_found(const struct state *s, const char *rows_are, uint64_t rows,
                        const uint64_t *found, int code)
{
    static const char *const what[ADDED] = {
        "in a mapping",     NULL, "in a heap object", NULL, "in a variable", "with function",
        "with source line", NULL};
    char text[1024];
    int n = snprintf(text, sizeof text, "%llu %s", (unsigned long long)rows, rows_are);

    for (int k = 0; k < ADDED; k++)
        if (what[k] && (code || (k != FUNCTION && k != SOURCE)))
            n += snprintf(text + n, sizeof text - (size_t)n, "%s %llu %s (%.1f%%)",
                          k == REGION ? ":" : ",", (unsigned long long)found[k], what[k],
                          rows ? 100.0 * (double)found[k] / (double)rows : 0.0);
    cf_warn(s->tool, "%s", text);
}

static void summary(const struct state *s)
{
    if (s->rows || !s->line_rows)
        print_found(s, "accesses", s->rows, s->found, 1);
    if (s->line_rows)
        print_found(s, "lines of snapshots", s->line_rows, s->line_found, 0);
    if (s->t.odd.bad_maps)
        cf_warn(s->tool, "%llu rows of table map are invalid and were passed over",
                (unsigned long long)s->t.odd.bad_maps);
    if (s->t.odd.overlaps || s->t.odd.unknown_frees)
        cf_warn(s->tool,
                "%llu heap objects were still live when another was allocated over them; "
                "%llu releases of what was not allocated",
                (unsigned long long)s->t.odd.overlaps, (unsigned long long)s->t.odd.unknown_frees);
    if (s->t.odd.unstated && !s->o->where.trust)
        cf_warn(s->tool,
                "the input does not state which builds of its files were mapped: names are wrong "
                "where a file has changed since");
    if (s->t.odd.late)
        cf_warn(s->tool,
                "%llu accesses came too long after their mappings and objects to be resolved",
                (unsigned long long)s->t.odd.late);
    if (s->crowded)
        cf_warn(s->tool, "some frames had no place left for all columns");
}

static const struct cf_tool *running; /* libdw hands nothing over */

static __attribute__((noreturn)) void no_memory(void)
{
    cf_out_of_memory(running);
}

/* ---- options ---- */

static void set_add(const struct cf_tool *t, void *options, const char *option, char *text)
{
    struct options *o = options;
    char *word;

    while ((word = strsep(&text, ",")))
        o->add |= 1u << cf_parse_word(t, option, word,
                                      "region page object site symbol function source inlined");
}

/* Of 64 bits with or without a sign: from physical to virtual addresses. */
static void set_physical(const struct cf_tool *t, void *options, const char *option, char *text)
{
    struct options *o = options;
    const int minus = text && *text == '-';

    o->offset = text ? cf_parse_u64(t, option, text + minus, 0, UINT64_MAX) : 0;
    o->offset = minus ? -o->offset : o->offset;
}

/* A directory, for libdwfl, which would look for a relative one beside each program, and takes a
   colon for the end of one. `path` may be NULL. */
static const char *whole_path(const struct cf_tool *t, const char *option, const char *path,
                              char *room)
{
    if (!path)
        return NULL;
    cf_parse_directory(t, option, path);
    if (!realpath(path, room))
        cf_die(t, CF_EXIT_USAGE, "%s %s: %s", option, path, strerror(errno));
    if (strchr(room, ':'))
        cf_die(t, CF_EXIT_USAGE,
               "%s %s: has a colon in its path, where debug files cannot be found", option, room);
    return room;
}

static void parse(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    static char sysroot[PATH_MAX], debug_dir[PATH_MAX];
    /* More functions than arguments cannot be named. */
    const char **skip = cf_need(t, calloc((size_t)argc + 1, sizeof *skip));
    const struct cf_option table[] = {
        {"add", 'a', CF_CALL(set_add, o)},
        {"physical", 0, CF_CALL(set_physical, o), .given = &o->physical, .may_lack = 1},
        {"page-size", 'p', CF_POWER(&o->page_size, 1, UINT64_MAX)},
        {"site-depth", 0, CF_NUMBER(&o->places.depth, 1, 256)},
        {"skip", 0, CF_TEXTS(skip, &o->places.skips, (unsigned)argc)},
        {"no-inline", 0, CF_FLAG(&o->places.no_inline)},
        {"path-parts", 0, CF_NUMBER(&o->places.components, 0, 4096)},
        {"sysroot", 0, CF_TEXT(&o->where.sysroot)},
        {"debug-dir", 0, CF_TEXT(&o->where.debug_dir)},
        {"trust", 0, CF_FLAG(&o->where.trust)},
        {"recording", 0, CF_FLAG(&o->recording)},
        {"output", 'o', CF_FILE(&o->output)},
        CF_COLUMNS_OPTION(t),
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.page_size = 4096, .places = {.components = 2, .depth = 1, .skip = skip}};
    cf_options_read(t, argc, argv, table);
    o->places.inlined = (o->add & 1 << INLINED) != 0;
    if (o->places.inlined && o->places.no_inline)
        cf_die(t, CF_EXIT_USAGE, "--no-inline does not go with --add inlined");
    o->where.sysroot = whole_path(t, "--sysroot", o->where.sysroot, sysroot);
    o->where.debug_dir = whole_path(t, "--debug-dir", o->where.debug_dir, debug_dir);
}

/* Each mapped program or library stays open while its symbols may be asked for. */
static void open_many(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    struct cf_tool tool;
    struct options o;
    static struct state s;
    int status;

    cf_tool_init(&tool, argc, argv, "cf-resolve", usage);
    parse(&tool, &o, argc, argv);
    running = &tool;
    files_tell(&s, &o.where);
    o.where.no_memory = no_memory;
    open_many();
    s.tool = &tool;
    s.o = &o;
    s.page_shift = (unsigned)__builtin_ctzll(o.page_size);
    for (int k = 0; k < ADDED; k++)
        s.column[k] = cf_column_room(&tool, sizeof *s.column[k]);
    s.place = cf_column_room(&tool, sizeof *s.place);
    s.owner = cf_column_room(&tool, sizeof *s.owner);
    s.in = cf_tool_reader(&tool, argv + optind, argc - optind);
    s.out = o.recording ? cf_tool_recording(&tool, o.output) : cf_tool_writer(&tool, o.output);
    (void)cf_tool_only(&tool, s.out, columns_added);
    if (!o.add || o.add & 1u << PAGE) {
        /* a failure shows again when the writer is closed */
        (void)cf_writer_fact(s.out, "page", "by", tool.name);
        (void)cf_writer_number(s.out, "page", "page_size", o.page_size);
    }
    if (timeline_begin(&s.t, s.out, &o.where, &o.places) < 0)
        cf_out_of_memory(&tool);
    process(&s);
    if (o.recording && cf_reader_problem(s.in))
        cf_writer_cut(s.out); /* as the capture would */
    status = cf_tool_finish(&tool, s.in, s.out);
    files_rest(&s);
    if (s.refused)
        status = CF_EXIT_ENVIRONMENT;
    if (!tool.quiet && (s.rows || s.line_rows || status == CF_EXIT_OK))
        summary(&s);
    timeline_end(&s.t);
    free(o.places.skip);
    return status;
}
