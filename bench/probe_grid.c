/* See probe_grid.h. */
#include "bench/probe_grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/die.h"

#define FIGURE_WIDTH 7

static size_t index_of(const struct probe_grid *grid, size_t row, enum bb_cpu cpu, size_t sort)
{
    return (row * BB_CPU_COUNT + cpu) * grid->sort_count + sort;
}

static size_t probe_count(const struct probe_grid *grid)
{
    return grid->row_count * BB_CPU_COUNT * grid->sort_count;
}

void probe_grid_init(struct probe_grid *grid, size_t row_count, size_t sort_count)
{
    *grid = (struct probe_grid){.row_count = row_count, .sort_count = sort_count};
    grid->labels = bench_allocate(row_count * sizeof(grid->labels[0]));
    grid->probes = bench_allocate(probe_count(grid) * sizeof(grid->probes[0]));
}

void probe_grid_deinit(struct probe_grid *grid)
{
    free(grid->labels);
    free(grid->probes);
    turns_deinit(&grid->turns);
}

void probe_grid_add(struct probe_grid *grid, size_t row, size_t sort, struct probe probe)
{
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++) {
        probe.cpu = cpu;
        grid->probes[index_of(grid, row, cpu, sort)] = probe;
    }
}

void probe_grid_take(struct probe_grid *grid, size_t turn_count)
{
    turns_init(&grid->turns, probe_count(grid), turn_count);
    turns_take(&grid->turns, probe_slice, grid->probes);
}

typedef double figure_function(const struct turns *turns, size_t side);

static void print_form(const struct probe_grid *grid, size_t row, enum bb_cpu cpu,
                       figure_function *figure)
{
    printf(" |");
    for (size_t sort = 0; sort < grid->sort_count; sort++) {
        double time = figure(&grid->turns, index_of(grid, row, cpu, sort));
        if (isnan(time))
            printf("%*s", FIGURE_WIDTH, "-");
        else
            printf("%*.1f", FIGURE_WIDTH, time);
    }
}

static void print(const struct probe_grid *grid, const char *name, figure_function *figure)
{
    printf("%-*s", PROBE_LABEL_SIZE - 1, name);
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        printf(" | %-*s", (int)grid->sort_count * FIGURE_WIDTH - 1, bb_cpu_name(cpu));
    printf("\n");
    for (size_t row = 0; row < grid->row_count; row++) {
        printf("%-*s", PROBE_LABEL_SIZE - 1, grid->labels[row]);
        for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
            print_form(grid, row, cpu, figure);
        printf("\n");
    }
}

void probe_grid_print(const struct probe_grid *grid)
{
    print(grid, "median", turns_median);
    print(grid, "least", turns_least);
    fflush(stdout);
}
