/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_state.c - stack distances: the state, made and freed, and what it counted.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/stack_state.h"

struct cf_stack *cf_stack_new(const struct cf_stack_config *config)
{
    struct cf_stack *s = calloc(1, sizeof(*s));
    int good;

    if (!s)
        return NULL;
    s->config = *config;
    s->sets = config->sets ? config->sets : 1;
    s->run = CF_SIMD_CHOICE(stack_lines);
    s->work = malloc(sizeof(*s->work));
    good = s->work != NULL;
    s->samples = config->samples || (config->rate > 0 && config->rate < 1);
    if (s->samples) {
        shards_init(&s->shards, config->rate > 0 && config->rate < 1 ? config->rate : 1,
                    config->samples);
        s->picked = malloc(PIECE * sizeof(*s->picked));
        s->picked_index = malloc(PIECE * sizeof(*s->picked_index));
        s->picked_dist = malloc(PIECE * sizeof(*s->picked_dist));
        good = good && s->picked && s->picked_index && s->picked_dist;
    }
    if (s->sets > 1) {
        s->index = cf_sets(s->sets);
        s->line = malloc(PIECE * sizeof(*s->line));
        s->dist = malloc(PIECE * sizeof(*s->dist));
        s->set = malloc(PIECE * sizeof(*s->set));
        s->touched = malloc(PIECE * sizeof(*s->touched));
        s->end = calloc(s->sets, sizeof(*s->end));
        good = good && s->line && s->dist && s->set && s->touched && s->end;
    }
    if (!good) {
        cf_stack_free(s);
        return NULL;
    }
    return s;
}

void cf_stack_free(struct cf_stack *s)
{
    if (!s)
        return;
    for (uint32_t u = 0; u < s->units; u++) {
        for (uint32_t i = 0; s->stack[u] && i < s->sets; i++)
            stack_free(s->stack[u][i]);
        free(s->stack[u]);
    }
    free(s->stack);
    free(s->work);
    free(s->picked);
    free(s->picked_index);
    free(s->picked_dist);
    free(s->line);
    free(s->dist);
    free(s->set);
    free(s->touched);
    free(s->end);
    free(s->run_dist);
    free(s->run_weight);
    free(s);
}

void cf_stack_stats(const struct cf_stack *s, struct cf_stack_stats *stats)
{
    memset(stats, 0, sizeof(*stats));
    stats->bytes = sizeof(*s) + sizeof(*s->work) + s->run_room * (s->samples ? 16 : 8);
    if (s->samples)
        stats->bytes += PIECE * (2 * sizeof(uint64_t) + sizeof(uint32_t));
    if (s->sets > 1)
        stats->bytes +=
            PIECE * (2 * sizeof(uint64_t) + 2 * sizeof(uint32_t)) + s->sets * sizeof(*s->end);
    for (uint32_t u = 0; u < s->units; u++) {
        stats->bytes += sizeof(*s->stack) + (s->stack[u] ? s->sets * sizeof(**s->stack) : 0);
        for (uint32_t i = 0; s->stack[u] && i < s->sets; i++) {
            const struct stack *one = s->stack[u][i];

            if (!one)
                continue;
            stats->bytes += sizeof(*one);
            stats->line_bytes += stack_bytes(one);
            stats->lines += one->lines;
            stats->compulsory += one->compulsory;
            stats->compactions += one->compactions;
        }
    }
    stats->bytes += stats->line_bytes;
    stats->references = s->references;
    stats->rate = s->samples ? shards_rate(&s->shards) : 1;
    stats->sampled = s->samples ? s->shards.sampled : s->references;
    stats->expected = s->samples ? s->shards.expected : (double)s->references;
    if (s->samples)
        stats->error = shards_error(&s->shards, &stats->error_from);
}
