/* Goal: a log that point-in-time recovery truncates is kept for inspection, whenever the power
 * fails during that opening: either the log itself or a complete copy of it exists, and the store
 * opens with a prefix of its commits. Method: a killed store with a damaged log; the power fails
 * before each call of the opening that recovers it, in the strictest way and in random ones; the
 * next opening must repeat it or find it done. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bb/db.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#define DIRECTORY    "/data/store"
#define COMMIT_COUNT 20
#define DRAWN        4

struct kept_log {
    struct bb_bytes damaged; /* the original log */
    char log[64];
    char copy[96];
    uint64_t seed;
    uint64_t calls;
    uint64_t states;
};

static void die(const struct kept_log *test, const char *what)
{
    fprintf(stderr, "kept_log_test: before call %" PRIu64 ": %s: %s\n", test->calls, what,
            bb_error_last()->message);
    exit(1);
}

static void must(const struct kept_log *test, enum bb_status status, const char *what)
{
    if (status != BB_OK)
        die(test, what);
}

static struct bb_db_options options_for(struct bb_file_memory *memory)
{
    return (struct bb_db_options){.create_if_missing = true,
                                  .file_system = bb_file_memory_system(memory),
                                  .write_buffer_bytes = 64 * 1024,
                                  .recovery = BB_RECOVERY_POINT_IN_TIME,
                                  .deterministic = true};
}

static void write_commits(const struct kept_log *test, struct bb_db *db)
{
    char key[16];
    char value[100];
    memset(value, 'v', sizeof(value));
    for (int i = 0; i < COMMIT_COUNT; i++) {
        snprintf(key, sizeof(key), "key%03d", i);
        must(test,
             bb_db_put(db, &(struct bb_write_options){.sync = i == COMMIT_COUNT / 2},
                       bb_bytes_of_text(key), bb_bytes_of(value, sizeof(value))),
             "put");
    }
}

/* The only log there is; its bytes are damaged in the middle of the synced part. */
static void damage_log(struct kept_log *test, struct bb_file_memory *memory)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_names names = {0};
    size_t size = 0;
    must(test, fs->ops->list(fs, DIRECTORY, &names), "list");
    for (size_t i = 0; i < names.count; i++) {
        if (strstr(names.names[i], ".wal") != NULL)
            snprintf(test->log, sizeof(test->log), DIRECTORY "/%.32s", names.names[i]);
    }
    bb_file_names_deinit(&names);
    snprintf(test->copy, sizeof(test->copy), "%s.damaged", test->log);
    uint8_t *bytes = bb_file_memory_bytes(memory, test->log, &size);
    if (bytes == NULL)
        die(test, "there is no log");
    bytes[size / 3] ^= 1;
    uint8_t *found = malloc(size);
    if (found == NULL)
        abort();
    memcpy(found, bytes, size);
    test->damaged = bb_bytes_of(found, size);
}

static struct bb_file_memory *create_damaged(struct kept_log *test)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_db_options options = options_for(memory);
    struct bb_db *db = NULL;
    must(test, fs->ops->make_directory(fs, "/data"), "preparing");
    must(test, fs->ops->sync_directory(fs, "/"), "preparing");
    must(test, bb_db_open(DIRECTORY, &options, &db), "creating");
    write_commits(test, db);
    /* Everything is durable: only the opening can lose data. */
    struct bb_file_memory *killed = bb_file_memory_crash(
        memory, &(struct bb_crash){.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL});
    must(test, bb_db_close(db), "closing");
    bb_file_memory_destroy(memory);
    damage_log(test, killed);
    return killed;
}

static bool holds(struct bb_file_memory *memory, const char *path, struct bb_bytes expected)
{
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(memory, path, &size);
    return bytes != NULL && bb_bytes_equal(bb_bytes_of(bytes, size), expected);
}

/* Exactly a prefix of the commits. */
static void check_content(const struct kept_log *test, struct bb_db *db)
{
    char key[16];
    bool has_ended = false;
    for (int i = 0; i < COMMIT_COUNT; i++) {
        snprintf(key, sizeof(key), "key%03d", i);
        enum bb_status status = bb_db_get(db, NULL, bb_bytes_of_text(key), NULL);
        if (status != BB_OK && status != BB_NOT_FOUND)
            die(test, "reading");
        if (status == BB_OK && has_ended)
            die(test, "a commit after one that is missing");
        has_ended |= status == BB_NOT_FOUND;
    }
    if (!has_ended)
        die(test, "damage was not noticed");
}

static void check_image(struct kept_log *test, struct bb_file_memory *image)
{
    struct bb_db_options options = options_for(image);
    struct bb_db *db = NULL;
    if (!holds(image, test->log, test->damaged) && !holds(image, test->copy, test->damaged))
        die(test, "neither the log nor a copy of it");
    for (int opened = 0; opened < 2; opened++) {
        must(test, bb_db_open(DIRECTORY, &options, &db), "opening");
        check_content(test, db);
        must(test, bb_db_close(db), "closing");
    }
    if (!holds(image, test->copy, test->damaged))
        die(test, "no copy of the log");
    bb_file_memory_destroy(image);
    test->states++;
}

static enum bb_status cut_power(void *context, struct bb_file_memory *memory, uint64_t number,
                                enum bb_file_call call, const char *path)
{
    struct kept_log *test = context;
    (void)call;
    (void)path;
    test->calls = number;
    check_image(test, bb_file_memory_crash(memory, &(struct bb_crash){0}));
    for (uint64_t i = 0; i < DRAWN; i++) {
        struct bb_crash crash = {.bytes = BB_CRASH_BYTES_ANY,
                                 .names = BB_CRASH_NAMES_ANY,
                                 .seed = test->seed + number * DRAWN + i};
        check_image(test, bb_file_memory_crash(memory, &crash));
    }
    return BB_OK;
}

int main(void)
{
    struct kept_log test = {.seed = bb_rng_seed("kept_log_test", 1)};
    struct bb_file_memory *memory = create_damaged(&test);
    struct bb_db_options options = options_for(memory);
    struct bb_db *db = NULL;
    bb_file_memory_set_hook(memory, cut_power, &test);
    must(&test, bb_db_open(DIRECTORY, &options, &db), "opening");
    check_content(&test, db);
    bb_file_memory_set_hook(memory, NULL, NULL);
    check_image(&test, bb_file_memory_crash(memory, &(struct bb_crash){0}));
    must(&test, bb_db_close(db), "closing");
    bb_file_memory_destroy(memory);
    free((void *)(uintptr_t)test.damaged.data);
    printf("%" PRIu64 " crash states\n", test.states);
    return test.states > 50 ? 0 : 1;
}
