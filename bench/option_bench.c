/* The gain and the cost of each expert option, in stores that differ in one option
 * (docs/options.md, "Why the expert options exist").
 *
 *     option_bench DIRECTORY [keys, default 1000000 [loads, default 3 [group]]]
 *
 * Keys of 16 bytes, values of 100, in random order. Each store of a group is loaded `loads` times,
 * in a separate process and a new folder of the directory. Then the stores take turns to read. The
 * first row of a group has figures, medians over the turns. The other rows have the medians of the
 * ratios to it within a turn, except in the columns of counts, which have counts in all rows:
 *
 *     put       nanoseconds by the clock until the last put, each
 *     load      nanoseconds of processor time of all threads until the store is idle, each put
 *     written   bytes of logs, flushes and compactions for each byte of keys and values
 *     runs      count: of runs, the mean while the store is loaded
 *     disk      MiB of the files
 *     filters   MiB of filters in them
 *     deleted   count: of tombstones of keys in tables
 *     memory    MiB, anonymous, of a process that opens the store and gets keys, less before
 *     present   nanoseconds of the thread for a get of a stored key
 *     reads     count: preads of it
 *     absent    nanoseconds of the thread for a get of a key that is not stored
 *     reads     count: preads of it
 *     seek      nanoseconds of the thread for a new iterator, a seek and ten entries
 *     scan      nanoseconds of the thread for an entry of 50,000 in order
 *
 * A wrong result ends the program. Times are printed and not judged.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_forward.h"
#include "bb/db.h"
#include "bb/db_iter.h"
#include "bench/counters.h"
#include "bench/die.h"
#include "bench/option_groups.h"
#include "bench/process_clock.h"
#include "bench/store_files.h"
#include "bench/thread_clock.h"
#include "bench/turns.h"
#include "bench/workload.h"

#define KEYS_DEFAULT  1000000
#define LOADS_DEFAULT 3
#define READ_TURNS    20
#define STORES_MAX    32
#define KEY_SIZE      16
#define VALUE_SIZE    100
#define BATCH         128
#define SEEK_LENGTH   10
#define PRESENT_SLICE 5000
#define ABSENT_SLICE  100000
#define SEEK_SLICE    1000
#define SCAN_SLICE    50000
#define LOOKUPS_MAX   200000
#define RUN_SAMPLES   64
#define MIB           1048576.0

enum figure {
    FIGURE_PUT,
    FIGURE_LOAD,
    FIGURE_WRITTEN,
    FIGURE_RUNS,
    FIGURE_DISK,
    FIGURE_FILTERS,
    FIGURE_DELETED,
    FIGURE_MEMORY,
    FIGURE_PRESENT,
    FIGURE_PRESENT_READS,
    FIGURE_ABSENT,
    FIGURE_ABSENT_READS,
    FIGURE_SEEK,
    FIGURE_SCAN,
    FIGURE_COUNT
};

static const struct {
    const char *name;
    bool is_count; /* counts are not compared */
    bool is_read;  /* measured in the turns of the reads */
} columns[FIGURE_COUNT] = {
    [FIGURE_PUT] = {"put", false, false},         [FIGURE_LOAD] = {"load", false, false},
    [FIGURE_WRITTEN] = {"written", false, false}, [FIGURE_RUNS] = {"runs", true, false},
    [FIGURE_DISK] = {"disk", false, false},       [FIGURE_FILTERS] = {"filters", false, false},
    [FIGURE_DELETED] = {"deleted", true, false},  [FIGURE_MEMORY] = {"memory", false, false},
    [FIGURE_PRESENT] = {"present", false, true},  [FIGURE_PRESENT_READS] = {"reads", true, false},
    [FIGURE_ABSENT] = {"absent", false, true},    [FIGURE_ABSENT_READS] = {"reads", true, false},
    [FIGURE_SEEK] = {"seek", false, true},        [FIGURE_SCAN] = {"scan", false, true},
};

struct side {
    const struct option_store *store;
    char directory[PATH_MAX];
    struct bb_db *db;
};

struct bench {
    const char *parent; /* of the directories */
    struct workload workload;
    const struct option_group *group;
    struct side sides[STORES_MAX]; /* the group's stores */
    size_t load_count;
    double *figures; /* of a load; shared with the child */
    struct turns turns[FIGURE_COUNT];
};

static void open_store(struct side *side)
{
    static struct bb_file_forward plain;
    struct bb_db_options options = side->store->options;
    options.create_if_missing = true;
    if (side->store->is_plain && plain.inner == NULL) {
        struct bb_file_system *files = NULL;
        bench_must(bb_file_system_posix_create(&files));
        bb_file_forward_init(&plain, files);
    }
    if (side->store->is_plain)
        options.file_system = &plain.base;
    bench_must(bb_db_open(side->directory, &options, &side->db));
}

/* ---- batches, whose keys and values are made while no time is measured ---- */

struct batch {
    uint8_t keys[BATCH][KEY_SIZE];
    uint8_t values[BATCH][VALUE_SIZE];
    size_t count;
};

static struct bb_bytes key_of(const struct batch *batch, size_t i)
{
    return (struct bb_bytes){.data = batch->keys[i], .size = KEY_SIZE};
}

static struct bb_bytes value_of(const struct batch *batch, size_t i)
{
    return (struct bb_bytes){.data = batch->values[i], .size = VALUE_SIZE};
}

static void add_to_batch(const struct workload *workload, uint64_t number, struct batch *batch)
{
    workload_key(workload, number, batch->keys[batch->count]);
    workload_value(workload, number, batch->values[batch->count++]);
}

/* ---- the load ---- */

static double put_batch(struct bb_db *db, struct batch *batch, bool is_deletion)
{
    uint64_t begin = clock_nanoseconds();
    for (size_t i = 0; i < batch->count; i++) {
        if (is_deletion)
            bench_must(bb_db_delete(db, NULL, key_of(batch, i)));
        else
            bench_must(bb_db_put(db, NULL, key_of(batch, i), value_of(batch, i)));
    }
    batch->count = 0;
    return (double)(clock_nanoseconds() - begin);
}

static double run_count(struct bb_db *db)
{
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    return (double)stats.run_count;
}

/* Puts or deletes each step-th key, from the first one on; returns the time. */
static double put_keys(const struct bench *bench, struct bb_db *db, uint64_t first, uint64_t step,
                       bool is_deletion)
{
    static struct batch batch;
    uint64_t count = bench->workload.options.key_count;
    double time = 0;
    for (uint64_t i = first; i < count; i += step) {
        add_to_batch(&bench->workload, workload_number(&bench->workload, i), &batch);
        if (batch.count == BATCH || i + step >= count)
            time += put_batch(db, &batch, is_deletion);
        if (i % (count / RUN_SAMPLES + 1) == 0 && !is_deletion)
            bench->figures[FIGURE_RUNS] += run_count(db) / RUN_SAMPLES;
    }
    return time;
}

static void put_all(const struct bench *bench, struct bb_db *db)
{
    double time = put_keys(bench, db, 0, 1, false);
    bench->figures[FIGURE_PUT] = time / (double)bench->workload.options.key_count;
    if (bench->group->load != OPTION_LOAD_DELETES)
        return;
    (void)put_keys(bench, db, 0, 2, true);
    (void)put_keys(bench, db, 1, 2, false);
}

static void note_load(const struct bench *bench, struct bb_db *db)
{
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    double written =
        (double)(stats.wal_bytes + stats.flush_bytes_written + stats.compaction_bytes_written);
    bench->figures[FIGURE_WRITTEN] = written / (double)stats.write_bytes;
    bench->figures[FIGURE_FILTERS] = (double)stats.filter_bytes / MIB;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        bench->figures[FIGURE_DELETED] += (double)stats.levels[level].tombstone_count;
}

static void load_store(struct bench *bench, struct side *side)
{
    uint64_t begin = process_clock_now();
    open_store(side);
    put_all(bench, side->db);
    bench_must(bb_db_flush(side->db));
    if (bench->group->load == OPTION_LOAD_COMPACT)
        bench_must(bb_db_compact(side->db));
    bench_must(bb_db_wait_idle(side->db));
    bench->figures[FIGURE_LOAD] =
        process_clock_since(begin) / (double)bench->workload.options.key_count;
    note_load(bench, side->db);
    bench_must(bb_db_close(side->db));
    bench->figures[FIGURE_DISK] = (double)store_files_size(side->directory) / MIB;
}

/* ---- reads ---- */

static bool is_stored(const struct bench *bench, uint64_t number)
{
    uint64_t index = 0;
    return workload_index(&bench->workload, number, &index) &&
           (bench->group->load != OPTION_LOAD_DELETES || index % 2 == 1);
}

static void get(struct bb_db *db, const struct batch *batch, size_t i, bool is_present,
                struct bb_buf *value)
{
    enum bb_status status = bb_db_get(db, NULL, key_of(batch, i), value);
    if (!is_present && status == BB_NOT_FOUND)
        return;
    bench_must(status);
    if (!is_present || value->size != VALUE_SIZE ||
        memcmp(value->data, batch->values[i], VALUE_SIZE) != 0)
        bench_die("a get has a wrong result");
}

static double get_batch(struct bb_db *db, struct batch *batch, bool is_present)
{
    static struct bb_buf value;
    double begin = thread_clock_now();
    for (size_t i = 0; i < batch->count; i++)
        get(db, batch, i, is_present, &value);
    batch->count = 0;
    return thread_clock_now() - begin;
}

struct gets {
    double time;
    double count;
};

/* Gets the keys among `count` numbers, from the first one on, that are stored, or the
 * other ones. */
static struct gets get_keys(const struct bench *bench, struct bb_db *db, bool is_present,
                            uint64_t first, uint64_t count)
{
    static struct batch batch;
    const uint64_t *numbers = is_present ? bench->workload.present : bench->workload.absent;
    struct gets gets = {0};
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = numbers[(first + i) % bench->workload.options.lookup_count];
        if (is_stored(bench, number) == is_present) {
            add_to_batch(&bench->workload, number, &batch);
            gets.count++;
        }
        if (batch.count == BATCH || i + 1 == count)
            gets.time += get_batch(db, &batch, is_present);
    }
    return gets;
}

/* Steps over at most `count` entries; returns their number. */
static uint64_t walk(struct bb_db_iter *iter, uint64_t count)
{
    uint64_t seen = 0;
    for (; seen < count && bb_db_iter_valid(iter); seen++) {
        if (bb_db_iter_value(iter).size != VALUE_SIZE)
            bench_die("an iterator has a wrong value");
        bb_db_iter_next(iter);
    }
    bench_must(bb_db_iter_status(iter));
    return seen;
}

static uint64_t read_range(const struct bench *bench, struct bb_db *db, uint64_t i, uint64_t count)
{
    uint8_t key[KEY_SIZE];
    struct bb_db_iter *iter = NULL;
    uint64_t number = bench->workload.present[i % bench->workload.options.lookup_count];
    workload_key(&bench->workload, number, key);
    bench_must(bb_db_iter_create(db, NULL, &iter));
    bb_db_iter_seek(iter, (struct bb_bytes){.data = key, .size = KEY_SIZE});
    uint64_t seen = walk(iter, count);
    bb_db_iter_destroy(iter);
    return seen;
}

static double seek_keys(const struct bench *bench, struct bb_db *db, uint64_t first, uint64_t count)
{
    double begin = thread_clock_now();
    for (uint64_t i = 0; i < count; i++)
        (void)read_range(bench, db, first + i, SEEK_LENGTH);
    return (thread_clock_now() - begin) / (double)count;
}

static double scan_keys(const struct bench *bench, struct bb_db *db, uint64_t first)
{
    double begin = thread_clock_now();
    uint64_t seen = read_range(bench, db, first, SCAN_SLICE);
    return seen == 0 ? 0 : (thread_clock_now() - begin) / (double)seen;
}

static void check_scan(const struct bench *bench, struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    uint64_t count = bench->workload.options.key_count;
    bench_must(bb_db_iter_create(db, NULL, &iter));
    bb_db_iter_seek_first(iter);
    if (walk(iter, UINT64_MAX) != (bench->group->load == OPTION_LOAD_DELETES ? count / 2 : count))
        bench_die("a scan has a wrong number of entries");
    bb_db_iter_destroy(iter);
}

static uint64_t reads_so_far(struct bb_db *db)
{
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    return stats.system_reads;
}

/* Preads of a get; the first pass fills the caches. */
static double count_reads(const struct bench *bench, struct bb_db *db, bool is_present)
{
    uint64_t lookups = bench->workload.options.lookup_count;
    (void)get_keys(bench, db, is_present, 0, lookups / 2);
    uint64_t begin = reads_so_far(db);
    struct gets gets = get_keys(bench, db, is_present, lookups / 2, lookups / 2);
    return (double)(reads_so_far(db) - begin) / gets.count;
}

static void note_memory(struct bench *bench, struct side *side)
{
    double before = (double)counters_anonymous_bytes();
    open_store(side);
    bench->figures[FIGURE_ABSENT_READS] = count_reads(bench, side->db, false);
    bench->figures[FIGURE_PRESENT_READS] = count_reads(bench, side->db, true);
    bench->figures[FIGURE_MEMORY] = ((double)counters_anonymous_bytes() - before) / MIB;
    check_scan(bench, side->db);
    bench_must(bb_db_close(side->db));
}

/* ---- turns ---- */

/* Runs a part in a separate process, whose memory and processor time are then only the part's. The
 * parent has opened no store yet: memory that it had freed would serve the child. */
static void run_part(struct bench *bench, struct side *side,
                     void (*part)(struct bench *bench, struct side *side))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        bench_die("fork failed");
    if (child == 0) {
        part(bench, side);
        fflush(stdout);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        bench_die("the group %s failed", bench->group->name);
}

/* The store of the last turn stays. */
static void take_load(struct bench *bench, size_t place, size_t turn)
{
    struct side *side = &bench->sides[place];
    memset(bench->figures, 0, FIGURE_COUNT * sizeof(bench->figures[0]));
    if (turn > 0)
        store_files_remove(side->directory);
    store_files_make_directory(side->directory);
    run_part(bench, side, load_store);
    run_part(bench, side, note_memory);
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (!columns[i].is_read)
            turns_note(&bench->turns[i], place, turn, bench->figures[i]);
}

static uint64_t slice_length(const struct bench *bench, uint64_t length)
{
    uint64_t lookups = bench->workload.options.lookup_count;
    return length < lookups ? length : lookups;
}

static void take_gets(struct bench *bench, size_t place, size_t turn)
{
    struct bb_db *db = bench->sides[place].db;
    uint64_t absent = slice_length(bench, ABSENT_SLICE);
    uint64_t present = slice_length(bench, PRESENT_SLICE);
    struct gets gets = get_keys(bench, db, false, turn * absent, absent);
    turns_note(&bench->turns[FIGURE_ABSENT], place, turn, gets.time / gets.count);
    gets = get_keys(bench, db, true, turn * present, present);
    turns_note(&bench->turns[FIGURE_PRESENT], place, turn, gets.time / gets.count);
}

static void take_ranges(struct bench *bench, size_t place, size_t turn)
{
    struct bb_db *db = bench->sides[place].db;
    uint64_t seeks = slice_length(bench, SEEK_SLICE);
    turns_note(&bench->turns[FIGURE_SEEK], place, turn, seek_keys(bench, db, turn * seeks, seeks));
    turns_note(&bench->turns[FIGURE_SCAN], place, turn, scan_keys(bench, db, turn));
}

static void take_turns(struct bench *bench, void (*take)(struct bench *, size_t, size_t))
{
    size_t count = bench->group->store_count;
    for (size_t turn = 0; turn < READ_TURNS; turn++)
        for (size_t i = 0; i < count; i++)
            take(bench, turns_side(count, turn, i), turn);
}

/* All stores are open at the same time. The first gets fill their caches. Iterators follow, because
 * they may cause compactions. */
static void read_stores(struct bench *bench)
{
    size_t count = bench->group->store_count;
    uint64_t lookups = bench->workload.options.lookup_count;
    for (size_t i = 0; i < count; i++) {
        open_store(&bench->sides[i]);
        (void)get_keys(bench, bench->sides[i].db, false, 0, lookups);
        (void)get_keys(bench, bench->sides[i].db, true, 0, lookups);
    }
    take_turns(bench, take_gets);
    take_turns(bench, take_ranges);
    for (size_t i = 0; i < count; i++) {
        bench_must(bb_db_close(bench->sides[i].db));
        store_files_remove(bench->sides[i].directory);
    }
}

/* ---- the report ---- */

static void print_figure(const struct bench *bench, enum figure figure, size_t side)
{
    const struct turns *turns = &bench->turns[figure];
    bool is_ratio = side > 0 && !columns[figure].is_count;
    double value = is_ratio ? turns_ratio(turns, side, 0) : turns_median(turns, side);
    if (isnan(value) && columns[figure].is_count)
        value = 0; /* in all turns */
    if (isnan(value))
        printf("%9s", "-");
    else
        printf("%9.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

static void print_group(const struct bench *bench)
{
    printf("%s: %s\n%-32s", bench->group->name, bench->group->text, "");
    for (size_t figure = 0; figure < FIGURE_COUNT; figure++)
        printf("%9s", columns[figure].name);
    printf("\n");
    for (size_t side = 0; side < bench->group->store_count; side++) {
        printf("%-32s", bench->group->stores[side].name);
        for (size_t figure = 0; figure < FIGURE_COUNT; figure++)
            print_figure(bench, (enum figure)figure, side);
        printf("\n");
    }
    printf("\n");
    fflush(stdout);
}

static void begin_group(struct bench *bench)
{
    if (bench->group->store_count > STORES_MAX)
        bench_die("the group %s has more than %d stores", bench->group->name, STORES_MAX);
    for (size_t i = 0; i < bench->group->store_count; i++) {
        bench->sides[i].store = &bench->group->stores[i];
        snprintf(bench->sides[i].directory, PATH_MAX, "%s/option_bench.%ld.%zu", bench->parent,
                 (long)getpid(), i);
    }
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        turns_init(&bench->turns[i], bench->group->store_count,
                   columns[i].is_read ? READ_TURNS : bench->load_count);
}

static void measure_group(struct bench *bench, struct side *unused)
{
    size_t count = bench->group->store_count;
    (void)unused;
    begin_group(bench);
    for (size_t turn = 0; turn < bench->load_count; turn++)
        for (size_t i = 0; i < count; i++)
            take_load(bench, turns_side(count, turn, i), turn);
    read_stores(bench);
    print_group(bench);
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        turns_deinit(&bench->turns[i]);
}

static void measure_groups(struct bench *bench, const char *name)
{
    size_t count = 0;
    size_t found = 0;
    const struct option_group *groups = option_groups(&count);
    for (size_t i = 0; i < count; i++) {
        if (name != NULL && strcmp(name, groups[i].name) != 0)
            continue;
        bench->group = &groups[i];
        run_part(bench, NULL, measure_group);
        found++;
    }
    if (found == 0)
        bench_die("there is no group %s", name);
}

static uint64_t number_argument(int argc, char **argv, int index, uint64_t otherwise)
{
    return argc > index ? strtoull(argv[index], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    if (argc < 2)
        bench_die("usage: option_bench DIRECTORY [keys [loads [group]]]");
    bench.parent = argv[1];
    struct workload_options options = {.key_count = number_argument(argc, argv, 2, KEYS_DEFAULT),
                                       .key_size = KEY_SIZE,
                                       .value_size = VALUE_SIZE,
                                       .seed = 1};
    options.lookup_count = options.key_count < LOOKUPS_MAX ? options.key_count : LOOKUPS_MAX;
    workload_init(&bench.workload, &options);
    bench.figures = workload_allocate(FIGURE_COUNT, sizeof(bench.figures[0]));
    bench.load_count = number_argument(argc, argv, 3, LOADS_DEFAULT);
    measure_groups(&bench, argc > 4 ? argv[4] : NULL);
    workload_release(bench.figures, FIGURE_COUNT, sizeof(bench.figures[0]));
    workload_deinit(&bench.workload);
    return 0;
}
