/* What an index would cost and spare, measured on a sample. See bb/select.h.
 *
 * The index is built for some tables as materialize builds it, alone in a catalog of its own, and asked;
 * its files never get a name in the manifest. Tables are the sample, not granules, because the granules
 * of a table share an index structure: its size per granule depends on how many there are. */
#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/sized_struct.h"
#include "base/status.h"
#include "bb/select.h"
#include "kv/background/install.h"
#include "kv/indexes/index_file.h"
#include "kv/indexes/store_catalog.h"
#include "kv/indexes/table_index.h"
#include "kv/inherited.h"
#include "kv/read_only.h"

#define SAMPLE_TABLES_DEFAULT 8

struct estimation {
    struct bb_db *db;
    struct bb_index_estimate_options options;
    struct bb_catalog *catalog; /* with this index alone; one reference */
    struct bb_condition *condition;
    struct bb_view *view;
    uint64_t raw_bytes; /* of all tables */
    uint64_t raw_bytes_sampled;
    struct bb_index_estimate estimate;
};

/* The store's attributes, and this index alone. */
static enum bb_status make_catalog(struct estimation *e)
{
    struct bb_catalog *before = bb_store_ref_catalog(e->db);
    struct bb_catalog *made = NULL;
    enum bb_status status = bb_catalog_without_indexes(before, &made);
    struct bb_catalog_change change = {.add_index = "estimated", .add_spec = e->options.spec};
    if (status == BB_OK)
        status = bb_catalog_change(made, &change, &e->catalog);
    bb_catalog_unref(made);
    bb_catalog_unref(before);
    return status;
}

static enum bb_status ask(struct estimation *e, struct bb_skip_file *file)
{
    struct bb_skip_verdicts verdicts;
    if (e->condition == NULL)
        return BB_OK;
    enum bb_status status =
        bb_skip_file_evaluate(file, e->condition, e->catalog->schema, NULL, &verdicts);
    if (status != BB_OK)
        return status;
    size_t left = 0;
    for (size_t i = 0; i < verdicts.word_count; i++)
        left += (size_t)__builtin_popcountll(verdicts.may_be_true[i]);
    e->estimate.granules_excluded += verdicts.granule_count - left;
    bb_skip_verdicts_deinit(&verdicts);
    return BB_OK;
}

static enum bb_status count_file(struct estimation *e, struct bb_companion *index)
{
    struct bb_skip_file *file = NULL;
    enum bb_status status = bb_index_file_open(index, &file);
    if (status != BB_OK)
        return status;
    e->estimate.granules_sampled += bb_skip_file_granule_count(file);
    e->estimate.sampled_size_bytes += bb_skip_file_size(file);
    return ask(e, file);
}

static enum bb_status sample_table(struct estimation *e, struct bb_table_file *table)
{
    struct bb_index_build build;
    struct bb_companion *index = NULL;
    bb_index_build_init_with(&build, e->db, bb_store_files_of(e->db, BB_WORK_COMPACTION),
                             e->catalog);
    enum bb_status status = bb_table_index_build(&build, table);
    if (status == BB_OK)
        status = bb_index_file_create(e->db, build.built[0].number, table->meta.table_id, &index);
    if (status == BB_OK)
        status = count_file(e, index);
    bb_companion_unref(index);
    bb_index_build_deinit(&build);
    e->estimate.tables_sampled++;
    e->raw_bytes_sampled += table->meta.raw_bytes;
    return status;
}

/* Table number `wanted` of all, counted from level 0 on. */
static struct bb_table_file *find_table(const struct bb_levels *levels, uint64_t wanted)
{
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        size_t count = bb_levels_table_count(levels, level);
        if (wanted < count)
            return bb_levels_table(levels, level, (size_t)wanted);
        wanted -= count;
    }
    return NULL;
}

static void count_tables(struct estimation *e)
{
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        e->estimate.tables += bb_levels_table_count(e->view->levels, level);
        e->raw_bytes += e->view->levels->levels[level].raw_bytes;
    }
}

/* In proportion to the raw bytes, which granules are cut by. */
static void extrapolate(struct estimation *e)
{
    struct bb_index_estimate *estimate = &e->estimate;
    double factor =
        e->raw_bytes_sampled == 0 ? 0 : (double)e->raw_bytes / (double)e->raw_bytes_sampled;
    estimate->granules = (uint64_t)((double)estimate->granules_sampled * factor);
    estimate->size_bytes = (uint64_t)((double)estimate->sampled_size_bytes * factor);
}

static enum bb_status sample_tables(struct estimation *e)
{
    count_tables(e);
    uint64_t all = e->estimate.tables;
    uint64_t wanted = e->options.tables == 0 ? SAMPLE_TABLES_DEFAULT : e->options.tables;
    enum bb_status status = BB_OK;
    if (all == 0)
        return bb_fail(BB_NOT_FOUND, "%s: there are no tables to measure an index on",
                       e->db->directory);
    wanted = wanted > all ? all : wanted;
    uint64_t begin = e->db->system->ops->now(e->db->system);
    for (uint64_t i = 0; i < wanted && status == BB_OK; i++)
        status = sample_table(e, find_table(e->view->levels, i * all / wanted));
    e->estimate.build_nanoseconds = bb_file_elapsed(e->db->system, begin);
    extrapolate(e);
    return status;
}

static enum bb_status run(struct estimation *e)
{
    enum bb_status status = make_catalog(e);
    if (status == BB_OK && e->options.where != NULL)
        status = bb_condition_parse(e->catalog->schema, bb_bytes_of_text(e->options.where),
                                    &e->condition);
    if (status != BB_OK)
        return status;
    e->view = bb_store_pin_view(e->db);
    status = sample_tables(e);
    bb_store_release_view(e->db, e->view);
    return status;
}

static const struct bb_sized_struct estimate_struct = {"struct bb_index_estimate_options",
                                                       sizeof(struct bb_index_estimate_options),
                                                       sizeof(struct bb_index_estimate_options)};

enum bb_status bb_db_index_estimate(struct bb_db *db,
                                    const struct bb_index_estimate_options *options,
                                    struct bb_index_estimate *ret_estimate)
{
    struct estimation e = {.db = db, .options = {.struct_size = sizeof(e.options)}};
    enum bb_status status = bb_sized_struct_copy(&estimate_struct, options, &e.options);
    if (status == BB_OK)
        status = bb_store_check_process(db);
    if (status == BB_OK)
        status = bb_read_only_check(db, "measuring an index");
    if (status == BB_OK && e.options.spec == NULL)
        status = bb_fail(BB_INVALID, "which index is to be measured? there is no spec");
    if (status == BB_OK)
        status = bb_store_begin_call(db);
    if (status != BB_OK)
        return status;
    status = run(&e);
    bb_store_end_call(db);
    bb_condition_destroy(e.condition);
    bb_catalog_unref(e.catalog);
    if (status == BB_OK)
        *ret_estimate = e.estimate;
    return status;
}
