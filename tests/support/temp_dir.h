/* A temporary directory for a test, under $TMPDIR or /tmp, removed with all its contents. Failures
 * end the process with a message: a test without its directory is meaningless. */
#ifndef BB_TESTS_SUPPORT_TEMP_DIR_H
#define BB_TESTS_SUPPORT_TEMP_DIR_H

#include <limits.h>

struct bb_temp_dir {
    char path[PATH_MAX]; /* absolute if TMPDIR is */
};

/* name becomes part of the directory's name. */
void bb_temp_dir_init(struct bb_temp_dir *dir, const char *name);
/* Removes the directory and everything in it. */
void bb_temp_dir_deinit(struct bb_temp_dir *dir);
/* DIR/name in buffer, which has space for PATH_MAX. Returns buffer. */
char *bb_temp_dir_path(const struct bb_temp_dir *dir, const char *name, char *buffer);

#endif
