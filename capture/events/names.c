/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - events by name. See names.h.
 */
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/events/names.h"

static int encode(const char *name, int levels, struct perf_event_attr *a)
{
    pfm_perf_encode_arg_t arg = {.attr = a, .size = sizeof arg};

    memset(a, 0, sizeof *a);
    a->size = sizeof *a;
    return pfm_get_os_event_encoding(name, levels, PFM_OS_PERF_EVENT_EXT, &arg);
}

int cf_perf_name(const char *name, struct cf_perf_name *is, char *why, size_t size)
{
    struct perf_event_attr a;
    int status, foreign = 0;

    status = pfm_initialize();
    if (status == PFM_SUCCESS) {
        status = encode(name, PFM_PLM3, &a);
        if (status == PFM_SUCCESS && a.type == PERF_TYPE_SOFTWARE)
            status = encode(name, PFM_PLM0 | PFM_PLM3, &a); /* they come about in the kernel */
    }
    if (status != PFM_SUCCESS) {
        pfm_terminate();
        setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
        foreign = pfm_initialize() == PFM_SUCCESS && encode(name, PFM_PLM3, &a) == PFM_SUCCESS;
        unsetenv("LIBPFM_ENCODE_INACTIVE");
    }
    pfm_terminate();
    if (status != PFM_SUCCESS && !foreign) {
        snprintf(why, size, "'%s': %s", name, pfm_strerror(status));
        return -1;
    }
    *is = (struct cf_perf_name){.type = a.type,
                                .precise_ip = a.precise_ip,
                                .config = a.config,
                                .config1 = a.config1,
                                .config2 = a.config2,
                                .foreign = foreign,
                                .no_user = a.exclude_user,
                                .no_kernel = a.exclude_kernel};
    return 0;
}
