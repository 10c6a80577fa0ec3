/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter.c - which event is that of a level.
 *
 * The names are libpfm4's: generic ones of the kernel first, then those of Intel's and Arm's cores
 * (Intel's event lists, L2_RQSTS and MEM_LOAD_RETIRED; Arm DDI 0487, D13, L1D_CACHE_REFILL and the
 * like). The presets are those that PAPI documents for misses of data and of instructions.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "capture/events/events.h"
#include "capture/events/names.h"
#include "capture/probe/bench/counter.h"

struct misses {
    unsigned level;
    int code;
    const char *event;
};

static const struct misses misses[] = {
    {1, 0, "PERF_COUNT_HW_CACHE_L1D:READ:MISS"},
    {1, 0, "L1D_CACHE_REFILL"},
    {1, 1, "PERF_COUNT_HW_CACHE_L1I:READ:MISS"},
    {1, 1, "L1I_CACHE_REFILL"},
    {2, 0, "L2_RQSTS:DEMAND_DATA_RD_MISS"},
    {2, 0, "MEM_LOAD_RETIRED:L2_MISS"},
    {2, 0, "L2D_CACHE_REFILL"},
    {3, 0, "MEM_LOAD_RETIRED:L3_MISS"},
    {3, 0, "L3D_CACHE_REFILL"},
    {3, 0, "PERF_COUNT_HW_CACHE_LL:READ:MISS"},
};

/* PAPI_L1_DCM, PAPI_L2_DCM, PAPI_L3_TCM, PAPI_L1_ICM, ...: misses of a level. */
static int is_preset(const char *name, unsigned *level, int *code)
{
    char kind = 0, end = 0;

    if (sscanf(name, "PAPI_L%u_%cCM%c", level, &kind, &end) != 2 || !strchr("DIT", kind))
        return 0;
    *code = kind == 'I';
    return 1;
}

static int open_one(struct cf_counter *c, const char *event, char *why, size_t size)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING};
    struct cf_perf_name is = {0};
    char text[128];

    if (cf_perf_name(event, &is, why, size) != 0)
        return -1;
    if (is.foreign) {
        snprintf(why, size, "%s: is an event of another processor than this one", event);
        return -1;
    }
    attr.type = is.type;
    attr.config = is.config;
    attr.config1 = is.config1;
    attr.config2 = is.config2;
    c->fd = cf_perf_open(&attr, 0, -1);
    if (c->fd < 0) {
        snprintf(why, size, "%s: %s", event, cf_perf_why(errno, text, sizeof text));
        return -1;
    }
    snprintf(c->name, sizeof c->name, "%s", event);
    return 0;
}

int cf_counter_open(struct cf_counter *c, unsigned level, int code, const char *name, char *why,
                    size_t size)
{
    unsigned tried = 0;

    c->fd = -1;
    c->name[0] = 0;
    if (name && !is_preset(name, &level, &code))
        return open_one(c, name, why, size);
    snprintf(why, size, "no event is known for misses of %s level %u",
             code ? "instruction cache" : "data cache", level);
    for (size_t i = 0; i < sizeof misses / sizeof *misses; i++) {
        char text[256];

        if (misses[i].level != level || misses[i].code != code)
            continue;
        if (open_one(c, misses[i].event, text, sizeof text) == 0)
            return 0;
        if (!tried++) /* the most general one says the most */
            snprintf(why, size, "%s", text);
    }
    return -1;
}

void cf_counter_close(struct cf_counter *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

void cf_counter_start(const struct cf_counter *c)
{
    (void)ioctl(c->fd, PERF_EVENT_IOC_RESET, 0);
    (void)ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
}

int cf_counter_stop(const struct cf_counter *c, uint64_t *count)
{
    uint64_t read_[3]; /* count, enabled, running */
    ssize_t n;

    (void)ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
    n = read(c->fd, read_, sizeof read_);
    if (n != (ssize_t)sizeof read_) {
        if (n >= 0)
            errno = EIO;
        return -1;
    }
    *count = read_[0];
    /* the reset clears the count alone: both times are those since it was opened */
    return read_[2] < read_[1];
}
