/* One call of a store, for scripts/call_functions, which counts the functions that it executes.
 *
 *     one_call cached|uncached|absent|put DIRECTORY
 *
 * The store has 20,000 keys of 12 bytes with values of 100 bytes, compacted into tables without
 * compression. It is opened again, and a key is read, so that the table is open. For a put the log
 * exists. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "bb/db.h"
#include "bb/db_files.h"
#include "bench/die.h"

#define KEY_COUNT  20000
#define VALUE_SIZE 100
#define KEY        10000
#define OTHER_KEY  10200 /* in another block of the same index page */

static const struct bb_db_options options = {.create_if_missing = true,
                                             .compression = BB_COMPRESSION_NONE};

static struct bb_bytes key_of(char buffer[32], int number)
{
    (void)snprintf(buffer, 32, "key-%08d", number);
    return bb_text(buffer);
}

static void fill(const char *directory)
{
    struct bb_db *db = NULL;
    struct bb_batch *batch = NULL;
    char key[32];
    char value[VALUE_SIZE];
    bench_must(bb_db_open(directory, &options, &db));
    bench_must(bb_batch_create(&batch));
    for (int i = 0; i < KEY_COUNT; i++) {
        memset(value, 'a' + i % 26, sizeof(value));
        bench_must(bb_batch_put(batch, key_of(key, i), bb_bytes_of(value, sizeof(value))));
    }
    bench_must(bb_db_write(db, NULL, batch));
    bb_batch_destroy(batch);
    bench_must(bb_db_compact(db));
    bench_must(bb_db_close(db));
}

/* Prepares the store and the buffer by calls that are not counted: the table is open, and
 * the buffer has space for the value. */
static void warm(struct bb_db *db, int number, struct bb_buf *value)
{
    char buffer[32];
    struct bb_bytes key = key_of(buffer, number);
    enum bb_status status = BB_OK;
    bench_must(bb_db_get_many(db, NULL, &key, 1, value, &status));
}

static void call(struct bb_db *db, const char *name, struct bb_buf *value)
{
    char key[32];
    if (strcmp(name, "put") == 0)
        bench_must(bb_db_put(db, NULL, key_of(key, KEY), bb_bytes_of(value->data, value->size)));
    else if (strcmp(name, "absent") == 0)
        (void)!bb_db_get(db, NULL, bb_text("key-00010000-absent"), value);
    else
        bench_must(bb_db_get(db, NULL, key_of(key, KEY), value));
}

int main(int argc, char **argv)
{
    struct bb_db *db = NULL;
    struct bb_buf value = {0};
    if (argc != 3)
        bench_die("usage: one_call cached|uncached|absent|put DIRECTORY");
    fill(argv[2]);
    bench_must(bb_db_open(argv[2], &options, &db));
    warm(db, strcmp(argv[1], "uncached") == 0 ? OTHER_KEY : KEY, &value);
    if (strcmp(argv[1], "put") == 0)
        bench_must(bb_db_delete(db, NULL, bb_text("another key")));
    call(db, argv[1], &value);
    bb_buf_deinit(&value);
    bench_must(bb_db_close(db));
    bench_must(bb_db_destroy(argv[2], NULL, NULL));
    return 0;
}
