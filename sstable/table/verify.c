/* Reads a whole table and checks all of its parts against each other.
 *
 * Opening has checked that sections, pages and blocks fill the file without a gap, so walking all
 * blocks and reading all sections reads every byte. The walk checks the order of entries over all
 * borders, each fence against its neighbours, and each filter with each of its keys. A filter that
 * always returns maybe would pass that, so each filter is also rebuilt and compared when this
 * builder wrote the table. Finally the counts are compared. One thread per call.
 */
#include <inttypes.h>
#include <math.h>

#include "base/assert.h"
#include "base/buf.h"
#include "bloomblock/table/rate_mean.h"
#include "bloomblock/table_kind.h"
#include "sstable/build/table_ranges.h"
#include "sstable/table/table_filter_verifier.h"
#include "sstable/table/table_walk.h"

struct verification {
    struct bb_table *table;
    struct bb_table_walk walk;
    struct bb_properties counted;                  /* counts of the entries read */
    struct bb_block_filter_builder *rebuilt;       /* NULL: no comparison */
    struct bb_table_filter_verifier *table_filter; /* NULL if none */
    size_t group_keys;                             /* keys of the open filter group so far */
    struct bb_rate_mean mean;                      /* of the block filters read */
    struct bb_buf descriptors;
    struct bb_buf payload;
    struct bb_buf last_key;
    uint64_t last_sequence;
    struct bb_table_verify_report report;
};

static struct bb_place place_of_block(const struct verification *v)
{
    return bb_table_place(v->table, v->walk.offset);
}

/* ---- sections ---- */

/* Verifies a section that opening did not read. */
static enum bb_status verify_section(struct bb_table *table, const struct bb_section *section)
{
    struct bb_buf bytes = {0};
    uint8_t *data = NULL;
    if (section->size > SIZE_MAX)
        return bb_fail(BB_TOO_LARGE, "%s: a section of %" PRIu64 " bytes", table->file->path,
                       section->size);
    enum bb_status status = bb_buf_extend(&bytes, (size_t)section->size, &data);
    if (status == BB_OK)
        status = bb_file_read_exactly(table->file, section->offset, data, bytes.size);
    if (status == BB_OK && bb_checksum(table->id, BB_STORED_SECTION, section->offset, data,
                                       bytes.size) != section->checksum)
        status = bb_corrupt(bb_table_place(table, section->offset), 0,
                            "section %u (%s) does not have the checksum in the directory",
                            section->id, bb_table_directory_section_name(section->id));
    bb_buf_deinit(&bytes);
    return status;
}

static enum bb_status verify_sections(struct bb_table *table)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < table->directory.count && status == BB_OK; i++)
        status = verify_section(table, &table->directory.sections[i]);
    return status;
}

/* ---- filters ---- */

static enum bb_status check_filter_form(const struct verification *v)
{
    const struct bb_table *table = v->table;
    const struct bb_properties *p = &table->properties;
    struct bb_place place = {.file = table->file->path, .offset = 0};
    if (table->has_unusable_table_filter)
        return bb_corrupt(place, 0,
                          "a table filter of rate %g with %" PRIu64 " fingerprint bits in %" PRIu64
                          " bytes is not there, or not possible",
                          p->table_filter_rate, p->table_filter_fingerprint_bits,
                          p->table_filter_size);
    if (!table->has_unusable_filters)
        return BB_OK;
    if (p->filter_kind > BB_TABLE_KIND_MAX)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: filters of kind %" PRIu64 " are unknown to this version",
                       table->file->path, p->filter_kind);
    return bb_corrupt(place, 0, "filters of kind %" PRIu64 " with %" PRIu64 " bits per probe",
                      p->filter_kind, p->filter_bits_per_probe);
}

/* True when this builder wrote the table and can rebuild its filters. */
static bool is_our_own(const struct bb_table *table)
{
    return bb_bytes_equal(bb_buf_bytes(&table->properties.builder),
                          bb_bytes_of_text(BB_BUILDER_ID));
}

static enum bb_status create_rebuilt(struct verification *v)
{
    const struct bb_table *table = v->table;
    const struct bb_properties *p = &table->properties;
    struct bb_block_filter_format format = {0};
    if (!table->has_filters || !is_our_own(table))
        return BB_OK;
    double rate = bb_properties_block_rate(p);
    enum bb_status status = bb_block_filter_format_init(
        &format, (enum bb_filter_kind)p->filter_kind, rate, p->filter_salt);
    if (status != BB_OK)
        return status;
    if (format.bits_per_probe != p->filter_bits_per_probe)
        return bb_corrupt(bb_table_place(table, 0), 0,
                          "filters of rate %g have %" PRIu64 " bits per probe, expected %u", rate,
                          p->filter_bits_per_probe, format.bits_per_probe);
    status = bb_block_filter_builder_create(&format, &v->rebuilt);
    if (status == BB_OK)
        bb_block_filter_builder_set_excess(v->rebuilt, p->filter_excess);
    return status;
}

/* Checks that the block's filter contains a key of the block. */
static enum bb_status verify_member(struct verification *v, struct bb_bytes key, bool is_new_key)
{
    if (!v->table->has_filters)
        return BB_OK;
    bool is_first_of_group = v->group_keys == 0;
    bool is_first_of_block = v->walk.entries.offset == 0;
    if (!is_new_key && !is_first_of_group && !is_first_of_block)
        return BB_OK;
    if (!bb_table_walk_may_contain(&v->walk, key)) {
        char text[64];
        return bb_corrupt(place_of_block(v), v->walk.entries.offset,
                          "the filter of the block denies its key %s",
                          bb_bytes_escape(key, text, sizeof(text)));
    }
    if (!is_new_key && !is_first_of_group)
        return BB_OK;
    v->group_keys++;
    if (v->rebuilt == NULL)
        return BB_OK;
    return bb_block_filter_builder_add(v->rebuilt, bb_hash_key(&v->table->secret, key));
}

/* True when the group's filters equal the rebuilt ones. */
static bool is_group_as_rebuilt(const struct verification *v, uint32_t shard_count)
{
    const struct bb_index_page *page = v->walk.page;
    uint32_t count = 0;
    uint32_t first = bb_index_page_group_shards(page, v->walk.group, &count);
    if (count != shard_count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (page->descriptors[first + i] != bb_load16(v->descriptors.data + 2 * (size_t)i))
            return false;
    const uint32_t *offsets = page->shard_offsets;
    struct bb_bytes stored = {.data = page->filters + offsets[first],
                              .size = offsets[first + count] - offsets[first]};
    return bb_bytes_equal(stored, bb_buf_bytes(&v->payload));
}

/* Notes the rates of the group's filters: of the bits that are read, not of a rebuilt filter. */
static void note_rates(struct verification *v)
{
    const struct bb_index_page *page = v->walk.page;
    const struct bb_block_filter_format *format = &v->table->filter_format;
    uint32_t count = 0;
    uint32_t first = bb_index_page_group_shards(page, v->walk.group, &count);
    double weight = (double)v->group_keys / count;
    for (uint32_t i = first; i < first + count; i++)
        bb_rate_mean_add(&v->mean, weight,
                         bb_block_filter_rate(format, page->descriptors[i],
                                              page->filters + page->shard_offsets[i]));
}

/* Call after the last block of a group. */
static enum bb_status verify_group(struct verification *v)
{
    const struct bb_index_page *page = v->walk.page;
    uint32_t next = v->walk.ordinal + 1;
    bool is_last = next == page->block_count || bb_index_page_group(page, next) != v->walk.group;
    if (!is_last || !v->table->has_filters)
        return BB_OK;
    v->report.filters += v->walk.shard_count;
    note_rates(v);
    v->group_keys = 0;
    if (v->rebuilt == NULL)
        return BB_OK;
    uint32_t shards = 0;
    bb_buf_reset(&v->descriptors);
    bb_buf_reset(&v->payload);
    enum bb_status status =
        bb_block_filter_builder_finish(v->rebuilt, &v->descriptors, &v->payload, &shards);
    if (status != BB_OK)
        return status;
    if (!is_group_as_rebuilt(v, shards))
        return bb_corrupt(
            bb_table_place(v->table, v->table->root.pages[v->walk.page_index].page_offset), 0,
            "the filters of group %u differ from the filters rebuilt from its keys", v->walk.group);
    v->report.filters_compared += shards;
    return BB_OK;
}

/* ---- entries ---- */

/* Checks that the fence separates the last entry of the previous block from the first of this
 * one. */
static enum bb_status verify_fence(const struct verification *v, const struct bb_entry *first)
{
    const struct bb_comparator *comparator = v->table->comparator;
    struct bb_bytes fence = bb_buf_bytes(&v->walk.fence_key);
    uint64_t sequence = v->walk.fence_sequence;
    if (!v->walk.has_fence)
        return BB_OK;
    if (bb_entry_compare(comparator, bb_buf_bytes(&v->last_key), v->last_sequence, fence,
                         sequence) >= 0)
        return bb_corrupt(place_of_block(v), 0,
                          "the fence of the block is not after the last entry before it");
    if (bb_entry_compare(comparator, fence, sequence, first->key, first->sequence) > 0)
        return bb_corrupt(place_of_block(v), 0, "the block starts before its fence");
    return BB_OK;
}

/* The block's iterator checks the order inside the block; this checks it across the border. */
static enum bb_status verify_order(const struct verification *v, const struct bb_entry *entry,
                                   bool *ret_is_new_key)
{
    *ret_is_new_key = true;
    if (v->counted.entry_count == 0)
        return BB_OK;
    int order = bb_key_compare(v->table->comparator, bb_buf_bytes(&v->last_key), entry->key);
    if (order > 0 || (order == 0 && entry->sequence >= v->last_sequence))
        return bb_corrupt(place_of_block(v), v->walk.entries.offset,
                          "an entry is not after the previous one");
    *ret_is_new_key = order < 0;
    return BB_OK;
}

static enum bb_status verify_entry(struct verification *v, const struct bb_entry *entry)
{
    bool is_new_key = false;
    enum bb_status status = BB_OK;
    if (v->walk.entries.offset == 0)
        status = verify_fence(v, entry);
    if (status == BB_OK)
        status = verify_order(v, entry, &is_new_key);
    if (status == BB_OK && is_new_key && v->table_filter != NULL)
        status =
            bb_table_filter_verifier_add(v->table_filter, place_of_block(v),
                                         bb_buf_bytes(&v->last_key), v->last_sequence, entry->key);
    if (status == BB_OK)
        status = verify_member(v, entry->key, is_new_key);
    if (status == BB_OK && v->counted.entry_count == 0)
        status = bb_buf_assign(&v->counted.smallest, entry->key);
    if (status == BB_OK)
        status = bb_buf_assign(&v->last_key, entry->key);
    if (status != BB_OK)
        return status;
    v->last_sequence = entry->sequence;
    bb_properties_count_entry(&v->counted, entry, is_new_key);
    return BB_OK;
}

static enum bb_status verify_block(struct verification *v)
{
    enum bb_status status = bb_table_walk_load(&v->walk);
    while (status == BB_OK && v->walk.entries.is_valid) {
        status = verify_entry(v, &v->walk.entries.entry);
        if (status == BB_OK)
            bb_block_iter_next(&v->walk.entries);
    }
    if (status == BB_OK)
        status = v->walk.entries.status;
    if (status == BB_OK)
        status = verify_group(v);
    v->counted.data_size += v->walk.stored_size;
    v->counted.head_count += bb_index_page_has_head(v->walk.page, v->walk.ordinal);
    v->report.blocks++;
    return status;
}

static enum bb_status verify_page(struct verification *v)
{
    const struct bb_root_page *where = &v->table->root.pages[v->walk.page_index];
    const struct bb_index_page *page = v->walk.page;
    struct bb_place place = bb_table_place(v->table, where->page_offset);
    if (page->has_damaged_filters)
        return bb_corrupt(place, 0, "the filters of the index page are damaged");
    if (v->table->properties.filter_kind == BB_FILTER_NONE && page->group_count > 0)
        return bb_corrupt(place, 18, "an index page with filters, in a table without");
    v->counted.index_size += where->page_size;
    v->counted.filter_size += page->filter_area_size;
    v->report.pages++;
    return BB_OK;
}

static enum bb_status verify_blocks(struct verification *v)
{
    bool has_block = false;
    enum bb_status status = bb_table_walk_next(&v->walk, &has_block);
    while (status == BB_OK && has_block) {
        if (v->walk.ordinal == 0)
            status = verify_page(v);
        if (status == BB_OK)
            status = verify_block(v);
        if (status == BB_OK)
            status = bb_table_walk_next(&v->walk, &has_block);
    }
    return status;
}

/* ---- counts ---- */

static enum bb_status verify_count(const struct verification *v, const char *name, uint64_t said,
                                   uint64_t counted)
{
    if (said == counted)
        return BB_OK;
    return bb_corrupt(bb_table_place(v->table, 0), 0,
                      "property %s is %" PRIu64 ", counted %" PRIu64, name, said, counted);
}

/* Relative. A mathematical library of another system may round powers differently. */
#define PREDICTION_TOLERANCE 1e-9

/* A table that is older than the property has 0. */
static enum bb_status verify_prediction(const struct verification *v, const char *name, double said,
                                        double found)
{
    if (said == 0 || fabs(said - found) <= PREDICTION_TOLERANCE * found)
        return BB_OK;
    return bb_corrupt(bb_table_place(v->table, 0), 0,
                      "property %s is %.9g, the filters have a rate of %.9g", name, said, found);
}

static double table_filter_rate(const struct verification *v)
{
    return v->table_filter == NULL ? 1 : bb_table_filter_verifier_rate(v->table_filter);
}

static enum bb_status verify_bound(const struct verification *v, const char *name,
                                   const struct bb_buf *said, const struct bb_buf *found)
{
    if (bb_bytes_equal(bb_buf_bytes(said), bb_buf_bytes(found)))
        return BB_OK;
    char text[64];
    return bb_corrupt(bb_table_place(v->table, 0), 0, "property %s is %s, which is not that key",
                      name, bb_bytes_escape(bb_buf_bytes(said), text, sizeof(text)));
}

/* Adds the range tombstones, which opening has read, to the counts. */
static enum bb_status count_range_tombstones(struct verification *v)
{
    enum bb_status status = bb_buf_assign(&v->counted.largest, bb_buf_bytes(&v->last_key));
    if (status == BB_OK && v->table->range_tombstones != NULL)
        status = bb_table_ranges_widen(v->table->range_tombstones, &v->counted);
    return status;
}

static enum bb_status verify_properties(const struct verification *v)
{
    const struct bb_properties *said = &v->table->properties;
    const struct bb_properties *counted = &v->counted;
    const struct {
        const char *name;
        uint64_t said;
        uint64_t counted;
    } counts[] = {
        {"entry_count", said->entry_count, counted->entry_count},
        {"key_count", said->key_count, counted->key_count},
        {"tombstone_count", said->tombstone_count, counted->tombstone_count},
        {"key_bytes", said->key_bytes, counted->key_bytes},
        {"value_bytes", said->value_bytes, counted->value_bytes},
        {"head_count", said->head_count, counted->head_count},
        {"data_size", said->data_size, counted->data_size},
        {"index_size", said->index_size, counted->index_size},
        {"filter_size", said->filter_size, counted->filter_size},
        {"table_filter_size", said->table_filter_size, counted->table_filter_size},
        {"range_tombstone_count", said->range_tombstone_count, counted->range_tombstone_count},
        {"largest_is_exclusive", said->largest_is_exclusive, counted->largest_is_exclusive},
        {"sequence_min", said->sequence_min, counted->sequence_min},
        {"sequence_max", said->sequence_max, counted->sequence_max},
        {"tombstone_sequence_min", said->tombstone_sequence_min,
         said->tombstone_sequence_min == 0 ? 0 : counted->tombstone_sequence_min},
    };
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(counts) && status == BB_OK; i++)
        status = verify_count(v, counts[i].name, counts[i].said, counts[i].counted);
    if (status == BB_OK)
        status = verify_prediction(v, "predicted_block_rate", said->predicted_block_rate,
                                   bb_rate_mean(&v->mean));
    if (status == BB_OK)
        status = verify_prediction(v, "predicted_table_filter_rate",
                                   said->predicted_table_filter_rate, table_filter_rate(v));
    if (status == BB_OK)
        status = verify_bound(v, "smallest", &said->smallest, &counted->smallest);
    if (status == BB_OK)
        status = verify_bound(v, "largest", &said->largest, &counted->largest);
    return status;
}

/* ---- the whole ---- */

static enum bb_status verify_table(struct verification *v)
{
    const struct bb_section *table_filter =
        bb_table_directory_find(&v->table->directory, BB_SECTION_TABLE_FILTER);
    v->counted.table_filter_size = table_filter == NULL ? 0 : table_filter->size;
    enum bb_status status = verify_sections(v->table);
    if (status == BB_OK)
        status = check_filter_form(v);
    if (status == BB_OK)
        status = create_rebuilt(v);
    if (status == BB_OK && v->table->has_table_filter)
        status = bb_table_filter_verifier_create(v->table, is_our_own(v->table), &v->table_filter);
    if (status == BB_OK)
        status = verify_blocks(v);
    if (status == BB_OK && v->table_filter != NULL)
        status = bb_table_filter_verifier_finish(v->table_filter, &v->report);
    if (status == BB_OK)
        status = count_range_tombstones(v);
    if (status == BB_OK)
        status = verify_properties(v);
    v->report.entries = v->counted.entry_count;
    v->report.keys = v->counted.key_count;
    v->report.range_tombstones = v->counted.range_tombstone_count;
    v->report.bytes = v->table->file_size;
    return status;
}

enum bb_status bb_table_verify(const char *path, const struct bb_table_options *options,
                               struct bb_table_verify_report *ret_report)
{
    struct verification v = {.counted.sequence_min = BB_SEQUENCE_MAX};
    struct bb_table_options own = options == NULL ? (struct bb_table_options){0} : *options;
    own.read_mode = BB_READ_CALLS;
    enum bb_status status = bb_table_open(path, &own, &v.table);
    if (status != BB_OK)
        return status;
    bb_table_walk_init(&v.walk, v.table);
    status = verify_table(&v);
    if (status == BB_OK && ret_report != NULL)
        *ret_report = v.report;
    bb_table_walk_deinit(&v.walk);
    bb_block_filter_builder_destroy(v.rebuilt);
    bb_table_filter_verifier_destroy(v.table_filter);
    bb_properties_deinit(&v.counted);
    bb_buf_deinit(&v.descriptors);
    bb_buf_deinit(&v.payload);
    bb_buf_deinit(&v.last_key);
    bb_table_close(v.table);
    return status;
}
