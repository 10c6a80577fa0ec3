// SPDX-License-Identifier: BSD-2-Clause
/*
 * What pagectl.ko does not take, or cannot treat; lists of whatever there is; what it leaves
 * behind; and pages that move to the pool.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check_pages.h"

#define FAILS(device, request, what, error)                                                        \
    MUST(ioctl(device, request, what) < 0 && errno == (error), "%s, line %d: %s and not %s",       \
         #request, __LINE__, strerror(errno), strerror(error))

/* Where a mapping of that name begins. */
static uint64_t mapping_named(pid_t pid, const char *name)
{
    char path[64], line[512];
    uint64_t start = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    maps = fopen(path, "r");
    MUST(maps, "%s", path);
    while (fgets(line, sizeof line, maps))
        if (strstr(line, name))
            start = strtoull(line, NULL, 16);
    fclose(maps);
    return start;
}

static void refuse_targets(int device, pid_t pid)
{
    struct pagectl_target target = {.pid = pid, .reserved = 1};
    pid_t ended = fork();

    FAILS(device, PAGECTL_TARGET, &target, EINVAL);
    if (ended == 0)
        _exit(0);
    waitpid(ended, NULL, 0);
    target = (struct pagectl_target){.pid = ended};
    FAILS(device, PAGECTL_TARGET, &target, ESRCH);
    target.pid = -1;
    FAILS(device, PAGECTL_TARGET, &target, ESRCH);
    target.pid = 2; /* a thread of the kernel */
    FAILS(device, PAGECTL_TARGET, &target, ESRCH);
    FAILS(device, PAGECTL_TARGET, (void *)8, EFAULT);
    FAILS(device, PAGECTL_INFO, (void *)8, EFAULT);
    FAILS(device, PAGECTL_QUERY, (void *)8, EFAULT);
    FAILS(device, _IO(PAGECTL_IOC, 99), NULL, ENOTTY);
}

static void refuse_lists(int device, pid_t pid)
{
    struct pagectl_expect e = {.count = 1, .total = 2, .mapping[0] = {.start = 1, .end = 2}};
    struct pagectl_pages pages = {.count = 1};

    FAILS(device, PAGECTL_SET, &pages, ESTALE);
    MUST(ioctl(device, PAGECTL_EXPECT, &e) == 0, "EXPECT: %s", strerror(errno));
    FAILS(device, PAGECTL_SET, &pages, ESTALE); /* half a list */
    e.first = 2;
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    e.first = 1;
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL); /* begins below the end of the one before */
    e.mapping[0] = (struct pagectl_mapping){.start = 2, .end = 2};
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    e.mapping[0].end = 3;
    e.total = 3;
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    e.total = 1;
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    e.total = 2;
    e.mapping[0].flags = 16;
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    e.mapping[0].flags = 0;
    e.mapping[0].reserved = 1;
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    e.mapping[0].reserved = 0;
    e.count = 0;
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    e.count = PAGECTL_MAPPINGS + 1;
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    e = (struct pagectl_expect){.count = 1, .total = PAGECTL_MAPPINGS_MOST + 1};
    FAILS(device, PAGECTL_EXPECT, &e, EINVAL);
    FAILS(device, PAGECTL_SET, &pages, ESTALE);
    MUST(pages_expect(device, pid) == 0, "EXPECT: %s", strerror(errno));
    pages.policy = PAGECTL_WRITE_COMBINING + 1;
    FAILS(device, PAGECTL_SET, &pages, EINVAL);
    FAILS(device, PAGECTL_QUERY, &pages, EINVAL);
    FAILS(device, PAGECTL_MIGRATE, &pages, EINVAL);
    pages.policy =
        pages_policy(0) == PAGECTL_NONCACHEABLE ? PAGECTL_UNCACHED : PAGECTL_NONCACHEABLE;
    FAILS(device, PAGECTL_SET, &pages, EOPNOTSUPP);
    pages.policy = 0;
    pages.page[0].addr = 1;
    FAILS(device, PAGECTL_SET, &pages, EINVAL);
    pages.page[0] = (struct pagectl_page){.reserved[4] = 1};
    FAILS(device, PAGECTL_SET, &pages, EINVAL);
    pages.page[0].reserved[4] = 0;
    pages.reserved = 1;
    FAILS(device, PAGECTL_SET, &pages, EINVAL);
    pages = (struct pagectl_pages){.count = PAGECTL_PAGES + 1};
    FAILS(device, PAGECTL_SET, &pages, EINVAL);
    pages.count = 0;
    MUST(pages_request(device, PAGECTL_SET, &pages) == 0, "an empty list");
    if (!pages_info(device).moves)
        FAILS(device, PAGECTL_MIGRATE, &pages, EOPNOTSUPP);
}

/* Addresses outside of the process's: by their lower bits that of a page which is there; and the
   kernel's own on x86, for memory of devices, of its code, of all memory. */
static void refuse_addresses(int device, uint64_t there)
{
    const uint64_t none[] = {there | UINT64_C(1) << 48, there | UINT64_C(1) << 63,
                             UINT64_C(0xffffffffff5fd000), UINT64_C(0xffffffff81000000),
                             UINT64_C(0xffff888000100000)};
    uint32_t moves = pages_info(device).moves;

    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        pages_one(device, PAGECTL_QUERY, none[i], 0, PAGECTL_UNMAPPED);
        pages_one(device, PAGECTL_SET, none[i], 0, PAGECTL_UNMAPPED);
        if (moves)
            pages_one(device, PAGECTL_MIGRATE, none[i], 0, PAGECTL_UNMAPPED);
    }
}

/* pages_errors: every request that is refused, and what single pages are */
void check_pages_errors(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct victim v = victim_make();
    int device = pages_open();
    struct pagectl_expect e = {.count = 1, .total = 1, .mapping[0] = {.start = 1, .end = 2}};
    struct pagectl_pages pages = {.count = 1};

    FAILS(device, PAGECTL_EXPECT, &e, ESRCH);
    FAILS(device, PAGECTL_SET, &pages, ESRCH);
    FAILS(device, PAGECTL_QUERY, &pages, ESRCH);
    FAILS(device, PAGECTL_RESTORE, NULL, ESRCH);
    refuse_targets(device, v.pid);
    pages_target(device, v.pid);
    refuse_lists(device, v.pid);

    pages_one(device, PAGECTL_SET, 0, 0, PAGECTL_UNMAPPED);
    pages_one(device, PAGECTL_SET, UINT64_C(0xffff) << 48, 0, PAGECTL_UNMAPPED);
    pages_one(device, PAGECTL_QUERY, UINT64_C(0xffff) << 48, 0, PAGECTL_UNMAPPED);
    pages_one(device, PAGECTL_SET, v.guard, 0, PAGECTL_UNMAPPED);
    pages_one(device, PAGECTL_QUERY, v.guard, 0, PAGECTL_UNMAPPED);
    pages_one(device, PAGECTL_SET, mapping_named(v.pid, "[vdso]"), 0, PAGECTL_SPECIAL);
    pages_one(device, PAGECTL_SET, mapping_named(v.pid, "[vvar]"), 0, PAGECTL_SPECIAL);
    pages_one(device, PAGECTL_QUERY, mapping_named(v.pid, "[vvar]"), 0, PAGECTL_SPECIAL);
    pages_one(device, PAGECTL_SET, mapping_named(v.pid, "[stack]"), 0, PAGECTL_DONE);
    refuse_addresses(device, mapping_named(v.pid, "[stack]"));

    /* Another mapping, one less, and one that may do more. */
    victim_ask(&v, VICTIM_READONLY, v.data, 1, 0);
    FAILS(device, PAGECTL_SET, &pages, ESTALE);
    e.mapping[0].end = UINT64_C(1) << 46;
    FAILS(device, PAGECTL_EXPECT, &e, ESTALE);
    MUST(e.differs == 0, "differs %u", e.differs);
    MUST(pages_expect(device, v.pid) == 0, "EXPECT");
    victim_ask(&v, VICTIM_UNMAP, v.text, VICTIM_PAGES, 0);
    FAILS(device, PAGECTL_SET, &pages, ESTALE);
    FAILS(device, PAGECTL_SET, &pages, ESTALE);
    MUST(pages_request(device, PAGECTL_QUERY, &pages) == 0, "QUERY asks for EXPECT");
    victim_end(&v);
    FAILS(device, PAGECTL_SET, &pages, ESRCH);
    FAILS(device, PAGECTL_EXPECT, &e, ESRCH);
    FAILS(device, PAGECTL_QUERY, &pages, ESRCH);
}

/* pages_rights: neither another user, nor root without the capabilities */
void check_pages_rights(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct victim v = victim_make();
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    struct pagectl_target target = {.pid = v.pid};
    int device = pages_open();

    MUST(syscall(SYS_capget, &header, data) == 0, "capget");
    data[0].effective &= ~(1u << CAP_SYS_PTRACE);
    MUST(syscall(SYS_capset, &header, data) == 0, "capset");
    FAILS(device, PAGECTL_TARGET, &target, EPERM);
    victim_end(&v);
    data[0].effective &= ~(1u << CAP_SYS_RAWIO);
    MUST(syscall(SYS_capset, &header, data) == 0, "capset");
    device = open(PAGECTL_DEVICE, O_RDONLY);
    MUST(device < 0 && errno == EPERM, "opened without CAP_SYS_RAWIO");
    MUST(setuid(1000) == 0, "setuid");
    device = open(PAGECTL_DEVICE, O_RDONLY);
    MUST(device < 0 && errno == EACCES, "opened by another user");
}

/* pages_fuzz CALLS: lists of whatever there is; the process's memory is none the worse */
void check_pages_fuzz(int argc, char **argv)
{
    MUST(argc == 1, "pages_fuzz CALLS");
    static struct pagectl_pages pages;
    static struct pagectl_expect expect;
    const unsigned long requests[] = {PAGECTL_SET, PAGECTL_MIGRATE, PAGECTL_QUERY, PAGECTL_SET};
    struct victim v = victim_make();
    const uint64_t areas[] = {v.anon, v.shared, v.data, v.text, v.guard, 0, UINT64_MAX << 12};
    int device = pages_attach(&v), calls = atoi(argv[0]);
    uint64_t frames = pages_info(device).pool_free;
    uint32_t taken = 0;

    victim_ask(&v, VICTIM_FILL, v.anon, VICTIM_PAGES, 1);
    victim_ask(&v, VICTIM_FILL, v.shared, VICTIM_PAGES, 2);
    for (int call = 0; call < calls; call++) {
        pages.count = random_u32() % (call % 50 ? 12 : PAGECTL_PAGES + 2);
        pages.policy = random_u32() % 5;
        pages.reserved = random_u32() % 32 == 0;
        for (uint32_t i = 0; i < pages.count && i < PAGECTL_PAGES; i++) {
            struct pagectl_page *page = &pages.page[i];

            memset(page, 0, sizeof *page);
            page->addr = areas[random_u32() % 7] + random_u32() % (VICTIM_PAGES + 2) * PAGE;
            if (random_u32() % 200 == 0)
                page->addr = (uint64_t)random_u32() << (random_u32() % 33);
            page->frame = random_u32();
            page->result = (uint8_t)random_u32();
        }
        taken += pages_request(device, requests[random_u32() % 4], &pages) == 0;
        if (call % 16 == 0) {
            for (size_t i = 0; i < sizeof expect / 4; i++)
                ((uint32_t *)&expect)[i] = random_u32() >> (random_u32() % 33 ? 20 : 0);
            expect.first = random_u32() % 3;
            (void)ioctl(device, PAGECTL_EXPECT, &expect);
            (void)ioctl(device, random_u32() & 0xc00fffff, &expect);
            (void)ioctl(device, random_u32() % 2 ? PAGECTL_RESTORE : PAGECTL_INFO, &expect);
            pages_expect(device, v.pid);
        }
    }
    MUST(!victim_ask(&v, VICTIM_VERIFY, v.anon, VICTIM_PAGES, 1) &&
             !victim_ask(&v, VICTIM_VERIFY, v.shared, VICTIM_PAGES, 2),
         "data was lost");
    pages_restore(device);
    pages_are(v.pid, v.anon, VICTIM_PAGES, PAGECTL_CACHED, false);
    MUST(pages_info(device).pool_free == frames, "frames of the pool were lost");
    MUST((int)taken > calls / 4, "only %u of %d calls were taken", taken, calls);
    note("%d calls, %u taken", calls, taken);
    victim_end(&v);
}

/* pages_leak OPERATIONS: what the module allocates and whom it holds is given back */
void check_pages_leak(int argc, char **argv)
{
    MUST(argc == 1, "pages_leak OPERATIONS");
    uint32_t operations = (uint32_t)atoi(argv[0]), done = 0, mms, own, more;
    uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    struct victim v;
    uint64_t deadline;

    /* What the first of it leaves in the system is there before. */
    v = victim_make();
    close(pages_attach(&v));
    victim_end(&v);
    mms = slab_objects("mm_struct", "");
    MUST(mms, "slabs are not traced: no slub_debug=U?");
    own = slab_objects("kmalloc", "[pagectl]");
    for (uint32_t round = 0; done < operations; round++) {
        v = victim_make();
        int device = pages_attach(&v);

        for (uint32_t i = 0; i < 250; i++, done++) {
            uint64_t at = (i % 2 ? v.anon : v.data) + i % VICTIM_PAGES * PAGE;

            pages_do(device, PAGECTL_SET, at, 1, i % 5 ? pages_policy(0) : 0);
            if (i % 60 == 59) /* some are left at the end */
                pages_restore(device);
        }
        if (round == 0)
            MUST(slab_objects("kmalloc", "[pagectl]") > own, "what it allocates is not seen");
        if (round % 2)
            victim_end(&v);
        close(device);
        if (round % 2 == 0)
            victim_end(&v);
    }
    MUST(slab_objects("kmalloc", "[pagectl]") == own, "the module has left objects");
    /* RCU frees what has just ended, and an idle CPU may keep the address space that it had last:
       one that is held for each process that was treated is many more. */
    deadline = now_ns() + PATIENCE;
    while ((more = slab_objects("mm_struct", "")) > mms + cpus)
        MUST(now_ns() < deadline, "%u processes are held", more - mms);
    note("%u operations", done);
}

static void in_pool(const struct pagectl_pages *list, const struct pagectl_info *info, bool in)
{
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t frame = list->page[i].frame - info->pool_phys / PAGE;

        MUST((frame < info->pool_pages) == in && list->page[i].pool == in,
             "page %u of %u is in frame 0x%llx", i, list->count,
             (unsigned long long)list->page[i].frame);
    }
}

/* Parts of a large page that nothing holds move: it is split. */
static void move_parts(int device, const struct victim *v, uint64_t at, uint64_t pages)
{
    const struct pagectl_info info = pages_info(device);

    victim_ask(v, VICTIM_FILL, at, pages, 8);
    pages_one(device, PAGECTL_QUERY, at + 5 * PAGE, 0, PAGECTL_HUGE);
    in_pool(pages_do(device, PAGECTL_MIGRATE, at + 5 * PAGE, 3, 0), &info, true);
    in_pool(pages_do(device, PAGECTL_QUERY, at + 8 * PAGE, 64, 0), &info, false);
    pages_are(v->pid, at, 5, PAGECTL_CACHED, false);
    MUST(!victim_ask(v, VICTIM_VERIFY, at, pages, 8), "data was lost");
    pages_do(device, PAGECTL_SET, at + 6 * PAGE, 4, pages_policy(0));
    victim_ask(v, VICTIM_FILL, at, pages, 9);
    pages_restore(device);
    in_pool(pages_do(device, PAGECTL_QUERY, at, 64, 0), &info, false);
    pages_are(v->pid, at, 16, PAGECTL_CACHED, false);
    MUST(!victim_ask(v, VICTIM_VERIFY, at, pages, 9), "data was lost");
    MUST(pages_info(device).pool_free == info.pool_free, "frames were not had back");
}

/* pages_huge: a part of a large page is treated as a page, one of hugetlbfs is not */
void check_pages_huge(int argc, char **argv)
{
    (void)argc, (void)argv;
    const uint64_t large = 2u << 20, bytes = 3 * large;
    /* cppcheck-suppress invalidFunctionArg */
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t at = ((uint64_t)(uintptr_t)memory + large - 1) & ~(large - 1);
    struct victim v = victim_make();
    int device = pages_attach(&v), file;
    char *tlb = map_hugetlb(&file);
    struct pagectl_pages *list;
    struct pagectl_page part;

    victim_ask(&v, VICTIM_HUGE, at, 2 * large / PAGE, 0);
    victim_ask(&v, VICTIM_FILL, at, large / PAGE, 7);
    victim_ask(&v, VICTIM_FILL, at + large, large / PAGE, 8);
    /* Its mapping has another flag, and is two now. */
    MUST(pages_expect(device, v.pid) == 0, "EXPECT");
    part = pages_one(device, PAGECTL_QUERY, at + 5 * PAGE, 0, PAGECTL_HUGE);
    MUST(part.policy == PAGECTL_CACHED, "a part of a large page is of policy %u", part.policy);
    list = pages_do(device, PAGECTL_SET, at + 5 * PAGE, 3, pages_policy(0));
    MUST(list->page[0].frame == part.frame && list->page[1].frame == part.frame + 1,
         "frames of a large page");
    MUST(pages_look(v.pid, at + 5 * PAGE).pins > 0, "a part of a large page is not pinned");
    pages_are(v.pid, at + 8 * PAGE, 1, PAGECTL_CACHED, false);
    /* others of it are held */
    if (pages_info(device).moves)
        pages_one(device, PAGECTL_MIGRATE, at + 5 * PAGE, 0, PAGECTL_HUGE);
    MUST(!victim_ask(&v, VICTIM_VERIFY, at, large / PAGE, 7), "data was lost");
    pages_restore(device);
    pages_are(v.pid, at, 16, PAGECTL_CACHED, false);
    if (pages_info(device).moves)
        move_parts(device, &v, at + large, large / PAGE);
    victim_end(&v);

    tlb[0] = 1;
    v = victim_make(); /* has it, too */
    pages_target(device, v.pid);
    MUST(pages_expect(device, v.pid) == 0, "EXPECT");
    pages_one(device, PAGECTL_SET, (uint64_t)(uintptr_t)tlb, 0, PAGECTL_HUGE);
    victim_end(&v);
}

/* ---- the pool ---- */

/* A page that is in the pool for one process is not for another one that has it mapped: it would
   leave the pool with the former. */
static void move_shared(int device, const struct victim *v)
{
    const struct pagectl_info info = pages_info(device);
    pid_t child = (pid_t)victim_ask(v, VICTIM_FORK, 0, 0, 0);
    int other = pages_open();

    in_pool(pages_do(device, PAGECTL_MIGRATE, v->shared, 1, 0), &info, true);
    pages_target(other, child);
    MUST(pages_expect(other, child) == 0, "EXPECT");
    pages_one(other, PAGECTL_MIGRATE, v->shared, 0, PAGECTL_SHARED_PAGE);
    close(other);
    kill(child, SIGKILL);
    in_pool(pages_do(device, PAGECTL_QUERY, v->shared, 1, 0), &info, true);
}

/* pages_move: pages are in the pool, with their data and policy, and elsewhere after that */
void check_pages_move(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct victim v = victim_make(), w;
    int device = pages_attach(&v);
    struct pagectl_info info = pages_info(device);
    uint32_t n = VICTIM_PAGES, policy = pages_policy(0);

    MUST(info.pool_free >= 2 * n + 8 && info.pool_free < 3 * n, "a pool of %llu frames",
         (unsigned long long)info.pool_free);
    victim_ask(&v, VICTIM_FILL, v.anon, n, 1);
    victim_ask(&v, VICTIM_FILL, v.shared, n, 2);
    pages_do(device, PAGECTL_SET, v.anon, n / 2, policy);
    in_pool(pages_do(device, PAGECTL_MIGRATE, v.anon, n, 0), &info, true);
    pages_are(v.pid, v.anon, n / 2, policy, true);
    pages_are(v.pid, v.anon + n / 2 * PAGE, n / 2, PAGECTL_CACHED, false);
    MUST(pages_info(device).pool_free == info.pool_free - n, "frames are not counted");
    in_pool(pages_do(device, PAGECTL_QUERY, v.anon, n, 0), &info, true);
    /* Again is nothing. */
    in_pool(pages_do(device, PAGECTL_MIGRATE, v.anon, n, 0), &info, true);
    in_pool(pages_do(device, PAGECTL_MIGRATE, v.shared, n, 0), &info, true);
    MUST(!victim_ask(&v, VICTIM_VERIFY, v.anon, n, 1), "data was lost");
    victim_ask(&v, VICTIM_FILL, v.anon, n, 3);
    pages_do(device, PAGECTL_MIGRATE, v.data, (uint32_t)pages_info(device).pool_free, 0);
    MUST(pages_info(device).pool_free == 0, "there is room");
    pages_one(device, PAGECTL_MIGRATE, v.data + (n - 1) * PAGE, 0, PAGECTL_NO_ROOM);
    pages_one(device, PAGECTL_MIGRATE, v.guard, 0, PAGECTL_UNMAPPED);
    /* It moves one in its own address space, which is not lost by that. */
    MUST(victim_ask(&v, VICTIM_MOVE, v.anon, 8, v.guard) == 0, "mremap");
    pages_restore(device);
    in_pool(pages_do(device, PAGECTL_QUERY, v.anon + 8 * PAGE, n - 8, 0), &info, false);
    in_pool(pages_do(device, PAGECTL_QUERY, v.guard, 8, 0), &info, false);
    pages_are(v.pid, v.anon + 8 * PAGE, n - 8, PAGECTL_CACHED, false);
    MUST(pages_info(device).pool_free == info.pool_free, "frames were not had back by RESTORE");
    MUST(!victim_ask(&v, VICTIM_VERIFY, v.shared, n, 2), "data was lost");
    MUST(pages_expect(device, v.pid) == 0, "EXPECT");

    /* We run the same code. */
    pages_one(device, PAGECTL_MIGRATE,
              (uint64_t)(uintptr_t)check_pages_move & ~(uint64_t)(PAGE - 1), 0,
              PAGECTL_SHARED_PAGE);
    /* A file's pages move, too; what the kernel holds does not, and keeps its policy. */
    in_pool(pages_do(device, PAGECTL_MIGRATE, v.text, 2, 0), &info, true);
    MUST(victim_ask(&v, VICTIM_GIVE, v.anon + 10 * PAGE, 1, 0) == 0, "vmsplice");
    pages_do(device, PAGECTL_SET, v.anon + 10 * PAGE, 1, policy);
    pages_one(device, PAGECTL_MIGRATE, v.anon + 10 * PAGE, 0, PAGECTL_PINNED);
    pages_are(v.pid, v.anon + 10 * PAGE, 1, policy, true);

    pages_do(device, PAGECTL_MIGRATE, v.anon + 11 * PAGE, 20, 0);
    move_shared(device, &v);
    victim_end(&v);
    w = victim_make();
    pages_target(device, w.pid);
    MUST(pages_info(device).pool_free == info.pool_free, "frames were not had back at its end");
    victim_end(&w);
    note("%llu frames", (unsigned long long)info.pool_free);
}
