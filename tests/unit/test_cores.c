/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cores and spaces of rows, by pieces and row by row, against lists that are searched from their
 * begin; for streams with and without each column, whose threads change often, seldom or never.
 */
#include <string.h>

#include "filters/engine/rows/cores.h"
#include "tap.h"

enum { ROWS = 3000, MOST = 4000 };

static uint64_t state = 7;

static uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* What was seen so far, in the order of appearance. */
static struct {
    uint32_t pid, tid;
} thread[MOST];
static uint32_t process[MOST], threads, processes;

static uint32_t find_thread(uint32_t pid, uint32_t tid)
{
    for (uint32_t i = 0; i < threads; i++)
        if (thread[i].pid == pid && thread[i].tid == tid)
            return i;
    thread[threads].pid = pid;
    thread[threads].tid = tid;
    return threads++;
}

static uint32_t find_process(uint32_t pid)
{
    for (uint32_t i = 0; i < processes; i++)
        if (process[i] == pid)
            return i;
    process[processes] = pid;
    return processes++;
}

static uint64_t reversed(uint32_t n)
{
    uint64_t key = 0;

    for (unsigned bit = 0; bit < 32; bit++)
        key |= (uint64_t)(n >> bit & 1) << (62 - bit);
    return key;
}

static uint32_t cpu[ROWS], pid[ROWS], tid[ROWS], want_core[ROWS];
static uint64_t want_space[ROWS];

static void make_rows(uint32_t change, uint32_t pids, uint32_t tids)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        int renew = i == 0 || next(change) == 0;

        cpu[i] = renew ? next(9) : cpu[i - 1];
        pid[i] = renew ? next(pids) * 0x10000u : pid[i - 1];
        tid[i] = renew ? next(tids) * 0x10001u : tid[i - 1];
    }
}

static void expect(unsigned cores, int with_cpu, int with_pid, int with_tid)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t p = with_pid ? pid[i] : 0, t = with_tid ? tid[i] : 0;

        want_core[i] = with_cpu ? cpu[i] % cores : cores > 1 ? find_thread(p, t) % cores : 0;
        want_space[i] = with_pid ? reversed(find_process(p)) : 0;
    }
}

int main(void)
{
    static uint8_t core[ROWS];
    static uint64_t space[ROWS];
    static const uint32_t changes[] = {1, 2, 7, 100, 4000};
    unsigned wrong_rows = 0, wrong_pieces = 0, short_pieces = 0, rounds = 0;

    for (unsigned mix = 0; mix < 8; mix++)
        for (unsigned k = 0; k < 5; k++)
            for (unsigned cores = 1; cores <= 256; cores = cores < 4 ? cores + 1 : cores * 4) {
                const uint32_t *c = mix & 1 ? cpu : NULL, *p = mix & 2 ? pid : NULL,
                               *t = mix & 4 ? tid : NULL;
                struct cf_cores *by_piece = cf_cores_new(cores), *by_row = cf_cores_new(cores);
                uint32_t pids = next(2) ? 3 : 50, tids = next(2) ? 2 : 30;

                need(by_piece && by_row, "made for %u cores", cores);
                threads = processes = 0;
                /* numbers last from one frame to the next */
                for (unsigned frame = 0; frame < 3; frame++, rounds++) {
                    make_rows(changes[k], pids, tids);
                    expect(cores, c != NULL, p != NULL, t != NULL);
                    if (cf_cores_rows(by_row, c, p, t, ROWS, core, space) != 0)
                        wrong_rows++;
                    for (uint32_t i = 0; i < ROWS; i++)
                        wrong_rows += core[i] != want_core[i] || space[i] != want_space[i];
                    for (uint32_t from = 0, end; from < ROWS; from = end) {
                        uint32_t at = 999;
                        uint64_t in = 999;

                        end = cf_cores_piece(by_piece, c, p, t, from, ROWS, &at, &in);
                        if (end <= from || end > ROWS) {
                            wrong_pieces++;
                            break;
                        }
                        for (uint32_t i = from; i < end; i++)
                            wrong_pieces += at != want_core[i] || in != want_space[i];
                        short_pieces += end < ROWS && at == want_core[end] && in == want_space[end];
                    }
                }
                cf_cores_free(by_piece);
                cf_cores_free(by_row);
            }
    ok(rounds == 8 * 5 * 7 * 3, "%u frames", rounds);
    is_u64(wrong_rows, 0, "row by row");
    is_u64(wrong_pieces, 0, "pieces");
    is_u64(short_pieces, 0, "no piece ends before its time");
    {
        struct cf_cores *c = cf_cores_new(2);
        uint32_t at;
        uint64_t in;

        is_u64(cf_cores_piece(c, NULL, NULL, NULL, 0, 0, &at, &in), 0, "no row");
        for (uint32_t i = 0; i < ROWS; i++)
            pid[i] = tid[i] = i;
        is_u64(cf_cores_piece(c, NULL, NULL, tid, 5, 6, &at, &in), 6, "one row");
        ok(cf_cores_rows(c, NULL, pid, tid, ROWS, core, space) == 0, "many threads");
        ok(core[1] != core[2] && space[1] != space[2], "they take turns");
        cf_cores_free(c);
        cf_cores_free(NULL);
    }
    return done();
}
