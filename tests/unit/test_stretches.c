/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stretches.c - stretches of accesses through a pipe (cf_stretches.h), against the rows that
 * they stand for, written down one by one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "formats/writer/cf_stretches.h"
#include "piped.h"
#include "tap.h"

enum { HINTS = 40, SHAPES = 300, MOST = 400000, LONGEST = 20 };

static struct row {
    uint64_t time, addr;
    uint32_t hint, tid;
} row[MOST];
static uint32_t rows, other, missed, turns, wrong_turns;

static uint64_t state = 88172645463325252;

static uint64_t below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

static struct shape {
    struct cf_stretch_row row[LONGEST];
    uint32_t rows, slots;
    int32_t time;
    uint64_t number;
} shape[SHAPES];

static void make_shapes(void)
{
    for (struct shape *s = shape; s < shape + SHAPES; s++) {
        s->rows = 1 + (uint32_t)below(below(3) ? 4 : LONGEST);
        s->slots = (uint32_t)below(6);
        for (uint32_t i = 0; i < s->rows; i++) {
            const int slot = s->slots && below(2);
            struct cf_stretch_row *r = &s->row[i];

            r->delta = below(UINT64_C(1) << 48);
            if (slot)
                r->delta = r->delta % 2 ? r->delta % 200 - 100 : r->delta % (1 << 30);
            r->hint = 1 + (uint32_t)below(HINTS);
            r->step = (uint16_t)(i ? r[-1].step + below(3) : 0);
            r->slot = slot ? (uint16_t)below(s->slots) : CF_STRETCH_NO_SLOT;
        }
        s->time = s->row[s->rows - 1].step + (int32_t)below(50);
    }
}

static void put_down(uint64_t time, uint64_t addr, uint32_t hint, uint32_t tid)
{
    if (rows < MOST)
        row[rows] = (struct row){time, addr, hint, tid};
    rows++;
}

static uint8_t op_of(uint32_t hint)
{
    return hint % 3 ? CF_LOAD : CF_STORE;
}

static uint32_t size_of(uint32_t hint)
{
    return 1u << hint % 4;
}

static uint64_t pc_of(uint32_t hint)
{
    return 0x400000 + 3 * (uint64_t)hint;
}

/* A turn of a thread, or the rest of one. After a turn of few rows, it has to take as many rows
   first as make it a long one. */
static struct cf_stretches *open_for(struct cf_writer *w, uint32_t tid)
{
    enum { AT_ONCE = 64, FEW = 2048 };
    static uint64_t time, addr[AT_ONCE], times[AT_ONCE], pc[AT_ONCE];
    static uint32_t hint[AT_ONCE], size[AT_ONCE], turn_tid, turn_from;
    static uint8_t op[AT_ONCE];
    static int after_few;
    const struct cf_values same[] = {{CF_PID, NULL, 7},
                                     {CF_TID, NULL, tid},
                                     {CF_OP, CF_BY_KIND, 0},
                                     {CF_SIZE, CF_BY_KIND, 0},
                                     {CF_PC, CF_BY_KIND, 0}},
                           each[] = {{CF_PID, NULL, 7},  {CF_TID, NULL, tid}, {CF_OP, op, 0},
                                     {CF_SIZE, size, 0}, {CF_PC, pc, 0},      {CF_TIME, times, 0},
                                     {CF_ADDR, addr, 0}};
    const uint32_t before = rows;
    struct cf_stretches *s;

    if (turn_tid != tid) {
        after_few = turn_tid && before - turn_from < FEW;
        turn_from = before;
        turn_tid = tid;
    }
    time = rows && row[rows - 1].time > time ? row[rows - 1].time : time;
    while (!(s = cf_writer_stretches(w, same, 5)) && rows - before <= FEW) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            times[i] = ++time;
            addr[i] = below(UINT64_C(1) << 48);
            hint[i] = 1 + (uint32_t)below(HINTS);
            op[i] = op_of(hint[i]);
            size[i] = size_of(hint[i]);
            pc[i] = pc_of(hint[i]);
            put_down(times[i], addr[i], hint[i], tid);
        }
        if (cf_writer_rows(w, CF_ACCESS, AT_ONCE, each, 7, hint) != 0)
            abort();
    }
    if (!s)
        abort();
    turns += after_few;
    wrong_turns += after_few ? rows - turn_from < FEW : rows != before;
    after_few = 0;
    while (s->clock < time && cf_stretches_wait(s, time) != 0)
        if (cf_writer_stretched(w) != 0)
            abort();
    return s;
}

/* A stretch, which may begin later than the one before it ended. */
static void come(struct cf_writer *w, struct cf_stretches *s, struct shape *of, uint32_t tid)
{
    const uint64_t wait = below(20000) ? below(90000) : UINT64_C(1) << 33, /* no frame has that */
        begin = s->clock + (below(4) ? 0 : wait);
    uint64_t slot[8];

    while (cf_stretches_full(s, of->rows) || (begin != s->clock && cf_stretches_wait(s, begin)) ||
           (cf_stretches_void(s, of->number) &&
            (of->number = (uint64_t)cf_stretches_add(s, of->row, of->rows, of->slots, of->time) |
                          s->frame << 16) >>
                    32 ==
                UINT32_MAX))
        if (cf_writer_stretched(w) != 0)
            abort();
    for (uint32_t i = 0; i < of->slots; i++) {
        slot[i] = below(UINT64_C(1) << 48);
        memcpy(s->slot + s->slot_bytes + i * CF_STRETCH_SLOT, &slot[i], 8);
    }
    for (uint32_t i = 0; i < of->rows; i++)
        put_down(begin + of->row[i].step,
                 (of->row[i].delta +
                  (of->row[i].slot == CF_STRETCH_NO_SLOT ? 0 : slot[of->row[i].slot])) &
                     CF_STRETCH_ADDRESS,
                 of->row[i].hint, tid);
    cf_stretches_come(s, of->number, of->rows, of->slots * CF_STRETCH_SLOT, of->row[0].step,
                      of->row[of->rows - 1].step, (uint64_t)of->time);
}

/* A row, in the next frame where this one takes no more. */
static void row_again(struct cf_writer *w, struct cf_stretches *s, uint64_t time, uint64_t addr,
                      uint32_t hint)
{
    if (cf_stretches_row(s, time, addr, hint) != 0 &&
        (cf_writer_stretched(w) != 0 || cf_stretches_row(s, time, addr, hint) != 0))
        abort();
}

/* Rows that each wait as long as no other: a frame has fewer numbers. */
static void wait_apart(struct cf_writer *w, struct cf_stretches *s, uint32_t tid)
{
    for (uint32_t i = 0; i < 20000; i++) {
        const uint64_t time = s->clock + 1 + i;

        put_down(time, i, 1, tid);
        row_again(w, s, time, i, 1);
    }
}

/* Rows that were taken back are those that came. */
static void take_back(struct cf_writer *w, struct cf_stretches *s, uint32_t tid)
{
    struct cf_stretches mark;
    const uint64_t *time, *addr;
    const uint32_t *hint, before = rows;
    uint32_t n;

    if (cf_stretches_full(s, 1000) && cf_writer_stretched(w) != 0)
        abort();
    mark = *s;
    for (unsigned i = 0; i < 20; i++)
        come(w, s, &shape[below(SHAPES)], tid);
    if (mark.frame != s->frame) /* too late */
        return;
    n = cf_stretches_back(s, &mark, &time, &addr, &hint);
    other += n != rows - before;
    for (uint32_t i = 0; i < n && before + i < MOST; i++) {
        const struct row *r = &row[before + i];

        if (time[i] != r->time || addr[i] != r->addr || hint[i] != r->hint)
            other++;
        row_again(w, s, time[i], addr[i], hint[i]);
    }
}

/* Which addresses are said to be watched, against a look at each. */
static void reach(struct cf_writer *w, struct cf_stretches *s, uint32_t tid)
{
    struct cf_stretches mark;
    const uint32_t before = rows;
    int there = 0, said;

    if (cf_writer_stretched(w) != 0)
        abort();
    s->low = below(UINT64_C(1) << 48);
    s->high = s->low + below(UINT64_C(1) << 44);
    mark = *s;
    for (unsigned i = 0; i < 8; i++)
        come(w, s, &shape[below(SHAPES)], tid);
    said = cf_stretches_reach(s, &mark);
    for (uint32_t i = before; i < rows && i < MOST; i++)
        there |= row[i].addr - s->low < s->high - s->low;
    missed += there && !said;
    s->low = s->high = 0;
    if (cf_writer_stretched(w) != 0)
        abort();
}

static struct cf_writer *new_writer(void)
{
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .source = (char *)"test_stretches",
                                     .command = (char *)"none"};
    struct cf_writer *const w = cf_writer_open(NULL, "test_stretches");

    if (!w || cf_writer_header(w, &header))
        abort();
    return w;
}

/* What is packed, frame by frame too, is packed of rows. */
static void packed_at_once(const char *path)
{
    struct cf_writer *w;
    char problem[256];
    int taken;

    piped_begin(path);
    w = new_writer();
    cf_writer_framed(w);
    taken = cf_writer_stretches(w, NULL, 0) != NULL;
    if (cf_writer_close(w, 1, problem, sizeof problem) != 0)
        abort();
    piped_end();
    ok(!taken, "packed frames are made of rows");
}

static void write_all(const char *path)
{
    char problem[256];
    struct cf_writer *w;
    struct cf_stretches *s;
    uint32_t tid = 7;

    piped_begin(path);
    w = new_writer();
    for (uint32_t k = 1; k <= HINTS; k++)
        if (cf_writer_kind(w, k, pc_of(k), op_of(k), size_of(k), 0))
            abort();
    make_shapes();
    s = open_for(w, tid);
    wait_apart(w, s, tid);
    while (rows < MOST - 2000) {
        const unsigned what = (unsigned)below(2000);

        if (what < 5)
            s = open_for(w, tid = 7 + (uint32_t)below(3));
        else if (what == 5)
            take_back(w, s, tid);
        else if (what == 6)
            reach(w, s, tid);
        else if (what < 50) {
            const uint64_t time = s->clock + below(3), addr = below(UINT64_C(1) << 48);
            const uint32_t hint = 1 + (uint32_t)below(HINTS);

            put_down(time, addr, hint, tid);
            row_again(w, s, time, addr, hint);
        } else
            come(w, s, &shape[below(SHAPES)], tid);
    }
    if (cf_writer_close(w, 1, problem, sizeof problem) != 0)
        abort();
    piped_end();
    ok(!other, "%u rows that are taken back are others than those that came", other);
    ok(turns && !wrong_turns,
       "%u turns after short ones; %u turns became stretches too early or late", turns,
       wrong_turns);
    ok(!missed, "%u times an access to what is watched was not seen", missed);
}

static void read_all(char *path, int pieces)
{
    struct cf_reader *r = cf_reader_open(&path, 1);
    struct cf_frame *f;
    uint32_t at = 0, wrong = 0, frames = 0;

    if (!r)
        abort();
    cf_reader_want_all(r);
    if (pieces)
        cf_reader_pieces(r);
    while (cf_reader_next(r, &f) > 0) {
        const uint64_t *time = cf_u64(f, CF_TIME), *addr = cf_u64(f, CF_ADDR),
                       *pc = cf_u64(f, CF_PC);
        const uint32_t *tid = cf_u32(f, CF_TID), *size = cf_u32(f, CF_SIZE);
        const uint8_t *op = cf_u8(f, CF_OP);

        if (f->table != CF_ACCESS)
            continue;
        frames++;
        for (uint32_t i = 0; i < f->rows && at < rows; i++, at++) {
            const uint32_t k = row[at].hint;

            wrong += time[i] != row[at].time || addr[i] != row[at].addr || tid[i] != row[at].tid ||
                     pc[i] != pc_of(k) || size[i] != size_of(k) || op[i] != op_of(k);
        }
    }
    ok(!cf_reader_problem(r), "%s", cf_reader_problem(r) ? cf_reader_problem(r) : "no damage");
    ok(at == rows, "%u rows of %u", at, rows);
    ok(frames < 500, "%u frames", frames);
    ok(!wrong, "%u rows are others", wrong);
    cf_reader_close(r);
}

int main(void)
{
    char path[] = "/tmp/cf-stretches-XXXXXX";
    const int fd = mkstemp(path);

    if (fd < 0)
        abort();
    close(fd);
    packed_at_once(path);
    write_all(path);
    read_all(path, 0);
    read_all(path, 1);
    unlink(path);
    return done();
}
