/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cpu/cf_cpu_name.h"
#include "formats/base/cf_number.h"

enum { MODEL_NAME, BOARD, IMPLEMENTER, PART, FIELDS };

static const char *const fields[FIELDS] = {"model name", "Model", "CPU implementer", "CPU part"};

/* A line of "FIELD<tabs>: VALUE": the value is kept, but for one that came before. -1 without
   memory. */
static int take_line(char *line, char *value[FIELDS])
{
    char *colon = strchr(line, ':');
    size_t name = strcspn(line, "\t:"), blanks;

    for (unsigned i = 0; colon && i < FIELDS; i++) {
        if (value[i] || strlen(fields[i]) != name || memcmp(line, fields[i], name) != 0)
            continue;
        blanks = 1 + strspn(colon + 1, " ");
        colon[strcspn(colon, "\n")] = '\0';
        if (!colon[blanks])
            continue;
        value[i] = strdup(colon + blanks);
        if (!value[i])
            return -1;
    }
    return 0;
}

static char *choose(char *const value[FIELDS])
{
    char *name = NULL;

    if (value[MODEL_NAME] || value[BOARD])
        return strdup(value[MODEL_NAME] ? value[MODEL_NAME] : value[BOARD]);
    if (!value[IMPLEMENTER] || !value[PART])
        return strdup("");
    return asprintf(&name, "implementer %s part %s", value[IMPLEMENTER], value[PART]) < 0 ? NULL
                                                                                          : name;
}

char *cf_cpu_name(const char *cpuinfo)
{
    FILE *f = fopen(cpuinfo ? cpuinfo : "/proc/cpuinfo", "re");
    char *line = NULL, *value[FIELDS] = {NULL}, *name = NULL;
    size_t room = 0;
    int refused = !f && cf_is_refusal(errno) ? errno : 0;

    while (f && !refused && !value[MODEL_NAME] && getline(&line, &room, f) > 0)
        refused = take_line(line, value) != 0 ? ENOMEM : 0;
    if (f && !refused && !value[MODEL_NAME] && !feof(f) && cf_is_refusal(errno))
        refused = errno;
    name = refused ? NULL : choose(value);
    refused = name || refused ? refused : ENOMEM;
    for (unsigned i = 0; i < FIELDS; i++)
        free(value[i]);
    free(line);
    if (f)
        fclose(f);
    errno = refused;
    return name;
}
