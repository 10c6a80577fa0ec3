/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_queue.c - the queue against a search of all that wait, over random puts, counts and turns.
 */
#include "formats/base/cf_queue.h"
#include "tests/unit/tap.h"

enum { NUMBERS = 300, STEPS = 200000 };

static uint64_t count[NUMBERS];
static int waits[NUMBERS];

static uint64_t draw(void)
{
    static uint64_t state = 7;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static uint32_t best(void)
{
    uint32_t is = NUMBERS;

    for (uint32_t i = 0; i < NUMBERS; i++)
        if (waits[i] && (is == NUMBERS || count[i] > count[is]))
            is = i;
    return is;
}

int main(void)
{
    struct cf_queue q = {0};
    uint32_t waiting = 0, most = 0;
    unsigned wrong = 0, turns = 0;

    cf_queue_more(&q, 5, 9); /* does not wait: nothing happens */
    is_u64(q.waiting, 0, "a count alone queues nothing");
    for (unsigned i = 0; i < STEPS; i++) {
        const uint32_t n = (uint32_t)(draw() % NUMBERS);

        if (waiting && draw() % 4 == 0) {
            const uint32_t first = best();

            wrong += cf_queue_take(&q) != first;
            waits[first] = 0;
            waiting--;
            turns++;
        } else {
            count[n] += draw() % 4;
            cf_queue_more(&q, n, count[n]);
            if (!waits[n] && draw() % 2) {
                wrong += cf_queue_put(&q, n, count[n]) != 0;
                waits[n] = 1;
                waiting++;
            }
        }
        wrong += q.waiting != waiting;
        most = waiting > most ? waiting : most;
    }
    ok(turns > STEPS / 10 && most > 100, "%u turns, up to %u wait", turns, most);
    is_u64(wrong, 0, "each turn is that of the highest count, then of the lowest number");
    cf_queue_free(&q);
    return done();
}
