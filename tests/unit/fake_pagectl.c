/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_pagectl - the module pagectl for the tests of cf-capture pages: it answers the calls of
 * kmod/pagectl/pagectl.h at a socket (capture/base/cf_device.h), and changes no page.
 *
 *     fake_pagectl SOCKET LOG STATE [KEY=VALUE]...
 *
 * It serves one client and ends. Into the file STATE it writes which pages are not cached, as
 * numbers of 64 bits: how many, and their addresses; then the same of those that were moved. The
 * program of a test takes its time by that. In LOG it notes each call, whether the mappings that
 * it was given are those of /proc, and how many threads of the process run at a change. Keys:
 * abi, policies, moves, pool (pages), page_size; result=TEXT:N (pages of mappings whose line in
 * maps has the text get this result, may be repeated), late=N (that from the Nth change on),
 * forgets=N (a query finds all pages cached, 1, or unmoved, 2), error=CALL:ERRNO.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kmod/pagectl/pagectl.h"

enum { PAGES = 1 << 16, RULES = 8 };

static uint32_t abi = PAGECTL_ABI, policies = 1u << PAGECTL_CACHED | 1u << PAGECTL_UNCACHED, moves,
                page_size = 4096, late, forgets, changes;
static uint64_t pool = 64, off[PAGES], offs, moved[PAGES], moveds;
static struct pagectl_mapping given[PAGECTL_MAPPINGS_MOST];
static uint32_t givens, total;
static struct {
    char *text;
    unsigned result;
} rule[RULES];
static unsigned rules, error_call;
static int error_number, state, target;
static FILE *notes;

static void transfer(int fd, void *bytes, size_t count, int in)
{
    char *p = bytes;

    while (count) {
        const ssize_t n = in ? read(fd, p, count) : write(fd, p, count);

        if (n <= 0)
            exit(n == 0 ? 0 : 1); /* the client has gone */
        p += n;
        count -= (size_t)n;
    }
}

static void write_state(void)
{
    if (pwrite(state, &offs, 8, 0) != 8 || pwrite(state, off, 8 * offs, 8) < 0 ||
        pwrite(state, &moveds, 8, (off_t)(8 + 8 * offs)) != 8 ||
        pwrite(state, moved, 8 * moveds, (off_t)(16 + 8 * offs)) < 0)
        exit(1);
}

static void restore(void)
{
    offs = moveds = 0;
    write_state();
}

/* ---- what /proc says of the process ---- */

static FILE *open_maps(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/maps", target);
    return fopen(path, "re");
}

static uint32_t differs(void)
{
    FILE *f = open_maps();
    char line[4096], perms[5];
    uint64_t start, end;
    uint32_t at = 0;

    while (f && fgets(line, sizeof line, f)) {
        if (strstr(line, "[vsyscall]") ||
            sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, perms) != 3)
            continue;
        if (at >= givens || given[at].start != start || given[at].end != end ||
            given[at].flags != (unsigned)((perms[0] == 'r') + 2 * (perms[1] == 'w') +
                                          4 * (perms[2] == 'x') + 8 * (perms[3] == 's')))
            break;
        at++;
    }
    if (f)
        fclose(f);
    return at;
}

static unsigned running(void)
{
    char path[64];
    unsigned count = 0;
    const struct dirent *e;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", target);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL) {
        char name[512], line[512] = "";
        const char *p;
        FILE *f;

        snprintf(name, sizeof name, "%s/%s/stat", path, e->d_name);
        f = e->d_name[0] == '.' ? NULL : fopen(name, "re");
        p = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        count += p && p[2] != 't' && p[2] != 'Z';
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return count;
}

static unsigned result_of(uint64_t addr)
{
    FILE *f = open_maps();
    char line[4096];
    uint64_t start, end;
    unsigned result = PAGECTL_UNMAPPED;

    while (f && result == PAGECTL_UNMAPPED && fgets(line, sizeof line, f))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && addr >= start &&
            addr < end) {
            result = PAGECTL_DONE;
            for (unsigned i = 0; i < rules && changes >= late; i++)
                if (strstr(line, rule[i].text))
                    result = rule[i].result;
        }
    if (f)
        fclose(f);
    return result;
}

/* ---- calls ---- */

static int expect(struct pagectl_expect *e)
{
    if (!e->first)
        givens = 0;
    if (e->first != givens || e->count > PAGECTL_MAPPINGS || e->total > PAGECTL_MAPPINGS_MOST)
        return EINVAL;
    memcpy(given + givens, e->mapping, e->count * sizeof *given);
    givens += e->count;
    total = e->total;
    e->differs = givens == total ? differs() : 0;
    if (givens == total)
        fprintf(notes, "expect,%u,%s\n", total, e->differs == total ? "agree" : "differ");
    return givens == total && e->differs != total ? ESTALE : 0;
}

static int change(struct pagectl_pages *p, int move)
{
    fprintf(notes, "%s,%u,%u,%u\n", move ? "migrate" : "set", p->count, p->policy, running());
    changes++;
    if (p->count > PAGECTL_PAGES)
        return EINVAL;
    if (givens != total || differs() != total)
        return ESTALE;
    if (move ? !moves : !(policies >> p->policy & 1))
        return EOPNOTSUPP;
    for (uint32_t i = 0; i < p->count; i++) {
        p->page[i].result = (uint8_t)result_of(p->page[i].addr);
        if (move && moveds >= pool)
            p->page[i].result = PAGECTL_NO_ROOM;
        p->failed += p->page[i].result != 0;
        if (!p->page[i].result && move)
            moved[moveds++] = p->page[i].addr;
        else if (!p->page[i].result)
            off[offs++] = p->page[i].addr;
    }
    write_state();
    return 0;
}

static int among(const uint64_t *list, uint64_t count, uint64_t addr)
{
    for (uint64_t i = 0; i < count; i++)
        if (list[i] == addr)
            return 1;
    return 0;
}

static int query(struct pagectl_pages *p)
{
    fprintf(notes, "query,%u\n", p->count);
    if (p->count > PAGECTL_PAGES)
        return EINVAL;
    for (uint32_t i = 0; i < p->count; i++) {
        p->page[i].policy =
            !(forgets & 1) && among(off, offs, p->page[i].addr) ? PAGECTL_UNCACHED : PAGECTL_CACHED;
        p->page[i].pool = !(forgets & 2) && among(moved, moveds, p->page[i].addr);
    }
    return 0;
}

static int serve_call(uint32_t call, void *arg)
{
    static const char *const names[] = {"info",    "target", "expect", "set",
                                        "migrate", "query",  "restore"};
    const unsigned number = _IOC_NR(call);

    if (error_call == number && error_number) {
        fprintf(notes, "refused,%s\n", number < 7 ? names[number] : "?");
        return error_number;
    }
    switch (call) {
    case (uint32_t)PAGECTL_INFO:
        *(struct pagectl_info *)arg = (struct pagectl_info){.abi = abi,
                                                            .page_size = page_size,
                                                            .version = "stand-in",
                                                            .policies = policies,
                                                            .moves = moves,
                                                            .pool_pages = pool,
                                                            .pool_free = pool};
        return 0;
    case (uint32_t)PAGECTL_TARGET:
        target = ((struct pagectl_target *)arg)->pid;
        restore();
        fprintf(notes, "target\n");
        return kill(target, 0) == 0 ? 0 : ESRCH;
    case (uint32_t)PAGECTL_EXPECT:
        return expect(arg);
    case (uint32_t)PAGECTL_SET:
        return change(arg, 0);
    case (uint32_t)PAGECTL_MIGRATE:
        return change(arg, 1);
    case (uint32_t)PAGECTL_QUERY:
        return query(arg);
    case (uint32_t)PAGECTL_RESTORE:
        fprintf(notes, "restore,%u\n", running());
        restore();
        return 0;
    default:
        return ENOTTY;
    }
}

static void serve(int fd)
{
    static char arg[1 << 14];
    uint32_t call[2], said[2];

    for (;;) {
        transfer(fd, call, sizeof call, 1);
        if (call[1] > sizeof arg)
            exit(1);
        transfer(fd, arg, call[1], 1);
        said[0] = (uint32_t)serve_call(call[0], arg);
        said[1] = said[0] || !(_IOC_DIR(call[0]) & _IOC_READ) ? 0 : _IOC_SIZE(call[0]);
        transfer(fd, said, sizeof said, 0);
        transfer(fd, arg, said[1], 0);
    }
}

static int take_key(char *text)
{
    static const struct {
        const char *name;
        uint32_t *to;
    } numbers[] = {{"abi=", &abi},   {"policies=", &policies}, {"moves=", &moves},
                   {"late=", &late}, {"forgets=", &forgets},   {"page_size=", &page_size}};
    char *value = strchr(text, '='), *colon = value ? strchr(value, ':') : NULL;

    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strncmp(text, numbers[i].name, strlen(numbers[i].name)) == 0) {
            *numbers[i].to = (uint32_t)strtoul(value + 1, NULL, 0);
            return 0;
        }
    if (strncmp(text, "pool=", 5) == 0) {
        pool = strtoull(value + 1, NULL, 0);
        return 0;
    }
    if (!colon)
        return -1;
    *colon = '\0';
    if (strncmp(text, "error=", 6) == 0) {
        error_call = (unsigned)atoi(value + 1);
        error_number = atoi(colon + 1);
        return 0;
    }
    if (strncmp(text, "result=", 7) != 0 || rules == RULES)
        return -1;
    rule[rules].text = value + 1;
    rule[rules++].result = (unsigned)atoi(colon + 1);
    return 0;
}

int main(int argc, char **argv)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int s, fd;

    if (argc < 4 || strlen(argv[1]) + 4 >= sizeof a.sun_path)
        return 2;
    for (int i = 4; i < argc; i++)
        if (take_key(argv[i]) != 0)
            return 2;
    notes = fopen(argv[2], "w");
    state = open(argv[3], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!notes || state < 0)
        return 1;
    setvbuf(notes, NULL, _IOLBF, 0); /* a note is in the file before its call is answered */
    restore();
    /* Whoever sees the name can connect. */
    snprintf(a.sun_path, sizeof a.sun_path, "%s.new", argv[1]);
    s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(s, (struct sockaddr *)&a, sizeof a) != 0 || listen(s, 1) != 0 ||
        rename(a.sun_path, argv[1]) != 0) {
        perror(argv[1]);
        return 1;
    }
    alarm(600); /* a client that never comes must not keep a test waiting */
    fd = accept(s, NULL, NULL);
    alarm(0);
    if (fd < 0)
        return 1;
    serve(fd);
    return 0;
}
