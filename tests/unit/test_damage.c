/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_damage: every way to cut a small stream short and every byte of it changed, of accesses and
 * of cache lines, raw and packed, as a file, as a file read through its index, and through a pipe.
 *
 * What must hold each time: reading ends; either the reader tells of damage or it hands out
 * exactly what the whole stream holds; and every frame that ended before the first wrong byte
 * comes as it was. Then the same bytes are changed with the checksums made right again, so that
 * the decoders behind the sums see them: reading must end, and memory must stay within the bound
 * that the header of the codec promises (the sanitizers, where they are on, see the rest). Then
 * each column is made shorter and longer behind right checksums, which no codec may take. Memory:
 * the stream (some kilobytes) and one digest a frame.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "formats/codec/cf_codec.h"
#include "reseal.h"
#include "small_stream.h"
#include "tap.h"

/* Of the changes to a byte, each byte takes every so many where there is no time for all. The
   sanitizers are after wrong code, which that finds as well. */
#ifdef CF_SANITIZED
enum { EVERY = 4 };
#else
enum { EVERY = 2 };
#endif
static unsigned every;
enum { MOST_FRAMES = 4096 };

enum way { BY_FILE, BY_INDEX, BY_PIPE };
static const char *const way_names[] = {"file", "index", "pipe"};

struct seen {
    uint64_t digest[MOST_FRAMES]; /* of everything that a frame says */
    uint64_t offset[MOST_FRAMES]; /* in the stream, bytes */
    unsigned frames;
    unsigned damages;
    uint32_t codecs; /* those from CF_CODES on that columns have, a bit each */
    int problem;
};

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    return XXH3_64bits_withSeed(p, n, h);
}

static uint64_t digest_frame(struct cf_reader *in, struct cf_frame *f)
{
    uint64_t h = f->table * 31 + f->rows;

    if (f->table == CF_HEADER)
        return f->header ? mix(h, f->header->yaml, f->header->yaml_bytes) : h;
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *c = &f->column[i];
        const uint32_t *id;

        h = mix(h, &c->id, sizeof(c->id));
        if (!c->values)
            continue;
        if (c->type == CF_STR && (id = cf_u32(f, c->id))) {
            for (uint32_t r = 0; r < f->rows; r++) {
                const char *text = cf_reader_text(in, id[r]);
                h = mix(h, text, strlen(text));
            }
        } else if (cf_type_width(c->type)) {
            h = mix(h, c->values, f->rows * cf_type_width(c->type));
        }
    }
    return h;
}

/* A file of these bytes: its descriptor, one for all calls, and its name in /proc. */
static void put_file(const uint8_t *bytes, size_t n, char name[64])
{
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("stream", 0);
    if (fd < 0 || pwrite(fd, bytes, n, 0) != (ssize_t)n || ftruncate(fd, (off_t)n) != 0)
        abort();
    snprintf(name, 64, "/proc/self/fd/%d", fd);
}

/* Reads the bytes and notes what came. */
static void read_all(const uint8_t *bytes, size_t n, enum way way, struct seen *s)
{
    char name[64], *files[1] = {name};
    struct cf_reader *in;
    struct cf_frame *f;
    int ends[2], saved = -1;

    s->frames = s->damages = 0;
    s->codecs = 0;
    s->problem = 0;
    if (way == BY_PIPE) {
        if (pipe(ends) || write(ends[1], bytes, n) != (ssize_t)n)
            abort();
        close(ends[1]);
        saved = dup(0);
        dup2(ends[0], 0);
        close(ends[0]);
        strcpy(name, "-");
    } else {
        put_file(bytes, n, name);
    }
    in = cf_reader_open(files, 1);
    if (!in)
        abort();
    cf_reader_want_all(in);
    if (way == BY_INDEX)
        cf_reader_range(in, 700, 900);
    while (cf_reader_next(in, &f) > 0 && s->frames < MOST_FRAMES) {
        for (unsigned i = 0; i < f->columns; i++)
            s->codecs |= f->column[i].codec >= CF_CODES ? 1u << f->column[i].codec : 0;
        s->digest[s->frames] = digest_frame(in, f);
        s->offset[s->frames++] = f->offset;
    }
    s->damages = cf_reader_damages(in);
    s->problem = cf_reader_problem(in) != NULL;
    cf_reader_close(in);
    if (saved >= 0) {
        dup2(saved, 0);
        close(saved);
    }
}

static int same(const struct seen *a, const struct seen *b)
{
    return a->frames == b->frames &&
           !memcmp(a->digest, b->digest, a->frames * sizeof(a->digest[0]));
}

/* The frames of `whole` that ended before byte `at` came first and as they were. */
static int kept(const struct seen *whole, const struct seen *s, uint64_t at)
{
    for (unsigned i = 0; i + 1 < whole->frames && whole->offset[i + 1] <= at; i++)
        if (i >= s->frames || s->digest[i] != whole->digest[i])
            return 0;
    return 1;
}

/* What was told as kinds comes back as columns. */
static void numbered_values(const uint8_t *bytes, size_t n)
{
    char name[64], *files[1] = {name};
    struct cf_reader *in;
    struct cf_frame *f;
    uint64_t rows = 0, bad = 0;

    put_file(bytes, n, name);
    in = cf_reader_open(files, 1);
    if (!in)
        abort();
    cf_reader_want_all(in);
    while (cf_reader_next(in, &f) > 0) {
        const uint64_t *time = cf_u64(f, CF_TIME), *pc = cf_u64(f, CF_PC);
        const uint32_t *size = cf_u32(f, CF_SIZE);
        const uint8_t *op = cf_u8(f, CF_OP);

        for (uint32_t i = 0; f->table == CF_ACCESS && i < f->rows; i++, rows++) {
            const uint32_t k = kind_of_row(i);

            bad += !time || !pc || !size || !op || time[i] != 400 * (rows / ROWS) + i ||
                   pc[i] != 0x400000 + 5 * k || size[i] != 1u << k % 4 ||
                   op[i] != (k % 3 ? CF_LOAD : CF_STORE);
        }
    }
    ok(rows == 2 * ROWS && !bad && !cf_reader_damages(in),
       "numbered: %llu rows have what their kinds say", (unsigned long long)rows);
    cf_reader_close(in);
}

/* What a byte of the stream is: of what says where things stand, of what is found by a sum and then
   means the same whichever way it came, or of what leads a reader by the index. */
enum place { HEAD, PAYLOAD, LEADING };

struct trial {
    const char *kind;
    const uint8_t *bytes;
    size_t n;
    struct seen whole[3];
    uint8_t place[MOST_BYTES]; /* enum place of each byte */
};

static void find_places(struct trial *t)
{
    size_t size;

    for (size_t at = 0; at < t->n && (size = reseal_size(t->bytes + at, t->n - at)); at += size) {
        const uint8_t *p = t->bytes + at;
        const unsigned table = p[8] | p[9] << 8;
        const size_t columns = p[10] | (size_t)p[11] << 8;
        const size_t head =
            p[0] == 'C' ? RESEAL_FRAME + columns * RESEAL_COLUMN : (size_t)RESEAL_SEGMENT;
        const int leads = p[0] == 'C' && (table == CF_INDEX || table == CF_END);

        memset(t->place + at + head, leads ? LEADING : PAYLOAD, size - head);
    }
}

/* Whether a byte need not be changed in this way too: what it means behind a right sum does not
   depend on the way, once BY_FILE has shown it. */
static int shown_by_file(const struct trial *t, enum way way, size_t at)
{
    return (way == BY_PIPE && t->place[at] != HEAD) || (way == BY_INDEX && t->place[at] == PAYLOAD);
}

static void cuts(struct trial *t, enum way way)
{
    static struct seen s;
    unsigned silent = 0, lost = 0;
    size_t at;

    for (at = 0; at < t->n; at++) {
        read_all(t->bytes, at, way, &s);
        if (!s.damages || !s.problem) {
            if (!silent++)
                note("%s, %s: cut at byte %zu of %zu is not told", t->kind, way_names[way], at,
                     t->n);
        }
        if (way != BY_INDEX && !kept(&t->whole[way], &s, at)) {
            if (!lost++)
                note("%s, %s: cut at byte %zu: an earlier frame is lost or changed", t->kind,
                     way_names[way], at);
        }
    }
    ok(!silent, "%s, %s: each of %zu cuts is told", t->kind, way_names[way], t->n);
    ok(!lost, "%s, %s: what was before a cut comes", t->kind, way_names[way]);
}

static void flips(struct trial *t, enum way way, uint8_t *copy)
{
    static const uint8_t mask[] = {0x01, 0x80, 0xff, 0x10};
    static struct seen s;
    unsigned silent = 0, lost = 0;

    for (size_t at = 0; at < t->n; at++)
        for (unsigned m = 0; m < sizeof(mask); m++) {
            if (t->place[at] == PAYLOAD ? m != at % sizeof(mask) : (at + m) % every != 0)
                continue; /* a sum finds any change alike */
            memcpy(copy, t->bytes, t->n);
            copy[at] ^= mask[m];
            read_all(copy, t->n, way, &s);
            if (!s.damages && !same(&s, &t->whole[way])) {
                if (!silent++)
                    note("%s, %s: byte %zu changed by 0x%02x: other rows, and no word of it",
                         t->kind, way_names[way], at, mask[m]);
            }
            if (way != BY_INDEX && !kept(&t->whole[way], &s, at)) {
                if (!lost++)
                    note("%s, %s: byte %zu changed by 0x%02x: an earlier frame is lost", t->kind,
                         way_names[way], at, mask[m]);
            }
        }
    ok(!silent, "%s, %s: each of %zu changed bytes is told or harmless", t->kind, way_names[way],
       t->n);
    ok(!lost, "%s, %s: what was before a changed byte comes", t->kind, way_names[way]);
}

/* A wrong byte behind checksums that are right. */
static void sealed(struct trial *t, enum way way, uint8_t *copy)
{
    static const uint8_t mask[] = {0x01, 0x02, 0x08, 0x40, 0x80, 0xff};
    static struct seen s;
    struct rusage before, after;
    size_t trials = 0;

    getrusage(RUSAGE_SELF, &before);
    for (size_t at = 0; at < t->n; at++)
        for (unsigned m = at % every; m < sizeof(mask) && !shown_by_file(t, way, at);
             m += every, trials++) {
            memcpy(copy, t->bytes, t->n);
            copy[at] ^= mask[m];
            reseal(copy, t->n);
            read_all(copy, t->n, way, &s);
        }
    getrusage(RUSAGE_SELF, &after);
    ok(1, "%s, %s: %zu changes behind right checksums: reading ends", t->kind, way_names[way],
       trials);
    /* the most that a frame may decode to, 64 columns of 524,288 values, twice for good measure; a
       sanitizer holds freed memory back */
#ifndef CF_SANITIZED
    ok(after.ru_maxrss - before.ru_maxrss < 2 * 64 * 8 * 512,
       "%s, %s: memory stays within rows times width", t->kind, way_names[way]);
#endif
}

/* The stream with one column of `bytes` bytes where it had others, zeros at its end when it grew,
   and all checksums right. Returns its length. */
static size_t resize(const struct trial *t, size_t frame, unsigned column, uint32_t bytes,
                     uint8_t *out)
{
    const uint8_t *p = t->bytes + frame, *d = p + RESEAL_FRAME + column * RESEAL_COLUMN;
    const size_t columns = p[10] | (size_t)p[11] << 8, size = reseal_u32(p + 4);
    const uint32_t had = reseal_u32(d + 4), kept = bytes < had ? bytes : had;
    const size_t was = (had + 7) & ~(size_t)7, is = (bytes + 7) & ~(size_t)7, all = size - was + is;
    size_t at = RESEAL_FRAME + columns * RESEAL_COLUMN;
    uint8_t *to = out + frame;

    for (unsigned i = 0; i < column; i++)
        at += (reseal_u32(p + RESEAL_FRAME + i * RESEAL_COLUMN + 4) + 7) & ~(size_t)7;
    memcpy(out, t->bytes, frame + at);
    memset(to + at, 0, is);
    memcpy(to + at, p + at, kept);
    memcpy(to + at + is, p + at + was, t->n - frame - at - was);
    for (int i = 0; i < 4; i++) {
        to[4 + i] = (uint8_t)(all >> 8 * i);
        to[RESEAL_FRAME + column * RESEAL_COLUMN + 4 + i] = (uint8_t)(bytes >> 8 * i);
    }
    reseal_one(to, all);
    return t->n - was + is;
}

/* Every column at every shorter length, and up to a word longer, behind right checksums: damage.
   What the reader has no need to look at in an index or trailer is left out. */
static void resized(const struct trial *t)
{
    static uint8_t copy[MOST_BYTES + 64];
    static struct seen s;
    unsigned silent = 0;
    size_t trials = 0, size;

    for (size_t at = 0; at < t->n && (size = reseal_size(t->bytes + at, t->n - at)); at += size) {
        const uint8_t *p = t->bytes + at;
        const unsigned table = p[8] | p[9] << 8, columns = p[10] | p[11] << 8;

        for (unsigned i = 0; p[0] == 'C' && table != CF_INDEX && i < columns; i++) {
            const uint8_t *d = p + RESEAL_FRAME + i * RESEAL_COLUMN;
            const uint32_t bytes = reseal_u32(d + 4);

            for (uint32_t other = 0; other <= bytes + 8; other++) {
                if (other == bytes || (d[0] | d[1] << 8) == CF_TRAILER)
                    continue;
                read_all(copy, resize(t, at, i, other, copy), BY_FILE, &s);
                trials++;
                if (!s.damages && !silent++)
                    note("%s: frame at %zu, column %u, codec %u: %u bytes are taken as %u", t->kind,
                         at, d[0] | d[1] << 8, d[3], other, bytes);
            }
        }
    }
    ok(trials && !silent, "%s: columns of %zu other lengths behind right checksums are refused",
       t->kind, trials);
}

/* A stream that was cut off, and a whole one joined to it: of the whole one all frames come. */
static void joined(const struct trial *t, enum way way)
{
    static uint8_t both[2 * MOST_BYTES];
    static struct seen s;
    const struct seen *whole = &t->whole[way];
    size_t at;
    unsigned bad = 0;

    for (size_t cut = t->whole[BY_FILE].offset[1] + 8; cut < t->n && cut + t->n < MOST_BYTES;
         cut += 13) {
        memcpy(both, t->bytes, cut);
        memcpy(both + cut, t->bytes, t->n);
        read_all(both, cut + t->n, way, &s);
        at = s.frames - whole->frames;
        bad += !s.damages || s.frames < whole->frames ||
               memcmp(s.digest + at, whole->digest, whole->frames * sizeof(whole->digest[0])) != 0;
    }
    ok(!bad, "%s, %s: what is joined to a cut stream comes: %u lost", t->kind, way_names[way], bad);
}

/* Bytes that are missing in a frame cost that one alone. */
static void missing(const struct trial *t, enum way way, uint8_t *copy)
{
    static struct seen s;
    const struct seen *whole = &t->whole[way];
    unsigned bad = 0;

    for (unsigned i = 1; i + 1 < whole->frames; i++) {
        const size_t at = whole->offset[i + 1] - 9;

        memcpy(copy, t->bytes, at);
        memcpy(copy + at, t->bytes + at + 5, t->n - at - 5);
        read_all(copy, t->n - 5, way, &s);
        bad += !s.damages || s.frames + 1 != whole->frames;
    }
    ok(!bad, "%s, %s: frames behind missing bytes come: %u lost", t->kind, way_names[way], bad);
}

/* An index frame without rows, between segments with an index. */
static void empty_index(const struct trial *t)
{
    static uint8_t three[3 * MOST_BYTES];
    static struct seen s;
    size_t size;
    unsigned found = 0;

    for (int i = 0; i < 3; i++)
        memcpy(three + (size_t)i * t->n, t->bytes, t->n);
    for (size_t at = t->n; at < 2 * t->n && (size = reseal_size(three + at, 2 * t->n - at));
         at += size)
        if (three[at] == 'C' && three[at + 8] == CF_INDEX) {
            memset(three + at + 12, 0, 4);
            reseal_one(three + at, size);
            found++;
        }
    read_all(three, 3 * t->n, BY_INDEX, &s);
    ok(found == 1 && s.frames >= 3 * t->whole[BY_INDEX].frames && !s.damages,
       "%s: a segment whose index is empty is read", t->kind);
}

/* Segments one in another: each has a frame that claims to reach to the end of the input, with a
   head that holds and a column that does not. Looked into each, the same bytes would be summed once
   for every segment. */
static void nested(const struct trial *t)
{
    enum { WHOLE = 24 << 20, NESTS = 30000, HEAD = RESEAL_FRAME + RESEAL_COLUMN };
    static struct seen s;
    uint8_t *all = calloc(1, WHOLE), *p = all;
    const size_t segment = reseal_size(t->bytes, t->n);

    if (!all || NESTS * (segment + HEAD) > WHOLE / 2)
        abort();
    for (int i = 0; i < NESTS; i++) {
        const uint32_t total = (uint32_t)(all + WHOLE - (p + segment));
        const uint32_t bytes = total - HEAD;
        uint8_t *frame = p + segment;

        memcpy(p, t->bytes, segment);
        memcpy(frame, "CFfr", 4);
        memcpy(frame + 4, &total, 4);
        frame[8] = CF_ACCESS;
        frame[10] = 1; /* column */
        frame[12] = 1; /* row */
        frame[RESEAL_FRAME] = CF_OP;
        frame[RESEAL_FRAME + 2] = CF_U8;
        memcpy(frame + RESEAL_FRAME + 4, &bytes, 4);
        reseal_one(frame, HEAD); /* its bytes are not there, so the head alone */
        p = frame + HEAD;
    }
    read_all(all, WHOLE, BY_FILE, &s);
    ok(s.damages > 3 && s.damages < 100, "nested frames: the input is looked at a few times: %u",
       s.damages);
    free(all);
}

int main(void)
{
    static uint8_t bytes[FORMS][MOST_BYTES], copy[MOST_BYTES];
    static struct trial trial[FORMS];
    static struct seen nothing;

    every = thorough() ? 1 : EVERY;
    for (int form = RAW; form < FORMS; form++) {
        struct trial *t = &trial[form];

        t->kind = form_names[form];
        t->bytes = bytes[form];
        t->n = make_small(bytes[form], form);
        memcpy(copy, t->bytes, t->n);
        ok(reseal(copy, t->n) >= (form == RAW ? 15 : 5) && !memcmp(copy, t->bytes, t->n),
           "%s: the layout is the one of cf-stream(5)", t->kind);
        find_places(t);
        for (enum way way = BY_FILE; way <= BY_PIPE; way++) {
            read_all(t->bytes, t->n, way, &t->whole[way]);
            ok(!t->whole[way].damages && t->whole[way].frames > 3,
               "%s, %s: the whole stream of %zu bytes reads, %u frames", t->kind, way_names[way],
               t->n, t->whole[way].frames);
        }
        ok(same(&t->whole[BY_FILE], &t->whole[BY_PIPE]), "%s: a pipe gives what a file gives",
           t->kind);
        ok(t->whole[BY_FILE].codecs == form_codecs[form],
           "%s: it has the codecs that it is for: %#x", t->kind, t->whole[BY_FILE].codecs);
        read_all(t->bytes, 0, BY_PIPE, &nothing);
        ok(nothing.damages == 1 && !nothing.frames, "%s: an empty input is told", t->kind);
    }
    for (int form = RAW; form < FORMS; form++) {
        cuts(&trial[form], BY_FILE);
        cuts(&trial[form], BY_INDEX);
        cuts(&trial[form], BY_PIPE);
        flips(&trial[form], BY_FILE, copy);
        flips(&trial[form], BY_INDEX, copy);
        flips(&trial[form], BY_PIPE, copy);
        sealed(&trial[form], BY_FILE, copy);
        sealed(&trial[form], BY_INDEX, copy);
        sealed(&trial[form], BY_PIPE, copy);
        resized(&trial[form]);
        joined(&trial[form], BY_FILE);
        joined(&trial[form], BY_PIPE);
        missing(&trial[form], form % 2 ? BY_FILE : BY_PIPE, copy);
    }
    numbered_values(trial[NUMBERED].bytes, trial[NUMBERED].n);
    empty_index(&trial[PACKED]);
    nested(&trial[RAW]);
    return done();
}
