/* Goal: a truncated or damaged manifest gives an older state that is marked as such, or an error,
 * and never another result. Method: every truncation and every flipped bit of a small manifest,
 * tails of zeros and garbage; sound frames around contradictory contents. */
#include "tests/unit/kv/sample_manifest.h"

#include <stdio.h>

#include "kv/manifest/current.h"
#include "kv/wal/wal_writer.h"

/* The bytes of a manifest with `edits` edits, after the process crashed. */
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

/* 1: whole, the newest state. 0: not whole, the newest state or the previous one. -1: refused. */
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

/* After each record that was synced. */
#define MARK_SIZE BB_WAL_FRAGMENT_SIZE_MIN

static void manifest_read__truncated(void **unused)
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
        if (size < sizes[0] - MARK_SIZE) { /* without its snapshot it is invalid */
            assert_status(status, BB_CORRUPT);
            assert_message("a manifest without its snapshot");
            continue;
        }
        assert_ok(status);
        uint64_t whole = 0;
        while (whole < 3 && size >= sizes[whole + 1] - MARK_SIZE)
            whole++;
        bool is_marked = size == sizes[whole];
        bool is_whole = is_marked || size == sizes[whole] - MARK_SIZE;
        assert_true(is_nth_state(&state, whole));
        assert_int_equal(report.is_whole, is_whole);
        assert_int_equal(report.is_marked, is_marked);
        assert_int_equal(report.dropped_bytes > 0, !is_whole);
        assert_int_equal(report.record_count, whole + 1);
        bb_manifest_state_deinit(&state);
    }
    bb_buf_deinit(&bytes);
}

static void manifest_read__corrupt_bit(void **unused)
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

static void manifest_read__tails_of_zeros_and_garbage(void **unused)
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

static void manifest_read__missing_or_exchanged(void **unused)
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

static void manifest_read__corrupt_contents(void **unused)
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

static void manifest_read__read_shows_each_edit(void **unused)
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

static enum bb_status refuse(void *context, const struct bb_edit *edit, uint64_t offset)
{
    (void)context;
    (void)edit;
    (void)offset;
    return bb_fail(BB_INVALID, "refused");
}

static void manifest_read__visitor_stops(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest_state state = {0};
    struct bb_buf bytes = {0};
    make_bytes(place, 3, &bytes);
    assert_status(bb_manifest_read(place->fs, "/db/MANIFEST-000001", 1, refuse, NULL, &state, NULL),
                  BB_INVALID);
    bb_buf_deinit(&bytes);
}

/* A salvage keeps the edits before a contradiction; without any it fails. */
static void manifest_read__nothing_salvaged_before_the_first_edit(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {.is_whole = true};
    struct bb_store_identity identity = sample_identity(1);
    struct bb_edit edits[2] = {{.has_identity = true, .identity = identity, .next_file_number = 50},
                               {.has_identity = true, .identity = identity}};
    write_records(place, 10, &identity, edits, 2);
    assert_ok(bb_manifest_salvage(place->fs, "/db/MANIFEST-000010", 10, &state, &report));
    assert_true(report.is_damaged && !report.is_whole && !report.is_marked);
    assert_non_null(strstr(report.dropped, "an identity that is not the first"));
    bb_manifest_state_deinit(&state);
    write_records(place, 11, &identity, &(struct bb_edit){.last_sequence = 1}, 1);
    enum bb_status status =
        bb_manifest_salvage(place->fs, "/db/MANIFEST-000011", 11, &state, &report);
    assert_status(status, BB_CORRUPT);
    assert_message("the first edit of a manifest has no identity");
    /* Only the end of a manifest that is not whole explains other damage. */
    report.is_whole = true;
    assert_int_equal(bb_manifest_report_context(status, &report), BB_CORRUPT);
    assert_message("the first edit of a manifest has no identity");
}

/* A close, and then bytes that are no record. */
static void manifest_read__closed_with_a_damaged_end_is_not_marked(void **unused)
{
    struct place *place = *unused;
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    struct bb_buf bytes = {0};
    struct bb_store_identity identity = sample_identity(1);
    struct bb_edit edits[2] = {{.has_identity = true, .identity = identity, .next_file_number = 50},
                               {.is_close = true}};
    size_t size = 0;
    write_records(place, 10, &identity, edits, 2);
    const uint8_t *data = bb_file_memory_bytes(place->memory, "/db/MANIFEST-000010", &size);
    assert_ok(bb_buf_assign(&bytes, bb_bytes_of(data, size)));
    assert_ok(bb_buf_append(&bytes, "no record, but more bytes than a header", 39));
    bb_file_memory_put(place->memory, "/db/MANIFEST-000010", bb_buf_bytes(&bytes));
    enum bb_status status =
        bb_manifest_salvage(place->fs, "/db/MANIFEST-000010", 10, &state, &report);
    assert_ok(status);
    assert_true(state.is_closed && !report.is_whole);
    bb_manifest_state_deinit(&state);
    bb_buf_deinit(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(manifest_read__truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_read__corrupt_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_read__tails_of_zeros_and_garbage, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_read__missing_or_exchanged, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_read__corrupt_contents, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_read__read_shows_each_edit, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_read__visitor_stops, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_read__nothing_salvaged_before_the_first_edit,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_read__closed_with_a_damaged_end_is_not_marked,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
