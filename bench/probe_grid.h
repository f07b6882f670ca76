/* Probes in rows: each row is measured in every instruction set, with several sorts of keys, and
 * all of them take turns.
 *
 *                    | portable           | AVX2               | AVX-512
 *                    | sort 0    sort 1   | sort 0    sort 1   | ...
 *     label of row 0 |    1.2       3.4   |
 */
#ifndef BB_BENCH_PROBE_GRID_H
#define BB_BENCH_PROBE_GRID_H

#include "bench/probe.h"

#define PROBE_LABEL_SIZE 40

struct probe_grid {
    size_t row_count;
    size_t sort_count;
    char (*labels)[PROBE_LABEL_SIZE]; /* of the rows; the caller writes them */
    struct probe *probes;
    struct turns turns;
};

/* Owned: probe_grid_deinit. */
void probe_grid_init(struct probe_grid *grid, size_t row_count, size_t sort_count);
void probe_grid_deinit(struct probe_grid *grid);
/* Adds the probe in every instruction set, which it need not name; cells without a probe stay
 * empty. */
void probe_grid_add(struct probe_grid *grid, size_t row, size_t sort, struct probe probe);
void probe_grid_take(struct probe_grid *grid, size_t turn_count);
/* Prints three tables: medians, minima, and medians of the ratios to the row's first figure in the
 * same turn. */
void probe_grid_print(const struct probe_grid *grid);

#endif
