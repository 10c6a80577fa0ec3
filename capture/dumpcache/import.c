/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.c - entries become snapshots. See import.h.
 *
 * An entry of the tool's own forms has its place in the file as set and way, so a line that cannot
 * be read keeps its place; a snapshot is complete after sets times ways of them. Lines that name
 * set and way end a snapshot where a place comes again, and are as many as they are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "capture/dumpcache/import.h"

static uint32_t sets_of(const struct cf_dumpcache *m)
{
    return m->sets ? m->sets : 2048;
}

static uint32_t ways_of(const struct cf_dumpcache *m)
{
    return m->ways ? m->ways : 16;
}

static int mapped(void *arg, uint32_t pid, uint64_t addr)
{
    struct cf_dumpcache *m = arg;

    return cf_maps_find(m->maps, pid, addr);
}

/* ---- a snapshot goes out ---- */

/* What the tool's own forms say neither address of; those that name set and way have the physical
   one. */
static int nameless(const struct cf_dumpcache *m, const struct cf_entries_line *l)
{
    return !m->placed && !l->phys && !l->addr;
}

/* The lines with an address, or those without. */
static int write_some(struct cf_dumpcache *m, unsigned level, int without, int have_phys)
{
    enum { BATCH = 4096 };
    static uint64_t phys[BATCH], addr[BATCH];
    static uint32_t set[BATCH], way[BATCH], pid[BATCH];
    static uint8_t state[BATCH];
    struct cf_values v[8] = {
        {CF_SNAP, NULL, m->number}, {CF_LEVEL, NULL, level}, {CF_SET, set, 0}, {CF_WAY, way, 0},
        {CF_STATE, state, 0},       {CF_ADDR, addr, 0},      {CF_PID, pid, 0}, {CF_PHYS, phys, 0}};

    for (uint32_t i = 0, n = 0; i < m->found_count; n = 0) {
        for (; i < m->found_count && n < BATCH; i++) {
            const struct cf_entries_line *l = &m->found[i];

            if (nameless(m, l) != without)
                continue;
            phys[n] = l->phys;
            addr[n] = l->addr;
            set[n] = l->set;
            way[n] = l->way;
            pid[n] = l->pid;
            state[n++] = l->state;
        }
        if (n && cf_writer_rows(m->out, CF_LINE, n, v, have_phys ? 8 : 7, NULL) != 0)
            return -1;
    }
    return 0;
}

/* A column phys without a value would make all lines look like one, that of address 0. */
static int write_lines(struct cf_dumpcache *m, unsigned level)
{
    int have_phys = 0;

    for (uint32_t i = 0; i < m->found_count; i++)
        have_phys |= m->found[i].phys != 0;
    return write_some(m, level, 0, have_phys) != 0 ? -1 : write_some(m, level, 1, 0);
}

static int by_place(const void *a, const void *b)
{
    const struct cf_entries_line *x = a, *y = b;

    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    return x->way < y->way ? -1 : x->way > y->way;
}

/* Entries of the tool's own forms, after it was said what they mean; returns bits of the mode. */
static unsigned understand(struct cf_dumpcache *m)
{
    const struct cf_entries e = {.sets = sets_of(m),
                                 .ways = ways_of(m),
                                 .line = m->line,
                                 .now = m->now,
                                 .before = m->have_before ? m->before : NULL,
                                 .addresses = m->addresses,
                                 .stale = m->stale,
                                 .keep_pids = m->keep_pids,
                                 .mapped = mapped,
                                 .arg = m};
    const enum addresses kind = m->addresses ? m->addresses : cf_entries_kind(&e);

    m->found_count = cf_entries_lines(&e, m->found, &m->count);
    return kind == ADDRESSES_PAGE || kind == ADDRESSES_FULL ? CF_MODE_RESOLVED : 0;
}

/* A power of two above n. */
static uint32_t power_above(uint32_t n)
{
    uint32_t p = 1;

    while (p <= n)
        p *= 2;
    return p;
}

/* Of entries that state set and way: whether the address can be in that set, by its place in the
   page, which is the same in virtual and physical addresses. */
static void check_sets(struct cf_dumpcache *m)
{
    const uint32_t lines = PAGE_BYTES / m->line, all = m->sets ? m->sets : power_above(m->top_set);
    const uint32_t sets = all < lines ? all : lines;

    for (uint32_t i = 0; i < m->found_count; i++)
        m->count.unfit += m->found[i].phys / m->line % sets != m->found[i].set % sets;
}

static int write_snapshot(struct cf_dumpcache *m, const struct cf_dumpcache_file *f)
{
    const unsigned level = m->placed ? m->placed_level : m->level ? m->level : 2;
    /* a level of the same snapshot */
    const int further = f->level && f->folder && m->number && m->last_folder == f->folder &&
                        m->last_number == f->number && level > m->last_level;
    unsigned mode = m->mode;
    uint64_t time;

    m->all++;
    m->number += !further;
    m->last_folder = f->folder;
    m->last_number = f->number;
    m->last_level = level;
    time = m->number * (m->period ? m->period : 1);
    if (!further)
        m->last_maps = f->folder ? cf_dumpcache_maps(m, f->folder, f->number, time) : 0;
    if (m->last_maps < 0)
        return -1;
    if (m->placed) {
        check_sets(m);
        qsort(m->found, m->found_count, sizeof *m->found, by_place);
    } else {
        mode |= understand(m);
    }
    mode |= m->last_maps ? CF_MODE_LAYOUT : 0;

    const struct cf_values v[] = {
        {CF_SNAP, NULL, m->number},
        {CF_TIME, NULL, time},
        {CF_MODE, NULL, mode},
        {CF_LEVEL, NULL, level},
        {CF_SETS, NULL, m->sets || !m->placed ? sets_of(m) : power_above(m->top_set)},
        {CF_WAYS, NULL, m->ways || !m->placed ? ways_of(m) : m->top_way + 1},
    };

    if (cf_writer_rows(m->out, CF_SNAPSHOT, 1, v, 6, NULL) != 0)
        return -1;
    return write_lines(m, level);
}

static int end_snapshot(struct cf_dumpcache *m, const struct cf_dumpcache_file *f)
{
    const uint32_t want = sets_of(m) * ways_of(m);
    int result;

    if (!m->entries)
        return 0;
    if (!m->placed && m->entries < want) {
        cf_warn(m->tool, "%s: cut off: its last snapshot has %u of %u entries", f->name, m->entries,
                want);
        m->failed |= CF_EXIT_INPUT;
        cf_tool_note(m->tool, CF_EXIT_INPUT);
    }
    result = write_snapshot(m, f);
    if (!m->placed) {
        struct entry *swap = m->now;

        m->now = m->before;
        m->before = swap;
        m->have_before = 1;
        memset(m->now, 0, want * sizeof *m->now);
    }
    if (m->placed)
        memset(m->seen + m->low_set, 0, (m->top_set - m->low_set + 1) * sizeof *m->seen);
    m->entries = m->found_count = m->top_set = m->top_way = 0;
    m->placed = 0;
    return result;
}

/* ---- entries come in ---- */

static int add_entry(struct cf_dumpcache *m, const struct cf_dumpcache_file *f,
                     const struct entry *a)
{
    if (m->placed && end_snapshot(m, f) != 0)
        return -1;
    m->now[m->entries++] = *a;
    return m->entries == sets_of(m) * ways_of(m) ? end_snapshot(m, f) : 0;
}

/* Lines that could not be read, now that they are known to stand for entries. */
static int add_unread(struct cf_dumpcache *m, const struct cf_dumpcache_file *f)
{
    const struct entry none = {0};

    for (; m->unread; m->unread--)
        if (add_entry(m, f, &none) != 0)
            return -1;
    return 0;
}

static int add_row(struct cf_dumpcache *m, const struct cf_dumpcache_file *f,
                   const struct cf_dumpcache_row *r)
{
    const unsigned level = r->level ? r->level : m->level ? m->level : 1;
    const uint8_t bit = (uint8_t)(1 << r->way % 8);

    if ((m->sets && r->set >= m->sets) || (m->ways && r->way >= m->ways)) {
        cf_lines_bad(&m->lines, 0, "the cache has no set %u with a way %u", r->set, r->way);
        return 0;
    }
    if (m->entries && (!m->placed || level != m->placed_level || m->entries == CF_ENTRIES_MOST ||
                       m->seen[r->set][r->way / 8] & bit))
        if (end_snapshot(m, f) != 0)
            return -1;
    m->seen[r->set][r->way / 8] |= bit;
    m->low_set = !m->entries || r->set < m->low_set ? r->set : m->low_set;
    m->placed = 1;
    m->placed_level = level;
    m->entries++;
    m->top_set = r->set > m->top_set ? r->set : m->top_set;
    m->top_way = r->way > m->top_way ? r->way : m->top_way;
    if (r->valid)
        m->found[m->found_count++] = (struct cf_entries_line){
            .phys = r->phys, .set = r->set, .way = r->way, .pid = r->pid, .state = r->state};
    return 0;
}

/* One entry of 16 bytes: pid, padding, address, as a little-endian 64-bit kernel lays them out. One
   that cannot be is reported, and stays empty. */
static void binary_entry(struct cf_dumpcache *m, const char *block, struct entry *a)
{
    const uint8_t *b = (const uint8_t *)block;
    uint64_t pid = 0, addr = 0;

    for (int i = 3; i >= 0; i--)
        pid = pid << 8 | b[i];
    for (int i = 15; i >= 8; i--)
        addr = addr << 8 | b[i];
    if (cf_dumpcache_entry(a, pid, addr) == ROW_BAD)
        cf_lines_bad(&m->lines, 0,
                     "pid %" PRIu64 " with address 0x%" PRIx64
                     " is no entry of a snapshot: those of little-endian machines are read",
                     pid, addr);
}

static int end_file(struct cf_dumpcache *m, size_t input)
{
    struct stat st;

    if (input && !m->taken &&
        (m->blank || (stat(m->file[input - 1].name, &st) == 0 && st.st_size == 0))) {
        cf_warn(m->tool, "%s: is empty", m->file[input - 1].name);
        m->failed |= CF_EXIT_INPUT;
    }
    m->taken = m->blank = 0;
    if (!input)
        return 0;
    return add_unread(m, &m->file[input - 1]) != 0 ? -1 : end_snapshot(m, &m->file[input - 1]);
}

/* A folder is a segment of its own. */
static int begin_file(struct cf_dumpcache *m, size_t input)
{
    const struct cf_dumpcache_file *f = &m->file[input - 1];
    const int folder = input > 1 ? f[-1].folder : -1;
    struct cf_header h = {.clock_unit = (char *)(m->period ? "nanoseconds" : "snapshots"),
                          .clock_hz = m->period ? 1000000000 : 0,
                          .line_size = m->line,
                          .source = (char *)"cf-capture-dumpcache"};

    if (folder == f->folder)
        return 0;
    if (folder > 0)
        cf_dumpcache_ended(m, folder);
    m->number = 0;
    m->have_before = 0;
    cf_maps_free(m->maps);
    m->maps = cf_need(m->tool, cf_maps_new(0));
    if (cf_writer_header(m->out, &h) != 0)
        return -1;
    return f->folder ? cf_dumpcache_tasks(m, f->folder) : 0;
}

/* One line or block; -1 when the output takes no more. */
static int take(struct cf_dumpcache *m, const char *at, size_t length)
{
    const struct cf_dumpcache_file *f = &m->file[m->lines.input - 1];
    struct entry a = {0};
    struct cf_dumpcache_row r;

    m->blank |= !length;
    m->taken |= m->lines.blocks || length;
    if (m->lines.blocks) {
        binary_entry(m, at, &a);
        return add_entry(m, f, &a);
    }
    if (length == 0)
        return 0;
    switch (cf_dumpcache_scan(at, length, &a, &r)) {
    case ROW_PLACED:
        m->unread = 0;
        return add_row(m, f, &r);
    case ROW_BAD:
        cf_lines_bad(&m->lines, 0, "'%.*s' is no entry of a snapshot, such as 00042,0x00007f001000",
                     (int)(length < 40 ? length : 40), at);
        /* it keeps its place, as an empty entry, unless lines name their places: the next tells */
        m->unread += !m->placed;
        return m->entries + m->unread == sets_of(m) * ways_of(m) ? add_unread(m, f) : 0;
    default:
        return add_unread(m, f) != 0 ? -1 : add_entry(m, f, &a);
    }
}

static void report(struct cf_dumpcache *m)
{
    const struct cf_entries_count *c = &m->count;

    if (c->unfit) {
        cf_warn(m->tool,
                "%u addresses do not fit their set: they are damaged, or check --addresses, --sets "
                "and --ways",
                c->unfit);
        m->failed |= CF_EXIT_INPUT;
    }
    if (m->tool->quiet)
        return;
    if (c->placeless)
        cf_warn(m->tool,
                "%u lines have the first address that they may have in their page: of a cache of "
                "less than %d bytes a way, its lines share sets, and may be taken for each other",
                c->placeless, PAGE_BYTES);
    if (c->stale || c->doubtful)
        cf_warn(m->tool,
                "%u entries left out that an older snapshot has left behind, %u that may be so "
                "kept; %u equal what stood there before (--stale)",
                c->stale, c->doubtful, c->same);
    if (c->guessed)
        cf_warn(
            m->tool,
            "%u addresses may be virtual or physical, taken for physical where they lie between "
            "others that are; lists of mappings would say",
            c->guessed);
}

int cf_dumpcache_run(struct cf_dumpcache *m)
{
    const size_t room = (size_t)sets_of(m) * ways_of(m);
    size_t begun = 0;
    int ok = 1;

    m->now = cf_need(m->tool, calloc(room, sizeof *m->now));
    m->before = cf_need(m->tool, calloc(room, sizeof *m->before));
    /* pages that stay untouched take no memory */
    m->found = cf_need(m->tool, malloc(CF_ENTRIES_MOST * sizeof *m->found));
    m->seen = cf_need(m->tool, calloc(CF_ENTRIES_MOST, sizeof *m->seen));
    while (ok) {
        const char *at = NULL;
        size_t length = 0;
        const int more = m->lines.at != m->lines.end || cf_lines_fill(&m->lines);

        if (more && m->lines.blocks)
            (void)cf_lines_next_block(&m->lines, &at); /* there is one */
        else if (more)
            (void)cf_lines_next(&m->lines, &at, &length);
        /* an entry that was cut off, or the end of the input, belongs to the file before */
        for (; ok && begun < (more ? (size_t)m->lines.input : m->files); begun++)
            ok = end_file(m, begun) == 0 && begin_file(m, begun + 1) == 0;
        if (!more)
            break;
        ok = ok && take(m, at, length) == 0;
    }
    if (ok)
        (void)end_file(m, begun); /* a failure shows when the writer is closed */
    if (ok && begun)
        cf_dumpcache_ended(m, m->file[begun - 1].folder);
    report(m);
    m->failed |= cf_lines_finish(&m->lines);
    if (!m->all && !m->failed) {
        cf_warn(m->tool, "%s: no snapshot: %s",
                m->files && strcmp(m->file[0].name, "-") ? m->file[0].name : "standard input",
                cf_lines_none("the input is empty"));
        m->failed |= CF_EXIT_INPUT;
    }
    if (!m->all) {
        cf_writer_cut(m->out);
        cf_tool_note(m->tool, CF_EXIT_INPUT); /* which the stream says, too */
    }
    return m->failed;
}

static void idle(void *arg)
{
    struct cf_dumpcache *m = arg;

    (void)cf_writer_flush(m->out);
}

void cf_dumpcache_open(struct cf_dumpcache *m, char *const *files, int count)
{
    for (int i = 0; i < count; i++)
        cf_dumpcache_add(m, files[i]);
    if (!count)
        cf_dumpcache_add(m, "-");
    m->names = cf_need(m->tool, calloc(m->files + 1, sizeof *m->names));
    for (size_t i = 0; i < m->files; i++)
        m->names[i] = m->file[i].name;
    if (!m->files)
        exit(CF_EXIT_INPUT); /* folders without snapshots, of which was warned */
    cf_lines_open(&m->lines, m->tool, m->names, (int)m->files);
    m->lines.block = 16;
    cf_lines_idle(&m->lines, idle, m);
}

void cf_dumpcache_free(struct cf_dumpcache *m)
{
    for (size_t i = 0; i < m->files; i++)
        free(m->file[i].name);
    for (int i = 0; i < m->folders; i++)
        free(m->folder[i]);
    cf_maps_free(m->maps);
    free(m->file);
    free(m->names);
    free(m->folder);
    free(m->process);
    free(m->now);
    free(m->before);
    free(m->found);
    free(m->seen);
}
