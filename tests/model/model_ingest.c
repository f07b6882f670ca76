/* See model_store.h: tables built elsewhere, under other options and another secret. */
#include "bb/db_files.h"
#include "tests/model/model_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"

#define TABLES_MAX  3
#define ENTRIES_MAX 200
#define RANGES_MAX  2
#define STEP        (RANGES_MAX + 1) /* sequences of a table */
#define SPAN_MAX    100 /* keys that are neighbours, now and then: for tables that overlap little */

struct draft {
    struct model_key key;
    uint8_t value[64];
    size_t value_size;
    bool is_put;
};

struct drafts {
    struct draft entries[ENTRIES_MAX]; /* ascending, no key twice */
    size_t count;
    struct model_key bounds[RANGES_MAX]
                           [2]; /* of deleted ranges, in any order: then they are empty */
    size_t range_count;
    bool ranges_are_newer; /* than the entries of their table */
};

static struct bb_bytes key_of(const struct draft *draft)
{
    return bb_bytes_of(draft->key.data, draft->key.size);
}

static struct bb_bytes value_of(const struct draft *draft)
{
    return bb_bytes_of(draft->value, draft->value_size);
}

static struct bb_bytes bound_of(const struct drafts *drafts, size_t range, int bound)
{
    const struct model_key *key = &drafts->bounds[range][bound];
    return bb_bytes_of(key->data, key->size);
}

static int compare_upwards(const void *a, const void *b)
{
    return bb_bytes_compare(key_of(a), key_of(b));
}

static int compare_downwards(const void *a, const void *b)
{
    return compare_upwards(b, a);
}

/* In the store's order. */
static int (*comparison(const struct model *model))(const void *, const void *)
{
    return model->options.comparator == NULL ? compare_upwards : compare_downwards;
}

static void drop_doubles(struct drafts *drafts)
{
    size_t kept = 0;
    for (size_t i = 0; i < drafts->count; i++) {
        if (kept == 0 || compare_upwards(&drafts->entries[kept - 1], &drafts->entries[i]) != 0)
            drafts->entries[kept++] = drafts->entries[i];
    }
    drafts->count = kept;
}

/* Keys of different shapes are far apart. */
static uint64_t usual(uint64_t number)
{
    while (number % 7 == 0 || number % 11 == 0)
        number++;
    return number;
}

static void draw_ranges(struct model *model, struct drafts *drafts, uint64_t first)
{
    struct bb_rng *rng = &model->rng;
    drafts->range_count = bb_rng_one_in(rng, 3) ? bb_rng_between(rng, 1, RANGES_MAX) : 0;
    drafts->ranges_are_newer = bb_rng_one_in(rng, 2);
    for (size_t i = 0; i < drafts->range_count; i++) {
        uint64_t low = usual(first + bb_rng_below(rng, SPAN_MAX));
        bool is_upwards = model->options.comparator == NULL;
        model_key_number(model, low, &drafts->bounds[i][is_upwards ? 0 : 1]);
        model_key_number(model, usual(low + bb_rng_below(rng, 20)),
                         &drafts->bounds[i][is_upwards ? 1 : 0]);
    }
}

static void draw_drafts(struct model *model, struct drafts *drafts)
{
    struct bb_rng *rng = &model->rng;
    bool is_narrow = bb_rng_one_in(rng, 2);
    uint64_t first = bb_rng_below(rng, model->key_space);
    drafts->count = bb_rng_between(rng, 1, ENTRIES_MAX);
    for (size_t i = 0; i < drafts->count; i++) {
        struct draft *draft = &drafts->entries[i];
        if (is_narrow)
            model_key_number(model, first + bb_rng_below(rng, SPAN_MAX), &draft->key);
        else
            (void)model_draw_key(model, &draft->key);
        draft->is_put = !bb_rng_one_in(rng, 5);
        draft->value_size = draft->is_put ? bb_rng_below(rng, sizeof(draft->value) + 1) : 0;
        bb_rng_bytes(rng, draft->value, draft->value_size);
    }
    qsort(drafts->entries, drafts->count, sizeof(drafts->entries[0]), comparison(model));
    drop_doubles(drafts);
    draw_ranges(model, drafts, first);
}

static void build(struct model *model, const char *path, const struct drafts *drafts)
{
    struct bb_rng *rng = &model->rng;
    static const enum bb_filter_kind kinds[] = {BB_FILTER_NONE, BB_FILTER_RIBBON, BB_FILTER_BLOOM};
    struct bb_table_builder *builder = NULL;
    struct bb_hash_secret secret;
    bb_hash_secret_from_seed(bb_rng_next(rng), &secret);
    struct bb_table_options options = {.file_system = bb_file_memory_system(model->memory),
                                       .comparator = model->options.comparator,
                                       .block_size_bytes = (uint32_t)bb_rng_between(rng, 64, 4096),
                                       .filter_kind = kinds[bb_rng_below(rng, 3)],
                                       .filter_rate = 0.1,
                                       .secret = &secret};
    model_must(model, bb_table_builder_create(path, &options, &builder), "build a table");
    for (size_t i = 0; i < drafts->count; i++) {
        const struct draft *draft = &drafts->entries[i];
        struct bb_entry entry = {.key = key_of(draft),
                                 .sequence = bb_rng_below(rng, BB_SEQUENCE_MAX),
                                 .kind = draft->is_put ? BB_ENTRY_PUT : BB_ENTRY_DELETE,
                                 .value = value_of(draft)};
        model_must(model, bb_table_builder_add(builder, &entry), "add to a table");
    }
    for (size_t i = 0; i < drafts->range_count; i++)
        model_must(model,
                   bb_table_builder_add_range_tombstone(
                       builder, bound_of(drafts, i, 0), bound_of(drafts, i, 1),
                       drafts->ranges_are_newer ? BB_SEQUENCE_MAX : 0),
                   "add a range to a table");
    model_must(model, bb_table_builder_finish(builder, NULL), "finish a table");
    bb_table_builder_destroy(builder);
}

static void tell_ranges(struct model *model, const struct drafts *drafts, uint64_t sequence)
{
    for (size_t i = 0; i < drafts->range_count; i++)
        oracle_delete_range(model->oracle, sequence - i, bound_of(drafts, i, 0),
                            bound_of(drafts, i, 1));
}

static void tell_entries(struct model *model, const struct drafts *drafts, uint64_t sequence)
{
    for (size_t i = 0; i < drafts->count; i++) {
        const struct draft *draft = &drafts->entries[i];
        struct bb_bytes value = value_of(draft);
        oracle_apply(model->oracle, sequence, key_of(draft), draft->is_put ? &value : NULL);
    }
}

/* All have one sequence in the store. The oracle gets them one by one, the winning table last,
 * under sequences shortly before it, which the store has skipped. */
static void tell_oracle(struct model *model, const struct drafts *tables, size_t count)
{
    struct bb_db_stats stats;
    bb_db_stats(model->db, &stats);
    if (stats.last_sequence <= model->sequence + TABLES_MAX * STEP)
        model_differ(model, "an ingest has no sequence of its own");
    model->sequence = stats.last_sequence;
    for (size_t i = 0; i < count; i++) {
        uint64_t last = stats.last_sequence - (count - 1 - i) * STEP;
        bool is_newer = tables[i].ranges_are_newer;
        if (is_newer)
            tell_entries(model, &tables[i], last - RANGES_MAX);
        tell_ranges(model, &tables[i], is_newer ? last : last - 1);
        if (!is_newer)
            tell_entries(model, &tables[i], last);
        model->coverage->ingested_ranges += tables[i].range_count;
    }
    model_set_durable(model);
}

void model_ingest(struct model *model)
{
    static struct drafts tables[TABLES_MAX];
    char paths[TABLES_MAX][40];
    const char *list[TABLES_MAX];
    struct bb_file_system *fs = bb_file_memory_system(model->memory);
    struct bb_ingest_options options = {.verify = bb_rng_one_in(&model->rng, 2)};
    size_t count = bb_rng_between(&model->rng, 1, TABLES_MAX);
    for (size_t i = 0; i < count; i++) {
        /* A name that was removed may come back with a crash. */
        snprintf(paths[i], sizeof(paths[i]), "/table%" PRIu64 "-%zu", model->coverage->operations,
                 i);
        list[i] = paths[i];
        draw_drafts(model, &tables[i]);
        build(model, paths[i], &tables[i]);
    }
    model_must(model, bb_db_ingest(model->db, list, count, &options), "ingest");
    tell_oracle(model, tables, count);
    for (size_t i = 0; i < count; i++)
        model_must(model, fs->ops->remove(fs, paths[i]), "remove a table");
    model->coverage->ingests++;
}
