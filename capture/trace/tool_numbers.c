/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By which numbers the reader knows this process and its threads. In a PID namespace of its own, as
 * a container is, a process knows itself by others, which those of another container have as well.
 * The kernel states the numbers in all namespaces, from that of a /proc on. What is asked is the
 * reader's, kept open through forks and execs: a container may have another one in its place.
 */
#include "tool.h"

#include "pub_tool_basics.h"

/* Functions of Valgrind's core that its tool headers do not declare. */
extern SysRes VG_(do_syscall)(UWord number, RegWord a1, RegWord a2, RegWord a3, RegWord a4,
                              RegWord a5, RegWord a6);
extern Int VG_(safe_fd)(Int fd);

static Int proc;       /* the reader's /proc */
static Int level = -1; /* of the reader's namespace, from that of /proc; -1: not known yet */
static UInt process;
static Bool inner; /* it is in another namespace than the reader */

/* A task's: of the reader, 0 if it cannot be read; in its own namespace, and the level of that. */
struct numbers {
    UInt readers, own;
    Int level;
};

static SysRes open_below(const HChar *path)
{
    return VG_(do_syscall)(__NR_openat, proc, (Addr)path, VKI_O_RDONLY, 0, 0, 0);
}

static struct numbers numbers_of(const HChar *directory)
{
    static const HChar key[] = "\nNSpid:";
    static HChar text[16384]; /* the user's groups stand before them */
    struct numbers found = {.level = -1};
    HChar path[64], *at;
    SysRes file;
    Int n;

    VG_(sprintf)(path, "%s/status", directory);
    file = open_below(path);
    if (sr_isError(file))
        return found;
    n = VG_(read)(sr_Res(file), text, sizeof text - 1);
    VG_(close)(sr_Res(file));
    text[n > 0 ? n : 0] = 0;
    at = VG_(strstr)(text, key);
    if (!at && n > 0 && n < (Int)sizeof text - 1) /* a kernel without namespaces */
        return (struct numbers){VG_(getpid)(), VG_(getpid)(), 0};
    if (!at)
        return found;
    for (at += sizeof key - 1; *at == '\t';) {
        found.own = VG_(strtoll10)(at + 1, &at);
        if (++found.level == level || level < 0)
            found.readers = found.own;
    }
    return found;
}

Bool cf_numbers_option(const HChar *value)
{
    HChar *end;

    proc = VG_(strtoll10)(value, &end);
    if (*end == ',')
        level = VG_(strtoll10)(end + 1, &end);
    return *end == 0;
}

void cf_numbers_begin(void)
{
    proc = VG_(safe_fd)(proc);
}

void cf_numbers_find(void)
{
    const struct numbers n = numbers_of("self");

    if (level < 0) /* the first process is where the reader is */
        level = n.level;
    process = n.readers;
    inner = n.level > level;
}

void cf_numbers_pass(Bool recorded)
{
    static HChar whole[40];

    VG_(sprintf)(whole, "--proc=%d,%d", proc, level);
    cf_exec_pass(recorded, proc, "--proc=", whole);
}

UInt cf_numbers_process(void)
{
    return process;
}

UInt cf_numbers_parent(void)
{
    return inner ? 0 : VG_(getppid)();
}

UInt cf_numbers_thread(void)
{
    return inner ? numbers_of("thread-self").readers : (UInt)VG_(gettid)();
}

/* There is no way from its own number to the reader's but by all threads. */
UInt cf_numbers_of_thread(UInt own)
{
    static HChar entries[4096] __attribute__((aligned(8)));
    struct numbers n = {.readers = own};
    SysRes directory;
    Int bytes, at;

    if (!inner)
        return own;
    directory = open_below("self/task");
    if (sr_isError(directory))
        return 0;
    do {
        bytes = VG_(getdents64)(sr_Res(directory), (struct vki_dirent64 *)entries, sizeof entries);
        for (at = 0; at < bytes && n.own != own;) {
            const struct vki_dirent64 *e = (const struct vki_dirent64 *)(entries + at);
            HChar path[64];

            VG_(sprintf)(path, "self/task/%.20s", e->d_name);
            n = numbers_of(path);
            at += e->d_reclen;
        }
    } while (bytes > 0 && n.own != own);
    VG_(close)(sr_Res(directory));
    return n.own == own ? n.readers : 0;
}
