/* Opening the files of lines of the command line, with their index files and attributes. */
#ifndef BB_TOOLS_RECORDS_LINE_FILE_H
#define BB_TOOLS_RECORDS_LINE_FILE_H

#include "bb/lines.h"
#include "tools/command/options.h"

/* The path by which a file is opened: links are followed, and the index file is next to their
 * target. Terminated; owned: bb_buf_deinit. */
BB_MUST_CHECK enum bb_status line_file_path(const char *path, struct bb_buf *ret_path);

/* Attributes of the command line, and attributes of the index file with other names. A wrong
 * definition is shown with a caret. Owned: bb_schema_destroy. */
BB_MUST_CHECK enum bb_status line_file_schema(const struct bb_lines *lines,
                                              const struct option_texts *given,
                                              struct bb_schema **ret_schema);

#endif
