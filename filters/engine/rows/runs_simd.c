/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs_simd.c - the plain rows of runs.c, 64 at a time.
 *
 * Vectors make masks with a bit a row: its line differs from that of the row before, it is a load,
 * a store or a fetch, it touches a second line. What is not plain ends the block before it.
 * Arithmetic on the masks gives the rows that begin runs and what is known of each run. Where rows
 * touch two lines, each of 32 rows gets two bits, of which the second takes part where there is a
 * second line. Million rows a second on one core, loads and stores of gzip: 440 SSE2, 850 AVX2,
 * 1,300 AVX-512; one by one 210.
 */
#include "filters/engine/rows/runs_parts.h"
#include "formats/cpu/cf_simd.h"
#include "formats/stream/cf.h"

enum { ROWS = 64, VECTORS = ROWS / CF_LANES };

/* Rows ahead of those at hand that are asked for, far enough to come from memory in time. */
enum { AHEAD = 256 };

/* 64 rows, of which the first `rows` are there. */
struct block {
    const uint64_t *addr;
    const uint8_t *op;
    const uint32_t *size;
    unsigned rows;
};

/* Room for a block that is at the end of its arrays. */
struct copy {
    uint64_t addr[ROWS];
    uint8_t op[ROWS];
    uint32_t size[ROWS];
};

/* Of a block a bit a row; or of its first half, where it has straddling rows, two bits a row. */
struct masks {
    uint64_t begins; /* its line differs from that of the row before */
    uint64_t loads, stores, fetches;
    uint64_t straddles; /* more than one line */
    uint64_t part;      /* takes part */
    uint64_t cut;       /* shares no run with what comes before */
};

/* Runs that begin in a block, of bits as in the masks. */
struct found {
    uint64_t begins;
    uint64_t stores, again, fetches; /* rows that make a run have the flag; fetches: at its begin */
};

/* The processor by itself does not look far enough ahead in three columns at once. */
CF_INLINE void ask(const struct cf_runs_input *in, uint32_t row)
{
#pragma GCC unroll 8
    for (unsigned k = 0; k < ROWS; k += 8)
        __builtin_prefetch(in->addr + row + AHEAD + k);
    if (in->size)
#pragma GCC unroll 4
        for (unsigned k = 0; k < ROWS; k += 16)
            __builtin_prefetch(in->size + row + AHEAD + k);
    if (in->op)
        __builtin_prefetch(in->op + row + AHEAD);
}

typedef uint32_t halves __attribute__((vector_size(CF_LANES * 8)));

/* Lower halves of the values of two vectors. */
CF_INLINE halves low(cf_vec a, cf_vec b)
{
    const halves x = (halves)a, y = (halves)b;

#if defined(CF_SIMD_AVX2)
    return __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14);
#else
    return __builtin_shufflevector(x, y, 0, 2, 4, 6);
#endif
}

/* A bit for each half whose top bit is set. */
CF_INLINE uint64_t tops(halves v)
{
#if defined(CF_SIMD_AVX2)
    return (unsigned)_mm256_movemask_ps((__m256)v);
#elif defined(__x86_64__)
    return (unsigned)_mm_movemask_ps((__m128)v);
#else
    const halves place = {0, 1, 2, 3}, bit = (v >> 31) << place;

    return bit[0] | bit[1] | bit[2] | bit[3];
#endif
}

/* A bit for each lane of two vectors that is equal in `was`. */
CF_INLINE uint64_t equal(cf_vec a, cf_vec was_a, cf_vec b, cf_vec was_b)
{
#if defined(CF_SIMD_AVX2)
    return cf_vec_equal(a, was_a) | (uint64_t)cf_vec_equal(b, was_b) << CF_LANES;
#else
    const halves x = (halves)(a ^ was_a), y = (halves)(b ^ was_b); /* SSE2 compares halves */

    return tops((halves)((__builtin_shufflevector(x, y, 0, 2, 4, 6) |
                          __builtin_shufflevector(x, y, 1, 3, 5, 7)) == 0));
#endif
}

CF_INLINE struct masks look(const struct block *b, unsigned shift, uint64_t before, cf_vec *line)
{
    const halves bytes = (halves){0} + (1u << shift), inside = bytes - 1;
    struct masks m = {
        .loads = cf_bytes_equal(b->op, CF_LOAD),
        .stores = cf_bytes_equal(b->op, CF_STORE),
        .fetches = cf_bytes_equal(b->op, CF_IFETCH),
    };
    cf_vec last = cf_vec_all(before);
    uint64_t same = 0;

#pragma GCC unroll 8
    for (unsigned k = 0; k < VECTORS; k += 2) {
        const unsigned at = CF_LANES * k;
        const cf_vec a = cf_vec_load(b->addr + at), c = cf_vec_load(b->addr + at + CF_LANES);
        const halves room = bytes - (low(a, c) & inside); /* to the end of the line */
        halves size;

        memcpy(&size, b->size + at, sizeof size);
        line[k] = a >> shift;
        line[k + 1] = c >> shift;
        same |= equal(line[k], cf_vec_shift(last, line[k]), line[k + 1],
                      cf_vec_shift(line[k], line[k + 1]))
                << at;
        m.straddles |= tops((room - size) | size) << at;
        last = line[k + 1];
    }
    m.begins = ~same;
    return m;
}

/* The rows in `part` whose line differs from the last one of the row before in `part`. */
CF_INLINE uint64_t begins_in(const uint64_t *addr, unsigned shift, uint64_t part,
                             uint64_t straddles, uint64_t before)
{
    uint64_t begins = 0;

    for (; part; part &= part - 1) {
        const uint64_t row = part & -part, line = addr[__builtin_ctzll(part)] >> shift;

        begins |= line != before ? row : 0;
        before = line + ((straddles & row) != 0);
    }
    return begins;
}

/* Finds the rows that take part: returns how many rows come before the first that is not plain. */
CF_INLINE unsigned plain(const struct cf_runs *r, const uint64_t *addr, uint64_t before,
                         struct masks *m)
{
    const uint64_t data = r->options & CF_RUNS_DATA ? UINT64_MAX : 0;
    const uint64_t fetches = r->options & CF_RUNS_FETCHES ? m->fetches : 0;
    const uint64_t plain = m->loads | m->stores | (r->options & CF_RUNS_SPLIT ? 0 : fetches);

    m->part = fetches | (~m->fetches & data);
    m->straddles &= m->part;
    if (m->part != UINT64_MAX)
        m->begins = begins_in(addr, r->shift, m->part, m->straddles, before);
    return ~plain & m->part ? (unsigned)__builtin_ctzll(~plain & m->part) : ROWS;
}

/* Bit k of the lower half at bit 2 k. */
CF_INLINE uint64_t spread(uint64_t bits)
{
#ifdef __BMI2__
    return _pdep_u64(bits, 0x5555555555555555u);
#endif
    bits &= UINT32_MAX;
    bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits << 2) & 0x3333333333333333u;
    return (bits | bits << 1) & 0x5555555555555555u;
}

/* Two bits for each of the first 32 rows: returns how many of these rows come before the first that
   is not plain, if `taken` did before lines were looked at. */
CF_INLINE unsigned two_bits(const struct block *b, unsigned shift, struct masks *m, unsigned taken)
{
    const uint64_t second = m->straddles & UINT32_MAX;
    uint64_t begins = m->begins;

    taken = taken < ROWS / 2 ? taken : ROWS / 2;
    for (uint64_t left = second; left; left &= left - 1) {
        const unsigned row = (unsigned)__builtin_ctzll(left);
        const uint64_t next = (b->addr[row] >> shift) + 1, after = (uint64_t)2 << row;

        if ((b->addr[row] + b->size[row] - 1) >> shift != next) {
            taken = taken < row ? taken : row; /* three lines, or past the top of memory */
            break;
        }
        begins = b->addr[row + 1] >> shift == next ? begins & ~after : begins | after;
    }
    m->begins = spread(begins) | spread(second) << 1;
    m->stores = spread(m->stores) * 3;
    m->fetches = spread(m->fetches) * 3;
    m->part = spread(m->part) | spread(second) << 1;
    m->cut = spread(m->cut);
    return taken;
}

/*
 * Finds the runs that begin in the first `bits` of the masks (from 1), and renews the flags of the
 * run before. Shifted by one place, a bit is that of the row before, unless this one takes no part:
 * adding a bit to the gaps carries it to the next row that does.
 */
CF_INLINE struct found find(struct cf_runs *r, const uint64_t *addr, const struct masks *m,
                            unsigned bits, unsigned doubled, struct cf_runs_before *before)
{
    const uint64_t all = UINT64_MAX >> (64 - bits), part = m->part & all, gaps = ~part;
    const uint64_t cut = m->cut & all;
    const uint64_t stores = m->stores & part, fetches = m->fetches & part;
    const uint64_t apart = r->options & CF_RUNS_STORES ? stores : 0;
    const uint64_t other = fetches ^ ((fetches << 1 | before->fetch) + gaps);
    const uint64_t after = (apart << 1 | (cut & gaps)) + gaps;
    const uint64_t begins = (m->begins | other | apart | cut | after) & part;
    /* rows of the run before */
    const uint64_t lead = begins ? (begins & -begins) - 1 : UINT64_MAX;
    unsigned last;

    if (!part) {
        before->line = cut ? UINT64_MAX : before->line;
        before->cut |= cut != 0;
        return (struct found){0};
    }
    if (part & lead)
        r->flags[r->count - 1] |= CF_RUN_AGAIN | (stores & lead ? CF_RUN_STORE : 0);
    r->references += (unsigned)__builtin_popcountll(part);
    last = 63 - (unsigned)__builtin_clzll(part);
    before->line = apart >> last & 1 || cut >> last > 1
                       ? UINT64_MAX
                       : (addr[last >> doubled] >> r->shift) + (last & doubled);
    before->fetch = fetches >> last & 1;
    return (struct found){begins, stores & ~lead, part & ~begins & ~lead, fetches};
}

/* At the last row of each run (`ends`): one of its rows has its bit in `rows`. Adding these to the
   rows before the last one carries into that one's bit. */
CF_INLINE uint64_t any_of(uint64_t rows, uint64_t ends)
{
    return ((rows & ~ends) + ~ends) | rows;
}

#ifdef CF_SIMD_AVX2
/* Half k & 1 of some lines, each and the one behind it. */
CF_INLINE cf_vec two_lines(cf_vec l, unsigned k)
{
    const cf_vec second = {0, 1, 0, 1};

    return second + (k & 1 ? __builtin_shufflevector(l, l, 2, 2, 3, 3)
                           : __builtin_shufflevector(l, l, 0, 0, 1, 1));
}

/* Lines and rows of a vector, packed to the left by a mask; `row` is that of the first. */
CF_INLINE void pack(uint64_t *lines, uint32_t *rows, cf_vec line, uint32_t row, unsigned those,
                    unsigned doubled)
{
    /* halves of lines, and numbers of rows, in bytes */
    static const uint64_t half[16] = {
        0x0000000000000000, 0x0000000000000100, 0x0000000000000302, 0x0000000003020100,
        0x0000000000000504, 0x0000000005040100, 0x0000000005040302, 0x0000050403020100,
        0x0000000000000706, 0x0000000007060100, 0x0000000007060302, 0x0000070603020100,
        0x0000000007060504, 0x0000070605040100, 0x0000070605040302, 0x0706050403020100,
    };
    static const uint32_t number[16] = {
        0x00000000, 0x00000000, 0x00000001, 0x00000100, 0x00000002, 0x00000200,
        0x00000201, 0x00020100, 0x00000003, 0x00000300, 0x00000301, 0x00030100,
        0x00000302, 0x00030200, 0x00030201, 0x03020100,
    };
    const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)half[those]));
    const __m128i place = _mm_cvtepu8_epi32(_mm_cvtsi32_si128((int)number[those]));

    _mm256_storeu_si256((__m256i *)(void *)lines,
                        _mm256_permutevar8x32_epi32((__m256i)line, order));
    _mm_storeu_si128((__m128i *)(void *)rows,
                     _mm_add_epi32(_mm_srli_epi32(place, (int)doubled), _mm_set1_epi32((int)row)));
}

CF_INLINE void put_flags(uint8_t *flags, uint64_t store, uint64_t again, uint64_t fetch,
                         uint64_t second, unsigned count)
{
    const uint64_t each = 0x0101010101010101u;

    for (unsigned k = 0; k < count; k += 8) {
        const uint64_t eight = _pdep_u64(store >> k, CF_RUN_STORE * each) |
                               _pdep_u64(again >> k, CF_RUN_AGAIN * each) |
                               _pdep_u64(fetch >> k, CF_RUN_FETCH * each) |
                               _pdep_u64(second >> k, CF_RUN_PART * each);

        memcpy(flags + k, &eight, 8);
    }
}

/* Lines, rows and flags of the runs: lines stay in registers from where they were compared. */
CF_INLINE void put(struct cf_runs *r, const struct block *b, const cf_vec *line, uint32_t row,
                   const struct found *f, uint64_t space, unsigned doubled)
{
    const uint64_t ends = (f->begins & (f->begins - 1)) >> 1 | (uint64_t)1 << 63;
    const unsigned count = (unsigned)__builtin_popcountll(f->begins);
    uint64_t *lines = r->line + r->count;
    uint32_t *rows = r->row + r->count;

    (void)b;
#pragma GCC unroll 16
    for (unsigned k = 0; k < VECTORS; k++) {
        const unsigned those = f->begins >> CF_LANES * k & ((1u << CF_LANES) - 1);
        const cf_vec l = doubled ? two_lines(line[k / 2], k) : line[k];

        pack(lines, rows, l ^ space, row + (CF_LANES * k >> doubled), those, doubled);
        lines += __builtin_popcount(those);
        rows += __builtin_popcount(those);
    }
    put_flags(r->flags + r->count, _pext_u64(any_of(f->stores, ends), ends),
              _pext_u64(any_of(f->again, ends), ends), _pext_u64(f->fetches, f->begins),
              doubled ? _pext_u64(0xaaaaaaaaaaaaaaaau, f->begins) : 0, count);
    r->count += count;
}
#else /* without PEXT, and without an order of lanes that is chosen at run time */
typedef uint8_t bytes __attribute__((vector_size(16)));

/* `flag` in each of 16 bytes whose bit is set, from the lowest on. */
CF_INLINE bytes flags_of(uint64_t bits, uint8_t flag)
{
    const bytes bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint64_t each = 0x0101010101010101u;
    const uint64_t two
        __attribute__((vector_size(16))) = {(bits & 0xff) * each, (bits >> 8 & 0xff) * each};

    return (bytes)(((bytes)two & bit) == bit) & flag;
}

/* Lines, rows and flags of the runs, one after the other. */
CF_INLINE void put(struct cf_runs *r, const struct block *b, const cf_vec *line, uint32_t row,
                   const struct found *f, uint64_t space, unsigned doubled)
{
    const unsigned shift = r->shift;
    uint64_t *const lines = r->line;
    uint32_t *const rows = r->row;
    uint8_t *const flags = r->flags, flag[ROWS];
    const uint64_t ends = (f->begins & (f->begins - 1)) >> 1 | (uint64_t)1 << 63;
    const uint64_t stores = any_of(f->stores, ends), again = any_of(f->again, ends);
    uint32_t n = r->count;

    (void)line;
#pragma GCC unroll 4
    for (unsigned k = 0; k < ROWS; k += 16) {
        bytes all = flags_of(stores >> k, CF_RUN_STORE) | flags_of(again >> k, CF_RUN_AGAIN);

        if (f->fetches)
            all |= flags_of(any_of(f->fetches & f->begins, ends) >> k, CF_RUN_FETCH);
        memcpy(flag + k, &all, sizeof all);
    }
    for (uint64_t left = f->begins; left; n++) {
        const unsigned k = (unsigned)__builtin_ctzll(left);
        unsigned end;

        left &= left - 1;
        end = left ? (unsigned)__builtin_ctzll(left) - 1 : ROWS - 1;
        lines[n] = ((b->addr[k >> doubled] >> shift) + (k & doubled)) ^ space;
        rows[n] = row + (k >> doubled);
        flags[n] = flag[end] | (k & doubled ? CF_RUN_PART : 0);
    }
    r->count = n;
}
#endif

/* The first `taken` rows of a block (from 1). */
CF_INLINE void take(struct cf_runs *r, const struct cf_runs_input *in, const struct block *b,
                    const cf_vec *line, uint32_t row, const struct masks *m, unsigned taken,
                    unsigned doubled, struct cf_runs_before *before)
{
    const struct found f = find(r, b->addr, m, taken << doubled, doubled, before);

    if (f.begins)
        put(r, b, line, row, &f, in->space, doubled);
}

/* The rows from `row` on, as many as there are up to 64. */
CF_INLINE struct block block_at(const struct cf_runs_input *in, uint32_t row, uint32_t to,
                                struct copy *copy)
{
    static const uint8_t loads[] = {[0 ... ROWS - 1] = CF_LOAD};
    static const uint32_t ones[] = {[0 ... ROWS - 1] = 1};
    struct block b = {in->addr + row, in->op ? in->op + row : loads,
                      in->size ? in->size + row : ones, ROWS};

    if (__builtin_expect(to - row < ROWS, 0)) {
        b.rows = to - row;
        memset(copy, 0, sizeof *copy);
        memcpy(copy->addr, b.addr, b.rows * sizeof *b.addr);
        memcpy(copy->op, b.op, b.rows);
        memcpy(copy->size, b.size, b.rows * sizeof *b.size);
        b.addr = copy->addr;
        b.op = copy->op;
        b.size = copy->size;
    }
    return b;
}

uint32_t CF_SIMD(cf_runs_blocks)(struct cf_runs *r, const struct cf_runs_input *in, uint32_t from,
                                 uint32_t to, struct cf_runs_before *before)
{
    struct copy copy;

    while (from < to && r->count < r->capacity) {
        const struct block b = block_at(in, from, to, &copy);
        unsigned doubled, all, taken, room = r->capacity - r->count;
        cf_vec line[VECTORS];
        struct masks m;

        ask(in, from);
        m = look(&b, r->shift, before->line, line);
        m.cut = r->begins ? ~cf_bytes_equal(r->begins + from, 0) : 0;
        all = plain(r, b.addr, before->line, &m);
        doubled = m.straddles != 0;
        if (doubled)
            all = two_bits(&b, r->shift, &m, all);
        taken = all < b.rows ? all : b.rows;
        taken = taken < room >> doubled ? taken : room >> doubled;
        if (taken && doubled)
            take(r, in, &b, line, from, &m, taken, 1, before);
        else if (taken)
            take(r, in, &b, line, from, &m, taken, 0, before);
        from += taken;
        if (!taken || all < (unsigned)ROWS >> doubled)
            break;
    }
    return from;
}

void CF_SIMD(cf_runs_count)(const uint8_t *op, uint32_t rows, uint64_t *n)
{
    uint32_t i = 0;

    for (; i + ROWS <= rows; i += ROWS) {
        unsigned others = 0;

#pragma GCC unroll 4
        for (uint8_t k = CF_STORE; k <= CF_FLUSH; k++) {
            const unsigned count = (unsigned)__builtin_popcountll(cf_bytes_equal(op + i, k));

            n[k] += count;
            others += count;
        }
        n[CF_LOAD] += ROWS - others;
    }
    for (; i < rows; i++)
        n[op[i] && op[i] <= CF_FLUSH ? op[i] : CF_LOAD]++;
}
