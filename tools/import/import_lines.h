/* Lines of a file that is imported; "-" is standard input. Lines may have any length, and are
 * counted for messages. */
#ifndef BB_TOOLS_IMPORT_IMPORT_LINES_H
#define BB_TOOLS_IMPORT_IMPORT_LINES_H

#include <stdio.h>

#include "bb/base.h"

struct import_lines {
    const char *path; /* borrowed */
    FILE *file;
    char *text;
    size_t capacity;
    struct bb_bytes line; /* current, without its newline */
    uint64_t number;      /* of it, from 1 */
    bool has_newline;
};

/* Owned: import_lines_close. */
BB_MUST_CHECK enum bb_status import_lines_open(struct import_lines *lines, const char *path);
void import_lines_close(struct import_lines *lines);
/* *ret_has is false at the end. */
BB_MUST_CHECK enum bb_status import_lines_next(struct import_lines *lines, bool *ret_has);
/* BB_INVALID: "PATH: line N: REASON". */
BB_MUST_CHECK enum bb_status import_lines_fail(const struct import_lines *lines, const char *what);

#endif
