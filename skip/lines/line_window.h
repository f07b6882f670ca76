/* Whole lines of a file, some hundred kilobytes at a time. Threads: one. */
#ifndef BB_SKIP_LINES_LINE_WINDOW_H
#define BB_SKIP_LINES_LINE_WINDOW_H

#include "base/buf.h"
#include "base/file.h"

#define BB_LINE_WINDOW_BYTES (256u * 1024)

struct bb_line_window {
    struct bb_file *file; /* borrowed */
    uint64_t offset;      /* in the file, of the first byte */
    struct bb_bytes bytes;
    struct bb_buf buf; /* owned: holds the bytes */
    uint64_t reads;
    uint64_t read_bytes;
};

void bb_line_window_deinit(struct bb_line_window *window);

/* Reads whole lines from begin, which begins one, up to end at most; the last of them may lack its
 * line end where `end` is. At least one line, however long. BB_TOO_LARGE beyond BB_LINE_SIZE_MAX.
 * REQUIRES: begin < end. */
BB_MUST_CHECK enum bb_status bb_line_window_load(struct bb_line_window *window, uint64_t begin,
                                                 uint64_t end);

/* The bytes of a line without LF or CR LF at their end. */
static inline struct bb_bytes bb_line_record(struct bb_bytes line)
{
    if (line.size == 0 || line.data[line.size - 1] != '\n')
        return line;
    line.size--;
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

#endif
