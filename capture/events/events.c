/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c - attributes of events. See events.h.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "capture/events/events.h"
#include "capture/events/names.h"
#include "capture/events/records.h"

enum {
    INTEL_LOADS = 0x1cd,   /* MEM_TRANS_RETIRED.LOAD_LATENCY */
    INTEL_STORES = 0x82d0, /* MEM_INST_RETIRED.ALL_STORES */
    NAMED_PRECISE = 2,     /* where a name asks for none: an address wants it */
    IBS_COUNT_OPS = 1 << 19,
    IBS_STEP = 16,  /* periods of IBS are multiples of it, */
    SPE_STEP = 256, /* and of SPE */
};
/* Formats of arm_spe_0: time stamps, loads, stores. Physical addresses take the rights of root. */
static const uint64_t spe = 1ull << 0 | 1ull << 33 | 1ull << 34;

static const uint64_t sampled_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                     PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU;

enum cf_perf_vendor cf_perf_vendor(void)
{
#if defined(__x86_64__)
    unsigned a, b = 0, c, d;

    (void)__get_cpuid(0, &a, &b, &c, &d);
    return b == signature_INTEL_ebx ? CF_PERF_INTEL
           : b == signature_AMD_ebx ? CF_PERF_AMD
                                    : CF_PERF_OTHER;
#elif defined(__aarch64__)
    return CF_PERF_ARM;
#else
    return CF_PERF_OTHER;
#endif
}

static uint32_t type_of(const char *pmu)
{
    char path[128];
    unsigned type;
    FILE *f;
    int n;

    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", pmu);
    f = fopen(path, "r");
    n = f ? fscanf(f, "%u", &type) : 0;
    if (f)
        fclose(f);
    return n == 1 ? type : UINT32_MAX;
}

static void common(struct perf_event_attr *a)
{
    memset(a, 0, sizeof *a);
    a->size = sizeof *a;
    a->sample_type = sampled_type;
    a->disabled = 1;
    a->exclude_kernel = 1;
    a->exclude_hv = 1;
    a->sample_id_all = 1;
    a->read_format = PERF_FORMAT_LOST;
    a->use_clockid = 1;
    a->clockid = CLOCK_MONOTONIC;
}

static void sampled(struct cf_perf_event *e, enum cf_perf_kind kind, const char *name,
                    uint64_t period)
{
    *e = (struct cf_perf_event){.kind = kind, .name = name, .step = 1};
    common(&e->attr);
    e->attr.type = PERF_TYPE_RAW;
    e->attr.inherit = 1;
    e->attr.sample_period = period;
    e->attr.sample_type |= PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT;
}

unsigned cf_perf_sampled(enum cf_perf_vendor v, uint64_t loads, uint64_t stores,
                         struct cf_perf_event *e)
{
    switch (v) {
    case CF_PERF_INTEL:
        sampled(&e[0], CF_PERF_LOADS, "loads", loads);
        e[0].attr.config = INTEL_LOADS;
        e[0].attr.config1 = 3; /* loads of 3 cycles and more: all */
        e[0].attr.precise_ip = 3;
        sampled(&e[1], CF_PERF_STORES, "stores", stores);
        e[1].attr.config = INTEL_STORES;
        e[1].attr.precise_ip = 1;
        return 2;
    case CF_PERF_AMD:
        sampled(&e[0], CF_PERF_BOTH, "loads-and-stores", loads / IBS_STEP * IBS_STEP);
        e[0].pmu = "ibs_op";
        e[0].step = IBS_STEP;
        e[0].attr.config = IBS_COUNT_OPS;
        e[0].attr.exclude_kernel = e[0].attr.exclude_hv = 0; /* IBS cannot */
        break;
    case CF_PERF_ARM:
        sampled(&e[0], CF_PERF_BOTH, "loads-and-stores",
                loads < SPE_STEP ? SPE_STEP : loads / SPE_STEP * SPE_STEP);
        e[0].pmu = "arm_spe_0";
        e[0].step = SPE_STEP;
        e[0].traced = 1;
        e[0].attr.config = spe;
        break;
    default:
        return 0;
    }
    e[0].attr.type = type_of(e[0].pmu);
    return 1;
}

static int name_event(struct cf_perf_event *e, const char *name, char *why, size_t size)
{
    struct cf_perf_name is;

    if (cf_perf_name(name, &is, why, size) != 0)
        return -1;
    e->attr.type = is.type;
    e->attr.config = is.config;
    e->attr.config1 = is.config1;
    e->attr.config2 = is.config2;
    e->attr.precise_ip = is.precise_ip ? is.precise_ip & 3 : NAMED_PRECISE;
    return 0;
}

int cf_perf_named(const char *names, uint64_t loads, uint64_t stores, struct cf_perf_event *e,
                  char *why, size_t size)
{
    const char *comma = strchr(names, ',');
    char first[256];

    snprintf(first, sizeof first, "%.*s", comma ? (int)(comma - names) : 255, names);
    sampled(&e[0], CF_PERF_LOADS, "loads", loads);
    sampled(&e[1], CF_PERF_STORES, "stores", stores);
    if (name_event(&e[0], first, why, size) != 0 ||
        (comma && name_event(&e[1], comma + 1, why, size) != 0))
        return -1;
    return comma ? 2 : 1;
}

void cf_perf_faults(struct cf_perf_event *e)
{
    sampled(e, CF_PERF_FAULTS, "page-faults", 1);
    e->attr.type = PERF_TYPE_SOFTWARE;
    e->attr.config = PERF_COUNT_SW_PAGE_FAULTS;
    e->attr.sample_type = sampled_type | PERF_SAMPLE_REGS_USER;
    e->attr.sample_regs_user = CF_RECORD_REGISTERS;
}

void cf_perf_track(struct perf_event_attr *a)
{
    common(a);
    a->type = PERF_TYPE_SOFTWARE;
    a->config = PERF_COUNT_SW_DUMMY;
    a->inherit = 1;
    a->mmap = a->mmap2 = a->mmap_data = a->comm = a->comm_exec = a->task = 1;
    a->sample_period = 1;
}

void cf_perf_breakpoint(struct perf_event_attr *a, uint64_t addr)
{
    common(a);
    a->type = PERF_TYPE_BREAKPOINT;
    a->bp_type = HW_BREAKPOINT_X;
    a->bp_addr = addr;
    a->bp_len = sizeof(long);
    a->sample_period = 1;
    a->sample_type = sampled_type | PERF_SAMPLE_REGS_USER;
    a->sample_regs_user = CF_RECORD_REGISTERS;
}

uint64_t cf_perf_jitter(const struct cf_perf_event *e, unsigned percent, uint64_t *seed)
{
    const uint64_t period = e->attr.sample_period, reach = period * percent / 100;
    uint64_t drawn;

    if (!reach)
        return period;
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    drawn = period - reach + (*seed >> 33) % (2 * reach + 1);
    return drawn < e->step ? e->step : drawn / e->step * e->step;
}

void cf_perf_print(FILE *out, const struct cf_perf_event *e)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } bits[] = {
        {PERF_SAMPLE_IDENTIFIER, "IDENTIFIER"},
        {PERF_SAMPLE_IP, "IP"},
        {PERF_SAMPLE_TID, "TID"},
        {PERF_SAMPLE_TIME, "TIME"},
        {PERF_SAMPLE_ADDR, "ADDR"},
        {PERF_SAMPLE_CPU, "CPU"},
        {PERF_SAMPLE_REGS_USER, "REGS_USER"},
        {PERF_SAMPLE_WEIGHT, "WEIGHT"},
        {PERF_SAMPLE_DATA_SRC, "DATA_SRC"},
    };
    const struct perf_event_attr *a = &e->attr;
    const char *between = "";

    fprintf(out, "%s: ", e->name);
    if (e->pmu)
        fprintf(out, "type=%s", e->pmu);
    else
        fprintf(out, "type=%u", a->type);
    fprintf(out, " config=0x%llx config1=0x%llx sample_period=%llu precise_ip=%u sample_type=",
            (unsigned long long)a->config, (unsigned long long)a->config1,
            (unsigned long long)a->sample_period, (unsigned)a->precise_ip);
    for (unsigned i = 0; i < sizeof bits / sizeof *bits; i++)
        if (a->sample_type & bits[i].bit) {
            fprintf(out, "%s%s", between, bits[i].name);
            between = "|";
        }
    fprintf(out, " inherit=%u exclude_kernel=%u\n", (unsigned)a->inherit,
            (unsigned)a->exclude_kernel);
}

int cf_perf_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    const long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd >= 0 || errno != EINVAL || !(attr->read_format & PERF_FORMAT_LOST))
        return (int)fd;
    attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST; /* Linux has it since 6.0 */
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int setting(const char *name)
{
    char path[128];
    int value = -1;
    FILE *f;

    snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
    f = fopen(path, "r");
    if (f && fscanf(f, "%d", &value) != 1)
        value = -1;
    if (f)
        fclose(f);
    return value;
}

const char *cf_perf_why(int error, char *text, size_t size)
{
    switch (error) {
    case ENOSYS:
        return "the kernel has no perf_event_open: it was built without it, or a container forbids "
               "it";
    case EACCES:
    case EPERM:
        snprintf(text, size,
                 "perf_event_open is not permitted (kernel.perf_event_paranoid is %d, "
                 "kernel.yama.ptrace_scope is %d): set perf_event_paranoid to 2 or less and, for "
                 "--pid, ptrace_scope to 0, or run as root",
                 setting("perf_event_paranoid"), setting("yama/ptrace_scope"));
        return text;
    case ENOBUFS:
        snprintf(text, size,
                 "the rings take more memory than a user may lock (kernel.perf_event_mlock_kb is "
                 "%d a CPU, 'ulimit -l' comes on top): raise these, have smaller rings by --buffer "
                 "or --fine, or run as root",
                 setting("perf_event_mlock_kb"));
        return text;
    case EMFILE:
        return "too many open files: raise 'ulimit -n'";
    case ENOENT:
    case EOPNOTSUPP:
        return "neither this processor nor, in a virtual machine, its host counts that";
    case ENOSPC:
        return "the breakpoints of this machine are taken, by a debugger perhaps";
    default:
        snprintf(text, size, "perf_event_open: %s", strerror(error));
        return text;
    }
}
