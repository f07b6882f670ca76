/* See table_file.h. */
#include "compaction/levels/table_file.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "sstable/meta/table_meta.h"
#include "sstable/table/table_open.h"

void bb_table_file_env_init(struct bb_table_file_env *env)
{
    bb_mutex_init(&env->mutex);
    bb_condvar_init(&env->opening_ended);
    bb_large_pages_init(&env->pages);
    atomic_init(&env->has_new_charges, false);
    env->first_new = UINT64_MAX;
}

void bb_table_file_env_deinit(struct bb_table_file_env *env)
{
    BB_DEBUG_ASSERT(env->pages.count == 0);
    bb_large_pages_deinit(&env->pages);
    bb_condvar_deinit(&env->opening_ended);
    bb_mutex_deinit(&env->mutex);
}

static double target_rate(const struct bb_table_file_env *env, const struct bb_table_meta *meta)
{
    if (meta->key_count == 0)
        return 0;
    return env->options.table_filter_off ? meta->filter_rate / meta->table_filter_rate
                                         : meta->filter_rate;
}

static double predicted_rate(const struct bb_table_file_env *env, const struct bb_table_meta *meta)
{
    if (meta->key_count == 0 || meta->predicted_block_rate == 0)
        return target_rate(env, meta);
    return meta->predicted_block_rate *
           (env->options.table_filter_off ? 1 : meta->predicted_table_filter_rate);
}

enum bb_status bb_table_file_create(struct bb_table_file_env *env, uint64_t number,
                                    const struct bb_table_meta *meta,
                                    struct bb_table_file **ret_file)
{
    struct bb_table_file *file = bb_alloc_zeroed(1, sizeof(*file));
    if (file == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a table's entry");
    enum bb_status status = bb_table_meta_copy(meta, &file->meta);
    if (status != BB_OK) {
        bb_free(file);
        return status;
    }
    atomic_init(&file->references, 1);
    atomic_init(&file->table, NULL);
    atomic_init(&file->is_obsolete, false);
    atomic_init(&file->is_unindexable, false);
    atomic_init(&file->is_damaged, false);
    atomic_init(&file->charge_bytes, 0);
    file->number = number;
    file->env = env;
    file->filter_rate = target_rate(env, meta);
    file->predicted_rate = predicted_rate(env, meta);
    *ret_file = file;
    return BB_OK;
}

struct bb_table_file *bb_table_file_ref(struct bb_table_file *file)
{
    uint32_t before = atomic_fetch_add_explicit(&file->references, 1, memory_order_relaxed);
    BB_DEBUG_ASSERT(before > 0);
    return file;
}

void bb_table_file_unref(struct bb_table_file *file)
{
    if (file == NULL || atomic_fetch_sub_explicit(&file->references, 1, memory_order_acq_rel) > 1)
        return;
    bb_table_close(atomic_load(&file->table));
    if (atomic_load(&file->is_obsolete)) {
        file->env->remove(file->env->context, file->number);
        bb_companion_drop(file->companion);
    } else {
        bb_companion_unref(file->companion);
    }
    bb_table_meta_deinit(&file->meta);
    bb_free(file);
}

static enum bb_status open_table(struct bb_table_file *file, struct bb_table **ret_table)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_table *table = NULL;
    file->env->path(file->env->context, file->number, path);
    enum bb_status status = bb_table_open_in(path, &file->env->options, &file->env->pages,
                                             file->number >= file->env->first_new, &table);
    /* Not BB_NOT_FOUND: for a lookup that would mean that the key is absent. */
    if (status == BB_NOT_FOUND)
        status = bb_corrupt((struct bb_place){.file = path}, 0,
                            "the manifest names this table, and there is no such file");
    if (status == BB_OK)
        status = bb_table_meta_check(path, &file->meta, bb_table_meta(table));
    if (status == BB_OK)
        *ret_table = table;
    else
        bb_table_close(table);
    return status;
}

/* Waits while another thread opens the table. Returns the table if it is open then. NULL: it is the
 * caller's turn to open it. */
static struct bb_table *await_turn(struct bb_table_file *file)
{
    struct bb_table_file_env *env = file->env;
    bb_mutex_lock(&env->mutex);
    while (file->is_opening)
        bb_condvar_wait(&env->opening_ended, &env->mutex);
    struct bb_table *table = atomic_load_explicit(&file->table, memory_order_acquire);
    file->is_opening = table == NULL;
    bb_mutex_unlock(&env->mutex);
    return table;
}

/* table: NULL if it could not be opened; then the next thread tries again. */
static void end_turn(struct bb_table_file *file, struct bb_table *table)
{
    bb_mutex_lock(&file->env->mutex);
    file->is_opening = false;
    atomic_store_explicit(&file->table, table, memory_order_release);
    bb_condvar_broadcast(&file->env->opening_ended);
    bb_mutex_unlock(&file->env->mutex);
}

enum bb_status bb_table_file_open_first(struct bb_table_file *file, struct bb_table **ret_table)
{
    enum bb_status status = BB_OK;
    struct bb_table *table = await_turn(file);
    if (table == NULL) {
        status = open_table(file, &table);
        end_turn(file, table);
    }
    if (status == BB_OK)
        *ret_table = table;
    return status;
}

struct bb_companion *bb_table_file_companion(struct bb_table_file *file)
{
    bb_mutex_lock(&file->env->mutex);
    struct bb_companion *companion =
        file->companion == NULL ? NULL : bb_companion_ref(file->companion);
    bb_mutex_unlock(&file->env->mutex);
    return companion;
}

uint64_t bb_table_file_companion_number(struct bb_table_file *file)
{
    bb_mutex_lock(&file->env->mutex);
    uint64_t number = file->companion == NULL ? 0 : file->companion->number;
    bb_mutex_unlock(&file->env->mutex);
    return number;
}

/* Returns the previous companion with its reference. */
static struct bb_companion *exchange_companion(struct bb_table_file *file,
                                               struct bb_companion *companion)
{
    bb_mutex_lock(&file->env->mutex);
    struct bb_companion *before = file->companion;
    file->companion = companion;
    bb_mutex_unlock(&file->env->mutex);
    return before;
}

void bb_table_file_set_companion(struct bb_table_file *file, struct bb_companion *companion)
{
    bb_companion_drop(exchange_companion(file, companion));
}

void bb_table_file_replace_companion(struct bb_table_file *file, struct bb_companion *companion)
{
    bb_companion_unref(exchange_companion(file, companion));
}

void bb_table_file_forget_pages(struct bb_table_file *file)
{
    struct bb_table *table = atomic_load_explicit(&file->table, memory_order_acquire);
    if (table != NULL)
        bb_table_forget_pages(table);
}

bool bb_table_file_ends_before(const struct bb_table_file *file,
                               const struct bb_comparator *comparator, struct bb_bytes key)
{
    int order = bb_key_compare(comparator, bb_table_file_largest(file), key);
    return order < 0 || (order == 0 && file->meta.largest_is_exclusive);
}

void bb_table_file_charge(struct bb_table_file *file, uint64_t bytes)
{
    uint64_t before = atomic_fetch_add_explicit(&file->charge_bytes, bytes, memory_order_relaxed);
    uint64_t size = file->meta.file_size;
    uint64_t step = size > BB_TABLE_FILE_CHARGE_STEP_MIN ? size : BB_TABLE_FILE_CHARGE_STEP_MIN;
    if (before / step != (before + bytes) / step)
        atomic_store_explicit(&file->env->has_new_charges, true, memory_order_release);
}

uint64_t bb_table_file_memory(const struct bb_table_file *file)
{
    const struct bb_table *table = atomic_load_explicit(&file->table, memory_order_acquire);
    return table == NULL ? 0 : bb_table_memory(table);
}
