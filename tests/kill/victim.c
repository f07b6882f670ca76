/* See victim.h. */
#include "tests/kill/victim.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "tests/support/rng.h"

struct thread {
    const struct victim_plan *plan;
    struct victim_record *record;
    struct bb_db *db;
    uint32_t number;
    struct bb_rng rng;
};

const char *victim_path(const struct victim_plan *plan, uint64_t checkpoint, char *buffer)
{
    if (checkpoint == 0)
        snprintf(buffer, PATH_MAX, "%s/store", plan->place);
    else
        snprintf(buffer, PATH_MAX, "%s/copy%" PRIu64, plan->place, checkpoint);
    return buffer;
}

struct bb_db_options victim_options(uint64_t seed)
{
    static const enum bb_compaction_style styles[] = {BB_COMPACTION_LEVELED, BB_COMPACTION_TIERED,
                                                      BB_COMPACTION_LAZY_LEVELING};
    return (struct bb_db_options){
        .create_if_missing = true,
        .write_buffer_bytes = 64 * 1024,
        .cache_bytes = 256 * 1024,
        .block_size_bytes = 1024,
        .table_size_bytes = 32 * 1024,
        .level0_run_count_compact = 2,
        .level0_run_count_busy = 2,
        .level1_size_bytes = 128 * 1024,
        .level_size_ratio = 4,
        .open_tables_max = 64,
        .compaction_style = styles[seed % 3],
    };
}

struct bb_bytes victim_key(uint32_t writer, uint64_t number, char *buffer)
{
    int size =
        snprintf(buffer, VICTIM_KEY_SIZE, "w%" PRIu32 "-%04" PRIu64, writer, number % VICTIM_KEYS);
    return (struct bb_bytes){.data = (const uint8_t *)buffer, .size = (size_t)size};
}

struct bb_bytes victim_ingest_key(uint32_t number, char *buffer)
{
    int size = snprintf(buffer, VICTIM_KEY_SIZE, "ingest-%04" PRIu32, number);
    return (struct bb_bytes){.data = (const uint8_t *)buffer, .size = (size_t)size};
}

struct bb_bytes victim_value(uint64_t number, char *buffer)
{
    int head = snprintf(buffer, VICTIM_VALUE_SIZE, "%" PRIu64 ":", number);
    size_t size = (size_t)head + (size_t)(number * 7919 % 600);
    memset(buffer + head, 'a' + (int)(number % 26), size - (size_t)head);
    return (struct bb_bytes){.data = (const uint8_t *)buffer, .size = size};
}

static bool is_ok(struct thread *thread, enum bb_status status, const char *what)
{
    if (status == BB_OK)
        return true;
    fprintf(stderr, "victim: %s: %s\n", what, bb_error_last()->message);
    atomic_fetch_add(&thread->record->failures, 1);
    return false;
}

static struct bb_write_options draw_sync(struct thread *thread)
{
    return (struct bb_write_options){.sync = bb_rng_one_in(&thread->rng, 20)};
}

static void *write_singly(void *context)
{
    struct thread *thread = context;
    _Atomic uint64_t *acknowledged = &thread->record->acknowledged[thread->number];
    char key[VICTIM_KEY_SIZE];
    char value[VICTIM_VALUE_SIZE];
    for (uint64_t n = atomic_load(acknowledged) + 1;; n++) {
        struct bb_write_options options = draw_sync(thread);
        if (!is_ok(thread,
                   bb_db_put(thread->db, &options, victim_key(thread->number, n, key),
                             victim_value(n, value)),
                   "put"))
            return NULL;
        atomic_store(acknowledged, n);
    }
}

static enum bb_status add_batch(struct thread *thread, struct bb_batch *batch, uint64_t first)
{
    char key[VICTIM_KEY_SIZE];
    char value[VICTIM_VALUE_SIZE];
    enum bb_status status = BB_OK;
    bb_batch_reset(batch);
    for (uint64_t n = first; n < first + VICTIM_BATCH && status == BB_OK; n++)
        status = bb_batch_put(batch, victim_key(thread->number, n, key), victim_value(n, value));
    return status;
}

static void *write_batches(void *context)
{
    struct thread *thread = context;
    _Atomic uint64_t *acknowledged = &thread->record->acknowledged[thread->number];
    struct bb_batch *batch = NULL;
    if (!is_ok(thread, bb_batch_create(&batch), "batch"))
        return NULL;
    for (uint64_t n = atomic_load(acknowledged) + 1;; n += VICTIM_BATCH) {
        struct bb_write_options options = draw_sync(thread);
        if (!is_ok(thread, add_batch(thread, batch, n), "batch") ||
            !is_ok(thread, bb_db_write(thread->db, &options, batch), "write"))
            return NULL;
        atomic_store(acknowledged, n + VICTIM_BATCH - 1);
    }
}

static enum bb_status build_table(const char *path, uint64_t number)
{
    char key[VICTIM_KEY_SIZE];
    char value[VICTIM_VALUE_SIZE];
    struct bb_table_builder *builder = NULL;
    enum bb_status status = bb_table_builder_create(path, NULL, &builder);
    for (uint32_t i = 0; i < VICTIM_INGEST_KEYS && status == BB_OK; i++) {
        struct bb_entry entry = {.key = victim_ingest_key(i, key), .kind = BB_ENTRY_PUT};
        entry.value = victim_value(number, value);
        status = bb_table_builder_add(builder, &entry);
    }
    if (status == BB_OK)
        status = bb_table_builder_finish(builder, NULL);
    bb_table_builder_destroy(builder);
    return status;
}

/* BB_BUSY: concurrent writes forced it to give up. */
static void *ingest(void *context)
{
    struct thread *thread = context;
    char path[PATH_MAX];
    const char *paths[] = {path};
    snprintf(path, sizeof(path), "%s/in.bbt", thread->plan->place);
    for (uint64_t n = atomic_load(&thread->record->ingested) + 1;;) {
        (void)unlink(path);
        if (!is_ok(thread, build_table(path, n), "table"))
            return NULL;
        enum bb_status status = bb_db_ingest(thread->db, paths, 1, NULL);
        if (status != BB_BUSY && !is_ok(thread, status, "ingest"))
            return NULL;
        if (status == BB_OK)
            atomic_store(&thread->record->ingested, n++);
    }
}

/* The last complete checkpoint stays. */
static void *make_checkpoints(void *context)
{
    struct thread *thread = context;
    struct victim_record *record = thread->record;
    char path[PATH_MAX];
    for (uint64_t n = atomic_load(&record->checkpoints) + 1;; n++) {
        for (uint32_t i = 0; i < VICTIM_WRITERS; i++)
            record->checkpoint_floor[n % 2][i] = atomic_load(&record->acknowledged[i]);
        if (!is_ok(thread, bb_db_checkpoint(thread->db, victim_path(thread->plan, n, path)),
                   "checkpoint"))
            return NULL;
        atomic_store(&record->checkpoints, n);
        if (n > 1 &&
            !is_ok(thread, bb_db_destroy(victim_path(thread->plan, n - 1, path), NULL, NULL),
                   "destroy"))
            return NULL;
    }
}

_Noreturn void victim_run(const struct victim_plan *plan, struct victim_record *record)
{
    static struct thread threads[VICTIM_WRITERS + 2];
    char path[PATH_MAX];
    struct bb_db *db = NULL;
    struct bb_db_options options = victim_options(plan->seed);
    threads[0] = (struct thread){.plan = plan, .record = record};
    (void)is_ok(&threads[0], bb_db_open(victim_path(plan, 0, path), &options, &db), "open");
    for (uint32_t i = 0; db != NULL && i < VICTIM_WRITERS + 2; i++) {
        void *(*run)(void *) = i < VICTIM_WRITERS - 1    ? write_singly
                               : i == VICTIM_WRITERS - 1 ? write_batches
                               : i == VICTIM_WRITERS     ? ingest
                                                         : make_checkpoints;
        pthread_t id;
        threads[i] = (struct thread){.plan = plan, .record = record, .db = db, .number = i};
        bb_rng_init(&threads[i].rng, plan->seed * 100 + i);
        if (pthread_create(&id, NULL, run, &threads[i]) != 0)
            atomic_fetch_add(&record->failures, 1);
    }
    for (;;)
        pause();
}
