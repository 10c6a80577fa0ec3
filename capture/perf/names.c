/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - events by name. See names.h.
 */
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/perf/names.h"

int cf_perf_name(const char *name, struct cf_perf_name *is, char *why, size_t size)
{
    struct perf_event_attr a = {.size = sizeof a};
    pfm_perf_encode_arg_t arg = {.attr = &a, .size = sizeof arg};
    int status;

    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* those of other processors too */
    status = pfm_initialize();
    if (status == PFM_SUCCESS)
        status = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
    pfm_terminate();
    unsetenv("LIBPFM_ENCODE_INACTIVE");
    if (status != PFM_SUCCESS) {
        snprintf(why, size, "'%s': %s", name, pfm_strerror(status));
        return -1;
    }
    *is = (struct cf_perf_name){.type = a.type,
                                .precise_ip = a.precise_ip,
                                .config = a.config,
                                .config1 = a.config1,
                                .config2 = a.config2};
    return 0;
}
