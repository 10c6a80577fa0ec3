/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_reader: the reader and the decoders under libFuzzer. An input is a stream; the first byte
 * says how it is read (whole, by a range through the index, in pieces, ids unified) and whether
 * checksums are made right first, without which hardly a mutation would get past them. What must
 * hold: reading ends, touches no memory that is not its own, and hands out frames that are within
 * their bounds; what was read can be written again, raw. Started by tests/run-long with seeds that
 * it makes. Memory: the input, and what the library takes, which libFuzzer bounds.
 */
#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "tests/fuzz/fuzz_stream.h"

enum { SEALED = 1, RANGE = 2, UNIFY = 4, WRITE = 8, PIECES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* The compiler must not know that the values go nowhere. */
static volatile uint64_t sink;

static void look_at(struct cf_reader *in, const struct cf_frame *f)
{
    uint64_t sum = 0;

    if (f->table == CF_HEADER) {
        if (f->header && f->header->yaml)
            sum += strlen(f->header->yaml);
        sink += sum;
        return;
    }
    if (f->rows > CF_FILE_ROWS || f->columns > CF_MAX_COLUMNS)
        abort();
    for (unsigned i = 0; i < f->columns; i++) {
        const struct cf_data *c = &f->column[i];
        const uint8_t *p = c->values;
        const size_t n = f->rows * cf_type_width(c->type);

        if (!p || c->type == CF_BLOB)
            continue;
        if ((uintptr_t)p % cf_type_width(c->type))
            abort();
        if (__asan_region_is_poisoned((void *)(uintptr_t)p, n))
            abort();
        if (c->type == CF_STR)
            for (uint32_t r = 0; r < f->rows; r += 1 + f->rows / 64) {
                uint32_t id;

                memcpy(&id, p + 4 * (size_t)r, 4);
                sum += strlen(cf_reader_text(in, id));
            }
        if (cf_reader_column_name(in, c->id))
            sum += strlen(cf_reader_column_name(in, c->id));
    }
    sink += sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[64], *files[1] = {name}, problem[256];
    struct cf_writer *w = NULL;
    struct cf_reader *in;
    struct cf_frame *f;
    uint8_t how, *copy;
    int fd;

    if (size < 1)
        return 0;
    how = data[0];
    size--;
    copy = malloc(size + 1);
    if (!copy)
        return 0;
    memcpy(copy, data + 1, size);
    if (how & SEALED)
        reseal(copy, size);
    fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, copy, size) != (ssize_t)size)
        abort();
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    in = cf_reader_open(files, 1);
    if (!in)
        abort();
    if (how & RANGE)
        cf_reader_range(in, 100, 5000);
    /* ids of several segments made one do not go into a stream */
    if (how & UNIFY)
        cf_reader_unify(in);
    else if (how & WRITE)
        w = cf_writer_open("/dev/null", "fuzz");
    if (!w && how & PIECES)
        cf_reader_pieces(in);
    cf_reader_want_all(in);
    while (cf_reader_next(in, &f) > 0) {
        look_at(in, f);
        if (w)
            (void)!cf_writer_frame(w, f);
    }
    if (cf_reader_damages(in) && !cf_reader_problem(in))
        abort();
    cf_reader_close(in);
    if (w)
        (void)!cf_writer_close(w, 1, problem, sizeof(problem));
    close(fd);
    free(copy);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_stream_mutate(data, size, most, seed, SEALED);
}
