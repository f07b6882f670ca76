/* A first store: open, write, read, scan, and count the reads that the filters saved. Runs in a
 * directory that it creates and removes.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include <bb/db.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct bb_bytes bytes(const char *text)
{
    return (struct bb_bytes){.data = (const uint8_t *)text, .size = strlen(text)};
}

static void check(enum bb_status status)
{
    if (status == BB_OK || status == BB_NOT_FOUND)
        return;
    fprintf(stderr, "%s: %s\n", bb_status_name(status), bb_error_last()->message);
    exit(1);
}

static void fill(struct bb_db *db)
{
    char key[32];
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof(key), "user%06d", i * 2);
        check(bb_db_put(db, NULL, bytes(key), bytes("a value of some length")));
    }
    check(bb_db_flush(db));
}

static void ask_for_what_is_not_there(struct bb_db *db)
{
    struct bb_buf value = {0};
    char key[32];
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof(key), "user%06d", i * 2 + 1);
        check(bb_db_get(db, NULL, bytes(key), &value));
    }
    bb_buf_deinit(&value);
}

static void print_reads(struct bb_db *db)
{
    struct bb_db_stats stats;
    uint64_t made = 0;
    uint64_t avoided = 0;
    bb_db_stats(db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        made += stats.level_reads[level].block_requests;
        avoided += stats.level_reads[level].avoided_requests;
    }
    printf("%llu lookups of absent keys: %llu block requests made, %llu avoided\n",
           (unsigned long long)stats.gets, (unsigned long long)made, (unsigned long long)avoided);
}

static void scan(struct bb_db *db)
{
    struct bb_db_iter *iter = NULL;
    int shown = 0;
    check(bb_db_iter_create(db, NULL, &iter));
    for (bb_db_iter_seek(iter, bytes("user01")); bb_db_iter_valid(iter) && shown < 3;
         bb_db_iter_next(iter), shown++) {
        struct bb_bytes key = bb_db_iter_key(iter);
        printf("%.*s\n", (int)key.size, (const char *)key.data);
    }
    check(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

int main(void)
{
    char directory[] = "/tmp/first_store_XXXXXX";
    char command[64];
    struct bb_db_options options = {.create_if_missing = true,
                                    .filter_amount = {BB_FILTER_WASTED_READS, 0.01}};
    struct bb_db *db = NULL;
    if (mkdtemp(directory) == NULL)
        return 1;
    check(bb_db_open(directory, &options, &db));
    fill(db);
    ask_for_what_is_not_there(db);
    print_reads(db);
    scan(db);
    check(bb_db_close(db));
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command) == 0 ? 0 : 1;
}
