/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_debug.c - debug files. See watch_debug.h.
 */
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/watch/watch_debug.h"
#include "formats/program/cf_build.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

/* Polynomial 0xedb88320, as .gnu_debuglink has it. */
static uint32_t checksum(int fd)
{
    unsigned char bytes[65536];
    uint32_t sum = UINT32_MAX;
    off_t at = 0;
    ssize_t n;

    for (; (n = pread(fd, bytes, sizeof bytes, at)) > 0; at += n)
        for (ssize_t i = 0; i < n; i++) {
            sum ^= bytes[i];
            for (int bit = 0; bit < 8; bit++)
                sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
        }
    return ~sum;
}

/* Name and checksum of .gnu_debuglink: 0, or -1. */
static int link_of(Elf *elf, const char **name, uint32_t *sum)
{
    Elf_Scn *section = NULL;
    size_t names;
    GElf_Shdr h;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return -1;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *text = gelf_getshdr(section, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;
        const Elf_Data *data;
        size_t length;

        if (!text || strcmp(text, ".gnu_debuglink") != 0 ||
            (data = elf_rawdata(section, NULL)) == NULL || !data->d_buf)
            continue;
        length = strnlen(data->d_buf, data->d_size);
        if (!length || length / 4 * 4 + 8 > data->d_size || strchr(data->d_buf, '/'))
            return -1;
        *name = data->d_buf;
        memcpy(sum, (const char *)data->d_buf + length / 4 * 4 + 4, sizeof *sum);
        return 0;
    }
    return -1;
}

/* Opens it where it is of the build; else, where builds are not stated, of the checksum. */
static int open_checked(const char *path, const char *build, const uint32_t *sum)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char text[CF_BUILD_TEXT];

    if (fd < 0)
        return -1;
    cf_build_read(fd, text);
    if (strncmp(build, "build-id:", 9) == 0 ? strcmp(text, build) == 0
                                            : sum && *text && checksum(fd) == *sum)
        return fd;
    close(fd);
    return -1;
}

int cf_watch_debug_file(Elf *elf, int fd, const char *path)
{
    static const char *const places[] = {"", ".debug/", DEBUG_DIRECTORY};
    const int directory = (int)(strrchr(path, '/') ? strrchr(path, '/') - path + 1 : 0);
    char build[CF_BUILD_TEXT], at[2 * PATH_MAX];
    const char *name;
    uint32_t sum;
    int found = -1;

    cf_build_read(fd, build);
    if (strncmp(build, "build-id:", 9) == 0 && strlen(build) > 11) {
        snprintf(at, sizeof at, DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug", build + 9, build + 11);
        found = open_checked(at, build, NULL);
    }
    if (found >= 0 || link_of(elf, &name, &sum) != 0)
        return found;
    for (unsigned i = 0; i < 3 && found < 0; i++) {
        if (i < 2)
            snprintf(at, sizeof at, "%.*s%s%s", directory, path, places[i], name);
        else
            snprintf(at, sizeof at, "%s%.*s%s", places[i], directory, path, name);
        found = open_checked(at, build, &sum);
    }
    return found;
}
