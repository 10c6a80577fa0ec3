/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_build.c - build ids of ELF files, by libelf; size and time of others. See cf_build.h.
 */
#include <ctype.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/program/cf_build.h"

static const char by_id[] = "build-id:";

enum { NOTES_MOST = 1 << 20 }; /* bytes of notes that are looked at: files have some hundred */

/* The build id among notes. libelf checks that a note ends within its data. */
static size_t id_in(Elf_Data *notes, unsigned char *id)
{
    size_t at = 0, next, name, bytes;
    GElf_Nhdr n;

    while (notes && (next = gelf_getnote(notes, at, &n, &name, &bytes)) > 0) {
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp((char *)notes->d_buf + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 &&
            n.n_descsz > 0 && n.n_descsz <= CF_BUILD_ID_MOST) {
            memcpy(id, (char *)notes->d_buf + bytes, n.n_descsz);
            return n.n_descsz;
        }
        at = next;
    }
    return 0;
}

/* `left`: bytes of the file that may still be read, since libelf keeps all that it has read. */
static size_t id_at(Elf *elf, uint64_t offset, uint64_t bytes, uint64_t align, uint64_t *left,
                    unsigned char *id)
{
    if (bytes > *left)
        return 0;
    *left -= bytes;
    return id_in(
        elf_getdata_rawchunk(elf, (int64_t)offset, bytes, align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
        id);
}

/* By segments, which every program has, else by sections: in a file of debug information segments
   may be those of the program (eu-strip -f), where something else stands now. */
static size_t id_of(int fd, unsigned char *id)
{
    size_t segments = 0, bytes = 0;
    uint64_t left = NOTES_MOST;
    Elf_Scn *section = NULL;
    GElf_Phdr p;
    GElf_Shdr h;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &segments) != 0)
        segments = 0;
    for (size_t i = 0; i < segments && !bytes; i++)
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_NOTE)
            bytes = id_at(elf, p.p_offset, p.p_filesz, p.p_align, &left, id);
    while (segments && !bytes && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &h) && h.sh_type == SHT_NOTE)
            bytes = id_at(elf, h.sh_offset, h.sh_size, h.sh_addralign, &left, id);
    elf_end(elf);
    return bytes;
}

void cf_build_read(int fd, char *text)
{
    unsigned char id[CF_BUILD_ID_MOST];
    struct stat st;
    size_t bytes;
    int n;

    *text = '\0';
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    bytes = id_of(fd, id);
    if (!bytes) {
        snprintf(text, CF_BUILD_TEXT, "size:%lld mtime:%lld.%09ld", (long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        return;
    }
    n = snprintf(text, CF_BUILD_TEXT, "%s", by_id);
    for (size_t i = 0; i < bytes; i++)
        n += snprintf(text + n, CF_BUILD_TEXT - (size_t)n, "%02x", id[i]);
}

size_t cf_build_id(const char *text, unsigned char *id)
{
    size_t bytes = 0;

    if (strncmp(text, by_id, sizeof by_id - 1) != 0)
        return 0;
    for (text += sizeof by_id - 1; *text; text += 2) {
        if (bytes == CF_BUILD_ID_MOST || !isxdigit((unsigned char)text[0]) ||
            !isxdigit((unsigned char)text[1]) || sscanf(text, "%2hhx", &id[bytes]) != 1)
            return 0;
        bytes++;
    }
    return bytes;
}

int cf_build_same(const char *a, const char *b)
{
    static const char whole[] = ".000000000";
    const char *dot = strchr(a, '.'), *other = strchr(b, '.');

    if (!dot || !other || dot - a != other - b ||
        (strcmp(dot, whole) != 0 && strcmp(other, whole) != 0))
        return strcmp(a, b) == 0;
    return memcmp(a, b, (size_t)(dot - a)) == 0;
}
