/* See salvage_dump.h. Rows come in the order of the file: a block, then its entries. */
#include "tools/dump/salvage_dump.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/status.h"
#include "tools/output/number_text.h"
#include "tools/store/range_rows.h"

/* Before the first part that is found: a file that is no table gets only its error. */
static void announce(struct salvage_dump *dump)
{
    if (!dump->is_announced && !dump->out->is_json)
        output_print(dump->out, "SALVAGED, because the table cannot be opened: %s\n",
                     dump->reason.message);
    dump->is_announced = true;
}

static enum bb_status on_block(void *context, const struct bb_block_place *place,
                               enum bb_compression compression, uint32_t raw_size)
{
    struct salvage_dump *dump = context;
    const char *how = compression == BB_COMPRESSION_LZ4 ? "lz4" : "none";
    announce(dump);
    if (!dump->with_blocks || dump->block_rows >= dump->limit)
        return BB_OK;
    dump->block_rows++;
    if (dump->blocks == NULL) {
        output_print(dump->out, "block at %" PRIu64 ": %" PRIu32 " bytes, %" PRIu32 " raw, %s\n",
                     place->offset, place->size, raw_size, how);
        return BB_OK;
    }
    json_t *row = json_object();
    json_set_count(row, "offset", place->offset);
    json_set_count(row, "bytes", place->size);
    json_set_count(row, "raw_bytes", raw_size);
    json_set_text(row, "compression", how);
    json_array_append_new(dump->blocks, row);
    return BB_OK;
}

static const char *kind_name(enum bb_entry_kind kind)
{
    return kind == BB_ENTRY_PUT ? "put" : "delete";
}

static void add_entry(struct salvage_dump *dump, const struct bb_entry *entry)
{
    json_t *row = json_object();
    json_set_shown(row, "key", entry->key, dump->is_hex);
    json_set_count(row, "sequence", entry->sequence);
    json_set_text(row, "kind", kind_name(entry->kind));
    json_set_count(row, "value_bytes", entry->value.size);
    if (dump->with_values)
        json_set_shown(row, "value", entry->value, dump->is_hex);
    json_array_append_new(dump->entries, row);
}

static void print_entry(struct salvage_dump *dump, const struct bb_entry *entry)
{
    output_print(dump->out, "  ");
    output_bytes(dump->out, entry->key, dump->is_hex);
    output_print(dump->out, "\t%" PRIu64 "\t%s\t%zu", entry->sequence, kind_name(entry->kind),
                 entry->value.size);
    if (dump->with_values) {
        output_print(dump->out, "\t");
        output_bytes(dump->out, entry->value, dump->is_hex);
    }
    output_print(dump->out, "\n");
}

static enum bb_status on_entry(void *context, const struct bb_entry *entry)
{
    struct salvage_dump *dump = context;
    if (!dump->with_entries || dump->entry_rows >= dump->limit)
        return BB_OK;
    dump->entry_rows++;
    if (dump->entries != NULL)
        add_entry(dump, entry);
    else
        print_entry(dump, entry);
    return BB_OK;
}

static enum bb_status on_lost(void *context, uint64_t offset, uint64_t size)
{
    struct salvage_dump *dump = context;
    announce(dump);
    if (dump->losses == NULL) {
        output_print(dump->out, "not readable: %" PRIu64 " bytes at %" PRIu64 "\n", size, offset);
        return BB_OK;
    }
    json_t *row = json_object();
    json_set_count(row, "offset", offset);
    json_set_count(row, "bytes", size);
    json_array_append_new(dump->losses, row);
    return BB_OK;
}

static enum bb_status on_ranges(void *context, const struct bb_range_tombstones *list)
{
    struct salvage_dump *dump = context;
    struct range_rows rows = {
        .out = dump->out, .limit = dump->limit, .is_hex = dump->is_hex, .list = dump->ranges};
    announce(dump);
    if (dump->with_entries)
        range_rows_write(&rows, list);
    return BB_OK;
}

static const char *range_state(enum bb_range_tombstone_salvage found)
{
    static const char *const states[] = {
        [BB_RANGE_SALVAGE_UNTOLD] = "unknown",
        [BB_RANGE_SALVAGE_NONE] = "none",
        [BB_RANGE_SALVAGE_LOST] = "lost",
        [BB_RANGE_SALVAGE_FOUND] = "found",
    };
    return states[found];
}

static void print_ranges(struct salvage_dump *dump, const struct bb_salvage_report *report)
{
    if (report->ranges == BB_RANGE_SALVAGE_FOUND)
        output_print(dump->out, "range tombstones: %" PRIu64 "\n", report->range_tombstones);
    else
        output_print(dump->out, "range tombstones: %s\n", range_state(report->ranges));
}

static void print_report(struct salvage_dump *dump, const struct bb_salvage_report *report)
{
    output_print(dump->out,
                 "SALVAGED: %s in %s, %s; at least %s lost, %s between others not readable, %s "
                 "after the last block\n",
                 number_of(report->entries, "entry", "entries").text,
                 number_of(report->blocks, "block", "blocks").text,
                 number_of(report->pages, "index page", "index pages").text,
                 number_of(report->blocks_lost, "block", "blocks").text,
                 number_of(report->bytes_lost, "byte", "bytes").text,
                 number_of(report->tail_bytes, "byte", "bytes").text);
    print_ranges(dump, report);
}

static void print_json(struct salvage_dump *dump, const struct bb_salvage_report *report)
{
    json_t *document = json_object();
    json_set_bool(document, "salvaged", true);
    json_set_text(document, "reason", dump->reason.message);
    json_set_count(document, "file_bytes", report->file_size);
    json_set_count(document, "page_count", report->pages);
    json_set_count(document, "block_count", report->blocks);
    json_set_count(document, "entry_count", report->entries);
    json_set_count(document, "blocks_lost", report->blocks_lost);
    json_set_count(document, "bytes_lost", report->bytes_lost);
    json_set_count(document, "tail_bytes", report->tail_bytes);
    json_set_text(document, "range_tombstones_are", range_state(report->ranges));
    json_set_count(document, "range_tombstone_count", report->range_tombstones);
    json_object_set(document, "losses", dump->losses);
    if (dump->with_blocks)
        json_object_set(document, "blocks", dump->blocks);
    if (dump->with_entries)
        json_object_set(document, "entries", dump->entries);
    if (dump->with_entries)
        json_object_set(document, "range_tombstones", dump->ranges);
    output_json(dump->out, document);
}

static void begin(struct salvage_dump *dump)
{
    dump->reason = *bb_error_last();
    if (!dump->out->is_json)
        return;
    dump->blocks = json_array();
    dump->entries = json_array();
    dump->losses = json_array();
    dump->ranges = json_array();
}

static void end(struct salvage_dump *dump)
{
    json_decref(dump->blocks);
    json_decref(dump->entries);
    json_decref(dump->losses);
    json_decref(dump->ranges);
}

enum bb_status salvage_dump_write(struct salvage_dump *dump, const char *path)
{
    struct bb_salvage_report report = {0};
    struct bb_file_system *fs = NULL;
    struct bb_salvage_visitor visitor = {.entry = on_entry,
                                         .block = on_block,
                                         .lost = on_lost,
                                         .ranges = on_ranges,
                                         .context = dump};
    begin(dump);
    enum bb_status status = bb_file_system_posix_create(&fs);
    if (status == BB_OK)
        status = bb_table_salvage(fs, path, NULL, NULL, &visitor, &report);
    if (status == BB_OK && dump->out->is_json)
        print_json(dump, &report);
    else if (status == BB_OK)
        print_report(dump, &report);
    end(dump);
    bb_file_system_posix_destroy(fs);
    /* The first error is more useful than the missing id. */
    return status == BB_OK || status == BB_CORRUPT ? bb_error_restore(&dump->reason) : status;
}
