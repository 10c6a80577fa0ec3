/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cf_suite.h"

int cf_suite_own(char dir[PATH_MAX])
{
    const ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
    const char *const name = (const char *)getauxval(AT_EXECFN);
    char *slash;

    if (n >= 0)
        dir[n] = '\0';
    else if (!name || !realpath(name, dir)) /* as it was run; a system may lack /proc */
        dir[0] = '\0';
    slash = strrchr(dir, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    return 0;
}

const char *cf_suite_dir(const char *which)
{
    static char path[PATH_MAX];
    char self[PATH_MAX];
    int n;

    if (cf_suite_own(self) != 0)
        strcpy(self, "/proc/self/exe"); /* in messages: nothing is below it */
    /* From PREFIX/bin it is one step up, from PREFIX/libexec/cacheflow two. The near one goes
       first, or a program in /usr/local would take what belongs to /usr. */
    for (int steps = 1; steps <= 3; steps++) {
        struct stat st;

        n = snprintf(path, sizeof path, "%s/%s%s", self, steps == 2 ? "../../" : "../", which);
        if (n < 0 || (size_t)n >= sizeof path)
            path[0] = '\0';
        else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            break;
    }
    return path;
}
