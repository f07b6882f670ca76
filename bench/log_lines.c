/* See log_lines.h. */
#include "bench/log_lines.h"

#include <stdlib.h>

#include "bench/die.h"

#define LINE_SIZE_MIN 40 /* of every log */

void log_lines_make(struct log_lines *lines, enum skip_log_kind kind, size_t size)
{
    struct skip_log log;
    skip_log_init(&log, kind, 1);
    *lines = (struct log_lines){.bytes = bench_allocate(size + SKIP_LOG_LINE_MAX)};
    lines->ends = bench_allocate((size / LINE_SIZE_MIN + 1) * sizeof(lines->ends[0]));
    while (lines->size < size) {
        lines->size += skip_log_next(&log, lines->bytes + lines->size);
        lines->ends[lines->count++] = lines->size;
    }
}

void log_lines_deinit(struct log_lines *lines)
{
    free(lines->bytes);
    free(lines->ends);
}
