/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_target.c - ELF headers of any machine.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode_target.h"
#include "formats/cf.h"

static const struct {
    unsigned machine;
    int bits, big_endian;
    const char *arch, *libraries;
} known[] = {
    {EM_AARCH64, 64, 0, "aarch64", "/usr/aarch64-linux-gnu"},
    {EM_AARCH64, 64, 1, "aarch64_be", NULL},
    {EM_ARM, 32, 0, "arm", "/usr/arm-linux-gnueabihf"},
    {EM_ARM, 32, 1, "armeb", NULL},
    {EM_RISCV, 64, 0, "riscv64", "/usr/riscv64-linux-gnu"},
    {EM_RISCV, 32, 0, "riscv32", NULL},
    {EM_SPARC32PLUS, 32, 1, "sparc32plus", "/usr/sparc64-linux-gnu"},
    {EM_SPARC, 32, 1, "sparc", NULL},
    {EM_SPARCV9, 64, 1, "sparc64", "/usr/sparc64-linux-gnu"},
    {EM_X86_64, 64, 0, "x86_64", "/usr/x86_64-linux-gnu"},
    {EM_386, 32, 0, "i386", "/usr/i686-linux-gnu"},
    {EM_PPC, 32, 1, "ppc", "/usr/powerpc-linux-gnu"},
    {EM_PPC64, 64, 1, "ppc64", "/usr/powerpc64-linux-gnu"},
    {EM_PPC64, 64, 0, "ppc64le", "/usr/powerpc64le-linux-gnu"},
    {EM_S390, 64, 1, "s390x", "/usr/s390x-linux-gnu"},
    {EM_68K, 32, 1, "m68k", "/usr/m68k-linux-gnu"},
    {EM_ALPHA, 64, 0, "alpha", "/usr/alpha-linux-gnu"},
    {EM_PARISC, 32, 1, "hppa", "/usr/hppa-linux-gnu"},
};

/* An unsigned number of `bytes` bytes in the file's byte order. */
static uint64_t number(const uint8_t *p, unsigned bytes, int big_endian)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v = v << 8 | p[big_endian ? i : bytes - 1 - i];
    return v;
}

struct elf {
    int fd, big_endian, bits;
    unsigned machine, headers, header_bytes;
    uint64_t headers_at;
};

static int open_elf(const char *path, struct elf *e)
{
    uint8_t h[64] = {0};
    struct stat st;
    ssize_t n;

    e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (e->fd < 0)
        return -1;
    n = fstat(e->fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(e->fd, h, sizeof(h), 0) : 0;
    if (n < 52 || memcmp(h, ELFMAG, SELFMAG) != 0 ||
        (h[EI_CLASS] != ELFCLASS32 && h[EI_CLASS] != ELFCLASS64) ||
        (h[EI_DATA] != ELFDATA2LSB && h[EI_DATA] != ELFDATA2MSB)) {
        close(e->fd);
        errno = ENOEXEC;
        return -1;
    }
    e->bits = h[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    e->big_endian = h[EI_DATA] == ELFDATA2MSB;
    e->machine = (unsigned)number(h + 18, 2, e->big_endian);
    e->headers_at =
        e->bits == 64 ? number(h + 32, 8, e->big_endian) : number(h + 28, 4, e->big_endian);
    e->header_bytes = (unsigned)number(h + (e->bits == 64 ? 54 : 42), 2, e->big_endian);
    e->headers = (unsigned)number(h + (e->bits == 64 ? 56 : 44), 2, e->big_endian);
    if (e->header_bytes < (e->bits == 64 ? 56 : 32))
        e->headers = 0;
    return 0;
}

/* The i-th program header: its type, or PT_NULL. */
static unsigned header(const struct elf *e, unsigned i, struct target_segment *s)
{
    uint8_t p[56];
    size_t bytes = e->bits == 64 ? 56 : 32;
    unsigned flags;
    int b = e->big_endian;

    memset(s, 0, sizeof(*s));
    if (e->headers_at > INT64_MAX - 65536 * 65536LL ||
        pread(e->fd, p, bytes, (off_t)(e->headers_at + (uint64_t)i * e->header_bytes)) !=
            (ssize_t)bytes)
        return PT_NULL;
    if (e->bits == 64) {
        flags = (unsigned)number(p + 4, 4, b);
        s->offset = number(p + 8, 8, b);
        s->address = number(p + 16, 8, b);
        s->file_bytes = number(p + 32, 8, b);
        s->bytes = number(p + 40, 8, b);
    } else {
        flags = (unsigned)number(p + 24, 4, b);
        s->offset = number(p + 4, 4, b);
        s->address = number(p + 8, 4, b);
        s->file_bytes = number(p + 16, 4, b);
        s->bytes = number(p + 20, 4, b);
    }
    s->perms = (flags & PF_R ? CF_PERM_R : 0) | (flags & PF_W ? CF_PERM_W : 0) |
               (flags & PF_X ? CF_PERM_X : 0);
    return (unsigned)number(p, 4, b);
}

int target_read(const char *path, struct target *t)
{
    struct target_segment s;
    struct elf e;

    memset(t, 0, sizeof(*t));
    if (open_elf(path, &e) != 0)
        return -1;
    t->machine = e.machine;
    t->bits = e.bits;
    t->big_endian = e.big_endian;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].machine == e.machine && known[i].bits == e.bits &&
            known[i].big_endian == e.big_endian) {
            t->arch = known[i].arch;
            t->libraries = known[i].libraries;
        }
    for (unsigned i = 0; i < e.headers; i++)
        if (header(&e, i, &s) == PT_INTERP && s.file_bytes < sizeof(t->interpreter) &&
            pread(e.fd, t->interpreter, (size_t)s.file_bytes, (off_t)s.offset) < 0)
            t->interpreter[0] = 0;
    t->interpreter[sizeof(t->interpreter) - 1] = 0;
    close(e.fd);
    return 0;
}

int target_segment(const char *path, unsigned index, struct target_segment *s)
{
    struct elf e;
    unsigned seen = 0;
    int found = 0;

    if (open_elf(path, &e) != 0)
        return 0;
    for (unsigned i = 0; i < e.headers && !found; i++)
        found = header(&e, i, s) == PT_LOAD && s->bytes > 0 && seen++ == index;
    close(e.fd);
    return found;
}

int target_executable(const char *path, uint64_t offset, uint64_t bytes, uint32_t perms)
{
    struct target_segment s;

    /* Whole pages are mapped, and the emulator's neighbouring mappings look like one. */
    for (unsigned i = 0; target_segment(path, i, &s); i++)
        if (s.perms & CF_PERM_X && !((s.perms ^ perms) & CF_PERM_W) && s.offset < offset + bytes &&
            offset < s.offset + s.file_bytes)
            return 1;
    return 0;
}

const char *target_libraries(const char *arch)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].arch, arch) == 0)
            return known[i].libraries;
    return NULL;
}
