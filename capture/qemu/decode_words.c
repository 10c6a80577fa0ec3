/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_words.c - words of the plugin to rows: executions, accesses, runs of instructions, events.
 */
#include <string.h>

#include "decode_parts.h"
#include "decode_target.h"

static inline int put_row(struct cfq_decoder *d, uint64_t time, uint64_t addr, uint32_t hint)
{
    if (__builtin_expect(d->row == d->room, 0) && cfq_open_place(d) != 0)
        return -1;
    d->time[d->row] = time;
    d->addr[d->row] = addr;
    d->hint[d->row++] = hint;
    return 0;
}

static int bad(struct cfq_decoder *d, const struct thread *t, const char *what)
{
    return cfq_problem(d, "thread %u, instruction %llu: %s: the trace ends here", t ? t->tid : 0,
                       (unsigned long long)d->now, what);
}

static int copy_name(const uint64_t *words, uint32_t count, char *name)
{
    if (count < 1 || words[0] >= NAME_BYTES || words[0] > (count - 1) * sizeof(*words))
        return -1;
    memcpy(name, words + 1, words[0]);
    name[words[0]] = 0;
    return 0;
}

/* A mapping as the host has it. Of the program itself, what is not mapped from its file was read
   from it (its pages may be larger than the host's), and its headers tell which part that is. */
static int take_map(struct cfq_decoder *d, uint32_t pid, const uint64_t *w, const char *name)
{
    uint64_t start = w[1], end = w[2], offset = w[3];
    uint32_t perms = (uint32_t)w[4];
    struct target_segment s;
    int there = 0;

    /* The emulator maps code as data. */
    if (name[0] == '/' && perms & CF_PERM_R) {
        there = target_executable(name, offset, end - start, perms);
        if (there < 0)
            return cfq_unreadable(d, name);
        perms |= there ? CF_PERM_X : 0;
    }
    for (unsigned i = 0;
         !name[0] && d->loaded && (there = target_segment(d->options.path, i, &s)) > 0; i++) {
        uint64_t from = s.address + d->bias, to = (from + s.file_bytes + 4095) & ~UINT64_C(4095);

        if (from < start || from >= end || from - start > s.offset)
            continue;
        /* Zero-filled data behind it is a mapping of its own, unless there is nothing else. */
        to = to > end || !s.file_bytes ? end : to;
        if (cfq_decoder_map(d, pid, start, to, s.offset - (from - start), s.perms,
                            d->options.path) != 0)
            return -1;
        start = to;
        break;
    }
    if (there < 0)
        return cfq_unreadable(d, d->options.path);
    return start < end ? cfq_decoder_map(d, pid, start, end, offset, perms, name) : 0;
}

/* The first segment with code stands at `address`. */
static int take_place(struct cfq_decoder *d, uint64_t address)
{
    struct target_segment s;
    uint64_t least = UINT64_MAX;
    int there;

    for (unsigned i = 0; (there = target_segment(d->options.path, i, &s)) > 0; i++)
        if (s.perms & CF_PERM_X && s.address < least)
            least = s.address;
    d->loaded = least != UINT64_MAX;
    d->bias = address - least;
    return there < 0 ? cfq_unreadable(d, d->options.path) : 0;
}

static int take_event(struct cfq_decoder *d, const struct cfq_block *b, struct thread *t,
                      const uint64_t *w, uint32_t count)
{
    char name[NAME_BYTES];
    int r;

    switch (w[0] >> CFQ_EVENT_SHIFT & 0x1fff) {
    case CFQ_DESCRIBE:
        r = code_describe(&d->code, w + 1, count - 1);
        if (r == CODE_MEMORY)
            return cfq_no_memory(d);
        return r == 0 ? 0 : bad(d, t, "a description of code that makes no sense");
    case CFQ_MAP:
        if (count < 6 || copy_name(w + 5, count - 5, name) != 0 || w[1] >= w[2])
            break;
        return take_map(d, b->pid, w, name);
    case CFQ_LOADED:
        if (count != 2 || !d->options.path)
            break;
        return take_place(d, w[1]);
    case CFQ_UNMAP:
        if (count != 3 || w[1] >= w[2])
            break;
        return cfq_decoder_map(d, b->pid, w[1], w[2], 0, 0, NULL);
    case CFQ_NAMED:
        if (!t || copy_name(w + 1, count - 1, name) != 0)
            break;
        return cfq_put_task(d, t, CF_NAMED, name);
    case CFQ_BEGIN:
        if (!t || count != 2 || w[1] - 1 >= INT32_MAX)
            break;
        return cfq_thread_made(d, t, (uint32_t)w[1]);
    case CFQ_EXIT:
        if (!t)
            break;
        t->alive = 0;
        return cfq_put_task(d, t, CF_EXIT, "");
    default:
        break;
    }
    return bad(d, t, "an event that makes no sense");
}

static int put_pieces(struct cfq_decoder *d, struct thread *t, const struct cf_repeat_piece *piece,
                      unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t hint = code_piece_hint(&d->code, t->repeat, piece[i].store, piece[i].bytes);

        if (!hint)
            return cf_writer_problem(d->writer) ? cfq_written(d, -1) : cfq_no_memory(d);
        if (put_row(d, t->repeat_time, piece[i].addr, hint) != 0)
            return -1;
    }
    return 0;
}

int cfq_end_repeat(struct cfq_decoder *d, struct thread *t)
{
    struct cf_repeat_piece pieces[CF_REPEAT_MOST];
    unsigned n = cf_repeat_end(&t->joined, pieces);

    memset(&t->joined, 0, sizeof(t->joined));
    t->repeats = 0;
    return put_pieces(d, t, pieces, n);
}

/* An execution begins: a further iteration of the string instruction before, or anything else. */
static int begin_execution(struct cfq_decoder *d, struct thread *t, uint32_t number)
{
    const struct code_block *b = &d->code.block[number];
    const uint32_t *list = d->code.list + b->first;
    int again = t->repeats && b->insns == 1 && list[0] == t->repeat;

    if (!again && t->repeats && cfq_end_repeat(d, t) != 0)
        return -1;
    t->block = number;
    t->step = 1;
    if (again) {
        t->start = t->repeat_time;
        return 1;
    }
    t->start = d->now;
    d->now += b->insns;
    t->repeat = list[b->insns - 1];
    t->repeats = d->code.insn[t->repeat].repeats;
    t->repeat_time = d->now - 1;
    return 0;
}

static int put_access(struct cfq_decoder *d, struct thread *t, const uint64_t *w)
{
    const struct code_block *b = &d->code.block[t->block];
    uint32_t index = w[0] >> CFQ_INSN_SHIFT & (CFQ_MAX_INSNS - 1);
    unsigned kind = w[0] >> CFQ_KIND_SHIFT & (CFQ_KINDS - 1);
    uint64_t addr = w[0] >> CFQ_TAG_SHIFT ? w[1] : (uint64_t)((int64_t)(w[0] << 16) >> 16);
    uint32_t insn, hint, bytes;

    if (__builtin_expect(index >= b->insns, 0))
        return bad(d, t, "an access of no instruction");
    insn = d->code.list[b->first + index];
    bytes = 1u << (kind & (CFQ_KIND_STORE - 1));
    if (d->code.insn[insn].joined && t->repeats && insn == t->repeat) {
        struct cf_repeat_piece pieces[CF_REPEAT_MOST];
        unsigned n = cf_repeat_add(&t->joined, kind & CFQ_KIND_STORE, addr, bytes, pieces);

        return put_pieces(d, t, pieces, n);
    }
    hint = d->code.insn[insn].hint[kind];
    if (d->code.insn[insn].joined)
        hint = code_piece_hint(&d->code, insn, kind & CFQ_KIND_STORE, bytes);
    else if (__builtin_expect(!hint, 0))
        hint = code_new_hint(&d->code, insn, kind);
    if (!hint)
        return cfq_written(d, -1);
    return put_row(d, t->start + index * t->step, addr, hint);
}

/* Plain accesses of kinds that are known, as long as there is room: how many. Nearly all words of a
   trace go this way. */
static int put_known(struct cfq_decoder *d, const struct thread *t, const uint64_t *w,
                     const uint64_t *end)
{
    const uint32_t room = d->room - d->row;
    const uint32_t most = (size_t)(end - w) < room ? (uint32_t)(end - w) : room;

    if (!most) /* without room there are no places either */
        return 0;
    const struct code_block *b = &d->code.block[t->block];
    const uint32_t *list = d->code.list + b->first;
    const struct code_insn *insn = d->code.insn;
    const uint64_t start = t->start, step = t->step;
    const uint32_t insns = b->insns;
    uint64_t *time = d->time + d->row, *addr = d->addr + d->row;
    uint32_t *kinds = d->hint + d->row;
    uint32_t n = 0;

    for (; n < most; n++) {
        uint64_t word = w[n];
        uint32_t index = (uint32_t)(word >> CFQ_INSN_SHIFT) & (CFQ_MAX_INSNS - 1), hint;

        if (word >> CFQ_TAG_SHIFT || index >= insns)
            break;
        hint = insn[list[index]].hint[word >> CFQ_KIND_SHIFT & (CFQ_KINDS - 1)];
        if (!hint)
            break;
        time[n] = start + index * step;
        addr[n] = (uint64_t)((int64_t)(word << 16) >> 16);
        kinds[n] = hint;
    }
    d->row += n;
    return (int)n;
}

/* Words of an access at w, 0 if it is none. */
static unsigned access_words(const uint64_t *w, const uint64_t *end)
{
    unsigned tag = w < end ? w[0] >> CFQ_TAG_SHIFT : CFQ_EVENT;

    return tag == CFQ_ACCESS ? 1 : tag == CFQ_WIDE && end - w > 1 ? 2 : 0;
}

/* One execution with its runs of instructions among its accesses: the words that it took in, or
   -1. Words that come in another part of the block have no more runs to come. */
static int put_execution(struct cfq_decoder *d, struct thread *t, const uint64_t *w,
                         const uint64_t *end)
{
    struct code_block *b = &d->code.block[t->block];
    const uint32_t *crossing = d->code.list + b->first + b->insns;
    const uint64_t *from = w;
    unsigned x = 0, run = 0;

    while (run < b->insns) {
        unsigned stop = b->insns, n;
        uint64_t pc;
        uint32_t hint;

        for (; x < b->crossings; x++) {
            unsigned at = crossing[x] & ~CODE_APART;

            if (at > run &&
                (crossing[x] & CODE_APART ||
                 (access_words(w, end) && (*w >> CFQ_INSN_SHIFT & (CFQ_MAX_INSNS - 1)) < at))) {
                stop = at;
                break;
            }
        }
        hint = code_run_hint(&d->code, b, run, stop - run, &pc);
        if (!hint)
            return cf_writer_problem(d->writer) ? cfq_written(d, -1) : cfq_no_memory(d);
        if (put_row(d, t->start + run, pc, hint) != 0)
            return -1;
        while ((n = access_words(w, end)) &&
               (stop == b->insns || (*w >> CFQ_INSN_SHIFT & (CFQ_MAX_INSNS - 1)) < stop)) {
            if (put_access(d, t, w) != 0)
                return -1;
            w += n;
        }
        run = stop;
    }
    return (int)(w - from);
}

int cfq_decode(struct cfq_decoder *d, const struct cfq_block *b, struct thread *t,
               const uint64_t *w, const uint64_t *end)
{
    while (w < end) {
        uint32_t number = (uint32_t)*w, count = 1;
        int n;

        switch (*w >> CFQ_TAG_SHIFT) {
        case CFQ_WIDE:
            count = 2;
            /* fall through */
        case CFQ_ACCESS:
            if (!t || t->block == UINT32_MAX || end - w < count)
                return bad(d, t, "an access without an execution");
            n = put_known(d, t, w, end);
            if (n > 0) {
                count = (uint32_t)n;
                break;
            }
            if (put_access(d, t, w) != 0)
                return -1;
            break;
        case CFQ_EXECUTE:
        case CFQ_RESUME:
            if (!t || number >= d->code.blocks || !d->code.block[number].insns)
                return bad(d, t, "an execution of code that was not described");
            if (*w >> CFQ_TAG_SHIFT == CFQ_RESUME && t->block == number)
                break;
            n = begin_execution(d, t, number);
            if (n < 0)
                return -1;
            if (d->options.instructions && !n && *w >> CFQ_TAG_SHIFT == CFQ_EXECUTE) {
                n = put_execution(d, t, w + 1, end);
                if (n < 0)
                    return -1;
                count += (uint32_t)n;
            }
            break;
        case CFQ_EVENT:
            count = *w & 0xffff;
            if (count < 1 || count > CFQ_MAX_EVENT || end - w < count)
                return bad(d, t, "an event of no size");
            if (t && t->repeats && cfq_end_repeat(d, t) != 0)
                return -1;
            if (take_event(d, b, t, w, count) != 0)
                return -1;
            t = t ? &d->threads[d->current - 1] : NULL;
            break;
        default:
            return bad(d, t, "a word that makes no sense");
        }
        w += count;
    }
    return 0;
}
