/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Periods, skid and the breakpoint against a slow model: each rule as filters/engine/sample states
 * it, over lists that are searched from their begin, a row at a time. Random rows, cut anywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/sample/sampler.h"
#include "tap.h"

enum { ROWS = 60000, THREADS = 600, CODES = 24 };

static uint64_t state = 11;

static uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* ---- the input ---- */

static uint64_t time[ROWS], addr[ROWS], pc[ROWS];
static uint32_t pid[ROWS], tid[ROWS];
static uint8_t op[ROWS], hit[ROWS];

static void make_rows(uint32_t rows, uint32_t threads)
{
    const uint32_t stay = 1 + next(300), lines = 1 + next(300), fetches = next(3), steps = next(3);
    uint32_t thread = 0;
    uint64_t now = next(1000);

    for (uint32_t i = 0; i < rows; i++) {
        if (next(stay) == 0)
            thread = next(threads);
        now += steps ? next(steps * 3) : 1;
        if (next(5000) == 0)
            now += 3000;
        time[i] = now;
        pid[i] = 100 + thread % 2;
        tid[i] = 7 + thread / 2;
        op[i] = (uint8_t)(1 + next(2));
        if (next(10) < fetches)
            op[i] = CF_IFETCH;
        else if (next(50) == 0)
            op[i] = (uint8_t)(next(2) ? CF_PREFETCH : CF_FLUSH);
        /* a few instructions are most of them, and one has no address */
        pc[i] = 0x1000 + 4 * (next(3) ? next(4) : next(CODES));
        pc[i] = next(100) == 0 ? 0 : i && next(3) == 0 ? pc[i - 1] : pc[i];
        addr[i] = 64 * (uint64_t)next(lines) * (1 + pc[i] % 8) + next(64);
        addr[i] = i && next(3) == 0 ? addr[i - 1] : addr[i];
        hit[i] = (uint8_t)(pc[i] % 3 && next(4) ? 2 + next(2) : 1);
    }
}

/* ---- the slow model ---- */

struct kept {
    uint32_t row;
    uint8_t stage;
    uint64_t weight, pc;
};

struct waits {
    uint32_t kept, left, row;
    int over;
};

static struct slow {
    struct cf_sampler_options o;
    struct kept kept[ROWS];
    uint32_t count, settled;
    uint32_t seen[THREADS], threads; /* first row of each thread */
    uint64_t left[THREADS][2], drawn[THREADS][2], generator[THREADS][2];
    uint64_t last[THREADS], when[THREADS]; /* pc and time of the last access */
    int instructions;                      /* are what the clock counts */
    int fetched[THREADS];
    struct {
        uint32_t thread, set;
    } miss[ROWS]; /* sampled */
    uint32_t misses;
    struct waits waits[ROWS];
    uint32_t waiting;
    struct {
        uint32_t pid;
        uint64_t pc;
        uint32_t misses, all; /* in a row, and in all */
        int had;
    } code[4 * CODES];
    uint32_t codes;
    uint32_t queue[4 * CODES], queued; /* of codes */
    int armed;
    uint32_t now_code;
    uint64_t since, expire, turn[ROWS]; /* addresses of the turn */
    uint32_t turns;
} m;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void slow_draw(uint32_t t, unsigned k)
{
    const uint64_t period = k ? m.o.stores : m.o.loads;
    uint64_t spread = period * m.o.jitter / 100 + (period * m.o.jitter % 100 != 0);

    m.left[t][k] = 0; /* never */
    if (!period)
        return;
    spread = spread < period ? spread : period - 1;
    m.generator[t][k] += 0x9e3779b97f4a7c15u;
    m.left[t][k] = period - spread +
                   (uint64_t)(((unsigned __int128)mix(m.generator[t][k]) * (2 * spread + 1)) >> 64);
    m.drawn[t][k] = m.left[t][k];
}

static uint32_t slow_thread(uint32_t i)
{
    uint32_t t = 0;

    while (t < m.threads && (pid[m.seen[t]] != pid[i] || tid[m.seen[t]] != tid[i]))
        t++;
    if (t == m.threads) {
        m.seen[m.threads++] = i;
        for (unsigned k = 0; k < 2; k++) {
            m.generator[t][k] = mix(m.o.seed ^ mix(2 * (uint64_t)t + k + 1));
            slow_draw(t, k);
        }
    }
    return t;
}

static uint32_t set_of(uint64_t a)
{
    return (uint32_t)(a / m.o.fine.line_size % m.o.fine.sets);
}

static void slow_arm(uint32_t code, uint64_t now)
{
    m.armed = 1;
    m.now_code = code;
    m.since = now;
    m.turns = 0;
    m.code[code].had = 1;
}

/* The one of those that wait whose turn it is. */
static void slow_next(uint64_t now)
{
    uint32_t best = 0, code;

    for (uint32_t k = 1; k < m.queued; k++) {
        const uint32_t a = m.queue[k], b = m.queue[best];

        if (m.code[a].all > m.code[b].all || (a < b && m.code[a].all == m.code[b].all))
            best = k;
    }
    code = m.queue[best];
    m.queue[best] = m.queue[--m.queued];
    slow_arm(code, now);
}

static int slow_expired(uint64_t now)
{
    return now >= m.since && now - m.since >= m.expire;
}

/* A coarse sample of thread t is known. */
static void slow_deliver(uint32_t t, uint32_t process, uint64_t code_pc, uint64_t a, int missed,
                         uint64_t now)
{
    const struct cf_fine_options *f = &m.o.fine;
    uint32_t c = 0, same = 0, queued = 0, looked = 0;

    if (!f->most)
        return;
    if (missed) {
        m.miss[m.misses].thread = t;
        m.miss[m.misses++].set = set_of(a);
    }
    for (uint32_t k = m.misses; missed && k-- && looked < f->set_window;) {
        looked += m.miss[k].thread == t;
        same += m.miss[k].thread == t && m.miss[k].set == set_of(a);
    }
    if (!code_pc)
        return;
    while (c < m.codes && (m.code[c].pid != process || m.code[c].pc != code_pc))
        c++;
    if (c == m.codes) {
        m.code[c].pid = process;
        m.code[c].pc = code_pc;
        m.code[c].misses = m.code[c].all = 0;
        m.code[c].had = 0;
        m.codes++;
    }
    m.code[c].misses = missed ? m.code[c].misses + 1 : 0;
    m.code[c].all += missed != 0;
    if (!missed ||
        (m.code[c].misses < f->misses && (f->sets == 1 || !f->set_window || same < f->set_misses)))
        return;
    for (uint32_t k = 0; k < m.queued; k++)
        queued |= m.queue[k] == c;
    if (queued || (m.code[c].had && (m.armed || m.queued || !slow_expired(now))))
        return;
    if (m.armed)
        m.queue[m.queued++] = c;
    else
        slow_arm(c, now);
}

/* How many accesses at the end of the turn are on one set, those to the line before left out. */
static uint32_t slow_run(void)
{
    uint32_t run = 0;

    for (uint32_t k = 0; k < m.turns; k++) {
        const uint64_t line = m.turn[k] / m.o.fine.line_size;

        if (k && line == m.turn[k - 1] / m.o.fine.line_size)
            continue;
        run = k && set_of(m.turn[k]) == set_of(m.turn[k - 1]) ? run + 1 : 1;
    }
    return run;
}

static void slow_fine(uint32_t i)
{
    m.turn[m.turns++] = addr[i];
    if (m.turns < m.o.fine.most && (m.o.fine.sets == 1 || slow_run() < m.o.fine.same_set))
        return;
    m.armed = 0;
    m.since = time[i];
    if (m.queued)
        slow_next(time[i]);
}

/* Samples of thread t that wait see another instruction. */
static void slow_step(uint32_t t, uint32_t i)
{
    const int other =
        pc[i] != m.last[t] || m.fetched[t] || (m.instructions && time[i] != m.when[t]);

    for (uint32_t k = 0; k < m.waiting; k++) {
        struct waits *w = &m.waits[k];
        const uint32_t r = w->row;

        if (w->over || pid[r] != pid[i] || tid[r] != tid[i])
            continue;
        w->left -= (uint32_t)other;
        if (w->left)
            continue;
        w->over = 1;
        m.kept[w->kept].pc = pc[i];
        slow_deliver(t, pid[i], pc[i], addr[r], hit[r] > 1, time[i]);
    }
    m.last[t] = pc[i];
    m.when[t] = time[i];
    m.fetched[t] = 0;
}

static void slow_settle(uint64_t now)
{
    for (uint32_t k = 0; k < m.waiting; k++) {
        const uint32_t r = m.waits[k].row;

        if (!m.waits[k].over)
            slow_deliver(slow_thread(r), pid[r], pc[r], addr[r], hit[r] > 1, now);
    }
    m.waiting = 0;
    m.settled = m.count;
}

static void slow_row(uint32_t i)
{
    const uint32_t t = slow_thread(i);
    const unsigned k = op[i] == CF_STORE;
    struct kept *kept = &m.kept[m.count];
    unsigned stage = 0;

    if (m.armed && m.queued && slow_expired(time[i]))
        slow_next(time[i]);
    if (op[i] == CF_IFETCH) {
        m.fetched[t] = 1;
        return;
    }
    if (op[i] <= CF_STORE && m.left[t][k] && --m.left[t][k] == 0) {
        stage = CF_STAGE_COARSE;
        *kept = (struct kept){i, CF_STAGE_COARSE, m.drawn[t][k], pc[i]};
        slow_draw(t, k);
    } else if (op[i] <= CF_STORE && m.armed && m.code[m.now_code].pid == pid[i] &&
               m.code[m.now_code].pc == pc[i]) {
        stage = CF_STAGE_FINE;
        *kept = (struct kept){i, CF_STAGE_FINE, 0, pc[i]};
        slow_fine(i);
    }
    slow_step(t, i);
    m.count += stage != 0;
    if (stage == CF_STAGE_COARSE && m.o.skid)
        m.waits[m.waiting++] = (struct waits){m.count - 1, m.o.skid, i, 0};
    else if (stage == CF_STAGE_COARSE)
        slow_deliver(t, pid[i], pc[i], addr[i], hit[i] > 1, time[i]);
    if (m.count - m.settled == CF_SAMPLER_BATCH)
        slow_settle(time[i]);
}

/* ---- both ---- */

static struct kept fast[ROWS];
static uint32_t fast_count, fast_settled;

/* Runs the rows [from, to) as one array. */
static int run_array(struct cf_sampler *s, uint32_t from, uint32_t to)
{
    const struct cf_sampler_rows r = {to - from,  time + from, addr + from, pc + from,
                                      pid + from, tid + from,  op + from,   hit + from};

    for (uint32_t at = 0; at < r.rows;) {
        const struct cf_sampled *out = cf_sampler_take(s, &r, &at);

        if (!out || out->first != fast_count - fast_settled)
            return 0;
        for (uint32_t k = 0; k < out->count; k++) {
            const uint32_t row = out->row[k] + from;

            fast[fast_count++] = (struct kept){row, out->stage[k], out->weight[k], pc[row]};
        }
        for (uint32_t k = 0; k < out->moved; k++)
            fast[fast_settled + out->number[k]].pc = pc[from + out->named[k]];
        if (cf_sampler_full(s)) {
            fast_settled = fast_count;
            if (cf_sampler_settle(s) != 0)
                return 0;
        }
    }
    return 1;
}

/* A stream ends at `at`, if it does, and the next begins. */
static int begin_stream(struct cf_sampler *s, uint32_t at)
{
    m.expire = next(2000);
    m.instructions = next(2) != 0;
    if (at)
        slow_settle(time[at - 1]);
    fast_settled = fast_count;
    if (cf_sampler_settle(s) != 0)
        return 0;
    cf_sampler_clock(s, m.expire, m.instructions);
    m.since = time[at];
    return 1;
}

static int equal(void)
{
    if (fast_count != m.count)
        return 0;
    for (uint32_t k = 0; k < m.count; k++)
        if (fast[k].row != m.kept[k].row || fast[k].stage != m.kept[k].stage ||
            fast[k].weight != m.kept[k].weight || fast[k].pc != m.kept[k].pc)
            return 0;
    return 1;
}

static uint64_t coarse, fine, moved, turned; /* so that the test shows that it tests something */

static int random_case(const struct cf_sampler_options *o, uint32_t rows, uint32_t threads)
{
    const uint32_t cut = 1 + next(next(2) ? 200 : 20000), half = 1 + next(rows - 1);
    struct cf_sampler *s = cf_sampler_new(o);
    int same = s != NULL;

    memset(&m, 0, sizeof(m));
    m.o = *o;
    fast_count = fast_settled = 0;
    make_rows(rows, threads);
    for (uint32_t at = 0, to; at < rows && same; at = to) {
        const uint32_t end = at < half ? half : rows;

        if (at == 0 || at == half)
            same = begin_stream(s, at);
        to = at + 1 + next(cut);
        to = to < end ? to : end;
        for (uint32_t i = at; i < to; i++)
            slow_row(i);
        same = same && run_array(s, at, to);
    }
    same = same && equal();
    for (uint32_t k = 0; k < m.count; k++) {
        coarse += m.kept[k].stage == CF_STAGE_COARSE;
        fine += m.kept[k].stage == CF_STAGE_FINE;
        moved += m.kept[k].pc != pc[m.kept[k].row];
    }
    turned += m.codes;
    cf_sampler_free(s);
    return same;
}

static struct cf_sampler_options random_options(void)
{
    static const uint32_t sets[] = {1, 4, 48, 64};
    struct cf_sampler_options o = {.loads = next(6) ? 1 + next(400) : 0,
                                   .stores = 1 + next(400),
                                   .jitter = next(3) ? next(100) : 0,
                                   .skid = next(3) ? next(4) : 0,
                                   .seed = next(1000)};

    o.fine = (struct cf_fine_options){.most = next(5) ? 1 + next(80) : 0,
                                      .same_set = 1 + next(10),
                                      .misses = 1 + next(4),
                                      .set_window = next(40),
                                      .sets = sets[next(4)],
                                      .line_size = 64};
    o.fine.set_misses = 1 + next(o.fine.set_window + 1);
    return o;
}

/* What weights and periods are, without the model: the loads of each thread up to its last sample.
 */
static void weights(void)
{
    const struct cf_sampler_options o = {.loads = 100, .jitter = 10, .seed = 3};
    struct cf_sampler *s = cf_sampler_new(&o);
    uint64_t loads[2][3] = {0}, sum[2][3] = {0}, upto[2][3] = {0}, low = UINT64_MAX, high = 0;
    int good = 1;

    fast_count = fast_settled = 0;
    make_rows(ROWS, 6);
    good = s && run_array(s, 0, ROWS);
    for (uint32_t i = 0, k = 0; i < ROWS && good; i++) {
        const uint32_t p = pid[i] - 100, t = tid[i] - 7;

        loads[p][t] += op[i] == CF_LOAD;
        if (k < fast_count && fast[k].row == i) {
            good = op[i] == CF_LOAD && fast[k].stage == CF_STAGE_COARSE;
            sum[p][t] += fast[k].weight;
            upto[p][t] = loads[p][t];
            low = fast[k].weight < low ? fast[k].weight : low;
            high = fast[k].weight > high ? fast[k].weight : high;
            k++;
        }
    }
    ok(good && memcmp(sum, upto, sizeof(sum)) == 0,
       "the weights of a thread's loads sum to those that it has made");
    ok(low == 90 && high == 110, "periods are drawn from 90 to 110: %u to %u", (unsigned)low,
       (unsigned)high);
    cf_sampler_free(s);
}

int main(void)
{
    const unsigned cases = thorough() ? 2000 : 200, full = cases / 25;
    unsigned wrong = 0, batches = 0;

    for (unsigned i = 0; i < cases; i++) {
        const struct cf_sampler_options o = random_options();

        wrong += !random_case(&o, 2 + next(8000), i % 20 ? 5 : THREADS);
    }
    is_u64(wrong, 0, "%u random cases as the slow model has them", cases);
    ok(coarse > 1000 && fine > 1000 && moved > 1000 && turned > 1000,
       "with coarse samples (%u), fine ones (%u), skid (%u)", (unsigned)coarse, (unsigned)fine,
       (unsigned)moved);
    wrong = 0;
    for (unsigned i = 0; i < full; i++) {
        struct cf_sampler_options o = random_options();

        o.loads = 1;
        o.stores = 1 + next(3);
        o.skid = 1 + next(30);
        o.fine.misses = 1;
        wrong += !random_case(&o, 30000, 5);
        batches += m.count > CF_SAMPLER_BATCH;
    }
    is_u64(wrong, 0, "%u cases of more rows than are held while samples wait", full);
    ok(batches > full / 2, "%u of them are", batches);
    weights();
    return done();
}
