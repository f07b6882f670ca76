/* The properties of a table: all that is needed to read and to judge it without the store it comes
 * from.
 *
 *     section  := property*, ids ascending
 *     property := u16 id | varint length | value
 *
 * A value is a number (one canonical varint), a real (u64, the bits of an IEEE 754 double), or
 * bytes. Every property that this version knows must be there, once, but for optional numbers, which
 * are left out when they are 0; one it does not know is passed over, unless its id has
 * BB_PROPERTY_MANDATORY.
 */
#ifndef BB_SSTABLE_PROPERTIES_H
#define BB_SSTABLE_PROPERTIES_H

#include "base/status.h"
#include "sstable/format.h"

/* Zeroed it is valid; owned: bb_properties_deinit. */
struct bb_properties {
    uint64_t format_version;
    struct bb_buf table_id; /* 16 bytes */
    struct bb_buf comparator;
    struct bb_buf builder; /* who wrote it: BB_BUILDER_ID */

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
    uint64_t summary_size;          /* of the section; 0: none */
    uint64_t range_tombstone_count; /* sequences of all fragments; left out when 0 */

    struct bb_buf smallest; /* bounds of entries and range tombstones, inclusive */
    struct bb_buf largest;
    uint64_t largest_is_exclusive; /* 1: a range tombstone ends at largest, behind all entries; left
                                      out when 0 */
    uint64_t sequence_min;
    uint64_t sequence_max;
    uint64_t
        tombstone_sequence_min; /* of the oldest tombstone, of a key or a range; left out when 0:
                                        none, or older than the property: at least sequence_min */

    uint64_t block_size_bytes;
    uint64_t restart_interval;
    uint64_t compression;
    uint64_t index_page_size_bytes;

    uint64_t filter_kind; /* of the blocks' filters */
    double filter_rate;   /* of these and the summary together */
    uint64_t filter_rank; /* of the blocks' filters */
    uint64_t filter_salt; /* of these and the summary */
    uint64_t filter_granularity;
    double summary_rate; /* 1: no summary */
    uint64_t summary_rank;
    double filter_slack; /* of ribbons: 0 ... BB_FILTER_SLACK_MAX */
    uint64_t hash_id;
    struct bb_buf hash_secret; /* 192 bytes; not to be shown */
};

/* The target of the blocks' filters alone. */
static inline double bb_properties_block_rate(const struct bb_properties *properties)
{
    return properties->filter_rate / properties->summary_rate;
}

/* Before it is counted: a tombstone of this sequence. */
static inline void bb_properties_note_tombstone(struct bb_properties *properties, uint64_t sequence)
{
    bool has_any = properties->tombstone_count > 0 || properties->range_tombstone_count > 0;
    if (!has_any || sequence < properties->tombstone_sequence_min)
        properties->tombstone_sequence_min = sequence;
}

void bb_properties_deinit(struct bb_properties *properties);
BB_MUST_CHECK enum bb_status bb_properties_encode(const struct bb_properties *properties,
                                                  struct bb_buf *buf);
/* Reads a section into zeroed properties, checking the form of each value and the ranges of what
 * readers compute with. BB_CORRUPT; BB_UNSUPPORTED for an unknown mandatory property, a newer
 * format or an unknown hash. On failure *ret_properties is empty. */
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
    size_t offset; /* in struct bb_properties: uint64_t, double, or struct bb_buf */
    size_t size;   /* that the bytes must have; 0: any */
    const char *name;
    bool is_optional; /* a number that is left out when it is 0 */
};
/* Ascending ids. */
const struct bb_property_field *bb_property_fields(size_t *ret_count);
/* An optional number of 0. */
bool bb_property_is_left_out(const struct bb_properties *properties,
                             const struct bb_property_field *field);
/* Appends a property's value for a person: numbers in decimal, bytes in hexadecimal or escaped; of
 * the secret only that it is there. */
BB_MUST_CHECK enum bb_status bb_property_print(const struct bb_properties *properties,
                                               const struct bb_property_field *field,
                                               struct bb_buf *buf);

#endif
