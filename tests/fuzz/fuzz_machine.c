/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_machine: machine descriptions in YAML under libFuzzer. One that is taken must be written as
 * text that reads back to the same text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/machine_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cf_machine *load(const void *text, size_t size, char *problem, size_t room)
{
    int fd = memfd_create("fuzz", 0);
    struct cf_machine *m;
    char name[64];

    if (fd < 0 || write(fd, text, size) != (ssize_t)size)
        abort();
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    m = cf_machine_load(name, problem, room);
    close(fd);
    return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char problem[256] = "";
    struct cf_machine *m = load(data, size, problem, sizeof problem), *again;
    char *text, *second;

    if (!m) {
        if (!problem[0])
            abort();
        return 0;
    }
    text = machine_text(m);
    cf_machine_free(m);
    if (!text)
        abort();
    again = load(text, strlen(text), problem, sizeof problem);
    if (!again) {
        fprintf(stderr, "not taken back: %s\n%s", problem, text);
        abort();
    }
    second = machine_text(again);
    cf_machine_free(again);
    if (!second)
        abort();
    if (strcmp(text, second) != 0) {
        fprintf(stderr, "%s\nis not\n%s", text, second);
        abort();
    }
    free(text);
    free(second);
    return 0;
}
