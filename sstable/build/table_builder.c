/* Takes entries in order and writes a table: cuts them into blocks, blocks into filter groups,
 * groups into index pages, pages into page groups.
 *
 *     entry -> [first of a block: its fence; is the page cut?] -> filter -> block
 *           -> [block full: written -> group full: its filters built]
 *
 * The end of a page is decided when the next block begins. Only then is the fence before that block
 * known. It belongs to the page or, if the page ends, to the root. One thread.
 */
#include "sstable/build/table_builder.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/comparator.h"
#include "base/path.h"
#include "base/status.h"
#include "bloomblock/table/block_filter.h"
#include "sstable/block/stored_block.h"
#include "sstable/block/stored_entry.h"
#include "sstable/build/table_options.h"
#include "sstable/filter/filter_split.h"
#include "sstable/filter/table_filter.h"
#include "sstable/meta/table_meta.h"

static enum bb_status stick(struct bb_table_builder *builder, enum bb_status status)
{
    if (status != BB_OK && builder->failure.status == BB_OK)
        builder->failure = *bb_error_last();
    return status;
}

/* ---- creating ---- */

static enum bb_status create_filters(struct bb_table_builder *builder, double rate)
{
    struct bb_properties *p = &builder->properties;
    struct bb_block_filter_format format = {0};
    p->filter_kind = rate == 1 ? BB_FILTER_NONE : builder->options.filter_kind;
    if (p->filter_kind == BB_FILTER_NONE)
        return BB_OK;
    enum bb_status status =
        bb_block_filter_format_init(&format, builder->options.filter_kind, rate, p->filter_salt);
    if (status != BB_OK)
        return status;
    p->filter_bits_per_probe = format.bits_per_probe;
    return bb_block_filter_builder_create(&format, &builder->filters);
}

static enum bb_status create_table_filter(struct bb_table_builder *builder, double rate)
{
    struct bb_properties *p = &builder->properties;
    struct bb_block_filter_format format = {0};
    p->table_filter_rate = rate;
    builder->table_filter_part_keys = BB_TABLE_FILTER_PART_KEYS;
    if (rate == 1)
        return BB_OK;
    enum bb_status status = bb_sharded_filter_format_init(&format, rate, p->filter_salt);
    if (status != BB_OK)
        return status;
    p->table_filter_fingerprint_bits = format.bits_per_probe;
    return bb_table_filter_builder_create(&format, builder->options.comparator,
                                          &builder->table_filter);
}

static enum bb_status create_all_filters(struct bb_table_builder *builder)
{
    struct bb_properties *p = &builder->properties;
    const struct bb_table_options *options = &builder->options;
    struct bb_filter_split split =
        bb_filter_split(options->filter_rate, options->table_filter_bits);
    p->filter_rate = options->filter_rate;
    p->filter_granularity = options->filter_granularity;
    /* Any part of a random id is a salt that no other table has. */
    if (p->filter_rate != 1)
        p->filter_salt = builder->id.low;
    enum bb_status status = create_filters(builder, split.block_rate);
    return status == BB_OK ? create_table_filter(builder, split.table_filter_rate) : status;
}

void bb_table_builder_set_excess(struct bb_table_builder *builder, struct bb_filter_excess excess)
{
    BB_DEBUG_ASSERT(builder->block.entry_count == 0 && !builder->is_finished);
    if (builder->filters != NULL) {
        builder->properties.filter_excess = excess.block_filters;
        bb_block_filter_builder_set_excess(builder->filters, excess.block_filters);
    }
    if (builder->table_filter != NULL) {
        builder->properties.table_filter_excess = excess.table_filter;
        bb_table_filter_builder_set_excess(builder->table_filter, excess.table_filter);
    }
}

struct bb_filter_excess bb_table_builder_excess(const struct bb_table_builder *builder)
{
    struct bb_filter_excess excess = {0};
    BB_DEBUG_ASSERT(builder->is_finished);
    if (builder->filters != NULL)
        excess.block_filters = bb_block_filter_builder_excess(builder->filters);
    if (builder->table_filter != NULL)
        excess.table_filter = bb_table_filter_builder_excess(builder->table_filter);
    return excess;
}

static enum bb_status fill_properties(struct bb_table_builder *builder)
{
    struct bb_properties *p = &builder->properties;
    const struct bb_table_options *options = &builder->options;
    p->format_version = BB_FORMAT_VERSION;
    p->block_size_bytes = options->block_size_bytes;
    p->restart_interval = options->restart_interval;
    p->compression = options->compression;
    p->index_page_size_bytes = options->index_page_size_bytes;
    p->hash_id = BB_HASH_ID_XXH3;
    p->sequence_min = BB_SEQUENCE_MAX;
    enum bb_status status =
        bb_buf_assign(&p->comparator, bb_bytes_of_text(bb_comparator_name(options->comparator)));
    if (status == BB_OK)
        status = bb_buf_assign(&p->builder, bb_bytes_of_text(BB_BUILDER_ID));
    if (status == BB_OK)
        status =
            bb_buf_assign(&p->hash_secret, bb_bytes_of(builder->secret.bytes, BB_HASH_SECRET_SIZE));
    return status;
}

/* Draws the table id and, unless it was given, the secret. The file system provides the randomness,
 * so that a test can fix both. */
static enum bb_status draw_random(struct bb_table_builder *builder, struct bb_file_system *fs)
{
    uint8_t id[BB_TABLE_ID_SIZE];
    enum bb_status status = fs->ops->random(fs, id, sizeof(id));
    if (status == BB_OK && builder->options.secret == NULL)
        status = fs->ops->random(fs, builder->secret.bytes, sizeof(builder->secret.bytes));
    else if (status == BB_OK)
        builder->secret = *builder->options.secret;
    builder->options.secret = NULL; /* it was borrowed for this call */
    if (status != BB_OK)
        return status;
    builder->id = bb_checksum_decode_table_id(id);
    return bb_buf_assign(&builder->properties.table_id, bb_bytes_of(id, sizeof(id)));
}

static enum bb_status set_up(struct bb_table_builder *builder, const char *path)
{
    struct bb_file_system *fs = NULL;
    enum bb_status status =
        bb_file_system_posix_default(builder->options.file_system, &builder->own_fs, &fs);
    if (status == BB_OK)
        status = draw_random(builder, fs);
    if (status == BB_OK)
        status = fill_properties(builder);
    if (status == BB_OK)
        status = create_all_filters(builder);
    if (status == BB_OK)
        status = bb_table_writer_open(&builder->writer, fs, path);
    return status;
}

enum bb_status bb_table_builder_create(const char *path, const struct bb_table_options *options,
                                       struct bb_table_builder **ret_builder)
{
    struct bb_table_options resolved = {0};
    enum bb_status status = bb_table_options_resolve(options, &resolved);
    if (status == BB_OK)
        status = bb_path_check_file(path, "the table's file");
    if (status != BB_OK)
        return status;
    struct bb_table_builder *builder = bb_alloc_zeroed(1, sizeof(*builder));
    if (builder == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a table builder");
    builder->options = resolved;
    builder->page_group_bytes = BB_PAGE_GROUP_SIZE;
    bb_block_builder_init(&builder->block, resolved.restart_interval);
    bb_index_page_builder_init(&builder->page, resolved.comparator);
    bb_root_builder_init(&builder->root, resolved.comparator);
    status = set_up(builder, path);
    if (status == BB_OK)
        *ret_builder = builder;
    else
        bb_table_builder_destroy(builder);
    return status;
}

void bb_table_builder_destroy(struct bb_table_builder *builder)
{
    if (builder == NULL)
        return;
    bb_table_writer_abandon(&builder->writer);
    bb_block_builder_deinit(&builder->block);
    bb_index_page_builder_deinit(&builder->page);
    bb_buf_deinit(&builder->pages);
    bb_root_builder_deinit(&builder->root);
    bb_block_filter_builder_destroy(builder->filters);
    bb_table_filter_builder_destroy(builder->table_filter);
    bb_table_ranges_deinit(&builder->ranges);
    bb_properties_deinit(&builder->properties);
    bb_buf_deinit(&builder->stored);
    bb_file_system_posix_destroy(builder->own_fs);
    bb_free(builder);
}

/* ---- cutting ---- */

/* Releases the memory that a large value needed during compression. */
static void release_large(struct bb_buf *buf)
{
    if (buf->capacity > BB_BLOCK_BUFFER_KEPT_MAX)
        bb_buf_deinit(buf);
}

/* Gives the latest block, which has only the latest entry, a head if the value is large. An entry
 * with a value is not a deletion. */
static enum bb_status add_head(struct bb_table_builder *builder)
{
    struct bb_block_head head = {.key = bb_buf_bytes(&builder->block.last_key),
                                 .sequence = builder->last_sequence,
                                 .kind = BB_ENTRY_PUT,
                                 .value_size = builder->last_value_size};
    if (!bb_block_head_is_useful(&head))
        return BB_OK;
    builder->properties.head_count++;
    return bb_index_page_builder_add_head(&builder->page, &head);
}

/* Notes that a block of this size was written. is_alone: it has only the latest entry. */
static enum bb_status note_block(struct bb_table_builder *builder, size_t size, bool is_alone)
{
    BB_DEBUG_ASSERT(builder->page.block_count < BB_PAGE_BLOCK_COUNT_MAX);
    enum bb_status status = bb_index_page_builder_add_block(&builder->page, (uint32_t)size);
    if (status == BB_OK && is_alone)
        status = add_head(builder);
    if (status != BB_OK)
        return status;
    builder->properties.block_count++;
    builder->properties.data_size += size;
    if (builder->filters != NULL && ++builder->group_blocks == builder->options.filter_granularity)
        status = bb_table_builder_finish_group(builder);
    return status;
}

static enum bb_status write_block(struct bb_table_builder *builder)
{
    BB_DEBUG_ASSERT(builder->block.entry_count > 0);
    struct bb_bytes stored = {0};
    enum bb_status status = bb_block_builder_finish(&builder->block, &stored);
    if (status == BB_OK)
        status =
            bb_stored_block_encode(&builder->block.payload, builder->options.compression,
                                   builder->id, builder->writer.offset, &builder->stored, &stored);
    if (status == BB_OK)
        status = bb_table_writer_append(&builder->writer, stored);
    if (status == BB_OK)
        status = note_block(builder, stored.size, builder->block.entry_count == 1);
    if (status != BB_OK)
        return status;
    bb_block_builder_reset(&builder->block);
    release_large(&builder->stored);
    return BB_OK;
}

/* Writes a block of another table: the same bytes with the checksum for their new place. */
static enum bb_status write_stored_block(struct bb_table_builder *builder, struct bb_bytes stored)
{
    uint8_t checksum[BB_CHECKSUM_SIZE];
    struct bb_bytes body = bb_bytes_of(stored.data, stored.size - BB_CHECKSUM_SIZE);
    bb_store64(checksum, bb_checksum(builder->id, BB_STORED_BLOCK, builder->writer.offset,
                                     body.data, body.size));
    enum bb_status status = bb_table_writer_append(&builder->writer, body);
    if (status == BB_OK)
        status = bb_table_writer_append(&builder->writer, bb_bytes_of(checksum, sizeof(checksum)));
    return status == BB_OK ? note_block(builder, stored.size, true) : status;
}

/* Starts a block with its first entry. */
static enum bb_status start_block(struct bb_table_builder *builder, const struct bb_entry *entry)
{
    BB_DEBUG_ASSERT(builder->block.entry_count == 0);
    if (builder->properties.entry_count == 0)
        return BB_OK;
    struct bb_fence fence =
        bb_fence_between(builder->options.comparator, bb_buf_bytes(&builder->block.last_key),
                         builder->last_sequence, entry->key);
    if (!bb_table_builder_is_page_cut(builder, &fence))
        return bb_index_page_builder_add_fence(&builder->page, &fence);
    enum bb_status status = bb_table_builder_finish_page(builder);
    if (status == BB_OK)
        status = bb_root_builder_add_fence(&builder->root, &fence);
    return status;
}

/* ---- adding ---- */

static enum bb_status check_order(const struct bb_table_builder *builder,
                                  const struct bb_entry *entry, bool *ret_is_new_key)
{
    if (builder->properties.entry_count == 0) {
        *ret_is_new_key = true;
        return BB_OK;
    }
    int order = bb_key_compare(builder->options.comparator, bb_buf_bytes(&builder->block.last_key),
                               entry->key);
    if (order > 0 || (order == 0 && entry->sequence >= builder->last_sequence)) {
        char text[64];
        return bb_fail(BB_INVALID, "%s: entry %s with sequence %llu is not after the last one",
                       builder->writer.path, bb_bytes_escape(entry->key, text, sizeof(text)),
                       (unsigned long long)entry->sequence);
    }
    *ret_is_new_key = order < 0;
    return BB_OK;
}

/* Adds a key once to each group that has a version of it. So a key whose versions continue in a new
 * group is added again. */
static enum bb_status add_to_filter(struct bb_table_builder *builder, bool is_new_key)
{
    if (builder->filters == NULL)
        return BB_OK;
    if (!is_new_key && bb_block_filter_builder_key_count(builder->filters) > 0)
        return BB_OK;
    return bb_block_filter_builder_add(builder->filters, builder->last_hash);
}

/* Adds a key once to the table filter. When the part has too many keys, a new part starts with this
 * key. */
static enum bb_status add_to_table_filter(struct bb_table_builder *builder, struct bb_bytes key)
{
    enum bb_status status = BB_OK;
    if (bb_table_filter_builder_key_count(builder->table_filter) ==
        builder->table_filter_part_keys) {
        struct bb_fence fence =
            bb_fence_between(builder->options.comparator, bb_buf_bytes(&builder->block.last_key),
                             builder->last_sequence, key);
        status = bb_table_filter_builder_cut(builder->table_filter, &fence);
    }
    return status == BB_OK ? bb_table_filter_builder_add(builder->table_filter, builder->last_hash)
                           : status;
}

static enum bb_status add_to_filters(struct bb_table_builder *builder, struct bb_bytes key,
                                     bool is_new_key)
{
    enum bb_status status = BB_OK;
    if (builder->filters == NULL && builder->table_filter == NULL)
        return BB_OK;
    if (is_new_key)
        builder->last_hash = bb_hash_key(&builder->secret, key);
    if (is_new_key && builder->table_filter != NULL)
        status = add_to_table_filter(builder, key);
    return status == BB_OK ? add_to_filter(builder, is_new_key) : status;
}

/* An entry as large as a block gets a separate one, so that its neighbours stay cheap to read. */
static bool stands_alone(const struct bb_table_builder *builder, const struct bb_entry *entry)
{
    return entry->key.size + entry->value.size >= builder->options.block_size_bytes;
}

/* Does all that precedes the bytes of the entry. */
static enum bb_status begin_entry(struct bb_table_builder *builder, const struct bb_entry *entry,
                                  bool *ret_is_new_key)
{
    bool is_new_key = false;
    enum bb_status status = bb_entry_check(entry);
    if (status == BB_OK)
        status = check_order(builder, entry, &is_new_key);
    if (status == BB_OK && builder->block.entry_count > 0 && stands_alone(builder, entry))
        status = write_block(builder);
    if (status == BB_OK && builder->block.entry_count == 0)
        status = start_block(builder, entry);
    if (status == BB_OK)
        status = add_to_filters(builder, entry->key, is_new_key);
    if (status == BB_OK && builder->properties.entry_count == 0)
        status = bb_buf_assign(&builder->properties.smallest, entry->key);
    if (status == BB_OK && builder->observer.add != NULL)
        status = builder->observer.add(builder->observer.context, entry,
                                       builder->properties.block_count);
    *ret_is_new_key = is_new_key;
    return status;
}

/* Notes an entry, which becomes the latest one. */
static void note_entry(struct bb_table_builder *builder, const struct bb_entry *entry,
                       bool is_new_key)
{
    bb_properties_count_entry(&builder->properties, entry, is_new_key);
    builder->last_sequence = entry->sequence;
    builder->last_value_size = (uint32_t)entry->value.size;
}

static enum bb_status add_entry(struct bb_table_builder *builder, const struct bb_entry *entry)
{
    bool is_new_key = false;
    enum bb_status status = begin_entry(builder, entry, &is_new_key);
    if (status == BB_OK)
        status = bb_block_builder_add(&builder->block, entry);
    if (status != BB_OK)
        return status;
    note_entry(builder, entry, is_new_key);
    if (bb_block_builder_size(&builder->block) < builder->options.block_size_bytes)
        return BB_OK;
    return write_block(builder);
}

static enum bb_status add_stored(struct bb_table_builder *builder, const struct bb_entry *entry,
                                 struct bb_bytes stored)
{
    bool is_new_key = false;
    enum bb_status status = begin_entry(builder, entry, &is_new_key);
    if (status == BB_OK)
        status = bb_block_builder_skip(&builder->block, entry->key);
    if (status != BB_OK)
        return status;
    note_entry(builder, entry, is_new_key);
    return write_stored_block(builder, stored);
}

static enum bb_status check_open(const struct bb_table_builder *builder, const char *what)
{
    if (builder->failure.status != BB_OK)
        return bb_error_restore(&builder->failure);
    if (builder->is_finished)
        return bb_fail(BB_INVALID, "%s for a table that is finished already", what);
    return BB_OK;
}

enum bb_status bb_table_builder_add(struct bb_table_builder *builder, const struct bb_entry *entry)
{
    enum bb_status status = check_open(builder, "an entry");
    return status == BB_OK ? stick(builder, add_entry(builder, entry)) : status;
}

enum bb_status bb_table_builder_add_stored(struct bb_table_builder *builder,
                                           const struct bb_entry *entry,
                                           const struct bb_stored_entry *stored, bool *ret_is_taken)
{
    bool takes = stands_alone(builder, entry) && stored->attempted == builder->options.compression;
    enum bb_status status = check_open(builder, "an entry");
    if (status == BB_OK)
        status = stick(builder, takes ? add_stored(builder, entry, stored->block)
                                      : add_entry(builder, entry));
    if (status == BB_OK)
        *ret_is_taken = takes;
    return status;
}

uint64_t bb_table_builder_size_estimate(const struct bb_table_builder *builder)
{
    uint64_t open_block =
        builder->block.entry_count == 0 ? 0 : bb_block_builder_size(&builder->block);
    return builder->writer.offset + builder->pages.size + open_block;
}

static enum bb_status add_range(struct bb_table_builder *builder, struct bb_bytes low,
                                struct bb_bytes high, uint64_t sequence)
{
    enum bb_status status = bb_entry_check_range(low, high, sequence);
    if (status != BB_OK || bb_key_compare(builder->options.comparator, low, high) >= 0)
        return status;
    return bb_table_ranges_add(&builder->ranges, low, high, sequence);
}

enum bb_status bb_table_builder_add_range_tombstone(struct bb_table_builder *builder,
                                                    struct bb_bytes low, struct bb_bytes high,
                                                    uint64_t sequence)
{
    enum bb_status status = check_open(builder, "a range tombstone");
    return status == BB_OK ? stick(builder, add_range(builder, low, high, sequence)) : status;
}

/* ---- finishing ---- */

/* Removes the filters of a table with only range tombstones, which has no keys for them. */
static void forget_filters(struct bb_table_builder *builder)
{
    struct bb_properties *p = &builder->properties;
    p->filter_kind = BB_FILTER_NONE;
    p->filter_rate = 1;
    p->filter_bits_per_probe = 0;
    p->table_filter_rate = 1;
    p->table_filter_fingerprint_bits = 0;
    p->filter_excess = 0;
    p->table_filter_excess = 0;
    bb_table_filter_builder_destroy(builder->table_filter);
    builder->table_filter = NULL;
}

static enum bb_status finish_entries(struct bb_table_builder *builder)
{
    enum bb_status status =
        bb_buf_assign(&builder->properties.largest, bb_buf_bytes(&builder->block.last_key));
    if (status == BB_OK && builder->block.entry_count > 0)
        status = write_block(builder);
    if (status == BB_OK)
        status = bb_table_builder_finish_page(builder);
    return status == BB_OK ? bb_table_builder_write_pages(builder) : status;
}

static enum bb_status finish_table(struct bb_table_builder *builder)
{
    enum bb_status status = BB_OK;
    bool has_entries = builder->properties.entry_count > 0;
    if (!has_entries && builder->ranges.array.count == 0)
        return bb_fail(BB_INVALID, "%s: a table must have entries or range tombstones",
                       builder->writer.path);
    if (has_entries)
        status = finish_entries(builder);
    else
        forget_filters(builder);
    if (status == BB_OK)
        status = bb_table_ranges_finish(&builder->ranges, builder->options.comparator,
                                        &builder->properties);
    if (status == BB_OK)
        status = bb_table_builder_write_end(builder);
    return status;
}

enum bb_status bb_table_builder_finish_file(struct bb_table_builder *builder,
                                            struct bb_table_meta *ret_meta,
                                            struct bb_file **ret_file)
{
    if (builder->failure.status != BB_OK)
        return bb_error_restore(&builder->failure);
    if (builder->is_finished)
        return bb_fail(BB_INVALID, "a table that is finished already");
    /* Allocates the meta first: no step may fail after the last one. */
    struct bb_table_meta meta = {0};
    enum bb_status status = finish_table(builder);
    if (status == BB_OK)
        status = bb_table_meta_init(&builder->properties, builder->writer.offset, &meta);
    if (status == BB_OK)
        status = bb_table_writer_finish(&builder->writer, ret_file);
    builder->is_finished = status == BB_OK;
    if (status == BB_OK && ret_meta != NULL)
        *ret_meta = meta;
    else
        bb_table_meta_deinit(&meta);
    return stick(builder, status);
}

enum bb_status bb_table_builder_finish(struct bb_table_builder *builder,
                                       struct bb_table_meta *ret_meta)
{
    return bb_table_builder_finish_file(builder, ret_meta, NULL);
}
