/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * npy.c - a folder with a file for each column of each table, in the form of NumPy's arrays
 * ("NEP 1: A simple file format for NumPy arrays", version 1.0), the strings, and what each means.
 *
 * The head of such a file states how many rows follow, so it is written last. Rows that lack the
 * column are a hole in the file, which reads as zeros, and stand in the schema. The folder is made
 * beside its name, which it takes when it is whole.
 *
 * Memory: one frame, all strings, and 16 bytes for each run of rows that lack a column.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/parts/export/npy.h"
#include "formats/base/cf_memory.h"
#include "formats/program/cf_chain.h"

enum { HEAD = 128 /* a multiple of 64, as the format wants */ };

/* The folder while it is being written; a process writes one. */
static struct {
    char *path; /* NULL: none */
    int fd;
    pid_t owner;
} beside;

/* By the descriptor that it has, since there may be no other left. */
static void remove_beside(void)
{
    DIR *d = beside.path && beside.owner == getpid() ? fdopendir(beside.fd) : NULL;
    const struct dirent *entry;

    while (d && (entry = readdir(d)))
        (void)unlinkat(beside.fd, entry->d_name, 0);
    if (d)
        closedir(d);
    if (beside.path && beside.owner == getpid())
        (void)rmdir(beside.path);
}

static __attribute__((noreturn)) void fail(const struct npy *n, const char *file)
{
    cf_die(n->e->tool, CF_EXIT_ENVIRONMENT, "%s%s%s: cannot be written: %s", n->e->output,
           file ? "/" : "", file ? file : "", strerror(errno));
}

static void make_folder(struct npy *n)
{
    struct stat st;
    size_t length = strlen(n->e->output);

    while (length > 1 && n->e->output[length - 1] == '/')
        length--;
    n->folder = cf_tool_text(n->e->tool, "%.*s", (int)length, n->e->output);
    if (lstat(n->folder, &st) == 0)
        cf_die(n->e->tool, CF_EXIT_ENVIRONMENT,
               "%s: is there already: remove it, or name another folder", n->folder);
    beside.path = cf_tool_text(n->e->tool, "%s.%ld.tmp", n->folder, (long)getpid());
    cf_chain_guard(beside.path);
    if (mkdir(beside.path, 0777) != 0)
        fail(n, NULL);
    beside.fd = open(beside.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    beside.owner = getpid();
    cf_must(n->e->tool, atexit(remove_beside));
    if (beside.fd < 0)
        fail(n, NULL);
}

static int make_file(struct npy *n, const char *name)
{
    const int fd = openat(beside.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0)
        fail(n, name);
    return fd;
}

FILE *npy_text(struct npy *n, const char *name)
{
    FILE *f = fdopen(make_file(n, name), "w");

    if (!f)
        fail(n, name);
    return f;
}

void npy_text_end(struct npy *n, const char *name, FILE *f)
{
    const int bad = ferror(f);

    if (fclose(f) != 0 || bad)
        fail(n, name);
}

/* ---- columns ---- */

const char *npy_type(unsigned type)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    static const char *const name[] = {
        "?", "|u1", "<u2", "<u4", "<u8", "<i8", "<f8", "<u4",
    };
#else
    static const char *const name[] = {
        "?", "|u1", ">u2", ">u4", ">u8", ">i8", ">f8", ">u4",
    };
#endif
    return name[type];
}

static struct npy_table *find_table(struct npy *n, unsigned id)
{
    char name[EXPORT_NAME];
    struct npy_table *t;

    export_table_name(n->e->reader, id, name);
    for (size_t i = 0; i < n->tables; i++)
        if (!strcmp(n->table[i].name, name))
            return &n->table[i];
    cf_must(n->e->tool,
            cf_array_cleared(&n->table, &n->table_room, n->tables + 1, sizeof *n->table));
    t = &n->table[n->tables++];
    t->name = cf_tool_text(n->e->tool, "%s", name);
    return t;
}

static struct npy_column *find_column(struct npy *n, struct npy_table *t, const struct cf_data *c)
{
    char name[EXPORT_NAME];
    struct npy_column *new;

    export_column_name(n->e->reader, c->id, name);
    for (size_t i = 0; i < t->columns; i++)
        if (!strcmp(t->column[i].name, name))
            return &t->column[i];
    cf_must(n->e->tool,
            cf_array_cleared(&t->column, &t->column_room, t->columns + 1, sizeof *t->column));
    new = &t->column[t->columns++];
    new->id = c->id;
    new->type = c->type;
    new->name = cf_tool_text(n->e->tool, "%s", name);
    new->file = cf_tool_text(n->e->tool, "%s.%s.npy", t->name, name);
    new->fd = make_file(n, new->file);
    return new;
}

/* The column has no value from its last row to row `to`. */
static void miss(struct npy *n, struct npy_column *c, uint64_t to)
{
    if (c->rows == to)
        return;
    cf_must(n->e->tool,
            cf_array_room(&c->missing, &c->missing_room, c->misses + 1, sizeof *c->missing));
    c->missing[c->misses++] = (struct npy_rows){c->rows, to};
    c->rows = to;
}

static void write_at(struct npy *n, const struct npy_column *c, const void *data, size_t bytes,
                     uint64_t at)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t more =
            pwrite(c->fd, (const char *)data + done, bytes - done, (off_t)(at + done));

        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0) {
            errno = more ? errno : ENOSPC;
            fail(n, c->file);
        }
        done += (size_t)more;
    }
}

static void take(struct npy *n, const struct cf_frame *f)
{
    struct npy_table *t = find_table(n, f->table);

    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *d = &f->column[i];
        struct npy_column *c;
        size_t width = cf_type_width(d->type);

        if (!d->values || !width)
            continue;
        c = find_column(n, t, d);
        if (c->type != d->type || c->rows > t->rows) { /* of another type, or a second time */
            n->odd++;
            continue;
        }
        miss(n, c, t->rows);
        write_at(n, c, d->values, f->rows * width, HEAD + c->rows * width);
        c->rows += f->rows;
    }
    t->rows += f->rows;
}

/* Head and length of a file, of which all rows are known now. */
static void end_column(struct npy *n, const struct npy_table *t, struct npy_column *c)
{
    static const char magic[] = "\x93NUMPY\x01";
    const size_t width = cf_type_width(c->type);
    char head[HEAD];
    int length;

    miss(n, c, t->rows);
    memset(head, ' ', sizeof head);
    memcpy(head, magic, sizeof magic); /* and a 0, of version 1.0 */
    head[8] = HEAD - 10;
    head[9] = 0;
    length = snprintf(head + 10, sizeof head - 10,
                      "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }",
                      npy_type(c->type), c->rows);
    head[10 + length] = ' ';
    head[HEAD - 1] = '\n';
    write_at(n, c, head, HEAD, 0);
    if (ftruncate(c->fd, (off_t)(HEAD + c->rows * width)) != 0 || close(c->fd) != 0)
        fail(n, c->file);
}

static void release(struct npy *n)
{
    for (size_t i = 0; i < n->tables; i++) {
        for (size_t k = 0; k < n->table[i].columns; k++)
            free(n->table[i].column[k].missing);
        free(n->table[i].column);
    }
    free(n->table);
}

static int wanted(const struct npy *n, const struct cf_frame *f)
{
    char name[EXPORT_NAME];

    if (f->table == CF_STRING || f->table == CF_NAME)
        return 0;
    return !n->e->table || !strcmp(n->e->table, export_table_name(n->e->reader, f->table, name));
}

int export_npy(struct export *e)
{
    struct npy n = {.e = e};
    struct cf_frame *f;

    cf_reader_want_all(e->reader);
    cf_reader_unify(e->reader);
    cf_reader_pieces(e->reader);
    if (e->table && cf_table_find(e->table))
        cf_reader_want(e->reader, cf_table_find(e->table), 0, CF_REQUIRED);
    while (cf_tool_next(e->tool, e->reader, &f) > 0) {
        if (!n.folder) {
            make_folder(&n);
            schema_begin(&n);
        }
        if (f->table == CF_HEADER)
            schema_header(&n, f->header);
        else if (wanted(&n, f))
            take(&n, f);
    }
    if (e->table)
        cf_tool_fit(e->tool, e->reader);
    if (e->table && n.folder && !n.tables && !cf_table_find(e->table))
        exit(export_no_table(e));
    if (n.odd)
        cf_warn(e->tool,
                "%" PRIu64 " times a column came twice in a frame, or as another type than "
                "before: left out, as if it were missing",
                n.odd);
    if (n.folder && !cf_reader_refused(e->reader)) {
        for (size_t i = 0; i < n.tables; i++)
            for (size_t k = 0; k < n.table[i].columns; k++)
                end_column(&n, &n.table[i], &n.table[i].column[k]);
        schema_end(&n);
        if (rename(beside.path, n.folder) != 0)
            fail(&n, NULL);
        cf_chain_unguard();
        beside.path = NULL;
        close(beside.fd);
    }
    release(&n);
    return n.odd ? CF_EXIT_INPUT : CF_EXIT_OK;
}
