/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.c - size and ways of the first level for instructions.
 *
 * Each line of a window holds no-operations and a jump. What is fetched ahead hides a miss, so
 * nothing may know where the next jump goes: the targets are read from a list, in another order
 * each time around, which no predictor of branches learns. The no-operations fill the line, so
 * that a cache of decoded instructions has no room for it either (Intel 64 and IA-32 Architectures
 * Optimization Reference Manual, "Decoded ICache": so many of them for so many bytes).
 *
 * Size: windows, as of data. Ways: windows of some lines, so many times, as far apart as the size;
 * of several sets, since the targets of few jumps are guessed. Then the same a way apart, which is
 * the size by the ways: were the size that of another structure, lines would lie in one set as
 * often as that has ways at one distance, and not at the other. Unless both show the same, these
 * rows are of no level.
 *
 * A cache of decoded instructions may still hold such lines: that of an AMD EPYC of Zen 4, which
 * decodes two no-operations as one, holds 192 of them, 12 KiB, and a third as many of other
 * instructions that do nothing. So windows of these must end where the others do.
 */
#include <errno.h>
#include <math.h>

#include "capture/probe/steady/steady.h"

enum {
    LEAST = 4096,
    MOST = 1 << 20,
    CLOSE = 2048, /* to each side of the end */
    STEP = 256,   /* bytes */
    COLUMNS = 32, /* sets that conflict at once */
    FEWEST = 3,   /* times: the targets of fewer jumps are guessed */
    WAYS = 24,    /* at most */
    VISITED = 20000,
    LINE_MOST = 128, /* bytes of a node */
};

/* times the base line; those of `flat` and `step` are measured less often around */
static const double jump = 1.25, rise = 1.01, flat = 1.05, step = 1.125;

/* As steady_visit(), of instructions. 1 where they cannot be executed here. */
static int visit(struct probe *p, int single, struct cf_measured *m, double *value)
{
    const uint32_t n = (uint32_t)p->nodes.count;

    if (p->error)
        return -1;
    errno = 0;
    if (p->bench->run(p->bench->self,
                      &(struct cf_visit){.offset = p->nodes.offset,
                                         .count = n,
                                         .warm = 1,
                                         .rounds = n < VISITED ? VISITED / n + 1 : 1,
                                         .level = 1,
                                         .code = (unsigned char)p->level[0].line,
                                         .single = (unsigned char)single},
                      m) != 0) {
        if (errno == ENOTSUP || errno == EACCES || errno == EPERM)
            return 1;
        p->error = errno ? errno : EIO;
        return -1;
    }
    p->accesses += m->accesses;
    *value = m->spoilt ? NAN : steady_value(m);
    return 0;
}

/* A window, so often: its least value. Its rows are kept; without `kept` it is of single ones. */
static int window(struct probe *p, struct steady_rows *kept, uint64_t bytes, uint32_t repeats,
                  double *least)
{
    *least = NAN;
    for (uint32_t i = 0; i < repeats; i++) {
        struct cf_measured m;
        double value;
        int status;

        probe_clear(p);
        probe_add(p, 0, bytes, p->level[0].line);
        status = visit(p, !kept, &m, &value);
        if (status || (kept && steady_keep(p, kept, "size.code", bytes, &m)))
            return status ? status : -1;
        *least = steady_lesser(*least, value);
    }
    return 0;
}

/* The last window before they take longer for good, to STEP: 0 where there is none. */
static int find_size(struct probe *p, struct steady_rows *kept, uint32_t repeats, uint64_t *size)
{
    uint64_t from = 0, to = 0;
    double base = NAN, least;
    int status;

    *size = 0;
    for (uint64_t bytes = LEAST; bytes <= MOST && bytes <= p->bench->size; bytes *= 2) {
        if ((status = window(p, kept, bytes, repeats, &least)) != 0)
            return status;
        if (from && least > base * jump) {
            to = bytes;
            break;
        }
        base = steady_lesser(base, least);
        from = bytes;
    }
    while (to && to - from > CLOSE) {
        const uint64_t middle = (from + (to - from) / 2) / STEP * STEP;

        if ((status = window(p, kept, middle, repeats, &least)) != 0)
            return status;
        *(least > base * rise ? &to : &from) = middle;
    }
    if (!to)
        return 0;
    from = from > 2 * CLOSE ? from - CLOSE : from / 2;
    for (uint64_t bytes = from / STEP * STEP; bytes <= to + CLOSE; bytes += STEP) {
        if ((status = window(p, kept, bytes, repeats, &least)) != 0)
            return status;
        if (least <= base * rise)
            *size = bytes;
    }
    return 0;
}

/* Whether windows end at `size` of other instructions, too. */
static int ends(struct probe *p, uint64_t size, uint32_t repeats, int *is_end)
{
    const uint64_t bytes[] = {LEAST, size, 2 * size};
    double least[3];

    for (unsigned i = 0; i < 3; i++) {
        const int status = window(p, NULL, bytes[i] < p->bench->size ? bytes[i] : p->bench->size,
                                  repeats, &least[i]);

        if (status)
            return status;
    }
    *is_end = least[1] <= least[0] * flat && least[2] > least[1] * step;
    return 0;
}

/* Windows of some lines, `apart`: how many of them fit. */
static int find_ways(struct probe *p, struct steady_rows *kept, uint64_t apart, uint32_t repeats,
                     unsigned *ways)
{
    const uint64_t bytes = COLUMNS * p->level[0].line;
    double least[WAYS + 1], base = NAN;

    for (unsigned n = 0; n <= WAYS; n++)
        least[n] = NAN;
    *ways = 0;
    for (uint32_t i = 0; i < repeats; i++)
        for (unsigned n = FEWEST; n <= WAYS && n * apart <= p->bench->size; n++) {
            struct cf_measured m;
            double value;
            int status;

            probe_clear(p);
            for (unsigned k = 0; k < n; k++)
                probe_add(p, k * apart, k * apart + bytes, p->level[0].line);
            status = visit(p, 0, &m, &value);
            if (status || steady_keep(p, kept, "associativity.code", n, &m))
                return status ? status : -1;
            least[n] = steady_lesser(least[n], value);
        }
    for (unsigned n = FEWEST; n < WAYS; n++) {
        base = steady_lesser(base, least[n]);
        if (least[n] <= base * (1 + 2 * (rise - 1)))
            *ways = n;
    }
    return 0;
}

int steady_code(struct probe *p, uint32_t repeats)
{
    const uint64_t line = p->level[0].line;
    struct steady_rows sizes = {0}, at_size = {0}, at_way = {0};
    unsigned ways = 0, again = 0;
    uint64_t size = 0, whole;
    int status, is_end = 0;

    if (line < CF_NODE || line > LINE_MOST)
        return 0;
    status = find_size(p, &sizes, repeats, &size);
    whole = steady_plausible(size);
    if (status == 0 && whole)
        status = ends(p, whole, repeats, &is_end);
    if (status == 0 && is_end)
        status = find_ways(p, &at_size, whole, repeats, &ways);
    if (status == 0 && ways && whole / ways / line >= COLUMNS)
        status = find_ways(p, &at_way, whole / ways / line * line, repeats, &again);
    if (status == 0 && ways && again == ways) {
        steady_emit(p, &sizes, NULL, 1);
        steady_emit(p, &at_way, NULL, 1);
        steady_emit(p, &at_size, NULL, 1);
    } else {
        steady_emit(p, &sizes, "latency.code", 0);
        steady_emit(p, &at_size, "ways.code", 0);
        steady_emit(p, &at_way, "ways.code", 0);
    }
    return status < 0 ? -1 : 0;
}
