/* See index_sample.h. */
#include "kv/indexes/index_sample.h"

#include "base/status.h"
#include "kv/indexes/index_build.h"
#include "kv/indexes/index_file.h"
#include "kv/store/work.h"
#include "skip/build/skip_builder.h"
#include "skip/query/truth_bits.h"
#include "sstable/table/table_blocks.h"

/* The index being sampled. */
struct sampling {
    const struct bb_index_sample *sample;
    struct bb_index_build build;
    uint64_t shown; /* number of blocks so far, used as block numbers in the sample */
    struct bb_sample_facts facts;
};

/* ---- building ---- */

static enum bb_status add_entry(void *context, const struct bb_entry *entry, uint64_t block_number)
{
    struct sampling *sampling = context;
    return bb_index_build_add(&sampling->build, entry, block_number);
}

static enum bb_status add_block(struct sampling *sampling, struct bb_table_blocks *blocks,
                                uint64_t number, uint64_t end)
{
    struct bb_table_observer observer = {.add = add_entry, .context = sampling};
    enum bb_status status = bb_index_build_check(&sampling->build, sampling->shown);
    if (status == BB_OK)
        status = bb_table_blocks_show_block(blocks, number, end, sampling->shown++, &observer);
    return status;
}

static enum bb_status open_blocks(struct bb_table_file *file, struct bb_table_blocks *ret_blocks)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_file_open(file, &table);
    return status == BB_OK ? bb_table_blocks_init(ret_blocks, table) : status;
}

/* ---- querying ---- */

/* Columns show for each record whether it can match. Without columns, the granule counts as one to
 * read. */
static bool has_match(struct bb_skip_rows *rows, size_t granule)
{
    struct bb_skip_row_bits bits;
    return rows == NULL || bb_skip_rows_read(rows, granule, NULL, &bits) != BB_OK ||
           bb_skip_row_bits_judge(&bits) != BB_SKIP_EXCLUDED;
}

static enum bb_status ask(struct sampling *sampling, struct bb_skip_file *file)
{
    const struct bb_index_sample *sample = sampling->sample;
    struct bb_skip_verdicts verdicts;
    struct bb_skip_rows *rows = NULL;
    if (sample->condition == NULL)
        return BB_OK;
    enum bb_status status =
        bb_skip_file_evaluate(file, sample->condition, sample->catalog->schema, NULL, &verdicts);
    if (status != BB_OK)
        return status;
    status = bb_skip_rows_create(file, sample->condition, sample->catalog->schema, &rows);
    for (size_t i = 0; i < verdicts.granule_count; i++)
        sampling->facts.granules_left += bb_bit_get(verdicts.may_be_true, i) && has_match(rows, i);
    bb_skip_rows_destroy(rows);
    bb_skip_verdicts_deinit(&verdicts);
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status look_at(struct sampling *sampling, struct bb_companion *companion)
{
    struct bb_skip_file *file = NULL;
    struct bb_skip_index_info info = {0};
    enum bb_status status = bb_index_file_open(companion, &file);
    if (status != BB_OK)
        return status;
    bb_skip_file_index(file, 0, &info);
    sampling->facts.granules = bb_skip_file_granule_count(file);
    sampling->facts.granules_unindexed = info.unindexed_granules;
    sampling->facts.size_bytes = info.size_bytes;
    return ask(sampling, file);
}

/* ---- an index ---- */

static const uint8_t sample_id[BB_SKIP_ID_SIZE]; /* belongs to no table */

static enum bb_status begin(struct sampling *sampling, const struct bb_index_sample *sample)
{
    *sampling = (struct sampling){.sample = sample};
    bb_index_build_init_with(&sampling->build, sample->db,
                             bb_work_file_system(sample->db, BB_WORK_COMPACTION), sample->catalog);
    enum bb_status status =
        bb_index_build_begin(&sampling->build, bb_bytes_of(sample_id, sizeof(sample_id)));
    if (status == BB_OK)
        bb_skip_builder_leave_space(sampling->build.builder, sample->others);
    return status;
}

/* Also called after a failure. */
static enum bb_status finish(struct sampling *sampling, enum bb_status status,
                             struct bb_sample_facts *ret_facts)
{
    struct bb_companion *companion = NULL;
    if (status == BB_OK)
        status = bb_index_build_finish(&sampling->build);
    if (status == BB_OK)
        status = bb_index_file_create(sampling->sample->db, sampling->build.built[0].number,
                                      sample_id, &companion);
    if (status == BB_OK)
        status = look_at(sampling, companion);
    bb_companion_unref(companion);
    bb_index_build_deinit(&sampling->build);
    if (status == BB_OK)
        *ret_facts = sampling->facts;
    return status;
}

/* ---- a stretch ---- */

static enum bb_status add_stretch(struct sampling *sampling, struct bb_table_file *file,
                                  uint64_t first, uint64_t end)
{
    struct bb_table_blocks blocks;
    enum bb_status status = open_blocks(file, &blocks);
    if (status != BB_OK)
        return status;
    for (uint64_t number = first; number < end && status == BB_OK; number++)
        status = add_block(sampling, &blocks, number, end);
    bb_table_blocks_deinit(&blocks);
    return status;
}

enum bb_status bb_index_sample_stretch(const struct bb_index_sample *sample,
                                       struct bb_table_file *file, uint64_t first, uint64_t end,
                                       struct bb_sample_facts *ret_facts)
{
    struct sampling sampling;
    enum bb_status status = begin(&sampling, sample);
    if (status == BB_OK)
        status = add_stretch(&sampling, file, first, end);
    if (file->meta.block_count > 0)
        sampling.facts.raw_bytes =
            (double)file->meta.raw_bytes * (double)(end - first) / (double)file->meta.block_count;
    return finish(&sampling, status, ret_facts);
}

/* ---- singles ---- */

struct singles {
    const struct bb_index_sample *sample;
    struct sampling sampling;
    uint64_t segment_granules; /* of each index */
    uint64_t left;             /* of these, until the current index is full */
    double distance;           /* raw bytes between two granules */
    uint64_t next;             /* number of the next one */
    struct bb_sample_facts facts;
};

static enum bb_status finish_segment(struct singles *singles, enum bb_status status)
{
    struct bb_sample_facts facts;
    status = finish(&singles->sampling, status, &facts);
    if (status != BB_OK)
        return status;
    singles->facts.granules += facts.granules;
    singles->facts.granules_left += facts.granules_left;
    singles->facts.granules_unindexed += facts.granules_unindexed;
    singles->facts.size_bytes += facts.size_bytes;
    return BB_OK;
}

/* Adds the granule that begins with a block. It ends with the table, if the table ends first. */
static enum bb_status show_single(struct sampling *sampling, struct bb_table_blocks *blocks,
                                  uint64_t first)
{
    uint64_t end = bb_table_blocks_count(blocks);
    enum bb_status status = BB_OK;
    for (uint64_t number = first; number < end && status == BB_OK; number++) {
        status = add_block(sampling, blocks, number, number + 1);
        if (bb_index_build_is_full(&sampling->build))
            break;
    }
    return status == BB_OK ? bb_index_build_end_granule(&sampling->build) : status;
}

static enum bb_status add_single(struct singles *singles, struct bb_table_blocks *blocks,
                                 uint64_t first)
{
    enum bb_status status = BB_OK;
    if (singles->left == 0) {
        status = finish_segment(singles, BB_OK);
        if (status == BB_OK)
            status = begin(&singles->sampling, singles->sample);
        singles->left = singles->segment_granules;
    }
    singles->left--;
    singles->next++;
    return status == BB_OK ? show_single(&singles->sampling, blocks, first) : status;
}

/* Adds the granules that begin in a table. `begin`: the sum of raw bytes of the tables before
 * it. */
static enum bb_status add_singles_of(struct singles *singles, struct bb_table_file *file,
                                     double begin)
{
    struct bb_table_blocks blocks;
    double raw_bytes = (double)file->meta.raw_bytes;
    double place = ((double)singles->next + 0.5) * singles->distance - begin;
    if (place >= raw_bytes)
        return BB_OK;
    enum bb_status status = open_blocks(file, &blocks);
    if (status != BB_OK)
        return status;
    double count = (double)bb_table_blocks_count(&blocks);
    for (; place < raw_bytes && status == BB_OK; place += singles->distance)
        status = add_single(singles, &blocks, (uint64_t)(place / raw_bytes * count));
    bb_table_blocks_deinit(&blocks);
    return status;
}

static enum bb_status add_singles(struct singles *singles, const struct bb_levels *levels)
{
    double begin = 0;
    enum bb_status status = BB_OK;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level) && status == BB_OK; i++) {
            struct bb_table_file *file = bb_levels_table(levels, level, i);
            status = add_singles_of(singles, file, begin);
            begin += (double)file->meta.raw_bytes;
        }
    }
    return status;
}

static double levels_raw_bytes(const struct bb_levels *levels)
{
    double raw_bytes = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        raw_bytes += (double)levels->levels[level].raw_bytes;
    return raw_bytes;
}

enum bb_status bb_index_sample_singles(const struct bb_index_sample *sample,
                                       const struct bb_levels *levels, uint64_t count,
                                       uint64_t segment_granules, struct bb_sample_facts *ret_facts)
{
    struct singles singles = {.sample = sample,
                              .segment_granules = segment_granules,
                              .left = segment_granules,
                              .distance = levels_raw_bytes(levels) / (double)count};
    enum bb_status status = begin(&singles.sampling, sample);
    if (status == BB_OK)
        status = add_singles(&singles, levels);
    status = finish_segment(&singles, status);
    if (status == BB_OK)
        *ret_facts = singles.facts;
    return status;
}
