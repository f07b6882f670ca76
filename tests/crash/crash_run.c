/* See crash_run.h. */
#include "bb/db_files.h"
#include "tests/crash/crash_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

/* More than the unsynced writes after which a log gets a window (kv/wal/wal_writer.c). */
#define WINDOW_PUTS 36

static void die(const struct crash_run *run, const struct bb_crash *crash, const char *what)
{
    fprintf(stderr,
            "crash_test: workload %s, before call %" PRIu64 " (acknowledged %" PRIu64
            ", durable %" PRIu64 "), crash bytes %d names %d seed %" PRIu64 ": %s\n",
            run->workload, run->calls, run->history.acknowledged, run->history.durable,
            (int)crash->bytes, (int)crash->names, crash->seed, what);
    fprintf(stderr, "    replay: %s\n", run->replay);
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
        .level0_run_count_busy = 2,
        .level0_run_count_stop = 4,
        .level1_size_bytes = 32 * 1024,
        .level_size_ratio = 2,
        .open_tables_max = 16,
        .deterministic = true,
    };
}

/* ---- requirements for an image ---- */

static uint64_t last_sequence(struct bb_db *db)
{
    struct bb_db_stats stats;
    bb_db_stats(db, &stats);
    return stats.last_sequence;
}

/* With everything kept, a crash is the death of the process. */
static bool is_process_death(const struct bb_crash *crash)
{
    return crash->bytes == BB_CRASH_BYTES_ALL && crash->names == BB_CRASH_NAMES_ALL;
}

/* Returns the recovered sequence that the store reports, after comparing everything. */
static uint64_t check_content(const struct crash_run *run, const struct bb_crash *crash,
                              struct bb_db *db)
{
    char message[2048];
    uint64_t sequence = last_sequence(db);
    if (sequence < run->history.durable)
        die(run, crash, "a durable commit is lost");
    if (is_process_death(crash) && run->keeps_process_death && sequence < run->history.acknowledged)
        die(run, crash, "an acknowledged commit is lost with the process");
    if (!history_is_commit(&run->history, sequence))
        die(run, crash, "a commit is there in part");
    if (history_compare(&run->history, sequence, db, message, sizeof(message)) != 0)
        die(run, crash, message);
    return sequence;
}

static struct bb_db *open_image(const struct crash_run *run, const struct bb_crash *crash,
                                struct bb_file_memory *image)
{
    struct bb_db_options options = small_options(image);
    struct bb_db *db = NULL;
    if (bb_db_open(CRASH_DIRECTORY, &options, &db) != BB_OK)
        die(run, crash, bb_error_last()->message);
    return db;
}

static void close_image(const struct crash_run *run, const struct bb_crash *crash, struct bb_db *db)
{
    if (bb_db_close(db) != BB_OK)
        die(run, crash, bb_error_last()->message);
}

/* The power fails again while a store recovers: the second image has the same guarantees. */
struct nested {
    struct crash_run *run;
    const struct bb_crash *crash;
};

static enum bb_status crash_again(void *context, struct bb_file_memory *memory, uint64_t number,
                                  enum bb_file_call call, const char *path)
{
    struct nested *nested = context;
    struct crash_run *run = nested->run;
    (void)number;
    (void)call;
    (void)path;
    struct bb_crash again = {.bytes = BB_CRASH_BYTES_NONE,
                             .names = BB_CRASH_NAMES_ANY,
                             .seed = run->seed + run->nested_images};
    if (run->nested_images % 3 == 0)
        again = (struct bb_crash){0};
    else if (run->nested_images % 3 == 1)
        again.bytes = BB_CRASH_BYTES_ANY;
    struct bb_file_memory *image = bb_file_memory_crash(memory, &again);
    struct bb_db *db = open_image(run, nested->crash, image);
    check_content(run, nested->crash, db);
    close_image(run, nested->crash, db);
    bb_file_memory_destroy(image);
    run->nested_images++;
    return BB_OK;
}

static struct bb_db *recover(struct crash_run *run, const struct bb_crash *crash,
                             struct bb_file_memory *image)
{
    struct nested nested = {.run = run, .crash = crash};
    if (run->images % run->nested_interval == 0)
        bb_file_memory_set_hook(image, crash_again, &nested);
    struct bb_db *db = open_image(run, crash, image);
    bb_file_memory_set_hook(image, NULL, NULL);
    return db;
}

static void check_verifies(const struct crash_run *run, const struct bb_crash *crash,
                           struct bb_file_memory *image)
{
    struct bb_db_options options = small_options(image);
    struct bb_db_verify_report report;
    if (bb_db_verify(CRASH_DIRECTORY, &options, &report) != BB_OK)
        die(run, crash, bb_error_last()->message);
    if (report.orphans != 0)
        die(run, crash, "files of ours that nothing refers to are left after opening");
}

/* The store can continue: its next write is the next sequence, and survives another crash. */
static void check_goes_on(const struct crash_run *run, const struct bb_crash *crash,
                          struct bb_db *db, struct bb_file_memory *image, uint64_t recovered)
{
    static const struct bb_write_options synced = {.sync = true};
    struct bb_bytes key = {.data = (const uint8_t *)"zz", .size = 2};
    if (bb_db_put(db, &synced, key, (struct bb_bytes){0}) != BB_OK)
        die(run, crash, bb_error_last()->message);
    close_image(run, crash, db);
    struct bb_file_memory *second = bb_file_memory_crash(image, &(struct bb_crash){0});
    db = open_image(run, crash, second);
    if (last_sequence(db) != recovered + 1)
        die(run, crash, "a synced write after recovery is lost or has another sequence");
    close_image(run, crash, db);
    check_verifies(run, crash, second);
    bb_file_memory_destroy(second);
}

static void check_image(struct crash_run *run, const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(run->memory, crash);
    struct bb_db *db = recover(run, crash, image);
    uint64_t recovered = check_content(run, crash, db);
    check_goes_on(run, crash, db, image, recovered);
    bb_file_memory_destroy(image);
    run->images++;
}

/* The data that the next process reads back was never synced; its own synced write is safe all the
 * same. */
static void check_death(struct crash_run *run)
{
    static const struct bb_write_options synced = {.sync = true};
    static const struct bb_crash death = {.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL};
    struct bb_file_memory *image = bb_file_memory_clone(run->memory);
    struct bb_db *db = open_image(run, &death, image);
    uint64_t recovered = check_content(run, &death, db);
    struct bb_bytes key = {.data = (const uint8_t *)"zz", .size = 2};
    if (bb_db_put(db, &synced, key, (struct bb_bytes){0}) != BB_OK)
        die(run, &death, bb_error_last()->message);
    struct bb_file_memory *second = bb_file_memory_crash(image, &(struct bb_crash){0});
    close_image(run, &death, db);
    db = open_image(run, &death, second);
    if (last_sequence(db) != recovered + 1)
        die(run, &death, "a synced write after the death of a process is lost with the power");
    close_image(run, &death, db);
    bb_file_memory_destroy(second);
    bb_file_memory_destroy(image);
    run->deaths++;
}

/* One image with torn bytes, one with zeroed bytes, and so on. */
static void make_tails(struct crash_run *run)
{
    for (int bytes = BB_CRASH_BYTES_PREFIX; bytes < BB_CRASH_BYTES_ANY; bytes++) {
        struct bb_crash crash = {.bytes = (enum bb_crash_bytes)bytes,
                                 .names = BB_CRASH_NAMES_ANY,
                                 .seed = run->seed + run->calls * 1000 + 500 + (uint64_t)bytes};
        check_image(run, &crash);
    }
}

static void make_images(struct crash_run *run)
{
    static const struct bb_crash fixed[] = {
        {.bytes = BB_CRASH_BYTES_NONE, .names = BB_CRASH_NAMES_NONE},
        {.bytes = BB_CRASH_BYTES_NONE, .names = BB_CRASH_NAMES_ALL},
        {.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_NONE},
        {.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL},
    };
    if ((++run->calls + run->seed) % run->stride != 0 || run->is_paused)
        return;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        check_image(run, &fixed[i]);
    check_death(run);
    if (run->has_each_tail)
        make_tails(run);
    for (uint64_t i = 0; i < run->mixtures; i++) {
        struct bb_crash crash = {.bytes = BB_CRASH_BYTES_ANY,
                                 .names = BB_CRASH_NAMES_ANY,
                                 .seed = run->seed + run->calls * 1000 + i};
        check_image(run, &crash);
    }
}

/* ---- inside a call of the store under test: that store must not be touched here ---- */

static enum bb_status pass_gate(struct crash_run *run)
{
    bb_mutex_lock(&run->mutex);
    while (run->gate == CRASH_GATE_HELD)
        bb_condvar_wait(&run->gate_changed, &run->mutex);
    bool is_refused = run->gate == CRASH_GATE_REFUSED;
    bb_mutex_unlock(&run->mutex);
    return is_refused ? bb_fail(BB_NO_SPACE, "the worker's calls are refused") : BB_OK;
}

static bool takes_refusal(struct crash_run *run, enum bb_file_call call, const char *path)
{
    if (run->refused_path == NULL || run->refused_call != call ||
        strstr(path, run->refused_path) == NULL)
        return false;
    run->refused_path = NULL;
    return true;
}

static bool is_log(const char *path)
{
    size_t size = strlen(path);
    return size > 4 && strcmp(path + size - 4, ".wal") == 0;
}

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct crash_run *run = context;
    (void)memory;
    (void)number;
    if (!pthread_equal(pthread_self(), run->thread)) {
        enum bb_status status = pass_gate(run);
        if (status != BB_OK)
            return status;
    } else {
        run->logs += call == BB_FILE_CALL_CREATE && is_log(path);
    }
    struct bb_error failure = *bb_error_last(); /* of the store, not of the images' stores */
    make_images(run);
    (void)bb_error_restore(&failure);
    if (takes_refusal(run, call, path))
        return bb_fail(BB_IO, "%s of %s is refused", bb_file_call_name(call), path);
    return BB_OK;
}

/* ---- the actions of a workload ---- */

static void must(const struct crash_run *run, enum bb_status status)
{
    if (status == BB_OK)
        return;
    fprintf(stderr, "crash_test: workload %s: %s\n", run->workload, bb_error_last()->message);
    exit(1);
}

static void must_be(const struct crash_run *run, bool is_true, const char *otherwise)
{
    if (is_true)
        return;
    fprintf(stderr, "crash_test: workload %s: %s\n", run->workload, otherwise);
    exit(1);
}

static uint64_t stride(void)
{
    const char *text = getenv("BB_TEST_CRASH_STRIDE");
    uint64_t number = text == NULL ? 1 : strtoull(text, NULL, 10);
    return number == 0 ? 1 : number;
}

void crash_run_init(struct crash_run *run, const char *workload, uint64_t seed, uint64_t mixtures)
{
    *run = (struct crash_run){.workload = workload,
                              .seed = seed,
                              .mixtures = mixtures,
                              .stride = stride(),
                              .nested_interval = mixtures >= 10 ? 1 : 5,
                              .keeps_process_death = true,
                              .memory = bb_file_memory_create(seed),
                              .thread = pthread_self()};
    run->options = small_options(run->memory);
    bb_mutex_init(&run->mutex);
    bb_condvar_init(&run->gate_changed);
    struct bb_file_system *fs = bb_file_memory_system(run->memory);
    must(run, fs->ops->make_directory(fs, "/data"));
    must(run, fs->ops->sync_directory(fs, "/"));
    bb_file_memory_set_hook(run->memory, on_call, run);
}

void crash_run_deinit(struct crash_run *run)
{
    make_images(run);
    if (!run->is_quiet)
        printf("%s: %" PRIu64 " calls, %" PRIu64 " images, %" PRIu64 " of a second crash, %" PRIu64
               " of a death before the crash\n",
               run->workload, run->calls, run->images, run->nested_images, run->deaths);
    bb_file_memory_destroy(run->memory);
    history_deinit(&run->history);
    bb_condvar_deinit(&run->gate_changed);
    bb_mutex_deinit(&run->mutex);
}

uint64_t crash_run_states(const struct crash_run *run)
{
    return run->images + run->nested_images + run->deaths;
}

void crash_open(struct crash_run *run)
{
    must(run, bb_db_open(CRASH_DIRECTORY, &run->options, &run->db));
    /* The recovered data has been written to tables and synced. */
    history_end(&run->history, true);
}

void crash_close(struct crash_run *run)
{
    must(run, bb_db_close(run->db));
    history_end(&run->history, true);
}

void crash_rest(struct crash_run *run)
{
    crash_open(run);
    crash_close(run);
    uint64_t calls = run->calls;
    crash_open(run);
    crash_close(run);
    /* One call is the lock's. */
    must_be(run, run->calls == calls + 1, "a store at rest was changed by opening and closing it");
}

void crash_kill(struct crash_run *run)
{
    struct bb_file_memory *dead = run->memory;
    run->memory = bb_file_memory_clone(dead);
    run->options.file_system = bb_file_memory_system(run->memory);
    bb_file_memory_set_hook(dead, NULL, NULL);
    must(run, bb_db_close(run->db));
    bb_file_memory_destroy(dead);
    bb_file_memory_set_hook(run->memory, on_call, run);
}

/* The kernel may write pages of a window at any time. */
static void end_write(struct crash_run *run, bool is_durable)
{
    history_end(&run->history, is_durable);
    if (!run->has_windows)
        return;
    make_images(run);
    if (run->history.operation_count % 3 == 0)
        bb_file_memory_write_back(run->memory);
}

static enum bb_status write_one(struct crash_run *run, struct history_operation operation,
                                bool sync)
{
    struct bb_write_options options = {.sync = sync};
    char text[16];
    char high_text[16];
    uint8_t *value = bb_must_realloc(NULL, operation.value_size + 1);
    operation.key %= HISTORY_KEYS;
    history_begin(&run->history, &operation, 1);
    uint64_t sequence = run->history.operation_count;
    struct bb_bytes key = history_key(operation.key, text);
    struct bb_bytes high = history_key(operation.high_key, high_text);
    enum bb_status status = BB_OK;
    if (operation.is_put)
        status = bb_db_put(run->db, &options, key, history_value(&run->history, sequence, value));
    else if (operation.high_key != 0)
        status = bb_db_delete_range(run->db, &options, key, high);
    else
        status = bb_db_delete(run->db, &options, key);
    free(value);
    return status;
}

void crash_put(struct crash_run *run, uint32_t key, uint32_t value_size, bool sync)
{
    struct history_operation put = {.key = key, .is_put = true, .value_size = value_size};
    must(run, write_one(run, put, sync));
    end_write(run, sync);
}

void crash_delete(struct crash_run *run, uint32_t key, bool sync)
{
    must(run, write_one(run, (struct history_operation){.key = key}, sync));
    end_write(run, sync);
}

void crash_delete_range(struct crash_run *run, uint32_t low, uint32_t high, bool sync)
{
    struct history_operation erase = {.key = low, .high_key = high};
    must(run, write_one(run, erase, sync));
    end_write(run, sync);
}

static struct history_operation batch_operation(uint32_t key, size_t i)
{
    struct history_operation operation = {.key = key, .is_put = i % 3 != 2, .value_size = 900};
    if (i == 2)
        operation.high_key = key + 3 < HISTORY_KEYS ? key + 3 : HISTORY_KEYS;
    return operation;
}

static enum bb_status add_to_batch(const struct crash_run *run, struct bb_batch *batch,
                                   const struct history_operation *operation, uint64_t sequence)
{
    uint8_t value[1000];
    char text[16];
    char high_text[16];
    struct bb_bytes key = history_key(operation->key, text);
    if (operation->is_put)
        return bb_batch_put(batch, key, history_value(&run->history, sequence, value));
    if (operation->high_key != 0)
        return bb_batch_delete_range(batch, key, history_key(operation->high_key, high_text));
    return bb_batch_delete(batch, key);
}

void crash_batch(struct crash_run *run, uint32_t first_key, size_t count, bool sync)
{
    struct history_operation operations[8];
    struct bb_batch *batch = NULL;
    for (size_t i = 0; i < count; i++)
        operations[i] = batch_operation((first_key + (uint32_t)i) % HISTORY_KEYS, i);
    uint64_t sequence = run->history.operation_count;
    history_begin(&run->history, operations, count);
    must(run, bb_batch_create(&batch));
    for (size_t i = 0; i < count; i++)
        must(run, add_to_batch(run, batch, &operations[i], sequence + i + 1));
    must(run, bb_db_write(run->db, &(struct bb_write_options){.sync = sync}, batch));
    end_write(run, sync);
    bb_batch_destroy(batch);
}

void crash_fill_log(struct crash_run *run, uint32_t value_size)
{
    uint64_t logs = run->logs;
    for (uint32_t i = 0; run->logs == logs; i++)
        crash_put(run, i * 5, value_size, false);
}

void crash_flush(struct crash_run *run)
{
    must(run, bb_db_flush(run->db));
    history_end(&run->history, true);
}

void crash_compact(struct crash_run *run)
{
    must(run, bb_db_compact(run->db));
    history_end(&run->history, true);
}

void crash_wait_idle(struct crash_run *run)
{
    must(run, bb_db_wait_idle(run->db));
}

void crash_refuse(struct crash_run *run, enum bb_file_call call, const char *path_part)
{
    run->refused_call = call;
    run->refused_path = path_part;
}

void crash_put_failing(struct crash_run *run, uint32_t key, uint32_t value_size, bool sync)
{
    struct history_operation put = {.key = key, .is_put = true, .value_size = value_size};
    enum bb_status status = write_one(run, put, sync);
    must_be(run, status == BB_IO && run->refused_path == NULL,
            "a put did not run into the refused call");
    history_fail(&run->history);
}

void crash_flush_failing(struct crash_run *run)
{
    enum bb_status status = bb_db_flush(run->db);
    must_be(run, status == BB_IO && run->refused_path == NULL,
            "a flush did not run into the refused call");
}

void crash_set_gate(struct crash_run *run, enum crash_gate gate)
{
    bb_mutex_lock(&run->mutex);
    run->gate = gate;
    bb_condvar_broadcast(&run->gate_changed);
    bb_mutex_unlock(&run->mutex);
}

void crash_use_windows(struct crash_run *run)
{
    run->has_windows = true;
    bb_file_memory_set_windows(run->memory, true);
}

void crash_warm_up(struct crash_run *run)
{
    run->is_paused = true;
    for (uint32_t i = 0; i < WINDOW_PUTS; i++)
        crash_put(run, i, 40, false);
    run->is_paused = false;
}

void crash_run_workloads(const char *program, const struct crash_workload *workloads, size_t count,
                         void (*prepare)(struct crash_run *run))
{
    const char *text = getenv("BB_TEST_CRASH_SEEDS");
    uint64_t mixtures = text == NULL ? 3 : strtoull(text, NULL, 10);
    uint64_t seed = bb_rng_seed(program, 1);
    uint64_t states = 0;
    for (size_t i = 0; i < count; i++) {
        struct crash_run run;
        crash_run_init(&run, workloads[i].name, seed, mixtures);
        snprintf(run.replay, sizeof(run.replay),
                 "BB_TEST_SEED=%" PRIu64 " BB_TEST_CRASH_SEEDS=%" PRIu64 " crash_%s", seed,
                 mixtures, program);
        if (prepare != NULL)
            prepare(&run);
        workloads[i].run(&run);
        crash_run_deinit(&run);
        states += crash_run_states(&run);
    }
    printf("count: %" PRIu64 " crash states\n", states);
    printf("no image that breaks the promise\n");
}
