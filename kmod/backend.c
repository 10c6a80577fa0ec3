// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which backend fits. A machine may have CPUs of several kinds (big.LITTLE), of which one kind can
 * be read: the first CPU that a backend knows decides, and its geometry is asked of it there.
 */
#include <linux/acpi.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/of.h>
#include <linux/smp.h>

#include "shutter.h"

#if defined(CONFIG_ARM64) || defined(CONFIG_ARM)
#include <asm/cputype.h>
#endif

/* Where it stands in the tree is the board's business: often at the top, often below /firmware. */
static bool psci_by_hvc(void)
{
    static const struct of_device_id versions[] = {{.compatible = "arm,psci"},
                                                   {.compatible = "arm,psci-0.2"},
                                                   {.compatible = "arm,psci-1.0"},
                                                   {}};
    struct device_node *psci = of_find_matching_node(NULL, versions);
    bool hvc = psci && of_property_match_string(psci, "method", "hvc") >= 0;

    of_node_put(psci);
    return hvc;
}

/*
 * A hypervisor may refuse RAMINDEX, and what it refuses is an undefined instruction in the middle
 * of the kernel, with no way back. The firmware's calling convention says so, in the device tree or
 * in ACPI's FADT: hvc goes to a hypervisor, smc to the secure world.
 */
bool backend_below_hypervisor(void)
{
#if defined(CONFIG_ACPI) && defined(CONFIG_ARM64)
    if (!acpi_disabled)
        return acpi_gbl_FADT.arm_boot_flags & ACPI_FADT_PSCI_USE_HVC;
#endif
    return psci_by_hvc();
}

struct probe {
    const struct shutter_backend *backend;
    struct cacheflow_ram *ram;
    u64 cpu_id;
    bool able;
};

static void probe_here(void *arg)
{
    struct probe *probe = arg;

    probe->able = probe->backend->able();
    if (!probe->able)
        return;
    probe->backend->probe(probe->backend, probe->ram);
#if defined(CONFIG_ARM64) || defined(CONFIG_ARM)
    if (probe->backend->part)
        probe->cpu_id = read_cpuid_id();
#endif
}

static bool try_backend(const struct shutter_backend *backend, struct cacheflow_ram *ram,
                        u64 *cpu_id)
{
    struct probe probe = {.backend = backend, .ram = ram};
    unsigned int cpu;

    cpus_read_lock();
    for_each_online_cpu(cpu)
    {
        if (smp_call_function_single(cpu, probe_here, &probe, 1) == 0 && probe.able)
            break;
    }
    cpus_read_unlock();
    *cpu_id = probe.cpu_id;
    return probe.able;
}

/* What a CPU claims of its memories decides how much is read and written: it must make sense. */
static void check_ram(struct cacheflow_ram *ram, u32 id)
{
    if (!(ram->flags & CACHEFLOW_RAM_PRESENT))
        return;
    if (ram->sets == 0 || ram->ways == 0 || ram->ways > 256 || ram->line_size < 64 ||
        ram->sets > SHUTTER_LINES_MAX / ram->ways || (ram->sets & (ram->sets - 1)) ||
        (ram->line_size & (ram->line_size - 1))) {
        pr_warn("cacheflow: memory %u claims %u sets of %u ways of %u bytes: not read\n", id,
                ram->sets, ram->ways, ram->line_size);
        memset(ram, 0, sizeof(*ram));
    }
}

const struct shutter_backend *backend_find(const char *name, bool assume,
                                           struct cacheflow_ram ram[CACHEFLOW_RAMS], u64 *cpu_id)
{
    const struct shutter_backend *found = NULL;
    bool known = !*name;
    u32 i;

#if defined(CONFIG_ARM64) || defined(CONFIG_ARM)
    for (i = 0; i < backend_cortex_count && !found; i++) {
        if (*name && strcmp(name, backend_cortex[i].name) != 0)
            continue;
        known = true;
        if (try_backend(&backend_cortex[i], ram, cpu_id))
            found = &backend_cortex[i];
    }
#endif
    /* The model only where it is asked for: it must not be taken for a cache. */
    if (strcmp(name, backend_model.name) == 0) {
        known = true;
        if (try_backend(&backend_model, ram, cpu_id))
            found = &backend_model;
    }
    if (!known)
        return ERR_PTR(-EINVAL);
    if (!found)
        return ERR_PTR(-ENODEV);

    for (i = 0; i < CACHEFLOW_RAMS; i++) {
        u32 bit = 1u << i;

        if ((found->assumed & bit) && assume)
            ram[i].flags |= CACHEFLOW_RAM_ASSUMED;
        else if (!(found->sure & bit))
            memset(&ram[i], 0, sizeof(ram[i]));
        check_ram(&ram[i], i);
    }
    return found;
}

struct count {
    const struct shutter_backend *backend;
    atomic_t able;
};

static void count_here(void *arg)
{
    struct count *count = arg;

    if (count->backend->able())
        atomic_inc(&count->able);
}

u32 backend_count_able(const struct shutter_backend *backend)
{
    struct count count = {.backend = backend, .able = ATOMIC_INIT(0)};

    on_each_cpu(count_here, &count, 1);
    return (u32)atomic_read(&count.able);
}
