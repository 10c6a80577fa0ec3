/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fits: a small program whose code and data fit into LEON's first-level caches of 16 KiB, as the
 * second test case of the LEON4 profiling tool's paper: every miss is cold, a first touch or the
 * first load of a line that was only stored to, since stores do not allocate. It multiplies two
 * matrices, sorts, sums up bytes and computes a CRC, so that loops, calls, loads of all widths and
 * multiplications occur. The result is left in `result`.
 */
#include <stdint.h>

enum { N = 10, KEYS = 24, TEXT = 200 };

static int32_t a[N][N], b[N][N], c[N][N];
static uint16_t keys[KEYS];
static uint8_t text[TEXT];
volatile uint32_t result;

static uint32_t state = 1;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static __attribute__((noinline)) void fill(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            a[i][k] = (int32_t)(next() & 0xff) - 128;
            b[i][k] = (int32_t)(next() & 0xff) - 128;
        }
    for (int i = 0; i < KEYS; i++)
        keys[i] = (uint16_t)next();
    for (int i = 0; i < TEXT; i++)
        text[i] = (uint8_t)next();
}

static __attribute__((noinline)) void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            int32_t sum = 0;

            for (int j = 0; j < N; j++)
                sum += a[i][j] * b[j][k];
            c[i][k] = sum;
        }
}

static __attribute__((noinline)) void sort(void)
{
    for (int i = 1; i < KEYS; i++) {
        const uint16_t key = keys[i];
        int k = i;

        for (; k > 0 && keys[k - 1] > key; k--)
            keys[k] = keys[k - 1];
        keys[k] = key;
    }
}

static __attribute__((noinline)) uint32_t crc(void)
{
    uint32_t sum = UINT32_MAX;

    for (int i = 0; i < TEXT / 4; i++) {
        sum ^= text[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return sum;
}

static __attribute__((noinline)) int32_t signed_sum(const int8_t *bytes, const int16_t *halves)
{
    int32_t sum = 0;

    for (int i = 0; i < TEXT; i++)
        sum += bytes[i];
    for (int i = 0; i < KEYS; i++)
        sum -= halves[i];
    return sum;
}

int main(void)
{
    uint32_t sum;

    fill();
    multiply();
    sort();
    sum = crc() + (uint32_t)signed_sum((const int8_t *)text, (const int16_t *)keys);
    for (int i = 0; i < N; i++)
        sum = sum * 31 + (uint32_t)c[i][N - 1 - i];
    result = sum / 7 + sum % 1000;
    return 0;
}
