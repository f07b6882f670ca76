/* Goal: the bytes of a log do not change unnoticed, and an old log is still readable.
 *
 * Method: a log with everything in it (groups, syncs, a record over two blocks, zeros at the end of
 * a block, the mark) is written and compared with tests/golden; then the golden itself is read and
 * printed, and the text compared. tests/golden/read_log_test.py prints the same with a reader that
 * was written from docs/format-wal.md.
 */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "kv/batch.h"
#include "kv/wal/wal_reader.h"
#include "kv/wal/wal_window.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_memory.h"
#include "tests/support/golden.h"
#include "tests/support/must_alloc.h"
#include "tests/support/temp_dir.h"

#define PATH       "/log"
#define LOG_NUMBER 7

static const uint8_t store_id[BB_WAL_STORE_ID_SIZE] = {
    0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf};

static void put(struct bb_batch *batch, const char *key, const char *value)
{
    assert_ok(bb_batch_put(batch, bb_bytes_of_text(key), bb_bytes_of_text(value)));
}

static void append(struct bb_wal_writer *writer, struct bb_batch *batch, uint64_t *sequence)
{
    struct bb_bytes payload = bb_batch_stamp(batch, *sequence);
    assert_ok(bb_wal_writer_append(writer, &payload, 1));
    *sequence += bb_batch_count(batch);
    bb_batch_reset(batch);
}

/* A record that ends `left` bytes before the end of the second block. */
static void append_to_end_of_block(struct bb_wal_writer *writer, struct bb_batch *batch,
                                   uint64_t *sequence, size_t left)
{
    size_t first = BB_WAL_BLOCK_SIZE - (size_t)bb_wal_writer_size(writer) - BB_WAL_FRAGMENT_HEADER;
    size_t second = BB_WAL_BLOCK_SIZE - left - BB_WAL_FRAGMENT_HEADER;
    size_t around = BB_WAL_DURABLE_SIZE + BB_BATCH_HEADER_SIZE + 1 + 1 + strlen("large") + 3;
    size_t value_size = first + second - around;
    uint8_t *value = bb_must_alloc_zeroed(value_size);
    assert_ok(bb_batch_put(batch, bb_bytes_of_text("large"), bb_bytes_of(value, value_size)));
    append(writer, batch, sequence);
    free(value);
    assert_int_equal(bb_wal_writer_size(writer), 2 * BB_WAL_BLOCK_SIZE - left);
}

static void write_log(struct bb_file_system *fs)
{
    struct bb_wal_writer *writer = NULL;
    struct bb_batch batch = {0};
    struct bb_batch other = {0};
    uint64_t sequence = 1000;
    assert_ok(bb_wal_writer_create(fs, PATH, LOG_NUMBER, store_id, 0, &writer));
    put(&batch, "apple", "red");
    put(&batch, "", "");
    assert_ok(bb_batch_delete(&batch, bb_bytes_of("p\0\xff\\ear", 7)));
    append(writer, &batch, &sequence);
    assert_ok(bb_wal_writer_sync(writer));
    put(&batch, "one", "1");
    put(&other, "two", "2");
    struct bb_bytes group[] = {bb_batch_stamp(&batch, sequence),
                               bb_batch_stamp(&other, sequence + 1)};
    assert_ok(bb_wal_writer_append(writer, group, 2));
    sequence += 2;
    bb_batch_reset(&batch);
    append_to_end_of_block(writer, &batch, &sequence, 7);
    put(&batch, "behind", "the zeros");
    assert_ok(bb_batch_delete_range(&batch, bb_bytes_of_text("apple"), bb_bytes_of("p\0", 2)));
    append(writer, &batch, &sequence);
    assert_ok(bb_wal_writer_sync(writer));
    assert_ok(bb_wal_writer_close(writer));
    bb_batch_deinit(&batch);
    bb_batch_deinit(&other);
}

static void wal_golden__log(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    size_t size = 0;
    write_log(bb_file_memory_system(memory));
    const uint8_t *data = bb_file_memory_bytes(memory, PATH, &size);
    assert_golden("log.bin", bb_bytes_of(data, size));
    bb_file_memory_destroy(memory);
}

#define SECOND_RECORD 102
#define FOURTH_RECORD 178

/* The second and the third record, in the window of a log that has the first. */
static void wal_golden__window(void **state)
{
    (void)state;
    struct bb_temp_dir directory;
    struct bb_file_system *fs = NULL;
    struct bb_wal_window *window = NULL;
    struct bb_buf log = {0};
    struct bb_buf found = {0};
    char path[PATH_MAX];
    bb_temp_dir_init(&directory, "wal_golden");
    bb_golden_read(GOLDEN_PATH("log.bin"), &log);
    assert_ok(bb_file_system_posix_create(&fs));
    const struct bb_wal_identity identity = bb_wal_identity(LOG_NUMBER, store_id);
    assert_ok(bb_wal_window_create(fs, bb_temp_dir_path(&directory, "000007.wal", path), &identity,
                                   &window));
    assert_true(
        bb_wal_window_put(window, SECOND_RECORD,
                          bb_bytes_of(log.data + SECOND_RECORD, FOURTH_RECORD - SECOND_RECORD)));
    assert_ok(bb_file_read_whole(fs, bb_temp_dir_path(&directory, "000007.window", path), SIZE_MAX,
                                 &found));
    assert_int_equal(found.size, BB_WAL_WINDOW_FILE_SIZE);
    assert_golden("window.bin",
                  bb_bytes_of(found.data, BB_WAL_WINDOW_BYTES + FOURTH_RECORD - SECOND_RECORD));
    bb_wal_window_destroy(window);
    bb_buf_deinit(&found);
    bb_buf_deinit(&log);
    bb_file_system_posix_destroy(fs);
    bb_temp_dir_deinit(&directory);
}

static void print_batch(struct bb_bytes payload, uint64_t offset, struct bb_buf *text)
{
    struct bb_batch_cursor cursor;
    struct bb_entry entry;
    assert_ok(bb_batch_cursor_init(&cursor, payload, (struct bb_place){0}));
    assert_ok(bb_buf_print(text, "record at offset %llu: %u operations\n",
                           (unsigned long long)offset, cursor.count));
    enum bb_status status = BB_OK;
    while ((status = bb_batch_cursor_next(&cursor, &entry)) == BB_OK) {
        char key[64];
        char value[64];
        assert_ok(bb_buf_print(text, "    %llu %s '%s'", (unsigned long long)entry.sequence,
                               entry.kind == BB_ENTRY_PUT ? "put" : "delete",
                               bb_bytes_escape(entry.key, key, sizeof(key))));
        if (entry.kind == BB_ENTRY_PUT && entry.value.size < 32)
            assert_ok(
                bb_buf_print(text, " '%s'", bb_bytes_escape(entry.value, value, sizeof(value))));
        else if (entry.kind == BB_ENTRY_DELETE_RANGE)
            assert_ok(
                bb_buf_print(text, " to '%s'", bb_bytes_escape(entry.value, value, sizeof(value))));
        else if (entry.kind == BB_ENTRY_PUT)
            assert_ok(bb_buf_print(text, " %zu bytes", entry.value.size));
        assert_ok(bb_buf_print(text, "\n"));
    }
    assert_int_equal(status, BB_NOT_FOUND);
}

static void wal_golden__reads_back(void **state)
{
    (void)state;
    struct bb_file_system *fs = NULL;
    struct bb_wal_reader *reader = NULL;
    struct bb_buf text = {0};
    struct bb_bytes payload;
    enum bb_status status = BB_OK;
    assert_ok(bb_file_system_posix_create(&fs));
    assert_ok(bb_wal_reader_open(fs, BB_SOURCE_DIR "/tests/golden/log.bin", LOG_NUMBER, store_id,
                                 false, &reader));
    while ((status = bb_wal_reader_next(reader, &payload)) == BB_OK)
        print_batch(payload, bb_wal_reader_offset(reader), &text);
    assert_int_equal(status, BB_NOT_FOUND);
    const struct bb_wal_report *report = bb_wal_reader_report(reader);
    assert_ok(bb_buf_print(&text, "end at offset %llu\n", (unsigned long long)report->end_offset));
    assert_int_equal(report->dropped_bytes, 0);
    assert_golden("log.txt", bb_buf_bytes(&text));
    bb_wal_reader_close(reader);
    bb_buf_deinit(&text);
    bb_file_system_posix_destroy(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_golden__log),
        cmocka_unit_test(wal_golden__window),
        cmocka_unit_test(wal_golden__reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
