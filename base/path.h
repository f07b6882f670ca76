/* Paths of files. */
#ifndef BB_BASE_PATH_H
#define BB_BASE_PATH_H

#include "bb/base.h"

/* Bytes of a path with its terminator: the limit of Linux. */
#define BB_PATH_SIZE_MAX 4096
/* The limit for a file that a caller names, to which the library may append a suffix. */
#define BB_PATH_FILE_SIZE_MAX (BB_PATH_SIZE_MAX - 64)
/* The limit for a directory: the paths of its files are then within the limit of files. */
#define BB_PATH_DIRECTORY_SIZE_MAX (BB_PATH_FILE_SIZE_MAX - 64)

/* BB_INVALID, with of_what in the message, if the path is NULL, empty or longer than its limit. */
BB_MUST_CHECK enum bb_status bb_path_check_file(const char *path, const char *of_what);
BB_MUST_CHECK enum bb_status bb_path_check_directory(const char *path, const char *of_what);
/* The parent directory of a path: "." for a single name, "/" for the root. REQUIRES: the path is
 * shorter than BB_PATH_SIZE_MAX. */
void bb_path_parent(const char *path, char ret_parent[BB_PATH_SIZE_MAX]);
/* directory/name. BB_INVALID if one of them is empty, BB_TOO_LARGE if the path is too long;
 * *ret_path is then undefined. */
BB_MUST_CHECK enum bb_status bb_path_join(const char *directory, const char *name,
                                          char ret_path[BB_PATH_SIZE_MAX]);

#endif
