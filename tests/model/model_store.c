/* See model_store.h: the life of the store, options, snapshots, loss. The operations on keys are in
 * model_keys.c. */
#include "base/bytes.h"
#include "bb/db_files.h"
#include "tests/model/model_store.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/model/model_keys.h"
#include "tests/support/must_alloc.h"

static int compare_reverse(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}

static const struct bb_comparator reverse = {.name = "reverse", .compare = compare_reverse};

int model_compare(const struct model *model, struct bb_bytes a, struct bb_bytes b)
{
    return model->options.comparator == NULL ? bb_bytes_compare(a, b) : compare_reverse(NULL, a, b);
}

/* How writes come to the disk. */
static void draw_durability(struct model *model)
{
    struct bb_rng *rng = &model->rng;
    struct bb_db_options *o = &model->options;
    o->wal_off = bb_rng_one_in(rng, 12);
    o->wal_buffer_bytes = bb_rng_one_in(rng, 8) ? (uint32_t)bb_rng_between(rng, 1, 16) * 1024 : 0;
    o->recovery =
        bb_rng_one_in(rng, 4)
            ? (enum bb_recovery)bb_rng_between(rng, BB_RECOVERY_POINT_IN_TIME, BB_RECOVERY_SALVAGE)
            : BB_RECOVERY_SYNCED;
    o->background_bytes_per_second = bb_rng_one_in(rng, 8) ? UINT64_C(1) << 20 : 0;
}

static void draw_options(struct model *model)
{
    struct bb_rng *rng = &model->rng;
    static const double targets[] = {0.5, 0.1, 0.01, 0.001};
    static const enum bb_filter_kind kinds[] = {BB_FILTER_RIBBON, BB_FILTER_RIBBON, BB_FILTER_BLOOM,
                                                BB_FILTER_BLOCKED_BLOOM, BB_FILTER_NONE};
    struct bb_db_options *o = &model->options;
    const struct bb_comparator *comparator = o->comparator; /* for the store's life */
    *o = (struct bb_db_options){.create_if_missing = true};
    o->comparator = comparator;
    o->file_system = bb_file_memory_system(model->memory);
    o->write_buffer_bytes = bb_rng_between(rng, 64, 256) * 1024;
    o->cache_bytes = bb_rng_between(rng, 64, 1024) * 1024;
    o->cache_off = bb_rng_one_in(rng, 4);
    o->index_residency = bb_rng_one_in(rng, 2) ? BB_INDEX_PINNED : BB_INDEX_CACHED;
    o->read_mode = (enum bb_read_mode)bb_rng_below(rng, 3);
    o->filter_amount =
        (struct bb_filter_amount){BB_FILTER_WASTED_READS, targets[bb_rng_below(rng, 4)]};
    o->filter_kind = kinds[bb_rng_below(rng, 5)];
    o->filter_granularity =
        bb_rng_one_in(rng, 3) ? BB_GRANULARITY_PAGE : (uint32_t)bb_rng_between(rng, 1, 4);
    o->block_size_bytes = (uint32_t)bb_rng_between(rng, 64, 8192);
    o->restart_interval = (uint32_t)bb_rng_between(rng, 1, 20);
    o->compression = bb_rng_one_in(rng, 2) ? BB_COMPRESSION_NONE : BB_COMPRESSION_LZ4;
    o->table_size_bytes = bb_rng_between(rng, 4, 128) * 1024;
    o->level0_run_count_compact = (uint32_t)bb_rng_between(rng, 1, 5);
    o->level0_run_count_stop = o->level0_run_count_compact + (uint32_t)bb_rng_between(rng, 1, 5);
    o->level0_run_count_busy = bb_rng_one_in(rng, 2)
                                   ? 0
                                   : (uint32_t)bb_rng_between(rng, o->level0_run_count_compact,
                                                              o->level0_run_count_stop - 1);
    o->level1_size_bytes = bb_rng_between(rng, 32, 512) * 1024;
    o->level_size_ratio = (uint32_t)bb_rng_between(rng, 2, 10);
    o->compaction_style = (enum bb_compaction_style)bb_rng_below(rng, 4);
    o->tombstone_age_max = bb_rng_one_in(rng, 2) ? bb_rng_between(rng, 1, 5000) : 0;
    o->defer_index_files = bb_rng_one_in(rng, 4);
    o->shadow_verify_one_in = bb_rng_one_in(rng, 2) ? (uint32_t)bb_rng_between(rng, 1, 20) : 0;
    o->open_tables_max = 16;
    o->deterministic = !bb_rng_one_in(rng, 4);
    o->scrub_interval_seconds = o->deterministic ? 0 : bb_rng_below(rng, 2);
    static const double table_filters[] = {BB_TABLE_FILTER_DEFAULT, BB_TABLE_FILTER_NONE,
                                           BB_TABLE_FILTER_ALL, 2, 6};
    o->table_filter_bits = table_filters[bb_rng_below(rng, 5)];
    o->table_filter_off = bb_rng_one_in(rng, 3);
    draw_durability(model);
    o->absent_share = bb_rng_one_in(rng, 3) ? 0.01 : 1;
    if (bb_rng_one_in(rng, 4)) {
        double kib = (double)bb_rng_between(rng, 1, 32);
        double bits = (double)bb_rng_between(rng, 1, 160) / 8;
        o->filter_amount = bb_rng_one_in(rng, 2)
                               ? (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, bits}
                               : (struct bb_filter_amount){BB_FILTER_BYTES, 1024 * kib};
    }
    if (o->filter_kind == BB_FILTER_NONE)
        o->filter_amount = (struct bb_filter_amount){0};
}

/* Each store has a separate seed. */
static void print_replay(const struct model *model)
{
    fprintf(stderr, "    replay: BB_TEST_SEED=%" PRIu64 " BB_TEST_OPS=15000 model_model_test\n",
            model->seed);
}

void model_must(const struct model *model, enum bb_status status, const char *what)
{
    if (status == BB_OK)
        return;
    fprintf(stderr, "model: store seed %" PRIu64 ", operation %" PRIu64 ": %s: %s: %s\n",
            model->seed, model->coverage->operations, what, bb_status_name(status),
            bb_error_last()->message);
    print_replay(model);
    abort();
}

void model_differ(const struct model *model, const char *what)
{
    fprintf(stderr,
            "model: store seed %" PRIu64 ", operation %" PRIu64 ", sequence %" PRIu64
            ": difference: %s\n",
            model->seed, model->coverage->operations, model->sequence, what);
    print_replay(model);
    abort();
}

/* An option that this opening does not give has the value of an earlier one. */
static void check_stored_options(struct model *model)
{
    struct bb_db_options stored;
    if (model->options.tombstone_age_max != 0)
        model->tombstone_age_max = model->options.tombstone_age_max;
    bb_db_stored_options(model->db, &stored);
    if (stored.block_size_bytes != model->options.block_size_bytes ||
        stored.tombstone_age_max != model->tombstone_age_max)
        model_differ(model, "the store keeps other options than it was given");
}

void model_open(struct model *model)
{
    struct bb_db_recovery found;
    draw_options(model);
    if (model->sequence > 0 && bb_rng_one_in(&model->rng, 8)) {
        struct bb_db_options options = model->options;
        options.error_if_exists = true;
        if (bb_db_open(MODEL_DIRECTORY, &options, &model->db) != BB_EXISTS)
            model_differ(model, "a store is opened that should not be there");
    }
    model->options.recovery_report = &found;
    model_must(model, bb_db_open(MODEL_DIRECTORY, &model->options, &model->db), "open");
    model->options.recovery_report = NULL;
    if (found.is_repaired || (found.is_damaged && found.files_set_aside == 0))
        model_differ(model, "an opening finds damage, and there is none");
    check_stored_options(model);
}

struct model *model_create(uint64_t seed, struct model_coverage *coverage)
{
    struct model *model = bb_must_alloc_zeroed(sizeof(*model));
    model->seed = seed;
    model->coverage = coverage;
    bb_rng_init(&model->rng, seed);
    model->options.comparator = seed % 4 == 3 ? &reverse : NULL;
    model->oracle = oracle_create(model->options.comparator != NULL);
    model->memory = bb_file_memory_create(seed);
    model->key_space = (uint32_t)bb_rng_between(&model->rng, 50, 5000);
    model->value_max = (uint32_t)bb_rng_between(&model->rng, 0, 400);
    coverage->stores++;
    coverage->reverse_stores += model->options.comparator != NULL;
    model_open(model);
    bb_db_secret(model->db, &model->secret);
    return model;
}

static void release_all(struct model *model)
{
    while (model->snapshot_count > 0)
        model_release(model);
    model_release_pins(model);
    model_end_walks(model);
}

static void take_statistics(struct model *model)
{
    struct bb_db_stats stats;
    bb_db_stats(model->db, &stats);
    model->coverage->flushes += stats.flushes;
    model->coverage->compactions += stats.compactions;
    model->coverage->compaction_ranges += stats.compaction_range_tombstones;
    model->coverage->covered_tables += stats.covered_tables;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        model->coverage->tiered_levels += level > 0 && stats.levels[level].run_count > 1;
        for (int visit = 0; visit < BB_VISIT_COUNT; visit++)
            model->coverage->visits[visit] += stats.level_reads[level].visits[visit];
    }
}

void model_close(struct model *model)
{
    release_all(model);
    take_statistics(model);
    model_must(model, bb_db_close(model->db), "close");
    model->db = NULL;
}

void model_destroy(struct model *model)
{
    model_close(model);
    model_end_view(model);
    struct bb_db_verify_report report;
    model_must(model, bb_db_verify(MODEL_DIRECTORY, &model->options, &report), "verify");
    bb_file_memory_destroy(model->memory);
    oracle_destroy(model->oracle);
    bb_buf_deinit(&model->value);
    bb_buf_deinit(&model->expected);
    free(model->commits);
    free(model);
}

uint64_t model_compaction_count(const struct model *model)
{
    struct bb_db_stats stats;
    bb_db_stats(model->db, &stats);
    return stats.compactions;
}

void model_snapshot(struct model *model)
{
    if (model->snapshot_count == MODEL_SNAPSHOTS_MAX)
        model_release(model);
    struct model_snapshot *snapshot = &model->snapshots[model->snapshot_count];
    model_must(model, bb_snapshot_create(model->db, &snapshot->handle), "snapshot");
    snapshot->sequence = model->sequence;
    snapshot->compactions_before = model_compaction_count(model);
    model->snapshot_count++;
}

void model_release(struct model *model)
{
    if (model->snapshot_count == 0)
        return;
    size_t which = bb_rng_below(&model->rng, model->snapshot_count);
    struct model_snapshot snapshot = model->snapshots[which];
    if (model_compaction_count(model) > snapshot.compactions_before)
        model->coverage->snapshots_over_compactions++;
    bb_snapshot_release(model->db, snapshot.handle);
    model->snapshots[which] = model->snapshots[--model->snapshot_count];
}

void model_set_durable(struct model *model)
{
    model->durable = model->sequence;
    model->commit_count = 0;
}

void model_flush(struct model *model)
{
    model_must(model, bb_db_flush(model->db), "flush");
    model_set_durable(model);
}

void model_compact(struct model *model)
{
    model_must(model, bb_db_compact(model->db), "compact");
    model_set_durable(model);
}

void model_reopen(struct model *model)
{
    model_close(model);
    model_set_durable(model);
    model_open(model);
    model->coverage->reopened++;
}

/* Leaves the store like a crashed process, with the disk's contents in `image`; returns the
 * recovered sequence. */
static uint64_t abandon_store(struct model *model, struct bb_file_memory *image)
{
    struct bb_db_stats stats;
    model_close(model);
    model_end_view(model);
    bb_file_memory_destroy(model->memory);
    model->memory = image;
    model_open(model);
    bb_db_stats(model->db, &stats);
    return stats.last_sequence;
}

bool model_may_lose(const struct model *model)
{
    return model->options.wal_off || model->options.wal_buffer_bytes > 0;
}

bool model_is_commit(const struct model *model, uint64_t sequence)
{
    for (size_t i = 0; i < model->commit_count; i++) {
        if (model->commits[i] == sequence)
            return true;
    }
    return sequence == model->durable;
}

/* Continues with the recovered contents. */
static void accept(struct model *model, uint64_t sequence)
{
    if (sequence < model->durable)
        model_differ(model, "a durable commit is lost");
    if (!model_is_commit(model, sequence))
        model_differ(model, "a commit has come back in part");
    model->sequence = sequence;
    oracle_truncate(model->oracle, sequence);
    /* The replayed log has been written to a table, durably. */
    model_set_durable(model);
}

void model_kill(struct model *model)
{
    bool may_lose = model_may_lose(model);
    uint64_t sequence = abandon_store(model, bb_file_memory_clone(model->memory));
    if (sequence != model->sequence && !may_lose)
        model_differ(model, "a commit that had returned is lost with the process");
    accept(model, sequence);
    model->coverage->killed++;
}

void model_crash(struct model *model)
{
    struct bb_crash crash = {
        .bytes = BB_CRASH_BYTES_ANY, .names = BB_CRASH_NAMES_ANY, .seed = bb_rng_next(&model->rng)};
    uint64_t sequence = abandon_store(model, bb_file_memory_crash(model->memory, &crash));
    model->coverage->crashes_with_loss += sequence < model->sequence;
    model->coverage->crashed++;
    accept(model, sequence);
    model_compare_all(model);
}
