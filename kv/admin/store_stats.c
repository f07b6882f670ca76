/* Statistics: sums over the readers' slots, the live levels, and the counters of writing. */
#include "base/alloc.h"
#include "base/status.h"
#include "compaction/rates/rates.h"
#include "kv/background/waste_target.h"
#include "kv/indexes/index_file.h"
#include "kv/manifest/filename.h"
#include "kv/memtable/memtable.h"
#include "kv/store/current_view.h"
#include "kv/store/inherited.h"
#include "kv/store/store.h"

static void add_table(struct bb_level_stats *level, const struct bb_table_file *file)
{
    const struct bb_table_meta *meta = &file->meta;
    level->table_count++;
    level->file_bytes += meta->file_size;
    level->entry_count += meta->entry_count;
    level->key_count += meta->key_count;
    level->tombstone_count += meta->tombstone_count;
    level->range_tombstone_count += meta->range_tombstone_count;
    level->filter_bytes += meta->filter_bytes;
    level->table_filter_bytes += meta->table_filter_bytes;
    level->passing_table_count += file->predicted_rate == 1;
    level->unpredicted_table_count += meta->predicted_block_rate == 0;
}

static double ratio_of(double amount, double base)
{
    return base == 0 ? 0 : amount / base;
}

static bool is_index_damaged(struct bb_table_file *file)
{
    struct bb_companion *index = bb_table_file_companion(file);
    bool is_damaged = index != NULL && atomic_load(&index->is_damaged);
    bb_companion_unref(index);
    return is_damaged;
}

static uint64_t count_damaged_logs(const struct bb_view *view)
{
    uint64_t count = 0;
    for (size_t i = 0; i < view->buffer_count; i++)
        count += atomic_load(&view->buffers[i]->is_log_damaged);
    return count;
}

static void describe_levels(const struct bb_db *db, const struct bb_view *view,
                            struct bb_db_stats *stats)
{
    struct bb_pick_options target = bb_waste_target_pick_options(db, view->levels);
    for (int number = 0; number < BB_LEVEL_COUNT; number++) {
        struct bb_level_stats *level = &stats->levels[number];
        size_t count = bb_levels_table_count(view->levels, number);
        for (size_t i = 0; i < count; i++) {
            struct bb_table_file *file = bb_levels_table(view->levels, number, i);
            add_table(level, file);
            stats->table_memory_bytes += bb_table_file_memory(file);
            stats->damaged_files +=
                atomic_load(&file->is_damaged) + (uint64_t)is_index_damaged(file);
        }
        level->run_count = view->levels->levels[number].run_count;
        struct bb_rate_level rates = bb_rates_level(view->levels, number, &target.weights);
        level->visit_share = rates.visit_share;
        level->filter_rate_sum = rates.rate_sum;
        level->expected_wasted_reads = rates.waste;
        stats->expected_wasted_reads += rates.waste;
        stats->filter_bytes += level->filter_bytes;
    }
    stats->damaged_files +=
        (uint64_t)atomic_load(&db->is_manifest_damaged) + count_damaged_logs(view);
    stats->filter_bits_per_key =
        ratio_of(8 * (double)stats->filter_bytes, (double)bb_levels_key_count(view->levels));
}

/* The view was pinned before last_sequence was read, so none of its tombstones is newer. */
static void describe_tombstones(const struct bb_levels *levels, struct bb_db_stats *stats)
{
    uint64_t oldest = UINT64_MAX;
    for (int number = 0; number < BB_LEVEL_COUNT; number++) {
        const struct bb_level *level = &levels->levels[number];
        for (size_t i = 0; i < level->count; i++) {
            uint64_t sequence = bb_table_file_oldest_tombstone(&level->files[i]->meta);
            oldest = sequence < oldest ? sequence : oldest;
        }
        stats->tombstone_count +=
            stats->levels[number].tombstone_count + stats->levels[number].range_tombstone_count;
    }
    if (oldest < stats->last_sequence)
        stats->oldest_tombstone_age = stats->last_sequence - oldest;
}

static void describe_memory(struct bb_db *db, const struct bb_view *view, struct bb_db_stats *stats)
{
    stats->table_memory_bytes +=
        bb_large_pages_overhead(&db->table_env.pages) + atomic_load(&db->known_rows_bytes);
    for (size_t i = 0; i < view->buffer_count; i++) {
        stats->memtable_bytes += bb_memtable_used_bytes(view->buffers[i]->memtable);
        stats->memtable_held_bytes += bb_memtable_held_bytes(view->buffers[i]->memtable);
    }
    stats->memtable_held_bytes += bb_spare_memtable_held_bytes(&db->spare);
}

static void describe_reads(struct bb_db *db, struct bb_db_stats *stats)
{
    struct bb_reader_counts counts;
    bb_readers_sum(&db->readers, &counts);
    memcpy(stats->level_reads, counts.level_reads, sizeof(stats->level_reads));
    stats->scan_reads = counts.scan_reads;
    stats->gets = counts.gets;
    stats->gets_found = counts.gets_found;
    stats->shadow_checks = counts.shadow_checks;
    stats->shadow_contradictions = counts.shadow_contradictions;
    stats->memtable_visits = counts.memtable_visits;
    stats->memtable_hits = counts.memtable_hits;
    if (db->cache != NULL)
        bb_block_cache_stats(db->cache, &stats->cache);
    struct bb_file_counters files;
    db->system->ops->counters(db->system, &files);
    stats->system_reads = files.reads;
    stats->system_read_bytes = files.read_bytes;
}

static void describe_writes(struct bb_db *db, struct bb_db_stats *stats)
{
    stats->writes = atomic_load_explicit(&db->write_count, memory_order_relaxed);
    stats->write_bytes = atomic_load_explicit(&db->write_bytes, memory_order_relaxed);
    stats->commits = atomic_load_explicit(&db->commit_count, memory_order_relaxed);
    stats->wal_bytes = atomic_load_explicit(&db->wal_bytes, memory_order_relaxed);
    stats->last_sequence = atomic_load_explicit(&db->last_sequence, memory_order_acquire);
    bb_mutex_lock(&db->mutex);
    struct bb_store_counts counts = db->counts;
    bb_mutex_unlock(&db->mutex);
    stats->flushes = counts.flushes;
    stats->flush_bytes_written = counts.flush_bytes_written;
    stats->compactions = counts.compactions;
    stats->compaction_bytes_read = counts.compaction_bytes_read;
    stats->compaction_bytes_written = counts.compaction_bytes_written;
    stats->compaction_range_tombstones = counts.compaction_range_tombstones;
    stats->covered_tables = counts.covered_tables;
    stats->covered_bytes = counts.covered_bytes;
    stats->scrubs = counts.scrubs;
    stats->scrub_bytes = counts.scrub_bytes;
    memcpy(stats->stalls, counts.stalls, sizeof(counts.stalls));
    memcpy(stats->stall_nanoseconds, counts.stall_nanoseconds, sizeof(counts.stall_nanoseconds));
}

static uint64_t visits_of(const struct bb_read_stats *reads)
{
    uint64_t sum = 0;
    for (int visit = 0; visit < BB_VISIT_COUNT; visit++)
        sum += visit == BB_VISIT_OUT_OF_BOUNDS ? 0 : reads->visits[visit];
    return sum;
}

static uint64_t largest_run(const struct bb_levels *levels)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < levels->turn_count; i++) {
        uint64_t bytes = levels->turns[i].run->file_bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

static void describe_amplification(const struct bb_levels *levels, struct bb_db_stats *stats)
{
    uint64_t file_bytes = 0;
    uint64_t visits = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        file_bytes += stats->levels[level].file_bytes;
        visits += visits_of(&stats->level_reads[level]);
    }
    stats->run_count = bb_levels_run_count(levels);
    stats->space_amplification = ratio_of((double)file_bytes, (double)largest_run(levels));
    stats->read_amplification = ratio_of((double)visits, (double)stats->gets);
    stats->write_amplification = ratio_of(
        (double)(stats->wal_bytes + stats->flush_bytes_written + stats->compaction_bytes_written),
        (double)stats->write_bytes);
}

void bb_db_stats(struct bb_db *db, struct bb_db_stats *ret_stats)
{
    memset(ret_stats, 0, sizeof(*ret_stats));
    if (bb_store_is_inherited(db))
        return;
    struct bb_view *view = bb_current_view_pin(db);
    describe_levels(db, view, ret_stats);
    describe_memory(db, view, ret_stats);
    ret_stats->target_wasted_reads = bb_waste_target_effective(db, view->levels);
    ret_stats->filter_budget_bytes = bb_waste_target_budget_bytes(db, view->levels);
    describe_reads(db, ret_stats);
    describe_writes(db, ret_stats);
    describe_tombstones(view->levels, ret_stats);
    describe_amplification(view->levels, ret_stats);
    bb_current_view_unpin(db, view);
}

static void forget_rows(struct bb_table_file *file)
{
    struct bb_companion *index = bb_table_file_companion(file);
    if (index != NULL)
        bb_index_file_forget_rows(index);
    bb_companion_unref(index);
}

void bb_db_clear_cache(struct bb_db *db)
{
    if (bb_store_is_inherited(db))
        return;
    if (db->cache != NULL)
        bb_block_cache_clear(db->cache);
    struct bb_view *view = bb_current_view_pin(db);
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        for (size_t i = 0; i < bb_levels_table_count(view->levels, level); i++)
            forget_rows(bb_levels_table(view->levels, level, i));
    bb_current_view_unpin(db, view);
}

void bb_db_secret(const struct bb_db *db, struct bb_hash_secret *ret_secret)
{
    *ret_secret = db->secret;
}

void bb_db_table_list_deinit(struct bb_db_table_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        bb_free(list->tables[i].path);
    bb_free(list->tables);
    *list = (struct bb_db_table_list){0};
}

static enum bb_status list_table(struct bb_db *db, int level, struct bb_table_file *file,
                                 struct bb_db_table_list *list)
{
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(db->directory, BB_FILE_TABLE, file->number, path);
    char *copy = bb_strdup(path);
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the path of a table");
    list->tables[list->count++] = (struct bb_db_table){.level = level,
                                                       .path = copy,
                                                       .file_size = file->meta.file_size,
                                                       .entry_count = file->meta.entry_count,
                                                       .filter_rate = file->meta.filter_rate,
                                                       .predicted_rate = file->predicted_rate,
                                                       .is_damaged = atomic_load(&file->is_damaged),
                                                       .is_index_damaged = is_index_damaged(file)};
    return BB_OK;
}

static enum bb_status list_levels(struct bb_db *db, const struct bb_levels *levels,
                                  struct bb_db_table_list *list)
{
    size_t count = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        count += bb_levels_table_count(levels, level);
    list->tables = bb_alloc_zeroed(count + 1, sizeof(*list->tables));
    if (list->tables == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu tables", count);
    enum bb_status status = BB_OK;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level) && status == BB_OK; i++)
            status = list_table(db, level, bb_levels_table(levels, level, i), list);
    }
    return status;
}

enum bb_status bb_db_tables(struct bb_db *db, struct bb_db_table_list *ret_list)
{
    struct bb_db_table_list list = {0};
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK)
        return status;
    struct bb_view *view = bb_current_view_pin(db);
    status = list_levels(db, view->levels, &list);
    bb_current_view_unpin(db, view);
    if (status != BB_OK) {
        bb_db_table_list_deinit(&list);
        return status;
    }
    *ret_list = list;
    return BB_OK;
}
