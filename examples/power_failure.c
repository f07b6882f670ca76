/* A test of a program's own code without a disk: a store in memory, and a power failure.
 *
 * The program under test keeps a balance. A payment is durable when pay() returns, a note is not.
 */
#include <bb/db.h>
#include <bb/file.h>
#include <stdio.h>
#include <stdlib.h>

static void must(enum bb_status status)
{
    if (status == BB_OK)
        return;
    fprintf(stderr, "%s\n", bb_error_last()->message);
    exit(1);
}

static struct bb_db *open_in(struct bb_file_system *files)
{
    struct bb_db_options options = {.create_if_missing = true, .file_system = files};
    struct bb_db *db = NULL;
    must(bb_db_open("balance", &options, &db));
    return db;
}

static void pay(struct bb_db *db, const char *payment)
{
    struct bb_write_options durable = {.sync = true};
    must(bb_db_put(db, &durable, bb_text(payment), bb_text("paid")));
}

static void note(struct bb_db *db, const char *text)
{
    must(bb_db_put(db, NULL, bb_text(text), bb_text("noted")));
}

static const char *presence(struct bb_db *db, const char *key)
{
    enum bb_status status = bb_db_get(db, NULL, bb_text(key), NULL);
    if (status != BB_NOT_FOUND)
        must(status);
    return status == BB_OK ? "there" : "lost";
}

int main(void)
{
    struct bb_file_system *files = NULL;
    struct bb_file_system *after = NULL;
    must(bb_file_system_memory_create(&files));
    struct bb_db *db = open_in(files);
    pay(db, "payment 1");
    note(db, "note 1");
    must(bb_file_system_power_failure(files, &after)); /* here the power fails */
    must(bb_db_close(db));
    bb_file_system_memory_destroy(files);

    db = open_in(after);
    printf("payment 1: %s\n", presence(db, "payment 1"));
    printf("note 1: %s\n", presence(db, "note 1"));
    must(bb_db_close(db));
    bb_file_system_memory_destroy(after);
    return 0;
}
