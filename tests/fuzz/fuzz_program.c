/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_program: a program of ours under libFuzzer, by its own main(): PROGRAM is its name, VARIANTS
 * a list of {OPTION..., NULL}, of which the first byte chooses one; the rest is its input file,
 * which is the last argument, and where an option is "@".
 * With STREAM that is a stream, resealed as in fuzz_stream.h, so that what comes in has right
 * checksums. With PRINTS it writes no stream.
 *
 * The program and its parts are compiled with main called program_main, exit fuzz_exit and fclose
 * fuzz_fclose, and their static variables are gathered in a section (tests/run-long), which is as
 * it was at first before each run. Output goes to /dev/null. What a run that exits leaves behind
 * in memory stays until libFuzzer starts a new process.
 */
#include <fcntl.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef STREAM
#include "tests/fuzz/fuzz_stream.h"
#endif

int program_main(int argc, char **argv);
void fuzz_exit(int status) __attribute__((noreturn));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern char __start_program_data[], __stop_program_data[];

#ifdef PRINTS
enum { FIRST = 2 };
#else
enum { FIRST = 4 };
#endif

int fuzz_fclose(FILE *f);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static jmp_buf end;
static int running;
static const char *const variants[][8] = VARIANTS;

void fuzz_exit(int status)
{
    if (!running)
        _exit(status);
    longjmp(end, status + 1);
}

/* The next run needs it, too. */
int fuzz_fclose(FILE *f)
{
    return f == stdout ? fflush(f) : fclose(f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const int null = open("/dev/null", O_WRONLY);

    (void)argc;
    (void)argv;
    return null < 0 || dup2(null, 1) != 1 || close(null) != 0;
}

/* By words, and uncounted: it is done before each run. Their sanitizer has poisoned what stands
   between them. */
__attribute__((no_sanitize("address", "undefined", "coverage"))) static void
copy_words(volatile uint64_t *to, volatile uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

static void forget(void)
{
    static uint64_t *first;
    uint64_t *const now = (uint64_t *)(void *)__start_program_data;
    const size_t bytes = (uintptr_t)__stop_program_data - (uintptr_t)now;

    if ((uintptr_t)now % 8 || bytes % 8)
        abort(); /* the sanitizer pads all to more than that */
    if (first)
        copy_words(now, first, bytes / 8);
    else if ((first = malloc(bytes)))
        copy_words(first, now, bytes / 8);
    else
        abort();
}

static void run(const char *file, unsigned variant)
{
    char *argv[16] = {(char *)PROGRAM, (char *)"-q", (char *)"-o", (char *)"/dev/null"};
    char copy[8][64];
    int argc = FIRST;

    for (int i = 0; i < 8 && variants[variant][i]; i++) {
        const char *option = variants[variant][i];

        snprintf(copy[i], sizeof copy[i], "%s", strcmp(option, "@") ? option : file);
        argv[argc++] = copy[i];
    }
    argv[argc++] = (char *)file;
    argv[argc] = NULL;
    optind = 0;
    running = 1;
    if (setjmp(end) == 0)
        (void)program_main(argc, argv);
    running = 0;
    fflush(stdout);
}

#ifdef STREAM
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_stream_mutate(data, size, most, seed, 0x80);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[64];
    uint8_t *copy;
    int fd, first;

    if (size < 1 || !(copy = malloc(size)))
        return 0;
    memcpy(copy, data + 1, size - 1);
#ifdef STREAM
    if (data[0] & 0x80)
        reseal(copy, size - 1);
#endif
    fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, copy, size - 1) != (ssize_t)size - 1)
        abort();
    free(copy);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    first = dup(fd);
    forget();
    run(name, (data[0] & 0x7f) % (sizeof variants / sizeof *variants));
    /* what it had open when it exited */
    close_range((unsigned)first, ~0U, 0);
    close(fd);
    return 0;
}
