/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pool.c - threads that do jobs, in a ring of them (see cf_pool.h).
 */
#include <pthread.h>
#include <stdlib.h>

#include "formats/program/cf_pool.h"

struct place {
    void *job;
    int done;
};

struct thread {
    struct cf_pool *pool;
    pthread_t id;
};

struct cf_pool {
    void (*work)(void *arg, void *job, unsigned thread);
    void *arg;
    unsigned threads, most;
    struct thread *thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct place *ring;
    unsigned long given, begun, taken; /* jobs so far */
    int end;
};

static void *run(void *of)
{
    struct thread *const t = of;
    struct cf_pool *const p = t->pool;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct place *at;

        while (!p->end && p->begun == p->given)
            pthread_cond_wait(&p->changed, &p->lock);
        if (p->end)
            break;
        at = p->ring + p->begun++ % p->most;
        pthread_mutex_unlock(&p->lock);
        p->work(p->arg, at->job, (unsigned)(t - p->thread));
        pthread_mutex_lock(&p->lock);
        at->done = 1;
        pthread_cond_broadcast(&p->changed);
    }
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
    p->ring[p->given++ % p->most] = (struct place){job, 0};
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void *cf_pool_take(struct cf_pool *p)
{
    struct place *const at = p->ring + p->taken % p->most;

    if (p->taken == p->given)
        return NULL;
    pthread_mutex_lock(&p->lock);
    while (!at->done)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    p->taken++;
    return at->job;
}
