/* See table_salvage.h. */
#include "sstable/salvage/table_salvage.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "sstable/block/block_iter.h"
#include "sstable/block/stored_block.h"
#include "sstable/meta/footer.h"

/* ---- finding the id ---- */

/* The properties begin with the format version, 0, and the id: docs/format.md, section 10. */
static const uint8_t id_mark[] = {1, 0, 1, 0, 2, 0, BB_TABLE_ID_SIZE};

/* True when the file has a block, a page or the directory of that table. */
static enum bb_status is_proven(struct bb_bytes file, const uint8_t *id, bool *ret_is_proven)
{
    struct bb_block_places places = {0};
    enum bb_status status = bb_block_places_find(file, bb_checksum_decode_table_id(id), &places);
    *ret_is_proven =
        status == BB_OK && (places.count > 0 || bb_range_tombstone_salvage_has_directory(
                                                    file, bb_checksum_decode_table_id(id)));
    bb_block_places_deinit(&places);
    return status;
}

/* Each unproven id costs a search; more than a few indicate an attack. */
#define CLAIMS_MAX 8

struct claims {
    struct bb_bytes file;
    size_t tried;
    bool is_found;
    uint8_t *id;
};

static enum bb_status try_claim(struct claims *claims, const uint8_t *id)
{
    if (claims->tried++ >= CLAIMS_MAX)
        return BB_OK;
    enum bb_status status = is_proven(claims->file, id, &claims->is_found);
    if (claims->is_found)
        memcpy(claims->id, id, BB_TABLE_ID_SIZE);
    return status;
}

/* Decodes a possible footer that ends with a magic number at `end`. */
static bool is_footer(struct bb_bytes file, size_t end, const char *path, struct bb_footer *footer)
{
    if (memcmp(file.data + end - BB_TABLE_MAGIC_SIZE, BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE) != 0)
        return false;
    struct bb_place place = {.file = path, .offset = end - BB_FOOTER_SIZE};
    return bb_footer_decode(file.data + end - BB_FOOTER_SIZE, place, footer) == BB_OK;
}

/* Searches from the end, because bytes after a table, or written over it, are usually shorter than
 * the table. */
static enum bb_status try_footers(struct claims *claims, const char *path)
{
    enum bb_status status = BB_OK;
    struct bb_footer footer;
    for (size_t end = claims->file.size;
         end >= BB_FOOTER_SIZE && status == BB_OK && !claims->is_found; end--) {
        if (is_footer(claims->file, end, path, &footer))
            status = try_claim(claims, footer.table_id);
    }
    return status;
}

static enum bb_status try_properties(struct claims *claims)
{
    enum bb_status status = BB_OK;
    for (size_t end = claims->file.size;
         end >= sizeof(id_mark) + BB_TABLE_ID_SIZE && status == BB_OK && !claims->is_found; end--) {
        const uint8_t *id = claims->file.data + end - BB_TABLE_ID_SIZE;
        if (memcmp(id - sizeof(id_mark), id_mark, sizeof(id_mark)) == 0)
            status = try_claim(claims, id);
    }
    return status;
}

/* The id that the file itself names, if a block or a directory proves it: from the footer, else
 * from the properties. Errors: BB_CORRUPT if none exists. */
static enum bb_status find_id(struct bb_bytes file, const char *path,
                              uint8_t ret_id[BB_TABLE_ID_SIZE])
{
    struct claims claims = {.file = file, .id = ret_id};
    enum bb_status status = try_footers(&claims, path);
    if (status == BB_OK && !claims.is_found)
        status = try_properties(&claims);
    if (status != BB_OK || claims.is_found)
        return status;
    return bb_fail(BB_CORRUPT,
                   "%s: it names no table id that matches any of its blocks: no entry can "
                   "be salvaged",
                   path);
}

/* ---- reading blocks ---- */

struct salvage {
    struct bb_bytes file;
    const char *path;
    const struct bb_comparator *comparator;
    struct bb_table_id table;
    const struct bb_salvage_visitor *visitor;
    struct bb_buf last_key;
    uint64_t last_sequence;
    struct bb_salvage_report report;
};

static enum bb_status lose(struct salvage *salvage, uint64_t offset, uint64_t size)
{
    salvage->report.bytes_lost += size;
    if (salvage->visitor->lost == NULL || size == 0)
        return BB_OK;
    return salvage->visitor->lost(salvage->visitor->context, offset, size);
}

/* True when the entry sorts after the last one passed to the visitor. */
static bool is_in_order(const struct salvage *salvage, const struct bb_entry *entry)
{
    return salvage->report.entries == 0 ||
           bb_entry_compare(salvage->comparator, bb_buf_bytes(&salvage->last_key),
                            salvage->last_sequence, entry->key, entry->sequence) < 0;
}

static enum bb_status give_entry(struct salvage *salvage, const struct bb_entry *entry)
{
    enum bb_status status = bb_buf_assign(&salvage->last_key, entry->key);
    if (status != BB_OK)
        return status;
    salvage->last_sequence = entry->sequence;
    salvage->report.entries++;
    if (salvage->visitor->entry == NULL)
        return BB_OK;
    return salvage->visitor->entry(salvage->visitor->context, entry);
}

/* A block with a matching checksum and invalid entries was written that way. The entries before the
 * defect are passed on. */
static enum bb_status give_entries(struct salvage *salvage, const struct bb_block_place *where,
                                   const struct bb_block *block)
{
    struct bb_block_iter iter;
    struct bb_place place = {.file = salvage->path, .offset = where->offset};
    enum bb_status status = BB_OK;
    bb_block_iter_init(&iter, salvage->comparator);
    bb_block_iter_reset(&iter, block, place);
    bb_block_iter_seek_first(&iter);
    while (iter.is_valid && status == BB_OK && is_in_order(salvage, &iter.entry)) {
        status = give_entry(salvage, &iter.entry);
        if (status == BB_OK)
            bb_block_iter_next(&iter);
    }
    bool is_cut = status == BB_OK && (iter.is_valid || iter.status == BB_CORRUPT);
    if (status == BB_OK && !iter.is_valid && iter.status != BB_CORRUPT)
        status = iter.status;
    bb_block_iter_deinit(&iter);
    salvage->report.blocks_lost += is_cut;
    return is_cut ? lose(salvage, where->offset, where->size) : status;
}

static enum bb_status begin_block(struct salvage *salvage, const struct bb_block_place *where,
                                  const struct bb_stored_block_info *info)
{
    salvage->report.blocks++;
    if (salvage->visitor->block == NULL)
        return BB_OK;
    return salvage->visitor->block(salvage->visitor->context, where, info->compression,
                                   info->raw_size);
}

/* BB_CORRUPT if the bytes are not a block after all. */
static enum bb_status decode(struct salvage *salvage, const struct bb_block_place *where,
                             struct bb_stored_block_info *ret_info, struct bb_block **ret_block)
{
    const uint8_t *stored = salvage->file.data + where->offset;
    struct bb_place place = {.file = salvage->path, .offset = where->offset};
    enum bb_status status = bb_stored_block_check(stored, where->size, salvage->table, place);
    if (status == BB_OK)
        status = bb_stored_block_info(stored, where->size, place, ret_info);
    return status == BB_OK ? bb_stored_block_copy(stored, where->size, NULL, salvage->comparator,
                                                  place, ret_block)
                           : status;
}

static enum bb_status read_block(struct salvage *salvage, const struct bb_block_place *where)
{
    struct bb_stored_block_info info = {0};
    struct bb_block *block = NULL;
    enum bb_status status = decode(salvage, where, &info, &block);
    if (status == BB_CORRUPT) {
        salvage->report.blocks_lost++;
        return lose(salvage, where->offset, where->size);
    }
    if (status == BB_OK)
        status = begin_block(salvage, where, &info);
    if (status == BB_OK)
        status = give_entries(salvage, where, block);
    bb_block_unref(block);
    return status;
}

/* Reports lost bytes from number *lost on that are before the offset. */
static enum bb_status lose_before(struct salvage *salvage, const struct bb_block_places *places,
                                  uint64_t offset, size_t *lost)
{
    enum bb_status status = BB_OK;
    while (status == BB_OK && *lost < places->lost_count && places->lost[*lost].offset < offset) {
        const struct bb_lost_bytes *bytes = &places->lost[(*lost)++];
        status = lose(salvage, bytes->offset, bytes->size);
    }
    return status;
}

static enum bb_status read_blocks(struct salvage *salvage, const struct bb_block_places *places)
{
    enum bb_status status = BB_OK;
    size_t lost = 0;
    for (size_t i = 0; i < places->count && status == BB_OK; i++) {
        status = lose_before(salvage, places, places->places[i].offset, &lost);
        if (status == BB_OK)
            status = read_block(salvage, &places->places[i]);
    }
    return status == BB_OK ? lose_before(salvage, places, UINT64_MAX, &lost) : status;
}

static enum bb_status read_ranges(struct salvage *salvage)
{
    struct bb_range_tombstones *list = NULL;
    enum bb_status status =
        bb_range_tombstone_salvage(salvage->file, salvage->path, salvage->comparator,
                                   salvage->table, &salvage->report.ranges, &list);
    if (status == BB_OK && list != NULL) {
        salvage->report.range_tombstones = list->sequence_count;
        if (salvage->visitor->ranges != NULL)
            status = salvage->visitor->ranges(salvage->visitor->context, list);
    }
    bb_range_tombstones_destroy(list);
    return status;
}

static enum bb_status salvage_file(struct salvage *salvage)
{
    struct bb_block_places places = {0};
    enum bb_status status = bb_block_places_find(salvage->file, salvage->table, &places);
    if (status == BB_OK)
        status = read_blocks(salvage, &places);
    if (status == BB_OK)
        status = read_ranges(salvage);
    salvage->report.pages = places.page_count;
    salvage->report.tail_bytes = salvage->file.size - places.end;
    bb_block_places_deinit(&places);
    return status;
}

enum bb_status bb_table_salvage(struct bb_file_system *fs, const char *path,
                                const struct bb_comparator *comparator,
                                const uint8_t table_id[BB_TABLE_ID_SIZE],
                                const struct bb_salvage_visitor *visitor,
                                struct bb_salvage_report *ret_report)
{
    struct bb_buf file = {0};
    struct salvage salvage = {.path = path, .comparator = comparator, .visitor = visitor};
    enum bb_status status = bb_file_read_whole(fs, path, SIZE_MAX, &file);
    salvage.file = bb_buf_bytes(&file);
    salvage.report.file_size = file.size;
    if (status == BB_OK && table_id != NULL)
        memcpy(salvage.report.table_id, table_id, BB_TABLE_ID_SIZE);
    else if (status == BB_OK)
        status = find_id(salvage.file, path, salvage.report.table_id);
    salvage.table = bb_checksum_decode_table_id(salvage.report.table_id);
    if (status == BB_OK)
        status = salvage_file(&salvage);
    if (status == BB_OK)
        *ret_report = salvage.report;
    bb_buf_deinit(&salvage.last_key);
    bb_buf_deinit(&file);
    return status;
}
