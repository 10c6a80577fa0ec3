/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attributes.c - calls of the module pagectl, whose interface is kmod/pagectl/pagectl.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pages/pages.h"

static const char *const results[] = {[PAGECTL_UNMAPPED] = "not mapped, or a guard",
                                      [PAGECTL_SPECIAL] = "of the kernel or a device",
                                      [PAGECTL_HUGE] = "in a huge page",
                                      [PAGECTL_FILE_PAGE] = "of a file",
                                      [PAGECTL_SHARED_PAGE] = "shared",
                                      [PAGECTL_PINNED] = "held by the kernel",
                                      [PAGECTL_NO_MEMORY] = "cannot be read in",
                                      [PAGECTL_NO_ROOM] = "the pool is full",
                                      [PAGECTL_NOT_TRIED] = "not tried"};

static const char *result_name(unsigned result)
{
    return result <= PAGECTL_NOT_TRIED && results[result] ? results[result] : "of unknown kind";
}

static void call(struct pages *k, unsigned long request, void *arg, const char *what)
{
    if (cf_device_call(&k->device, request, arg) == 0)
        return;
    cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "%s: %s: %s%s", k->o.device, what, strerror(errno),
           errno == ESTALE       ? ": the module sees other mappings than /proc/PID/maps"
           : errno == EBUSY      ? ": another program uses it on this process"
           : errno == EOPNOTSUPP ? ": not offered on this machine"
                                 : "");
}

void pages_open_device(struct pages *k)
{
    if (cf_device_open(&k->device, k->o.device) != 0)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT,
               "%s: %s: pages become uncached by the kernel module pagectl.ko, which is not "
               "loaded, or not for us",
               k->o.device, strerror(errno));
    call(k, PAGECTL_INFO, &k->info, "is no pagectl");
    if (k->info.abi != PAGECTL_ABI)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT,
               "%s: its interface has version %u, this program wants %u", k->o.device, k->info.abi,
               PAGECTL_ABI);
    if (k->info.page_size != PAGES_SIZE)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "%s: pages of %u bytes, this program knows %d",
               k->o.device, k->info.page_size, PAGES_SIZE);
    k->uncached =
        k->info.policies >> PAGECTL_NONCACHEABLE & 1 ? PAGECTL_NONCACHEABLE : PAGECTL_UNCACHED;
    if (!(k->info.policies >> k->uncached & 1))
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "%s: it cannot make pages uncached here",
               k->o.device);
    if (k->o.migrate && !k->info.moves)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT,
               "--migrate: %s: the module has no pool: load it with pool=ADDRESS,SIZE",
               k->o.device);
}

void pages_target(struct pages *k, pid_t pid, const struct pages_layout *l)
{
    static struct pagectl_expect e;
    struct pagectl_target t = {.pid = pid};

    uint32_t total = 0;
    size_t at = 0;

    call(k, PAGECTL_TARGET, &t, "process");
    for (size_t i = 0; i < l->count; i++)
        total += !l->mapping[i].part;
    if (total > PAGECTL_MAPPINGS_MOST)
        cf_die(&k->tool, CF_EXIT_INPUT, "over %d mappings", PAGECTL_MAPPINGS_MOST);
    for (uint32_t first = 0; first < total; first += e.count) {
        memset(&e, 0, sizeof e);
        e.first = first;
        e.total = total;
        while (e.count < PAGECTL_MAPPINGS && at < l->count) {
            const struct pages_mapping *m = &l->mapping[at++];

            e.mapping[e.count] =
                (struct pagectl_mapping){.start = m->start, .end = m->end, .flags = m->flags};
            for (; at < l->count && l->mapping[at].part; at++)
                e.mapping[e.count].end = l->mapping[at].end;
            e.count++;
        }
        call(k, PAGECTL_EXPECT, &e, "mappings");
    }
}

/* Calls for a batch; notes the pages that failed. */
static void batch(struct pages *k, unsigned long request, struct pagectl_pages *p,
                  const uint32_t *which, uint8_t *result)
{
    if (!p->count)
        return;
    p->policy = request == PAGECTL_SET ? k->uncached : 0;
    call(k, request, p, request == PAGECTL_SET ? "uncached pages" : "migration");
    for (uint32_t i = 0; i < p->count; i++)
        result[which[i]] = p->page[i].result;
    memset(p, 0, sizeof *p);
}

/* Of all pages that `wanted` says, by unit. result[page] becomes other than 0 where one failed. */
static void change(struct pages *k, const struct pages_layout *l, unsigned long request,
                   const uint8_t *wanted, uint8_t *result)
{
    static struct pagectl_pages p;
    static uint32_t which[PAGECTL_PAGES];

    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < k->pages; i++) {
        if (wanted && !wanted[k->page[i].unit])
            continue;
        which[p.count] = i;
        p.page[p.count++].addr = pages_address(l, &k->page[i]);
        if (p.count == PAGECTL_PAGES)
            batch(k, request, &p, which, result);
    }
    batch(k, request, &p, which, result);
}

/* The first page that failed, for a message. */
static int failed(const struct pages *k, const uint8_t *result, struct pages_run *run)
{
    for (size_t i = 0; i < k->pages; i++)
        if (result[i]) {
            snprintf(run->why, sizeof run->why, "%s page %u: %s",
                     k->layout.mapping[k->page[i].mapping].region, k->page[i].number,
                     result_name(result[i]));
            return -1;
        }
    return 0;
}

int pages_apply(struct pages *k, const struct pages_layout *l, struct pages_run *run)
{
    uint8_t *result = cf_need(&k->tool, calloc(k->pages + 1, 1));
    uint8_t *moved = run->move ? cf_need(&k->tool, calloc(k->units + 1, 1)) : NULL;
    int status = 0;

    if (run->move) {
        for (size_t i = 0; i < run->moves; i++)
            moved[run->move[i]] = 1;
        change(k, l, PAGECTL_MIGRATE, moved, result);
        status = failed(k, result, run);
    }
    if (run->off && status == 0) {
        change(k, l, PAGECTL_SET, run->off, result);
        status = failed(k, result, run);
    }
    free(moved);
    free(result);
    return status;
}

/* Which of a batch are not, or not in the pool. The kernel takes back what was done where the
   process forks or changes permissions. */
static int query(struct pages *k, struct pagectl_pages *p, const uint32_t *which, int moved,
                 struct pages_run *run)
{
    if (!p->count)
        return 0;
    call(k, PAGECTL_QUERY, p, "attributes of pages");
    for (uint32_t i = 0; i < p->count; i++)
        if (moved ? !p->page[i].pool : p->page[i].policy != k->uncached) {
            const struct pages_page *page = &k->page[which[i]];

            snprintf(run->why, sizeof run->why,
                     "%s page %u: is %s at the return (a fork or mprotect in the function?)",
                     k->layout.mapping[page->mapping].region, page->number,
                     moved ? "not in the pool any more" : "cached again");
            return -1;
        }
    memset(p, 0, sizeof *p);
    return 0;
}

int pages_held(struct pages *k, const struct pages_layout *l, struct pages_run *run)
{
    static struct pagectl_pages p;
    static uint32_t which[PAGECTL_PAGES];
    uint8_t *wanted = cf_need(&k->tool, calloc(k->units + 1, 1));
    int status = 0;

    for (int moved = 0; moved < 2; moved++) {
        memset(&p, 0, sizeof p);
        memset(wanted, 0, k->units);
        if (!moved && run->off)
            memcpy(wanted, run->off, k->units);
        for (size_t i = 0; moved && i < run->moves; i++)
            wanted[run->move[i]] = 1;
        for (uint32_t i = 0; i < k->pages && !status; i++) {
            if (!wanted[k->page[i].unit])
                continue;
            which[p.count] = i;
            p.page[p.count++].addr = pages_address(l, &k->page[i]);
            if (p.count == PAGECTL_PAGES)
                status = query(k, &p, which, moved, run);
        }
        status = status ? status : query(k, &p, which, moved, run);
    }
    free(wanted);
    return status;
}

void pages_try(struct pages *k)
{
    uint8_t *result = cf_need(&k->tool, calloc(k->pages + 1, 1));
    size_t kept = 0;

    change(k, &k->layout, PAGECTL_SET, NULL, result);
    for (size_t i = 0; i < k->pages; i++)
        if (!result[i])
            k->page[kept++] = k->page[i];
        else
            k->refused[result[i] <= PAGECTL_NOT_TRIED ? result[i] : PAGECTL_NOT_TRIED]++;
    k->pages = kept;
    free(result);
    for (unsigned i = 1; i <= PAGECTL_NOT_TRIED; i++)
        if (k->refused[i] && !k->tool.quiet)
            cf_warn(&k->tool, "%llu pages are left out: %s", (unsigned long long)k->refused[i],
                    result_name(i));
}

void pages_restore(struct pages *k)
{
    /* the process may be gone, and with it what was done to it */
    if (cf_device_call(&k->device, PAGECTL_RESTORE, NULL) != 0 && errno != ESRCH)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "%s: its pages could not be restored: %s",
               k->o.device, strerror(errno));
}
