/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pool.c - threads that do jobs, in a ring of them (see cf_pool.h).
 */
#include <pthread.h>
#include <stdlib.h>

#include "formats/together/cf_pool.h"

struct place {
    void *job;
    int ready;      /* its work() is done */
    unsigned stage; /* through which it goes next */
};

struct stage {
    unsigned long next; /* job */
    int busy;
};

struct thread {
    struct cf_pool *pool;
    pthread_t id;
};

struct cf_pool {
    void (*work)(void *arg, void *job, unsigned thread);
    void (*stage_work)(void *arg, void *job, unsigned stage, unsigned thread);
    void *arg;
    unsigned threads, most, stages;
    struct stage *stage;
    struct thread *thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct place *ring;
    unsigned long given, begun, taken; /* jobs so far */
    int end;
};

/* Takes a job through a stage, the last that can go on, with the lock free meanwhile; 0 where there
   is none. */
static int one_stage(struct cf_pool *p, unsigned thread)
{
    for (unsigned i = p->stages; i-- > 0;) {
        struct stage *const s = p->stage + i;
        struct place *const at = p->ring + s->next % p->most;

        if (s->busy || s->next >= p->given || !at->ready || at->stage != i)
            continue;
        s->busy = 1;
        pthread_mutex_unlock(&p->lock);
        p->stage_work(p->arg, at->job, i, thread);
        pthread_mutex_lock(&p->lock);
        s->busy = 0;
        s->next++;
        at->stage++;
        pthread_cond_broadcast(&p->changed);
        return 1;
    }
    return 0;
}

/* The same of anything that there is to do: what is nearly done comes first. */
static int step(struct cf_pool *p, unsigned thread)
{
    struct place *at;

    if (one_stage(p, thread))
        return 1;
    if (p->begun == p->given)
        return 0;
    at = p->ring + p->begun++ % p->most;
    pthread_mutex_unlock(&p->lock);
    p->work(p->arg, at->job, thread);
    pthread_mutex_lock(&p->lock);
    at->ready = 1;
    pthread_cond_broadcast(&p->changed);
    return 1;
}

static void *run(void *of)
{
    struct thread *const t = of;
    struct cf_pool *const p = t->pool;

    pthread_mutex_lock(&p->lock);
    while (!p->end)
        if (!step(p, (unsigned)(t - p->thread)))
            pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct cf_pool *cf_pool_new(unsigned threads, unsigned most,
                            void (*work)(void *arg, void *job, unsigned thread), void *arg)
{
    struct cf_pool *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->work = work;
    p->arg = arg;
    p->most = most;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->ring = calloc(most, sizeof(*p->ring));
    p->thread = calloc(threads, sizeof(*p->thread));
    while (p->ring && p->thread && p->threads < threads) {
        struct thread *const t = p->thread + p->threads;

        t->pool = p;
        if (pthread_create(&t->id, NULL, run, t) != 0)
            break;
        p->threads++;
    }
    if (p->threads == threads)
        return p;
    cf_pool_free(p);
    return NULL;
}

int cf_pool_stages(struct cf_pool *p, unsigned stages,
                   void (*stage)(void *arg, void *job, unsigned stage, unsigned thread))
{
    struct stage *const all = calloc(stages, sizeof(*all));

    if (!all)
        return -1;
    pthread_mutex_lock(&p->lock); /* threads look at it already */
    p->stage = all;
    p->stages = stages;
    p->stage_work = stage;
    pthread_mutex_unlock(&p->lock);
    return 0;
}

void cf_pool_alone(struct cf_pool *p, unsigned stage, unsigned thread)
{
    pthread_mutex_lock(&p->lock);
    while (p->stage[p->stages - 1].next < p->stage[stage].next)
        if (!one_stage(p, thread))
            pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void cf_pool_free(struct cf_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->end = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->threads; i++)
        pthread_join(p->thread[i].id, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
    free(p->stage);
    free(p->ring);
    free(p->thread);
    free(p);
}

unsigned cf_pool_jobs(const struct cf_pool *p)
{
    return (unsigned)(p->given - p->taken);
}

void cf_pool_give(struct cf_pool *p, void *job)
{
    pthread_mutex_lock(&p->lock);
    p->ring[p->given++ % p->most] = (struct place){job, !p->work, 0};
    p->begun += !p->work;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void *take(struct cf_pool *p, int part, unsigned thread)
{
    struct place *const at = p->ring + p->taken % p->most;

    if (p->taken == p->given)
        return NULL;
    pthread_mutex_lock(&p->lock);
    while (!at->ready || at->stage < p->stages)
        if (!part || !step(p, thread))
            pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    p->taken++;
    return at->job;
}

void *cf_pool_take(struct cf_pool *p)
{
    return take(p, 0, 0);
}

void *cf_pool_take_part(struct cf_pool *p, unsigned thread)
{
    return take(p, 1, thread);
}
