/* See table_dump.h: index pages, blocks and entries. */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tools/output/escape.h"
#include "tools/dump/table_dump.h"
#include "tools/store/table_range.h"
#include "tools/output/text_table.h"

#define KEY_SHOWN_BYTES 32

/* A walk over the table that makes rows. */
struct row_walk {
    struct table_dump *dump;
    struct bb_table_walk parts;
    struct bb_buf first; /* range of keys of the current page or block */
    struct bb_buf end;
    uint64_t rows;
    struct text_table *table; /* text, or: */
    json_t *list;
};

typedef enum bb_status visit_function(struct row_walk *walk);

static bool is_walk_over(const struct row_walk *walk)
{
    return walk->rows >= walk->dump->limit || output_is_over(walk->dump->out);
}

/* Damage is noted, and the walk continues after it; any other failure is returned. */
static enum bb_status judge_page(struct row_walk *walk, enum bb_status status)
{
    const struct bb_table *table = walk->dump->table;
    uint32_t index = walk->parts.page_index;
    if (status != BB_CORRUPT)
        return status;
    struct bb_error damage = *bb_error_last();
    status = table_page_range(table, index, &walk->first, &walk->end);
    if (status != BB_OK)
        return status;
    return table_dump_note_damage(walk->dump, table->root.pages[index].page_offset, damage.message,
                                  bb_buf_bytes(&walk->first), bb_buf_bytes(&walk->end));
}

static enum bb_status judge_block(struct row_walk *walk, enum bb_status status)
{
    if (status != BB_CORRUPT)
        return status;
    struct bb_error damage = *bb_error_last();
    status = table_block_range(&walk->parts, &walk->first, &walk->end);
    if (status != BB_OK)
        return status;
    return table_dump_note_damage(walk->dump, walk->parts.offset, damage.message,
                                  bb_buf_bytes(&walk->first), bb_buf_bytes(&walk->end));
}

static enum bb_status visit_blocks(struct row_walk *walk, visit_function *visit)
{
    enum bb_status status = BB_OK;
    bool has_block = true;
    while (status == BB_OK && has_block && !is_walk_over(walk)) {
        status = bb_table_walk_next(&walk->parts, &has_block);
        if (status != BB_OK)
            status = judge_page(walk, status);
        else if (has_block)
            status = visit(walk);
    }
    return status;
}

static enum bb_status run_walk(struct row_walk *walk, visit_function *visit)
{
    bb_table_walk_init(&walk->parts, walk->dump->table);
    enum bb_status status = visit_blocks(walk, visit);
    bb_table_walk_deinit(&walk->parts);
    bb_buf_deinit(&walk->first);
    bb_buf_deinit(&walk->end);
    return status;
}

/* The start of the current block: its fence, or the table's smallest key. */
static struct bb_bytes first_key_bound(const struct row_walk *walk)
{
    return walk->parts.has_fence ? bb_buf_bytes(&walk->parts.fence_key)
                                 : bb_buf_bytes(&walk->dump->table->meta.smallest);
}

/* ---- pages ---- */

static uint64_t filter_bytes_of(const struct bb_index_page *page)
{
    return page->has_filters ? page->shard_offsets[page->shard_count] : 0;
}

static const char *filters_text(const struct bb_index_page *page)
{
    if (page->has_damaged_filters)
        return "damaged";
    return page->has_filters ? "good" : "none";
}

static uint64_t head_count_of(const struct bb_index_page *page)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < page->block_count; i++)
        count += bb_index_page_has_head(page, i);
    return count;
}

static void add_page_json(struct row_walk *walk)
{
    const struct bb_root_page *where = &walk->dump->table->root.pages[walk->parts.page_index];
    json_t *row = json_object();
    json_set_count(row, "page", walk->parts.page_index);
    json_set_count(row, "offset", where->page_offset);
    json_set_count(row, "bytes", where->page_size);
    json_set_count(row, "first_block", walk->parts.block_number);
    json_set_count(row, "blocks", walk->parts.page->block_count);
    json_set_count(row, "heads", head_count_of(walk->parts.page));
    json_set_text(row, "filters", filters_text(walk->parts.page));
    json_set_count(row, "filter_groups",
                   walk->parts.page->has_filters ? walk->parts.page->group_count : 0);
    json_set_count(row, "filter_count",
                   walk->parts.page->has_filters ? walk->parts.page->shard_count : 0);
    json_set_count(row, "filter_bytes", filter_bytes_of(walk->parts.page));
    json_set_shown(row, "first_key_bound", first_key_bound(walk), walk->dump->is_hex);
    json_array_append_new(walk->list, row);
}

/* The beginning of a key: a long one would spread the table. */
static void add_key(struct row_walk *walk, struct bb_bytes key)
{
    struct bb_buf text = {0};
    struct bb_bytes rest = key;
    size_t size = 0;
    /* Cuts valid UTF-8 only between characters. */
    while (size < KEY_SHOWN_BYTES && rest.size > 0) {
        size_t step = utf8_sequence_size(rest);
        step = step == 0 ? 1 : step;
        size += step;
        rest = bb_bytes_of(rest.data + step, rest.size - step);
    }
    struct bb_bytes shown = bb_bytes_of(key.data, size);
    enum bb_status status =
        walk->dump->is_hex ? hex_append(&text, shown) : escape_append(&text, shown, ESCAPE_ALL);
    if (status == BB_OK)
        text_table_add(walk->table, "%.*s%s", (int)text.size,
                       text.size == 0 ? "" : (const char *)text.data, rest.size > 0 ? "..." : "");
    else
        walk->table->has_failed = true;
    bb_buf_deinit(&text);
}

static void add_page_text(struct row_walk *walk)
{
    const struct bb_table_walk *parts = &walk->parts;
    const struct bb_root_page *where = &walk->dump->table->root.pages[parts->page_index];
    struct text_table *table = walk->table;
    text_table_add(table, "  %" PRIu32, parts->page_index);
    text_table_add(table, "%" PRIu64, where->page_offset);
    text_table_add(table, "%" PRIu32, where->page_size);
    text_table_add(table, "%" PRIu64, parts->block_number);
    text_table_add(table, "%" PRIu32, parts->page->block_count);
    text_table_add(table, "%" PRIu64, head_count_of(parts->page));
    text_table_add(table, "%" PRIu32, parts->page->has_filters ? parts->page->shard_count : 0);
    text_table_add(table, "%" PRIu64, filter_bytes_of(parts->page));
    text_table_add(table, "%s", filters_text(parts->page));
    add_key(walk, first_key_bound(walk));
}

static enum bb_status add_page(struct row_walk *walk)
{
    if (walk->parts.ordinal != 0)
        return BB_OK;
    walk->rows++;
    if (walk->list != NULL)
        add_page_json(walk);
    else
        add_page_text(walk);
    return walk->parts.page->has_damaged_filters
               ? table_dump_note_filters(walk->dump, walk->parts.page_index)
               : BB_OK;
}

static void write_rest(const struct row_walk *walk, uint64_t total, const char *what)
{
    if (walk->rows < total && walk->rows >= walk->dump->limit)
        output_print(walk->dump->out, "  (%" PRIu64 " of %" PRIu64 " %s; --limit shows more)\n",
                     walk->rows, total, what);
}

/* Runs a walk that makes a row per visit, in the requested form. */
static enum bb_status write_rows(struct row_walk *walk, visit_function *visit, const char *name,
                                 const char *const *headers, size_t header_count, uint64_t total)
{
    struct table_dump *dump = walk->dump;
    struct text_table table;
    text_table_init(&table, headers, header_count);
    table.left_columns |= UINT32_C(1) << (header_count - 1); /* keys */
    walk->table = &table;
    walk->list = dump->document == NULL ? NULL : json_array();
    enum bb_status status = run_walk(walk, visit);
    if (walk->list != NULL) {
        json_object_set_new(dump->document, name, walk->list);
    } else {
        output_print(dump->out, "\n");
        text_table_write(&table, dump->out);
        write_rest(walk, total, name);
    }
    text_table_deinit(&table);
    return status;
}

enum bb_status table_dump_write_pages(struct table_dump *dump)
{
    static const char *const headers[] = {"index page",  "offset",   "bytes",   "first block",
                                          "blocks",      "heads",    "filters", "filter bytes",
                                          "filters are", "keys from"};
    struct row_walk walk = {.dump = dump};
    return write_rows(&walk, add_page, "pages", headers, sizeof(headers) / sizeof(headers[0]),
                      dump->table->root.page_count);
}

/* ---- blocks ---- */

struct block_counts {
    uint64_t entries;
    uint64_t keys;
};

static enum bb_status count_entries(struct bb_block_iter *entries, struct block_counts *ret_counts)
{
    struct bb_buf last = {0};
    enum bb_status status = BB_OK;
    for (; entries->is_valid && status == BB_OK; bb_block_iter_next(entries)) {
        bool is_new =
            ret_counts->entries == 0 || !bb_bytes_equal(entries->entry.key, bb_buf_bytes(&last));
        ret_counts->keys += is_new;
        ret_counts->entries++;
        if (is_new)
            status = bb_buf_assign(&last, entries->entry.key);
    }
    bb_buf_deinit(&last);
    return status == BB_OK ? entries->status : status;
}

static const char *compression_name(enum bb_compression compression)
{
    return compression == BB_COMPRESSION_LZ4 ? "lz4" : "none";
}

static void add_block_json(struct row_walk *walk, const struct block_counts *counts)
{
    const struct bb_table_walk *parts = &walk->parts;
    json_t *row = json_object();
    json_set_count(row, "block", parts->block_number);
    json_set_count(row, "page", parts->page_index);
    json_set_count(row, "ordinal", parts->ordinal);
    json_set_count(row, "offset", parts->offset);
    json_set_count(row, "bytes", parts->stored_size);
    json_set_count(row, "raw_bytes", parts->raw_size);
    json_set_text(row, "compression", compression_name(parts->compression));
    json_set_bool(row, "has_head", bb_index_page_has_head(parts->page, parts->ordinal));
    json_set_count(row, "restarts", parts->block->restart_count);
    json_set_count(row, "entries", counts->entries);
    json_set_count(row, "keys", counts->keys);
    json_set_shown(row, "first_key_bound", first_key_bound(walk), walk->dump->is_hex);
    json_array_append_new(walk->list, row);
}

static void add_block_text(struct row_walk *walk, const struct block_counts *counts)
{
    const struct bb_table_walk *parts = &walk->parts;
    struct text_table *table = walk->table;
    text_table_add(table, "  %" PRIu64, parts->block_number);
    text_table_add(table, "%" PRIu32 "/%" PRIu32, parts->page_index, parts->ordinal);
    text_table_add(table, "%" PRIu64, parts->offset);
    text_table_add(table, "%" PRIu32, parts->stored_size);
    text_table_add(table, "%" PRIu32, parts->raw_size);
    text_table_add(table, "%s", compression_name(parts->compression));
    text_table_add(table, "%" PRIu32, parts->block->restart_count);
    text_table_add(table, "%" PRIu64, counts->entries);
    text_table_add(table, "%" PRIu64, counts->keys);
    add_key(walk, first_key_bound(walk));
}

static enum bb_status add_block(struct row_walk *walk)
{
    struct block_counts counts = {0};
    enum bb_status status = bb_table_walk_load(&walk->parts);
    if (status == BB_OK)
        status = count_entries(&walk->parts.entries, &counts);
    if (status != BB_OK)
        return judge_block(walk, status);
    walk->rows++;
    if (walk->list != NULL)
        add_block_json(walk, &counts);
    else
        add_block_text(walk, &counts);
    return BB_OK;
}

enum bb_status table_dump_write_blocks(struct table_dump *dump)
{
    static const char *const headers[] = {"block",     "page/ordinal", "offset",   "bytes",
                                          "raw bytes", "compression",  "restarts", "entries",
                                          "keys",      "keys from"};
    struct row_walk walk = {.dump = dump};
    return write_rows(&walk, add_block, "blocks", headers, sizeof(headers) / sizeof(headers[0]),
                      dump->table->root.block_count);
}

/* ---- entries ---- */

static const char *kind_name(enum bb_entry_kind kind)
{
    return kind == BB_ENTRY_PUT ? "put" : "delete";
}

static void add_entry_json(struct row_walk *walk, const struct bb_entry *entry)
{
    json_t *row = json_object();
    json_set_count(row, "block", walk->parts.block_number);
    json_set_shown(row, "key", entry->key, walk->dump->is_hex);
    json_set_count(row, "sequence", entry->sequence);
    json_set_text(row, "kind", kind_name(entry->kind));
    json_set_count(row, "value_bytes", entry->value.size);
    if (walk->dump->with_values)
        json_set_shown(row, "value", entry->value, walk->dump->is_hex);
    json_array_append_new(walk->list, row);
}

static void write_entry(struct row_walk *walk, const struct bb_entry *entry)
{
    struct output *out = walk->dump->out;
    output_print(out, "  %" PRIu64 "\t", walk->parts.block_number);
    output_bytes(out, entry->key, walk->dump->is_hex);
    output_print(out, "\t%" PRIu64 "\t%s\t%zu", entry->sequence, kind_name(entry->kind),
                 entry->value.size);
    if (walk->dump->with_values) {
        output_print(out, "\t");
        output_bytes(out, entry->value, walk->dump->is_hex);
    }
    output_print(out, "\n");
}

static enum bb_status add_entries(struct row_walk *walk)
{
    struct bb_block_iter *entries = &walk->parts.entries;
    enum bb_status status = bb_table_walk_load(&walk->parts);
    if (status != BB_OK)
        return judge_block(walk, status);
    for (; entries->is_valid && !is_walk_over(walk); bb_block_iter_next(entries)) {
        walk->rows++;
        if (walk->list != NULL)
            add_entry_json(walk, &entries->entry);
        else
            write_entry(walk, &entries->entry);
    }
    /* An entry that can not be read costs the rest of its block. */
    return entries->is_valid ? BB_OK : judge_block(walk, entries->status);
}

enum bb_status table_dump_write_entries(struct table_dump *dump)
{
    struct row_walk walk = {.dump = dump};
    if (dump->document != NULL)
        walk.list = json_array();
    else
        output_print(dump->out, "\nentries: block, key, sequence, kind, bytes of the value%s\n",
                     dump->with_values ? ", value" : "");
    enum bb_status status = run_walk(&walk, add_entries);
    if (walk.list != NULL)
        json_object_set_new(dump->document, "entries", walk.list);
    else
        write_rest(&walk, dump->table->meta.entry_count, "entries");
    return status;
}
