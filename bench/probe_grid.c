/* See probe_grid.h. */
#include "bench/probe_grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
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

/* For a side; first is the side of its row's first column. */
typedef double figure_function(const struct turns *turns, size_t side, size_t first);

static double median(const struct turns *turns, size_t side, size_t first)
{
    (void)first;
    return turns_median(turns, side);
}

static double least(const struct turns *turns, size_t side, size_t first)
{
    (void)first;
    return turns_least(turns, side);
}

struct style {
    const char *name;
    figure_function *figure;
    int decimals;
};

static const struct style styles[] = {
    {"median", median, 1}, {"least", least, 1}, {"by the first of the row", turns_ratio, 2}};

static void print_form(const struct probe_grid *grid, size_t row, enum bb_cpu cpu,
                       const struct style *style)
{
    size_t first = index_of(grid, row, BB_CPU_PORTABLE, 0);
    printf(" |");
    for (size_t sort = 0; sort < grid->sort_count; sort++) {
        double figure = style->figure(&grid->turns, index_of(grid, row, cpu, sort), first);
        if (isnan(figure))
            printf("%*s", FIGURE_WIDTH, "-");
        else
            printf("%*.*f", FIGURE_WIDTH, style->decimals, figure);
    }
}

static void print(const struct probe_grid *grid, const struct style *style)
{
    printf("%-*s", PROBE_LABEL_SIZE - 1, style->name);
    for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
        printf(" | %-*s", (int)grid->sort_count * FIGURE_WIDTH - 1, bb_cpu_name(cpu));
    printf("\n");
    for (size_t row = 0; row < grid->row_count; row++) {
        printf("%-*s", PROBE_LABEL_SIZE - 1, grid->labels[row]);
        for (enum bb_cpu cpu = BB_CPU_PORTABLE; cpu < BB_CPU_COUNT; cpu++)
            print_form(grid, row, cpu, style);
        printf("\n");
    }
}

void probe_grid_print(const struct probe_grid *grid)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(styles); i++)
        print(grid, &styles[i]);
    fflush(stdout);
}
