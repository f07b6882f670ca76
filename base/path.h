/* Paths of files. */
#ifndef BB_BASE_PATH_H
#define BB_BASE_PATH_H

#include "base/buf.h"
#include "bb/base.h"

/* BB_INVALID if the path is NULL or empty: "... has no name", with of_what. */
BB_MUST_CHECK enum bb_status bb_path_check(const char *path, const char *of_what);
/* The parent directory of a path, as a terminated string; "." for a single name, "/" for the
 * root. */
BB_MUST_CHECK enum bb_status bb_path_parent(const char *path, struct bb_buf *ret_parent);
/* directory/name into buf as a terminated string; the terminator is not counted in size. */
BB_MUST_CHECK enum bb_status bb_path_join(const char *directory, const char *name,
                                          struct bb_buf *ret_path);

#endif
