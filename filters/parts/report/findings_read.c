/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings_read.c - from sampled accesses to cells. Misses by sharing are counted by cache line,
 * which is what threads fight over; others by statement, since a pattern of accesses is that of an
 * instruction (CachePerf, section 3.5, Algorithm 1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/report/findings.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

static const char rule[] = "cacheperf";

const unsigned findings_alike[] = {CF_OP, CF_WEIGHT, 0};
const unsigned findings_others[] = {CF_PID,    CF_TID,      CF_PC,     CF_OBJ,
                                    CF_SYMBOL, CF_FUNCTION, CF_SOURCE, 0};

void findings_begin(struct findings *f)
{
    struct cf_reader *r = f->reader;

    cf_reader_want_each(r, CF_ACCESS, CF_REQUIRED, CF_CLASS, CF_LEVEL);
    cf_reader_want(r, CF_ACCESS, CF_ADDR, CF_LATE);
    cf_reader_want_each(r, CF_ACCESS, CF_OPTIONAL, CF_OP, CF_PID, CF_TID, CF_PC, CF_WEIGHT, CF_OBJ,
                        CF_SYMBOL, CF_FUNCTION, CF_SOURCE);
    cf_reader_want_each(r, CF_OBJECT, CF_OPTIONAL, CF_OP, CF_PID, CF_TID, CF_BYTES, CF_STACK_ID,
                        CF_OBJ, CF_SITE, CF_FUNCTION, CF_SOURCE);
    cf_reader_want_each(r, CF_STACK, CF_OPTIONAL, CF_PID, CF_STACK_ID, CF_PARENT, CF_PC,
                        CF_FUNCTION, CF_SOURCE);
    cf_reader_want_each(r, CF_TASK, CF_OPTIONAL, CF_PID, CF_PARENT, CF_OP);
    lost_want(r);
    cf_reader_unify(r);
    cf_reader_pieces(r);
    cf_sources_begin(f->sources, r);
    f->mix = (struct cf_mix){.column = {CF_CLASS}};
    f->at = cf_need(f->tool, cf_counts_new());
    f->recent = cf_need(f->tool, calloc(FINDING_RECENT, sizeof *f->recent));
    f->parents = cf_need(f->tool, cf_counts_new());
    for (unsigned p = 0; p < FINDING_PARTS; p++) {
        f->numbers[p] = cf_need(f->tool, cf_counts_new());
        f->list[p].at = cf_need(f->tool, cf_counts_new());
    }
}

static const char *event_of(const struct cf_header *h)
{
    const char *event = cf_header_fact(h, "weight", "event");

    return !event ? NULL
           : strcmp(event, "page-faults") == 0
               ? "page faults"
               : "misses that an earlier stream has of the same instructions";
}

/* Bytes of a line of the level that was classified, which the fact `caches` states as "NAME
   SIZE/WAYS/LINE/..."; 0 where it does not. */
static uint32_t line_of_level(const struct cf_header *h)
{
    const char *const caches = cf_header_fact(h, "class", "caches"), *at = caches;
    const char *level = cf_header_fact(h, "class", "level");
    unsigned line;

    for (; at && level && *level && (at = strstr(at, level)); at++)
        if ((at == caches || at[-1] == ' ') &&
            sscanf(at + strlen(level), " %*u/%*u/%u/", &line) == 1)
            return line;
    return 0;
}

static void take_header(struct findings *f, const struct cf_header *h)
{
    const char *of = cf_header_fact(h, "class", "rule");
    const char *machine = cf_header_fact(h, "class", "machine");

    if (of && strcmp(of, rule) != 0)
        cf_die(f->tool, CF_EXIT_INPUT,
               "%s: column class is of rule %s: --cacheperf takes that of cf-classify --rule %s",
               cf_reader_file(f->reader), of, rule);
    cf_mix_check(&f->mix, f->tool, h);
    cf_tool_command(f->tool, &f->command, h->command);
    if (machine && !f->machine_name) {
        f->machine_name = cf_tool_text(f->tool, "%s", machine);
        if (!f->machine)
            f->machine = cf_machine_titled(machine);
        else if (strcmp(f->machine->name, machine) != 0)
            cf_warn(f->tool,
                    "column class is of machine '%s', and what a miss costs of '%s': give the "
                    "first with -m, or no -m",
                    machine, f->machine->name);
    }
    if (!f->line_size)
        f->line_size = line_of_level(h);
    if (!f->line_size)
        f->line_size = f->machine ? f->machine->line_size : h->line_size ? h->line_size : 64;
    if (!f->event)
        f->event = event_of(h);
    f->segment++;
    memset(f->recent, 0, FINDING_RECENT * sizeof *f->recent);
}

/* ---- cells ---- */

struct columns {
    const struct cf_condensed *rows;
    const uint8_t *class, *op, *level;
    const uint64_t *pc, *weight;
    const uint32_t *pid, *tid, *object, *symbol, *function, *source;
    /* decoded where a row needs them, by rows of the frame as it came */
    const uint64_t *addr;
    const uint32_t *region;
    int no_region; /* there is none */
};

static uint32_t row_of(const struct columns *c, uint32_t i)
{
    return c->rows->row ? c->rows->row[i] : i;
}

/* The number of the cache line of row i. */
static uint64_t line_of(const struct findings *f, const struct columns *c, uint32_t i)
{
    return c->addr[row_of(c, i)] / f->line_size;
}

/* The mapping of row i. */
static uint32_t region_of(struct columns *c, uint32_t i)
{
    if (!c->region && !c->no_region)
        c->no_region = !(c->region = cf_late_values(c->rows->in, CF_REGION));
    return c->region ? c->region[row_of(c, i)] : 0;
}

static uint32_t at(const uint32_t *column, uint32_t row)
{
    return column ? column[row] : 0;
}

/* The number of a key among those of a part; where it is new, an element of `array` is made. */
static uint32_t number(struct findings *f, enum finding_part part, uint64_t a, uint64_t b,
                       void *array, size_t *count, size_t *room, size_t width, int *fresh)
{
    uint64_t *place = cf_need(f->tool, cf_counts_at(f->numbers[part], a, b));

    *fresh = !*place;
    if (*fresh) {
        cf_must(f->tool, cf_array_cleared(array, room, *count + 1, width));
        *place = ++*count;
    }
    return (uint32_t)(*place - 1);
}

static uint32_t statement(struct findings *f, const struct columns *c, uint32_t i)
{
    const uint32_t source = at(c->source, i), function = at(c->function, i);
    const uint64_t pc = c->pc ? c->pc[i] : 0;
    int fresh;
    const uint32_t n =
        number(f, FINDING_STATEMENTS, source ? UINT64_MAX : function, source ? source : pc,
               &f->statement, &f->statements, &f->statement_room, sizeof *f->statement, &fresh);

    if (fresh)
        f->statement[n] =
            (struct finding_statement){.source = source, .function = function, .pc = pc};
    return n;
}

static struct finding_owner owner_of(const struct findings *f, struct columns *c, uint32_t i)
{
    struct finding_owner o = {.kind = FINDING_NOWHERE};

    if ((o.id = at(c->object, i)))
        o.kind = FINDING_HEAP;
    else if ((o.id = at(c->symbol, i)))
        o.kind = FINDING_SYMBOL;
    else if ((o.id = region_of(c, i)))
        o.kind = FINDING_REGION;
    o.segment = o.kind == FINDING_HEAP ? f->segment : 0;
    return o;
}

static uint32_t owner(struct findings *f, struct columns *c, uint32_t i)
{
    const struct finding_owner o = owner_of(f, c, i);
    int fresh;
    const uint32_t n = number(f, FINDING_OWNERS, (uint64_t)o.segment << 32 | o.kind, o.id,
                              &f->owner, &f->owners, &f->owner_room, sizeof *f->owner, &fresh);
    if (fresh)
        f->owner[n] = o;
    return n;
}

static uint32_t thread(struct findings *f, const struct columns *c, uint32_t i)
{
    const struct finding_thread t = {at(c->pid, i), at(c->tid, i)};
    int fresh;
    const uint32_t n = number(f, FINDING_THREADS, t.pid, t.tid, &f->thread, &f->threads,
                              &f->thread_room, sizeof *f->thread, &fresh);

    if (fresh)
        f->thread[n] = t;
    return n;
}

static int is_shared(unsigned class)
{
    return class == CF_CLASS_TRUE_SHARING || class == CF_CLASS_FALSE_SHARING ||
           class == CF_CLASS_ALLOCATOR_FALSE_SHARING;
}

static uint32_t cell(struct findings *f, const struct columns *c, uint32_t i, uint32_t statement)
{
    const unsigned class = c->class[i];
    const int shared = is_shared(class);
    const uint64_t a =
        shared ? (uint64_t)f->segment << 36 | (uint64_t)at(c->pid, i) << 4 | class : class;
    uint64_t *place =
        cf_need(f->tool, cf_counts_at(f->at, a, shared ? line_of(f, c, i) : statement));

    if (!*place) {
        cf_must(f->tool, cf_array_cleared(&f->finding, &f->room, f->count + 1, sizeof *f->finding));
        f->finding[f->count] =
            (struct finding){.class = class, .into = (uint32_t)f->count, .lines = shared};
        *place = ++f->count;
    }
    return (uint32_t)(*place - 1);
}

/* The place of an entry in a list. */
static uint32_t entry(struct findings *f, enum finding_part part, uint32_t of, uint32_t id)
{
    struct finding_list *l = &f->list[part];
    uint64_t *place = cf_need(f->tool, cf_counts_at(l->at, of, id));

    if (!*place) {
        cf_must(f->tool, cf_array_room(&l->share, &l->room, l->count + 1, sizeof *l->share));
        l->share[l->count] = (struct finding_share){of, id, 0, 0};
        *place = ++l->count;
    }
    return (uint32_t)(*place - 1);
}

/* Where a row is counted. */
static const struct finding_recent *places(struct findings *f, struct columns *c, uint32_t i)
{
    const struct finding_owner o = owner_of(f, c, i);
    const uint32_t source = at(c->source, i);
    const uint64_t key[5] = {is_shared(c->class[i]) ? line_of(f, c, i) : 0,
                             source  ? source
                             : c->pc ? c->pc[i]
                                     : 0,
                             source ? UINT64_MAX : at(c->function, i),
                             (uint64_t)o.id << 16 | o.kind << 8 | c->class[i],
                             (uint64_t)at(c->pid, i) << 32 | at(c->tid, i)};
    uint64_t hash = 0;
    struct finding_recent *r;
    uint32_t what;

    for (unsigned k = 0; k < 5; k++)
        hash = (hash ^ key[k]) * 0x9e3779b97f4a7c15u;
    r = &f->recent[hash >> 52];
    if (r->known && !memcmp(r->key, key, sizeof key))
        return r;
    what = statement(f, c, i);
    r->of = cell(f, c, i, what);
    r->share[FINDING_STATEMENTS] = entry(f, FINDING_STATEMENTS, r->of, what);
    r->share[FINDING_OWNERS] = entry(f, FINDING_OWNERS, r->of, owner(f, c, i));
    r->share[FINDING_THREADS] = entry(f, FINDING_THREADS, r->of, thread(f, c, i));
    memcpy(r->key, key, sizeof key);
    r->known = 1;
    return r;
}

static unsigned served_by(uint8_t level)
{
    return level == CF_FROM_MEMORY  ? FINDING_MEMORY
           : level < FINDING_MEMORY ? level
                                    : FINDING_MEMORY - 1;
}

static enum finding_op op_of(const struct columns *c, uint32_t i)
{
    return c->op && c->op[i] == CF_STORE ? FINDING_STORE : FINDING_LOAD;
}

static int counts(const struct columns *c, uint32_t i)
{
    return !c->op || c->op[i] - (unsigned)CF_LOAD <= CF_STORE - CF_LOAD;
}

static void add_served(struct findings *f, enum finding_op op, unsigned by, uint64_t weight)
{
    f->served[op][by] = cf_sum(f->served[op][by], weight);
}

/* The sum of weights of which the halves were added up. */
static uint64_t whole(uint64_t low, uint64_t high)
{
    return high >> 32 ? UINT64_MAX : cf_sum(high << 32, low);
}

/* By which level each row was served: nearly all by the first. */
static void take_levels(struct findings *f, const struct columns *c, uint32_t rows)
{
    const uint64_t each = c->rows->each;
    uint64_t low[2] = {0, 0}, high[2] = {0, 0}; /* all, stores */
    uint64_t samples = 0, fine = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t weight = c->weight ? c->weight[i] : 1;
        const uint64_t store = 0 - (uint64_t)(c->op && c->op[i] == CF_STORE); /* all bits */

        if (!counts(c, i))
            continue;
        samples += each ? weight / each : 1;
        fine += !weight;
        if (c->level[i] == 1) {
            low[0] += (uint32_t)weight;
            high[0] += weight >> 32;
            low[1] += (uint32_t)weight & store;
            high[1] += weight >> 32 & store;
        } else {
            add_served(f, op_of(c, i), served_by(c->level[i]), weight);
        }
    }
    f->samples += samples;
    f->fine += fine;
    add_served(f, FINDING_STORE, 1, whole(low[1], high[1]));
    add_served(f, FINDING_LOAD, 1, whole(low[0] - low[1], high[0] - high[1]));
}

/* A row with a class. */
static void take_miss(struct findings *f, struct columns *c, uint32_t i)
{
    const enum finding_op op = op_of(c, i);
    const unsigned by = served_by(c->level[i]), class = c->class[i];
    const uint64_t weight = c->weight ? c->weight[i] : 1, misses = by > 1 ? weight : 0;
    const struct finding_recent *r;
    struct finding *to;

    if (class == CF_CLASS_COMPULSORY || class >= CF_CLASSES) {
        f->foreign = class;
        return;
    }
    r = places(f, c, i);
    to = &f->finding[r->of];
    to->misses = cf_sum(to->misses, misses);
    to->samples++;
    to->fine += !weight;
    to->served[op][by] = cf_sum(to->served[op][by], weight);
    for (unsigned p = 0; p < FINDING_PARTS; p++) {
        struct finding_share *s = &f->list[p].share[r->share[p]];

        s->misses = cf_sum(s->misses, misses);
        s->samples++;
    }
}

static void take_accesses(struct findings *f, const struct cf_condensed *rows)
{
    const struct cf_frame *frame = rows->rows;
    struct columns c = {.rows = rows,
                        .class = cf_u8(frame, CF_CLASS),
                        .op = cf_u8(frame, CF_OP),
                        .level = cf_u8(frame, CF_LEVEL),
                        .pc = cf_u64(frame, CF_PC),
                        .weight = cf_u64(frame, CF_WEIGHT),
                        .pid = cf_u32(frame, CF_PID),
                        .tid = cf_u32(frame, CF_TID),
                        .object = cf_u32(frame, CF_OBJ),
                        .symbol = cf_u32(frame, CF_SYMBOL),
                        .function = cf_u32(frame, CF_FUNCTION),
                        .source = cf_u32(frame, CF_SOURCE)};

    take_levels(f, &c, frame->rows);
    for (uint32_t i = 0; i < frame->rows; i++) {
        if (c.class[i] == CF_CLASS_NONE || !counts(&c, i))
            continue;
        if (is_shared(c.class[i]) && !c.addr && !(c.addr = cf_late_values(rows->in, CF_ADDR)))
            return; /* the reader reports why */
        take_miss(f, &c, i);
    }
}

void findings_frame(struct findings *f, const struct cf_condensed *rows)
{
    const struct cf_frame *frame = rows->rows;

    cf_sources_frame(f->sources, frame);
    lost_frame(&f->lost, f->reader, frame);
    switch (frame->table) {
    case CF_HEADER:
        take_header(f, frame->header);
        return;
    case CF_TASK:
        findings_take_tasks(f, frame);
        return;
    case CF_STACK:
        findings_take_nodes(f, frame);
        return;
    case CF_OBJECT:
        findings_take_objects(f, frame);
        return;
    case CF_ACCESS:
        take_accesses(f, rows);
        return;
    default:
        return;
    }
}

uint64_t findings_accesses(const struct findings *f, enum finding_op op)
{
    uint64_t sum = 0;

    for (unsigned by = 1; by < FINDING_SERVED; by++)
        sum = cf_sum(sum, f->served[op][by]);
    return sum;
}

uint64_t findings_misses(const struct findings *f, enum finding_op op)
{
    uint64_t sum = 0;

    for (unsigned by = 2; by < FINDING_SERVED; by++)
        sum = cf_sum(sum, f->served[op][by]);
    return sum;
}

void findings_free(struct findings *f)
{
    for (size_t i = 0; i < f->statements; i++) {
        for (unsigned k = 0; k < f->statement[i].lines; k++)
            free(f->statement[i].text[k]);
        free(f->statement[i].text);
    }
    for (unsigned p = 0; p < FINDING_PARTS; p++) {
        cf_counts_free(f->numbers[p]);
        cf_counts_free(f->list[p].at);
        free(f->list[p].share);
    }
    cf_counts_free(f->at);
    free(f->recent);
    cf_counts_free(f->parents);
    free(f->finding);
    free(f->statement);
    free(f->owner);
    free(f->thread);
    free(f->object);
    free(f->node);
    cf_sources_free(f->sources);
    cf_mix_free(&f->mix);
    cf_machine_free(f->machine);
}
