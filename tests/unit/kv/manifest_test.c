/* Goal: loading returns everything that a manifest acknowledged; a failed one is not written again,
 * and no failure is swallowed. Method: over files in memory; every call of a workload fails one by
 * one, once and permanently. Damage: manifest_read_test.c. Power failures:
 * tests/crash/manifest_test.c. */
#include "tests/unit/kv/sample_manifest.h"

#include <errno.h>
#include <stdio.h>

#include "tests/support/file_fault.h"

/* ---- use ---- */

static void manifest__identity(void **unused)
{
    struct place *place = *unused;
    struct bb_store_identity first;
    struct bb_store_identity second;
    struct bb_hash_secret secret;
    char name[300] = "";
    struct bb_comparator comparator = {.name = "reverse"};
    bb_hash_secret_from_seed(1, &secret);
    assert_ok(bb_manifest_identity_new(place->fs, NULL, NULL, &first));
    assert_ok(bb_manifest_identity_new(place->fs, &comparator, &secret, &second));
    assert_memory_not_equal(first.store_id, second.store_id, BB_STORE_ID_SIZE);
    assert_memory_equal(second.secret.bytes, secret.bytes, sizeof(secret.bytes));
    assert_memory_not_equal(first.secret.bytes, secret.bytes, sizeof(secret.bytes));
    assert_ok(bb_manifest_check_comparator("/db", &first, NULL));
    assert_ok(bb_manifest_check_comparator("/db", &second, &comparator));
    assert_status(bb_manifest_check_comparator("/db", &first, &comparator), BB_INVALID);
    assert_message("created with comparator \"bytewise\", and was opened with \"reverse\"");
    assert_status(bb_manifest_check_comparator("/db", &second, NULL), BB_INVALID);
    comparator.name = name;
    assert_status(bb_manifest_identity_new(place->fs, &comparator, NULL, &first), BB_INVALID);
    memset(name, 'n', 256);
    assert_status(bb_manifest_identity_new(place->fs, &comparator, NULL, &first), BB_INVALID);
    name[255] = 0;
    assert_ok(bb_manifest_identity_new(place->fs, &comparator, NULL, &first));
    assert_ok(bb_manifest_check_comparator("/db", &first, &comparator));
}

static void manifest__append_and_load(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest *manifest = create(place->fs, 1);
    assert_loads(place->fs, 1, 0);
    for (uint64_t i = 1; i <= 20; i++) {
        assert_ok(append_nth(manifest, &place->rng, i));
        assert_true(is_nth_state(bb_manifest_state_of(manifest), i));
        assert_int_equal(bb_file_memory_pending_bytes(place->memory), BB_WAL_FRAGMENT_SIZE_MIN);
        assert_loads(place->fs, 1, i); /* read while it is being written */
    }
    assert_ok(bb_manifest_close(manifest));
    assert_loads(place->fs, 1, 20);
    assert_ok(bb_manifest_close(NULL));
}

static void manifest__opening_again_starts_a_new_one(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest *manifest = create(place->fs, 1);
    assert_ok(append_nth(manifest, &place->rng, 1));
    assert_ok(bb_manifest_close(manifest));
    for (uint64_t i = 2; i < 10; i++) {
        struct bb_manifest_state state = {0};
        assert_ok(bb_manifest_load(place->fs, "/db", &state, NULL));
        assert_true(is_nth_state(&state, i - 1));
        assert_ok(bb_manifest_create(place->fs, "/db", 1000 + i, &state, &manifest));
        assert_int_equal(state.table_count, 0);
        assert_int_equal(bb_manifest_number(manifest), 1000 + i);
        assert_true(bb_manifest_state_of(manifest)->next_file_number > 1000 + i);
        struct bb_edit edit = nth_edit(&place->rng, i);
        edit.next_file_number = 0;
        assert_ok(bb_manifest_append(manifest, &edit));
        bb_edit_deinit(&edit);
        assert_ok(bb_manifest_close(manifest));
        assert_loads(place->fs, 1000 + i, i);
    }
}

/* The manifest of a closed store is known to be durable, so it may stay current. It is never
 * written: a new one precedes the next edit. */
static void manifest__adopted(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest *manifest = create(place->fs, 1);
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report;
    assert_ok(append_nth(manifest, &place->rng, 1));
    assert_ok(bb_manifest_load(place->fs, "/db", &state, &report));
    assert_true(report.is_whole && report.is_marked && !state.is_closed);
    bb_manifest_state_deinit(&state);
    struct bb_wal_end end = {.log_number = 7, .offset = 1234, .check = 99};
    assert_ok(bb_manifest_note_close(manifest, &end, 1));
    assert_ok(bb_manifest_close(manifest));
    assert_ok(bb_manifest_load(place->fs, "/db", &state, &report));
    assert_true(report.is_whole && report.is_marked && state.is_closed);
    assert_int_equal(state.log_end_count, 1);
    assert_memory_equal(state.log_ends, &end, sizeof(end));
    uint64_t calls = bb_file_memory_calls(place->memory);
    assert_ok(bb_manifest_adopt(place->fs, "/db", report.number, &state, &manifest));
    assert_true(is_nth_state(bb_manifest_state_of(manifest), 1));
    assert_true(bb_manifest_is_due(manifest));
    assert_ok(bb_manifest_close(manifest));
    assert_int_equal(bb_file_memory_calls(place->memory), calls);
    assert_ok(bb_manifest_load(place->fs, "/db", &state, &report));
    assert_ok(bb_manifest_adopt(place->fs, "/db", report.number, &state, &manifest));
    assert_ok(bb_manifest_rotate(manifest, 101));
    assert_false(bb_manifest_is_due(manifest));
    assert_ok(append_nth(manifest, &place->rng, 2));
    assert_ok(bb_manifest_close(manifest));
    assert_loads(place->fs, 101, 2);
}

static void manifest__rotates_when_it_has_grown(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest *manifest = create(place->fs, 1);
    uint64_t next_number = 100000; /* above all tables */
    size_t rotations = 0;
    size_t file_size_max = 0;
    for (uint64_t i = 1; i <= 12000; i++) {
        struct bb_edit edit = {.last_sequence = i};
        sample_add_table(&place->rng, &edit, 0, i, i);
        edit.next_file_number = next_number;
        if (i > 3)
            assert_ok(bb_edit_remove_table(&edit, i - 3));
        assert_ok(bb_manifest_append(manifest, &edit));
        bb_edit_deinit(&edit);
        if (!bb_manifest_is_due(manifest))
            continue;
        char old[64];
        size_t size = 0;
        snprintf(old, sizeof(old), "/db/MANIFEST-%06u", (unsigned)bb_manifest_number(manifest));
        assert_non_null(bb_file_memory_bytes(place->memory, old, &size));
        file_size_max = size > file_size_max ? size : file_size_max;
        assert_ok(bb_manifest_rotate(manifest, next_number++));
        assert_null(bb_file_memory_bytes(place->memory, old, &size));
        assert_false(bb_manifest_is_due(manifest));
        rotations++;
    }
    assert_true(rotations >= 3);
    assert_true(file_size_max < 300000);
    assert_int_equal(bb_manifest_state_of(manifest)->table_count, 3);
    assert_ok(bb_manifest_close(manifest));
    struct bb_manifest_state state = {0};
    assert_ok(bb_manifest_load(place->fs, "/db", &state, NULL));
    assert_int_equal(state.last_sequence, 12000);
    assert_int_equal(state.table_count, 3);
    bb_manifest_state_deinit(&state);
}

static void manifest__refused_edits_do_no_harm(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest *manifest = create(place->fs, 1);
    struct bb_edit edit = {0};
    assert_ok(append_nth(manifest, &place->rng, 1));
    assert_ok(bb_edit_remove_table(&edit, 7));
    assert_status(bb_manifest_append(manifest, &edit), BB_INVALID);
    assert_message(
        "MANIFEST-000001 refuses a new edit: at offset 0: table 7 is removed, but is not there");
    bb_edit_deinit(&edit);
    assert_false(bb_manifest_is_poisoned(manifest));
    assert_ok(append_nth(manifest, &place->rng, 2));
    assert_ok(bb_manifest_close(manifest));
    assert_loads(place->fs, 1, 2);
}

/* ---- failures ---- */

static void manifest__poisoned_by_a_failed_sync(void **unused)
{
    struct place *place = *unused;
    struct bb_file_fault *fault = bb_file_fault_create(place->fs);
    struct bb_file_system *fs = bb_file_fault_system(fault);
    struct bb_manifest *manifest = create(fs, 1);
    struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_SYNC, .nth = 1, .error_number = EIO};
    assert_ok(append_nth(manifest, &place->rng, 1));
    bb_file_fault_arm(fault, &plan);
    assert_status(append_nth(manifest, &place->rng, 2), BB_IO);
    bb_file_fault_disarm(fault);
    assert_true(bb_manifest_is_poisoned(manifest));
    assert_true(is_nth_state(bb_manifest_state_of(manifest), 1));
    for (int n = 0; n < 3; n++) {
        assert_status(append_nth(manifest, &place->rng, 2), BB_READ_ONLY);
        assert_message("MANIFEST-000001 takes no more edits since: ");
        assert_message("sync");
    }
    /* The record may count. An opening now sees either state. */
    struct bb_manifest_state state = {0};
    assert_ok(bb_manifest_load(fs, "/db", &state, NULL));
    assert_true(is_nth_state(&state, 1) || is_nth_state(&state, 2));
    bb_manifest_state_deinit(&state);
    /* After a rotation it does not count any more. */
    assert_ok(bb_manifest_rotate(manifest, 300));
    assert_false(bb_manifest_is_poisoned(manifest));
    assert_loads(fs, 300, 1);
    struct bb_edit edit = nth_edit(&place->rng, 2);
    edit.next_file_number = 0;
    assert_ok(bb_manifest_append(manifest, &edit));
    bb_edit_deinit(&edit);
    assert_ok(bb_manifest_close(manifest));
    assert_loads(fs, 300, 2);
    assert_int_equal(bb_file_fault_writes_after_failure(fault), 0);
    bb_file_fault_destroy(fault);
}

/* Acknowledged operations, and possible ones beyond. */
struct progress {
    bool is_created;
    uint64_t acknowledged;
    uint64_t attempted;
};

/* Creation, three edits, a rotation, an edit. Stops at the first failure, unless a rotation repairs
 * it. */
static enum bb_status work(struct bb_file_system *fs, struct progress *progress)
{
    struct bb_rng rng;
    struct bb_manifest_state state = {0};
    struct bb_manifest *manifest = NULL;
    struct bb_edit first = {.has_identity = true, .next_file_number = 2};
    enum bb_status failure = BB_OK;
    uint64_t number = 500;
    bb_rng_init(&rng, 1);
    first.identity = sample_identity(3);
    assert_ok(bb_manifest_state_apply(&state, &first, (struct bb_place){0}));
    enum bb_status status = bb_manifest_create(fs, "/db", 1, &state, &manifest);
    if (status != BB_OK) {
        assert_true(state.has_identity); /* unchanged */
        bb_manifest_state_deinit(&state);
        return status;
    }
    progress->is_created = true;
    for (uint64_t i = 1; i <= 4; i++) {
        struct bb_edit edit = nth_edit(&rng, i);
        edit.next_file_number = 1000;
        progress->attempted = i;
        status = bb_manifest_append(manifest, &edit);
        if (status == BB_OK && i == 3)
            status = bb_manifest_rotate(manifest, number++);
        if (status != BB_OK) {
            failure = status;
            assert_true(bb_manifest_is_poisoned(manifest));
            status = bb_manifest_rotate(manifest, number++);
            if (status == BB_OK && bb_manifest_state_of(manifest)->last_sequence < 10 * i)
                status = bb_manifest_append(manifest, &edit);
        }
        bb_edit_deinit(&edit);
        if (status != BB_OK)
            break;
        progress->acknowledged = i;
    }
    status = bb_manifest_close(manifest);
    return failure == BB_OK ? status : failure;
}

static void check_after_faults(struct bb_file_system *fs, const struct progress *progress)
{
    struct bb_manifest_state state = {0};
    enum bb_status status = bb_manifest_load(fs, "/db", &state, NULL);
    if (status == BB_NOT_FOUND) {
        assert_false(progress->is_created);
        return;
    }
    assert_ok(status);
    assert_true(is_nth_state(&state, progress->acknowledged) ||
                is_nth_state(&state, progress->attempted));
    bb_manifest_state_deinit(&state);
}

/* The file of the nth call of a kind. */
static const char *path_of_call(struct bb_file_fault *fault, enum bb_file_call call, uint64_t nth)
{
    size_t count = 0;
    const struct bb_file_fault_record *records = bb_file_fault_log(fault, &count);
    for (size_t i = 0; i < count; i++) {
        if (records[i].call == call && --nth == 0)
            return records[i].path;
    }
    fail_msg("there was no such call");
    return NULL;
}

/* A failure may be unreported only if it concerns a replaced file: its removal, or writing and
 * closing it on the way there. */
static void assert_is_courtesy(struct bb_file_memory *memory, struct bb_file_fault *fault,
                               enum bb_file_call call, uint64_t nth)
{
    size_t size = 0;
    const char *path = path_of_call(fault, call, nth);
    if (call == BB_FILE_CALL_REMOVE)
        assert_string_equal(path, "/db/MANIFEST-000001");
    else
        assert_null(bb_file_memory_bytes(memory, path, &size));
}

static uint64_t sweep_faults(enum bb_file_call call, enum bb_file_fault_mode mode, bool lasting)
{
    uint64_t faults = 0;
    bool was_hit = true;
    for (uint64_t nth = 1; was_hit; nth++) {
        struct bb_file_memory *memory = bb_file_memory_create(nth);
        struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(memory));
        struct bb_file_system *fs = bb_file_fault_system(fault);
        struct bb_file_fault_plan plan = {
            .mode = mode, .call = call, .nth = nth, .lasting = lasting};
        struct progress progress = {0};
        assert_ok(fs->ops->make_directory(fs, "/db"));
        bb_file_fault_log_enable(fault, true);
        bb_file_fault_arm(fault, &plan);
        enum bb_status status = work(fs, &progress);
        was_hit = bb_file_fault_hits(fault) > 0;
        bb_file_fault_disarm(fault);
        if (status == BB_OK && was_hit)
            assert_is_courtesy(memory, fault, call, nth);
        assert_true(status == BB_OK || was_hit);
        if (!was_hit || (!lasting && progress.is_created))
            assert_int_equal(progress.acknowledged, 4); /* one failure is survived */
        check_after_faults(fs, &progress);
        assert_int_equal(bb_file_fault_writes_after_failure(fault), 0);
        faults += was_hit;
        bb_file_fault_destroy(fault);
        bb_file_memory_destroy(memory);
    }
    return faults;
}

static void manifest__every_call_fails(void **unused)
{
    (void)unused;
    static const enum bb_file_call calls[] = {
        BB_FILE_CALL_CREATE, BB_FILE_CALL_APPEND, BB_FILE_CALL_SYNC,           BB_FILE_CALL_CLOSE,
        BB_FILE_CALL_RENAME, BB_FILE_CALL_REMOVE, BB_FILE_CALL_SYNC_DIRECTORY,
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        assert_true(sweep_faults(calls[i], BB_FILE_FAULT_ERROR, false) > 0);
        assert_true(sweep_faults(calls[i], BB_FILE_FAULT_ERROR, true) > 0);
    }
    assert_true(sweep_faults(BB_FILE_CALL_APPEND, BB_FILE_FAULT_SHORT_WRITE, false) > 0);
    assert_true(sweep_faults(BB_FILE_CALL_APPEND, BB_FILE_FAULT_SHORT_WRITE, true) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(manifest__identity, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__append_and_load, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__opening_again_starts_a_new_one, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__adopted, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__rotates_when_it_has_grown, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__refused_edits_do_no_harm, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__poisoned_by_a_failed_sync, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__every_call_fails, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
