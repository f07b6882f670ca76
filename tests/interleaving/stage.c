/* See stage.h. */
#include "tests/interleaving/stage.h"

#include <stdlib.h>

#include "base/status.h"

/* Long enough for a table of several blocks. */
#define ROW                                                                                        \
    "200,user,a text that has some words, so that a block of 512 bytes has three or four rows, "   \
    "and a table of twenty rows has several blocks"

void require_true(bool condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
    abort();
}

void require_done_or_closed(struct stage *stage, enum bb_status status)
{
    if (status == BB_BUSY && stage->is_closing)
        stage->was_refused = true;
    else
        require_ok(status);
}

void require_status(enum bb_status status, enum bb_status expected, const char *file, int line)
{
    if (status == expected)
        return;
    fprintf(stderr, "%s:%d: status %d, expected %d: %s\n", file, line, (int)status, (int)expected,
            bb_error_last()->message);
    abort();
}

/* ---- the point ---- */

static void pass(struct stage *stage, enum bb_file_call call, const char *path)
{
    bb_mutex_lock(&stage->mutex);
    if (stage->is_armed && call == stage->point.call &&
        strstr(path, stage->point.path_part) != NULL) {
        stage->is_armed = false;
        stage->is_stopped = true;
        bb_condvar_broadcast(&stage->changed);
        while (!stage->is_open)
            bb_condvar_wait(&stage->changed, &stage->mutex);
        stage->is_stopped = false;
    }
    bb_mutex_unlock(&stage->mutex);
}

static enum bb_status pass_change(void *context, struct bb_file_memory *memory, uint64_t number,
                                  enum bb_file_call call, const char *path)
{
    (void)memory;
    (void)number;
    pass(context, call, path);
    return BB_OK;
}

struct staged_file {
    struct bb_file base;
    struct bb_file *inner;
    struct stage *stage;
};

static enum bb_status read_staged(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                                  size_t *ret_size)
{
    struct staged_file *file = (struct staged_file *)base;
    pass(file->stage, BB_FILE_CALL_READ_AT, base->path);
    return bb_file_read_at(file->inner, offset, buffer, size, ret_size);
}

static enum bb_status size_of_staged(struct bb_file *base, uint64_t *ret_size)
{
    return bb_file_size(((struct staged_file *)base)->inner, ret_size);
}

static enum bb_status close_staged(struct bb_file *base)
{
    enum bb_status status = bb_file_close(((struct staged_file *)base)->inner);
    free(base);
    return status;
}

static const struct bb_file_ops staged_ops = {
    .read_at = read_staged, .size = size_of_staged, .close = close_staged};

static enum bb_status open_staged(struct bb_file_system *fs, const char *path,
                                  struct bb_file **ret_file)
{
    struct stage *stage = (struct stage *)((char *)fs - offsetof(struct stage, forward));
    struct bb_file *inner = NULL;
    enum bb_status status = bb_file_open(bb_file_forward_inner(fs), path, &inner);
    if (status != BB_OK)
        return status;
    struct staged_file *file = calloc(1, sizeof(*file));
    require(file != NULL);
    *file = (struct staged_file){
        .base = {.ops = &staged_ops, .path = inner->path}, .inner = inner, .stage = stage};
    *ret_file = &file->base;
    return BB_OK;
}

void stage_arm(struct stage *stage, struct point point)
{
    bb_mutex_lock(&stage->mutex);
    stage->point = point;
    stage->is_armed = true;
    stage->is_open = false;
    bb_mutex_unlock(&stage->mutex);
}

void stage_release(struct stage *stage)
{
    bb_mutex_lock(&stage->mutex);
    stage->is_open = true;
    bb_condvar_broadcast(&stage->changed);
    bb_mutex_unlock(&stage->mutex);
}

/* ---- calls ---- */

static void run_call(void *argument)
{
    struct call *call = argument;
    call->run(call->stage);
    bb_mutex_lock(&call->stage->mutex);
    call->is_done = true;
    bb_condvar_broadcast(&call->stage->changed);
    bb_mutex_unlock(&call->stage->mutex);
}

void call_start(struct call *call)
{
    require_ok(bb_thread_create(&call->thread, run_call, call));
}

bool call_is_done(struct call *call)
{
    bb_mutex_lock(&call->stage->mutex);
    bool is_done = call->is_done;
    bb_mutex_unlock(&call->stage->mutex);
    return is_done;
}

void call_wait(struct call *call)
{
    bb_mutex_lock(&call->stage->mutex);
    while (!call->is_done)
        bb_condvar_wait(&call->stage->changed, &call->stage->mutex);
    bb_mutex_unlock(&call->stage->mutex);
}

void stage_wait_for_stop(struct stage *stage)
{
    bb_mutex_lock(&stage->mutex);
    while (!stage->is_stopped)
        bb_condvar_wait(&stage->changed, &stage->mutex);
    bb_mutex_unlock(&stage->mutex);
}

void call_join(struct call *call)
{
    bb_thread_join(&call->thread);
}

/* ---- the store ---- */

static void put_rows(struct stage *stage, unsigned from, unsigned to)
{
    char key[16];
    for (unsigned i = from; i < to; i++) {
        snprintf(key, sizeof(key), "k%02u", i);
        store_put(&stage->store, key, ROW);
    }
}

static void open_reader(struct stage *stage)
{
    struct bb_db_options options = stage->store.options;
    options.read_only = true;
    options.create_if_missing = false;
    options.on_event = NULL;
    require_ok(bb_db_open(STORE_PATH, &options, &stage->reader));
}

static void fill_store(struct stage *stage)
{
    struct store *store = &stage->store;
    require_ok(bb_db_attribute_create(store->db, "status u64 = csv(1)"));
    require_ok(bb_db_index_create(store->db, "statuses", "set(status, values=100)"));
    store_put(store, "d1", "300,deleted");
    store_put(store, "d2", "300,deleted");
    put_rows(stage, 0, STAGE_ROWS / 2);
    require_ok(bb_db_flush(store->db));
    put_rows(stage, STAGE_ROWS / 4, STAGE_ROWS * 3 / 4); /* half of them again */
    require_ok(bb_db_flush(store->db));
    require_ok(bb_db_wait_idle(store->db));
    put_rows(stage, STAGE_ROWS / 2, STAGE_ROWS);
}

void stage_init(struct stage *stage, enum stage_state state)
{
    memset(stage, 0, sizeof(*stage));
    store_init(&stage->store);
    bb_mutex_init(&stage->mutex);
    bb_condvar_init(&stage->changed);
    bb_file_forward_init(&stage->forward, bb_file_memory_system(stage->store.memory));
    stage->forward.ops.open = open_staged;
    stage->store.options.file_system = &stage->forward.base;
    stage->store.options.deterministic = false;
    stage->store.options.index_residency = BB_INDEX_CACHED;
    store_open(&stage->store);
    fill_store(stage);
    open_reader(stage);
    if (state == STAGE_FLUSHED)
        require_ok(bb_db_flush(stage->store.db));
    if (state != STAGE_COLD)
        require_rows(stage->store.db);
    /* No thread works, and reads reach the files. */
    require_ok(bb_db_wait_idle(stage->store.db));
    bb_db_clear_cache(stage->store.db);
    bb_file_memory_set_hook(stage->store.memory, pass_change, stage);
}

void stage_begin_reads(struct stage *stage)
{
    require_ok(bb_db_iter_create(stage->store.db, NULL, &stage->iter));
    bb_db_iter_seek_first(stage->iter);
    require_ok(bb_snapshot_create(stage->store.db, &stage->snapshot));
}

void stage_end_reads(struct stage *stage)
{
    bb_db_iter_destroy(stage->iter);
    bb_snapshot_release(stage->store.db, stage->snapshot);
}

void stage_close(struct stage *stage)
{
    require_ok(bb_db_close(stage->store.db));
    stage->store.db = NULL;
}

void stage_deinit(struct stage *stage)
{
    require_ok(bb_db_close(stage->reader));
    bb_file_memory_set_hook(stage->store.memory, NULL, NULL);
    store_deinit(&stage->store);
    bb_condvar_deinit(&stage->changed);
    bb_mutex_deinit(&stage->mutex);
}

/* ---- contents ---- */

void require_value(struct bb_db *db, const char *key, const char *value)
{
    struct bb_buf found = {0};
    enum bb_status status = bb_db_get(db, NULL, bb_bytes_of_text(key), &found);
    require_status(status, value == NULL ? BB_NOT_FOUND : BB_OK, key, 0);
    if (value != NULL)
        require_true(bb_bytes_equal(bb_buf_bytes(&found), bb_bytes_of_text(value)), key, value, 0);
    bb_buf_deinit(&found);
}

static uint64_t count_rows(struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    struct bb_bytes prefix = bb_bytes_of_text("k");
    uint64_t count = 0;
    require_ok(bb_db_iter_create_prefix(db, NULL, prefix, &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    require_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    return count;
}

static uint64_t count_selected(struct bb_db *db, bool ignore_indexes)
{
    struct bb_select_options options = {.where = "status = 200", .ignore_indexes = ignore_indexes};
    uint64_t count = 0;
    require_ok(bb_db_select_count(db, &options, &count, NULL));
    return count;
}

void require_rows(struct bb_db *db)
{
    char key[16];
    for (unsigned i = 0; i < STAGE_ROWS; i += 3) {
        snprintf(key, sizeof(key), "k%02u", i);
        require_value(db, key, ROW);
    }
    require(count_rows(db) == STAGE_ROWS);
    require(count_selected(db, false) == STAGE_ROWS);
    require(count_selected(db, true) == STAGE_ROWS);
}
