/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_tool_again.c - an input that is read more than once. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/program/cf_tool.h"

static void put(const struct cf_tool *t, int to, const char *bytes, size_t count)
{
    while (count) {
        ssize_t n = write(to, bytes, count);

        if (n < 0 && errno != EINTR)
            cf_die(t, CF_EXIT_ENVIRONMENT, "no memory for a pipe: %s", strerror(errno));
        bytes += n > 0 ? n : 0;
        count -= n > 0 ? (size_t)n : 0;
    }
}

char *cf_tool_again(const struct cf_tool *t, char *file, uint64_t most, const char *reason)
{
    static char buffer[1 << 20], same[] = "/proc/self/fd/0";
    const int standard = !strcmp(file, "-");
    const int from = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    uint64_t bytes = 0;
    struct stat st;
    ssize_t n;
    int to;

    if (from < 0 || fstat(from, &st) != 0)
        return file; /* the reader reports what is wrong */
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || isatty(from)) {
        if (!standard)
            close(from);
        return standard && S_ISREG(st.st_mode) ? same : file;
    }
    to = memfd_create(t->name, MFD_CLOEXEC);
    if (to < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "no memory for a pipe: %s", strerror(errno));
    while ((n = read(from, buffer, sizeof(buffer))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", standard ? "standard input" : file,
                   strerror(errno));
        bytes += (uint64_t)n;
        if (bytes > most)
            cf_die(
                t, CF_EXIT_ENVIRONMENT,
                "%s: longer than %llu bytes: %s: pack it into a file first (cf-cat -o), or raise "
                "--memory",
                standard ? "standard input" : file, (unsigned long long)most, reason);
        put(t, to, buffer, (size_t)n);
    }
    if (!standard) {
        close(from);
        return cf_tool_text(t, "/proc/self/fd/%d", to);
    }
    if (dup2(to, STDIN_FILENO) < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "standard input: %s", strerror(errno));
    return same;
}
