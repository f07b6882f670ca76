/* Estimates the cost and benefit of an index on a sample. See bb/select.h.
 *
 * The size is measured on stretches, each a segment of the index. They are taken at equal distances
 * in the raw bytes of all tables, so a segment is taken in proportion to its raw bytes. The mean of
 * their bytes per raw byte then estimates that of the store, for any sizes of tables. The condition
 * is evaluated on single granules at equal distances.
 * docs/decisions/0023-hypothetical-indexes.md has the measurements.
 */
#include <math.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "bb/select.h"
#include "kv/indexes/index_sample.h"
#include "kv/indexes/store_catalog.h"
#include "kv/store/call.h"
#include "kv/store/current_view.h"
#include "skip/segment/segment.h"
#include "skip/member/spec.h"

#define SEGMENTS_DEFAULT 8
#define GRANULES_DEFAULT 4096

struct estimation {
    struct bb_db *db;
    struct bb_index_estimate_options options;
    struct bb_catalog *store_catalog; /* one reference */
    struct bb_catalog *catalog;       /* with only this index; one reference */
    struct bb_condition *condition;
    struct bb_view *view;
    struct bb_index_sample sample;
    double segment_bytes; /* approximate raw bytes of the granules of a segment */
    double raw_bytes;     /* of all tables */
    double raw_bytes_sampled;
    double size_bytes;
    double granules;
    double granules_left;
    double granules_unindexed;
    double segment_granules; /* mean over the drawn ones */
    struct bb_index_estimate estimate;
};

/* ---- everything ---- */

static void add_facts(struct estimation *e, const struct bb_sample_facts *facts, double weight)
{
    e->size_bytes += weight * (double)facts->size_bytes;
    e->granules += weight * (double)facts->granules;
    e->granules_left += weight * (double)facts->granules_left;
    e->granules_unindexed += weight * (double)facts->granules_unindexed;
}

static enum bb_status sample(struct estimation *e, struct bb_table_file *file, uint64_t first,
                             uint64_t end, struct bb_sample_facts *ret_facts)
{
    enum bb_status status = bb_index_sample_stretch(&e->sample, file, first, end, ret_facts);
    if (status != BB_OK)
        return status;
    e->raw_bytes_sampled += ret_facts->raw_bytes;
    e->estimate.granules_sampled += ret_facts->granules;
    return BB_OK;
}

static enum bb_status take_table(struct estimation *e, struct bb_table_file *file)
{
    struct bb_sample_facts facts;
    enum bb_status status = sample(e, file, 0, file->meta.block_count, &facts);
    if (status == BB_OK)
        add_facts(e, &facts, 1);
    return status;
}

static enum bb_status take_everything(struct estimation *e)
{
    const struct bb_levels *levels = e->view->levels;
    enum bb_status status = BB_OK;
    e->estimate.is_whole = true;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level) && status == BB_OK; i++)
            status = take_table(e, bb_levels_table(levels, level, i));
    }
    return status;
}

/* ---- stretches ---- */

/* A segment of the index of a table. */
struct stretch {
    struct bb_table_file *file;
    uint64_t first; /* blocks */
    uint64_t end;
};

/* The segment that contains raw byte `place` of the table. */
static struct stretch stretch_of(const struct estimation *e, struct bb_table_file *file,
                                 double place)
{
    double raw_bytes = (double)file->meta.raw_bytes;
    double blocks = (double)file->meta.block_count;
    double begin = floor(place / e->segment_bytes) * e->segment_bytes;
    double end = fmin(begin + e->segment_bytes, raw_bytes);
    return (struct stretch){.file = file,
                            .first = (uint64_t)(begin / raw_bytes * blocks),
                            .end = (uint64_t)ceil(end / raw_bytes * blocks)};
}

/* The segment that contains raw byte `place` of all tables. REQUIRES: place < raw_bytes. */
static struct stretch find_stretch(const struct estimation *e, double place)
{
    const struct bb_levels *levels = e->view->levels;
    struct stretch stretch = {0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            struct bb_table_file *file = bb_levels_table(levels, level, i);
            if (place < (double)file->meta.raw_bytes)
                return stretch_of(e, file, place);
            place -= (double)file->meta.raw_bytes;
        }
    }
    return stretch;
}

/* Takes segments at equal distances in the raw bytes of all tables, and computes means per raw
 * byte. A segment that is taken twice counts twice. */
static enum bb_status take_stretches(struct estimation *e)
{
    uint64_t count = e->options.segments;
    struct stretch before = {0};
    struct bb_sample_facts facts = {0};
    for (uint64_t i = 0; i < count; i++) {
        struct stretch taken = find_stretch(e, ((double)i + 0.5) / (double)count * e->raw_bytes);
        if (taken.file != before.file || taken.first != before.first) {
            enum bb_status status = sample(e, taken.file, taken.first, taken.end, &facts);
            if (status != BB_OK)
                return status;
        }
        before = taken;
        e->segment_granules += (double)facts.granules / (double)count;
        add_facts(e, &facts, e->raw_bytes / facts.raw_bytes / (double)count);
    }
    return BB_OK;
}

/* ---- singles ---- */

/* A set with too many values in a segment is not indexed there. A single granule does not show
 * this. Singles are therefore evaluated with every set indexed, and the stretches have measured how
 * often a set is not. */
static void index_all_sets(struct estimation *e)
{
    struct bb_skip_spec *spec = &e->catalog->specs[0];
    if (spec->kind == BB_SKIP_SET)
        spec->set_values_max = BB_SKIP_SET_VALUES_MAX;
    else
        e->granules_unindexed = 0;
}

static enum bb_status ask_singles(struct estimation *e)
{
    struct bb_sample_facts facts;
    index_all_sets(e);
    enum bb_status status =
        bb_index_sample_singles(&e->sample, e->view->levels, e->options.granules,
                                (uint64_t)e->segment_granules + 1, &facts);
    if (status != BB_OK || facts.granules == 0)
        return status;
    double unindexed = e->granules > 0 ? e->granules_unindexed / e->granules : 0;
    double count = (double)facts.granules;
    double left = (double)facts.granules_left / count;
    double variance = left * (1 - left) / count * fmax(0, 1 - count / e->granules);
    e->granules_left = e->granules * (unindexed + (1 - unindexed) * left);
    e->estimate.granules_read_error =
        (uint64_t)ceil(e->granules * (1 - unindexed) * sqrt(variance));
    e->estimate.granules_sampled += facts.granules;
    e->raw_bytes_sampled += e->raw_bytes * count / e->granules;
    return BB_OK;
}

/* ---- all ---- */

static uint64_t segments_of(const struct estimation *e, const struct bb_table_file *file)
{
    return (uint64_t)ceil((double)file->meta.raw_bytes / e->segment_bytes);
}

/* Adds up the tables of the store. True when they are so few that a sample would be most of
 * them. */
static bool is_small(struct estimation *e)
{
    const struct bb_levels *levels = e->view->levels;
    uint64_t segments = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        size_t count = bb_levels_table_count(levels, level);
        e->estimate.tables += count;
        e->raw_bytes += (double)levels->levels[level].raw_bytes;
        for (size_t i = 0; i < count; i++)
            segments += segments_of(e, bb_levels_table(levels, level, i));
    }
    double granules = e->raw_bytes / (double)e->catalog->granule_bytes;
    return segments <= e->options.segments ||
           (e->condition != NULL && granules <= 2 * (double)e->options.granules);
}

static enum bb_status take_sample(struct estimation *e)
{
    bool is_whole = is_small(e);
    if (e->estimate.tables == 0)
        return bb_fail(BB_NOT_FOUND, "%s: there are no tables to measure an index on",
                       e->db->directory);
    if (is_whole)
        return take_everything(e);
    enum bb_status status = take_stretches(e);
    return status == BB_OK && e->condition != NULL ? ask_singles(e) : status;
}

static void fill_estimate(struct estimation *e)
{
    struct bb_index_estimate *estimate = &e->estimate;
    estimate->granules = (uint64_t)llround(e->granules);
    estimate->size_bytes = (uint64_t)llround(e->size_bytes);
    estimate->raw_bytes = (uint64_t)e->raw_bytes;
    estimate->raw_bytes_sampled = (uint64_t)e->raw_bytes_sampled;
    if (e->condition != NULL)
        estimate->granules_read = (uint64_t)llround(e->granules_left);
}

/* The store's attributes with only this index. */
static enum bb_status make_catalog(struct estimation *e)
{
    const struct bb_catalog_change change = {.drop_all_indexes = true,
                                             .add_index = "estimated",
                                             .add_spec = e->options.spec,
                                             .granule_bytes = e->options.granule_bytes};
    e->store_catalog = bb_store_catalog_ref(e->db);
    return bb_catalog_change(e->store_catalog, &change, &e->catalog);
}

static bool is_same(const struct bb_skip_spec *a, const struct bb_skip_spec *b)
{
    return a->attribute == b->attribute && bb_spec_is_same(a, b);
}

/* The number of other indexes that share this one's memory when all are built together. */
static size_t count_others(const struct estimation *e)
{
    const struct bb_catalog *catalog = e->store_catalog;
    size_t count = 0;
    for (size_t i = 0; i < catalog->index_count; i++)
        count += bb_spec_has_members(catalog->specs[i].kind) &&
                 !is_same(&catalog->specs[i], &e->catalog->specs[0]);
    return count;
}

static enum bb_status prepare(struct estimation *e)
{
    enum bb_status status = make_catalog(e);
    if (status == BB_OK && e->options.where != NULL)
        status = bb_condition_parse(e->catalog->schema, bb_bytes_of_text(e->options.where),
                                    &e->condition);
    if (status != BB_OK)
        return status;
    if (e->options.segments == 0)
        e->options.segments = SEGMENTS_DEFAULT;
    if (e->options.granules == 0)
        e->options.granules = GRANULES_DEFAULT;
    e->segment_bytes = (double)e->catalog->granule_bytes * BB_SEGMENT_GRANULES_MAX;
    e->sample = (struct bb_index_sample){
        .db = e->db, .catalog = e->catalog, .others = count_others(e), .condition = e->condition};
    return BB_OK;
}

static enum bb_status run(struct estimation *e)
{
    enum bb_status status = prepare(e);
    if (status != BB_OK)
        return status;
    uint64_t begin = e->db->system->ops->now(e->db->system);
    e->view = bb_current_view_pin(e->db);
    status = take_sample(e);
    bb_current_view_unpin(e->db, e->view);
    e->estimate.build_nanoseconds = bb_file_elapsed(e->db->system, begin);
    fill_estimate(e);
    return status;
}

enum bb_status bb_db_index_estimate(struct bb_db *db,
                                    const struct bb_index_estimate_options *options,
                                    struct bb_index_estimate *ret_estimate)
{
    struct estimation e = {.db = db};
    if (options != NULL)
        e.options = *options;
    if (e.options.spec == NULL)
        return bb_fail(BB_INVALID, "the index to measure has no spec");
    enum bb_status status = bb_call_begin_change(db, "measuring an index");
    if (status != BB_OK)
        return status;
    status = run(&e);
    bb_call_end(db);
    bb_condition_destroy(e.condition);
    bb_catalog_unref(e.catalog);
    bb_catalog_unref(e.store_catalog);
    if (status == BB_OK)
        *ret_estimate = e.estimate;
    return status;
}
