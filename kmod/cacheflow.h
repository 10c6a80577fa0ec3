/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * What the kernel module cacheflow.ko and the programs that use it agree on: /dev/cacheflow, its
 * ioctls, and what stands in its buffer. Described for users in cacheflow(4).
 *
 * The module is the Shutter of Tarapore et al., "Observing the Invisible: Live Cache Inspection for
 * High-Performance Embedded Systems", sections 5 and 6.3: on a command it stops the other CPUs,
 * reads the tag memory of one cache into a non-cacheable buffer, and lets them go.
 *
 * Everything is in the byte order of the machine that runs the module. There are no pointers and
 * no padding that is not named; a structure is the same for 32-bit and 64-bit programs. Fields
 * called `reserved` are 0 when the module writes them and must be 0 when it reads them.
 *
 * Order of use: open, CACHEFLOW_INFO, CACHEFLOW_CONFIGURE, CACHEFLOW_SNAPSHOT any number of times,
 * read() or mmap() the buffer, CACHEFLOW_DISCARD.
 */
#ifndef CACHEFLOW_KMOD_H
#define CACHEFLOW_KMOD_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CACHEFLOW_DEVICE "/dev/cacheflow"
#define CACHEFLOW_ABI    1 /* changes when anything below changes its meaning or place */

/* Memories that can be read. A cache whose entry in cacheflow_info.ram has no CACHEFLOW_RAM_PRESENT
   cannot be read on this machine. */
enum cacheflow_ram_id {
    CACHEFLOW_L2_TAG = 0,  /* tags of the second level, shared by the CPUs of a cluster */
    CACHEFLOW_L1D_TAG = 1, /* tags of the first level for data, of one CPU */
    CACHEFLOW_L1I_TAG = 2, /* tags of the first level for instructions, of one CPU */
    CACHEFLOW_RAMS = 4     /* entries of cacheflow_info.ram; those without a name are zeros */
};

/* Flags of cacheflow_ram. */
#define CACHEFLOW_RAM_PRESENT 1u /* can be read here */
#define CACHEFLOW_RAM_PRIVATE 2u /* each CPU has its own: cacheflow_config.cpu says whose */
#define CACHEFLOW_RAM_VIRTUAL 4u /* the set comes from the virtual address (VIPT) */
#define CACHEFLOW_RAM_ASSUMED 8u /* layout taken over from a related CPU, by parameter assume=1 */

/* One memory: geometry as the CPU itself reports it (CCSIDR, L2CTLR). Zeros when not present. */
struct cacheflow_ram {
    __u32 flags;     /* CACHEFLOW_RAM_* */
    __u32 level;     /* 1 or 2 */
    __u32 sets;      /* in the whole cache */
    __u32 ways;      /* in a set */
    __u32 line_size; /* bytes */
    __u32 reserved;
};

/* Where a cost in cycles was counted. */
#define CACHEFLOW_CYCLES_CPU   1u /* the CPU's own cycle counter: cycles of its clock as it ran */
#define CACHEFLOW_CYCLES_TIMER 2u /* a counter of constant rate, cacheflow_info.timer_hz */

/* What the buffer is: memory that Linux does not use (parameters phys and size) or the module's
   own, and whether writing a snapshot goes through the caches, which it does only on x86. */
#define CACHEFLOW_BUFFER_RESERVED  1u
#define CACHEFLOW_BUFFER_CACHEABLE 2u

/* CACHEFLOW_INFO: what is here. Never fails but with EFAULT. */
struct cacheflow_info {
    __u32 abi;            /* CACHEFLOW_ABI of the module: look at this first */
    __u32 buffer_flags;   /* CACHEFLOW_BUFFER_* */
    char version[16];     /* of the module, zero-terminated */
    char backend[16];     /* "cortex-a57", "cortex-a72", "cortex-a15" or "model", zero-terminated */
    __u64 cpu_id;         /* MIDR of the CPUs that the backend reads; 0 for "model" */
    __u32 cpus_online;    /* number of CPUs that a snapshot stops, itself included */
    __u32 cpus_able;      /* those of them whose memories the backend can read (big.LITTLE) */
    __u64 timer_hz;       /* rate of CACHEFLOW_CYCLES_TIMER; 0 unknown */
    __u64 buffer_bytes;   /* size of the buffer, and of what mmap() gives at offset 0 */
    __u64 snapshot_bytes; /* the most that one snapshot takes, as this descriptor is configured, and
                             one owner a line; further ones are kept where there is room */
    __u32 snapshots;      /* how many of those the empty buffer holds */
    __u32 reserved;
    struct cacheflow_ram ram[CACHEFLOW_RAMS]; /* by cacheflow_ram_id */
};

/* Flags of cacheflow_config. RESOLVE adds owners and virtual addresses (cacheflow_owner below).
   With REPLACE each snapshot discards those before it (flush mode); without it, snapshots are kept
   until CACHEFLOW_DISCARD (transparent mode). */
#define CACHEFLOW_RESOLVE 1u
#define CACHEFLOW_REPLACE 2u
#define CACHEFLOW_CPU_ANY (-1)

/*
 * CACHEFLOW_CONFIGURE: what the snapshots of this descriptor read; CACHEFLOW_GET_CONFIG returns it.
 * A descriptor starts with {CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, 0, 0}. May be said at any time.
 *
 * EINVAL  no such RAM, unknown flag, reserved not 0, no such CPU
 * ENODEV  this memory cannot be read here
 */
struct cacheflow_config {
    __u32 ram;   /* enum cacheflow_ram_id */
    __s32 cpu;   /* the CPU that reads, thus whose private memory is read; CACHEFLOW_CPU_ANY takes
                    the one that the caller runs on, or another if that one cannot be read */
    __u32 flags; /* CACHEFLOW_RESOLVE, CACHEFLOW_REPLACE */
    __u32 reserved;
};

/*
 * CACHEFLOW_SNAPSHOT: takes one. Written by the module only; all of it stands in the buffer too.
 * The first descriptor that takes a snapshot or discards owns the buffer until it is closed; the
 * snapshots stay. Others may look and read meanwhile.
 *
 * ENOSPC  the buffer has no room for a snapshot of the worst case: read, then discard; with
 *         REPLACE, that is larger than the whole buffer
 * EBUSY   another descriptor owns the buffer
 * ENODEV  the CPU is offline, or is none that the backend can read; with CACHEFLOW_CPU_ANY, none is
 * EIO     the CPU's geometry is not what it was when the module was loaded
 * ENOMEM  no memory for resolution; no snapshot was kept
 * EINTR   a deadly signal came while owners were looked for; no snapshot was kept
 * ENOSPC and EBUSY change nothing. With REPLACE, the snapshots before may be gone after the others.
 */
struct cacheflow_shot {
    __u64 number;      /* from 1 on since the module was loaded; not reset by discarding */
    __u64 offset;      /* bytes from the buffer's start to its cacheflow_snapshot */
    __u64 bytes;       /* that it takes there */
    __u64 time_ns;     /* CLOCK_MONOTONIC when the other CPUs stood still and reading began */
    __u64 cost_cycles; /* from there until the last entry was written */
    __u64 cost_ns;     /* the same in nanoseconds */
    __u64 total_ns;    /* of the whole call: stopping, reading, resuming, resolving */
    __u32 entries;     /* valid lines */
    __u32 owners;      /* records of cacheflow_owner */
    __u32 flags;       /* CACHEFLOW_SNAP_* */
    __u32 reserved;
};

/* CACHEFLOW_STATE: of the buffer. Never fails but with EFAULT. */
#define CACHEFLOW_STATE_MINE  1u /* this descriptor owns the buffer */
#define CACHEFLOW_STATE_OTHER 2u /* another one does */
#define CACHEFLOW_STATE_FULL  4u /* the next snapshot, as configured here, would not fit */
struct cacheflow_state {
    __u64 bytes_used; /* read() gives so many, and so far mmap() shows snapshots */
    __u64 bytes_free;
    __u64 last_number; /* of the last snapshot taken; 0 none yet */
    __u64 discards;    /* grows whenever snapshots are discarded: what was mapped is then void */
    __u32 snapshots;   /* in the buffer now */
    __u32 flags;       /* CACHEFLOW_STATE_* */
};

#define CACHEFLOW_IOC        0xCF
#define CACHEFLOW_INFO       _IOR(CACHEFLOW_IOC, 0, struct cacheflow_info)
#define CACHEFLOW_CONFIGURE  _IOW(CACHEFLOW_IOC, 1, struct cacheflow_config)
#define CACHEFLOW_GET_CONFIG _IOR(CACHEFLOW_IOC, 2, struct cacheflow_config)
#define CACHEFLOW_SNAPSHOT   _IOR(CACHEFLOW_IOC, 3, struct cacheflow_shot)
#define CACHEFLOW_STATE      _IOR(CACHEFLOW_IOC, 4, struct cacheflow_state)
#define CACHEFLOW_DISCARD    _IO(CACHEFLOW_IOC, 5) /* empties the buffer; EBUSY as for SNAPSHOT */

/*
 * The buffer: snapshots one after the other, the oldest first, each
 *     struct cacheflow_snapshot
 *     struct cacheflow_line [entries]
 *     zeros up to a multiple of 8 bytes
 *     struct cacheflow_owner [owners]
 *     zeros up to a multiple of 64 bytes
 * read() gives the bytes of complete snapshots from the file position on, and 0 at their end;
 * lseek() and pread() work. mmap() at offset 0, read-only and shared, gives the same bytes in place
 * (not through the cache, except CACHEFLOW_BUFFER_CACHEABLE): bytes_used bounds what is valid. A
 * descriptor that reads while the owner of the buffer discards may get parts of two snapshots;
 * CACHEFLOW_STATE before and after shows by `discards`.
 */
#define CACHEFLOW_MAGIC 0x4e534643u /* "CFSN" in the bytes of a little-endian machine */

/* Flags of a snapshot. TRUNCATED: there were more owners than fitted, see owners_missing; lines are
   never left out, nor is the first owner of each. */
#define CACHEFLOW_SNAP_RESOLVED  1u /* owners were looked for */
#define CACHEFLOW_SNAP_TRUNCATED 2u
#define CACHEFLOW_SNAP_VIRTUAL   4u /* CACHEFLOW_RAM_VIRTUAL: a line's set is not bits of phys */

struct cacheflow_snapshot { /* 128 bytes */
    __u32 magic;            /* CACHEFLOW_MAGIC */
    __u16 abi;              /* CACHEFLOW_ABI */
    __u16 header_bytes;     /* of this structure: where the lines begin */
    __u64 bytes;            /* of all of the above: where the next snapshot begins */
    __u64 number;           /* as in cacheflow_shot, these five */
    __u64 time_ns;
    __u64 cost_cycles;
    __u64 cost_ns;
    __u64 resolve_ns;    /* time that finding owners took, after the CPUs were let go */
    __u32 cycles_source; /* CACHEFLOW_CYCLES_* */
    __u32 flags;         /* CACHEFLOW_SNAP_* */
    __u32 ram;           /* enum cacheflow_ram_id */
    __u32 level;         /* 1 or 2 */
    __u32 cpu;           /* the CPU that read */
    __u32 sets;          /* geometry of the cache */
    __u32 ways;
    __u32 line_size;      /* bytes */
    __u32 entries;        /* valid lines, by set and then by way */
    __u32 entry_bytes;    /* sizeof(struct cacheflow_line) */
    __u32 owners;         /* records, by entry */
    __u32 owner_bytes;    /* sizeof(struct cacheflow_owner) */
    __u32 owners_missing; /* see CACHEFLOW_SNAP_TRUNCATED */
    __u32 owners_at;      /* bytes from the start of this structure to the first owner */
    __u32 reserved[4];
};

/* State of a line: one bit for each state that it may be in, since the tags of the second level
   give only "E or M" and "S or O". 0 only where the memory holds a value that its manual reserves.
 */
#define CACHEFLOW_M          0x01u
#define CACHEFLOW_O          0x02u
#define CACHEFLOW_E          0x04u
#define CACHEFLOW_S          0x08u
#define CACHEFLOW_VALID      0x10u /* valid, and no state is kept (instructions) */
#define CACHEFLOW_NON_SECURE 0x80u /* the line belongs to the non-secure world: that of Linux */

/* One valid line. 12 bytes, so that 32,768 lines and their header take 393,344. */
struct cacheflow_line {
    __u32 frame_low;  /* physical address / 64, bits 31:0 */
    __u16 frame_high; /* and bits 47:32 */
    __u8 way;
    __u8 state; /* CACHEFLOW_M ... CACHEFLOW_NON_SECURE */
    __u32 set;
};

static inline __u64 cacheflow_line_phys(const struct cacheflow_line *line)
{
    return ((__u64)line->frame_high << 32 | line->frame_low) << 6;
}

/* Flags of an owner. A line has one record for each mapping of its page frame in any process, or,
   when there is none, exactly one that says why. A frame that stands in one mapping several times
   has a record for the first. */
#define CACHEFLOW_OWNER_SHARED   1u  /* the frame has several mappings: there are further records */
#define CACHEFLOW_OWNER_FILE     2u  /* page of a file (or of shared memory), else anonymous */
#define CACHEFLOW_OWNER_EXEC     4u  /* mapped executable */
#define CACHEFLOW_OWNER_KERNEL   8u  /* no mapping: the kernel's; virt is its linear address or 0 */
#define CACHEFLOW_OWNER_FREE     16u /* no mapping: a free frame */
#define CACHEFLOW_OWNER_UNMAPPED 32u /* no mapping: page cache, or a process that has ended */
#define CACHEFLOW_OWNER_NO_RAM   64u /* no memory that Linux knows: a device, secure or reserved */

/* One mapping of one line. 24 bytes. */
struct cacheflow_owner {
    __u64 virt;     /* virtual address of the line's first byte, page offset included; one of the
                       kernel's only where CAP_SYSLOG and kptr_restrict let the caller see it */
    __u32 entry;    /* index of the line in this snapshot, ascending */
    __u32 pid;      /* process (thread group) in the first pid namespace; 0 for no mapping */
    __u32 flags;    /* CACHEFLOW_OWNER_* */
    __u32 mappings; /* number of mappings of the frame that were found */
};

#endif
