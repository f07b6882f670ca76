/* Goal: what a manifest has acknowledged is what loading gives; a cut or damaged manifest gives an
 * older state that says so, or an error, and never anything else; a failed one is not written
 * again. Method: over files in memory: every truncation and every flipped bit of a small manifest;
 * every call of a workload fails in turn. Power failures: manifest_crash_test.c. */
#include "tests/unit/kv/sample_edit.h"

#include <errno.h>
#include <stdio.h>

#include "kv/current.h"
#include "kv/filename.h"
#include "kv/manifest.h"
#include "kv/wal_writer.h"
#include "tests/support/file_fault.h"
#include "tests/support/file_memory.h"

struct place {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    struct bb_rng rng;
};

static int setup(void **state)
{
    static struct place place;
    place = (struct place){.memory = bb_file_memory_create(1)};
    place.fs = bb_file_memory_system(place.memory);
    bb_rng_init(&place.rng, 5);
    assert_ok(place.fs->ops->make_directory(place.fs, "/db"));
    *state = &place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    bb_file_memory_destroy(place->memory);
    return 0;
}

/* A new store with manifest `number`. */
static struct bb_manifest *create(struct bb_file_system *fs, uint64_t number)
{
    struct bb_manifest_state state = {0};
    struct bb_manifest *manifest = NULL;
    struct bb_edit edit = {.has_identity = true, .next_file_number = number + 1};
    edit.identity = sample_identity(3);
    assert_ok(bb_manifest_state_apply(&state, &edit, (struct bb_place){0}));
    assert_ok(bb_manifest_create(fs, "/db", number, &state, &manifest));
    assert_false(state.has_identity);
    return manifest;
}

/* The i-th edit of a store's life: adds table 100 + i, and removes every second one again. */
static struct bb_edit nth_edit(struct bb_rng *rng, uint64_t i)
{
    struct bb_edit edit;
    bb_edit_init(&edit);
    edit.last_sequence = 10 * i;
    edit.next_file_number = 101 + i;
    edit.log_number = 50 + i;
    sample_add_table(rng, &edit, (int)(i % BB_LEVEL_COUNT), 100 + i, 10 * i);
    if (i % 2 == 0)
        assert_ok(bb_edit_remove_table(&edit, 100 + i - 1));
    return edit;
}

static enum bb_status append_nth(struct bb_manifest *manifest, struct bb_rng *rng, uint64_t i)
{
    struct bb_edit edit = nth_edit(rng, i);
    enum bb_status status = bb_manifest_append(manifest, &edit);
    bb_edit_deinit(&edit);
    return status;
}

/* Is it the state after the first i edits? */
static bool is_nth_state(const struct bb_manifest_state *state, uint64_t i)
{
    if (state->last_sequence != 10 * i || state->log_number != (i == 0 ? 0 : 50 + i))
        return false;
    if (state->table_count != (i + 1) / 2)
        return false;
    for (uint64_t n = 1; n <= i; n++) {
        bool is_live = n % 2 == 0 || n == i;
        if ((bb_manifest_state_find(state, 100 + n) != NULL) != is_live)
            return false;
    }
    return true;
}

static void assert_loads(struct bb_file_system *fs, uint64_t number, uint64_t i)
{
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    assert_ok(bb_manifest_load(fs, "/db", &state, &report));
    assert_true(is_nth_state(&state, i));
    assert_true(report.is_whole);
    assert_string_equal(report.dropped, "");
    assert_int_equal(report.number, number);
    bb_manifest_state_deinit(&state);
}

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
    assert_ok(bb_manifest_check_comparator(&first, NULL));
    assert_ok(bb_manifest_check_comparator(&second, &comparator));
    assert_status(bb_manifest_check_comparator(&first, &comparator), BB_INVALID);
    assert_message("created with comparator \"bytewise\", and was opened with \"reverse\"");
    assert_status(bb_manifest_check_comparator(&second, NULL), BB_INVALID);
    comparator.name = name;
    assert_status(bb_manifest_identity_new(place->fs, &comparator, NULL, &first), BB_INVALID);
    memset(name, 'n', 256);
    assert_status(bb_manifest_identity_new(place->fs, &comparator, NULL, &first), BB_INVALID);
    name[255] = 0;
    assert_ok(bb_manifest_identity_new(place->fs, &comparator, NULL, &first));
    assert_ok(bb_manifest_check_comparator(&first, &comparator));
}

static void manifest__append_and_load(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest *manifest = create(place->fs, 1);
    assert_loads(place->fs, 1, 0);
    for (uint64_t i = 1; i <= 20; i++) {
        assert_ok(append_nth(manifest, &place->rng, i));
        assert_true(is_nth_state(bb_manifest_state_of(manifest), i));
        assert_int_equal(bb_file_memory_pending_bytes(place->memory), 0);
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
    struct bb_edit edit;
    assert_ok(append_nth(manifest, &place->rng, 1));
    bb_edit_init(&edit);
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
    /* The record may count. Whoever opens now sees the one state or the other. */
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

/* What was acknowledged, and what may have happened beyond. */
struct progress {
    bool is_created;
    uint64_t acknowledged;
    uint64_t attempted;
};

/* Creation, three edits, a rotation, an edit. Stops at the first failure, unless a rotation mends
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
        assert_true(state.has_identity); /* as it was */
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

/* A failure may pass without a word only when it concerns a file that has been replaced: its
 * removal, or what is written to it and closed on the way there. */
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

/* ---- damage ---- */

/* The bytes of a manifest with `edits` edits, as the process left it when it died. */
static void make_bytes(struct place *place, uint64_t edits, struct bb_buf *bytes)
{
    struct bb_manifest *manifest = create(place->fs, 1);
    size_t size = 0;
    for (uint64_t i = 1; i <= edits; i++)
        assert_ok(append_nth(manifest, &place->rng, i));
    const uint8_t *data = bb_file_memory_bytes(place->memory, "/db/MANIFEST-000001", &size);
    assert_ok(bb_buf_assign(bytes, bb_bytes_of(data, size)));
    assert_ok(bb_manifest_close(manifest));
}

/* The last but one state with a word, or BB_CORRUPT. 1: the newest state, 0: the one before, -1:
 * error. */
static int load_damaged(struct place *place, struct bb_bytes bytes, uint64_t edits)
{
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    bb_file_memory_put(place->memory, "/db/MANIFEST-000001", bytes);
    enum bb_status status = bb_manifest_load(place->fs, "/db", &state, &report);
    if (status != BB_OK) {
        assert_true(status == BB_CORRUPT || status == BB_UNSUPPORTED);
        assert_message("/db/MANIFEST-000001");
        assert_int_equal(state.table_count, 0);
        return -1;
    }
    bool is_newest = is_nth_state(&state, edits);
    assert_true(is_newest || is_nth_state(&state, edits - 1));
    assert_int_equal(report.is_whole, report.dropped[0] == 0);
    assert_int_equal(report.file_size, bytes.size);
    bb_manifest_state_deinit(&state);
    if (!is_newest)
        assert_int_equal(report.record_count, edits); /* with the snapshot */
    return is_newest && report.is_whole ? 1 : 0;
}

static void manifest__truncated(void **unused)
{
    struct place *place = *unused;
    struct bb_buf bytes = {0};
    size_t sizes[4] = {0};
    for (uint64_t edits = 0; edits <= 3; edits++) {
        make_bytes(place, edits, &bytes);
        sizes[edits] = bytes.size;
        bb_rng_init(&place->rng, 5);
        assert_ok(place->fs->ops->remove(place->fs, "/db/MANIFEST-000001"));
        assert_ok(place->fs->ops->remove(place->fs, "/db/CURRENT"));
    }
    make_bytes(place, 3, &bytes);
    for (size_t size = 0; size <= bytes.size; size++) {
        struct bb_manifest_state state = {0};
        struct bb_manifest_report report = {0};
        bb_file_memory_put(place->memory, "/db/MANIFEST-000001", bb_bytes_of(bytes.data, size));
        enum bb_status status = bb_manifest_load(place->fs, "/db", &state, &report);
        if (size < sizes[0]) { /* without its snapshot it is none */
            assert_status(status, BB_CORRUPT);
            assert_message("a manifest without its snapshot");
            continue;
        }
        assert_ok(status);
        uint64_t whole = 0;
        while (whole < 3 && size >= sizes[whole + 1])
            whole++;
        assert_true(is_nth_state(&state, whole));
        assert_int_equal(report.is_whole, size == sizes[whole]);
        assert_int_equal(report.dropped_bytes > 0, size > sizes[whole]);
        assert_int_equal(report.record_count, whole + 1);
        bb_manifest_state_deinit(&state);
    }
    bb_buf_deinit(&bytes);
}

static void manifest__corrupt_bit(void **unused)
{
    struct place *place = *unused;
    struct bb_buf bytes = {0};
    size_t dropped = 0;
    size_t refused = 0;
    make_bytes(place, 3, &bytes);
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        bytes.data[bit / 8] = (uint8_t)(bytes.data[bit / 8] ^ 1U << bit % 8);
        int found = load_damaged(place, bb_buf_bytes(&bytes), 3);
        assert_int_not_equal(found, 1); /* no flip goes unnoticed */
        dropped += found == 0;
        refused += found == -1;
        bytes.data[bit / 8] = (uint8_t)(bytes.data[bit / 8] ^ 1U << bit % 8);
    }
    assert_int_equal(load_damaged(place, bb_buf_bytes(&bytes), 3), 1);
    assert_true(dropped > 0 && dropped < 8 * bytes.size / 3); /* the last record's */
    assert_true(refused > 8 * bytes.size / 2);
    bb_buf_deinit(&bytes);
}

static void manifest__tails_of_zeros_and_garbage(void **unused)
{
    struct place *place = *unused;
    struct bb_buf bytes = {0};
    uint8_t *tail = NULL;
    make_bytes(place, 3, &bytes);
    size_t size = bytes.size;
    for (size_t n = 1; n < 70000; n += n < 40 ? 1 : 977) {
        bytes.size = size;
        assert_ok(bb_buf_extend(&bytes, n, &tail));
        assert_int_equal(load_damaged(place, bb_buf_bytes(&bytes), 3), 0);
        bb_rng_bytes(&place->rng, bytes.data + size, n);
        assert_int_equal(load_damaged(place, bb_buf_bytes(&bytes), 3), 0);
    }
    bb_buf_deinit(&bytes);
}

static void manifest__missing_or_exchanged(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest_state state = {0};
    struct bb_buf bytes = {0};
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_NOT_FOUND);
    make_bytes(place, 2, &bytes);
    assert_ok(bb_current_publish(place->fs, "/db", 2));
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_CORRUPT);
    assert_message("/db/MANIFEST-000002: missing, and CURRENT names it");
    bb_file_memory_put(place->memory, "/db/MANIFEST-000002", bb_buf_bytes(&bytes));
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_CORRUPT);
    assert_message("/db/MANIFEST-000002: at offset 16: log number");
    /* A log is no manifest, not even one of the same number. */
    struct bb_wal_writer *log = NULL;
    uint8_t store_id[BB_STORE_ID_SIZE] = {0};
    assert_ok(bb_wal_writer_create(place->fs, "/db/MANIFEST-000003", 3, store_id, 0, &log));
    assert_ok(bb_wal_writer_close(log));
    assert_ok(bb_current_publish(place->fs, "/db", 3));
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_CORRUPT);
    bb_buf_deinit(&bytes);
}

/* ---- sound framing, unsound contents ---- */

static void write_records(struct place *place, uint64_t number,
                          const struct bb_store_identity *framed_as, const struct bb_edit *edits,
                          size_t count)
{
    char path[64];
    struct bb_wal_writer *log = NULL;
    snprintf(path, sizeof(path), "/db/MANIFEST-%06u", (unsigned)number);
    assert_ok(bb_wal_writer_create(place->fs, path, bb_manifest_log_number(number),
                                   framed_as->store_id, 0, &log));
    for (size_t i = 0; i < count; i++) {
        struct bb_buf record = {0};
        assert_ok(bb_edit_encode(&edits[i], &record));
        struct bb_bytes payload = bb_buf_bytes(&record);
        assert_ok(bb_wal_writer_append(log, &payload, 1));
        assert_ok(bb_wal_writer_sync(log));
        bb_buf_deinit(&record);
    }
    assert_ok(bb_wal_writer_close(log));
    assert_ok(bb_current_publish(place->fs, "/db", number));
}

static void manifest__corrupt_contents(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest_state state = {0};
    struct bb_store_identity identity = sample_identity(1);
    struct bb_store_identity other = sample_identity(2);
    struct bb_edit edits[2] = {{.has_identity = true, .identity = identity, .next_file_number = 50},
                               {0}};
    write_records(place, 10, &other, edits, 1);
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_CORRUPT);
    assert_message(
        "/db/MANIFEST-000010: at offset 24: the id of the store is not that of the snapshot");
    write_records(place, 11, &identity, edits, 0);
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_CORRUPT);
    assert_message("a manifest without its snapshot: the file ends");
    write_records(place, 12, &identity, &edits[1], 1);
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_CORRUPT);
    assert_message("the first edit of a manifest has no identity");
    edits[1].last_sequence = 5;
    edits[1].has_identity = true;
    edits[1].identity = identity;
    write_records(place, 13, &identity, edits, 2);
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_CORRUPT);
    assert_message("an identity that is not the first");
    write_records(place, 50, &identity, edits, 1);
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_CORRUPT);
    assert_message("the next file number is 50, and the manifest's own is 50");
    edits[0].identity.format_version = 7;
    write_records(place, 14, &identity, edits, 1);
    assert_status(bb_manifest_load(place->fs, "/db", &state, NULL), BB_UNSUPPORTED);
    assert_message("a store of format version 7, this version reads up to 0");
    assert_int_equal(state.table_count, 0);
}

struct seen {
    size_t count;
    uint64_t last_offset;
};

static enum bb_status see(void *context, const struct bb_edit *edit, uint64_t offset)
{
    struct seen *seen = context;
    assert_int_equal(edit->has_identity, seen->count == 0);
    assert_true(offset > seen->last_offset);
    seen->last_offset = offset;
    seen->count++;
    return BB_OK;
}

static void manifest__read_shows_each_edit(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest_state state = {0};
    struct bb_buf bytes = {0};
    struct seen seen = {0};
    make_bytes(place, 3, &bytes);
    assert_ok(bb_manifest_read(place->fs, "/db/MANIFEST-000001", 1, see, &seen, &state, NULL));
    assert_int_equal(seen.count, 4);
    assert_true(is_nth_state(&state, 3));
    bb_manifest_state_deinit(&state);
    bb_buf_deinit(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(manifest__identity, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__append_and_load, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__opening_again_starts_a_new_one, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__rotates_when_it_has_grown, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__refused_edits_do_no_harm, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__poisoned_by_a_failed_sync, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__every_call_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__corrupt_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__tails_of_zeros_and_garbage, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__missing_or_exchanged, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__corrupt_contents, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest__read_shows_each_edit, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
