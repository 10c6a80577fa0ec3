/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * between - allocates, over bump.so, between an allocation and the one within which it was made, as
 * a signal handler may.
 */
#include <dlfcn.h>
#include <stdlib.h>

static void *kept[64];
static volatile int count; /* posix_memalign() is declared to call nothing of this file */

static void between(void)
{
    static volatile int within;

    if (within++ == 0)
        for (int i = 0; i < 4; i++) {
            kept[count++] = malloc(24);
            if (posix_memalign(&kept[count], 64, 100) == 0)
                count++;
        }
    within--;
}

int main(void)
{
    void (**hook)(void) = (void (**)(void))dlsym(RTLD_DEFAULT, "bump_between");

    if (!hook)
        return 2;
    *hook = between;
    for (int i = 0; i < 3; i++)
        if (posix_memalign(&kept[count++], 64, 1000 + (size_t)i) != 0)
            return 1;
    return count == 27 ? 0 : 1;
}
