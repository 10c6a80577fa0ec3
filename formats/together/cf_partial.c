/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_partial.c - partial results: which go together (see cf_partial.h). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/together/cf_partial.h"

enum {
    ENTRY_KIND = 255, /* a row of ours: how the part fits, and the table that it lacks or 0 */
};

static const char fact[] = "partial";

struct cf_reader *cf_partial_reader(struct cf_partial *p, char *const *files, int count)
{
    p->reader = cf_tool_reader(p->tool, files, count);
    cf_reader_partials(p->reader);
    for (unsigned i = 0; i < CF_PARTIAL_COLUMNS; i++)
        cf_reader_want(p->reader, CF_PARTIAL, CF_ENTRY + i, CF_OPTIONAL);
    if (p->job && !p->by_sets)
        cf_tool_part(p->tool, p->reader, "--jobs", p->job, p->parts);
    if (p->asked) {
        if (!p->out) {
            cf_tool_no_terminal(p->tool, "store the partial result by '> FILE'");
            p->out = cf_tool_writer(p->tool, NULL);
        }
        /* a failure shows again when the writer is closed */
        (void)cf_writer_fact(p->out, fact, "program", p->tool->name);
        (void)cf_writer_fact(p->out, fact, "version", CF_VERSION);
        (void)cf_writer_fact(p->out, fact, "options", p->options);
        if (p->sets.parts) {
            (void)cf_writer_number(p->out, fact, "set_part", p->sets.number);
            (void)cf_writer_number(p->out, fact, "set_parts", p->sets.parts);
        }
    }
    return p->reader;
}

/* ---- which go together ---- */

CF_PRINTF(2, 3)
static void refuse(const struct cf_partial *p, const char *format, ...)
{
    char why[2048];
    va_list list;

    va_start(list, format);
    vsnprintf(why, sizeof(why), format, list);
    va_end(list);
    cf_die(p->tool, CF_EXIT_INPUT, "%s: %s", cf_reader_file(p->reader), why);
}

/* Which part the header is of, of a recording or of sets; without one it is the whole of
   something. */
static struct cf_part part_of(const struct cf_partial *p, const struct cf_header *h)
{
    struct cf_part part;
    const int stated = cf_header_part(h, &part);
    const int of_sets = !stated && cf_header_fact(h, fact, "set_part");

    if (stated < 0 ||
        (of_sets && (cf_header_number(h, fact, "set_part", &part.number) != 1 ||
                     cf_header_number(h, fact, "set_parts", &part.parts) != 1 || !part.number ||
                     part.number > part.parts || part.parts > CF_MAX_PARTS)))
        refuse(p, "badly says which part it is");
    return stated || of_sets ? part : (struct cf_part){.number = 1, .parts = 1};
}

static void check_maker(const struct cf_partial *p, const struct cf_header *h, const char *program)
{
    const char *version = cf_header_fact(h, fact, "version");
    const char *options = cf_header_fact(h, fact, "options");

    if (strcmp(program, p->tool->name) != 0)
        refuse(p, "a partial result of %s: give it to that program", program);
    if (!version || strcmp(version, CF_VERSION) != 0)
        refuse(p, "a partial result of version %s, and this is version %s: make it anew",
               version ? version : "[unknown]", CF_VERSION);
    if (!options || strcmp(options, p->options) != 0)
        refuse(p, "a partial result with other options, '%s' instead of '%s': give the same",
               options ? options : "", p->options);
}

/* What was run on a part must be what was run on those before. */
static void check_through(struct cf_partial *p, const char *through)
{
    if (p->through && strcmp(p->through, through) != 0)
        refuse(p,
               "what was run on this part is '%s', and not '%s' as on those before: run the same "
               "on all parts",
               through, p->through);
    if (!p->through)
        p->through = cf_tool_text(p->tool, "%s", through);
}

/* What a part states of its columns must be what those before state: of one name there may be two
   machines. */
static void check_facts(struct cf_partial *p, const struct cf_header *h)
{
    char *text = NULL;
    size_t bytes, at = 0;
    FILE *out = cf_need(p->tool, open_memstream(&text, &bytes));

    for (unsigned i = 0; i < h->facts.count; i++) {
        const struct cf_fact *f = &h->facts.fact[i];

        if (strcmp(f->column, fact) != 0 && strcmp(f->column, "part") != 0)
            fprintf(out, "%s %s: %s\n", f->column, f->key, f->value);
    }
    text = cf_need(p->tool, cf_memory_text(out, &text));
    for (size_t i = 0; p->facts && text[i] && text[i] == p->facts[i]; i++)
        at = text[i] == '\n' ? i + 1 : at;
    if (p->facts && strcmp(text, p->facts) != 0)
        refuse(p,
               "this part states '%.*s', and not '%.*s' as those before: make all in the same way",
               (int)strcspn(text + at, "\n"), text + at, (int)strcspn(p->facts + at, "\n"),
               p->facts + at);
    free(p->facts);
    p->facts = text;
}

/* Whether a header continues the part before, where parts come in order; else it begins the next
   one. */
static int continues(struct cf_partial *p, const struct cf_header *h, const struct cf_part *part)
{
    const int under_way = p->segment && !p->ended;
    const uint64_t due = under_way ? p->part.number : p->segment ? p->part.number + 1 : 1;
    uint64_t segment;

    if (cf_header_number(h, fact, "segment", &segment) != 1)
        cf_partial_damaged(p);
    if (part->number > due && under_way)
        refuse(p, "part %" PRIu64 " before it is not whole: make that anew", due);
    if (part->number > due)
        refuse(p,
               "part %" PRIu64 " of %" PRIu64 ", where part %" PRIu64
               " is due: give the partial results of all parts, in their order",
               part->number, part->parts, due);
    if (part->number == due && segment != (under_way ? p->segment + 1 : 1))
        cf_partial_damaged(p);
    p->segment = segment;
    p->ended = 0;
    return part->number == due && under_way;
}

static void take_partial(struct cf_partial *p, const struct cf_header *h, const char *program)
{
    const int first = p->input == CF_INPUT_UNKNOWN;
    const struct cf_part part = part_of(p, h);
    const char *through = cf_header_fact(h, fact, "through");

    if (p->input == CF_INPUT_STREAMS)
        refuse(p, "a partial result behind a recording: give only one of the two kinds");
    check_maker(p, h, program);
    if (p->asked)
        refuse(p, "a partial result, of which --partial cannot make another");
    if (!first && (strcmp(part.input, p->part.input) != 0 || part.bytes != p->part.bytes))
        refuse(p, "a part of another file than the partial results before");
    if (!first && part.parts != p->part.parts)
        refuse(p, "one of another number of parts than the partial results before");
    check_through(p, through ? through : "");
    if (!p->annotates) /* else nothing was run on the parts */
        check_facts(p, h);
    if (first)
        p->came = cf_tool_room(p->tool, part.parts, 1);
    p->input = CF_INPUT_PARTIALS;
    if ((p->annotates || p->ordered) && !cf_header_fact(h, fact, "set_part") &&
        continues(p, h, &part))
        return;
    p->part = part;
    if (p->came[part.number - 1]++)
        refuse(p, "part %" PRIu64 " of %" PRIu64 ", which came already: give each part once",
               part.number, part.parts);
}

/* Looks at what was run on the part alone. */
static void check_chain(struct cf_partial *p, const struct cf_header *h)
{
    const char *program;
    char *through;

    if (p->part.parts == 1)
        return;
    program = cf_partial_remembers(h, p->part.chain);
    if (program)
        refuse(p,
               "%s was run on the part alone, without the rows before it: run it on the whole, and "
               "take the parts of what it has written",
               program);
    through = cf_need(p->tool, cf_partial_through(h, p->part.chain));
    check_through(p, through);
    free(through);
    /* a failure shows again when it is closed */
    if (*p->through)
        (void)cf_writer_fact(p->out, fact, "through", p->through);
}

/* Which of the segments of the part it is; what cf_partial_header() takes out must be the last. */
static void begin_segment(struct cf_partial *p, const struct cf_header *h)
{
    if (p->annotates && cf_header_fact(h, "part", "number") && h->chain != p->part.chain + 1)
        refuse(p,
               "other programs were run on the part: give %s what cf-cat --part gives, or run "
               "them on the whole, and take the parts of what they have written",
               p->tool->name);
    cf_partial_flush(p);
    (void)cf_writer_number(p->out, fact, "segment", ++p->segment);
}

static void take_header(struct cf_partial *p, const struct cf_header *h)
{
    const char *program = cf_header_fact(h, fact, "program");

    memset(p->seen, 0, sizeof(p->seen));
    if (program) {
        take_partial(p, h, program);
        return;
    }
    if (p->input == CF_INPUT_PARTIALS)
        refuse(p, "a recording behind a partial result: give only one of the two kinds");
    if (p->asked) {
        const struct cf_part part = part_of(p, h);

        if (p->sets.parts && part.parts > 1)
            refuse(p, "a part of a recording: --set-part takes parts of the sets, of the whole");
        if (p->input && (part.number != p->part.number || part.parts != p->part.parts ||
                         strcmp(part.input, p->part.input) != 0))
            refuse(p, "another part than the inputs before: make a partial result of each");
        p->part = part;
        check_chain(p, h);
        if (p->annotates || (p->ordered && !p->input))
            begin_segment(p, h);
        /* a failure shows again when it is closed */
        if (!p->input || p->annotates)
            (void)cf_writer_frame(p->out, &(struct cf_frame){.header = h});
    }
    p->input = CF_INPUT_STREAMS;
}

/* Bytes of the document without its last line, which is the program's in the chain. */
static size_t without_line(const struct cf_partial *p, const struct cf_header *h, size_t bytes,
                           const char *program)
{
    static const char item[] = "  - \"";
    size_t at = bytes ? bytes - 1 : 0;

    while (at && h->yaml[at - 1] != '\n')
        at--;
    if (bytes - at < sizeof(item) || memcmp(h->yaml + at, item, sizeof(item) - 1) != 0 ||
        strncmp(h->yaml + at + sizeof(item) - 1, program, strlen(program)) != 0)
        refuse(p, "other programs have changed it: give it as %s has written it", p->tool->name);
    return at;
}

int cf_partial_header(struct cf_partial *p, const struct cf_header *h, struct cf_writer *w)
{
    const int of_part = cf_header_fact(h, "part", "number") != NULL;
    struct cf_header whole = *h;
    int result;

    whole.facts.fact = cf_need(p->tool, malloc((h->facts.count + 1) * sizeof(*whole.facts.fact)));
    whole.facts.count = 0;
    for (unsigned i = 0; i < h->facts.count; i++)
        if (strcmp(h->facts.fact[i].column, fact) != 0 &&
            strcmp(h->facts.fact[i].column, "part") != 0)
            whole.facts.fact[whole.facts.count++] = h->facts.fact[i];
    whole.yaml_bytes = without_line(p, h, h->yaml_bytes, p->tool->name);
    if (of_part)
        whole.yaml_bytes = without_line(p, h, whole.yaml_bytes, "cf-cat");
    whole.chain = h->chain - 1 - (unsigned)of_part;
    whole.restated = 1;
    result = cf_writer_frame(w, &(struct cf_frame){.header = &whole});
    free(whole.facts.fact);
    return result;
}

/* A frame of ours has no other rows, since none has so many keys and nothing else. */
static int is_kind(const struct cf_frame *f)
{
    const uint8_t *entry = cf_u8(f, CF_ENTRY);

    return f->table == CF_PARTIAL && entry && *entry == ENTRY_KIND;
}

static void take_kind(struct cf_partial *p, const struct cf_frame *f)
{
    const uint64_t *fit = cf_partial_key(p, f, 0), *table = cf_partial_key(p, f, 1);

    for (uint32_t i = 0; i < f->rows; i++) {
        const int has = fit[i] == CF_FIT_KIND || fit[i] == CF_FIT_WHOLE;

        if (!has && fit[i] != CF_FIT_OTHERS && fit[i] != CF_FIT_WITHOUT)
            cf_partial_damaged(p);
        if (has ? table[i] != 0 : table[i] > CF_PARTIAL || !cf_table_name((unsigned)table[i]))
            cf_partial_damaged(p);
        if (fit[i] > p->fit)
            p->fit = (enum cf_fit)fit[i];
        if (table[i])
            p->lacks = (unsigned)table[i];
    }
}

int cf_partial_frame(struct cf_partial *p, const struct cf_frame *f)
{
    if (f->table == CF_HEADER)
        take_header(p, f->header);
    if (f->table == CF_PARTIAL && p->input != CF_INPUT_PARTIALS)
        cf_partial_damaged(p); /* its header does not say so */
    if (is_kind(f))
        take_kind(p, f);
    return p->input == CF_INPUT_PARTIALS;
}

uint32_t cf_partial_repeated(struct cf_partial *p, const struct cf_frame *f)
{
    uint64_t before, seen;

    if (f->table >= CF_ACCESS || !cf_table_repeats(f->table))
        return 0;
    if (p->asked && p->part.parts > 1 &&
        (f->table == CF_FILE || f->header->chain > p->part.chain + 1))
        refuse(p,
               "rows of table %s stand in several parts, and a program since then may have "
               "changed how many they are: take the parts of what that has written",
               cf_table_name(f->table));
    before = cf_header_repeated(f->header, f->table);
    seen = p->seen[f->table];
    p->seen[f->table] += f->rows;
    return before <= seen ? 0 : before - seen < f->rows ? (uint32_t)(before - seen) : f->rows;
}

int cf_partial_is_last(const struct cf_partial *p)
{
    return p->part.number == p->part.parts;
}

static void check_all_came(const struct cf_partial *p)
{
    if (p->input != CF_INPUT_PARTIALS)
        return;
    for (uint64_t i = 0; i < p->part.parts; i++)
        if (!p->came[i])
            cf_die(p->tool, CF_EXIT_INPUT,
                   "part %" PRIu64 " of %" PRIu64 " is missing: give the partial results of all",
                   i + 1, p->part.parts);
}

/* Whether a result is made of one part of several, which need not all have what is needed. */
static int is_of_several(const struct cf_partial *p)
{
    return p->asked && (p->part.parts > 1 || p->job);
}

/* Ends the program where the parts together lack what is needed, as the whole would. Which column,
   was said when that part was read. */
static void check_fit(const struct cf_partial *p)
{
    int status;

    if (p->fit != CF_FIT_OTHERS && p->fit != CF_FIT_WITHOUT)
        return;
    status = p->fit == CF_FIT_WITHOUT
                 ? cf_tool_problems(p->tool, p->reader) | CF_EXIT_INPUT
                 : cf_tool_lacks(p->tool, cf_reader_input(p->reader), p->lacks);
    exit(cf_tool_finish(p->tool, NULL, NULL) | status);
}

void cf_partial_end(struct cf_partial *p)
{
    cf_partial_jobs_end(p);
    if (p->input != CF_INPUT_PARTIALS) {
        if (!is_of_several(p) && !p->annotates)
            cf_tool_fit(p->tool, p->reader);
        return;
    }
    /* of a recording that is cut off or damaged, what could be read is in it */
    if (cf_reader_problem(p->reader) && !cf_reader_wanting(p->reader))
        cf_die(p->tool, cf_tool_problems(p->tool, p->reader),
               "a partial result is not whole: make it anew; there is no result");
    check_all_came(p);
    if (p->segment && !p->ended)
        cf_partial_damaged(p);
    if (!p->annotates) /* else what lacks, shows in what was handed on */
        check_fit(p);
}

/* ---- reading ---- */

void cf_partial_damaged(const struct cf_partial *p)
{
    cf_die(p->tool, CF_EXIT_INPUT, "%s: a partial result with rows that no program writes: damaged",
           cf_reader_file(p->reader));
}

static const void *column(const struct cf_partial *p, const struct cf_frame *f, unsigned id)
{
    const void *values = cf_values(f, id);

    if (!values)
        cf_die(p->tool, CF_EXIT_INPUT,
               "%s: a partial result without column '%s', which this build of version %s has: make "
               "it anew",
               cf_reader_file(p->reader), cf_column_name(id), CF_VERSION);
    return values;
}

const uint8_t *cf_partial_entries(const struct cf_partial *p, const struct cf_frame *f)
{
    return is_kind(f) ? NULL : column(p, f, CF_ENTRY);
}

const uint64_t *cf_partial_key(const struct cf_partial *p, const struct cf_frame *f, unsigned i)
{
    return column(p, f, CF_KEY1 + i);
}

const uint32_t *cf_partial_text(const struct cf_partial *p, const struct cf_frame *f, unsigned i)
{
    return column(p, f, CF_TEXT1 + i);
}

const uint64_t *cf_partial_sum(const struct cf_partial *p, const struct cf_frame *f, unsigned i)
{
    return column(p, f, CF_SUM1 + i);
}

/* ---- the end of one ---- */

static void put_kind(struct cf_partial *p)
{
    const enum cf_fit fit = cf_reader_fit(p->reader);

    if (is_of_several(p) && fit)
        cf_partial_row(p, &(struct cf_partial_row){.entry = ENTRY_KIND,
                                                   .keys = CF_PARTIAL_KEYS,
                                                   .key = {fit, cf_reader_lacks(p->reader)}});
}

int cf_partial_finish(struct cf_partial *p)
{
    const int of_several = is_of_several(p);
    char problem[1024] = "";
    int whole, closed;

    put_kind(p);
    cf_partial_flush(p);
    whole = !p->tool->status && !cf_reader_refused(p->reader);
    if (cf_reader_problem(p->reader) && !p->job)
        cf_writer_wanting(p->out); /* that a process of -j found damage, its status says */
    closed = cf_writer_close(p->out, whole, problem, sizeof problem);
    p->out = NULL;
    if (closed != 0)
        cf_fail(p->tool, CF_EXIT_ENVIRONMENT, "%s",
                problem[0] ? problem : "the partial result could not be written");
    cf_partial_free(p);
    if (!of_several)
        return cf_tool_finish(p->tool, p->reader, NULL);
    cf_tool_note(p->tool, cf_tool_problems(p->tool, p->reader));
    cf_reader_close(p->reader);
    return cf_tool_finish(p->tool, NULL, NULL);
}

void cf_partial_free(struct cf_partial *p)
{
    free(p->options);
    free(p->facts);
    p->options = p->facts = NULL;
}
