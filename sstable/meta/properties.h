/* The properties of a table: everything needed to read and to judge it without its store.
 *
 *     section  := property*, ids ascending
 *     property := u16 id | varint length | value
 *
 * A value is a number (one canonical varint), a real (u64, the bits of an IEEE 754 double), or
 * bytes. Every property that this version knows must be present exactly once. Only optional numbers
 * and reals may be missing: they are omitted when they are 0. A reader skips properties that it
 * does not know, unless the id has BB_PROPERTY_MANDATORY.
 */
#ifndef BB_SSTABLE_META_PROPERTIES_H
#define BB_SSTABLE_META_PROPERTIES_H

#include "base/status.h"
#include "sstable/entry.h"
#include "sstable/format.h"

/* A zeroed struct is valid. Owned: bb_properties_deinit. */
struct bb_properties {
    uint64_t format_version;
    struct bb_buf table_id; /* 16 bytes */
    struct bb_buf comparator;
    struct bb_buf builder; /* BB_BUILDER_ID of the writer */

    uint64_t entry_count;
    uint64_t key_count;
    uint64_t tombstone_count;
    uint64_t block_count;
    uint64_t page_count;
    uint64_t key_bytes; /* of all entries */
    uint64_t value_bytes;
    uint64_t data_size;             /* data blocks as stored */
    uint64_t index_size;            /* index pages as stored, filters included */
    uint64_t filter_size;           /* filter areas with their checksums */
    uint64_t table_filter_size;     /* of the table filter's section; 0: none */
    uint64_t range_tombstone_count; /* sequences of all fragments; omitted when 0 */

    struct bb_buf smallest; /* bounds of entries and range tombstones, inclusive */
    struct bb_buf largest;
    /* 1: a range tombstone ends at largest, after all entries. Omitted when 0. */
    uint64_t largest_is_exclusive;
    uint64_t sequence_min;
    uint64_t sequence_max;
    /* Sequence of the oldest tombstone, of a key or a range. 0 and omitted when none exists, or
     * when the table is older than this property: then it is at least sequence_min. */
    uint64_t tombstone_sequence_min;

    uint64_t block_size_bytes;
    uint64_t restart_interval;
    uint64_t compression;
    uint64_t index_page_size_bytes;

    uint64_t filter_kind;           /* of the block filters */
    double filter_rate;             /* of the block filters and the table filter together */
    uint64_t filter_bits_per_probe; /* of the block filters */
    uint64_t filter_salt;           /* of the block filters and the table filter */
    uint64_t filter_granularity;
    double table_filter_rate; /* 1: no table filter */
    uint64_t table_filter_fingerprint_bits;
    /* Written as 0, and ignored. Version 0.1 had an option of this name. */
    double filter_slack;
    /* The excess (bloomblock/table/shard.h) at which the builders began, <= 0: that of the earlier
     * tables of the same compaction. Omitted when 0. */
    double filter_excess; /* of the block filters */
    double table_filter_excess;
    /* The mean predicted rates of the stored filters, above 0 and at most 1: over the block
     * filters, weighted by keys; and of the table filter. 1: no such filters. Filters reach a
     * target on average, so they may miss it in a table of few filters. Both are 0 and omitted when
     * the table is older than these properties. */
    double predicted_block_rate;
    double predicted_table_filter_rate;
    uint64_t hash_id;
    struct bb_buf hash_secret; /* 192 bytes; never displayed */
    /* Blocks with a head in their index page. Omitted when 0. WHY it is mandatory: version 0.1.0
     * does not know heads. So it refuses the table when it opens it, not in the middle. */
    uint64_t head_count;
    /* The size of pages at which a group ends (sstable/index/root.h). Omitted when 0: each group
     * has one page, as in tables of version 0.1.0, which rejects other tables. */
    uint64_t page_group_bytes;
};

/* The target rate of the block filters, without the table filter. */
static inline double bb_properties_block_rate(const struct bb_properties *properties)
{
    return properties->filter_rate / properties->table_filter_rate;
}

/* Whether these predicted rates of block filters and table filter are in range. Both 0: unknown. */
static inline bool bb_properties_can_predict(double block_rate, double table_filter_rate)
{
    bool is_unknown = block_rate == 0 && table_filter_rate == 0;
    return is_unknown ||
           (block_rate > 0 && block_rate <= 1 && table_filter_rate > 0 && table_filter_rate <= 1);
}

/* Updates tombstone_sequence_min. Call it before the tombstone is counted. */
static inline void bb_properties_note_tombstone(struct bb_properties *properties, uint64_t sequence)
{
    bool has_any = properties->tombstone_count > 0 || properties->range_tombstone_count > 0;
    if (!has_any || sequence < properties->tombstone_sequence_min)
        properties->tombstone_sequence_min = sequence;
}

/* Counts an entry. is_new_key: it is the first version of its key. */
static inline void bb_properties_count_entry(struct bb_properties *properties,
                                             const struct bb_entry *entry, bool is_new_key)
{
    properties->entry_count++;
    properties->key_count += is_new_key;
    if (entry->kind == BB_ENTRY_DELETE)
        bb_properties_note_tombstone(properties, entry->sequence);
    properties->tombstone_count += entry->kind == BB_ENTRY_DELETE;
    properties->key_bytes += entry->key.size;
    properties->value_bytes += entry->value.size;
    if (entry->sequence < properties->sequence_min)
        properties->sequence_min = entry->sequence;
    if (entry->sequence > properties->sequence_max)
        properties->sequence_max = entry->sequence;
}

void bb_properties_deinit(struct bb_properties *properties);
BB_MUST_CHECK enum bb_status bb_properties_encode(const struct bb_properties *properties,
                                                  struct bb_buf *buf);
/* Reads a section into zeroed properties. Checks the form of each value and the ranges of values
 * that readers compute with. Errors: BB_CORRUPT; BB_UNSUPPORTED for an unknown mandatory property,
 * a newer format or an unknown hash. On failure *ret_properties is empty. */
BB_MUST_CHECK enum bb_status bb_properties_decode(struct bb_bytes section, struct bb_place place,
                                                  struct bb_properties *ret_properties);

/* The list of properties, for dumps. */
enum bb_property_type {
    BB_PROPERTY_NUMBER,
    BB_PROPERTY_REAL,
    BB_PROPERTY_TEXT,
    BB_PROPERTY_BYTES,
    BB_PROPERTY_SECRET
};
struct bb_property_field {
    uint16_t id;
    enum bb_property_type type;
    size_t offset; /* in struct bb_properties: of a uint64_t, double, or struct bb_buf */
    size_t size;   /* required size of the bytes; 0: any */
    const char *name;
    bool is_optional; /* a number or real that is omitted when it is 0 */
};
/* The fields, with ascending ids. */
const struct bb_property_field *bb_property_fields(size_t *ret_count);
/* True for an optional number or real that is 0. */
bool bb_property_is_left_out(const struct bb_properties *properties,
                             const struct bb_property_field *field);
#endif
