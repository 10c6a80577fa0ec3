/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap.h - what a unit test says, in the form that tests/run reads (TAP): a line for each check, and
 * the plan as the last line, so that a test that died before its end has none.
 *
 *     int main(void)
 *     {
 *         ok(1 + 1 == 2, "sums");
 *         is_u64(f(3), 9, "f of %d", 3);
 *         return done();
 *     }
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_count, tap_failed;

/* One check. Returns `good`. A description holds no "#". */
__attribute__((format(printf, 2, 3), unused)) static int ok(int good, const char *format, ...)
{
    va_list args;

    printf("%sok %d - ", good ? "" : "not ", ++tap_count);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    if (!good)
        tap_failed++;
    return good;
}

/* Whether there is time for all that a test could try: `make check-long` sets it. */
__attribute__((unused)) static int thorough(void)
{
    return getenv("CF_LONG") != NULL;
}

/* What a failed check has to say, after it. */
__attribute__((format(printf, 1, 2), unused)) static void note(const char *format, ...)
{
    va_list args;

    printf("# ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

#define is_u64(got, want, ...)                                                                     \
    do {                                                                                           \
        unsigned long long got_ = (got), want_ = (want);                                           \
        if (!ok(got_ == want_, __VA_ARGS__))                                                       \
            note("%s:%d: %llu (0x%llx), expected %llu (0x%llx)", __FILE__, __LINE__, got_, got_,   \
                 want_, want_);                                                                    \
    } while (0)

#define is_text(got, want, ...)                                                                    \
    do {                                                                                           \
        const char *got_ = (got), *want_ = (want);                                                 \
        if (!ok(got_ && want_ && !strcmp(got_, want_), __VA_ARGS__))                               \
            note("%s:%d: '%s', expected '%s'", __FILE__, __LINE__, got_ ? got_ : "(null)",         \
                 want_ ? want_ : "(null)");                                                        \
    } while (0)

/* Stops the whole test: what follows makes no sense without this. */
#define need(good, ...)                                                                            \
    do {                                                                                           \
        if (!ok((good), __VA_ARGS__))                                                              \
            exit(1);                                                                               \
    } while (0)

/* The plan; returns main()'s status. */
__attribute__((unused)) static int done(void)
{
    printf("1..%d\n", tap_count);
    /* a sanitizer may end the process without doing it */
    fflush(stdout);
    return tap_failed || !tap_count;
}

#endif
