/* Files of lines on the command line: opened, with what is known of them. */
#ifndef BB_TOOLS_RECORDS_LINE_FILE_H
#define BB_TOOLS_RECORDS_LINE_FILE_H

#include "bb/lines.h"
#include "tools/options.h"

/* The path that a file is opened by: links are followed, its index file is next to what they lead
 * to. Terminated; owned: bb_buf_deinit. */
BB_MUST_CHECK enum bb_status line_file_path(const char *path, struct bb_buf *ret_path);

/* Attributes of the command line, and those of the index file under other names. A wrong definition
 * is shown with a caret. Owned: bb_schema_destroy. */
BB_MUST_CHECK enum bb_status line_file_schema(const struct bb_lines *lines,
                                              const struct option_texts *given,
                                              struct bb_schema **ret_schema);

#endif
