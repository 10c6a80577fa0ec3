/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pool.h - threads that do jobs at the same time, whose results are taken in the order in which
 * the jobs were given. Where a part of the work needs that order itself, it can be done in stages.
 */
#ifndef CF_POOL_H
#define CF_POOL_H

struct cf_pool;

/* `threads` of them (at least one), each of which calls work(arg, job, thread), with its number,
   from 0; `work` is NULL where stages are all there is. At most `most` jobs are in the pool at a
   time. NULL without memory or threads. */
struct cf_pool *cf_pool_new(unsigned threads, unsigned most,
                            void (*work)(void *arg, void *job, unsigned thread), void *arg);

/* Has each job go through `stages` further calls, stage(arg, job, stage, thread), one after the
   other, when its work() is done: through each in the order of the jobs, one at a time, while other
   jobs are in other stages. Before the first job. -1 without memory. */
int cf_pool_stages(struct cf_pool *p, unsigned stages,
                   void (*stage)(void *arg, void *job, unsigned stage, unsigned thread));

/* In a stage: returns when all jobs before are through all stages. */
void cf_pool_alone(struct cf_pool *p, unsigned stage, unsigned thread);

/* Ends the threads; jobs that none has begun are forgotten. */
void cf_pool_free(struct cf_pool *p);

/* Jobs that were given and not taken. */
unsigned cf_pool_jobs(const struct cf_pool *p);

/* While there are fewer than `most`. */
void cf_pool_give(struct cf_pool *p, void *job);

/* Waits for the job that was given first; NULL where there is none. */
void *cf_pool_take(struct cf_pool *p);

/* The same; meanwhile the caller is thread number `thread`, which is none of theirs. */
void *cf_pool_take_part(struct cf_pool *p, unsigned thread);

#endif
