/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making the ring: where there is room for it, and how much it may take.
 */
#include "tool.h"

#include "pub_tool_basics.h"

/* Functions of Valgrind's core that its tool headers do not declare. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);
extern SysRes VG_(do_syscall)(UWord number, RegWord a1, RegWord a2, RegWord a3, RegWord a4,
                              RegWord a5, RegWord a6);

#define RLIMIT_FSIZE 1

/* Bytes that a file may still take in a directory; 0 with an error where it cannot be reached. */
static ULong room_in(const HChar *directory, UWord *error)
{
    ULong fs[16] = {0}; /* struct statfs of 64-bit systems */
    enum { BLOCKS = 2, AVAILABLE = 4, FRAGMENT = 9 };
    const SysRes r = VG_(do_syscall)(__NR_statfs, (Addr)directory, (Addr)fs, 0, 0, 0, 0);

    if (sr_isError(r)) {
        *error = sr_Err(r);
        return 0;
    }
    return fs[BLOCKS] ? fs[AVAILABLE] * fs[FRAGMENT] : ~(ULong)0; /* 0: memory without a limit */
}

/* Memory is claimed now: a full file system must not become a SIGBUS in the program. */
static Bool claim(Int fd, ULong bytes)
{
    static const HChar zero[4096];
    ULong i;

    if (!sr_isError(VG_(do_syscall)(__NR_fallocate, fd, 0, 0, bytes, 0, 0)))
        return True;
    for (i = 0; i < bytes; i += sizeof zero)
        if (VG_(write)(fd, zero, sizeof zero) != sizeof zero)
            return False;
    return True;
}

/* A ring of so many blocks: 0, or an error. */
static UWord make_ring_in(struct cf_ring *made, const HChar *directory, UInt count)
{
    struct cf_wire_ring *ring;
    HChar path[VG_(strlen)(directory) + 40];
    SysRes r;
    Int fd;

    for (made->number = 0;; made->number++) {
        VG_(sprintf)(path, "%s/ring.%u.%u", directory, cf_numbers_process(), made->number);
        r = VG_(open)(path, VKI_O_CREAT | VKI_O_EXCL | VKI_O_RDWR, 0600);
        if (!sr_isError(r))
            break;
        if (sr_Err(r) != VKI_EEXIST || made->number > 100000)
            return sr_Err(r);
    }
    fd = sr_Res(r);
    if (!claim(fd, CF_WIRE_RING(count))) {
        VG_(close)(fd);
        VG_(unlink)(path);
        return VKI_ENOSPC;
    }
    r = VG_(am_shared_mmap_file_float_valgrind)(CF_WIRE_RING(count), VKI_PROT_READ | VKI_PROT_WRITE,
                                                fd, 0);
    VG_(close)(fd);
    if (sr_isError(r)) {
        VG_(unlink)(path);
        return sr_Err(r);
    }
    ring = made->memory = (struct cf_wire_ring *)sr_Res(r);
    ring->version = CF_WIRE_VERSION;
    ring->pid = cf_numbers_process();
    ring->block_bytes = CF_WIRE_BLOCK_BYTES;
    ring->blocks = made->blocks = count;
    ring->magic = CF_WIRE_MAGIC;
    return 0;
}

/* Makes this process's ring. As long as there is a choice it takes a quarter of the room that there
 * is, a smaller one rather than none, so that there is some for other processes, and for the
 * programs: 0, or an error. */
static UWord find_ring(struct cf_ring *made, ULong most)
{
    const HChar *directories[] = {cf_tool_options.directory, cf_tool_options.spare};
    UWord error = VKI_ENOSPC;
    Int share;
    UInt count;

    for (share = 4; share > 0; share -= 3)
        for (made->place = 0; made->place < 2 && directories[made->place]; made->place++)
            for (count = CF_WIRE_BLOCKS; count >= CF_WIRE_BLOCKS_LEAST; count /= 2) {
                if (CF_WIRE_RING(count) > most) {
                    error = VKI_EFBIG;
                    continue;
                }
                if (CF_WIRE_RING(count) > room_in(directories[made->place], &error) / share)
                    continue;
                error = make_ring_in(made, directories[made->place], count);
                if (error == 0)
                    return 0;
            }
    return error;
}

/* The program may have a limit on the size of its files, which is not meant for ours: it is
 * lifted meanwhile as far as it can be, and what is over it is not tried, since that would be a
 * signal to the program. */
UWord cf_ring_make(struct cf_ring *made)
{
    struct vki_rlimit old, most = {~(UWord)0, ~(UWord)0};
    UWord error;

    if (VG_(getrlimit)(RLIMIT_FSIZE, &old) != 0)
        return find_ring(made, ~(ULong)0);
    if (old.rlim_cur != most.rlim_cur && VG_(setrlimit)(RLIMIT_FSIZE, &most) != 0) {
        most.rlim_cur = most.rlim_max = old.rlim_max;
        VG_(setrlimit)(RLIMIT_FSIZE, &most);
    }
    error = find_ring(made, most.rlim_cur);
    VG_(setrlimit)(RLIMIT_FSIZE, &old);
    return error;
}
