/* SPDX-License-Identifier: BSD-2-Clause */
/* share.c - work by several threads (see share.h): each takes the next that nobody has taken. */
#include <pthread.h>

#include "filters/engine/pages/share.h"

struct all {
    size_t count, next;
    void (*f)(void *arg, size_t i, unsigned thread);
    void *arg;
};

struct worker {
    struct all *all;
    unsigned number;
    pthread_t thread;
    int begun;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    size_t i;

    while ((i = __atomic_fetch_add(&w->all->next, 1, __ATOMIC_RELAXED)) < w->all->count)
        w->all->f(w->all->arg, i, w->number);
    return NULL;
}

void cf_share(size_t count, unsigned threads, void (*f)(void *arg, size_t i, unsigned thread),
              void *arg)
{
    struct all all = {.count = count, .f = f, .arg = arg};
    struct worker w[CF_SHARE_THREADS] = {{.all = &all}};
    unsigned n = threads < CF_SHARE_THREADS ? threads : CF_SHARE_THREADS;

    n = n < count ? n : (unsigned)count;
    for (unsigned i = 1; i < n; i++) {
        w[i] = (struct worker){.all = &all, .number = i};
        w[i].begun = pthread_create(&w[i].thread, NULL, work, &w[i]) == 0;
    }
    work(&w[0]);
    for (unsigned i = 1; i < n; i++)
        if (w[i].begun)
            pthread_join(w[i].thread, NULL);
}
