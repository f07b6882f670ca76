/* The inside of an open file of lines. Constant: any number of threads. */
#ifndef BB_SKIP_LINES_LINES_H
#define BB_SKIP_LINES_LINES_H

#include "base/file.h"
#include "base/status.h"
#include "bb/lines.h"
#include "skip/lines/line_source.h"

struct bb_lines {
    struct bb_file_system *own_fs; /* owned; NULL when the options name one */
    struct bb_file_system *fs;
    struct bb_file *file;            /* owned */
    struct bb_line_file_state state; /* when it was opened */
    struct bb_skip_file *index;      /* owned; NULL: there is no index, or it cannot be read */
    struct bb_line_source source;    /* of the index; its schema is borrowed from there */
    struct bb_schema *schema;        /* owned; of the index */
    enum bb_lines_index_state index_state;
    struct bb_error reason; /* why the index is not used */
};

/* The name of a file's index file, terminated. */
BB_MUST_CHECK enum bb_status bb_lines_index_path(const char *path, struct bb_buf *ret_path);

/* Where a granule of the index begins, and for granule = their number where the last one ends. */
uint64_t bb_lines_granule_begin(const struct bb_lines *lines, size_t granule);

/* Granules that a caller may name: 0 when the index is not used. */
size_t bb_lines_granule_count(const struct bb_lines *lines);

#endif
