/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_path.h - paths as texts: what they lead to is not looked at. */
#ifndef CF_PATH_H
#define CF_PATH_H

const char *cf_path_last(const char *path); /* component */
/* How many last components two paths have in common. */
unsigned cf_path_common(const char *a, const char *b);
/* How many components of a path say something: "." does not. */
unsigned cf_path_parts(const char *name);

/* Takes ".", ".." and doubled slashes out of a path, in place. Of a relative one those ".." stay
   that lead out of where it begins. */
void cf_path_normalise(char *path);

#endif
