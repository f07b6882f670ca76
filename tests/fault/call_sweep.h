/* Sweeps of calls to a store: each allocation and each file call of a call fails once. The call
 * must report that failure or succeed, the store must have its contents from before or after the
 * call, the same call must then succeed, and no memory may leak. The stores are small, so that no
 * failure is skipped; quick runs of file_fault_test and allocation_alloc_test skip most. Included
 * by tests whose file name ends in _alloc_test.c. */
#ifndef BB_TESTS_FAULT_CALL_SWEEP_H
#define BB_TESTS_FAULT_CALL_SWEEP_H

#include "tests/support/store.h"

#include <inttypes.h>

#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/file_fault.h"
#include "tests/support/step.h"

#define KEYS 60
/* Long enough for several tables. */
#define DEEP_VALUE                                                                                 \
    "a value in the deepest level, which is long enough for several tables of 4 KiB with sixty "   \
    "keys, and for several blocks in each of these tables, as a value of this length shows: "      \
    ".....x"
#define FIRST     "/data/first"
#define SECOND    "/data/second"
#define COPY_PATH "/data/copy"

struct called_world {
    struct store store; /* its file system is the faulty one */
    struct bb_file_fault *fault;
};

struct called_scene {
    const char *name;
    enum bb_status (*call)(struct called_world *world);
    void (*damage)(struct bb_file_memory *memory); /* of a closed store, first; may be NULL */
    void (*check)(struct called_world *world);     /* after a success; may be NULL */
    bool is_closed;                                /* the store is not open during the call */
    bool wal_off;
    bool may_lose; /* a failed call may lose contents */
};

/* ---- the store ---- */

static inline struct bb_bytes key_of(char text[16], int number)
{
    snprintf(text, 16, "key%04d", number);
    return bb_bytes_of_text(text);
}

static inline void put_every(struct bb_db *db, int step, const char *value)
{
    char key[16];
    for (int i = 0; i < KEYS; i += step)
        assert_ok(bb_db_put(db, NULL, key_of(key, i), bb_bytes_of_text(value)));
}

static inline void delete_keys(struct bb_db *db, int low, int high)
{
    char from[16];
    char to[16];
    assert_ok(bb_db_delete_range(db, NULL, key_of(from, low), key_of(to, high)));
}

static inline void build_table(struct bb_file_system *fs, const char *path, int first, int count)
{
    struct bb_table_options options = {.file_system = fs};
    struct bb_table_builder *builder = NULL;
    char key[16];
    char high[16];
    assert_ok(bb_table_builder_create(path, &options, &builder));
    for (int i = first; i < first + count; i++) {
        struct bb_entry entry = {
            .key = key_of(key, i), .kind = BB_ENTRY_PUT, .value = bb_bytes_of_text("ingested")};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_add_range_tombstone(builder, key_of(key, first + count),
                                                   key_of(high, first + count + 4), 0));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static inline struct bb_db_options options_of(struct bb_file_memory *memory, bool wal_off)
{
    struct bb_db_options options = store_options(memory);
    options.wal_off = wal_off;
    options.table_size_bytes = 4096;
    options.level1_size_bytes = 16 * 1024;
    options.level0_run_count_compact = options.level0_run_count_busy = 6;
    options.compression = BB_COMPRESSION_NONE;
    options.cache_bytes = 64 * 1024;
    return options;
}

/* Tables in two levels, runs in level 0, range tombstones in tables and in memory. */
static inline struct bb_file_memory *make_image(const struct called_scene *scene)
{
    struct store store = {.memory = store_memory(1)};
    store.options = options_of(store.memory, scene->wal_off);
    build_table(store.options.file_system, FIRST, 10, 5);
    build_table(store.options.file_system, SECOND, 12, 30);
    store_open(&store);
    put_every(store.db, 1, DEEP_VALUE);
    assert_ok(bb_db_compact(store.db));
    delete_keys(store.db, 20, 24);
    put_every(store.db, 7, "a newer value");
    assert_ok(bb_db_flush(store.db));
    delete_keys(store.db, 30, 40);
    put_every(store.db, 9, "the newest value in a table");
    assert_ok(bb_db_flush(store.db));
    put_every(store.db, 11, "a value in memory");
    delete_keys(store.db, 50, 52);
    if (!scene->wal_off)
        store_put_synced(&store, "key0059", "a synced value");
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    store_deinit(&store);
    if (scene->damage != NULL)
        scene->damage(image);
    return image;
}

static inline void begin(struct called_world *world, const struct called_scene *scene,
                         struct bb_file_memory *image)
{
    world->store.memory = bb_file_memory_clone(image);
    world->store.db = NULL;
    world->store.options = options_of(world->store.memory, scene->wal_off);
    world->fault = bb_file_fault_create(bb_file_memory_system(world->store.memory));
    world->store.options.file_system = bb_file_fault_system(world->fault);
    if (scene->is_closed)
        return;
    store_open(&world->store);
    /* Without a log the opened store has only tables. */
    put_every(world->store.db, 13, "a value of this process");
}

/* A number for the contents; 0 if there is no store. */
static inline uint64_t digest(struct called_world *world)
{
    struct bb_db_iter *iter = NULL;
    uint64_t sum = 14695981039346656037U;
    bool is_open = world->store.db != NULL;
    if (!is_open && bb_db_open(STORE_PATH, &world->store.options, &world->store.db) != BB_OK) {
        assert_status(bb_error_last()->status, BB_NOT_FOUND);
        return 0;
    }
    assert_ok(bb_db_iter_create(world->store.db, NULL, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter)) {
        struct bb_bytes parts[] = {bb_db_iter_key(iter), bb_db_iter_value(iter)};
        for (size_t i = 0; i < 2; i++) {
            for (size_t j = 0; j < parts[i].size; j++)
                sum = (sum ^ parts[i].data[j]) * 1099511628211U;
        }
    }
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    if (!is_open)
        store_close(&world->store);
    return sum;
}

static inline void end(struct called_world *world, bool verifies)
{
    if (world->store.db != NULL)
        store_close(&world->store);
    if (verifies)
        (void)store_verify(&world->store);
    bb_file_fault_destroy(world->fault);
    bb_file_memory_destroy(world->store.memory);
}

/* ---- the sweep ---- */

struct sweep {
    const struct called_scene *scene;
    struct bb_file_memory *image;
    uint64_t before;
    uint64_t after;
    bool is_gone; /* the call removes the store */
};

static inline void arm(struct called_world *world, bool is_allocation, uint64_t nth)
{
    if (is_allocation)
        bb_alloc_fault_arm(nth, false);
    else
        bb_file_fault_arm(world->fault,
                          &(struct bb_file_fault_plan){.call = BB_FILE_CALL_ANY, .nth = nth});
}

static inline uint64_t disarm(struct called_world *world, bool is_allocation)
{
    if (!is_allocation) {
        uint64_t hits = bb_file_fault_hits(world->fault);
        bb_file_fault_disarm(world->fault);
        return hits;
    }
    bb_alloc_fault_disarm();
    return bb_alloc_fault_failures();
}

static inline void check_status(const struct sweep *sweep, bool is_allocation, uint64_t nth,
                                enum bb_status status, bool was_hit)
{
    enum bb_status failure = is_allocation ? BB_NO_MEMORY : BB_IO;
    if (status == BB_OK || (was_hit && status == failure && bb_error_last()->message[0] != '\0'))
        return;
    fail_msg("%s: %s %" PRIu64 " failed, and the status is %s: %s", sweep->scene->name,
             is_allocation ? "allocation" : "file call", nth, bb_status_name(status),
             bb_error_last()->message);
}

static inline void check_contents(const struct sweep *sweep, struct called_world *world,
                                  enum bb_status status, uint64_t nth)
{
    uint64_t found = digest(world);
    if (found != sweep->after && (status == BB_OK || found != sweep->before))
        fail_msg("%s: after failure %" PRIu64 " the store has other contents", sweep->scene->name,
                 nth);
}

/* False if the call made fewer than nth allocations, or file calls. */
static inline bool run_one(const struct sweep *sweep, bool is_allocation, uint64_t nth)
{
    struct called_world world;
    uint64_t live = bb_alloc_fault_live();
    begin(&world, sweep->scene, sweep->image);
    arm(&world, is_allocation, nth);
    enum bb_status status = sweep->scene->call(&world);
    bool was_hit = disarm(&world, is_allocation) > 0;
    check_status(sweep, is_allocation, nth, status, was_hit);
    if (status == BB_OK || (sweep->scene->damage == NULL && !sweep->scene->may_lose))
        check_contents(sweep, &world, status, nth);
    if (status != BB_OK) {
        assert_ok(sweep->scene->call(&world));
        if (!sweep->scene->may_lose || sweep->is_gone)
            check_contents(sweep, &world, BB_OK, nth);
    }
    if (sweep->scene->check != NULL)
        sweep->scene->check(&world);
    end(&world, !sweep->is_gone && nth % 16 == 0);
    if (bb_alloc_fault_live() != live)
        fail_msg("%s: %" PRIu64 " blocks leak after failure %" PRIu64, sweep->scene->name,
                 bb_alloc_fault_live() - live, nth);
    return was_hit;
}

static inline void sweep_scene(const struct called_scene *scene)
{
    struct sweep sweep = {.scene = scene, .image = make_image(scene)};
    struct called_world world;
    uint64_t counts[2] = {0};
    begin(&world, scene, sweep.image);
    sweep.before = scene->damage == NULL ? digest(&world) : 0;
    assert_ok(scene->call(&world));
    sweep.after = digest(&world);
    sweep.is_gone = sweep.after == 0;
    end(&world, !sweep.is_gone);
    for (int i = 0; i < 2; i++) {
        bool was_hit = true;
        for (uint64_t nth = 1; was_hit; nth += bb_test_step()) {
            was_hit = run_one(&sweep, i == 0, nth);
            counts[i] += was_hit;
        }
    }
    print_message("%s: %" PRIu64 " allocations, %" PRIu64 " file calls\n", scene->name, counts[0],
                  counts[1]);
    bb_file_memory_destroy(sweep.image);
}

static inline void sweep_all(const struct called_scene *scenes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sweep_scene(&scenes[i]);
}

#endif
