/* See limits_load.h. */
#include "bench/limits_load.h"

#include <time.h>
#include <unistd.h>

#include "bb/db_stats.h"
#include "bench/die.h"
#include "bench/ideal_load.h"
#include "bench/limits_table.h"
#include "bench/process_clock.h"

/* All per put. */
struct put_figures {
    double memtable;
    double write; /* of an entry */
    double last_put;
    double last_put_preads;
    double quiet;
    double quiet_preads;
    double processor;
    double written; /* share of the entries that are in tables */
};

static double elapsed_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void put_all(const struct workload *workload, const uint8_t *records, struct bb_db *db)
{
    const struct workload_options *options = &workload->options;
    const uint8_t *record = records;
    for (uint64_t i = 0; i < options->key_count; i++) {
        struct bb_bytes key = {.data = record, .size = options->key_size};
        struct bb_bytes value = {.data = record + key.size, .size = options->value_size};
        bench_must(bb_db_put(db, NULL, key, value));
        record += key.size + value.size;
    }
}

static uint64_t keys_in_tables(const struct bb_db_stats *stats)
{
    uint64_t count = 0;
    for (size_t i = 0; i < BB_LEVEL_COUNT; i++)
        count += stats->levels[i].key_count;
    return count;
}

static void measure_store(const struct workload *workload, const uint8_t *records, struct bb_db *db,
                          struct put_figures *figures)
{
    double count = (double)workload->options.key_count;
    struct bb_db_stats stats;
    uint64_t processor = process_clock_now();
    double begin = elapsed_now();
    put_all(workload, records, db);
    figures->last_put = (elapsed_now() - begin) / count;
    bb_db_stats(db, &stats);
    figures->last_put_preads = (double)stats.system_reads / count;
    bench_must(bb_db_wait_idle(db));
    figures->quiet = (elapsed_now() - begin) / count;
    figures->processor = process_clock_since(processor) / count;
    bb_db_stats(db, &stats);
    figures->quiet_preads = (double)stats.system_reads / count;
    figures->written = (double)keys_in_tables(&stats) / count;
}

/* On this many processors: one thread puts, and all work is divided among them. */
static double limit_of_quiet(const struct put_figures *figures, double all, long processors)
{
    double divided = all / (double)processors;
    return divided > figures->memtable ? divided : figures->memtable;
}

static void print_figures(const struct put_figures *figures)
{
    double all = figures->memtable + figures->written * figures->write;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    limits_table_steps("load");
    limits_table_step("memtable", figures->memtable);
    limits_table_step("write", figures->write);
    limits_table_rows("load", "puts");
    limits_table_row("last put", figures->last_put, figures->memtable, figures->last_put_preads);
    limits_table_row("until quiet", figures->quiet,
                     limit_of_quiet(figures, all, processors < 1 ? 1 : processors),
                     figures->quiet_preads);
    limits_table_row("processor", figures->processor, all, figures->quiet_preads);
}

void limits_load_run(const struct limits_load *load, struct bb_db *db)
{
    struct put_figures figures;
    figures.memtable = load->memtable_time;
    figures.write = ideal_load_write(load->workload, load->path, load->block_size);
    measure_store(load->workload, load->records, db, &figures);
    print_figures(&figures);
    bench_must(bb_db_flush(db));
    bench_must(bb_db_wait_idle(db));
}
