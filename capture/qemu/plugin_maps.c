/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_maps.c - the mappings of the emulated program, in its own addresses, and its threads.
 *
 * The emulator maps the program into itself, at an offset that is the same for all its addresses.
 * So what the program has at first is what this process has gained between the loading of the
 * plugin and the first translation, as far as it lies where the emulator puts programs and not
 * what it needs itself; and what changes later follows from the program's system calls, whose
 * numbers are the architecture's. Names, offsets and the first permissions come from
 * /proc/self/maps, later permissions from the calls, since the emulator maps code as data.
 *
 * Memory: a few hundred bytes a mapping at the start, until the first translation.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin.h"

enum {
    PERM_R = 1,
    PERM_W = 2,
    PERM_X = 4,
    PERM_SHARED = 8,
    NAME_BYTES = 4096,
    STACK_BYTES = 8 << 20, /* unless the limit says otherwise */
    GUARD_BYTES = 65536,
    PERM_AS_THERE = CFQ_PERM_ASKED, /* instead of others */
};

/* Where a 64-bit emulator on a 64-bit machine keeps its own things, and no program's. */
#define EMULATOR_BEGINS UINT64_C(0x500000000000)

struct calls {
    const char *target;
    int narrow;                                     /* addresses of 32 bits */
    int brk, mmap, mmap2, munmap, mremap, mprotect; /* -1: there is none */
    int clone, prctl, shmat, shmdt, execve, execveat;
};

/* Numbers of system calls, from each architecture's kernel headers. */
static const struct calls known[] = {
    {"aarch64", 0, 214, 222, -1, 215, 216, 226, 220, 167, 196, 197, 221, 281},
    {"aarch64_be", 0, 214, 222, -1, 215, 216, 226, 220, 167, 196, 197, 221, 281},
    {"arm", 1, 45, -1, 192, 91, 163, 125, 120, 172, 305, 306, 11, 387},
    {"armeb", 1, 45, -1, 192, 91, 163, 125, 120, 172, 305, 306, 11, 387},
    {"riscv32", 1, 214, 222, -1, 215, 216, 226, 220, 167, 196, 197, 221, 281},
    {"riscv64", 0, 214, 222, -1, 215, 216, 226, 220, 167, 196, 197, 221, 281},
    {"x86_64", 0, 12, 9, -1, 11, 25, 10, 56, 157, 30, 67, 59, 322},
    {"i386", 1, 45, -1, 192, 91, 163, 125, 120, 172, 397, 398, 11, 358},
    {"sparc", 1, 17, 71, 56, 73, 250, 74, 217, 147, 397, 398, 59, 350},
    {"sparc32plus", 1, 17, 71, 56, 73, 250, 74, 217, 147, 397, 398, 59, 350},
    {"sparc64", 0, 17, 71, -1, 73, 250, 74, 217, 147, 397, 398, 59, 350},
    {"ppc", 1, 45, 90, 192, 91, 163, 125, 120, 171, 397, 398, 11, 362},
    {"ppc64", 0, 45, 90, -1, 91, 163, 125, 120, 171, 397, 398, 11, 362},
    {"ppc64le", 0, 45, 90, -1, 91, 163, 125, 120, 171, 397, 398, 11, 362},
    {"s390x", 0, 45, -1, -1, 91, 163, 125, -1, 172, 397, 398, 11, 354},
};

struct mapping {
    uint64_t start, end, offset;
    uint32_t perms;
    char name[NAME_BYTES];
};

static const struct calls *calls;
static uint64_t base;
static char *before; /* /proc/self/maps when the plugin was loaded */
static uint64_t heap, heap_end;

/* The whole of /proc/self/maps, to be freed; NULL if it cannot be read, which the decoder gets to
   know. */
static char *read_maps(void)
{
    size_t room = 1 << 16, size = 0;
    char *text = malloc(room);
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;

    while (text && fd >= 0 && (n = read(fd, text + size, room - size - 1)) > 0) {
        size += (size_t)n;
        if (room - size < 8192) {
            char *more = realloc(text, room *= 2);

            if (!more)
                break;
            text = more;
        }
    }
    if (fd >= 0)
        close(fd);
    if (!text || fd < 0 || n != 0) {
        free(text);
        cfq_blind();
        return NULL;
    }
    text[size] = 0;
    return text;
}

/* Reads one line; the next, or NULL at the end. */
static const char *next_mapping(const char *line, struct mapping *m)
{
    unsigned long long start, end, offset;
    char perms[5] = "";
    int at = 0;
    const char *stop;

    if (!line ||
        sscanf(line, "%llx-%llx %4s %llx %*s %*s%n", &start, &end, perms, &offset, &at) < 4)
        return NULL;
    m->start = start;
    m->end = end;
    m->offset = offset;
    m->perms = (uint32_t)((perms[0] == 'r') * PERM_R + (perms[1] == 'w') * PERM_W +
                          (perms[2] == 'x') * PERM_X + (perms[3] == 's') * PERM_SHARED);
    line += at;
    line += strspn(line, " ");
    stop = strchr(line, '\n');
    if (!stop)
        return NULL;
    snprintf(m->name, sizeof(m->name), "%.*s", (int)(stop - line), line);
    return stop + 1;
}

/* An event of a slot, or of none where `s` is NULL. */
static void report(struct slot *s, unsigned vcpu, const struct mapping *m)
{
    struct cf_wire_map e = {
        .start = m->start, .end = m->end, .offset = m->offset, .perms = m->perms};
    const char *name = m->name;
    struct stat st;

    if (strncmp(name, "/SYSV", 5) == 0 && strstr(name, " (deleted)"))
        name = "[shm]"; /* as the Valgrind tool has it */
    /* Not as /proc/self/maps has them: what an overlay shows there is not what stat() shows. */
    if (name[0] == '/' && stat(name, &st) == 0) {
        e.device = st.st_dev;
        e.inode = st.st_ino;
    }
    cfq_put(s, vcpu, CF_WIRE_MAP, &e, sizeof(e), name);
}

static void report_gone(struct slot *s, unsigned vcpu, uint64_t start, uint64_t bytes)
{
    const struct cf_wire_map e = {.start = start, .end = start + bytes};

    cfq_put(s, vcpu, CF_WIRE_UNMAP, &e, sizeof(e), "");
}

void cfq_maps_install(const char *target)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].target, target) == 0)
            calls = &known[i];
    before = read_maps();
}

/* Whether the emulator had something at these addresses before it loaded the program. */
static int was_there(const struct mapping *m, struct mapping *other)
{
    for (const char *line = before; (line = next_mapping(line, other)) != NULL;)
        if (m->start < other->end && other->start < m->end)
            return 1;
    return 0;
}

static int is_stack(const struct mapping *m)
{
    uint64_t bytes = STACK_BYTES;
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = limit.rlim_cur;
    return !m->name[0] && m->perms == (PERM_R | PERM_W) && m->end - m->start >= bytes &&
           m->end - m->start <= bytes + GUARD_BYTES;
}

void cfq_maps_begin(uint64_t offset)
{
    struct mapping *m = malloc(3 * sizeof(*m));
    char *text = read_maps();
    int narrow = calls ? calls->narrow : offset != 0;

    base = offset;
    if (!m) {
        free(text);
        cfq_blind();
        return;
    }
    cfq_shared->code = qemu_plugin_start_code();
    for (const char *line = text; (line = next_mapping(line, m)) != NULL;) {
        if (!(m->perms & (PERM_R | PERM_W)))
            continue;
        if (narrow ? m->start < base || m->end > base + (UINT64_C(1) << 32)
                   : m->start < base || (base < EMULATOR_BEGINS && m->end > EMULATOR_BEGINS))
            continue;
        if (m->name[0] == '[' || (!narrow && was_there(m, m + 1)))
            continue;
        m->start -= base;
        m->end -= base;
        if (is_stack(m))
            strcpy(m->name, "[stack]");
        report(NULL, 0, m);
    }
    free(m);
    free(text);
    free(before);
    before = NULL;
}

/* Where the program's pages are larger than the host's, the emulator reads small files instead of
   mapping them: the descriptor that the program gave then tells the name. */
static void name_file(struct mapping *m, const uint64_t *argument, uint64_t offset)
{
    enum { ANONYMOUS = 0x20, MOST = 1 << 20 };
    char link[40];
    ssize_t n;

    if (m->name[0] || argument[3] & ANONYMOUS || argument[4] >= MOST)
        return;
    snprintf(link, sizeof(link), "/proc/self/fd/%u", (unsigned)argument[4]);
    n = readlink(link, m->name, sizeof(m->name) - 1);
    m->name[n > 0 ? n : 0] = 0;
    m->offset = n > 0 ? offset : 0;
}

/* The program has mapped these bytes, or changed their permissions: what stands there now. The
   arguments are those of mmap(), or NULL; `offset` is in bytes. */
static void report_range(struct slot *s, unsigned vcpu, uint64_t start, uint64_t bytes,
                         uint32_t perms, const uint64_t *argument, uint64_t offset)
{
    struct mapping *m = malloc(sizeof(*m));
    char *text = m ? read_maps() : NULL;
    uint64_t from = start + base, to = from + bytes;

    if (!m)
        cfq_blind();
    for (const char *line = text; line && (line = next_mapping(line, m)) != NULL;) {
        if (m->end <= from || m->start >= to)
            continue;
        if (m->start < from) {
            m->offset += m->name[0] == '/' ? from - m->start : 0;
            m->start = from;
        }
        if (m->end > to)
            m->end = to;
        m->start -= base;
        m->end -= base;
        if (perms != PERM_AS_THERE)
            m->perms = perms | (m->perms & PERM_SHARED) | CFQ_PERM_ASKED;
        if (argument)
            name_file(m, argument, offset + (m->start - start));
        report(s, vcpu, m);
    }
    free(text);
    free(m);
}

/* The bytes of the shared memory that is attached there. */
static uint64_t attached(uint64_t address)
{
    struct mapping *m = malloc(sizeof(*m));
    char *text = m ? read_maps() : NULL;
    uint64_t bytes = 0;

    if (!m)
        cfq_blind();
    for (const char *line = text; line && (line = next_mapping(line, m)) != NULL;)
        if (m->start == address + base + bytes && m->offset == bytes)
            bytes += m->end - m->start;
    free(text);
    free(m);
    return bytes;
}

void cfq_maps_called(struct slot *s, int64_t number, const uint64_t *argument)
{
    for (unsigned i = 0; i < 6; i++)
        s->argument[i] = calls && calls->narrow ? argument[i] & UINT32_MAX : argument[i];
    if (calls && (number == calls->execve || number == calls->execveat))
        cfq_left(1);
    if (calls && number == calls->shmdt) /* it does not say how many */
        s->argument[1] = attached(s->argument[0]);
}

static void report_attached(struct slot *s, unsigned vcpu, uint64_t address, uint64_t flags)
{
    const uint32_t perms =
        PERM_R | (flags & SHM_RDONLY ? 0 : PERM_W) | (flags & SHM_EXEC ? PERM_X : 0);

    report_range(s, vcpu, address, attached(address), perms, NULL, 0);
}

static void heap_moved(struct slot *s, unsigned vcpu, uint64_t to)
{
    struct mapping *m;

    to = (to + 4095) & ~UINT64_C(4095);
    if (!heap) {
        heap = heap_end = to;
        return;
    }
    if (to == heap_end)
        return;
    if (to < heap_end) {
        if (to >= heap)
            report_gone(s, vcpu, to, heap_end - to);
    } else if ((m = calloc(1, sizeof(*m))) != NULL) {
        m->start = heap;
        m->end = to;
        m->perms = PERM_R | PERM_W;
        strcpy(m->name, "[heap]");
        report(s, vcpu, m);
        free(m);
    } else {
        cfq_blind();
    }
    heap_end = to;
}

static void report_task(struct slot *s, unsigned vcpu, enum cf_wire_task_kind kind, uint32_t tid,
                        const char *name)
{
    const struct cf_wire_task e = {.tid = tid, .kind = kind};

    cfq_put(s, vcpu, CF_WIRE_TASK, &e, sizeof(e), name);
}

/* The emulator has handed the name on to the kernel. */
static void thread_named(struct slot *s, unsigned vcpu)
{
    char name[32] = "";

    if (prctl(PR_GET_NAME, name) == 0)
        report_task(s, vcpu, CF_WIRE_TASK_NAME, (uint32_t)gettid(), name);
}

void cfq_maps_returned(struct slot *s, unsigned vcpu, int64_t number, int64_t result)
{
    const uint64_t *a = s->argument;
    uint64_t address = (uint64_t)result;
    uint32_t perms = (uint32_t)a[2] & (PERM_R | PERM_W | PERM_X);

    if (calls && (number == calls->execve || number == calls->execveat))
        cfq_left(0);
    if (!calls || (result < 0 && result >= -4095))
        return;
    if (calls->narrow)
        address &= UINT32_MAX;
    if (number == calls->clone) {
        if (a[0] & CLONE_THREAD && result > 0) /* known from here on, even if it runs much later */
            report_task(s, vcpu, CF_WIRE_TASK_MADE, (uint32_t)address, "");
    } else if (number == calls->prctl) {
        if (a[0] == PR_SET_NAME)
            thread_named(s, vcpu);
    } else if (number == calls->brk) {
        heap_moved(s, vcpu, address);
    } else if (number == calls->mmap || number == calls->mmap2) {
        report_range(s, vcpu, address, (a[1] + 4095) & ~UINT64_C(4095), perms, a,
                     a[5] * (number == calls->mmap ? 1 : 4096));
    } else if (number == calls->munmap) {
        report_gone(s, vcpu, a[0], (a[1] + 4095) & ~UINT64_C(4095));
    } else if (number == calls->mprotect) {
        report_range(s, vcpu, a[0], (a[1] + 4095) & ~UINT64_C(4095), perms, NULL, 0);
    } else if (number == calls->mremap) {
        report_gone(s, vcpu, a[0], (a[1] + 4095) & ~UINT64_C(4095));
        report_range(s, vcpu, address, (a[2] + 4095) & ~UINT64_C(4095), PERM_AS_THERE, NULL, 0);
    } else if (number == calls->shmat) {
        report_attached(s, vcpu, address, a[2]);
    } else if (number == calls->shmdt) {
        report_gone(s, vcpu, a[0], a[1]);
    }
}
