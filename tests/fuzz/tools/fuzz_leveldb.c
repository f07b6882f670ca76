/* Arbitrary files of LevelDB, as `import leveldb` reads them.
 *
 *     input      first byte: kind of the rest (0 table, 1 log, 2 manifest), + 4 repairs checksums,
 *                so that the code after them is reached; then the file
 *     oracle     a table's entries are in order; a log's contents are in order and within its
 *                bytes; a manifest's tables are in order; errors are only damage or form
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tools/leveldb/manifest.h"
#include "tools/leveldb/table.h"
#include "tools/leveldb/wal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH        "/file"
#define FOOTER_SIZE 48
#define MAGIC       0xDB4775248B80FB57ULL

enum { TABLE = 0, LOG = 1, MANIFEST = 2, FORM_MASK = 3, REPAIR = 4 };

struct input {
    uint8_t *bytes; /* owned */
    size_t size;
    struct crc32c crc;
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
};

static void check_status(enum bb_status status)
{
    BB_ASSERT(status == BB_OK || status == BB_CORRUPT || status == BB_UNSUPPORTED);
}

/* ---- repair ---- */

static void repair_log(struct input *input)
{
    size_t offset = 0;
    while (offset < input->size) {
        size_t left = LOG_BLOCK_SIZE - offset % LOG_BLOCK_SIZE;
        size_t rest = input->size - offset < left ? input->size - offset : left;
        size_t length = rest < LOG_HEADER_SIZE ? 0 : bb_load16(input->bytes + offset + 4);
        if (rest < LOG_HEADER_SIZE || length > rest - LOG_HEADER_SIZE) {
            offset += rest;
            continue;
        }
        struct bb_bytes checked = bb_bytes_of(input->bytes + offset + 6, 1 + length);
        bb_store32(input->bytes + offset, crc32c_mask(crc32c_of(&input->crc, checked)));
        offset += LOG_HEADER_SIZE + length;
    }
}

static bool repair_block(struct input *input, struct block_handle handle)
{
    if (handle.offset > input->size || input->size - handle.offset < BLOCK_TRAILER_SIZE ||
        handle.size > input->size - handle.offset - BLOCK_TRAILER_SIZE)
        return false;
    uint8_t *block = input->bytes + handle.offset;
    struct bb_bytes checked = bb_bytes_of(block, (size_t)handle.size + 1);
    bb_store32(block + handle.size + 1, crc32c_mask(crc32c_of(&input->crc, checked)));
    return true;
}

static void put_file(struct input *input)
{
    bb_file_memory_put(input->memory, PATH, bb_bytes_of(input->bytes, input->size));
}

/* The blocks that the index names. The index is read with the product's own decoder. */
static void repair_data_blocks(struct input *input, struct block_handle index)
{
    struct block block = {0};
    struct bb_file *file = NULL;
    bool has = true;
    put_file(input);
    enum bb_status status = bb_file_open(input->fs, PATH, &file);
    if (status == BB_OK)
        status = block_read(&block, file, input->size, index, &input->crc);
    while (status == BB_OK && has) {
        struct block_handle handle;
        status = block_next(&block, &has);
        struct bb_cursor cursor = bb_cursor_of(block.value);
        if (status == BB_OK && has && block_handle_decode(&cursor, &handle))
            repair_block(input, handle);
    }
    block_deinit(&block);
    (void)!bb_file_close(file);
}

static void repair_table(struct input *input)
{
    struct block_handle index;
    if (input->size < FOOTER_SIZE)
        return;
    uint8_t *footer = input->bytes + input->size - FOOTER_SIZE;
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(footer, FOOTER_SIZE - 8));
    bb_store64(footer + FOOTER_SIZE - 8, MAGIC);
    if (block_handle_decode(&cursor, &index) && block_handle_decode(&cursor, &index) &&
        repair_block(input, index))
        repair_data_blocks(input, index);
}

/* ---- reading ---- */

static void read_table(struct input *input)
{
    struct table table;
    struct entry last = {0};
    struct bb_buf last_key = {0};
    bool has = true;
    uint64_t count = 0;
    enum bb_status status = table_open(&table, input->fs, PATH, input->size, &input->crc);
    while (status == BB_OK && has) {
        status = table_next(&table, &has);
        if (status != BB_OK || !has)
            break;
        last.key = bb_buf_bytes(&last_key);
        BB_ASSERT(count == 0 || entry_compare(&last, &table.entry) < 0);
        BB_ASSERT(table.entry.key.size <= input->size);
        BB_ASSERT(bb_buf_assign(&last_key, table.entry.key) == BB_OK);
        last.sequence = table.entry.sequence;
        count++;
    }
    check_status(status);
    table_close(&table);
    bb_buf_deinit(&last_key);
}

static void read_log(struct input *input)
{
    struct wal wal = {0};
    uint64_t sum = 0;
    enum bb_status status = wal_add(&wal, input->fs, PATH, &input->crc);
    check_status(status);
    BB_ASSERT(wal.dropped_bytes <= input->size);
    if (status == BB_OK)
        wal_sort(&wal);
    for (size_t i = 0; status == BB_OK && i < wal.count; i++) {
        const struct entry *entry = &wal.entries[i];
        BB_ASSERT(i == 0 || entry_compare(&wal.entries[i - 1], entry) <= 0);
        BB_ASSERT(!entry->is_deletion || entry->value.size == 0);
        sum += entry->key.size + entry->value.size;
    }
    BB_ASSERT(sum <= input->size);
    wal_deinit(&wal);
}

static void read_manifest(struct input *input)
{
    struct manifest manifest;
    bb_file_memory_put(input->memory, "/CURRENT", bb_bytes_of_text("MANIFEST-000001\n"));
    bb_file_memory_put(input->memory, "/MANIFEST-000001", bb_bytes_of(input->bytes, input->size));
    enum bb_status status = manifest_read(&manifest, input->fs, "/", &input->crc);
    check_status(status);
    for (size_t i = 1; status == BB_OK && i < manifest.table_count; i++)
        BB_ASSERT(manifest.tables[i - 1].level <= manifest.tables[i].level);
    manifest_deinit(&manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || (data[0] & FORM_MASK) > MANIFEST)
        return 0;
    unsigned form = data[0] & FORM_MASK;
    struct input input = {.size = size - 1, .memory = bb_file_memory_create(1)};
    input.bytes = bb_must_alloc_zeroed(input.size);
    input.fs = bb_file_memory_system(input.memory);
    memcpy(input.bytes, data + 1, input.size);
    crc32c_init(&input.crc);
    if (data[0] & REPAIR && form == TABLE)
        repair_table(&input);
    else if (data[0] & REPAIR)
        repair_log(&input);
    put_file(&input);
    if (form == TABLE)
        read_table(&input);
    else if (form == LOG)
        read_log(&input);
    else
        read_manifest(&input);
    bb_file_memory_destroy(input.memory);
    free(input.bytes);
    return 0;
}
