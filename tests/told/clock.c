/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.c - in place of capture/base/cf_clock.c, for tests: the time is the number in the file that
 * CF_TOLD_CLOCK names, to which the timed function adds what it is to have taken. So a test knows
 * the answer to the cycle, on however busy a machine.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/base/cf_clock.h"

uint64_t cf_clock(void)
{
    static int fd = -1;
    uint64_t now = 0;

    if (fd < 0)
        fd = open(getenv("CF_TOLD_CLOCK"), O_RDONLY | O_CLOEXEC);
    return pread(fd, &now, sizeof now, 0) == sizeof now ? now : 0;
}

const char *cf_clock_name(void)
{
    return "told";
}

uint64_t cf_clock_hz(void)
{
    return 1000000000;
}
