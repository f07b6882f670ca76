/* Goal: a reader next to a writer sees the state after the last commit or the current one, for
 * anything that the writer does at the same time. Method: an opening before each changing call of a
 * writer; a writer that replaces all files before each call of an opening; threads, in memory and
 * on disk. */
#include "tests/unit/kv/counted_store.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/sync.h"
#include "tests/support/step.h"
#include "tests/support/temp_dir.h"

/* ---- before each call of the writer ---- */

struct watcher {
    struct store *store;
    struct bb_db *reader; /* refreshed each time; a second one is opened each time */
    uint32_t acknowledged;
    uint32_t calls;
    uint32_t looks;
};

static enum bb_status watch(void *context, struct bb_file_memory *memory, uint64_t number,
                            enum bb_file_call call, const char *path)
{
    (void)memory;
    (void)number;
    (void)call;
    (void)path;
    struct watcher *watcher = context;
    if (++watcher->calls % bb_test_step() != 0)
        return BB_OK;
    struct bb_db *reader = open_reader(watcher->store);
    uint32_t seen = state_of(reader);
    assert_true(seen == watcher->acknowledged || seen == watcher->acknowledged + 1);
    assert_ok(bb_db_close(reader));
    assert_ok(bb_db_refresh(watcher->reader));
    assert_int_equal(state_of(watcher->reader), seen);
    watcher->looks++;
    return BB_OK;
}

static void watch_writer(enum bb_compaction_style style)
{
    struct store store;
    store_init(&store);
    store.options.compaction_style = style;
    store_open(&store);
    struct watcher watcher = {.store = &store, .reader = open_reader(&store)};
    bb_file_memory_set_hook(store.memory, watch, &watcher);
    for (uint32_t i = 1; i <= 150; i++) {
        assert_ok(commit(store.db, i));
        watcher.acknowledged = i;
        if (i % 10 == 0)
            assert_ok(bb_db_flush(store.db));
        if (i % 50 == 0)
            assert_ok(bb_db_compact(store.db));
        if (i % 40 == 0)
            store_reopen(&store);
    }
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_true(watcher.looks * bb_test_step() > 300);
    assert_ok(bb_db_close(watcher.reader));
    store_deinit(&store);
}

static void read_only_snapshot__before_each_call_of_its_writer(void **state)
{
    (void)state;
    watch_writer(BB_COMPACTION_LEVELED);
    watch_writer(BB_COMPACTION_TIERED);
    watch_writer(BB_COMPACTION_LAZY_LEVELING);
}

/* ---- before each call of the opening ---- */

/* The store's file system, which lets the writer run before the n-th call that reads names. */
struct racing_system {
    struct bb_file_system base;
    struct bb_file_system *inner;
    struct bb_db *writer; /* NULL: the store is made then */
    const struct bb_db_options *options;
    uint32_t *commits;
    uint64_t calls;
    uint64_t nth;
    bool is_lasting; /* and whenever names were listed, some of which are gone then */
};

/* All tables and logs are replaced. */
static void go_on(struct racing_system *racing)
{
    if (racing->writer == NULL)
        assert_ok(bb_db_open(STORE_PATH, racing->options, &racing->writer));
    for (int i = 0; i < 3; i++)
        assert_ok(commit(racing->writer, ++*racing->commits));
    assert_ok(bb_db_compact(racing->writer));
    assert_ok(commit(racing->writer, ++*racing->commits));
}

static void race(struct bb_file_system *fs)
{
    struct racing_system *racing = (struct racing_system *)fs;
    if (++racing->calls == racing->nth)
        go_on(racing);
}

static struct bb_file_system *inner_of(struct bb_file_system *fs)
{
    return ((struct racing_system *)fs)->inner;
}

static enum bb_status open_in_race(struct bb_file_system *fs, const char *path,
                                   struct bb_file **ret_file)
{
    race(fs);
    return bb_file_open(inner_of(fs), path, ret_file);
}

static enum bb_status list_in_race(struct bb_file_system *fs, const char *path,
                                   struct bb_file_names *ret_list)
{
    race(fs);
    enum bb_status status = inner_of(fs)->ops->list(inner_of(fs), path, ret_list);
    if (((struct racing_system *)fs)->is_lasting)
        go_on((struct racing_system *)fs);
    return status;
}

static enum bb_status status_in_race(struct bb_file_system *fs, const char *path,
                                     bool *ret_is_directory, uint64_t *ret_size)
{
    race(fs);
    return inner_of(fs)->ops->status(inner_of(fs), path, ret_is_directory, ret_size);
}

static uint64_t now(struct bb_file_system *fs)
{
    return inner_of(fs)->ops->now(inner_of(fs));
}

static void counters(struct bb_file_system *fs, struct bb_file_counters *ret_counters)
{
    inner_of(fs)->ops->counters(inner_of(fs), ret_counters);
}

/* No other call exists: a reader changes nothing. */
static const struct bb_file_system_ops racing_ops = {
    .open = open_in_race,
    .list = list_in_race,
    .status = status_in_race,
    .now = now,
    .counters = counters,
};

static void read_only_snapshot__before_each_call_of_the_opening(void **state)
{
    (void)state;
    struct store store;
    uint32_t commits = 0;
    uint64_t nth = 1;
    store_init(&store);
    store.options.deterministic = true;
    store_open(&store);
    struct bb_db *reader = NULL;
    for (bool is_over = false; !is_over; nth++) {
        struct racing_system racing = {.base = {.ops = &racing_ops},
                                       .inner = bb_file_memory_system(store.memory),
                                       .writer = store.db,
                                       .commits = &commits,
                                       .nth = nth};
        struct bb_db_options options = reader_options(&store);
        options.file_system = &racing.base;
        uint32_t before = commits;
        assert_ok(bb_db_open(STORE_PATH, &options, &reader));
        is_over = racing.calls < nth;
        racing.nth = 0;
        assert_in_range(state_of(reader), before, commits);
        assert_ok(bb_db_refresh(reader));
        assert_int_equal(state_of(reader), commits);
        /* And in the middle of a refresh. */
        racing.nth = racing.calls + nth;
        before = commits;
        assert_ok(bb_db_refresh(reader));
        assert_in_range(state_of(reader), before, commits);
        racing.nth = 0;
        assert_ok(bb_db_close(reader));
        reader = NULL;
    }
    assert_true(nth > 10);
    store_deinit(&store);
}

/* Regression: no CURRENT was found, and then the files of a store that had just been made. They
 * were mistaken for damage, or for a store that must not exist. */
static void read_only_snapshot__while_the_store_is_made(void **state)
{
    (void)state;
    uint64_t nth = 1;
    for (bool is_over = false; !is_over; nth++) {
        struct store store;
        struct bb_db *reader = NULL;
        uint32_t commits = 0;
        store_init(&store);
        struct bb_file_system *fs = bb_file_memory_system(store.memory);
        assert_ok(fs->ops->make_directory(fs, STORE_PATH));
        struct racing_system racing = {.base = {.ops = &racing_ops},
                                       .inner = fs,
                                       .options = &store.options,
                                       .commits = &commits,
                                       .nth = nth};
        struct bb_db_options options = reader_options(&store);
        options.file_system = &racing.base;
        enum bb_status status = bb_db_open(STORE_PATH, &options, &reader);
        is_over = racing.writer == NULL;
        if (status != BB_NOT_FOUND)
            assert_ok(status);
        racing.nth = 0;
        if (status == BB_OK)
            assert_int_equal(state_of(reader), commits);
        assert_ok(bb_db_close(reader));
        assert_ok(bb_db_close(racing.writer));
        bb_file_memory_destroy(store.memory);
    }
    assert_true(nth > 3);
}

static void read_only_snapshot__gives_up_where_all_changes(void **state)
{
    (void)state;
    struct store store;
    uint32_t commits = 0;
    struct bb_db *reader = NULL;
    store_init(&store);
    store_open(&store);
    struct racing_system racing = {.base = {.ops = &racing_ops},
                                   .inner = bb_file_memory_system(store.memory),
                                   .writer = store.db,
                                   .commits = &commits,
                                   .is_lasting = true};
    struct bb_db_options options = reader_options(&store);
    options.file_system = &racing.base;
    assert_status(bb_db_open(STORE_PATH, &options, &reader), BB_BUSY);
    assert_non_null(strstr(bb_error_last()->message, "changed"));
    racing.is_lasting = false;
    assert_ok(bb_db_open(STORE_PATH, &options, &reader));
    assert_int_equal(state_of(reader), commits);
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* ---- threads ---- */

#define READERS 2

struct crowd {
    const char *path;
    struct bb_db_options options; /* of the readers */
    struct bb_db *writer;
    _Atomic uint32_t acknowledged;
    _Atomic uint32_t looks;
    _Atomic bool is_over;
};

static void write_until_all_looked(void *argument)
{
    struct crowd *crowd = argument;
    uint32_t i = 0;
    while (atomic_load(&crowd->looks) < 40 || i < 1500) {
        if (commit(crowd->writer, ++i) != BB_OK || (i % 500 == 0 && bb_db_compact(crowd->writer)))
            abort();
        atomic_store(&crowd->acknowledged, i);
    }
    atomic_store(&crowd->is_over, true);
}

/* At least the commits acknowledged before, and at most one commit more than after. */
static uint32_t look(struct crowd *crowd, struct bb_db *db, uint32_t at_least)
{
    uint32_t seen = state_of(db);
    if (seen < at_least || seen > atomic_load(&crowd->acknowledged) + 1)
        abort();
    atomic_fetch_add(&crowd->looks, 1);
    return seen;
}

static void read_until_over(void *argument)
{
    struct crowd *crowd = argument;
    while (!atomic_load(&crowd->is_over)) {
        struct bb_db *db = NULL;
        uint32_t at_least = atomic_load(&crowd->acknowledged);
        enum bb_status status = bb_db_open(crowd->path, &crowd->options, &db);
        if (status == BB_BUSY)
            continue;
        if (status != BB_OK)
            abort();
        at_least = look(crowd, db, at_least);
        for (int i = 0; i < 3 && status == BB_OK; i++) {
            uint32_t acknowledged = atomic_load(&crowd->acknowledged);
            status = bb_db_refresh(db);
            if (status == BB_OK)
                at_least = look(crowd, db, acknowledged);
        }
        if ((status != BB_OK && status != BB_BUSY) || bb_db_close(db) != BB_OK)
            abort();
    }
}

static void run_crowd(struct crowd *crowd)
{
    struct bb_thread writer;
    struct bb_thread readers[READERS];
    crowd->options =
        (struct bb_db_options){.file_system = crowd->options.file_system, .read_only = true};
    assert_ok(bb_thread_create(&writer, write_until_all_looked, crowd));
    for (int i = 0; i < READERS; i++)
        assert_ok(bb_thread_create(&readers[i], read_until_over, crowd));
    bb_thread_join(&writer);
    for (int i = 0; i < READERS; i++)
        bb_thread_join(&readers[i]);
    assert_true(atomic_load(&crowd->looks) > 30);
}

static void read_only_snapshot__beside_a_writing_thread(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.deterministic = false;
    store_open(&store);
    struct crowd crowd = {.path = STORE_PATH,
                          .options = {.file_system = store.options.file_system},
                          .writer = store.db};
    run_crowd(&crowd);
    store_deinit(&store);
}

/* Reading needs no right to write. */
static void read_only_snapshot__on_disk(void **state)
{
    (void)state;
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    bb_temp_dir_init(&dir, "read_only");
    bb_temp_dir_path(&dir, "store", path);
    struct bb_db_options options = {
        .create_if_missing = true, .write_buffer_bytes = 64 * 1024, .level1_size_bytes = 64 * 1024};
    struct crowd crowd = {.path = path};
    struct bb_db *reader = NULL;
    assert_ok(bb_db_open(path, &options, &crowd.writer));
    run_crowd(&crowd);
    assert_ok(bb_db_close(crowd.writer));
    assert_int_equal(chmod(path, 0500), 0);
    assert_ok(bb_db_open(path, &crowd.options, &reader));
    assert_int_equal(state_of(reader), atomic_load(&crowd.acknowledged));
    assert_ok(bb_db_close(reader));
    assert_int_equal(chmod(path, 0700), 0);
    assert_ok(bb_db_destroy(path, NULL, NULL));
    bb_temp_dir_deinit(&dir);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(read_only_snapshot__beside_a_writing_thread),
        cmocka_unit_test(read_only_snapshot__on_disk),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_only_snapshot__before_each_call_of_its_writer),
        cmocka_unit_test(read_only_snapshot__before_each_call_of_the_opening),
        cmocka_unit_test(read_only_snapshot__while_the_store_is_made),
        cmocka_unit_test(read_only_snapshot__gives_up_where_all_changes),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
