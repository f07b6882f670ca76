/* Goal: after any damage to one file of a store, opening it gives the right contents or a clear
 * error that names the problem; a failed opening changes nothing, so that the damaged file can be
 * restored; and verification finds every damage that matters. Method: a killed store
 * (tests/fault/sample.h); each of its files missing, empty, cut, doubled, overwritten, exchanged
 * for others, from another store. Images of the directory before and after. */
#include "bb/db_files.h"
#include "tests/fault/damage.h"

/* ---- Permitted effects of an opening ---- */

/* Foreign files are unchanged, and every unreadable file still exists. */
static void assert_kept(const struct photo *before, struct bb_file_memory *memory)
{
    struct photo after;
    photo_take(&after, memory, STORE_PATH);
    const struct photo_file *notes = photo_find(&after, "notes.txt");
    assert_non_null(notes);
    assert_true(bb_bytes_equal(notes->bytes, photo_find(before, "notes.txt")->bytes));
    photo_deinit(&after);
}

static void fail_case(const char *file, const char *damage, const char *what)
{
    print_error("%s %s: %s\n    %s\n", file, damage, what, bb_error_last()->message);
    fail();
}

static void check_opened(struct bb_db *db, const char *file, const char *damage)
{
    bool is_table = strcmp(sample_suffix(file), ".bbt") == 0;
    if (!sample_shows(db, SAMPLE_COMMITS, is_table) &&
        !(strcmp(sample_suffix(file), ".wal") == 0 && sample_shows_prefix(db)))
        fail_case(file, damage, "the content is wrong");
    assert_ok(bb_db_close(db));
}

/* The error names the problem, the directory is unchanged, and the store is intact once the file is
 * restored. */
static void check_refused(struct bb_file_memory *memory, enum bb_status status,
                          const struct photo *before, const struct photo_file *file,
                          const char *damage)
{
    struct bb_db_options options = store_options(memory);
    struct bb_db *db = NULL;
    struct photo after;
    char path[128];
    if (status != BB_CORRUPT && status != BB_UNSUPPORTED)
        fail_case(file->name, damage, bb_status_name(status));
    /* A sound manifest of another store is detected by its references to other files. */
    if (strstr(bb_error_last()->message, file->name) == NULL &&
        (strncmp(file->name, "MANIFEST", 8) != 0 ||
         strstr(bb_error_last()->message, "the manifest") == NULL))
        fail_case(file->name, damage, "the message does not name it");
    photo_take(&after, memory, STORE_PATH);
    const char *difference = photo_difference(before, &after, "LOCK");
    if (difference != NULL)
        fail_case(file->name, damage, difference);
    photo_deinit(&after);
    snprintf(path, sizeof(path), STORE_PATH "/%s", file->name);
    bb_file_memory_put(memory, path, file->bytes);
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    if (!sample_shows(db, SAMPLE_COMMITS, false))
        fail_case(file->name, damage, "what was repaired shows something else");
    assert_ok(bb_db_close(db));
}

static bool try_damage(const struct sample *sample, const struct sample *other,
                       const struct photo_file *file, const struct file_damage *damage)
{
    struct bb_file_memory *memory = bb_file_memory_clone(sample->memory);
    struct bb_db_options options = store_options(memory);
    struct bb_db_verify_report report;
    struct bb_db *db = NULL;
    struct photo before;
    damage_apply(memory, damage, file, other);
    photo_take(&before, memory, STORE_PATH);
    enum bb_status verified = bb_db_verify(STORE_PATH, &options, &report);
    enum bb_status status = bb_db_open(STORE_PATH, &options, &db);
    if (status == BB_OK) {
        check_opened(db, file->name, damage->name);
        assert_kept(&before, memory);
    } else {
        if (verified == BB_OK)
            fail_case(file->name, damage->name, "verify found nothing wrong");
        check_refused(memory, status, &before, file, damage->name);
    }
    /* Damage of a table's bytes is found by verifying, at the latest. */
    if (verified == BB_OK && strcmp(sample_suffix(file->name), ".bbt") == 0)
        fail_case(file->name, damage->name, "verify found nothing wrong");
    photo_deinit(&before);
    bb_file_memory_destroy(memory);
    return status != BB_OK;
}

static bool is_of_the_store(const char *name)
{
    return strcmp(name, "LOCK") != 0 && strcmp(name, "notes.txt") != 0;
}

static void damage__each_file_in_each_way(void **state)
{
    (void)state;
    struct sample sample = sample_create(1, 0);
    struct sample other = sample_create(2, 1000);
    size_t refused = 0;
    size_t cases = 0;
    for (size_t i = 0; i < sample.photo.count; i++) {
        const struct photo_file *file = &sample.photo.files[i];
        for (size_t j = 0; j < damage_count && is_of_the_store(file->name); j++) {
            refused += try_damage(&sample, &other, file, &damages[j]);
            cases++;
        }
    }
    printf("%zu cases, %zu refused\n", cases, refused);
    assert_true(cases >= 60 && refused >= 40);
    sample_destroy(&sample);
    sample_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage__each_file_in_each_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
