/* A tour of the store, which docs/guide.md walks through: batches, durable writes, ranges, prefixes
 * and both directions, snapshots, values without a copy, and the steps of a lookup.
 *
 *     tour DIRECTORY      creates a store there, which must not exist; without DIRECTORY, in a
 *                         temporary directory
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include <bb/db_explain.h>
#include <bb/db_files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAYS   20
#define ORDERS 500 /* of a day */

static struct bb_bytes text(const char *string)
{
    return (struct bb_bytes){.data = (const uint8_t *)string, .size = strlen(string)};
}

/* Every failure has a sentence for a person. */
static void check(enum bb_status status)
{
    if (status == BB_OK)
        return;
    fprintf(stderr, "%s: %s\n", bb_status_name(status), bb_error_last()->message);
    exit(1);
}

/* ---- writing ---- */

/* One batch is one commit: a reader sees all of it or nothing, and so does a crash. */
static void write_day(struct bb_db *db, struct bb_batch *batch, int day)
{
    char key[32];
    char value[64];
    struct bb_write_options durable = {.sync = true};
    bb_batch_reset(batch);
    for (int i = 0; i < ORDERS; i++) {
        snprintf(key, sizeof(key), "day%02d/order%04d", day, 2 * i);
        snprintf(value, sizeof(value), "order %d of day %d, to be delivered", 2 * i, day);
        check(bb_batch_put(batch, text(key), text(value)));
    }
    check(bb_db_write(db, &durable, batch));
}

static void write_orders(struct bb_db *db)
{
    struct bb_batch *batch = NULL;
    check(bb_batch_create(&batch));
    for (int day = 1; day <= DAYS; day++)
        write_day(db, batch, day);
    bb_batch_destroy(batch);
}

/* ---- reading ---- */

static void read_one(struct bb_db *db)
{
    struct bb_buf copy = {0};
    struct bb_pinned pinned;
    check(bb_db_get(db, NULL, text("day07/order0042"), &copy));
    printf("get        %.*s\n", (int)copy.size, (const char *)copy.data);
    bb_buf_deinit(&copy);
    /* In place: no copy is made, and the block stays in memory until the release. */
    check(bb_db_get_pinned(db, NULL, text("day07/order0044"), &pinned));
    printf("pinned     %.*s\n", (int)pinned.bytes.size, (const char *)pinned.bytes.data);
    bb_pinned_release(&pinned);
    /* Not there is no failure. */
    enum bb_status status = bb_db_get(db, NULL, text("day07/order0043"), NULL);
    printf("get        %s\n", status == BB_NOT_FOUND ? "absent" : "?");
}

static void print_key(const struct bb_db_iter *iter)
{
    struct bb_bytes key = bb_db_iter_key(iter);
    printf(" %.*s", (int)key.size, (const char *)key.data);
}

static void scan_range(struct bb_db *db)
{
    struct bb_bytes low = text("day07/order0990");
    struct bb_bytes high = text("day08/order0006");
    struct bb_key_range range = {.low = &low, .high = &high};
    struct bb_db_iter *iter = NULL;
    check(bb_db_iter_create_range(db, NULL, &range, &iter));
    printf("forward   ");
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        print_key(iter);
    printf("\nbackward  ");
    for (bb_db_iter_seek_last(iter); bb_db_iter_valid(iter); bb_db_iter_prev(iter))
        print_key(iter);
    printf("\n");
    /* An iterator that is not valid is at the end, or could not read. */
    check(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

static int count_prefix(struct bb_db *db, const struct bb_snapshot *snapshot, const char *prefix)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_db_iter *iter = NULL;
    int count = 0;
    check(bb_db_iter_create_prefix(db, &options, text(prefix), &iter));
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        count++;
    check(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
    return count;
}

static void use_snapshot(struct bb_db *db)
{
    struct bb_snapshot *before = NULL;
    check(bb_snapshot_create(db, &before));
    check(bb_db_delete(db, NULL, text("day07/order0000")));
    check(bb_db_put(db, NULL, text("day07/order0001"), text("late")));
    check(bb_db_put(db, NULL, text("day07/order0003"), text("later")));
    printf("snapshot   %d orders on day 7 then, %d now\n", count_prefix(db, before, "day07/"),
           count_prefix(db, NULL, "day07/"));
    bb_snapshot_release(db, before);
}

/* ---- looking inside ---- */

static void print_step(const struct bb_explain_step *step)
{
    if (step->kind == BB_EXPLAIN_MEMTABLE)
        printf("  memory: nothing\n");
    else if (step->kind == BB_EXPLAIN_NO_TABLE)
        printf("  level %d: no table has such keys\n", step->level);
    else
        printf("  level %d: table filter %s, filter %s, block %s\n", step->level,
               bb_verdict_name(step->table.table_filter.verdict),
               bb_verdict_name(step->table.filter.verdict), bb_source_name(step->table.block));
}

static void explain(struct bb_db *db, const char *key)
{
    struct bb_explain report;
    check(bb_db_explain(db, NULL, text(key), NULL, &report));
    printf("explain    %s: %s\n", key, report.is_found ? "found" : "absent");
    for (size_t i = 0; i < report.step_count; i++)
        print_step(&report.steps[i]);
    bb_explain_deinit(&report);
}

static void print_statistics(struct bb_db *db)
{
    struct bb_db_stats stats;
    struct bb_read_stats reads = {0};
    bb_db_stats(db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        reads.block_requests += stats.level_reads[level].block_requests;
        reads.avoided_requests += stats.level_reads[level].avoided_requests;
    }
    printf("statistics %llu gets, %llu found; blocks requested %llu, spared %llu\n",
           (unsigned long long)stats.gets, (unsigned long long)stats.gets_found,
           (unsigned long long)reads.block_requests, (unsigned long long)reads.avoided_requests);
    printf("           expected of an absent key: %.4f block requests, target %.4f\n",
           stats.expected_wasted_reads, stats.target_wasted_reads);
}

static void ask_for_absent_keys(struct bb_db *db)
{
    char key[32];
    for (int i = 0; i < ORDERS - 1; i++) {
        snprintf(key, sizeof(key), "day%02d/order%04d", 1 + i % DAYS, 2 * i + 1);
        enum bb_status status = bb_db_get(db, NULL, text(key), NULL);
        if (status != BB_NOT_FOUND)
            check(status);
    }
}

static void tour(const char *directory)
{
    struct bb_hash_secret secret;
    struct bb_db *db = NULL;
    /* By default a store draws a random secret. This one is fixed, so that the figures repeat. */
    bb_hash_secret_from_seed(1, &secret);
    struct bb_db_options options = {.create_if_missing = true,
                                    .error_if_exists = true,
                                    .filter_amount = {BB_FILTER_WASTED_READS, 0.01},
                                    .secret = &secret};
    check(bb_db_open(directory, &options, &db));
    write_orders(db);
    read_one(db);
    scan_range(db);
    use_snapshot(db);
    check(bb_db_compact(db));
    explain(db, "day07/order0042");
    explain(db, "day07/order0043");
    ask_for_absent_keys(db);
    print_statistics(db);
    check(bb_db_close(db));
}

int main(int argc, char **argv)
{
    char parent[] = "/tmp/bloomblock_tour_XXXXXX";
    char directory[sizeof(parent) + 8];
    if (argc > 1) {
        tour(argv[1]);
        return 0;
    }
    if (mkdtemp(parent) == NULL)
        return 1;
    snprintf(directory, sizeof(directory), "%s/store", parent);
    tour(directory);
    check(bb_db_destroy(directory, NULL, NULL));
    return remove(parent) == 0 ? 0 : 1;
}
