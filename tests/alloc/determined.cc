/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that allocates by all functions, and the same each time. */
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <string>
#include <vector>
#include <map>
int main()
{
    std::map<std::string, std::vector<int>> m;
    unsigned seed = 1;
    void *live[100] = {};
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned k = seed >> 8, at = k % 100, bytes = (k >> 8) % 3000;
        switch (k % 7) {
        case 0:
            free(live[at]);
            live[at] = malloc(bytes);
            break;
        case 1:
            free(live[at]);
            live[at] = calloc(3, bytes);
            break;
        case 2:
            live[at] = realloc(live[at], bytes + 1);
            break;
        case 3:
            free(live[at]);
            live[at] = aligned_alloc(256, 256 * (bytes % 9 + 1));
            break;
        case 4:
            free(live[at]);
            if (posix_memalign(&live[at], 64, bytes))
                return 1;
            break;
        case 5:
            free(live[at]);
            live[at] = malloc(200000 + bytes);
            break;
        default:
            m[std::to_string(k % 500)].push_back(i);
        }
    }
    for (auto &p : live)
        free(p);
    std::printf("%zu\n", m.size());
}
