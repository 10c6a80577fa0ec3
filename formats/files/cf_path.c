/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_path.c - see cf_path.h. */
#include <string.h>

#include "formats/files/cf_path.h"

const char *cf_path_last(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

unsigned cf_path_common(const char *a, const char *b)
{
    const char *x = a + strlen(a), *y = b + strlen(b);
    unsigned parts = 0;

    while (x > a && y > b && x[-1] == y[-1]) {
        x--;
        y--;
        parts += *x == '/';
    }
    /* one begins amidst a component of the other */
    if ((x == a || x[-1] == '/') && (y == b || y[-1] == '/') && *x != '/')
        parts++;
    return parts;
}

unsigned cf_path_parts(const char *name)
{
    unsigned parts = 0;

    while (*name) {
        const size_t n = strcspn(name, "/");

        parts += n > 0 && !(n == 1 && name[0] == '.');
        name += n + (name[n] == '/');
    }
    return parts;
}

void cf_path_normalise(char *path)
{
    const int absolute = *path == '/', some = *path != '\0';
    char *to = path, *from = path, *least = path; /* what stands before it stays */

    while (*from) {
        from += strspn(from, "/");
        const size_t n = strcspn(from, "/");
        const int up = n == 2 && from[0] == '.' && from[1] == '.';

        if (up && (absolute || to > least)) {
            while (to > least && *--to != '/')
                ;
        } else if (n && !(n == 1 && from[0] == '.')) {
            if (absolute || to > path)
                *to++ = '/';
            memmove(to, from, n);
            to += n;
            least = up ? to : least;
        }
        from += n;
    }
    if (to == path && some)
        *to++ = absolute ? '/' : '.';
    *to = '\0';
}
