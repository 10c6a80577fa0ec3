/* SPDX-License-Identifier: BSD-2-Clause */
/* lost.c - what a stream lacks. See lost.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filters/parts/report/lost.h"
#include "formats/base/cf_number.h"
#include "formats/base/cf_text.h"
#include "formats/together/cf_partial.h"

void lost_want(struct cf_reader *r)
{
    cf_reader_want_each(r, CF_LOST, CF_OPTIONAL, CF_COUNT, CF_LABEL);
}

/* Whether a command line is one of those that are kept, and not a part of one. */
static int is_named(const char *kept, const char *line, size_t bytes)
{
    for (const char *at = kept; (at = memmem(at, strlen(at), line, bytes)) != NULL; at++)
        if (!at[bytes] || at[bytes] == ';')
            return 1;
    return 0;
}

static void lost_header(struct lost *l, const struct cf_header *h)
{
    uint64_t place = 0;
    size_t bytes;

    for (const char *line; (line = cf_partial_left_out(h, &place, &bytes)) != NULL;) {
        const size_t at = strlen(l->kept);

        if (!is_named(l->kept, line, bytes))
            snprintf(l->kept + at, sizeof l->kept - at, "%s%.*s", at ? "; " : "", (int)bytes, line);
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
