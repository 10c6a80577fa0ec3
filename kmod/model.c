// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The backend "model": no cache at all, but a table in memory that another module may write
 * (cacheflow_model_tags) and that is read as if it were a tag memory of the second level. It lets
 * everything else of this module, and the programs that use it, run on machines whose caches cannot
 * be read, such as x86. It has to be asked for (backend=model) and is empty at first.
 *
 * An entry is 0 when not valid, else the line's physical address / 64 in bits 63:8 and its state
 * (CACHEFLOW_M and so on) in bits 7:0.
 */
#include <linux/vmalloc.h>

#include "shutter.h"

unsigned int cacheflow_model_sets = 2048;
module_param_named(model_sets, cacheflow_model_sets, uint, 0444);
MODULE_PARM_DESC(model_sets, "sets of backend=model, a power of two [2048]");

unsigned int cacheflow_model_ways = 16;
module_param_named(model_ways, cacheflow_model_ways, uint, 0444);
MODULE_PARM_DESC(model_ways, "ways of backend=model [16]");

/* By set and then by way; NULL with other backends. Exported for the module that fills it. */
u64 *cacheflow_model_tags;
EXPORT_SYMBOL_GPL(cacheflow_model_tags);
EXPORT_SYMBOL_GPL(cacheflow_model_sets);
EXPORT_SYMBOL_GPL(cacheflow_model_ways);

static bool model_able(void)
{
    return true;
}

static void model_probe(const struct shutter_backend *backend, struct cacheflow_ram *ram)
{
    ram[CACHEFLOW_L2_TAG] = (struct cacheflow_ram){.flags = CACHEFLOW_RAM_PRESENT,
                                                   .level = 2,
                                                   .sets = cacheflow_model_sets,
                                                   .ways = cacheflow_model_ways,
                                                   .line_size = 64};
}

static bool model_entry(u32 ram, const struct cacheflow_ram *geometry, u32 set, u32 way,
                        struct cacheflow_line *line)
{
    u64 tag = READ_ONCE(cacheflow_model_tags[set * geometry->ways + way]);

    if (!tag)
        return false;
    shutter_set_line(line, (tag >> 8) << 6, (u8)tag);
    return true;
}

int model_make(void)
{
    if (cacheflow_model_sets == 0 || cacheflow_model_ways == 0 || cacheflow_model_ways > 256 ||
        (cacheflow_model_sets & (cacheflow_model_sets - 1)) ||
        cacheflow_model_sets > SHUTTER_LINES_MAX / cacheflow_model_ways)
        return -EINVAL;
    cacheflow_model_tags =
        vzalloc((size_t)cacheflow_model_sets * cacheflow_model_ways * sizeof(u64));
    if (!cacheflow_model_tags)
        return -ENOMEM;
    return 0;
}

void model_free(void)
{
    vfree(cacheflow_model_tags);
    cacheflow_model_tags = NULL;
}

const struct shutter_backend backend_model = {
    .name = "model",
    .able = model_able,
    .probe = model_probe,
    .entry = model_entry,
    .sure = 1u << CACHEFLOW_L2_TAG,
};
