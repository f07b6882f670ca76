/* CURRENT and the manifest it names, read as in an opening.
 *
 * input      first byte, modulo 3:
 *            0   the rest is edits, each with two bytes of size before it, framed as a manifest
 *            1   the rest is the manifest's file, whose checks are repaired
 *            2   the rest is CURRENT
 * oracle     reading returns a state, BB_CORRUPT or BB_UNSUPPORTED; a decoded edit is encoded to
 *            bytes that decode to the same again; a state can be written as a new manifest, and
 *            reads back the same; an accepted CURRENT is exactly the line with its number
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "kv/manifest/current.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"
#include "kv/wal/wal_writer.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/unit/kv/edit_print.h"

#define NUMBER 1
#define PATH   "/MANIFEST-000001"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t store_id[BB_STORE_ID_SIZE] = "fuzz";

static void must(enum bb_status status)
{
    if (status != BB_OK)
        fprintf(stderr, "%s: %s\n", bb_status_name(status), bb_error_last()->message);
    BB_ASSERT(status == BB_OK);
}

/* ---- edits ---- */

static void print(const struct bb_edit *edit, struct bb_buf *text)
{
    bb_buf_reset(text);
    must(edit_print(edit, text));
}

static enum bb_status check_edit(void *context, const struct bb_edit *edit, uint64_t offset)
{
    struct bb_buf bytes = {0};
    struct bb_buf again = {0};
    struct bb_buf text[2] = {{0}, {0}};
    struct bb_edit copy;
    uint64_t *last_offset = context;
    BB_ASSERT(offset > *last_offset);
    *last_offset = offset;
    must(bb_edit_encode(edit, &bytes));
    must(bb_edit_decode(bb_buf_bytes(&bytes), (struct bb_place){0}, &copy));
    must(bb_edit_encode(&copy, &again));
    BB_ASSERT(bb_bytes_equal(bb_buf_bytes(&bytes), bb_buf_bytes(&again)));
    print(edit, &text[0]);
    print(&copy, &text[1]);
    BB_ASSERT(bb_bytes_equal(bb_buf_bytes(&text[0]), bb_buf_bytes(&text[1])));
    bb_edit_deinit(&copy);
    bb_buf_deinit(&bytes);
    bb_buf_deinit(&again);
    bb_buf_deinit(&text[0]);
    bb_buf_deinit(&text[1]);
    return BB_OK;
}

/* ---- states ---- */

static void check_state(const struct bb_manifest_state *state)
{
    BB_ASSERT(state->has_identity);
    BB_ASSERT(state->next_file_number > NUMBER &&
              state->next_file_number <= BB_FILE_NUMBER_MAX + 1);
    BB_ASSERT(state->log_number < state->next_file_number &&
              state->last_sequence <= BB_SEQUENCE_MAX);
    for (size_t i = 0; i < state->table_count; i++) {
        const struct bb_edit_table *table = state->tables[i];
        BB_ASSERT(bb_edit_table_defect(table) == NULL);
        BB_ASSERT(table->number < state->next_file_number &&
                  table->meta.sequence_max <= state->last_sequence);
        BB_ASSERT(i == 0 || state->tables[i - 1]->number < table->number);
        BB_ASSERT(bb_manifest_state_find(state, table->number) == table);
    }
}

/* Encodes a whole state. */
static void encode_state(const struct bb_manifest_state *state, struct bb_buf *bytes)
{
    struct bb_edit edit = {.has_identity = true,
                           .identity = state->identity,
                           .last_sequence = state->last_sequence,
                           .log_number = state->log_number,
                           .log_is_absent = state->log_is_absent};
    must(bb_edit_encode(&edit, bytes));
    for (size_t i = 0; i < state->table_count; i++) {
        struct bb_edit table = {.added = state->tables[i], .added_count = 1};
        must(bb_edit_encode(&table, bytes));
    }
}

/* Takes the state. */
static void rewrite(struct bb_file_system *fs, struct bb_manifest_state *state)
{
    struct bb_buf before = {0};
    struct bb_buf after = {0};
    struct bb_manifest *manifest = NULL;
    uint64_t number = state->next_file_number;
    encode_state(state, &before);
    must(bb_manifest_create(fs, "/", number, state, &manifest));
    must(bb_manifest_close(manifest));
    must(bb_manifest_load(fs, "/", state, NULL));
    encode_state(state, &after);
    BB_ASSERT(bb_bytes_equal(bb_buf_bytes(&before), bb_buf_bytes(&after)));
    BB_ASSERT(state->next_file_number == number + 1);
    bb_buf_deinit(&before);
    bb_buf_deinit(&after);
}

static void read_manifest(struct bb_file_memory *memory)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_manifest_state state = {0};
    struct bb_manifest_report report = {0};
    uint64_t last_offset = 0;
    enum bb_status status =
        bb_manifest_read(fs, PATH, NUMBER, check_edit, &last_offset, &state, &report);
    if (status == BB_OK) {
        check_state(&state);
        BB_ASSERT(report.record_count > 0 && report.is_whole == (report.dropped[0] == 0));
        if (state.next_file_number <= BB_FILE_NUMBER_MAX)
            rewrite(fs, &state);
    } else {
        BB_ASSERT(status == BB_CORRUPT || status == BB_UNSUPPORTED);
        BB_ASSERT(state.tables == NULL && bb_error_last()->message[0] != 0);
    }
    bb_manifest_state_deinit(&state);
}

/* ---- inputs ---- */

static void read_edits(struct bb_bytes input)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_wal_writer *log = NULL;
    struct bb_cursor cursor = bb_cursor_of(input);
    uint16_t size = 0;
    must(bb_wal_writer_create(bb_file_memory_system(memory), PATH, bb_manifest_log_number(NUMBER),
                              store_id, 0, &log));
    while (bb_decode_u16(&cursor, &size)) {
        struct bb_bytes edit;
        size_t left = bb_cursor_left(&cursor);
        if (!bb_decode_raw(&cursor, size < left ? size : left, &edit))
            break;
        must(bb_wal_writer_append(log, &edit, 1));
    }
    must(bb_wal_writer_close(log));
    read_manifest(memory);
    bb_file_memory_destroy(memory);
}

/* The identity is the one in the input's header, so that edits of any store are accepted. */
static void repair(uint8_t *file, size_t size)
{
    if (size < BB_WAL_HEADER_SIZE)
        return;
    struct bb_wal_identity identity = bb_wal_identity(bb_manifest_log_number(NUMBER), file + 24);
    uint64_t seed = bb_wal_format_seed(&identity);
    bb_wal_format_encode_header(&identity, file);
    size_t offset = BB_WAL_HEADER_SIZE;
    while (offset < size) {
        size_t left = bb_wal_block_left(offset);
        size_t rest = left < size - offset ? left : size - offset;
        if (left < BB_WAL_FRAGMENT_SIZE_MIN) {
            offset += rest;
            continue;
        }
        if (rest < BB_WAL_FRAGMENT_HEADER)
            return;
        size_t body_size = bb_load16(file + offset + 8);
        if (body_size > rest - BB_WAL_FRAGMENT_HEADER)
            return;
        struct bb_bytes body = bb_bytes_of(file + offset + BB_WAL_FRAGMENT_HEADER, body_size);
        bb_store64(
            file + offset,
            bb_wal_format_check(seed, offset, (enum bb_wal_fragment_type)file[offset + 10], body));
        offset += BB_WAL_FRAGMENT_HEADER + body_size;
    }
}

static void read_file(struct bb_bytes input)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    uint8_t *file = bb_must_alloc_zeroed(input.size);
    if (input.size > 0)
        memcpy(file, input.data, input.size);
    repair(file, input.size);
    bb_file_memory_put(memory, PATH, bb_bytes_of(file, input.size));
    read_manifest(memory);
    bb_file_memory_destroy(memory);
    free(file);
}

static void read_current(struct bb_bytes input)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    uint64_t number = 0;
    bb_file_memory_put(memory, "/CURRENT", input);
    enum bb_status status = bb_current_read(bb_file_memory_system(memory), "/", &number);
    BB_ASSERT(status == BB_OK || status == BB_CORRUPT);
    if (status == BB_OK) {
        char line[BB_FILENAME_SIZE_MAX + 1];
        bb_filename_encode(BB_FILE_MANIFEST, number, line);
        strcat(line, "\n");
        BB_ASSERT(bb_bytes_equal(input, bb_bytes_of_text(line)));
    }
    bb_file_memory_destroy(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct bb_bytes input = bb_bytes_of(data + 1, size - 1);
    if (data[0] % 3 == 0)
        read_edits(input);
    else if (data[0] % 3 == 1)
        read_file(input);
    else
        read_current(input);
    return 0;
}
