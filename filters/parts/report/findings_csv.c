/* SPDX-License-Identifier: BSD-2-Clause */
/* findings_csv.c - findings as CSV, a row each; what a finding has several of is joined by "; ". */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/report/findings.h"

static const char *text_of(const struct findings *f, uint32_t id)
{
    return cf_reader_text(f->reader, id);
}

struct joined {
    FILE *out;
    char *text;
    size_t size;
};

static void begin(const struct findings *f, struct joined *j)
{
    j->text = NULL;
    j->out = cf_need(f->tool, open_memstream(&j->text, &j->size));
}

/* The separator between the entries of a field. */
static void next(struct joined *j, size_t i)
{
    fputs(i ? "; " : "", j->out);
}

static void end(const struct findings *f, struct joined *j, FILE *out)
{
    cf_must(f->tool, fclose(j->out));
    cf_csv_text(out, 0, j->text);
    free(j->text);
}

static void csv_statements(const struct findings *f, const struct finding *of, FILE *out)
{
    const struct finding_share *share =
        f->list[FINDING_STATEMENTS].share + of->first[FINDING_STATEMENTS];
    struct joined at, in;

    begin(f, &at);
    begin(f, &in);
    for (size_t i = 0; i < of->count[FINDING_STATEMENTS]; i++) {
        const struct finding_statement *s = &f->statement[share[i].id];

        next(&at, i);
        next(&in, i);
        if (s->source)
            fputs(text_of(f, s->source), at.out);
        else
            fprintf(at.out, "0x%" PRIx64, s->pc);
        fputs(text_of(f, s->function), in.out);
    }
    end(f, &at, out);
    end(f, &in, out);
}

/* Their number, sizes, allocating threads, and sites or names. */
static void csv_related(const struct findings *f, const struct finding *of, FILE *out)
{
    size_t count;
    struct finding_related *list = findings_related(f, of, &count);
    uint64_t objects = 0;
    struct joined bytes, tid, name;

    begin(f, &bytes);
    begin(f, &tid);
    begin(f, &name);
    for (size_t i = 0; i < count; i++) {
        const struct finding_related *r = &list[i];

        next(&bytes, i);
        next(&tid, i);
        next(&name, i);
        objects += r->owner->kind == FINDING_HEAP ? r->objects : 0;
        if (r->object && r->least == r->most)
            fprintf(bytes.out, "%" PRIu64, r->most);
        else if (r->object)
            fprintf(bytes.out, "%" PRIu64 "-%" PRIu64, r->least, r->most);
        if (r->object)
            fprintf(tid.out, "%u", r->object->tid);
        if (r->object || r->owner->kind != FINDING_HEAP)
            fputs(text_of(f, r->object ? r->object->site : r->owner->id), name.out);
    }
    cf_csv_u64(out, 0, objects);
    end(f, &bytes, out);
    end(f, &tid, out);
    end(f, &name, out);
    free(list);
}

static void csv_threads(const struct findings *f, const struct finding *of, FILE *out)
{
    const struct finding_share *share = f->list[FINDING_THREADS].share + of->first[FINDING_THREADS];
    struct joined j;

    begin(f, &j);
    for (size_t i = 0; i < of->count[FINDING_THREADS]; i++) {
        next(&j, i);
        fprintf(j.out, "%u", f->thread[share[i].id].tid);
    }
    end(f, &j, out);
}

void findings_csv(const struct findings *f, FILE *out)
{
    fputs(
        "finding,class,origin,misses,share_percent,bound_percent,samples,fine_samples,cache_lines,"
        "sources,functions,objects,object_bytes,allocating_threads,memory,threads,fix\n",
        out);
    for (size_t i = 0; i < f->count; i++) {
        const struct finding *of = &f->finding[i];

        cf_csv_u64(out, 1, i + 1);
        cf_csv_text(out, 0, cf_class_name(of->class));
        cf_csv_text(out, 0, finding_allocators(of) ? "allocator" : "application");
        cf_csv_u64(out, 0, of->misses);
        cf_csv_f64(out, 0, 100 * findings_share(f, of->misses), 3);
        cf_csv_f64(out, 0, 100 * of->bound, 3);
        cf_csv_u64(out, 0, of->samples);
        cf_csv_u64(out, 0, of->fine);
        cf_csv_u64(out, 0, of->lines);
        csv_statements(f, of, out);
        csv_related(f, of, out);
        csv_threads(f, of, out);
        cf_csv_text(out, 0, finding_fix(of));
        cf_csv_end(out);
    }
}
