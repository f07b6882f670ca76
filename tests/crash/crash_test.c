/* Goal: whenever the power fails, the store opens again, has lost nothing that was durable, shows
 * the state after some commit, and verifies; so also when the power fails again during that
 * recovery. Method: workloads on a file system in memory. Before every call that changes something,
 * images of what a disk may hold are made (nothing unsynced, names without bytes, bytes without
 * names, everything, and drawn mixtures), and a store is opened on each of them. In a part of them
 * the power fails a second time before each call of the recovery. Every sync and directory sync of
 * the product can be removed from the sources, and this test then fails: scripts/remove_syncs shows
 * it.
 *
 * BB_TEST_CRASH_SEEDS sets the number of drawn mixtures per call (default 3), BB_TEST_SEED their
 * seed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/crash/history.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define DIRECTORY "/data/store"

struct crash_run {
    const char *workload;
    uint64_t seed;
    uint64_t mixtures;
    struct history history;
    struct bb_file_memory *memory;
    struct bb_db *db;
    struct bb_db_options options;
    bool is_nested; /* crash in recovery too */
    uint64_t states;
    uint64_t nested_states;
    uint64_t calls;
};

static void die(const struct crash_run *run, const struct bb_crash *crash, const char *what)
{
    fprintf(stderr,
            "crash_test: workload %s, before call %" PRIu64 " (acknowledged %" PRIu64
            ", durable %" PRIu64 "), crash bytes %d names %d seed %" PRIu64 ": %s\n",
            run->workload, run->calls, run->history.acknowledged, run->history.durable,
            (int)crash->bytes, (int)crash->names, crash->seed, what);
    exit(1);
}

static struct bb_db_options small_options(struct bb_file_memory *memory)
{
    return (struct bb_db_options){
        .create_if_missing = true,
        .file_system = bb_file_memory_system(memory),
        .write_buffer_bytes = 64 * 1024,
        .block_size_bytes = 512,
        .table_size_bytes = 16 * 1024,
        .level0_run_count_compact = 2,
        .level0_run_count_stop = 4,
        .level1_size_bytes = 32 * 1024,
        .level_size_ratio = 2,
        .open_tables_max = 16,
        .deterministic = true,
    };
}

/* What the store says it has recovered, after everything was compared. */
static uint64_t check_content(const struct crash_run *run, const struct bb_crash *crash,
                              struct bb_db *db)
{
    char message[2048];
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    if (stats.last_sequence < run->history.durable)
        die(run, crash, "a durable commit is lost");
    if (!history_is_commit(&run->history, stats.last_sequence))
        die(run, crash, "a commit is there in part");
    if (history_compare(&run->history, stats.last_sequence, db, message, sizeof(message)) != 0)
        die(run, crash, message);
    return stats.last_sequence;
}

static void check_verifies(const struct crash_run *run, const struct bb_crash *crash,
                           struct bb_file_memory *image)
{
    struct bb_db_options options = small_options(image);
    struct bb_db_verify_report report;
    if (bb_db_verify(DIRECTORY, &options, &report) != BB_OK)
        die(run, crash, bb_error_last()->message);
    if (report.orphans != 0)
        die(run, crash, "files of ours that nothing refers to are left after opening");
}

/* The power fails again while a store recovers: the second image must open with the same promise.
 */
struct nested {
    struct crash_run *run;
    const struct bb_crash *crash;
};

static void open_nested(struct crash_run *run, const struct bb_crash *crash,
                        struct bb_file_memory *image)
{
    struct bb_db_options options = small_options(image);
    struct bb_db *db = NULL;
    if (bb_db_open(DIRECTORY, &options, &db) != BB_OK)
        die(run, crash, bb_error_last()->message);
    check_content(run, crash, db);
    if (bb_db_close(db) != BB_OK)
        die(run, crash, bb_error_last()->message);
    run->nested_states++;
}

static enum bb_status crash_again(void *context, struct bb_file_memory *memory, uint64_t number,
                                  enum bb_file_call call, const char *path)
{
    struct nested *nested = context;
    (void)number;
    (void)call;
    (void)path;
    struct bb_crash again = {.bytes = BB_CRASH_BYTES_NONE,
                             .names = BB_CRASH_NAMES_ANY,
                             .seed = nested->run->nested_states};
    if (nested->run->nested_states % 2 == 0)
        again = (struct bb_crash){0};
    struct bb_file_memory *image = bb_file_memory_crash(memory, &again);
    open_nested(nested->run, nested->crash, image);
    bb_file_memory_destroy(image);
    return BB_OK;
}

static void check_image(struct crash_run *run, const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(run->memory, crash);
    struct bb_db_options options = small_options(image);
    struct nested nested = {.run = run, .crash = crash};
    struct bb_db *db = NULL;
    if (run->is_nested)
        bb_file_memory_set_hook(image, crash_again, &nested);
    if (bb_db_open(DIRECTORY, &options, &db) != BB_OK)
        die(run, crash, bb_error_last()->message);
    bb_file_memory_set_hook(image, NULL, NULL);
    uint64_t recovered = check_content(run, crash, db);
    /* The store must be able to go on from here: its next write is the next sequence, and survives.
     */
    if (bb_db_put(db, &(struct bb_write_options){.sync = true},
                  (struct bb_bytes){.data = (const uint8_t *)"zz", .size = 2},
                  (struct bb_bytes){0}) != BB_OK)
        die(run, crash, bb_error_last()->message);
    if (bb_db_close(db) != BB_OK)
        die(run, crash, bb_error_last()->message);
    struct bb_file_memory *second = bb_file_memory_crash(image, &(struct bb_crash){0});
    options = small_options(second);
    if (bb_db_open(DIRECTORY, &options, &db) != BB_OK)
        die(run, crash, bb_error_last()->message);
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    if (stats.last_sequence != recovered + 1)
        die(run, crash, "a synced write after recovery is lost or has another sequence");
    if (bb_db_close(db) != BB_OK)
        die(run, crash, bb_error_last()->message);
    check_verifies(run, crash, second);
    bb_file_memory_destroy(second);
    bb_file_memory_destroy(image);
    run->states++;
}

/* Inside a call of the store under test: nothing of that store is touched here. */
static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct crash_run *run = context;
    static const struct bb_crash fixed[] = {
        {.bytes = BB_CRASH_BYTES_NONE, .names = BB_CRASH_NAMES_NONE},
        {.bytes = BB_CRASH_BYTES_NONE, .names = BB_CRASH_NAMES_ALL},
        {.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_NONE},
        {.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL},
    };
    (void)memory;
    (void)call;
    (void)path;
    run->calls = number;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        check_image(run, &fixed[i]);
    for (uint64_t i = 0; i < run->mixtures; i++) {
        struct bb_crash crash = {.bytes = BB_CRASH_BYTES_ANY,
                                 .names = BB_CRASH_NAMES_ANY,
                                 .seed = run->seed + number * 1000 + i};
        check_image(run, &crash);
    }
    return BB_OK;
}

static void must(const struct crash_run *run, enum bb_status status)
{
    if (status == BB_OK)
        return;
    fprintf(stderr, "crash_test: workload %s: %s\n", run->workload, bb_error_last()->message);
    exit(1);
}

static void open_store(struct crash_run *run)
{
    run->options = small_options(run->memory);
    must(run, bb_db_open(DIRECTORY, &run->options, &run->db));
    /* What was recovered has been written to tables and synced. */
    history_end(&run->history, true);
}

static void close_store(struct crash_run *run)
{
    must(run, bb_db_close(run->db));
    history_end(&run->history, true);
}

static void write_one(struct crash_run *run, uint32_t key, bool is_put, uint32_t value_size,
                      bool sync)
{
    struct bb_write_options options = {.sync = sync};
    struct history_operation operation = {
        .key = key % HISTORY_KEYS, .is_put = is_put, .value_size = value_size};
    char text[16];
    uint8_t *value = bb_must_realloc(NULL, value_size + 1);
    history_begin(&run->history, &operation, 1);
    struct bb_bytes k = history_key(operation.key, text);
    must(run, is_put ? bb_db_put(run->db, &options, k,
                                 history_value(&run->history, run->history.operation_count, value))
                     : bb_db_delete(run->db, &options, k));
    history_end(&run->history, sync);
    free(value);
}

static void write_batch(struct crash_run *run, uint32_t first_key, size_t count, bool sync)
{
    struct history_operation operations[8];
    struct bb_batch *batch = NULL;
    uint8_t value[1000];
    char text[16];
    for (size_t i = 0; i < count; i++)
        operations[i] = (struct history_operation){.key = (first_key + (uint32_t)i) % HISTORY_KEYS,
                                                   .is_put = i % 3 != 2,
                                                   .value_size = 900};
    uint64_t sequence = run->history.operation_count;
    history_begin(&run->history, operations, count);
    must(run, bb_batch_create(&batch));
    for (size_t i = 0; i < count; i++) {
        struct bb_bytes key = history_key(operations[i].key, text);
        must(run,
             operations[i].is_put
                 ? bb_batch_put(batch, key, history_value(&run->history, sequence + i + 1, value))
                 : bb_batch_delete(batch, key));
    }
    must(run, bb_db_write(run->db, &(struct bb_write_options){.sync = sync}, batch));
    history_end(&run->history, sync);
    bb_batch_destroy(batch);
}

static void flush(struct crash_run *run)
{
    must(run, bb_db_flush(run->db));
    history_end(&run->history, true);
}

static void compact(struct crash_run *run)
{
    must(run, bb_db_compact(run->db));
    history_end(&run->history, true);
}

/* Creation, a few writes of each sort, close. */
static void workload_create(struct crash_run *run)
{
    open_store(run);
    write_one(run, 1, true, 100, false);
    write_one(run, 2, true, 100, true);
    write_one(run, 1, false, 0, false);
    write_batch(run, 3, 5, false);
    write_batch(run, 4, 3, true);
    close_store(run);
}

/* Full write buffers: rotation of logs, flushes, compactions by themselves. */
static void workload_fill(struct crash_run *run)
{
    open_store(run);
    for (uint32_t i = 0; i < 110; i++)
        write_one(run, i * 7, i % 9 != 8, 3000, i % 25 == 24);
    close_store(run);
}

/* Flush and compaction by request, with reopening between. */
static void workload_compact(struct crash_run *run)
{
    open_store(run);
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 6; i++)
            write_one(run, round * 5 + i, i % 4 != 3, 700, false);
        flush(run);
        if (round == 2) {
            close_store(run);
            open_store(run);
        }
    }
    compact(run);
    write_one(run, 3, true, 50, false);
    compact(run);
    close_store(run);
}

/* The store dies and is opened again, several times, with something in the log each time. */
static void workload_recover(struct crash_run *run)
{
    for (uint32_t round = 0; round < 3; round++) {
        open_store(run);
        for (uint32_t i = 0; i < 4; i++)
            write_one(run, round * 3 + i, true, 200, i == 1);
        struct bb_file_memory *dead = run->memory;
        run->memory = bb_file_memory_clone(dead);
        bb_file_memory_set_hook(dead, NULL, NULL);
        must(run, bb_db_close(run->db));
        bb_file_memory_destroy(dead);
        bb_file_memory_set_hook(run->memory, on_call, run);
    }
    open_store(run);
    close_store(run);
}

static void run_workload(const char *name, void (*workload)(struct crash_run *), bool is_nested,
                         uint64_t seed, uint64_t mixtures)
{
    struct crash_run run = {
        .workload = name, .seed = seed, .mixtures = mixtures, .is_nested = is_nested};
    run.memory = bb_file_memory_create(seed);
    struct bb_file_system *fs = bb_file_memory_system(run.memory);
    must(&run, fs->ops->make_directory(fs, "/data"));
    must(&run, fs->ops->sync_directory(fs, "/"));
    bb_file_memory_set_hook(run.memory, on_call, &run);
    workload(&run);
    printf("%s: %" PRIu64 " calls, %" PRIu64 " crash states, %" PRIu64 " with a second crash\n",
           name, run.calls, run.states, run.nested_states);
    bb_file_memory_destroy(run.memory);
    history_deinit(&run.history);
    if (run.states == 0) {
        fprintf(stderr, "crash_test: workload %s made no crash state\n", name);
        exit(1);
    }
}

int main(void)
{
    const char *text = getenv("BB_TEST_CRASH_SEEDS");
    uint64_t mixtures = text == NULL ? 3 : strtoull(text, NULL, 10);
    uint64_t seed = bb_rng_seed("crash_test", 1);
    run_workload("create", workload_create, true, seed, mixtures);
    run_workload("recover", workload_recover, true, seed, mixtures);
    run_workload("compact", workload_compact, false, seed, mixtures);
    run_workload("fill", workload_fill, false, seed, mixtures);
    printf("no state that breaks the promise\n");
    return 0;
}
