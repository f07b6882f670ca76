/* Opens and closes a table. See the header.
 *
 * The end of the file is read in one piece: it has the footer, directory, properties and, except in
 * large tables, the root. Each part is used only after another has verified it: the footer verifies
 * the directory, the directory the sections, and the sections together the file's layout.
 */
#include "sstable/table/table.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/comparator.h"
#include "base/path.h"
#include "sstable/build/table_options.h"
#include "sstable/meta/table_meta.h"
#include "sstable/ranges/range_tombstones.h"
#include "sstable/table/table_open.h"

#define TAIL_SIZE          (16u * 1024)
#define DIRECTORY_SIZE_MAX (BB_SECTION_COUNT_MAX * BB_SECTION_ENTRY_SIZE + BB_CHECKSUM_SIZE)

/* The last bytes of the file. */
struct tail {
    uint64_t offset;
    size_t size;
    uint8_t bytes[TAIL_SIZE];
};

static enum bb_status read_tail(struct bb_table *table, struct tail *tail)
{
    if (table->file_size < BB_FOOTER_SIZE)
        return bb_corrupt(bb_table_place(table, 0), 0,
                          "not a table: %" PRIu64 " bytes, a footer has %d", table->file_size,
                          BB_FOOTER_SIZE);
    tail->size = table->file_size < TAIL_SIZE ? (size_t)table->file_size : TAIL_SIZE;
    tail->offset = table->file_size - tail->size;
    return bb_file_read_exactly(table->file, tail->offset, tail->bytes, tail->size);
}

/* Reads any range of the file; from the tail if it is there. */
static enum bb_status read_range(struct bb_table *table, const struct tail *tail, uint64_t offset,
                                 size_t size, struct bb_buf *ret_bytes)
{
    uint8_t *bytes = NULL;
    enum bb_status status = bb_buf_extend(ret_bytes, size, &bytes);
    if (status != BB_OK)
        return status;
    if (offset < tail->offset)
        return bb_file_read_exactly(table->file, offset, bytes, size);
    memcpy(bytes, tail->bytes + (offset - tail->offset), size);
    return BB_OK;
}

static enum bb_status load_directory(struct bb_table *table, const struct tail *tail)
{
    struct bb_buf bytes = {0};
    uint64_t footer_offset = table->file_size - BB_FOOTER_SIZE;
    const uint8_t *footer = tail->bytes + tail->size - BB_FOOTER_SIZE;
    enum bb_status status =
        bb_footer_decode(footer, bb_table_place(table, footer_offset), &table->footer);
    if (status != BB_OK)
        return status;
    if (table->footer.directory_size > DIRECTORY_SIZE_MAX)
        return bb_corrupt(bb_table_place(table, footer_offset), 24,
                          "a directory of %u bytes: the limit is %d", table->footer.directory_size,
                          DIRECTORY_SIZE_MAX);
    table->id = bb_checksum_decode_table_id(table->footer.table_id);
    status = read_range(table, tail, table->footer.directory_offset, table->footer.directory_size,
                        &bytes);
    if (status == BB_OK)
        status = bb_table_directory_decode(bb_buf_bytes(&bytes), table->id,
                                           bb_table_place(table, table->footer.directory_offset),
                                           &table->directory);
    bb_buf_deinit(&bytes);
    return status;
}

/* Reads a section and verifies it. The caller owns the bytes. */
static enum bb_status load_section(struct bb_table *table, const struct tail *tail,
                                   enum bb_section_id id, struct bb_buf *ret_bytes,
                                   struct bb_place *ret_place)
{
    const struct bb_section *section = bb_table_directory_find(&table->directory, id);
    BB_ASSERT(section != NULL);
    *ret_place = bb_table_place(table, section->offset);
    if (section->size > UINT32_MAX)
        return bb_corrupt(*ret_place, 0, "section %s of %" PRIu64 " bytes: the limit is %u",
                          bb_table_directory_section_name(section->id), section->size, UINT32_MAX);
    enum bb_status status =
        read_range(table, tail, section->offset, (size_t)section->size, ret_bytes);
    if (status != BB_OK)
        return status;
    uint64_t checksum = bb_checksum(table->id, BB_STORED_SECTION, section->offset, ret_bytes->data,
                                    ret_bytes->size);
    if (checksum != section->checksum)
        return bb_corrupt(
            *ret_place, 0, "section %s has checksum %016" PRIx64 ", expected %016" PRIx64,
            bb_table_directory_section_name(section->id), checksum, section->checksum);
    return BB_OK;
}

static enum bb_status check_comparator(const struct bb_table *table)
{
    const struct bb_buf *name = &table->properties.comparator;
    const char *ours = bb_comparator_name(table->comparator);
    if (bb_bytes_equal(bb_buf_bytes(name), bb_bytes_of_text(ours)))
        return BB_OK;
    char text[128];
    return bb_fail(BB_INVALID, "%s: sorted by comparator \"%s\", opened with \"%s\"",
                   table->file->path, bb_bytes_escape(bb_buf_bytes(name), text, sizeof(text)),
                   ours);
}

static enum bb_status load_properties(struct bb_table *table, const struct tail *tail)
{
    struct bb_buf bytes = {0};
    struct bb_place place = {0};
    enum bb_status status = load_section(table, tail, BB_SECTION_PROPERTIES, &bytes, &place);
    if (status == BB_OK)
        status = bb_properties_decode(bb_buf_bytes(&bytes), place, &table->properties);
    bb_buf_deinit(&bytes);
    if (status != BB_OK)
        return status;
    if (memcmp(table->properties.table_id.data, table->footer.table_id, BB_TABLE_ID_SIZE) != 0)
        return bb_corrupt(place, 0, "properties and footer name different table ids");
    return check_comparator(table);
}

static enum bb_status load_root(struct bb_table *table, const struct tail *tail)
{
    struct bb_buf bytes = {0};
    struct bb_place place = {0};
    enum bb_status status = load_section(table, tail, BB_SECTION_ROOT, &bytes, &place);
    if (status == BB_OK)
        status = bb_root_init(&table->root, table->comparator, table->properties.page_group_bytes,
                              &bytes, place);
    bb_buf_deinit(&bytes);
    if (status != BB_OK)
        return status;

    const struct bb_root *root = &table->root;
    const struct bb_properties *p = &table->properties;
    uint64_t sections = table->directory.sections[0].offset;
    if (root->data_end != sections)
        return bb_corrupt(place, 0,
                          "the last index page ends at %" PRIu64 ", the sections start at %" PRIu64,
                          root->data_end, sections);
    if (root->page_count != p->page_count || root->block_count != p->block_count)
        return bb_corrupt(place, 0,
                          "root of %u pages and %" PRIu64 " blocks, properties of %" PRIu64
                          " and %" PRIu64,
                          root->page_count, root->block_count, p->page_count, p->block_count);
    if ((root->page_count == 0) != (p->entry_count == 0))
        return bb_corrupt(place, 0, "%" PRIu64 " entries in %u index pages", p->entry_count,
                          root->page_count);
    return BB_OK;
}

/* Checks that the table's bounds include them. */
static enum bb_status check_range_tombstones(const struct bb_table *table, struct bb_place place)
{
    const struct bb_properties *p = &table->properties;
    const struct bb_range_tombstones *list = table->range_tombstones;
    if (list->sequence_count != p->range_tombstone_count)
        return bb_corrupt(place, 0, "%zu range tombstones, the properties have %" PRIu64,
                          list->sequence_count, p->range_tombstone_count);
    struct bb_bytes low = list->fragments[0].low;
    struct bb_bytes high = list->fragments[list->count - 1].high;
    if (bb_key_compare(table->comparator, low, bb_buf_bytes(&p->smallest)) < 0 ||
        bb_key_compare(table->comparator, high, bb_buf_bytes(&p->largest)) > 0)
        return bb_corrupt(place, 0, "range tombstones outside of the table's bounds");
    return BB_OK;
}

static enum bb_status load_range_tombstones(struct bb_table *table, const struct tail *tail)
{
    struct bb_buf bytes = {0};
    struct bb_place place = bb_table_place(table, table->footer.directory_offset);
    bool is_there = bb_table_directory_find(&table->directory, BB_SECTION_RANGE_TOMBSTONES) != NULL;
    if (is_there != (table->properties.range_tombstone_count > 0))
        return bb_corrupt(place, 0, "%s section of range tombstones, the properties have %" PRIu64,
                          is_there ? "a" : "no", table->properties.range_tombstone_count);
    if (!is_there)
        return BB_OK;
    enum bb_status status = load_section(table, tail, BB_SECTION_RANGE_TOMBSTONES, &bytes, &place);
    if (status == BB_OK)
        status = bb_range_tombstones_decode(bb_buf_bytes(&bytes), table->comparator, place,
                                            &table->range_tombstones);
    bb_buf_deinit(&bytes);
    return status == BB_OK ? check_range_tombstones(table, place) : status;
}

/* A table may be without its table filter: reads stay correct. */
static void set_up_table_filter(struct bb_table *table, const struct bb_table_options *options)
{
    const struct bb_properties *p = &table->properties;
    const struct bb_section *section =
        bb_table_directory_find(&table->directory, BB_SECTION_TABLE_FILTER);
    if (p->table_filter_rate == 1)
        return;
    table->has_table_filter =
        section != NULL && section->size == p->table_filter_size &&
        section->size >= BB_TABLE_FILTER_TAIL_SIZE &&
        bb_sharded_filter_format_restore(&table->table_filter_format, p->table_filter_rate,
                                         p->filter_salt, p->table_filter_fingerprint_bits);
    table->has_unusable_table_filter = !table->has_table_filter;
    if (!table->has_table_filter)
        return;
    table->probes_table_filter = !options->table_filter_off;
    table->table_filter_reading =
        (struct bb_table_filter_reading){.comparator = table->comparator,
                                         .table = table->id,
                                         .place = bb_table_place(table, section->offset),
                                         .size = section->size};
}

/* Filters of an unknown kind are counted, but never used. */
static void set_up_filters(struct bb_table *table, const struct bb_table_options *options)
{
    const struct bb_properties *p = &table->properties;
    memcpy(table->secret.bytes, p->hash_secret.data, sizeof(table->secret.bytes));
    table->takes_given_hash =
        options->secret != NULL &&
        memcmp(options->secret->bytes, table->secret.bytes, sizeof(table->secret.bytes)) == 0;
    if (table->comparator != NULL && table->comparator->equates_different_bytes)
        return;
    if (p->filter_kind != BB_FILTER_NONE) {
        table->has_filters = bb_block_filter_format_restore(
            &table->filter_format, (enum bb_filter_kind)p->filter_kind, bb_properties_block_rate(p),
            p->filter_salt, (uint32_t)p->filter_bits_per_probe);
        table->has_unusable_filters = !table->has_filters;
    }
    set_up_table_filter(table, options);
}

static enum bb_status load_parts(struct bb_table *table, struct tail *tail)
{
    enum bb_status status = read_tail(table, tail);
    if (status == BB_OK)
        status = load_directory(table, tail);
    if (status == BB_OK)
        status = load_properties(table, tail);
    if (status == BB_OK)
        status = load_root(table, tail);
    if (status == BB_OK)
        status = load_range_tombstones(table, tail);
    if (status != BB_OK) {
        bb_range_tombstones_destroy(table->range_tombstones);
        table->range_tombstones = NULL;
        bb_properties_deinit(&table->properties);
        bb_root_deinit(&table->root);
    }
    return status;
}

/* Tries twice if necessary: the data may be damaged on the way from the disk instead of on it. */
static enum bb_status load_table(struct bb_table *table)
{
    struct tail *tail = bb_alloc(sizeof(*tail));
    if (tail == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to open a table");
    enum bb_status status = load_parts(table, tail);
    if (status == BB_CORRUPT)
        status = load_parts(table, tail);
    bb_free(tail);
    return status;
}

static enum bb_status open_file(struct bb_table *table, struct bb_file_system *given,
                                const char *path)
{
    struct bb_file_system *fs = NULL;
    enum bb_status status = bb_file_system_posix_default(given, &table->own_fs, &fs);
    if (status == BB_OK)
        status = bb_file_open(fs, path, &table->file);
    if (status == BB_OK)
        status = bb_file_size(table->file, &table->file_size);
    return status;
}

static enum bb_status create_slots(struct bb_table *table)
{
    if (table->index_residency != BB_INDEX_PINNED || table->root.page_count == 0)
        return BB_OK;
    table->pages = bb_alloc_zeroed(table->root.page_count, sizeof(table->pages[0]));
    table->group_steps = bb_alloc_zeroed(table->root.page_count, sizeof(table->group_steps[0]));
    if (table->pages == NULL || table->group_steps == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %u page slots", table->root.page_count);
    return BB_OK;
}

/* At least 1, at most LZ4's best: the properties come from the file. */
static double raw_share(const struct bb_properties *properties)
{
    double raw = (double)properties->key_bytes + (double)properties->value_bytes;
    double share = raw / (double)(properties->data_size == 0 ? 1 : properties->data_size);
    return share < 1 ? 1 : share > BB_LZ4_RATIO_MAX ? BB_LZ4_RATIO_MAX : share;
}

static void set_up_maps(struct bb_table *table, const struct bb_table_options *options, bool is_new)
{
    struct bb_file_system *files = table->own_fs != NULL ? table->own_fs : options->file_system;
    if (options->read_mode == BB_READ_MAPPED)
        bb_table_map_init(&table->map, table->file, table->root.data_end, table->root.block_count);
    table->uses_blocks_in_place =
        table->map.file != NULL && table->properties.compression == BB_COMPRESSION_NONE;
    if (options->read_mode == BB_READ_CALLS || table->uses_blocks_in_place)
        return;
    bb_page_map_init(&table->copies, files, table->file, table->root.data_end);
    if (is_new)
        bb_page_map_note_all(&table->copies);
}

enum bb_status bb_table_open_in(const char *path, const struct bb_table_options *options,
                                struct bb_large_pages *pages, bool is_new,
                                struct bb_table **ret_table)
{
    struct bb_table_options resolved = {0};
    enum bb_status status = bb_table_options_resolve(options, &resolved);
    if (status == BB_OK)
        status = bb_path_check_file(path, "the table's file");
    if (status != BB_OK)
        return status;
    struct bb_table *table = bb_alloc_zeroed(1, sizeof(*table));
    if (table == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a table");
    table->comparator = resolved.comparator;
    table->cache = resolved.cache;
    table->large_pages = pages;
    table->index_residency = resolved.index_residency;
    status = open_file(table, resolved.file_system, path);
    if (status == BB_OK)
        status = load_table(table);
    if (status == BB_OK)
        status = create_slots(table);
    if (status == BB_OK)
        status = bb_table_meta_init(&table->properties, table->file_size, &table->meta);
    if (status != BB_OK) {
        bb_table_close(table);
        return status;
    }
    bb_bounds_init(&table->bounds, table->comparator, bb_buf_bytes(&table->meta.smallest),
                   bb_buf_bytes(&table->meta.largest));
    table->bounds.largest_is_exclusive = table->meta.largest_is_exclusive;
    set_up_filters(table, &resolved);
    if (table->cache != NULL)
        table->cache_owner = bb_block_cache_new_owner(table->cache);
    set_up_maps(table, &resolved, is_new);
    table->raw_share = raw_share(&table->properties);
    *ret_table = table;
    return BB_OK;
}

enum bb_status bb_table_open(const char *path, const struct bb_table_options *options,
                             struct bb_table **ret_table)
{
    return bb_table_open_in(path, options, NULL, false, ret_table);
}

void bb_table_forget_pages(struct bb_table *table)
{
    bb_page_map_forget(&table->copies);
    bb_table_map_forget(&table->map);
}

static void release_pages(struct bb_table *table)
{
    bb_free(table->group_steps);
    if (table->pages == NULL)
        return;
    for (uint32_t i = 0; i < table->root.page_count; i++)
        bb_index_page_unref(atomic_load_explicit(&table->pages[i], memory_order_relaxed));
    bb_free(table->pages);
}

void bb_table_close(struct bb_table *table)
{
    if (table == NULL)
        return;
    release_pages(table);
    bb_table_filter_destroy(atomic_load_explicit(&table->table_filter, memory_order_relaxed));
    if (table->cache != NULL && table->cache_owner != 0)
        bb_block_cache_drop_owner(table->cache, table->cache_owner);
    bb_page_map_deinit(&table->copies);
    bb_table_map_deinit(&table->map);
    bb_table_meta_deinit(&table->meta);
    bb_range_tombstones_destroy(table->range_tombstones);
    bb_properties_deinit(&table->properties);
    bb_root_deinit(&table->root);
    /* The file was only read, so a failure to close it has no effect. */
    (void)!bb_file_close(table->file);
    bb_file_system_posix_destroy(table->own_fs);
    bb_free(table);
}

const struct bb_table_meta *bb_table_meta(const struct bb_table *table)
{
    return &table->meta;
}

const struct bb_hash_secret *bb_table_secret(const struct bb_table *table)
{
    return &table->secret;
}

const struct bb_range_tombstones *bb_table_range_tombstones(const struct bb_table *table)
{
    return table->range_tombstones;
}

uint64_t bb_table_memory(const struct bb_table *table)
{
    uint64_t slots =
        table->pages == NULL
            ? 0
            : table->root.page_count * (sizeof(table->pages[0]) + sizeof(table->group_steps[0]));
    uint64_t ranges = table->range_tombstones == NULL ? 0 : table->range_tombstones->memory_size;
    return sizeof(*table) + slots + table->root.memory_size + ranges + table->map.memory_size +
           bb_page_map_memory(&table->copies) +
           atomic_load_explicit(&table->pinned_bytes, memory_order_relaxed);
}
