/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap blocks, by the replacements of malloc and its kin, and the call stacks that made them. They
 * are recorded even while --function keeps accesses off.
 */
#include "tool.h"

#include "pub_tool_replacemalloc.h"
#include "pub_tool_stacktrace.h"

enum {
    MAX_DEPTH = 64,      /* see the option --stack-depth */
    BIG_BLOCK = 1 << 20, /* Valgrind's allocator gives areas of such blocks back to the kernel */
};

/* Call stacks: nodes of a calling-context tree, found again by two hash tables. */

struct context {
    Addr pc;
    UInt parent;
};
static struct context *contexts; /* [0] is the root */
static UInt n_contexts = 1, contexts_room;
static UInt first_context = 1; /* those before are of code that is not there any more */
static UInt *node_table;       /* by (parent, pc): index, 0 free */
static UInt node_mask;

#define STACK_CACHE 4096
static struct {
    ULong hash; /* of the whole stack */
    UInt leaf;
} stack_cache[STACK_CACHE];

UInt cf_heap_contexts(void)
{
    return n_contexts;
}

void cf_heap_code_gone(void)
{
    if (first_context == n_contexts)
        return;
    first_context = n_contexts;
    VG_(memset)(node_table, 0, (node_mask + 1) * sizeof *node_table);
    VG_(memset)(stack_cache, 0, sizeof stack_cache);
}

static UInt hash_node(UInt parent, Addr pc)
{
    ULong h = (pc ^ (ULong)parent << 40 ^ parent) * 0x9e3779b97f4a7c15ULL;

    return (UInt)(h >> 32);
}

static void grow_nodes(void)
{
    UInt i;

    contexts_room = contexts_room ? 2 * contexts_room : 4096;
    contexts = VG_(realloc)("cftrace.contexts", contexts, contexts_room * sizeof *contexts);
    VG_(free)(node_table);
    node_mask = 2 * contexts_room - 1;
    node_table = VG_(calloc)("cftrace.contexts", node_mask + 1, sizeof *node_table);
    for (i = first_context; i < n_contexts; i++) {
        UInt h = hash_node(contexts[i].parent, contexts[i].pc) & node_mask;

        while (node_table[h])
            h = (h + 1) & node_mask;
        node_table[h] = i;
    }
}

static UInt find_node(UInt parent, Addr pc)
{
    struct cf_wire_context wire = {.parent = parent, .pc = pc};
    UInt h;

    if (n_contexts >= contexts_room)
        grow_nodes();
    for (h = hash_node(parent, pc) & node_mask; node_table[h]; h = (h + 1) & node_mask) {
        UInt i = node_table[h];

        if (contexts[i].parent == parent && contexts[i].pc == pc)
            return i;
    }
    wire.id = n_contexts++;
    contexts[wire.id].parent = parent;
    contexts[wire.id].pc = pc;
    node_table[h] = wire.id;
    cf_transport_put(CF_WIRE_CONTEXT, &wire, sizeof wire, "");
    return wire.id;
}

/* Whether pc is in a replacement of an allocation function: they are left out of the recording. */
static Bool is_replacement(Addr pc)
{
    const NSegment *s = VG_(am_find_nsegment)(pc);
    const HChar *name = s && s->kind == SkFileC ? VG_(am_get_filename)(s) : NULL;

    return name && VG_(strstr)(name, "/vgpreload_");
}

static UInt call_stack(ThreadId tid)
{
    Addr ips[MAX_DEPTH + 2];
    UInt n, i, first, node = 0, slot;
    ULong h = 1;

    if (cf_tool_options.stack_depth == 0)
        return 0;
    /* [0] is inside the replacement of malloc, and so is [1] where one calls another, as
       posix_memalign() does; the others are the last byte of a call. */
    n = VG_(get_StackTrace)(tid, ips, cf_tool_options.stack_depth + 2, NULL, NULL, 0);
    for (i = 1; i < n; i++) {
        h = (h ^ ips[i]) * 0x9e3779b97f4a7c15ULL;
        h ^= h >> 29;
    }
    slot = h % STACK_CACHE;
    if (stack_cache[slot].leaf && stack_cache[slot].hash == h)
        return stack_cache[slot].leaf;
    first = n > 1 && is_replacement(ips[1]) ? 2 : 1;
    /* Where the outermost function has no unwind information, what seems to call it is none. */
    for (i = first; i < n && i - first < (UInt)cf_tool_options.stack_depth; i++)
        if (!cf_events_is_code(ips[i]))
            break;
    while (i-- > first)
        node = find_node(node, ips[i] + 1);
    stack_cache[slot].hash = h;
    stack_cache[slot].leaf = node;
    return node;
}

/* Heap blocks: an open-addressing table, so that a wild free() does no harm. */

struct heap_block {
    Addr addr; /* 0: free entry */
    SizeT size;
    UInt context;
    UInt serial; /* tells it from others that are there before and after */
};
static struct heap_block *heap_blocks;
static UWord heap_mask, n_heap_blocks;
static UInt serials;

static UWord hash_block(Addr addr)
{
    return (addr >> 4) * 0x9e3779b97f4a7c15ULL >> 24;
}

static struct heap_block *find_block(Addr addr)
{
    UWord h;

    if (!heap_blocks)
        return NULL;
    for (h = hash_block(addr) & heap_mask; heap_blocks[h].addr; h = (h + 1) & heap_mask)
        if (heap_blocks[h].addr == addr)
            return &heap_blocks[h];
    return NULL;
}

static void insert_block(struct heap_block block)
{
    UWord h;

    if (2 * (n_heap_blocks + 1) > heap_mask + (heap_blocks ? 1 : 0)) {
        struct heap_block *old = heap_blocks;
        UWord entries = old ? heap_mask + 1 : 0, i;

        heap_mask = old ? 2 * entries - 1 : 4095;
        heap_blocks = cf_tool_pages((heap_mask + 1) * sizeof *heap_blocks);
        n_heap_blocks = 0;
        for (i = 0; i < entries; i++)
            if (old[i].addr)
                insert_block(old[i]);
        if (old)
            VG_(am_munmap_valgrind)((Addr)old, entries * sizeof *old);
    }
    for (h = hash_block(block.addr) & heap_mask; heap_blocks[h].addr; h = (h + 1) & heap_mask)
        ;
    heap_blocks[h] = block;
    n_heap_blocks++;
}

static void remove_block(struct heap_block *b)
{
    UWord hole = b - heap_blocks, h = hole;

    n_heap_blocks--;
    for (;;) {
        UWord home;

        h = (h + 1) & heap_mask;
        if (!heap_blocks[h].addr)
            break;
        home = hash_block(heap_blocks[h].addr) & heap_mask;
        if (((h - home) & heap_mask) >= ((h - hole) & heap_mask)) {
            heap_blocks[hole] = heap_blocks[h];
            hole = h;
        }
    }
    heap_blocks[hole].addr = 0;
}

static void emit_object(UInt type, Addr addr, SizeT size, UInt context)
{
    struct cf_wire_object object = {.addr = addr, .size = size, .context = context};

    cf_transport_put(type, &object, sizeof object, "");
}

UInt cf_heap_stack(ThreadId tid)
{
    return cf_tool_recording ? call_stack(tid) : 0;
}

UInt cf_heap_serial(Addr block)
{
    const struct heap_block *b = find_block(block);

    return b ? b->serial : 0;
}

void cf_heap_obtained(Addr block, SizeT size, UInt context)
{
    if (!++serials)
        serials = 1;
    cf_heap_released(block); /* if nobody said so */
    if (cf_tool_recording)
        emit_object(CF_WIRE_ALLOC, block, size, context);
    insert_block((struct heap_block){block, size, context, serials});
}

SizeT cf_heap_released(Addr block)
{
    struct heap_block *b = find_block(block);
    SizeT size;

    if (!b)
        return 0;
    size = b->size;
    if (cf_tool_recording)
        emit_object(CF_WIRE_FREE, block, size, b->context);
    remove_block(b);
    return size;
}

static void *allocated(ThreadId tid, void *p, SizeT size)
{
    if (!p)
        return NULL;
    if (cf_tool_recording)
        cf_events_heap_block((Addr)p, size);
    cf_heap_obtained((Addr)p, size, cf_heap_stack(tid));
    return p;
}

static Bool too_big(SizeT n)
{
    return (Word)n < 0;
}

static void *tool_malloc(ThreadId tid, SizeT n)
{
    return too_big(n) ? NULL : allocated(tid, VG_(cli_malloc)(VG_(clo_alignment), n), n);
}

static void *aligned(ThreadId tid, SizeT align, SizeT n)
{
    return too_big(n) ? NULL : allocated(tid, VG_(cli_malloc)(align, n), n);
}

/* From Valgrind 3.22 on the alignment comes twice: made fit, and as the program asked for it. */
#if CF_TOOL_SINCE(22)
#define AND_ASKED , SizeT asked
#else
#define AND_ASKED
#endif

static void *tool_memalign(ThreadId tid, SizeT align AND_ASKED, SizeT n)
{
    return aligned(tid, align, n);
}

static void *tool_new_aligned(ThreadId tid, SizeT n, SizeT align AND_ASKED)
{
    return aligned(tid, align, n);
}

static void *tool_calloc(ThreadId tid, SizeT count, SizeT size)
{
    SizeT n;
    void *p;

    if (__builtin_mul_overflow(count, size, &n) || too_big(n))
        return NULL;
    p = VG_(cli_malloc)(VG_(clo_alignment), n);
    if (p)
        VG_(memset)(p, 0, n);
    return allocated(tid, p, n);
}

static void tool_free(ThreadId tid, void *p)
{
    SizeT size;

    (void)tid;
    if (!find_block((Addr)p))
        return;
    size = cf_heap_released((Addr)p);
    VG_(cli_free)(p);
    if (cf_tool_recording && size >= BIG_BLOCK)
        cf_events_heap_released((Addr)p);
}

static void tool_free_aligned(ThreadId tid, void *p, SizeT align)
{
    (void)align;
    tool_free(tid, p);
}

static void *tool_realloc(ThreadId tid, void *p, SizeT n)
{
    SizeT size;
    void *q = p;

    if (!p)
        return tool_malloc(tid, n);
    if (!find_block((Addr)p) || too_big(n))
        return NULL;
    /* Valgrind's own realloc writes to address 0 where there is no memory. */
    if (VG_(cli_malloc_usable_size)(p) < n) {
        q = VG_(cli_malloc)(VG_(clo_alignment), n);
        if (!q)
            return NULL;
    }
    size = cf_heap_released((Addr)p);
    if (q != p) {
        VG_(memcpy)(q, p, size);
        VG_(cli_free)(p);
        if (cf_tool_recording && size >= BIG_BLOCK)
            cf_events_heap_released((Addr)p);
    }
    return allocated(tid, q, n);
}

static SizeT tool_usable_size(ThreadId tid, void *p)
{
    (void)tid;
    return find_block((Addr)p) ? VG_(cli_malloc_usable_size)(p) : 0;
}

void cf_heap_announce(void)
{
    UWord h;

    for (h = 0; heap_blocks && h <= heap_mask; h++)
        if (heap_blocks[h].addr)
            emit_object(CF_WIRE_ALLOC, heap_blocks[h].addr, heap_blocks[h].size,
                        heap_blocks[h].context);
}

void cf_heap_track(void)
{
    VG_(needs_malloc_replacement)
    (tool_malloc, tool_malloc, tool_new_aligned, tool_malloc, tool_new_aligned, tool_memalign,
     tool_calloc, tool_free, tool_free, tool_free_aligned, tool_free, tool_free_aligned,
     tool_realloc, tool_usable_size, 0);
}
