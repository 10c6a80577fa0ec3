/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.h - the files of an import, one after the other, as snapshots of a stream.
 *
 * files.c finds them and what stands beside them, rows.c reads single lines of text, import.c puts
 * entries together to snapshots and writes them.
 */
#ifndef CF_DUMPCACHE_IMPORT_H
#define CF_DUMPCACHE_IMPORT_H

#include "capture/base/cf_lines.h"
#include "capture/base/cf_maps.h"
#include "capture/dumpcache/entries.h"

/* A file with snapshots. */
struct cf_dumpcache_file {
    char *name;
    int folder;      /* counts up with each folder, 0 for files that were named themselves */
    uint64_t number; /* <N> of its name */
    unsigned level;  /* of its name, 0 unknown */
};

/* A line of the texts that state set and way: one entry of a Cortex-A72's cache. */
struct cf_dumpcache_row {
    unsigned level; /* 0 unknown */
    uint32_t set, way, pid;
    uint64_t phys;
    uint8_t valid, state; /* state: as in the stream */
};

/* A process of a folder. The tool makes no list of mappings of one that has ended. */
struct cf_dumpcache_process {
    uint32_t pid;
    int listed;       /* at some snapshot */
    uint64_t missing; /* snapshots since, without one, */
    uint64_t number;  /* the last of which is <N> of file names */
};

enum { ROW_BAD = -1, ROW_ENTRY = 0, ROW_PLACED = 1 };

struct cf_dumpcache {
    struct cf_tool *tool;
    /* options */
    unsigned mode;             /* enum cf_mode */
    unsigned level;            /* 0 not said */
    uint32_t sets, ways, line; /* sets, ways: 0 not said */
    uint64_t period;           /* ns, 0 unknown */
    enum addresses addresses;
    enum stale stale;
    int keep_pids;

    struct cf_writer *out;
    struct cf_dumpcache_file *file;
    size_t files;
    char **names; /* of the files, for cf_lines */
    char **folder;
    int folders;
    int failed; /* an input cannot be used, which was reported: exit status */
    struct cf_lines lines;
    struct cf_maps *maps;
    struct cf_dumpcache_process *process; /* of this folder's pids.txt */
    size_t processes;

    int taken, blank; /* something came from this file; lines without a letter */
    uint32_t unread;  /* lines that could not be read, since the last one that could */
    uint32_t number;  /* snapshots so far in this segment */
    uint64_t all;     /* and in all */
    struct entry *now, *before;
    int have_before;
    uint32_t entries; /* that came for this snapshot, empty ones included */
    struct cf_entries_line *found;
    uint32_t found_count;
    /* of entries that state set and way */
    int placed;
    unsigned placed_level;
    uint8_t (*seen)[32]; /* of each set, a bit for each way that came for this snapshot */
    uint32_t low_set, top_set, top_way;
    /* of the snapshot before: its file */
    int last_folder;
    uint64_t last_number;
    unsigned last_level;
    int last_maps; /* mappings were read with it */
    struct cf_entries_count count;
};

/* Lists the files; does not open those with snapshots. */
void cf_dumpcache_open(struct cf_dumpcache *m, char *const *files, int count);
/* Imports everything; the exit status, as far as the input decides it. */
int cf_dumpcache_run(struct cf_dumpcache *m);
void cf_dumpcache_free(struct cf_dumpcache *m);

/* files.c: appends a file, or what a folder holds. */
void cf_dumpcache_add(struct cf_dumpcache *m, const char *name);
/* The lines of a small file, NULL when there is none; freed by the caller. What cannot be read or
   was cut off is reported. */
char *cf_dumpcache_text(struct cf_dumpcache *m, const char *name, size_t *length);

/* rows.c: an entry, which is ROW_BAD where there can be none of these numbers. */
int cf_dumpcache_entry(struct entry *a, uint64_t pid, uint64_t addr);
/* What a line of text says; `kind` is ROW_ENTRY, `a`, from ROW_PLACED, `r`. */
int cf_dumpcache_scan(const char *line, size_t length, struct entry *a, struct cf_dumpcache_row *r);

/* beside.c: tasks of pids.txt at the beginning of a folder, mappings at each snapshot (returns
   whether there were any; -1 when the output takes no more), and what was missing at its end. */
int cf_dumpcache_tasks(struct cf_dumpcache *m, int folder);
int cf_dumpcache_maps(struct cf_dumpcache *m, int folder, uint64_t number, uint64_t time);
void cf_dumpcache_ended(const struct cf_dumpcache *m, int folder);

#endif
