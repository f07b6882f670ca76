/* Goal: the store has the same results as a map, for any options, through flushes, compactions,
 * reopening and crashes. Method: seeded random operations, each executed on the store and on SQLite
 * (tests/model/oracle.h), every result compared; sometimes everything is compared, forward and
 * backward, at every snapshot. A crash loses unsynced data, on a file system in memory; the
 * recovered state must be after some commit, and not before the last durable one. Counters prove at
 * the end that the interesting events have happened.
 *
 * BB_TEST_OPS sets the number of operations (default 225,000), BB_TEST_SEED the seed.
 */
#include "tests/model/model_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/rng.h"

/* Each store lives for this many operations, then another one begins with other options. */
#define OPS_PER_STORE 15000

static uint64_t op_count(void)
{
    const char *text = getenv("BB_TEST_OPS");
    return text == NULL ? 225000 : strtoull(text, NULL, 10);
}

static void step(struct model *model)
{
    static const struct {
        uint32_t weight;
        void (*run)(struct model *);
    } operations[] = {
        {3000, model_put},        {900, model_delete},       {300, model_batch},
        {3500, model_get},        {600, model_walk},         {60, model_snapshot},
        {60, model_release},      {12, model_flush},         {3, model_compact},
        {8, model_reopen},        {8, model_crash},          {8, model_kill},
        {6, model_compare_all},   {200, model_get_far_away}, {60, model_get_many},
        {5, model_compact_range}, {20, model_sizes},         {4, model_checkpoint},
        {150, model_pin},         {6, model_ingest},         {120, model_delete_range},
        {100, model_walk_on},     {60, model_view},          {2, model_repair},
        {20, model_refuse},       {30, model_inspect},       {40, model_select},
    };
    uint64_t total = 0;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        total += operations[i].weight;
    uint64_t draw = bb_rng_below(&model->rng, total);
    size_t choice = 0;
    while (draw >= operations[choice].weight)
        draw -= operations[choice++].weight;
    operations[choice].run(model);
}

static void print_coverage(const struct model_coverage *c)
{
    printf("operations %llu, stores %llu\n", (unsigned long long)c->operations,
           (unsigned long long)c->stores);
    printf("gets %llu: present %llu, deleted %llu, never there %llu\n", (unsigned long long)c->gets,
           (unsigned long long)c->gets_present, (unsigned long long)c->gets_deleted,
           (unsigned long long)c->gets_never);
    printf("pinned %llu, of which over a compaction %llu\n", (unsigned long long)c->pins,
           (unsigned long long)c->pins_over_compactions);
    printf("found by many gets at once %llu, compactions of ranges %llu (%llu entries compared), "
           "sizes %llu, checkpoints %llu, ingests %llu\n",
           (unsigned long long)c->gets_of_many, (unsigned long long)c->range_compactions,
           (unsigned long long)c->entries_of_compacted_ranges, (unsigned long long)c->sizes,
           (unsigned long long)c->checkpoints, (unsigned long long)c->ingests);
    printf("deleted ranges that came in %llu\n", (unsigned long long)c->ingested_ranges);
    printf("gets in deleted ranges %llu, walks over deleted ranges %llu, range tombstones met by "
           "compactions %llu, tables removed unread %llu\n",
           (unsigned long long)c->gets_in_ranges, (unsigned long long)c->walks_over_ranges,
           (unsigned long long)c->compaction_ranges, (unsigned long long)c->covered_tables);
    printf("iterator moves %llu, turns %llu, walks at a snapshot %llu\n",
           (unsigned long long)c->moves, (unsigned long long)c->turns,
           (unsigned long long)c->snapshot_walks);
    printf("walks over at least two tables that turned round %llu\n",
           (unsigned long long)c->turns_across_tables);
    printf("over prefixes %llu, of keys only %llu; iterators used after a compaction %llu; "
           "operations walked through in batches %llu\n",
           (unsigned long long)c->prefix_walks, (unsigned long long)c->keys_walks,
           (unsigned long long)c->walks_over_compactions, (unsigned long long)c->batch_operations);
    printf("stores in reverse order %llu, read-only openings %llu, refreshed %llu, reads of a past "
           "state %llu\n",
           (unsigned long long)c->reverse_stores, (unsigned long long)c->views,
           (unsigned long long)c->refreshes, (unsigned long long)c->gets_of_the_past);
    printf("repairs %llu, of which without a manifest %llu; refusals %llu, inspections %llu, "
           "checkpoints beside a writer %llu\n",
           (unsigned long long)c->repairs, (unsigned long long)c->repairs_without_manifest,
           (unsigned long long)c->refusals, (unsigned long long)c->inspections,
           (unsigned long long)c->checkpoints_beside_writer);
    printf("selections %llu of %llu records; granules excluded %llu, counted unread %llu; indexes "
           "created %llu, dropped %llu, materialized %llu\n",
           (unsigned long long)c->selections, (unsigned long long)c->selected,
           (unsigned long long)c->granules_excluded, (unsigned long long)c->granules_counted,
           (unsigned long long)c->indexes_created, (unsigned long long)c->indexes_dropped,
           (unsigned long long)c->materialized);
    printf("flushes %llu, compactions %llu, snapshots alive over a compaction %llu\n",
           (unsigned long long)c->flushes, (unsigned long long)c->compactions,
           (unsigned long long)c->snapshots_over_compactions);
    printf("reopened %llu, killed %llu, crashed %llu of which lost something %llu\n",
           (unsigned long long)c->reopened, (unsigned long long)c->killed,
           (unsigned long long)c->crashed, (unsigned long long)c->crashes_with_loss);
    printf(
        "table visits: table filter negatives %llu, filter negatives %llu, false positives %llu, "
        "tombstones %llu, not visible %llu, present %llu\n",
        (unsigned long long)c->visits[BB_VISIT_TABLE_FILTER_NEGATIVE],
        (unsigned long long)c->visits[BB_VISIT_FILTER_NEGATIVE],
        (unsigned long long)c->visits[BB_VISIT_FALSE_POSITIVE],
        (unsigned long long)c->visits[BB_VISIT_TOMBSTONE],
        (unsigned long long)c->visits[BB_VISIT_NOT_VISIBLE],
        (unsigned long long)c->visits[BB_VISIT_PRESENT]);
}

/* Floors, in parts per million of the operations; far below the values from the weights above, so
 * that they hold for any seed, and far enough above zero to be meaningful. */
static int check_floor(const char *name, uint64_t count, uint64_t operations, uint64_t per_million)
{
    if (count * 1000000 >= operations * per_million)
        return 0;
    fprintf(stderr, "coverage: %s: %llu in %llu operations, expected at least %llu per million\n",
            name, (unsigned long long)count, (unsigned long long)operations,
            (unsigned long long)per_million);
    return 1;
}

/* Events that are rare, or possible only with some options: a short run may have none of them. */
static int check_drawn_floor(const char *name, uint64_t count, const struct model_coverage *c,
                             uint64_t per_million)
{
    return c->stores < 10 ? 0 : check_floor(name, count, c->operations, per_million);
}

static int check_coverage(const struct model_coverage *c)
{
    uint64_t n = c->operations;
    return check_floor("gets that hit", c->gets_present, n, 50000) +
           check_floor("gets of deleted keys", c->gets_deleted, n, 15000) +
           check_floor("gets of keys in deleted ranges", c->gets_in_ranges, n, 5000) +
           check_floor("iterators over deleted ranges", c->walks_over_ranges, n, 2000) +
           check_floor("range tombstones met by compactions", c->compaction_ranges, n, 2000) +
           check_drawn_floor("tables removed unread", c->covered_tables, c, 50) +
           check_floor("gets of keys never there", c->gets_never, n, 5000) +
           check_floor("keys found by many gets at once", c->gets_of_many, n, 20000) +
           check_floor("values pinned", c->pins, n, 1000) +
           check_floor("pins over a compaction", c->pins_over_compactions, n, 20) +
           check_floor("reports of gets", c->reports, n, 10000) +
           check_drawn_floor("compactions of ranges", c->range_compactions, c, 50) +
           check_drawn_floor("entries of compacted ranges", c->entries_of_compacted_ranges, c,
                             500) +
           check_drawn_floor("checkpoints", c->checkpoints, c, 100) +
           check_drawn_floor("scrubs", c->scrubs, c, 100) +
           check_drawn_floor("selections", c->selections, c, 500) +
           check_drawn_floor("selected records", c->selected, c, 5000) +
           check_drawn_floor("progress of selections", c->selection_progress, c, 200) +
           check_drawn_floor("questions to indexes", c->index_questions, c, 200) +
           check_drawn_floor("granules excluded", c->granules_excluded, c, 200) +
           check_drawn_floor("indexes created", c->indexes_created, c, 100) +
           check_drawn_floor("indexes dropped", c->indexes_dropped, c, 50) +
           check_drawn_floor("indexes materialized", c->materialized, c, 30) +
           check_floor("ingests", c->ingests, n, 200) +
           check_floor("deleted ranges that came in", c->ingested_ranges, n, 100) +
           check_floor("sizes of ranges", c->sizes, n, 200) +
           check_floor("tombstones met in tables", c->visits[BB_VISIT_TOMBSTONE], n, 2000) +
           check_floor("table filter negatives", c->visits[BB_VISIT_TABLE_FILTER_NEGATIVE], n,
                       2000) +
           check_floor("filter negatives", c->visits[BB_VISIT_FILTER_NEGATIVE], n, 2000) +
           check_floor("iterators that turn round across tables", c->turns_across_tables, n, 5000) +
           check_floor("walks at a snapshot", c->snapshot_walks, n, 2000) +
           check_floor("walks that met a bound", c->bounds_met, n, 2000) +
           check_drawn_floor("walks over a prefix", c->prefix_walks, c, 3000) +
           check_floor("walks over keys only", c->keys_walks, n, 2000) +
           check_floor("iterators used after a compaction", c->walks_over_compactions, n, 300) +
           check_floor("operations walked through in batches", c->batch_operations, n, 100000) +
           check_drawn_floor("stores in reverse order", c->reverse_stores, c, 10) +
           check_floor("read-only openings", c->views, n, 500) +
           check_floor("refreshes", c->refreshes, n, 200) +
           check_floor("reads of a past state", c->gets_of_the_past, n, 500) +
           check_drawn_floor("repairs", c->repairs, c, 50) +
           check_drawn_floor("repairs without a manifest", c->repairs_without_manifest, c, 30) +
           check_floor("refusals", c->refusals, n, 500) +
           check_floor("inspections", c->inspections, n, 500) +
           check_drawn_floor("checkpoints beside a writer", c->checkpoints_beside_writer, c, 50) +
           check_floor("snapshots alive over a compaction", c->snapshots_over_compactions, n, 100) +
           check_floor("compactions", c->compactions, n, 200) +
           check_drawn_floor("levels of several runs", c->tiered_levels, c, 30) +
           check_floor("flushes", c->flushes, n, 500) +
           check_floor("reopenings", c->reopened, n, 100) +
           check_floor("crashes", c->crashed, n, 100) +
           check_floor("crashes that lost something", c->crashes_with_loss, n, 20);
}

int main(void)
{
    uint64_t seed = bb_rng_seed("model_test", 20261121);
    uint64_t left = op_count();
    struct model_coverage coverage = {0};
    for (uint64_t store = 0; left > 0; store++) {
        uint64_t count = left < OPS_PER_STORE ? left : OPS_PER_STORE;
        struct model *model = model_create(seed + store, &coverage);
        for (uint64_t i = 0; i < count; i++) {
            coverage.operations++;
            step(model);
        }
        model_compare_all(model);
        model_destroy(model);
        left -= count;
    }
    print_coverage(&coverage);
    printf("count: %llu operations\n", (unsigned long long)coverage.operations);
    int missing = check_coverage(&coverage);
    printf("%s\n", missing == 0 ? "no difference" : "no difference, but not all was covered");
    return missing == 0 ? 0 : 1;
}
