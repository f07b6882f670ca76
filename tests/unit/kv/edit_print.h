/* An edit of the manifest as readable text, one line per change, for comparison. */
#ifndef BB_TESTS_UNIT_KV_EDIT_PRINT_H
#define BB_TESTS_UNIT_KV_EDIT_PRINT_H

#include <inttypes.h>

#include "base/bytes.h"
#include "kv/manifest/edit.h"

/* Longer keys are cut. */
#define PRINTED_KEY_SIZE 65

static enum bb_status print_id(struct bb_buf *text, const uint8_t *id, size_t size)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < size && status == BB_OK; i++)
        status = bb_buf_print(text, "%02x", (unsigned)id[i]);
    return status;
}

static enum bb_status print_identity(const struct bb_store_identity *identity, struct bb_buf *text)
{
    enum bb_status status =
        bb_buf_print(text, "store of format version %" PRIu32 ", id ", identity->format_version);
    if (status == BB_OK)
        status = print_id(text, identity->store_id, BB_STORE_ID_SIZE);
    char name[BB_COMPARATOR_NAME_SIZE_MAX + 1];
    bb_bytes_escape(bb_bytes_of_text(identity->comparator), name, sizeof(name));
    if (status == BB_OK)
        status = bb_buf_print(text, ", comparator %s\n", name);
    return status;
}

static enum bb_status print_number(const char *name, uint64_t number, const char *remark,
                                   struct bb_buf *text)
{
    return number == 0 ? BB_OK : bb_buf_print(text, "%s %" PRIu64 "%s\n", name, number, remark);
}

static enum bb_status print_counts(const struct bb_table_meta *meta, struct bb_buf *text)
{
    return bb_buf_print(
        text,
        "%" PRIu64 " bytes, %" PRIu64 " entries (%" PRIu64 " tombstones), %" PRIu64
        " keys, %" PRIu64 " blocks, %" PRIu64 " raw bytes, %" PRIu64 " filter bytes (%" PRIu64
        " table filter) at rate %.9g (%.9g), sequences %" PRIu64 " to %" PRIu64,
        meta->file_size, meta->entry_count, meta->tombstone_count, meta->key_count,
        meta->block_count, meta->raw_bytes, meta->filter_bytes, meta->table_filter_bytes,
        meta->filter_rate, meta->table_filter_rate, meta->sequence_min, meta->sequence_max);
}

static enum bb_status print_table(const struct bb_edit_table *table, struct bb_buf *text)
{
    char smallest[PRINTED_KEY_SIZE];
    char largest[PRINTED_KEY_SIZE];
    bb_bytes_escape(bb_buf_bytes(&table->meta.smallest), smallest, sizeof(smallest));
    bb_bytes_escape(bb_buf_bytes(&table->meta.largest), largest, sizeof(largest));
    enum bb_status status =
        bb_buf_print(text, "add table %" PRIu64 " to level %d", table->number, table->level);
    if (status == BB_OK && table->run != 0)
        status = bb_buf_print(text, ", run %" PRIu64, table->run);
    if (status == BB_OK)
        status = bb_buf_print(text, ": ");
    if (status == BB_OK)
        status = print_counts(&table->meta, text);
    if (status == BB_OK)
        status = bb_buf_print(text, ", keys %s to %s%s, ", smallest, largest,
                              table->meta.largest_is_exclusive ? " (exclusive)" : "");
    if (status == BB_OK && table->meta.range_tombstone_count > 0)
        status =
            bb_buf_print(text, "%" PRIu64 " range tombstones, ", table->meta.range_tombstone_count);
    if (status == BB_OK && table->meta.tombstone_sequence_min > 0)
        status = bb_buf_print(text, "oldest tombstone %" PRIu64 ", ",
                              table->meta.tombstone_sequence_min);
    if (status == BB_OK && table->meta.predicted_block_rate > 0)
        status =
            bb_buf_print(text, "predicted rates %.9g and %.9g, ", table->meta.predicted_block_rate,
                         table->meta.predicted_table_filter_rate);
    if (status == BB_OK && table->index_number != 0)
        status = bb_buf_print(text, "index file %" PRIu64 ", ", table->index_number);
    if (status == BB_OK)
        status = bb_buf_print(text, "id ");
    if (status == BB_OK)
        status = print_id(text, table->meta.table_id, sizeof(table->meta.table_id));
    return status == BB_OK ? bb_buf_print(text, "\n") : status;
}

static enum bb_status print_close(const struct bb_edit *edit, struct bb_buf *text)
{
    enum bb_status status = bb_buf_print(text, "closed");
    for (size_t i = 0; i < edit->log_end_count && status == BB_OK; i++) {
        const struct bb_wal_end *end = &edit->log_ends[i];
        status = bb_buf_print(
            text, "%s log %" PRIu64 " with records up to %" PRIu64 ", check %016" PRIx64,
            i == 0 ? "," : ";", end->log_number, end->offset, end->check);
    }
    return status == BB_OK ? bb_buf_print(text, "\n") : status;
}

/* Appends the text. The secret is not printed. */
static enum bb_status edit_print(const struct bb_edit *edit, struct bb_buf *text)
{
    enum bb_status status = edit->has_identity ? print_identity(&edit->identity, text) : BB_OK;
    if (status == BB_OK)
        status = print_number("next file number", edit->next_file_number, "", text);
    if (status == BB_OK)
        status = print_number("last sequence", edit->last_sequence, "", text);
    if (status == BB_OK)
        status = print_number("logs from", edit->log_number,
                              edit->log_is_absent ? ", none begun" : "", text);
    for (size_t i = 0; i < edit->removed_count && status == BB_OK; i++)
        status = print_number("remove table", edit->removed[i], "", text);
    for (size_t i = 0; i < edit->added_count && status == BB_OK; i++)
        status = print_table(&edit->added[i], text);
    if (status == BB_OK && edit->has_catalog)
        status = bb_buf_print(text, "catalog of %zu bytes\n", edit->catalog.size);
    if (status == BB_OK && edit->is_close)
        status = print_close(edit, text);
    for (size_t i = 0; i < BB_STORED_OPTION_END && status == BB_OK; i++)
        if (edit->options.values[i] != 0)
            status =
                bb_buf_print(text, "option %zu is %016" PRIx64 "\n", i, edit->options.values[i]);
    return status;
}
#endif
