/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_emit: whose rows of a line cf-capture-snapshot writes, when programs begin and end and their
 * numbers become others'. Stands in for the writer.
 */
#include "formats/stream/cf.h"

static int note_rows(unsigned table, unsigned rows, const struct cf_values *v, unsigned columns);
#define cf_writer_rows(w, table, rows, values, columns, aside)                                     \
    ((void)(w), note_rows(table, rows, values, columns))
#define cf_writer_string(w, text) ((uint64_t)(text)[0])
#include "capture/snapshot/emit.c"
#include "tap.h"

enum { OURS = 42, STRANGER = 7 };

static unsigned ours, strangers; /* rows of the last snapshot */

static int note_rows(unsigned table, unsigned rows, const struct cf_values *v, unsigned columns)
{
    for (unsigned c = 0; table == CF_LINE && c < columns; c++)
        for (unsigned i = 0; v[c].column == CF_PID && i < rows; i++) {
            ours += ((const uint32_t *)v[c].values)[i] == OURS;
            strangers += ((const uint32_t *)v[c].values)[i] == STRANGER;
        }
    return 0;
}

/* One line, which the stranger maps first and the other after it. */
static int snapshot(struct cf_emit *e, uint64_t ns)
{
    struct {
        struct cacheflow_snapshot h;
        struct cacheflow_line line;
        struct cacheflow_owner owners[2] __attribute__((aligned(8)));
    } s = {.h = {.magic = CACHEFLOW_MAGIC, .abi = CACHEFLOW_ABI}};

    s.h.flags = CACHEFLOW_SNAP_RESOLVED;
    s.h.time_ns = ns;
    s.h.bytes = sizeof s;
    s.h.header_bytes = sizeof s.h;
    s.h.entry_bytes = sizeof s.line;
    s.h.owner_bytes = sizeof s.owners[0];
    s.h.owners_at = (uint32_t)((char *)s.owners - (char *)&s);
    s.h.entries = s.h.sets = s.h.ways = 1;
    s.h.owners = 2;
    s.owners[0].pid = STRANGER;
    s.owners[1].pid = OURS;
    ours = strangers = 0;
    return cf_emit_snapshot(e, &s, sizeof s, 0);
}

int main(void)
{
    struct cf_emit e;

    need(cf_emit_open(&e, NULL) == 0, "made");
    /* all noted before the first snapshot is written, as in transparent mode */
    need(cf_emit_begin(&e, 10, OURS, 0, "a") == 0 && cf_emit_begin(&e, 10, STRANGER, 0, "b") == 0 &&
             cf_emit_ended(&e, 20, STRANGER) == 0 && cf_emit_ended(&e, 30, OURS) == 0 &&
             cf_emit_begin(&e, 40, STRANGER, OURS, "c") == 0,
         "notes");
    ok(snapshot(&e, 5) == 0 && strangers == 1 && ours == 0, "of none before it begins");
    ok(snapshot(&e, 10) == 0 && strangers == 1 && ours == 1, "of two");
    ok(snapshot(&e, 20) == 0 && strangers == 0 && ours == 1,
       "of one whose number is another's now");
    ok(snapshot(&e, 30) == 0 && strangers == 1 && ours == 0, "of none: the first");
    ok(snapshot(&e, 40) == 0 && strangers == 1 && ours == 0, "of one that has the number again");
    cf_emit_free(&e);
    return done();
}
