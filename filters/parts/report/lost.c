/* SPDX-License-Identifier: BSD-2-Clause */
/* lost.c - what a stream lacks. See lost.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filters/parts/report/lost.h"
#include "formats/base/cf_number.h"

void lost_want(struct cf_reader *r)
{
    cf_reader_want_each(r, CF_LOST, CF_OPTIONAL, CF_COUNT, CF_LABEL);
}

void lost_frame(struct lost *l, const struct cf_reader *r, const struct cf_frame *f)
{
    const uint64_t *count = cf_u64(f, CF_COUNT);
    const uint32_t *label = cf_u32(f, CF_LABEL);

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
    char samples[64] = "", parts[64] = "", throttled[96] = "";

    if (!l->samples && !l->throttled && !l->parts)
        return 0;
    if (l->samples)
        snprintf(samples, sizeof samples, "%" PRIu64 " sample%s lost", l->samples,
                 l->samples == 1 ? " was" : "s were");
    if (l->parts)
        snprintf(parts, sizeof parts, "%s in %" PRIu64 " part%s of a trace",
                 *samples ? ", and more" : "samples were lost", l->parts, l->parts == 1 ? "" : "s");
    if (l->throttled)
        snprintf(throttled, sizeof throttled, "%ssampling was throttled %" PRIu64 " time%s",
                 *samples || *parts ? ", and " : "", l->throttled, l->throttled == 1 ? "" : "s");
    snprintf(text, size, "%s%s%s: all shares are of the samples that are there", samples, parts,
             throttled);
    return 1;
}
