/* See table.h. */
#include "tools/leveldb/table.h"

#include <inttypes.h>

#include "base/buf.h"

#define FOOTER_SIZE   48
#define MAGIC         0xDB4775248B80FB57ULL
#define MAGIC_ROCKSDB 0x88E241B785F4CFF7ULL

static enum bb_status check_size(struct table *table, uint64_t expected)
{
    enum bb_status status = bb_file_size(table->file, &table->file_size);
    struct bb_place place = {.file = table->file->path};
    if (status != BB_OK)
        return status;
    if (table->file_size != expected)
        return bb_corrupt(place, table->file_size,
                          "the file ends, the size in LevelDB's manifest is %" PRIu64 " bytes",
                          expected);
    return table->file_size >= FOOTER_SIZE
               ? BB_OK
               : bb_corrupt(place, 0, "%" PRIu64 " bytes are too few for a table of LevelDB",
                            table->file_size);
}

static enum bb_status read_footer(struct table *table, struct block_handle *ret_index)
{
    uint8_t footer[FOOTER_SIZE];
    struct block_handle unused;
    uint64_t offset = table->file_size - FOOTER_SIZE;
    struct bb_place place = {.file = table->file->path, .offset = offset};
    enum bb_status status = bb_file_read_exactly(table->file, offset, footer, FOOTER_SIZE);
    if (status != BB_OK)
        return status;
    uint64_t magic = bb_load64(footer + FOOTER_SIZE - 8);
    if (magic == MAGIC_ROCKSDB)
        return bb_fail(BB_UNSUPPORTED, "%s: a table of RocksDB; only LevelDB's can be imported",
                       place.file);
    if (magic != MAGIC)
        return bb_corrupt(place, FOOTER_SIZE - 8,
                          "the file ends with %016" PRIx64 ", a table of LevelDB with %016llx",
                          magic, MAGIC);
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(footer, FOOTER_SIZE - 8));
    if (!block_handle_decode(&cursor, &unused) || !block_handle_decode(&cursor, ret_index))
        return bb_corrupt(place, 0, "the footer does not locate the index");
    return BB_OK;
}

enum bb_status table_open(struct table *table, struct bb_file_system *fs, const char *path,
                          uint64_t file_size, const struct crc32c *crc)
{
    struct block_handle index = {0};
    *table = (struct table){.crc = crc};
    enum bb_status status = bb_file_open(fs, path, &table->file);
    if (status == BB_OK)
        status = check_size(table, file_size);
    if (status == BB_OK)
        status = read_footer(table, &index);
    if (status == BB_OK)
        status = block_read(&table->index, table->file, table->file_size, index, crc);
    return status;
}

void table_close(struct table *table)
{
    (void)!bb_file_close(table->file);
    block_deinit(&table->index);
    block_deinit(&table->data);
    bb_buf_deinit(&table->last_key);
    *table = (struct table){0};
}

/* The data block of the next entry of the index. */
static enum bb_status next_block(struct table *table, bool *ret_has)
{
    struct block_handle handle;
    enum bb_status status = block_next(&table->index, ret_has);
    if (status != BB_OK || !*ret_has)
        return status;
    struct bb_cursor cursor = bb_cursor_of(table->index.value);
    if (!block_handle_decode(&cursor, &handle))
        return bb_corrupt(table->index.place, 0, "the index does not locate a block");
    return block_read(&table->data, table->file, table->file_size, handle, table->crc);
}

static enum bb_status take_entry(struct table *table)
{
    struct entry last;
    struct bb_bytes key = bb_buf_bytes(&table->data.key);
    if (!entry_decode(key, table->data.value, &table->entry))
        return bb_corrupt(table->data.place, 0, "a key of the block has no sequence and type");
    if (entry_decode(bb_buf_bytes(&table->last_key), table->data.value, &last) &&
        entry_compare(&last, &table->entry) >= 0)
        return bb_corrupt(
            table->data.place, 0,
            "the keys of the block are not in order, or not after those of the previous table");
    return bb_buf_assign(&table->last_key, key);
}

enum bb_status table_next(struct table *table, bool *ret_has)
{
    bool has_block = true;
    *ret_has = false;
    while (!*ret_has && has_block) {
        enum bb_status status = block_next(&table->data, ret_has);
        if (status == BB_OK && *ret_has)
            return take_entry(table);
        if (status == BB_OK)
            status = next_block(table, &has_block);
        if (status != BB_OK)
            return status;
    }
    return BB_OK;
}
