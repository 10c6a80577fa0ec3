/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - from frames to rows of pages: of each access its page, the frame that it lies in, its
 * core and what of it is in the page.
 *
 * Memory: some 250 bytes a page, and columns of one frame.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/pages/pages.h"
#include "formats/base/cf_memory.h"

static void make_room(struct pages *p)
{
    const struct cf_tool *t = &p->tool;

    p->number = cf_need(t, cf_counts_new());
    p->frame = cf_need(t, cf_counts_new());
    for (unsigned i = 0; i < 2; i++)
        p->key[i] = cf_column_room(t, sizeof **p->key);
    p->one = cf_column_room(t, sizeof *p->one);
    memset(p->one, 1, CF_FILE_ROWS * sizeof *p->one);
    p->addr = cf_column_room(t, sizeof *p->addr);
    p->size = cf_column_room(t, sizeof *p->size);
    p->page = cf_column_room(t, sizeof *p->page);
    p->frame_of = cf_column_room(t, sizeof *p->frame_of);
    p->op = cf_column_room(t, 1);
    p->core = cf_column_room(t, 1);
    p->rows = (struct cf_paged){.addr = p->addr,
                                .op = p->op,
                                .core = p->core,
                                .size = p->size,
                                .page = p->page,
                                .frame = p->frame_of};
}

void pages_open(struct pages *p)
{
    char *file[] = {p->file};

    if (!p->number)
        make_room(p);
    p->reader = cf_tool_reader(&p->tool, file, 1);
    cf_reader_pieces(p->reader);
    cf_reader_unify(p->reader);
    cf_reader_want_each(p->reader, CF_ACCESS, CF_REQUIRED, CF_ADDR, CF_REGION, CF_PAGENO);
    cf_reader_want_each(p->reader, CF_ACCESS, CF_OPTIONAL, CF_TIME, CF_OP, CF_SIZE, CF_PID, CF_TID,
                        CF_CPU, CF_WEIGHT);
    p->cores = cf_need(&p->tool, cf_cores_new(p->paged.cores));
    memset(p->ran, 0, sizeof p->ran);
    memset(p->before, 0, sizeof p->before);
    p->outside = p->cut = 0;
}

/* Times begin anew with each segment. */
static void end_segment(struct pages *p)
{
    for (unsigned c = 0; c < p->paged.cores; c++)
        p->before[c] += p->runs[c] && p->counts ? p->last[c] - p->first[c] + 1 : 0;
    memset(p->runs, 0, sizeof p->runs);
}

static void header(struct pages *p, const struct cf_header *h)
{
    uint64_t size;

    end_segment(p);
    p->counts = h->clock_unit && !strcmp(h->clock_unit, "instructions");
    if (!p->counts && !p->warned && !p->tool.quiet)
        cf_warn(&p->tool, "the stream does not count instructions: cycles are those of accesses "
                          "alone");
    if (cf_header_number(h, "page", "page_size", &size) > 0 && size != p->paged.page_size)
        cf_die(&p->tool, CF_EXIT_INPUT,
               "its pages are of %llu bytes: give --page-size %llu, or resolve it with another",
               (unsigned long long)size, (unsigned long long)size);
    p->warned = 1;
}

/* Accesses with a mapping, each on its core; how many. */
static uint32_t take(struct pages *p, const struct cf_frame *f)
{
    const uint64_t *addr = cf_u64(f, CF_ADDR), *time = cf_u64(f, CF_TIME);
    const uint32_t *region = cf_u32(f, CF_REGION), *page = cf_u32(f, CF_PAGENO);
    const uint32_t *size = cf_u32(f, CF_SIZE);
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint64_t within = p->paged.page_size - 1;
    uint32_t n = 0, end, core = 0;
    uint64_t space;

    for (uint32_t i = 0; i < f->rows; i = end) {
        end = cf_cores_next(p->cores, f, i, f->rows, &core, &space);
        if (end <= i)
            cf_out_of_memory(&p->tool);
        if (space)
            cf_die(&p->tool, CF_EXIT_INPUT,
                   "several processes: pages are those of one: choose it by 'cf-select --pid'");
        if (time && !p->runs[core])
            p->first[core] = time[i];
        if (time)
            p->last[core] = time[end - 1];
        p->runs[core] = time != NULL;
        p->ran[core] = 1;
        for (uint32_t k = i; k < end; k++) {
            const uint64_t left = within + 1 - (addr[k] & within);
            const uint32_t bytes = size && size[k] ? size[k] : 1;

            p->addr[n] = addr[k];
            p->size[n] = bytes > left ? (uint32_t)left : bytes;
            p->op[n] = op ? op[k] : CF_LOAD;
            p->core[n] = (uint8_t)core;
            p->key[0][n] = region[k];
            p->key[1][n] = page[k];
            p->cut += region[k] && bytes > left;
            n += region[k] != 0;
        }
    }
    p->outside += f->rows - n;
    return n;
}

/* Numbers of pages and frames; what is new is noted. */
static void number(struct pages *p, uint32_t rows)
{
    const struct cf_tool *t = &p->tool;
    size_t frames;

    cf_must(t, cf_counts_number(p->number, p->key[0], p->key[1], p->one, rows, p->page));
    cf_must(t, cf_array_cleared(&p->name, &p->name_room, cf_counts_size(p->number) + 1,
                                sizeof *p->name));
    for (uint32_t i = 0; i < rows; i++) {
        if (p->page[i] == p->names)
            p->name[p->names++] = (struct page_name){
                .region = cf_tool_text(t, "%s", cf_reader_text(p->reader, (uint32_t)p->key[0][i])),
                .page = (uint32_t)p->key[1][i]};
        p->key[0][i] = p->page[i];
        p->key[1][i] = p->addr[i] / p->paged.page_size;
    }
    frames = cf_counts_size(p->frame);
    cf_must(t, cf_counts_number(p->frame, p->key[0], p->key[1], p->one, rows, p->frame_of));
    for (uint32_t i = 0; i < rows; i++)
        if (p->frame_of[i] == frames) {
            p->name[p->page[i]].frames++;
            frames++;
        }
}

int pages_next(struct pages *p)
{
    struct cf_frame *f;

    while (cf_tool_next(&p->tool, p->reader, &f) > 0) {
        if (f->table == CF_HEADER)
            header(p, f->header);
        if (f->table == CF_HEADER && !p->headers && cf_writer_frame(p->writer, f) != 0)
            return 0; /* cf_tool_finish() reports why */
        cf_turns_check(&p->turns, &p->tool, f, p->paged.cores);
        if (f->table != CF_ACCESS)
            continue;
        if (cf_u64(f, CF_WEIGHT))
            cf_die(&p->tool, CF_EXIT_INPUT, "samples: what pages gain takes all accesses");
        p->rows.rows = take(p, f);
        if (!p->rows.rows)
            continue;
        number(p, p->rows.rows);
        return 1;
    }
    return 0;
}

void pages_close(struct pages *p)
{
    end_segment(p);
    cf_cores_free(p->cores);
    cf_reader_close(p->reader);
    p->headers = 1;
}

uint64_t pages_runtime(const struct pages *p, const uint64_t *cycles)
{
    uint64_t most = 0;

    for (unsigned c = 0; c < p->paged.cores; c++) {
        most = p->before[c] + cycles[c] > most ? p->before[c] + cycles[c] : most;
    }
    return most;
}
