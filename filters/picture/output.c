/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.c - the options of programs that draw (see output.h).
 *
 * In: options. Out: a choice, and files by file.c.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filters/picture/output.h"

void cf_output_size(const struct cf_tool *t, void *output, const char *option, char *text)
{
    struct cf_sheet *s = &((struct cf_output *)output)->sheet;
    const size_t n = strlen(text);
    char *x = strchr(text, 'x');

    if (!x)
        cf_die(t, CF_EXIT_USAGE, "%s: '%s' is no size: write WIDTHxHEIGHT or WIDTHxHEIGHTmm",
               option, text);
    *x = '\0';
    s->mm = n > 2 && !strcmp(text + n - 2, "mm");
    text[s->mm ? n - 2 : n] = '\0';
    s->width = (uint32_t)cf_parse_u64(t, option, text, s->mm ? 60 : 300, s->mm ? 1300 : 16384);
    s->height = (uint32_t)cf_parse_u64(t, option, x + 1, s->mm ? 40 : 200, s->mm ? 1300 : 16384);
}

static int to_stdout(const char *file)
{
    return file && !strcmp(file, "-");
}

void cf_output_check(const struct cf_tool *t, struct cf_output *o)
{
    static const char *const ending[] = {[CF_PNG] = ".png", [CF_SVG] = ".svg", [CF_PDF] = ".pdf"};
    const char *dot = o->picture ? strrchr(o->picture, '.') : NULL;
    int kind = 0;

    while (kind <= CF_PDF && (!dot || strcasecmp(dot, ending[kind]) != 0))
        kind++;
    if (o->picture && kind > CF_PDF && !to_stdout(o->picture))
        cf_die(t, CF_EXIT_USAGE,
               "--picture: the name '%s' does not end in .png, .svg or .pdf, which says its form",
               o->picture);
    o->sheet.form = kind > CF_PDF ? CF_PNG : (enum cf_form)kind;
    if ((to_stdout(o->picture) || to_stdout(o->html)) && isatty(1))
        cf_die(t, CF_EXIT_USAGE,
               "a picture is not written to a terminal: give --picture or --html a FILE");
}

enum cf_stdout cf_output_stdout(const struct cf_tool *t, const struct cf_output *o)
{
    if (to_stdout(o->picture) || to_stdout(o->html))
        return CF_STDOUT_PICTURE;
    return cf_tool_term(t) ? CF_STDOUT_DRAWING : CF_STDOUT_CSV;
}

/* What cf_tool_file() hands to the functions below. */
struct job {
    const struct cf_sheet *sheet;
    const void *what;
    const struct cf_drawings *by;
    const struct cf_terminal *terminal;
};

/* In a process of its own, since Cairo may crash where memory is short. It exits with errno. */
static int write_picture(const void *arg, FILE *out)
{
    const struct job *j = arg;
    const pid_t parent = getpid();
    int status = 0;
    pid_t pid;

    fflush(NULL); /* or both processes would write it */
    pid = fork();
    if (pid == 0) {
        /* nobody wants the picture when this program is gone */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(errno);
        status = j->by->picture(j->what, j->sheet, out) || fflush(out) || ferror(out);
        _exit(status ? (errno ? errno : ENOMEM) : 0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    if (pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
        raise(SIGPIPE); /* the reader has gone: so do we, in silence */
    if (pid > 0)
        errno = WIFEXITED(status)             ? WEXITSTATUS(status)
                : WTERMSIG(status) == SIGXFSZ ? EFBIG
                                              : ENOMEM; /* without it, libraries fault */
    return pid < 0 || status ? -1 : 0;
}

/* A page, or a drawing on a terminal. */
static int write_text(const void *arg, FILE *out)
{
    const struct job *j = arg;

    return j->terminal ? j->by->term(j->what, out, j->terminal) : j->by->html(j->what, out);
}

void cf_output_draw(const struct cf_tool *t, const struct cf_output *o, const void *what,
                    const struct cf_drawings *by)
{
    const struct cf_terminal terminal = cf_terminal_here();
    const struct job j = {&o->sheet, what, by, NULL}, drawing = {NULL, what, by, &terminal};

    if (o->picture)
        cf_tool_file(t, o->picture, write_picture, &j);
    if (o->html)
        cf_tool_file(t, o->html, write_text, &j);
    if (by->term && cf_output_stdout(t, o) == CF_STDOUT_DRAWING)
        cf_tool_file(t, "-", write_text, &drawing);
}
