/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-perf-script - imports the text that `perf script` prints of sampled memory accesses.
 *
 * In: a line a sample, with perf's default fields or those of -F, in the order that perf has them
 * in: comm, pid and tid, cpu, misc, time, period, event, addr, data_src, weight, ins_lat,
 * retire_lat, ip, sym, dso, phys_addr, page sizes. Of data_src the number counts; its decoded text
 * differs between versions, and perf cuts it. Out: the table access, a row for each sample that has
 * an address and an operation.
 * Memory: one batch of rows.
 */
#include <string.h>

#include "capture/base/cf_lines.h"
#include "capture/base/cf_samples.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-capture perf-script [options] [FILE...]\n"
    "Import the text that 'perf script' prints of samples of memory accesses.\n"
    "\n"
    "  -F, --fields LIST    what perf script was given as -F [its default]\n"
    "      --period N       events a sample stands for, where no period is printed [1]\n"
    "      --op OP          operation of samples that state none: load, store, ... [left out]\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "      --probe          report whether this source can be used here, and exit\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help           show this text\n"
    "      --version        show the version\n"
    "\n"
    "Example: perf script -F pid,tid,time,event,addr,data_src,weight,ip |\n"
    "             cf-capture perf-script -F pid,tid,time,event,addr,data_src,weight,ip -o ls.cf\n";

#define FIELDS(F)                                                                                  \
    F(COMM, comm)                                                                                  \
    F(PID, pid)                                                                                    \
    F(TID, tid)                                                                                    \
    F(CPU, cpu)                                                                                    \
    F(MISC, misc)                                                                                  \
    F(TIME, time)                                                                                  \
    F(PERIOD, period)                                                                              \
    F(EVENT, event)                                                                                \
    F(ADDR, addr)                                                                                  \
    F(DATA_SRC, data_src)                                                                          \
    F(WEIGHT, weight)                                                                              \
    F(INS_LAT, ins_lat)                                                                            \
    F(RETIRE_LAT, retire_lat)                                                                      \
    F(IP, ip)                                                                                      \
    F(SYM, sym)                                                                                    \
    F(SYMOFF, symoff)                                                                              \
    F(DSO, dso)                                                                                    \
    F(PHYS, phys_addr)                                                                             \
    F(DATA_PAGE, data_page_size)                                                                   \
    F(CODE_PAGE, code_page_size)
#define FIELD_NUMBER(id, name) NUMBER_##id,
#define FIELD_BIT(id, name)    HAS_##id = 1 << NUMBER_##id,
#define FIELD_WORD(id, name)   #name " "
enum { FIELDS(FIELD_NUMBER) };
enum { FIELDS(FIELD_BIT) };
static const char words[] = FIELDS(FIELD_WORD);
/* Fields of which a line has texts behind all numbers. */
enum {
    NAMES = HAS_SYM | HAS_SYMOFF | HAS_DSO,
    BEHIND = NAMES | HAS_PHYS | HAS_DATA_PAGE | HAS_CODE_PAGE,
};

enum { FIELD_COLUMNS = 16 }; /* of a number, at least */

/* What stands for the event in lines of records that are no samples. */
#define RECORD "PERF_RECORD_"
/* The letters of field misc, which may have none. */
#define MISC "KUHGgMESp"

struct script {
    struct cf_samples rows;
    unsigned fields; /* of -F; 0: the default ones, as far as a line has them */
    uint64_t period, records, time;
    char event[256]; /* of the line before */
    size_t event_length;
    unsigned event_op;
    uint32_t event_number;
    int no_process; /* a line says the thread only */
};

static void set_fields(const struct cf_tool *t, void *to, const char *option, char *text)
{
    unsigned fields = 0;
    char list[sizeof words];

    memcpy(list, words, sizeof words);
    list[sizeof words - 2] = 0; /* the last blank */
    for (char *rest = NULL, *word = strtok_r(text, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest))
        fields |= 1U << cf_parse_word(t, option, word, list);
    if (!(fields & HAS_ADDR))
        cf_die(t, CF_EXIT_USAGE, "%s: without addr there are no accesses", option);
    if ((fields & HAS_COMM) && !(fields & HAS_TIME))
        cf_die(t, CF_EXIT_USAGE,
               "%s: without time nothing shows where comm ends, which may hold blanks", option);
    *(unsigned *)to = fields;
}

/* ---- words of a line; its newline stops all loops ---- */

/* The CR of a line that ends with CR LF counts as one. */
static inline int blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline const char *skip_blanks(const char *p)
{
    while (blank(*p))
        p++;
    return p;
}

static inline const char *skip_word(const char *p)
{
    while (!blank(*p) && *p != '\n')
        p++;
    return p;
}

static inline const char *skip_misc(const char *p)
{
    return p + strspn(p, MISC);
}

static inline int digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A whole word of digits: 1 and its value, and *p is behind it. */
static int take_number(const char **p, uint64_t *value)
{
    const char *start = skip_blanks(*p), *q = start;
    uint64_t v = 0;

    while (digit(*q) && q - start < 19)
        v = v * 10 + (uint64_t)(*q++ - '0');
    if (q == start || !(blank(*q) || *q == '\n'))
        return 0;
    *value = v;
    *p = q;
    return 1;
}

/* The same for hex digits in lower case, as perf prints them. */
static int take_hex(const char **p, uint64_t *value)
{
    const char *start = skip_blanks(*p), *q = cf_lines_hex(start, value);

    if (!q || !(blank(*q) || *q == '\n'))
        return 0;
    for (const char *c = start; c < q; c++)
        if (*c >= 'A' && *c <= 'F')
            return 0;
    *p = q;
    return 1;
}

/* A number that ends before `end`, backwards: where it begins, or NULL. */
static const char *number_before(const char *line, const char *end, uint32_t *value)
{
    const char *p = end;
    uint64_t v = 0, scale = 1;

    for (; p > line && digit(p[-1]) && end - p < 10; scale *= 10)
        v += (uint64_t)(*--p - '0') * scale;
    if (p == end || v > UINT32_MAX)
        return NULL;
    if (p > line && p[-1] == '-') /* -1: no process */
        p--, v = UINT32_MAX;
    *value = (uint32_t)v;
    return p;
}

static const char *blanks_before(const char *line, const char *end)
{
    while (end > line && blank(end[-1]))
        end--;
    return end;
}

/* What stands before the time: of its words only the last ones count, since comm may hold anything.
   1 where they are as the fields say. */
static int take_before(struct script *s, const char *line, const char *end, struct cf_sample *out)
{
    const unsigned fields = s->fields;
    const char *p = blanks_before(line, end);

    while (fields & HAS_MISC && p > line && strchr(MISC, p[-1]))
        p--;
    p = blanks_before(line, p);
    if (p > line && p[-1] == ']' && (!fields || fields & HAS_CPU)) {
        const char *q = number_before(line, p - 1, &out->cpu);

        if (!q || q == line || q[-1] != '[')
            return 0;
        p = blanks_before(line, q - 1);
        s->rows.has |= CF_SAMPLES_CPU;
    } else if (fields & HAS_CPU) {
        return 0;
    }
    if (fields && !(fields & (HAS_PID | HAS_TID)))
        return 1;
    p = number_before(line, p, &out->tid);
    if (!p)
        return 0;
    out->pid = out->tid;
    if (p > line && p[-1] == '/')
        p = number_before(line, p - 1, &out->pid);
    else
        s->no_process |= !(fields & HAS_PID);
    return p && (p == line || blank(p[-1]));
}

/* "SECONDS.FRACTION:" that ends with the colon: 1 and nanoseconds. *start is where it begins. */
static int time_before(const char *line, const char *colon, const char **start, uint64_t *ns)
{
    const char *dot = colon, *p;
    uint64_t whole = 0, part = 0;

    while (dot > line && digit(dot[-1]) && colon - dot < 10)
        dot--;
    if (dot == colon || dot == line || *--dot != '.' || colon - dot - 1 > 9)
        return 0;
    for (p = dot; p > line && digit(p[-1]) && dot - p < 10;)
        p--;
    if (p == dot || (p > line && !blank(p[-1])))
        return 0;
    *start = p;
    for (; p < dot; p++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    for (p = dot + 1; p < dot + 10; p++)
        part = part * 10 + (uint64_t)(p < colon ? *p - '0' : 0);
    *ns = whole * 1000000000 + part;
    return 1;
}

/* Everything up to and with the time: where it ends, or NULL. */
static const char *take_head(struct script *s, const char *line, const char *end,
                             struct cf_sample *out)
{
    const char *colon = line, *start;
    uint64_t value;

    if (s->fields && !(s->fields & HAS_TIME)) {
        const char *p = line;

        out->time = s->records;
        if (s->fields & (HAS_PID | HAS_TID))
            p = skip_word(skip_blanks(p));
        if (s->fields & HAS_CPU)
            p = skip_word(skip_blanks(p));
        if (s->fields & HAS_MISC)
            p = skip_misc(skip_blanks(p));
        return take_before(s, line, p, out) ? p : NULL;
    }
    while ((colon = memchr(colon, ':', (size_t)(end - colon)))) {
        if (time_before(line, colon, &start, &value) && take_before(s, line, start, out)) {
            out->time = value;
            return colon + 1;
        }
        colon++;
    }
    return NULL;
}

/* Period and event: where they end, or NULL. */
static const char *take_event(struct script *s, const char *p, struct cf_sample *out)
{
    const char *word, *end;

    if (!s->fields || s->fields & HAS_PERIOD) {
        const int is = take_number(&p, &out->period);

        if (!is && s->fields)
            return NULL;
    }
    if (s->fields && !(s->fields & HAS_EVENT))
        return p;
    word = skip_blanks(p);
    end = skip_word(word);
    if (end == word || end[-1] != ':')
        return NULL;
    if ((size_t)(end - word) != s->event_length || memcmp(word, s->event, s->event_length) != 0) {
        uint32_t n = 1;

        s->event_length = (size_t)(end - word) < sizeof s->event ? (size_t)(end - word) : 0;
        memcpy(s->event, word, s->event_length);
        s->event_op = cf_event_op(word, (size_t)(end - word));
        for (const char *c = word; c < end; c++)
            n = n * 31 + (uint8_t)*c;
        s->event_number = n;
    }
    out->op = (uint8_t)s->event_op;
    out->event = s->event_number;
    return end;
}

/* The text behind the number of data_src, or names of an address. Words of it may be in hex, as the
   last one is that perf cuts ("Any cache" to "Any c"): fields are right-aligned in 16 columns, so
   that one behind a single blank has as many digits. */
static const char *skip_decoded(const char *p)
{
    const char *q, *behind = skip_blanks(p);
    uint64_t value;

    for (; *behind != '\n'; p = skip_word(behind), behind = skip_blanks(p)) {
        q = behind;
        if (take_hex(&q, &value) && (behind - p > 1 || q - behind == FIELD_COLUMNS))
            break;
    }
    return behind;
}

/* By default numbers up to the last, which is ip, are weight and latencies. One alone is ip: of
   events of software and breakpoints perf prints no address by default. */
static int take_default(struct script *s, const char *p, struct cf_sample *out)
{
    uint64_t value;
    const char *q = p;
    int alone = 1;

    if (take_hex(&q, &value) && q[0] != '\n') {
        const char *r = skip_blanks(q);

        if (*r == '|') {
            alone = 0;
            out->data_src = value;
            p = skip_decoded(r);
            q = p;
            (void)take_number(&q, &out->latency);
            s->rows.has |= CF_SAMPLES_DATA_SRC | CF_SAMPLES_COST;
        }
    }
    /* a word in front of a file in brackets is a symbol, such as add */
    for (; take_hex(&p, &value) && *skip_blanks(p) != '('; alone = 0)
        out->pc = value;
    if (alone) {
        out->pc = out->addr;
        out->addr = 0;
    }
    return 1;
}

/* What stands behind ip and its symbol, from the line's end. */
static int take_phys(const struct script *s, const char *p, const char *end, struct cf_sample *out)
{
    const int words_behind = !!(s->fields & HAS_DATA_PAGE) + !!(s->fields & HAS_CODE_PAGE);

    for (int i = 0; i <= words_behind; i++) {
        while (end > p && blank(end[-1]))
            end--;
        if (i < words_behind)
            while (end > p && !blank(end[-1]))
                end--;
    }
    while (end > p && !blank(end[-1]))
        end--;
    return take_hex(&end, &out->phys);
}

static int take_rest(struct script *s, const char *p, const char *end, struct cf_sample *out)
{
    const unsigned fields = s->fields;
    uint64_t number;

    if (!take_hex(&p, &out->addr))
        return 0;
    if (!fields)
        return take_default(s, p, out);
    if (fields & NAMES) /* of page faults perf names the address, too */
        p = skip_decoded(p);
    if (fields & HAS_DATA_SRC) {
        if (!take_hex(&p, &out->data_src))
            return 0;
        p = skip_decoded(p);
    }
    if (((fields & HAS_WEIGHT) && !take_number(&p, &out->latency)) ||
        ((fields & HAS_INS_LAT) && !take_number(&p, &number)) ||
        ((fields & HAS_RETIRE_LAT) && !take_number(&p, &number)) ||
        ((fields & HAS_IP) && !take_hex(&p, &out->pc)))
        return 0;
    /* what is left is of fields that -F lacks, so that those before it may be others, too */
    if (!(fields & BEHIND) && *skip_blanks(p) != '\n')
        return 0;
    return !(fields & HAS_PHYS) || take_phys(s, p, end, out);
}

static void import(struct script *s, struct cf_lines *l)
{
    const char *line;
    size_t length;

    while (!s->rows.failed && cf_lines_next(l, &line, &length)) {
        struct cf_sample sample = {.period = s->period};
        const char *p = skip_blanks(line);

        if (*p == '\n' || *line == '#')
            continue;
        s->records++;
        p = take_head(s, line, line + length, &sample);
        if (strncmp(p ? skip_blanks(p) : line, RECORD, strlen(RECORD)) == 0) {
            s->records--; /* another record, or the end of a round, which has no head */
            continue;
        }
        if (p)
            p = take_event(s, p, &sample);
        if (!p || !take_rest(s, p, line + length, &sample)) {
            cf_lines_bad(
                l, 0, "'%.*s' has not the fields of %s: give -F the list that perf script got",
                (int)(length < 80 ? length : 80), line, s->fields ? "-F" : "perf's default");
            continue;
        }
        if (sample.time < s->time) {
            cf_lines_bad(l, 0, "the time is before that of an earlier line");
            continue;
        }
        s->time = sample.time;
        cf_samples_add(&s->rows, &sample);
    }
    cf_samples_send(&s->rows);
}

int main(int argc, char **argv)
{
    static struct script s = {.period = 1};
    static const struct {
        unsigned field, has;
    } columns[] = {{HAS_CPU, CF_SAMPLES_CPU},     {HAS_IP, CF_SAMPLES_PC},
                   {HAS_PHYS, CF_SAMPLES_PHYS},   {HAS_DATA_SRC, CF_SAMPLES_DATA_SRC},
                   {HAS_WEIGHT, CF_SAMPLES_COST}, {HAS_PID | HAS_TID, CF_SAMPLES_TASK}};
    struct cf_header header = {.source = (char *)"cf-capture-perf-script"};
    struct cf_tool t;
    struct cf_lines lines;
    const char *output = NULL;
    const struct cf_option options[] = {
        {"fields", 'F', CF_CALL(set_fields, &s.fields)},
        {"period", 0, CF_NUMBER(&s.period, 1, UINT64_MAX)},
        {"op", 0, CF_CALL(cf_samples_set_op, &s.rows)},
        {"output", 'o', CF_FILE(&output)},
        {"probe", 0, CF_READY("ready: reads text, needs nothing of this machine")},
        CF_END_OPTIONS,
    };
    int bad;

    cf_tool_init(&t, argc, argv, "cf-capture-perf-script", usage);
    cf_options_read(&t, argc, argv, options);
    s.rows.timed = !s.fields || s.fields & HAS_TIME;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (s.fields & columns[i].field)
            s.rows.has |= columns[i].has;
    if (!s.fields)
        s.rows.has = CF_SAMPLES_PC | CF_SAMPLES_TASK;
    cf_lines_open(&lines, &t, argv + optind, argc - optind);
    s.rows.out = cf_tool_recording(&t, output);
    header.clock_unit = (char *)(s.rows.timed ? "nanoseconds" : "records");
    header.clock_hz = s.rows.timed ? 1000000000 : 0;
    (void)cf_writer_header(s.rows.out, &header); /* a failure shows when the writer is closed */
    cf_lines_idle(&lines, cf_samples_idle, &s.rows);
    import(&s, &lines);
    bad = cf_lines_finish(&lines);
    cf_samples_report(&s.rows, &t);
    if (s.no_process)
        cf_warn(&t, "lines state threads without their process: each is taken for a process of its "
                    "own; perf script prints both with -F pid,tid");
    if (s.fields & HAS_COMM && !(s.fields & (HAS_PID | HAS_TID)))
        cf_warn(&t,
                "names of threads (comm) are not kept, and without pid or tid no row says whose "
                "it is: accesses of all threads count as one's");
    return cf_lines_close(&t, s.rows.out, bad,
                          s.rows.taken
                              ? NULL
                              : "the input holds no sample with an address and an "
                                "operation; perf script prints both with -F addr,data_src");
}
