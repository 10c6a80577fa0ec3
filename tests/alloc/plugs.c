/* SPDX-License-Identifier: BSD-2-Clause */
/* plugs.c - loads one.so and two.so in turn, says where, calls them, and unloads them. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    for (int i = 0; i < 6; i++) {
        void *h = dlopen(i % 2 ? "./two.so" : "./one.so", RTLD_NOW);
        void (*go)(void) = dlsym(h, "go");
        printf("%p\n", (void *)go);
        go();
        dlclose(h);
    }
    return 0;
}
