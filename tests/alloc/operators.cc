// SPDX-License-Identifier: BSD-2-Clause
//
// operators LOG COUNT: what `known` does, by operators new and delete.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace {
constexpr std::size_t log_bytes = 1 << 26, live = 200, kinds = 8;
constexpr std::align_val_t wide{128};
char *text;
std::size_t used;
std::uint64_t seed = 1;
struct {
    void *p;
    unsigned kind;
    std::size_t bytes;
} object[live];

std::uint64_t next()
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return seed >> 33;
}

void give_back(unsigned i)
{
    void *p = object[i].p;

    if (!p)
        return;
    used += static_cast<std::size_t>(
        snprintf(text + used, log_bytes - used, "%d free %p\n", getpid(), p));
    switch (object[i].kind) {
    case 0: ::operator delete(p); break;
    case 1: ::operator delete[](p); break;
    case 2: ::operator delete(p, std::nothrow); break;
    case 3: ::operator delete[](p, std::nothrow); break;
    case 4: ::operator delete(p, object[i].bytes, wide); break;
    case 5: ::operator delete[](p, wide); break;
    case 6: ::operator delete(p, wide, std::nothrow); break;
    default: ::operator delete[](p, wide, std::nothrow);
    }
    object[i].p = nullptr;
}

inline __attribute__((always_inline)) void *obtain(unsigned kind, std::size_t bytes)
{
    switch (kind) {
    case 0: return ::operator new(bytes);
    case 1: return ::operator new[](bytes);
    case 2: return ::operator new(bytes, std::nothrow);
    case 3: return ::operator new[](bytes, std::nothrow);
    case 4: return ::operator new(bytes, wide);
    case 5: return ::operator new[](bytes, wide);
    case 6: return ::operator new(bytes, wide, std::nothrow);
    default: return ::operator new[](bytes, wide, std::nothrow);
    }
}

__attribute__((noinline)) void allocate()
{
    const unsigned kind = next() % kinds, i = next() % live;
    const std::size_t bytes = next() % 40 * 64 + 33;
    void *frame[17];
    const int n = backtrace(frame, 17);

    give_back(i);
    void *p = obtain(kind, bytes);
    object[i] = {p, kind, bytes};
    used += static_cast<std::size_t>(
        snprintf(text + used, log_bytes - used, "%d alloc %p %zu", getpid(), p, bytes));
    for (int k = 1; k < n; k++)
        used += static_cast<std::size_t>(snprintf(text + used, log_bytes - used, " %p", frame[k]));
    text[used++] = '\n';
}

__attribute__((noinline)) void go_down(unsigned left)
{
    if (left)
        go_down(left - 1);
    else
        allocate();
    __asm__ volatile("" ::: "memory");
}
} // namespace

int main(int argc, char **argv)
{
    const int fd = argc > 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

    text = static_cast<char *>(mmap(nullptr, log_bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (fd < 0 || text == MAP_FAILED)
        return 2;
    for (long i = atol(argv[2]); i-- > 0;)
        go_down(next() % 20);
    for (unsigned i = 0; i < live; i++)
        give_back(i);
    return write(fd, text, used) == static_cast<ssize_t>(used) ? 0 : 3;
}
