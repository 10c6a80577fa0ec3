// SPDX-License-Identifier: BSD-2-Clause
//
// A library in C++ that is loaded into a program in C: operators new and delete in all their forms, an
// exception through them, and an allocation when it is unloaded.
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace {
struct alignas(64) wide {
    char c[64];
    explicit wide(char v) : c{v} {}
};

struct at_exit {
    std::string *text = new std::string(100, 'x');
    ~at_exit() { delete text; delete new std::string(200, 'y'); }
} at_exit;
} // namespace

extern "C" unsigned long plugin_run(unsigned long n)
{
    std::map<unsigned long, std::string> names;
    unsigned long sum = 0;

    for (unsigned long i = 0; i < n % 50 + 10; i++)
        names[i * 7919 % 101] = std::string(i + 20, 'a');
    for (auto &name : names)
        sum += name.first + name.second.size();
    wide *one = new wide(1), *none = new (std::nothrow) wide(2);
    char *many = new char[n + 1], *more = new (std::nothrow) char[n + 2];
    sum += reinterpret_cast<std::uintptr_t>(one) % 64 + reinterpret_cast<std::uintptr_t>(none) % 64;
    many[n] = more[n] = 1;
    sum += one->c[0] + none->c[0] + many[n] + more[n];
    ::operator delete(one, sizeof(wide), std::align_val_t(64));
    delete none;
    delete[] many;
    ::operator delete[](more, std::nothrow);
    try {
        std::vector<std::string> v(n % 10 + 1, std::string(50, 'z'));
        volatile std::size_t far = SIZE_MAX / 2;
        sum += v.size();
        many = static_cast<char *>(::operator new(far));
        many[0] = 1;
    } catch (const std::bad_alloc &) {
        sum += 1000000;
    }
    return sum;
}
