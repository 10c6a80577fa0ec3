/* SPDX-License-Identifier: BSD-2-Clause */
/* lost.c - what a stream lacks. See lost.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filters/parts/report/lost.h"
#include "formats/base/cf_number.h"
#include "formats/base/cf_text.h"

void lost_want(struct cf_reader *r)
{
    cf_reader_want_each(r, CF_LOST, CF_OPTIONAL, CF_COUNT, CF_LABEL);
}

/* Whether a command line is of a program that leaves accesses out: cf-select, which needs a
   condition, and cf-cat with --slice or --part, also if these are shortened. */
static int leaves_out(const char *line, size_t bytes)
{
    return !strncmp(line, "cf-select ", 10) ||
           (!strncmp(line, "cf-cat ", 7) &&
            (memmem(line, bytes, " --s", 4) || memmem(line, bytes, " --p", 4)));
}

/* Whether a command line is one of those that are kept, and not a part of one. */
static int is_named(const char *kept, const char *line, size_t bytes)
{
    for (const char *at = kept; (at = memmem(at, strlen(at), line, bytes)) != NULL; at++)
        if (!at[bytes] || at[bytes] == ';')
            return 1;
    return 0;
}

/* The chain is the last of the header, a line `  - "COMMAND"` a program. */
static void lost_header(struct lost *l, const struct cf_header *h)
{
    const char *line = h->yaml ? strstr(h->yaml, "\nchain:") : NULL;

    while (line && (line = strstr(line, "\n  - \"")) != NULL) {
        const int bytes = (int)strcspn(line += 6, "\n") - 1;
        const size_t at = strlen(l->kept);

        if (bytes > 0 && leaves_out(line, (size_t)bytes) && !is_named(l->kept, line, (size_t)bytes))
            snprintf(l->kept + at, sizeof l->kept - at, "%s%.*s", at ? "; " : "", bytes, line);
    }
}

void lost_frame(struct lost *l, const struct cf_reader *r, const struct cf_frame *f)
{
    const uint64_t *count = cf_u64(f, CF_COUNT);
    const uint32_t *label = cf_u32(f, CF_LABEL);

    if (f->table == CF_HEADER)
        lost_header(l, f->header);
    for (uint32_t i = 0; f->table == CF_LOST && i < f->rows; i++) {
        const char *what = label ? cf_reader_text(r, label[i]) : "";
        uint64_t *sum = !strcmp(what, "throttled")                                 ? &l->throttled
                        : !strcmp(what, "truncated") || !strcmp(what, "collision") ? &l->parts
                                                                                   : &l->samples;

        *sum = cf_sum(*sum, count ? count[i] : 1);
    }
}

int lost_words(const struct lost *l, char *text, size_t size)
{
    char safe[sizeof l->kept], kept[sizeof safe + 64] = "", samples[64] = "", parts[64] = "",
                                                  throttled[96] = "";
    const int lost = l->samples || l->throttled || l->parts;

    if (*l->kept)
        snprintf(kept, sizeof kept, "not of the whole recording, but of what this kept: %s%s",
                 cf_text_safe(safe, sizeof safe, l->kept), lost ? "; " : "");
    if (l->samples)
        snprintf(samples, sizeof samples, "%" PRIu64 " sample%s lost", l->samples,
                 l->samples == 1 ? " was" : "s were");
    if (l->parts)
        snprintf(parts, sizeof parts, "%s in %" PRIu64 " part%s of a trace",
                 *samples ? ", and more" : "samples were lost", l->parts, l->parts == 1 ? "" : "s");
    if (l->throttled)
        snprintf(throttled, sizeof throttled, "%ssampling was throttled %" PRIu64 " time%s",
                 *samples || *parts ? ", and " : "", l->throttled, l->throttled == 1 ? "" : "s");
    snprintf(text, size, "%s%s%s%s%s", kept, samples, parts, throttled,
             lost ? ": all shares are of the samples that are there" : "");
    return *kept || lost;
}
