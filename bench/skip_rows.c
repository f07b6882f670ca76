/* See skip_rows.h. */
#include "bench/skip_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/die.h"
#include "bench/planted_log.h"
#include "bench/skip_conditions.h"

#define ROWS_MIN    40000 /* bursts have space */
#define SAMPLE_ROWS 10000

static double mean_size(uint64_t seed)
{
    struct skip_log log;
    char line[SKIP_LOG_LINE_MAX];
    size_t size = 0;
    skip_log_init(&log, SKIP_LOG_APACHE, seed);
    for (int i = 0; i < SAMPLE_ROWS; i++)
        size += skip_log_next(&log, line) + 3; /* "- ", line end */
    return (double)size / SAMPLE_ROWS;
}

static void count_truths(struct skip_rows *rows, const struct planted_facts *facts)
{
    for (size_t i = 0; i < skip_condition_count; i++)
        rows->truths[i] += skip_conditions[i].holds(facts);
}

static void write_lines(struct skip_rows *rows, FILE *file, uint64_t seed)
{
    struct planted_log log;
    struct planted_facts facts;
    char line[PLANTED_LINE_MAX];
    planted_log_init(&log, rows->count, seed);
    for (uint64_t i = 0; i < rows->count; i++) {
        size_t size = planted_log_next(&log, line, &facts);
        line[size++] = '\n';
        if (fwrite(line, 1, size, file) != size)
            bench_die("cannot write the log: %s", strerror(errno));
        rows->size += size;
        rows->offsets[i + 1] = rows->size;
        count_truths(rows, &facts);
    }
    planted_log_deinit(&log);
}

static void map(struct skip_rows *rows, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes =
        fd < 0 ? MAP_FAILED : mmap(NULL, (size_t)rows->size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        bench_die("cannot map %s: %s", path, strerror(errno));
    close(fd);
    rows->bytes = bytes;
}

void skip_rows_make(struct skip_rows *rows, const char *path, uint64_t size, uint64_t seed)
{
    *rows = (struct skip_rows){.count = (uint64_t)((double)size / mean_size(seed))};
    if (rows->count < ROWS_MIN)
        rows->count = ROWS_MIN;
    rows->offsets = bench_allocate((size_t)(rows->count + 1) * sizeof(uint64_t));
    rows->truths = bench_allocate(skip_condition_count * sizeof(uint64_t));
    FILE *file = fopen(path, "w");
    if (file == NULL)
        bench_die("cannot create %s: %s", path, strerror(errno));
    write_lines(rows, file, seed);
    if (fclose(file) != 0)
        bench_die("cannot write %s: %s", path, strerror(errno));
    map(rows, path);
}

void skip_rows_deinit(struct skip_rows *rows)
{
    munmap((void *)rows->bytes, (size_t)rows->size);
    free(rows->offsets);
    free(rows->truths);
}
