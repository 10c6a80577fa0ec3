/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_parts FILE SEED SEGMENTS FRAMES [sampled | all]: a packed file of random accesses, with all
 * columns that filters add, in so many segments of so many small frames of accesses, with rows of
 * the other tables between them, for cf-cat.bats and partial.bats. With `sampled`, distances stand
 * for more than one access, or are of lines that are not in the sample; with `all`, accesses have
 * no weight, and are no samples. Processes begin, threads
 * get names, objects come, go and come again at the same address, and strings are defined when
 * they are first used.
 *
 * Frames of a file have half a million rows; here each ends since the next has another column.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/stream/cf.h"

enum { MOST_ROWS = 300, OBJECTS = 40, PROCESSES = 3 };

static uint64_t state;

static uint32_t upto(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % n);
}

static struct cf_writer *w;
static uint64_t now;
static int sampled, all;
static uint32_t nodes[PROCESSES], objects;
static uint32_t object_of[OBJECTS]; /* number of the object that lives there; 0: none */

static uint32_t word(const char *kind, uint32_t n)
{
    char text[64];

    snprintf(text, sizeof(text), "%s %u", kind, n);
    return n ? cf_writer_string(w, text) : 0;
}

static void must(int failed)
{
    if (!failed)
        return;
    fprintf(stderr, "make_parts: %s\n", cf_writer_problem(w));
    exit(3);
}

static void put_task(uint32_t pid, uint32_t tid, enum cf_op op, uint32_t label)
{
    const struct cf_values row[] = {{CF_TIME, NULL, now}, {CF_PID, NULL, pid},
                                    {CF_TID, NULL, tid},  {CF_PARENT, NULL, 0},
                                    {CF_OP, NULL, op},    {CF_LABEL, NULL, word("name", label)}};

    must(cf_writer_rows(w, CF_TASK, 1, row, 6, NULL));
}

static void put_state(void)
{
    const uint32_t place = upto(OBJECTS), pid = 100 + place % PROCESSES;
    uint32_t *const last = &nodes[place % PROCESSES];
    const uint32_t stack = *last + 1, parent = upto(stack);
    const struct cf_values node[] = {{CF_PID, NULL, pid},
                                     {CF_STACK_ID, NULL, stack},
                                     {CF_PARENT, NULL, parent},
                                     {CF_PC, NULL, 0x400000 + upto(5000)}};
    const struct cf_values object[] = {
        {CF_TIME, NULL, now},
        {CF_PID, NULL, pid},
        {CF_TID, NULL, pid},
        {CF_OP, NULL, object_of[place] ? CF_FREE : CF_ALLOC},
        {CF_ADDR, NULL, 0x10000 + 0x400 * place},
        {CF_BYTES, NULL, 16 + upto(900)},
        {CF_STACK_ID, NULL, stack},
        {CF_OBJ, NULL, object_of[place] ? object_of[place] : objects + 1},
        {CF_SITE, NULL, word("site", upto(9))}};
    const struct cf_values map[] = {{CF_TIME, NULL, now},
                                    {CF_PID, NULL, pid},
                                    {CF_OP, NULL, upto(3) ? CF_MAPPED : CF_UNMAPPED},
                                    {CF_START, NULL, 0x100000 * upto(9)},
                                    {CF_STOP, NULL, 0x1000000},
                                    {CF_OFFSET, NULL, 0},
                                    {CF_PERMS, NULL, 3},
                                    {CF_LABEL, NULL, word("region", upto(9))}};
    const struct cf_values lost[] = {{CF_TIME, NULL, now}, {CF_COUNT, NULL, 1 + upto(9)}};
    const struct cf_values hidden[] = {{CF_TIME, NULL, now}, {CF_OP, NULL, CF_LOAD}};
    const struct cf_values run[] = {{CF_TIME, NULL, now},
                                    {CF_PID, NULL, pid},
                                    {CF_TID, NULL, pid + upto(3)},
                                    {CF_CPU, NULL, upto(2)},
                                    {CF_COUNT, NULL, now}};

    must(cf_writer_rows(w, CF_STACK, 1, node, 4, NULL));
    *last = stack;
    must(cf_writer_rows(w, CF_OBJECT, 1, object, 9, NULL));
    object_of[place] = object_of[place] ? 0 : ++objects;
    must(cf_writer_rows(w, CF_SWITCH, 1, run, 5, NULL));
    if (upto(3) == 0)
        must(cf_writer_rows(w, CF_MAP, 1, map, 8, NULL));
    if (upto(5) == 0)
        must(cf_writer_rows(w, CF_LOST, 1, lost, 2, NULL));
    if (upto(4) == 0)
        must(cf_writer_rows(w, CF_UNPLACED, 1, hidden, 2, NULL));
    if (upto(3) == 0)
        put_task(pid, pid + upto(3), upto(4) ? CF_NAMED : CF_BEGIN, 1 + upto(12));
}

struct row {
    uint64_t time[MOST_ROWS], addr[MOST_ROWS], pc[MOST_ROWS], dist[MOST_ROWS], weight[MOST_ROWS];
    uint32_t cpu[MOST_ROWS], pid[MOST_ROWS], tid[MOST_ROWS], size[MOST_ROWS], insns[MOST_ROWS],
        cost[MOST_ROWS], region[MOST_ROWS], page[MOST_ROWS], object[MOST_ROWS], site[MOST_ROWS],
        function[MOST_ROWS], source[MOST_ROWS], symbol[MOST_ROWS], stack[MOST_ROWS];
    double stands_for[MOST_ROWS];
    uint8_t op[MOST_ROWS], hit[MOST_ROWS], class[MOST_ROWS];
};

static void fill_row(struct row *r, uint32_t i)
{
    static const uint8_t level[] = {1, 1, 1, 1, 1, 2, 2, 3, CF_FROM_MEMORY};
    const uint32_t place = upto(OBJECTS);

    r->time[i] = now += upto(4);
    r->addr[i] = upto(3) ? 0x10000 + 0x400 * place + upto(0x400) : 0x800000 + 8 * upto(5000);
    r->pc[i] = 0x400000 + upto(5000);
    r->dist[i] = upto(9) ? upto(600) : CF_DIST_COMPULSORY - upto(sampled ? 4 : 3);
    if (sampled) {
        r->dist[i] = upto(2) ? CF_DIST_UNSAMPLED : r->dist[i];
        r->stands_for[i] = 1 + upto(1000) / 300.0;
    }
    r->weight[i] = 1 + upto(3);
    r->cpu[i] = upto(2);
    r->pid[i] = 100 + place % PROCESSES;
    r->tid[i] = r->pid[i] + upto(3);
    r->op[i] = (uint8_t)(1 + upto(5));
    r->insns[i] = r->op[i] == CF_IFETCH ? 1 + upto(5) : 0;
    r->size[i] = 1u << upto(7);
    r->hit[i] = level[upto(sizeof(level))];
    r->class[i] = r->hit[i] == 1 ? 0 : (uint8_t)(1 + upto(5));
    r->cost[i] = 4 * r->hit[i];
    r->region[i] = word("region", upto(9));
    r->page[i] = upto(20);
    r->object[i] = object_of[place];
    r->site[i] = word("site", upto(9));
    r->function[i] = word("function", upto(30) + (uint32_t)(now / 5000));
    r->source[i] = word("source", upto(60));
    r->symbol[i] = word("symbol", upto(5));
    r->stack[i] = upto(nodes[place % PROCESSES] + 1);
}

static void put_accesses(int wider)
{
    static struct row r;
    struct cf_values column[] = {
        {CF_TIME, r.time, 0},      {CF_PID, r.pid, 0},
        {CF_TID, r.tid, 0},        {CF_OP, r.op, 0},
        {CF_SIZE, r.size, 0},      {CF_ADDR, r.addr, 0},
        {CF_PC, r.pc, 0},          {CF_INSNS, r.insns, 0},
        {CF_STACK_ID, r.stack, 0}, {CF_HIT, r.hit, 0},
        {CF_CLASS, r.class, 0},    {CF_COST, r.cost, 0},
        {CF_DIST, r.dist, 0},      {CF_REGION, r.region, 0},
        {CF_PAGENO, r.page, 0},    {CF_OBJ, r.object, 0},
        {CF_SITE, r.site, 0},      {CF_FUNCTION, r.function, 0},
        {CF_SOURCE, r.source, 0},  {CF_SYMBOL, r.symbol, 0},
        {CF_WEIGHT, r.weight, 0},  {CF_DIST_WEIGHT, r.stands_for, 0},
        {CF_CPU, r.cpu, 0},
    };
    const uint32_t rows = 1 + upto(MOST_ROWS), columns = sizeof(column) / sizeof(*column);
    const uint32_t left_out = all ? 2 : !sampled;

    column[columns - 1 - left_out] = column[columns - 1];
    for (uint32_t i = 0; i < rows; i++)
        fill_row(&r, i);
    must(cf_writer_rows(w, CF_ACCESS, rows, column, columns - left_out - !wider, NULL));
}

int main(int argc, char **argv)
{
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .source = (char *)"make_parts",
                                     .command = (char *)"none",
                                     .line_size = 64};
    char problem[256];

    sampled = argc == 6 && !strcmp(argv[5], "sampled");
    all = argc == 6 && !strcmp(argv[5], "all");
    if (argc != 5 + sampled + all)
        return 2;
    state = UINT64_C(0x9e3779b97f4a7c15) * (strtoull(argv[2], NULL, 10) + 1);
    w = cf_writer_open(argv[1], "make_parts");
    if (!w)
        return 3;
    for (long segment = strtol(argv[3], NULL, 10); segment > 0; segment--) {
        must(cf_writer_header(w, &header));
        for (uint32_t i = 0; i < PROCESSES; i++)
            nodes[i] = 0;
        for (uint32_t i = 0; i < OBJECTS; i++)
            object_of[i] = 0;
        for (uint32_t i = 0; i < PROCESSES; i++)
            put_task(100 + i, 100 + i, CF_BEGIN, 1 + i);
        for (long frame = strtol(argv[4], NULL, 10); frame > 0; frame--) {
            for (uint32_t n = upto(4); n > 0; n--)
                put_state();
            put_accesses(frame & 1);
        }
        put_state();
    }
    if (cf_writer_close(w, 1, problem, sizeof(problem)) == 0)
        return 0;
    fprintf(stderr, "make_parts: %s\n", problem);
    return 3;
}
