/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts by the index: whatever an index or end frame says wrongly, with checksums that hold, the
 * parts together have each access once and in order, or one of them says that something is wrong.
 */
#include "reseal.h"
#include "stream.h"

enum { SEGMENTS = 2, FRAMES = 4, FRAME_ROWS = 5, PARTS = 3, ALL = SEGMENTS * FRAMES * FRAME_ROWS };

static void write_file(const char *name)
{
    struct cf_writer *w = start(name, 1, "test_part");
    uint64_t now = 1;

    for (int s = 0; s < SEGMENTS; s++) {
        if (cf_writer_header(w, &plain_header))
            abort();
        for (int f = 0; f < FRAMES; f++) {
            const struct cf_values map[] = {
                {CF_TIME, NULL, now}, {CF_PID, NULL, 5}, {CF_OP, NULL, CF_MAPPED}};

            if (cf_writer_rows(w, CF_MAP, 1, map, 3, NULL))
                abort();
            for (int i = 0; i < FRAME_ROWS; i++, now++) {
                /* a frame ends where the next has other columns */
                const struct cf_values access[] = {
                    {CF_TIME, NULL, now}, {CF_OP, NULL, CF_LOAD}, {CF_CPU, NULL, 0}};

                if (cf_writer_rows(w, CF_ACCESS, 1, access, f & 1 ? 3 : 2, NULL))
                    abort();
            }
        }
    }
    if (finish(w, 1))
        abort();
}

/* Reads all parts. 1 where each access came once, in order, -1 where that is said to be wrong,
   else 0: wrong in silence. `maps` counts the rows of map in the last part. */
static int read_parts(const char *name, unsigned parts, unsigned *maps)
{
    uint64_t next = 1;
    int told = 0, right = 1;

    for (unsigned part = 1; part <= parts; part++) {
        struct cf_reader *in = open_one(name);
        struct cf_frame *f;

        *maps = 0;
        cf_reader_want(in, CF_ACCESS, CF_TIME, CF_REQUIRED);
        if (cf_reader_part(in, part, parts) != 0) {
            told |= cf_reader_problem(in) != NULL;
            cf_reader_close(in);
            continue;
        }
        while (cf_reader_next(in, &f) > 0) {
            const uint64_t *time = cf_u64(f, CF_TIME);

            *maps += f->table == CF_MAP ? f->rows : 0;
            for (uint32_t i = 0; f->table == CF_ACCESS && i < f->rows; i++)
                right &= time[i] == next++;
        }
        told |= cf_reader_problem(in) != NULL;
        cf_reader_close(in);
    }
    return told ? -1 : right && next == ALL + 1;
}

static uint8_t *load(const char *name, size_t *bytes)
{
    uint8_t *all = malloc(1 << 16);
    FILE *in = fopen(file_of(name), "rb");

    if (!all || !in)
        abort();
    *bytes = fread(all, 1, 1 << 16, in);
    fclose(in);
    return all;
}

static void store(const char *name, const uint8_t *all, size_t bytes)
{
    FILE *out = fopen(file_of(name), "wb");

    if (!out || fwrite(all, 1, bytes, out) != bytes || fclose(out))
        abort();
}

/* Each byte of what leads to a part, changed in two ways. */
static void test_wrong_indexes(void)
{
    size_t bytes;
    uint8_t *all = load("all.cf", &bytes), *changed = malloc(bytes);
    unsigned silent = 0, told = 0, maps;

    if (!changed)
        abort();
    for (size_t at = 0, n; at < bytes && (n = reseal_size(all + at, bytes - at)); at += n) {
        const unsigned table = all[at] == 'C' ? all[at + 8] : 0;

        if (table != CF_INDEX && table != CF_END)
            continue;
        for (size_t i = 8; i < n; i++)
            for (int flip = 1; flip <= 8; flip += 7) {
                int result;

                memcpy(changed, all, bytes);
                changed[at + i] ^= (uint8_t)flip;
                reseal_one(changed + at, n);
                store("bad.cf", changed, bytes);
                result = read_parts("bad.cf", PARTS, &maps);
                told += result < 0;
                silent += result == 0;
                if (result == 0)
                    note("byte %zu of the frame at %zu, table %u", i, at, table);
            }
    }
    ok(silent == 0, "a wrong index is never taken in silence");
    ok(told > 500, "%u wrong indexes are reported", told);
    free(all);
    free(changed);
}

/* A frame that the index leaves out, with the counts of the end frame right. */
static void test_changed_meanwhile(void)
{
    struct cf_reader *in = open_one("all.cf");
    struct cf_frame *f;
    size_t bytes;
    uint8_t *all = load("all.cf", &bytes);

    if (cf_reader_part(in, 1, 2) != 0)
        abort();
    all[bytes / 4] ^= 1;
    memset(all + 100, 0, 200);
    store("all.cf", all, bytes);
    while (cf_reader_next(in, &f) > 0)
        ;
    ok(cf_reader_problem(in) != NULL, "a file that changes after its index was read: %s",
       cf_reader_problem(in));
    cf_reader_close(in);
    free(all);
}

static void test_no_such_part(void)
{
    static const uint32_t of[][2] = {{0, 2}, {3, 2}, {1, 0}, {1, CF_MAX_PARTS + 1}};

    for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        struct cf_reader *in = open_one("all.cf");

        ok(cf_reader_part(in, of[i][0], of[i][1]) == -1 && cf_reader_problem(in),
           "there is no part %u of %u", of[i][0], of[i][1]);
        cf_reader_close(in);
    }
}

int main(void)
{
    unsigned maps;

    if (!mkdtemp(dir))
        return 1;
    write_file("all.cf");
    for (unsigned n = 1; n <= 12; n++)
        ok(read_parts("all.cf", n, &maps) == 1 && maps == SEGMENTS * FRAMES,
           "%u parts have each access once, and the last one has all mappings", n);
    test_no_such_part();
    test_wrong_indexes();
    test_changed_meanwhile();
    (void)remove(file_of("all.cf"));
    (void)remove(file_of("bad.cf"));
    (void)remove(dir);
    return done();
}
