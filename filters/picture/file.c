/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - pictures and pages as files: options, texts inside a page, files that take their name
 * when they are whole.
 *
 * In: what an option says, and a function that writes. Out: a file, or the end of the program with
 * a message. A file that could not be finished is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cf_target.h"
#include "filters/picture/picture.h"

void cf_json_text(FILE *out, const char *name, const char *text)
{
    size_t n;

    fprintf(out, *name ? "\"%s\":\"" : "%s\"", name);
    for (; *text; text += n) {
        uint32_t code;

        n = cf_text_character(text, &code);
        if (code < 0x20 || code == 0xfffd || strchr("<>&'\"\\", code < 128 ? (int)code : ' '))
            fprintf(out, "\\u%04" PRIx32, code);
        else
            fwrite(text, 1, n, out);
    }
    fputc('"', out);
}

void cf_picture_command(const struct cf_tool *t, char **line, const char *command)
{
    enum { MOST = 4096 }; /* no picture has room for more */
    const size_t n = command ? strlen(command) : 0;
    char *longer = NULL;

    for (const char *p = *line; p && n; p++) {
        p = strstr(p, command);
        if (!p)
            break;
        if ((p == *line || p[-1] == ' ') && (!p[n] || p[n] == ','))
            return;
    }
    if (!n || (*line && strlen(*line) > MOST))
        return;
    if (asprintf(&longer, "%s%s%s", *line ? *line : "", *line ? ", " : "", command) < 0)
        cf_out_of_memory(t);
    free(*line);
    *line = longer;
}

/* A descriptor of what is written, or -1 with errno: a device or a pipe itself, else a new file
   `beside` the target. */
static int open_target(struct cf_target *target, const char *path, char **beside)
{
    int fd;

    if (cf_target_find(target, path) != 0)
        return -1;
    if (target->in_place)
        return cf_target_open(target);
    if (asprintf(beside, "%s.%ld.tmp", target->path, (long)getpid()) < 0) {
        *beside = NULL;
        return -1;
    }
    (void)unlink(*beside); /* of a process that had our number */
    fd = open(*beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target->exists ? 0600 : 0666);
    if (fd >= 0)
        cf_target_keep(target, fd);
    return fd;
}

void cf_picture_file(const struct cf_tool *t, const char *path,
                     int (*write)(const void *what, FILE *out), const void *what)
{
    const int to_stdout = !strcmp(path, "-");
    struct cf_target target = {0};
    char *beside = NULL;
    FILE *out = stdout;
    int bad;

    if (!to_stdout) {
        int fd = open_target(&target, path, &beside);

        if (fd < 0 || !(out = fdopen(fd, "wb")))
            cf_die(t, CF_EXIT_ENVIRONMENT, "%s: cannot be written: %s", path, strerror(errno));
    }
    errno = 0;
    bad = write(what, out);
    bad |= fflush(out) || ferror(out);
    if (!to_stdout) {
        bad |= fclose(out) != 0;
        if (!bad && beside)
            bad = rename(beside, target.path) != 0;
    }
    if (bad) {
        int why = errno;
        if (beside)
            unlink(beside);
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: cannot be written: %s", path,
               why ? strerror(why) : "out of memory");
    }
    free(beside);
    free(target.path);
}

void cf_picture_size(const struct cf_tool *t, const char *option, const char *text, uint32_t *width,
                     uint32_t *height)
{
    const char *x = strchr(text, 'x');
    char *wide = x ? strndup(text, (size_t)(x - text)) : NULL;

    if (!wide)
        cf_die(t, CF_EXIT_USAGE, "%s: '%s' is no size: write WIDTHxHEIGHT", option, text);
    *width = (uint32_t)cf_parse_u64(t, option, wide, 500, 16384);
    *height = (uint32_t)cf_parse_u64(t, option, x + 1, 260, 16384);
    free(wide);
}
