/* The lines of a log (skip_log.h), in memory. */
#ifndef BB_BENCH_LOG_LINES_H
#define BB_BENCH_LOG_LINES_H

#include "bb/base.h"
#include "bench/skip_log.h"

struct log_lines {
    char *bytes;  /* the lines one after the other, without line ends; owned */
    size_t *ends; /* the end of each line in bytes; owned */
    size_t size;
    size_t count;
};

/* Makes lines until they have `size` bytes. Owned: log_lines_deinit. */
void log_lines_make(struct log_lines *lines, enum skip_log_kind kind, size_t size);
void log_lines_deinit(struct log_lines *lines);

static inline struct bb_bytes log_lines_at(const struct log_lines *lines, size_t number)
{
    size_t begin = number == 0 ? 0 : lines->ends[number - 1];
    return (struct bb_bytes){(const uint8_t *)lines->bytes + begin, lines->ends[number] - begin};
}

#endif
