/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_options.c - a table of options, by getopt_long() (see cf_options.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/files/cf_target.h"
#include "formats/machine/cf_machine.h"
#include "formats/program/cf_options.h"

enum { MOST = 48, NAME = 64, FIRST = 256 };

/* What all programs share; cf_common_option() acts on it. */
static const struct option common[] = {
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 1000},
    {NULL, 0, NULL, 0},
};

static const struct cf_option *find(const struct cf_option *table, const char *name)
{
    while (strcmp(table->name, name) != 0)
        table++;
    return table;
}

/* The tables of getopt_long(); the value of an option is its place, from FIRST up. */
static void list(const struct cf_option *table, struct option *longs, char *letters)
{
    const struct cf_option *o = table;
    char *const begin = letters;

    letters += sprintf(letters, "+qh");
    for (; o->name; o++) {
        const struct cf_option *is = o->takes == CF_TAKES_OLD ? find(table, o->words) : o;
        const int argument = is->may_lack ? optional_argument
                             : is->takes == CF_TAKES_FLAG || is->takes == CF_TAKES_FORM ||
                                     is->takes == CF_TAKES_READY
                                 ? no_argument
                                 : required_argument;

        *longs++ = (struct option){o->name, argument, NULL, FIRST + (int)(o - table)};
        if (o->letter)
            letters += sprintf(letters, "%c%s", o->letter,
                               argument == optional_argument   ? "::"
                               : argument == required_argument ? ":"
                                                               : "");
    }
    if (o->takes == CF_TAKES_INPUT_END)
        *longs++ = (struct option){"max-strings", required_argument, NULL, 1001};
    memcpy(longs, common, sizeof common);
    /* "+" at the begin: options end where a command begins */
    if (o->takes != CF_TAKES_COMMAND_END)
        memmove(begin, begin + 1, strlen(begin));
}

static void add(const struct cf_tool *t, const struct cf_option *o, const char *name,
                const char *text)
{
    unsigned *count = o->second;

    if (*count == o->most)
        cf_die(t, CF_EXIT_USAGE, "%s: given more than %" PRIu64 " times", name, o->most);
    ((const char **)o->to)[(*count)++] = text;
}

static void act(struct cf_tool *t, const struct cf_option *o, char *text)
{
    char name[NAME];

    snprintf(name, sizeof name, "--%s", o->name);
    switch (o->takes) {
    case CF_TAKES_FORM:
        cf_common_option(t, (int)o->least);
        break;
    case CF_TAKES_FLAG:
        *(int *)o->to = 1;
        break;
    case CF_TAKES_TEXT:
        *(const char **)o->to = text;
        break;
    case CF_TAKES_TEXTS:
        add(t, o, name, text);
        break;
    case CF_TAKES_U8:
        *(uint8_t *)o->to = (uint8_t)cf_parse_u64(t, name, text, o->least, o->most);
        break;
    case CF_TAKES_U32:
        *(uint32_t *)o->to = (uint32_t)cf_parse_u64(t, name, text, o->least, o->most);
        break;
    case CF_TAKES_U64:
        *(uint64_t *)o->to = cf_parse_u64(t, name, text, o->least, o->most);
        break;
    case CF_TAKES_F64:
        *(double *)o->to = cf_parse_f64(t, name, text, (double)o->least, (double)o->most, o->ends);
        break;
    case CF_TAKES_SIZE:
        *(uint64_t *)o->to = cf_parse_size(t, name, text);
        break;
    case CF_TAKES_POWER:
        *(uint64_t *)o->to = cf_parse_power(t, name, text, o->least, o->most);
        break;
    case CF_TAKES_RANGE:
        cf_parse_range(t, name, text, o->to, o->second);
        break;
    case CF_TAKES_WORD:
        *(unsigned *)o->to = (unsigned)o->least + cf_parse_word(t, name, text, o->words);
        break;
    case CF_TAKES_OPS:
        cf_parse_ops(t, name, text, o->to);
        break;
    case CF_TAKES_READY:
        puts(o->words);
        exit(cf_tool_finish(t, NULL, NULL));
    default:
        o->call(t, o->to, name, text);
    }
    if (o->given)
        *o->given = 1;
}

/* The file that an option has written, with `ending`, to be freed; NULL where there is none, or a
   device or pipe, which takes several. */
static char *file_of(const struct cf_option *o, const char *ending)
{
    const char *const name = o->written ? *(const char **)o->to : NULL;
    struct cf_target target = {0};
    char *base, *folder, *file = NULL;

    if (name && cf_target_find(&target, name) == 0 && !target.in_place) {
        base = strrchr(target.path, '/');
        base = base ? base + 1 : target.path;
        if (asprintf(&folder, "%.*s.", (int)(base - target.path), target.path) >= 0) {
            char *real = realpath(folder, NULL);

            if (asprintf(&file, "%s/%s%s", real ? real : folder, base, ending) < 0)
                file = NULL;
            free(real);
            free(folder);
        }
    }
    free(target.path);
    return file;
}

static int same_file(const struct cf_option *o, const char *ending, const struct cf_option *other)
{
    char *b = file_of(other, ""), *a = b ? file_of(o, ending) : NULL;
    const int same = a && !strcmp(a, b);

    free(a);
    free(b);
    return same;
}

/* Whether standard output is the file that an option writes, and would have no name any more. */
static int is_stdout(const struct cf_option *o)
{
    char *file = file_of(o, "");
    struct stat one, other;
    const int is = file && !stat(file, &one) && !fstat(STDOUT_FILENO, &other) &&
                   one.st_dev == other.st_dev && one.st_ino == other.st_ino;

    free(file);
    return is;
}

/* Of two results in one file the first would be lost. What records a command writes -o FILE as
   FILE.partial first. */
static void check_files(const struct cf_tool *t, const struct cf_option *table)
{
    const struct cf_option *end = table;
    int partial;

    while (end->name)
        end++;
    for (const struct cf_option *o = table; o < end; o++) {
        if (o->written && *(const char **)o->to && !**(const char **)o->to)
            cf_die(t, CF_EXIT_USAGE, "--%s: an empty name: name a file", o->name);
        if (o->letter != 'o' && is_stdout(o)) /* with -o nothing goes there */
            cf_die(t, CF_EXIT_USAGE,
                   "--%s and standard output both write '%s': give each its own file", o->name,
                   *(const char **)o->to);
        for (const struct cf_option *other = table; other < end; other++) {
            partial = end->takes == CF_TAKES_COMMAND_END && o->letter == 'o' &&
                      same_file(o, ".partial", other);
            if (partial || (other < o && same_file(o, "", other)))
                cf_die(t, CF_EXIT_USAGE, "--%s and --%s both write '%s'%s: give each its own file",
                       other->name, o->name, *(const char **)other->to,
                       partial ? ", the second one until it is whole" : "");
        }
    }
}

static void apart_from(const struct cf_tool *t, const char *output, const struct cf_option *source)
{
    const char *const *text = source->to;
    const unsigned texts =
        source->takes == CF_TAKES_TEXTS ? *(const unsigned *)source->second : *text != NULL;

    for (unsigned i = 0; i < texts; i++)
        if (source->reads == CF_READS_FILE || cf_machine_is_file(text[i]))
            cf_tool_apart(t, output, text[i]);
}

/* What is read would be lost to what is written, of which standard output is always one. A command
   has arguments of its own. */
static void check_inputs(const struct cf_tool *t, const struct cf_option *table, char *const *input,
                         int inputs)
{
    const struct cf_option *end = table;

    while (end->name)
        end++;
    for (const struct cf_option *o = table; o <= end; o++) {
        const char *const output = o == end ? "-" : o->written ? *(const char **)o->to : NULL;

        if (!output)
            continue;
        for (int i = 0; end->takes != CF_TAKES_COMMAND_END && (i < inputs || !i); i++)
            cf_tool_apart(t, output, inputs ? input[i] : "-");
        for (const struct cf_option *source = table; source < end; source++)
            if (source->reads)
                apart_from(t, output, source);
    }
}

void cf_options_read(struct cf_tool *t, int argc, char **argv, const struct cf_option *table)
{
    struct option longs[MOST];
    char letters[2 * MOST];
    int c;

    list(table, longs, letters);
    while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        const struct cf_option *o = table;

        while (o->name && (c < FIRST ? o->letter != c : o - table != c - FIRST))
            o++;
        if (!o->name) {
            cf_common_option(t, c);
            continue;
        }
        if (o->takes == CF_TAKES_OLD) {
            cf_warn(t, "--%s is --%s now, and will be unknown in the next version", o->name,
                    o->words);
            o = find(table, o->words);
        }
        act(t, o, optarg);
    }
    check_files(t, table);
    check_inputs(t, table, argv + optind, argc - optind);
}
