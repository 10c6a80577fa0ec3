// SPDX-License-Identifier: BSD-2-Clause
/*
 * Clients of the module: several at a time, one that waits for its own memory, those that call it
 * with whatever there is, and those that may not.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check.h"

/* Takes `want` snapshots, each with a descriptor of its own, against others who do the same. */
static void hammer(uint32_t id, uint32_t want, uint32_t *taken)
{
    for (uint32_t i = 0; *taken < want; i++) {
        int device = open(CACHEFLOW_DEVICE, O_RDONLY);
        struct cacheflow_config config = {.ram = id, .cpu = CACHEFLOW_CPU_ANY};
        struct cacheflow_shot shot;
        static char bytes[65536];

        if (device < 0)
            _exit(10);
        config.flags = i % 3 ? 0 : CACHEFLOW_RESOLVE;
        if (ioctl(device, CACHEFLOW_CONFIGURE, &config) < 0)
            _exit(11);
        if (ioctl(device, CACHEFLOW_SNAPSHOT, &shot) == 0)
            ++*taken;
        else if (errno == ENOSPC)
            ioctl(device, CACHEFLOW_DISCARD);
        else if (errno != EBUSY)
            _exit(12);
        if (read(device, bytes, sizeof bytes) < 0)
            _exit(13);
        if (i % 4 == 0 && ioctl(device, CACHEFLOW_DISCARD) < 0 && errno != EBUSY)
            _exit(14);
        close(device);
        usleep(100 + random_u32() % 2000);
    }
}

static void *read_into(void *memory)
{
    int device = open(CACHEFLOW_DEVICE, O_RDONLY);
    ssize_t got = device < 0 ? -1 : read(device, memory, 4096);

    if (device >= 0)
        close(device);
    return (void *)(intptr_t)got;
}

/* stuck RAM: who reads into memory that nobody brings holds up no one else */
void check_stuck(int argc, char **argv)
{
    uint32_t id = argc > 0 ? (uint32_t)atoi(argv[0]) : CACHEFLOW_L2_TAG;
    int device = device_open(id, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE), other;
    int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0);
    struct uffdio_register whole = {.range = {.start = (uintptr_t)memory, .len = 4096},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    struct uffdio_zeropage bring = {.range = whole.range};
    struct uffd_msg fault;
    struct cacheflow_state state;
    pthread_t reader;
    void *got;

    MUST(faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0 && memory != MAP_FAILED &&
             ioctl(faults, UFFDIO_REGISTER, &whole) == 0,
         "userfaultfd: %s", strerror(errno));
    snapshot_take(device);
    MUST(pthread_create(&reader, NULL, read_into, memory) == 0, "no thread");
    MUST(read(faults, &fault, sizeof fault) == sizeof fault && fault.event == UFFD_EVENT_PAGEFAULT,
         "the reader does not wait for its memory");
    /* Without this, a failure would be a guest that hangs. */
    alarm(PATIENCE / 1000000000);
    MUST(ioctl(device, CACHEFLOW_STATE, &state) == 0 && state.snapshots == 1, "STATE: %s",
         strerror(errno));
    snapshot_take(device);
    other = open(CACHEFLOW_DEVICE, O_RDONLY);
    MUST(other >= 0, "open: %s", strerror(errno));
    close(other);
    alarm(0);
    MUST(ioctl(faults, UFFDIO_ZEROPAGE, &bring) == 0, "userfaultfd: %s", strerror(errno));
    pthread_join(reader, &got);
    MUST((intptr_t)got >= (intptr_t)sizeof(struct cacheflow_snapshot) &&
             ((struct cacheflow_snapshot *)memory)->magic == CACHEFLOW_MAGIC,
         "the reader got %d bytes, or no snapshot", (int)(intptr_t)got);
    note("a snapshot while another client waits for memory");
}

/* clients RAM */
void check_clients(int argc, char **argv)
{
    uint32_t id = argc > 0 ? (uint32_t)atoi(argv[0]) : CACHEFLOW_L2_TAG;
    int one = device_open(id, CACHEFLOW_CPU_ANY, 0);
    int two = device_open(id, CACHEFLOW_CPU_ANY, CACHEFLOW_RESOLVE);
    struct cacheflow_config config;
    struct cacheflow_state state;
    struct cacheflow_shot shot;
    uint32_t *taken = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, 0, 0);
    pid_t children[3];

    MUST(ioctl(one, CACHEFLOW_GET_CONFIG, &config) == 0 && config.flags == 0,
         "one client has the other's configuration");
    MUST(ioctl(one, CACHEFLOW_DISCARD) == 0, "DISCARD: %s", strerror(errno));
    snapshot_take(one);
    MUST(ioctl(two, CACHEFLOW_SNAPSHOT, &shot) < 0 && errno == EBUSY, "a second owner");
    MUST(ioctl(two, CACHEFLOW_DISCARD) < 0 && errno == EBUSY, "others can discard");
    MUST(ioctl(two, CACHEFLOW_STATE, &state) == 0 && state.flags == CACHEFLOW_STATE_OTHER &&
             state.snapshots == 1,
         "the other client does not see the snapshot");
    MUST(ioctl(one, CACHEFLOW_STATE, &state) == 0 && state.flags == CACHEFLOW_STATE_MINE,
         "the owner is not told that it is");
    close(one);
    MUST(ioctl(two, CACHEFLOW_STATE, &state) == 0 && state.flags == 0 && state.snapshots == 1,
         "the snapshot went with its owner");
    snapshot_take(two);
    MUST(ioctl(two, CACHEFLOW_STATE, &state) == 0 && state.snapshots == 2, "it did not add");
    MUST(ioctl(two, CACHEFLOW_DISCARD) == 0, "DISCARD: %s", strerror(errno));
    close(two);

    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        MUST(children[i] >= 0, "fork: %s", strerror(errno));
        if (children[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (int j = 0; j <= i; j++)
                random_u32();
            hammer(id, 25, &taken[i]);
            _exit(0);
        }
    }
    for (int i = 0; i < 3; i++) {
        int status;

        waitpid(children[i], &status, 0);
        MUST(status == 0, "client %d ended with 0x%x", i, status);
        MUST(taken[i] == 25, "client %d got %u snapshots", i, taken[i]);
    }
    note("3 processes took %u + %u + %u", taken[0], taken[1], taken[2]);
}

/* ---- hostile callers ---- */

static unsigned long random_address(char *mine)
{
    static const unsigned long odd[] = {0,
                                        1,
                                        7,
                                        4096,
                                        ~0ul,
                                        ~0ul - 4095,
                                        1ul << 47,
                                        1ul << 52,
                                        0xffff000000000000ul,
                                        0xffffffff80000000ul};

    switch (random_u32() % 4) {
    case 0:
        return odd[random_u32() % (sizeof odd / sizeof *odd)];
    case 1:
        return (unsigned long)random_u32() << 32 | random_u32();
    case 2: /* across the end of what is mapped */
        return (unsigned long)mine + 4096 - random_u32() % 256;
    default:
        return (unsigned long)mine + random_u32() % 3072;
    }
}

/* fuzz CALLS */
void check_fuzz(int argc, char **argv)
{
    uint32_t calls = argc > 0 ? (uint32_t)atoi(argv[0]) : 100000, done = 0, snapshots = 0;
    int device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, 0);
    char *mine = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0);
    static const unsigned long known[] = {CACHEFLOW_INFO,       CACHEFLOW_CONFIGURE,
                                          CACHEFLOW_GET_CONFIG, CACHEFLOW_SNAPSHOT,
                                          CACHEFLOW_STATE,      CACHEFLOW_DISCARD};

    munmap(mine + 4096, 4096);
    for (uint32_t i = 0; i < calls; i++) {
        unsigned long command = known[random_u32() % 6], address = random_address(mine);
        uint32_t random = random_u32();

        for (uint32_t j = 0; i % 16 == 0 && j < 4096; j += 4) {
            uint32_t value = random_u32();

            value = value & 0x100 ? value & 7 : value;
            memcpy(mine + j, &value, 4);
        }
        if (random % 8 == 0)
            command ^= 1ul << random_u32() % 32;
        else if (random % 8 == 1)
            command = random_u32();
        /* Snapshots take long in an emulator; some do. */
        if (command == CACHEFLOW_SNAPSHOT && snapshots++ % 256)
            continue;
        switch (random >> 8 & 7) {
        case 0:
            pread(device, (void *)address, random_u32() % 3 ? random_u32() % 5000 : ~0ul >> 1,
                  (off_t)((uint64_t)random_u32() << (random_u32() % 33)));
            break;
        case 1:
            lseek(device, (off_t)((uint64_t)random_u32() << (random_u32() % 33)),
                  (int)(random_u32() % 6));
            break;
        case 2: {
            size_t size = (random_u32() % 8192 + 1) * 4096ul;
            void *map = mmap(NULL, size, (int)(random_u32() & 7),
                             random_u32() & 1 ? MAP_SHARED : MAP_PRIVATE, device,
                             (off_t)(random_u32() % 8192) << (random_u32() & 1 ? 12 : 44));

            if (map != MAP_FAILED)
                munmap(map, size);
            break;
        }
        default:
            ioctl(device, command, address);
        }
        done++;
    }
    close(device);
    device = device_open(CACHEFLOW_L2_TAG, CACHEFLOW_CPU_ANY, CACHEFLOW_REPLACE);
    snapshot_take(device);
    note("%u calls", done);
}

/* Why the device cannot be opened; 0 when it can. */
static int open_refused(void)
{
    int device = open(CACHEFLOW_DEVICE, O_RDONLY);

    if (device < 0)
        return errno;
    close(device);
    return 0;
}

/* rights: neither the permission nor the capability alone is enough */
void check_rights(int argc, char **argv)
{
    (void)argc, (void)argv;
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (setuid(1000) < 0)
            _exit(1);
        _exit(open_refused() == EACCES ? 0 : 2);
    }
    waitpid(child, &status, 0);
    MUST(status == 0, "another user can open the device (0x%x)", status);
    child = fork();
    if (child == 0) {
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[2];

        if (syscall(SYS_capget, &head, data) < 0)
            _exit(1);
        data[0].effective &= ~(1u << CAP_SYS_RAWIO);
        data[0].permitted &= ~(1u << CAP_SYS_RAWIO);
        if (syscall(SYS_capset, &head, data) < 0)
            _exit(3);
        _exit(open_refused() == EPERM ? 0 : 2);
    }
    waitpid(child, &status, 0);
    MUST(status == 0, "root without CAP_SYS_RAWIO can open the device (0x%x)", status);
}
