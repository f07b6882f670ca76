/* Selecting rows of a log by conditions, with skip indexes.
 *
 *     skip_bench DIRECTORY [--megabytes N] [--runs N] [--seed N] [--json FILE] [--keep]
 *                          [--only TEXT] [--no-costs] [--no-overwritten] [--reuse]
 *                          [--only-costs] [--only-overwritten] [--table-mib N] [--text]
 *                          [--literals] [--mapped]
 *
 * Makes a log of N megabytes (default 200) in the directory, which must not exist, and three stores
 * of it: granules of 64 KiB, granules of 16 KiB, and one with 30 % of the rows overwritten and a
 * tenth deleted in six runs, which is compacted at the end; before that its conditions are counted
 * again, each with an empty block cache. Each condition is counted in each
 * store, and the rows are compared with the generator's. Times are medians of N runs (default 15;
 * fewer for slow ones), of the clock and of the thread's processor time. Then the costs of
 * building, in processor seconds of loads of at most 256 MB. The store reads through the page
 * cache, which has all of the data.
 *
 * With --literals each store is also scanned for one literal with each predicate that takes one.
 * With --mapped the three stores read their tables from maps.
 * With --text the line has a text index with counts instead of indexes of tokens and n-grams.
 *
 * scripts/bench_skip runs it, and the same conditions in ClickHouse, ripgrep and grep.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/die.h"
#include "bench/machine.h"
#include "bench/median.h"
#include "bench/skip_conditions.h"
#include "bench/skip_store.h"
#include "bench/store_files.h"
#include "bench/thread_clock.h"
#include "skip/condition/words.h"

#define RUNS_MAX      101
#define PATH_SIZE     4096
#define LONG_SECONDS  0.3 /* a condition is not repeated any more */
#define COST_SIZE_MAX UINT64_C(256000000)
#define KIB           1024
#define LITERAL       "contains(line, 'qzabsent literal')" /* no record has it */

struct arguments {
    const char *directory;
    const char *json;
    const char *only; /* conditions whose name has it; NULL: all */
    uint64_t megabytes;
    uint64_t runs;
    uint64_t seed;
    bool is_kept;
    uint64_t table_mib; /* 0: default */
    bool has_no_costs;
    bool has_text;
    bool has_literals;
    bool is_mapped;
    bool has_only_costs;
    bool has_only_overwritten;
    bool has_no_overwritten;
    bool is_reused; /* the directory has the stores of a run with --keep: uses the compacted two */
};

struct bench {
    struct arguments arguments;
    struct skip_rows rows;
    FILE *json; /* NULL: none */
    bool has_wrong_count;
    bool clears_cache;        /* the block cache, before each run of a condition */
    double scan_milliseconds; /* of the current store */
};

/* ---- one condition ---- */

struct measured {
    uint64_t count;
    double milliseconds; /* medians */
    double processor_milliseconds;
    struct bb_select_account account; /* of the last run */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void measure(const struct bench *bench, struct bb_db *db,
                    const struct bb_select_options *options, struct measured *ret_measured)
{
    double walls[RUNS_MAX];
    double processor[RUNS_MAX];
    size_t runs = 0;
    double begin = now();
    /* The first run opens files: it is not counted. */
    bench_must(bb_db_select_count(db, options, &ret_measured->count, &ret_measured->account));
    do {
        if (bench->clears_cache)
            bb_db_clear_cache(db);
        double start = now();
        double thread_start = thread_clock_now();
        bench_must(bb_db_select_count(db, options, &ret_measured->count, &ret_measured->account));
        walls[runs] = (now() - start) / 1e6;
        processor[runs++] = (thread_clock_now() - thread_start) / 1e6;
    } while (runs < bench->arguments.runs && (runs < 3 || now() - begin < LONG_SECONDS * 1e9));
    ret_measured->milliseconds = median_of(walls, runs);
    ret_measured->processor_milliseconds = median_of(processor, runs);
}

static void print_json(const struct bench *bench, const char *store,
                       const struct skip_condition *condition, uint64_t truth,
                       const struct measured *m)
{
    const struct bb_select_account *a = &m->account;
    if (bench->json == NULL)
        return;
    fprintf(bench->json,
            "{\"bench\":\"skip\",\"store\":\"%s\",\"condition\":\"%s\",\"where\":\"%s\","
            "\"sql\":\"%s\",\"literal\":\"%s\",\"rows\":%" PRIu64 ",\"expected\":%" PRIu64
            ",\"ms\":%.4f,\"processor_ms\":%.4f,\"scan_ms\":%.1f,",
            store, condition->name, condition->where, condition->sql,
            condition->literal == NULL ? "" : condition->literal, m->count, truth, m->milliseconds,
            m->processor_milliseconds, bench->scan_milliseconds);
    fprintf(bench->json,
            "\"granules\":%" PRIu64 ",\"granules_read\":%" PRIu64 ",\"granules_matching\":%" PRIu64
            ",\"granules_counted\":%" PRIu64 ",\"blocks_read\":%" PRIu64
            ",\"data_read_bytes\":%" PRIu64 ",\"index_reads\":%" PRIu64
            ",\"index_read_bytes\":%" PRIu64 ",\"index_ns\":%" PRIu64 ",\"newer_searched\":%" PRIu64
            "}\n",
            a->granules, a->granules_read, a->granules_matching, a->granules_counted,
            a->blocks_read, a->data_read_bytes, a->index_reads, a->index_read_bytes,
            a->index_nanoseconds, a->newer_searched);
}

static void print_row(const struct bench *bench, const struct skip_condition *condition,
                      const struct measured *m)
{
    const struct bb_select_account *a = &m->account;
    printf("%-44s %9" PRIu64 " %7" PRIu64 "/%-7" PRIu64 " %7" PRIu64 " %10.3f %10.3f %8.3f %8.0f\n",
           condition->name, m->count, a->granules_matching, a->granules_read, a->granules_counted,
           m->milliseconds, m->processor_milliseconds, (double)a->index_nanoseconds / 1e6,
           bench->scan_milliseconds / m->milliseconds);
    fflush(stdout);
}

static void run_condition(struct bench *bench, struct bb_db *db, const char *store, size_t number)
{
    const struct skip_condition *condition = &skip_conditions[number];
    struct bb_select_options options = {.where = condition->where};
    struct measured measured = {0};
    uint64_t truth = bench->rows.truths[number];
    if (bench->arguments.only != NULL && strstr(condition->name, bench->arguments.only) == NULL)
        return;
    measure(bench, db, &options, &measured);
    print_row(bench, condition, &measured);
    print_json(bench, store, condition, truth, &measured);
    if (measured.count == truth)
        return;
    bench->has_wrong_count = true;
    printf("WRONG: %s: %" PRIu64 " rows, the generator has %" PRIu64 "\n", condition->where,
           measured.count, truth);
}

/* ---- a store ---- */

static double scan_once(struct bb_db *db, const char *where)
{
    struct bb_select_options options = {.where = where, .ignore_indexes = true};
    uint64_t count = 0;
    double start = thread_clock_now();
    bench_must(bb_db_select_count(db, &options, &count, NULL));
    return thread_clock_now() - start;
}

/* The cost of frequent conditions without an index: the median ratio of processor times, of scans
 * by turns. */
static void run_frequent_scan(const struct bench *bench, struct bb_db *db)
{
    static const char *const conditions[] = {"status = 404", "status IN (301, 304, 404)"};
    double ratios[RUNS_MAX];
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        for (size_t run = 0; run < bench->arguments.runs; run++) {
            double plain = scan_once(db, LITERAL);
            ratios[run] = scan_once(db, conditions[i]) / plain;
        }
        printf("%s without an index: %.3f of the processor time of a full scan\n", conditions[i],
               median_of(ratios, bench->arguments.runs));
    }
}

static void run_scan(struct bench *bench, struct bb_db *db, const char *store)
{
    struct bb_select_options options = {.where = LITERAL, .ignore_indexes = true};
    struct measured measured = {0};
    measure(bench, db, &options, &measured);
    bench->scan_milliseconds = measured.milliseconds;
    double bytes = (double)bench->rows.size;
    printf("full scan, a literal without a match: %.1f ms, %.2f GB/s of raw records; of the "
           "processor %.2f GB/s\n",
           measured.milliseconds, bytes / measured.milliseconds / 1e6,
           bytes / measured.processor_milliseconds / 1e6);
    if (bench->json != NULL)
        fprintf(bench->json,
                "{\"bench\":\"skip_scan\",\"store\":\"%s\",\"bytes\":%.0f,\"ms\":%.2f,"
                "\"processor_ms\":%.2f}\n",
                store, bytes, measured.milliseconds, measured.processor_milliseconds);
}

/* One of each predicate with a literal, which no record has. */
static const char *const literal_conditions[] = {
    "line = 'qzabsent'",
    "starts_with(line, 'qzabsent')",
    "ends_with(line, 'qzabsent')",
    "line LIKE '%qzabsent%q_z%'",
    "line ILIKE '%QzAbsent%'",
    "has_token(line, 'qzabsent')",
    "has_all_tokens(line, 'qzabsent', 'Mozilla')",
    "has_any_token(line, 'qzabsent', 'qzother')",
    "has_word(line, 'qzabsent')",
    "has_any_word(line, 'qzabsent', 'qzother')",
    "ihas_word(line, 'QzAbsent')",
    "ihas_word(line, 'QzKiss')",
    "ihas_all_words(line, 'QzAbsent Mozilla')",
    "ihas_any_word(line, 'QzAbsent', 'QzOther')",
    "matches(line, 'qzabs[ea]nt')",
    "matches(line, '(?i)QzAbs[ea]nt')",
    "host = '203.0.113.254'",
    "user IN ('qzabsent', 'qzother')",
    "status = 77777",
    "bytes > 1000000000000",
};

static void run_literals(const struct bench *bench, struct bb_db *db)
{
    printf("full scans for other literals without a match, GB of raw records per second of the "
           "processor\n");
    for (size_t i = 0; i < sizeof(literal_conditions) / sizeof(literal_conditions[0]); i++) {
        const char *where = literal_conditions[i];
        struct bb_select_options options = {.where = where, .ignore_indexes = true};
        struct measured measured = {0};
        if (strstr(where, "word") != NULL && !bb_words_are_built())
            continue;
        measure(bench, db, &options, &measured);
        printf("  %-44s %6.2f\n", where,
               (double)bench->rows.size / measured.processor_milliseconds / 1e6);
    }
}

static void print_indexes(const struct bench *bench, struct bb_db *db, const char *store)
{
    struct bb_db_index_list list = {0};
    bench_must(bb_db_index_list(db, &list));
    for (size_t i = 0; i < list.count; i++) {
        const struct bb_db_index *index = &list.indexes[i];
        double percent = 100.0 * (double)index->size_bytes / (double)bench->rows.size;
        printf("  index %-28s %8.3f %% of raw, %" PRIu64 " tables, %" PRIu64 " granules\n",
               index->spec, percent, index->tables_built, index->granules);
        if (bench->json != NULL)
            fprintf(bench->json,
                    "{\"bench\":\"skip_index\",\"store\":\"%s\",\"spec\":\"%s\",\"bytes\":%" PRIu64
                    ",\"raw_bytes\":%" PRIu64 "}\n",
                    store, index->spec, index->size_bytes, bench->rows.size);
    }
    bb_db_index_list_deinit(&list);
}

static void run_conditions(struct bench *bench, struct bb_db *db, const char *store)
{
    printf("\n== %s: raw %.1f MB, %" PRIu64 " rows\n", store, (double)bench->rows.size / 1e6,
           bench->rows.count);
    print_indexes(bench, db, store);
    run_scan(bench, db, store);
    run_frequent_scan(bench, db);
    if (bench->arguments.has_literals)
        run_literals(bench, db);
    printf("%-44s %9s %15s %7s %10s %10s %8s %8s\n", "condition", "rows", "granules h/read",
           "unread", "ms", "processor", "index", "scan/it");
    for (size_t i = 0; i < skip_condition_count; i++)
        run_condition(bench, db, store, i);
}

static void path_of(const struct bench *bench, const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", bench->arguments.directory, name);
}

static void finish_store(const struct bench *bench, const char *path)
{
    if (!bench->arguments.is_kept)
        store_files_remove(path);
}

static void run_store(struct bench *bench, const char *name, uint64_t granule_bytes)
{
    char path[PATH_SIZE];
    struct skip_load_cost cost = {0};
    path_of(bench, name, path);
    struct skip_load load = {.path = path,
                             .indexes = bench->arguments.has_text ? SKIP_INDEXES_ALL_TEXT
                                                                  : SKIP_INDEXES_ALL,
                             .granule_bytes = granule_bytes,
                             .table_bytes = bench->arguments.table_mib << 20,
                             .is_mapped = bench->arguments.is_mapped,
                             .row_count = bench->rows.count};
    struct bb_db *db = bench->arguments.is_reused
                           ? skip_store_open(path, bench->arguments.is_mapped)
                           : skip_store_load(&load, &bench->rows, &cost);
    store_files_warm(path);
    run_conditions(bench, db, name);
    bench_must(bb_db_close(db));
    finish_store(bench, path);
}

static void run_overwritten(struct bench *bench)
{
    char path[PATH_SIZE];
    struct skip_load_cost cost = {0};
    path_of(bench, "overwritten", path);
    struct skip_load load = {.path = path,
                             .indexes = SKIP_INDEXES_ALL,
                             .granule_bytes = 64 * KIB,
                             .table_bytes = bench->arguments.table_mib << 20,
                             .is_mapped = bench->arguments.is_mapped,
                             .is_overwritten = true,
                             .row_count = bench->rows.count};
    struct bb_db *db = skip_store_load(&load, &bench->rows, &cost);
    store_files_warm(path);
    run_conditions(bench, db, "overwritten, as loaded");
    /* No match was looked up in newer runs before. */
    bench->clears_cache = true;
    run_conditions(bench, db, "overwritten, as loaded, empty block cache");
    bench->clears_cache = false;
    bench_must(bb_db_compact(db));
    store_files_warm(path);
    run_conditions(bench, db, "overwritten, compacted");
    bench_must(bb_db_close(db));
    finish_store(bench, path);
}

/* ---- costs ---- */

static struct skip_load_cost cost_of(const struct bench *bench, enum skip_indexes indexes,
                                     bool defers, uint64_t row_count)
{
    char path[PATH_SIZE];
    struct skip_load_cost cost = {0};
    path_of(bench, "cost", path);
    struct skip_load load = {.path = path,
                             .indexes = indexes,
                             .granule_bytes = 64 * KIB,
                             .defers = defers,
                             .row_count = row_count};
    bench_must(bb_db_close(skip_store_load(&load, &bench->rows, &cost)));
    store_files_remove(path);
    return cost;
}

static void print_cost(const struct bench *bench, const char *what, struct skip_load_cost cost,
                       struct skip_load_cost plain, double bytes)
{
    printf("%-36s load %6.2f s, %5.2f ns/B, x %.3f; compaction %6.2f s, x %.3f, later %.2f s\n",
           what, cost.seconds, cost.seconds * 1e9 / bytes, cost.seconds / plain.seconds,
           cost.compacted_seconds, cost.compacted_seconds / plain.compacted_seconds,
           cost.later_seconds);
    if (bench->json != NULL)
        fprintf(bench->json,
                "{\"bench\":\"skip_cost\",\"indexes\":\"%s\",\"bytes\":%.0f,\"load_s\":%.3f,"
                "\"compaction_s\":%.3f}\n",
                what, bytes, cost.seconds, cost.compacted_seconds);
}

static void run_costs(const struct bench *bench)
{
    const struct skip_rows *rows = &bench->rows;
    uint64_t count = rows->count;
    if (rows->size > COST_SIZE_MAX)
        count = (uint64_t)((double)count * (double)COST_SIZE_MAX / (double)rows->size);
    double bytes = (double)rows->offsets[count];
    printf("\n== building, %.0f MB, processor seconds of all threads\n", bytes / 1e6);
    struct skip_load_cost plain = cost_of(bench, SKIP_INDEXES_NONE, false, count);
    print_cost(bench, "no index", plain, plain, bytes);
    print_cost(bench, "min_max and one value index", cost_of(bench, SKIP_INDEXES_ONE, false, count),
               plain, bytes);
    print_cost(bench, "the same, deferred", cost_of(bench, SKIP_INDEXES_ONE, true, count), plain,
               bytes);
    print_cost(bench, "tokens", cost_of(bench, SKIP_INDEXES_TOKENS, false, count), plain, bytes);
    print_cost(bench, "tokens, deferred", cost_of(bench, SKIP_INDEXES_TOKENS, true, count), plain,
               bytes);
    print_cost(bench, "text", cost_of(bench, SKIP_INDEXES_TEXT, false, count), plain, bytes);
}

/* ---- the program ---- */

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage: skip_bench DIRECTORY [--megabytes N] [--runs N] [--seed N] "
                    "[--json FILE] [--keep] [--only TEXT] [--no-costs] [--no-overwritten] "
                    "[--only-costs] [--only-overwritten] [--reuse] [--table-mib N] [--text] "
                    "[--literals] [--mapped]\n");
    exit(2);
}

static uint64_t number_of(const char *text, uint64_t min, uint64_t max)
{
    char *end = NULL;
    uint64_t number = text == NULL ? 0 : strtoull(text, &end, 10);
    if (text == NULL || end == text || *end != '\0' || number < min || number > max)
        usage();
    return number;
}

/* False: not an option with a value. */
static bool take_value(struct arguments *arguments, const char *name, const char *value)
{
    if (strcmp(name, "--megabytes") == 0)
        arguments->megabytes = number_of(value, 1, 1000000);
    else if (strcmp(name, "--runs") == 0)
        arguments->runs = number_of(value, 3, RUNS_MAX);
    else if (strcmp(name, "--table-mib") == 0)
        arguments->table_mib = number_of(value, 1, 1024);
    else if (strcmp(name, "--seed") == 0)
        arguments->seed = number_of(value, 0, UINT64_MAX);
    else if (strcmp(name, "--json") == 0 && value != NULL)
        arguments->json = value;
    else if (strcmp(name, "--only") == 0 && value != NULL)
        arguments->only = value;
    else
        return false;
    return true;
}

static void take_arguments(int argc, char **argv, struct arguments *arguments)
{
    *arguments = (struct arguments){.megabytes = 200, .runs = 15, .seed = 1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--keep") == 0)
            arguments->is_kept = true;
        else if (strcmp(argv[i], "--no-costs") == 0)
            arguments->has_no_costs = true;
        else if (strcmp(argv[i], "--only-costs") == 0)
            arguments->has_only_costs = true;
        else if (strcmp(argv[i], "--only-overwritten") == 0)
            arguments->has_only_overwritten = arguments->has_no_costs = true;
        else if (strcmp(argv[i], "--mapped") == 0)
            arguments->is_mapped = true;
        else if (strcmp(argv[i], "--literals") == 0)
            arguments->has_literals = true;
        else if (strcmp(argv[i], "--text") == 0)
            arguments->has_text = true;
        else if (strcmp(argv[i], "--no-overwritten") == 0)
            arguments->has_no_overwritten = true;
        else if (strcmp(argv[i], "--reuse") == 0)
            arguments->is_reused = arguments->is_kept = arguments->has_no_costs = true;
        else if (argv[i][0] != '-' && arguments->directory == NULL)
            arguments->directory = argv[i];
        else if (take_value(arguments, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
            i++;
        else
            usage();
    }
    if (arguments->directory == NULL)
        usage();
}

static void print_machine(const struct bench *bench)
{
    struct machine machine;
    machine_describe(bench->arguments.directory, &machine);
    printf("%s, %ld processors, %s, %s, load average %.2f at the beginning, %s\n",
           machine.processor, machine.processor_count, machine.kernel, machine.compiler,
           machine.load_average, machine.date);
    fflush(stdout);
}

static void open_json(struct bench *bench)
{
    if (bench->arguments.json == NULL)
        return;
    bench->json = fopen(bench->arguments.json, "w");
    if (bench->json == NULL)
        bench_die("cannot create %s", bench->arguments.json);
}

static void run_stores(struct bench *bench)
{
    if (!bench->arguments.has_only_overwritten) {
        run_store(bench, "64 KiB", 64 * KIB);
        run_store(bench, "16 KiB", 16 * KIB);
    }
    if (!bench->arguments.is_reused && !bench->arguments.has_no_overwritten)
        run_overwritten(bench);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    char path[PATH_SIZE];
    take_arguments(argc, argv, &bench.arguments);
    if (!bench.arguments.is_reused)
        store_files_make_directory(bench.arguments.directory);
    print_machine(&bench);
    open_json(&bench);
    path_of(&bench, "access.log", path);
    skip_rows_make(&bench.rows, path, bench.arguments.megabytes * 1000000, bench.arguments.seed);
    if (!bench.arguments.has_only_costs)
        run_stores(&bench);
    if (!bench.arguments.has_no_costs)
        run_costs(&bench);
    skip_rows_deinit(&bench.rows);
    if (bench.json != NULL)
        fclose(bench.json);
    if (!bench.arguments.is_kept)
        store_files_remove(bench.arguments.directory);
    return bench.has_wrong_count ? 1 : 0;
}
