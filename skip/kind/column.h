/* column: the values of an attribute, record by record, so that conditions on it are decided
 * exactly without reading records.
 *
 *     fields of a segment in the head := varint chunks | for each: varint granules, varint offset,
 *                                        varint size of a data unit
 *     unit    := u32 end of each granule, counted from the first one's start | granule*
 *     granule := nothing                                 its values are not stored
 *              | varint records | varint parts | for each: varint records
 *                | u8 has states | with 1: 2 bits for each record, its state
 *                | varint values | value* | bits: the number of each record's value
 *     value   := of bytes: varint bytes shared with the value before, varint size of the rest,
 *                          the rest
 *              | of f64: 8 bytes
 *              | of others: varint; of the first one the value (i64, time: zigzag), then the
 *                           difference
 *
 * Parts are the data blocks of the granule, in order, so that the block of a matching record is
 * known. The values of a granule are distinct and ascend, NaN last. A record without a value has
 * the number 0. All numbers have as many bits as the largest needs.
 *
 * Threads: one for each builder and each read granule.
 */
#ifndef BB_SKIP_KIND_COLUMN_H
#define BB_SKIP_KIND_COLUMN_H

#include "skip/layout/segment_sink.h"

/* Chunks end at this size: one read takes a chunk where records of many granules are needed. */
#define BB_COLUMN_CHUNK_SIZE (16u * 1024)
/* Maximum size of all values of a granule; larger ones are not stored. */
#define BB_COLUMN_GRANULE_MAX (16u * 1024 * 1024)
#define BB_COLUMN_RECORDS_MAX (BB_COLUMN_GRANULE_MAX / 8 + 1)

struct bb_column_record {
    enum bb_attribute_state state;
    struct bb_attribute value; /* PRESENT; of bytes data is NULL: they are in bytes at offset */
    size_t offset;
    uint32_t number; /* of the value among the distinct ones */
};

struct bb_column_builder {
    enum bb_attribute_type type;
    struct bb_column_record *records; /* owned; records of the current granule */
    size_t record_count;
    size_t record_capacity;
    uint32_t *order;      /* owned; as many as records: records with values, sorted */
    struct bb_buf bytes;  /* owned: of the granule's values */
    bool is_too_large;    /* the granule */
    struct bb_buf ends;   /* owned: of the chunk's granules */
    struct bb_buf data;   /* owned: of the chunk */
    struct bb_buf chunks; /* owned: fields of the segment's chunks */
    uint32_t chunk_count;
    uint32_t granule_count; /* of the segment */
    enum bb_status status;  /* the first failure */
};

void bb_column_builder_init(struct bb_column_builder *builder, enum bb_attribute_type type);
void bb_column_builder_deinit(struct bb_column_builder *builder);
/* Call it for every record, in any state. */
void bb_column_builder_add(struct bb_column_builder *builder, const struct bb_attribute *attribute);
/* parts: u32 records of each part of the granule, or nothing. */
BB_MUST_CHECK enum bb_status bb_column_builder_end_granule(struct bb_column_builder *builder,
                                                           struct bb_bytes parts,
                                                           struct bb_segment_sink *sink);
BB_MUST_CHECK enum bb_status bb_column_builder_end_segment(struct bb_column_builder *builder,
                                                           struct bb_segment_sink *sink);

/* A granule, and its values once they are decoded. A zeroed struct is valid; owned:
 * bb_column_granule_deinit. */
struct bb_column_granule {
    uint32_t record_count;
    uint32_t *part_records; /* owned: of each part; together, all records */
    size_t part_count;
    size_t part_capacity;
    const uint8_t *states; /* borrowed from the unit; NULL: all are present */
    size_t value_count;
    struct bb_bytes encoded; /* borrowed: the values */
    struct bb_bytes numbers; /* borrowed: bits */
    uint32_t number_bits;
    struct bb_attribute *values; /* owned; bb_column_granule_decode sets them */
    size_t value_capacity;
    struct bb_buf bytes; /* of decoded values */
};

void bb_column_granule_deinit(struct bb_column_granule *granule);
/* Finds the parts of granule number `at` in a unit of `granules`. BB_CORRUPT without a message for
 * malformed bytes, BB_NOT_FOUND for values that are not stored, BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_column_granule_open(struct bb_column_granule *granule,
                                                    struct bb_bytes unit, uint32_t granules,
                                                    uint32_t at);
/* Decodes the values of an open granule. Errors as above. */
BB_MUST_CHECK enum bb_status bb_column_granule_decode(struct bb_column_granule *granule,
                                                      enum bb_attribute_type type);
/* Both. */
BB_MUST_CHECK enum bb_status bb_column_granule_read(struct bb_column_granule *granule,
                                                    enum bb_attribute_type type,
                                                    struct bb_bytes unit, uint32_t granules,
                                                    uint32_t at);

static inline enum bb_attribute_state bb_column_state(const struct bb_column_granule *granule,
                                                      uint32_t record)
{
    return granule->states == NULL
               ? BB_ATTRIBUTE_PRESENT
               : (enum bb_attribute_state)(granule->states[record / 4] >> record % 4 * 2 & 3);
}

#endif
