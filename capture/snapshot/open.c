/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c - the Shutter, ready for snapshots of what was asked for. See open.h.
 */
#include <errno.h>
#include <string.h>

#include "capture/snapshot/open.h"

void cf_snapshot_open(struct cf_device *d, struct cacheflow_info *info, const struct cf_tool *t,
                      const struct cf_snapshot_options *o, unsigned programs)
{
    struct cacheflow_config c = {.ram = o->ram,
                                 .cpu = o->ram_cpu,
                                 .flags = (o->resolve ? CACHEFLOW_RESOLVE : 0) |
                                          (o->transparent ? 0 : CACHEFLOW_REPLACE)};

    if (cf_device_open(d, o->device) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s: is the kernel module cacheflow.ko loaded?",
               o->device, strerror(errno));
    if (o->resolve && programs && cf_device_foreign(d))
        cf_die(t, CF_EXIT_ENVIRONMENT,
               "--resolve: lines have the numbers that processes have outside of this PID "
               "namespace: run this outside of the container, or without --resolve");
    if (cf_device_shifted(d))
        cf_die(t, CF_EXIT_ENVIRONMENT,
               "%s: snapshots have the time of outside of this time namespace: run this outside of "
               "the container",
               o->device);
    if (cf_device_call(d, CACHEFLOW_INFO, info) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: is no Shutter: %s", o->device, strerror(errno));
    if (info->abi != CACHEFLOW_ABI)
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: its interface has version %u, this program wants %u",
               o->device, info->abi, CACHEFLOW_ABI);
    if (!(info->ram[o->ram].flags & CACHEFLOW_RAM_PRESENT) || info->ram[o->ram].line_size == 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "--cache: backend %.16s cannot read it", info->backend);
    if (info->ram[o->ram].flags & CACHEFLOW_RAM_PRIVATE && o->ram_cpu == CACHEFLOW_CPU_ANY &&
        o->own_cpu < 0)
        cf_warn(t,
                "--cache: each CPU has its own: snapshots are of that on which this program runs "
                "at that time: give --cache NAME:CPU");
    if (cf_device_call(d, CACHEFLOW_CONFIGURE, &c) != 0 ||
        cf_device_call(d, CACHEFLOW_INFO, info) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: configure: %s", o->device, strerror(errno));
    if (!info->snapshots)
        cf_die(t, CF_EXIT_ENVIRONMENT,
               "%s: a snapshot may take %llu bytes, and its buffer has %llu: load the module with "
               "a size of that or more%s",
               o->device, (unsigned long long)info->snapshot_bytes,
               (unsigned long long)info->buffer_bytes,
               o->resolve ? ", or leave --resolve out" : "");
    if (cf_device_call(d, CACHEFLOW_DISCARD, NULL) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", o->device,
               errno == EBUSY ? "another program owns its buffer" : strerror(errno));
}
