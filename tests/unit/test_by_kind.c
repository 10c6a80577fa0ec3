/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_by_kind: cf_frame_kinds() and cf_frame_set_of_kind(): what a filter says of each kind of row
 * is read back row by row, in whichever way the frame goes out.
 * Memory: 150,000 rows.
 */
#include "stream.h"

/* What a filter says of an access by its pc. */
static uint64_t of_pc(uint64_t pc)
{
    return pc * 0x9e3779b97f4a7c15u >> 20;
}

/* Copies by_kind.cf; sets column dist, and replaces column size, by kind, and drops a column where
   `drop` is not 0. How many frames stated their kinds; -1: wrong. */
static int copy_by_kind(const char *to, int packed, unsigned drop, int pieces)
{
    static uint64_t dist[CF_MAX_CODES], sizes[CF_MAX_CODES];
    struct cf_writer *w = start(to, packed, "test_stream by kind");
    struct cf_reader *in = open_one("by_kind.cf");
    struct cf_row_kinds k;
    struct cf_frame *f;
    int status = 0, stated = 0;

    if (pieces)
        cf_reader_pieces(in);
    while (cf_reader_next(in, &f) > 0) {
        if (f->table == CF_ACCESS && cf_frame_kinds(f, &k)) {
            stated++;
            for (uint32_t i = 0; i < k.kinds; i++) {
                dist[i] = of_pc(k.pc[i]);
                sizes[i] = k.pc[i] >> 3 & 7;
            }
            status |= cf_frame_set_of_kind(f, CF_DIST, dist);
            status |= cf_frame_set_of_kind(f, CF_SIZE, sizes);
        }
        if (f->table == CF_ACCESS && drop)
            cf_frame_drop(f, drop);
        status |= cf_writer_frame(w, f);
    }
    status |= cf_reader_damages(in) != 0;
    cf_reader_close(in);
    return finish(w, 1) | status ? -1 : stated;
}

/* How many rows say what copy_by_kind() set. */
static uint32_t right_by_kind(const char *from, uint32_t most)
{
    struct cf_reader *in = open_one(from);
    struct cf_frame *f;
    uint32_t rows = 0, right = 0;

    cf_reader_want_all(in);
    while (cf_reader_next(in, &f) > 0) {
        const uint64_t *dist = f->table == CF_ACCESS ? cf_u64(f, CF_DIST) : NULL;

        for (uint32_t i = 0; dist && i < f->rows && rows < most; i++, rows++)
            right += dist[i] == of_pc(g_pc[rows]) && cf_u64(f, CF_ADDR)[i] == g_addr[rows] &&
                     cf_u32(f, CF_SIZE)[i] == (g_pc[rows] >> 3 & 7);
    }
    right = cf_reader_damages(in) ? 0 : right;
    cf_reader_close(in);
    return right;
}

/* Copies a stream into a packed file. */
static int pack(const char *from, const char *to)
{
    struct cf_writer *w = start(to, 1, "test_stream pack");
    struct cf_reader *in = open_one(from);
    struct cf_frame *f;
    int status = 0;

    while (cf_reader_next(in, &f) > 0)
        status |= cf_writer_frame(w, f);
    cf_reader_close(in);
    return finish(w, 1) | status;
}

/* Columns by kind of row arrive as values, whether the frame goes out by kind or by row. */
static void test_by_kind(void)
{
    enum { ROWS = 150000 };
    const struct cf_values columns[] = {{CF_TIME, g_time, 0},
                                        {CF_ADDR, g_addr, 0},
                                        {CF_PC, g_pc, 0},
                                        {CF_SIZE, g_size, 0},
                                        {CF_TID, NULL, 7}};
    const struct {
        int packed;
        unsigned drop;
        const char *what;
    } way[] = {{1, 0, "to a file"},
               {0, 0, "to a pipe"},
               {1, CF_PC, "to a file, without the pc that they hang on"},
               {0, CF_TIME, "to a pipe, of a frame that lost a column"}};
    struct cf_writer *w = start("by_kind.cf", 1, "test_stream");
    int status = cf_writer_header(w, &plain_header);

    fill(LOOPS, ROWS);
    status |= cf_writer_rows(w, CF_ACCESS, ROWS, columns, 5, NULL) | finish(w, 1);
    for (unsigned i = 0; i < sizeof way / sizeof *way; i++) {
        ok(!status && copy_by_kind("kinds.cf", way[i].packed, way[i].drop, 0) > 0,
           "columns are set by kind, %s", way[i].what);
        is_u64(right_by_kind("kinds.cf", ROWS), ROWS, "and are read by row");
        ok(!pack("kinds.cf", "packed.cf") && right_by_kind("packed.cf", ROWS) == ROWS,
           "also from a file that is made of that");
    }
    is_u64((uint64_t)copy_by_kind("kinds.cf", 0, 0, 1), 0, "a piece of a frame states no kinds");
    w = start("by_kind.cf", 0, "test_stream");
    status = cf_writer_header(w, &plain_header);
    status |= cf_writer_rows(w, CF_ACCESS, ROWS, columns + 1, 1, NULL) | finish(w, 1);
    ok(!status && copy_by_kind("kinds.cf", 0, 0, 0) == 0, "nor does a frame without pcs");
}

int main(void)
{
    begin_streams();
    test_by_kind();
    return end_streams();
}
