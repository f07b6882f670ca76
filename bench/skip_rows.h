/* The rows of skip_bench: a log in a file, mapped, and how many of them satisfy each condition. */
#ifndef BB_BENCH_SKIP_ROWS_H
#define BB_BENCH_SKIP_ROWS_H

#include "bb/base.h"

struct skip_rows {
    const char *bytes; /* of the file, mapped; lines end in LF */
    uint64_t size;
    uint64_t *offsets; /* of each row, and the end; owned */
    uint64_t count;
    uint64_t *truths; /* rows for each condition of skip_conditions.h; owned */
};

/* Writes a log of about `size` bytes to the path. */
void skip_rows_make(struct skip_rows *rows, const char *path, uint64_t size, uint64_t seed);
void skip_rows_deinit(struct skip_rows *rows);

/* Without the line end. */
static inline struct bb_bytes skip_rows_line(const struct skip_rows *rows, uint64_t row)
{
    return (struct bb_bytes){.data = (const uint8_t *)rows->bytes + rows->offsets[row],
                             .size = (size_t)(rows->offsets[row + 1] - rows->offsets[row] - 1)};
}

#endif
