/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.h - the Shutter, ready for snapshots of what was asked for.
 */
#ifndef CF_SNAPSHOT_OPEN_H
#define CF_SNAPSHOT_OPEN_H

#include "capture/base/cf_device.h"
#include "capture/snapshot/options.h"

/* Opens and configures it, and empties its buffer; exits with CF_EXIT_ENVIRONMENT where snapshots
   cannot be had, or would be wrong. `programs`: how many are given. */
void cf_snapshot_open(struct cf_device *d, struct cacheflow_info *info, const struct cf_tool *t,
                      const struct cf_snapshot_options *o, unsigned programs);

#endif
