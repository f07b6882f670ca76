/* Facts about each granule: its place, its records, and how many of them lack an attribute.
 *
 *     table  := varint place - the previous place, for each granule
 *               | varint records, for each granule
 *               | for each attribute: column of NULL, of missing, of malformed values
 *     column := u8 1 | varint for each granule
 *             | u8 0                               all are 0
 */
#ifndef BB_SKIP_LAYOUT_GRANULE_TABLE_H
#define BB_SKIP_LAYOUT_GRANULE_TABLE_H

#include "base/status.h"
#include "skip/layout/format.h"

#define BB_GRANULE_STATES 3 /* NULL, missing, malformed */

/* A column while it is built: its varints, and whether one is not 0. */
struct bb_granule_column {
    struct bb_buf bytes;
    bool is_used;
};

struct bb_granule_table_builder {
    struct bb_buf places;
    struct bb_buf records;
    struct bb_granule_column *columns; /* owned: BB_GRANULE_STATES for each attribute */
    size_t column_count;
    uint64_t last_place;
};

BB_MUST_CHECK enum bb_status bb_granule_table_builder_init(struct bb_granule_table_builder *builder,
                                                           size_t attribute_count);
void bb_granule_table_builder_deinit(struct bb_granule_table_builder *builder);
/* counts: BB_GRANULE_STATES for each attribute. REQUIRES: place is not below the previous one. */
BB_MUST_CHECK enum bb_status bb_granule_table_builder_add(struct bb_granule_table_builder *builder,
                                                          uint64_t place, uint64_t record_count,
                                                          const uint32_t *counts);
BB_MUST_CHECK enum bb_status
bb_granule_table_builder_append(const struct bb_granule_table_builder *builder, struct bb_buf *buf);

struct bb_granule_table {
    size_t granule_count;
    size_t column_count;
    uint64_t *places;   /* owned */
    uint32_t *records;  /* owned */
    uint32_t **columns; /* owned; NULL: all are 0 */
};

void bb_granule_table_deinit(struct bb_granule_table *table);
/* BB_CORRUPT: the section is no table of this number of granules. Memory is at most 12 times the
 * section. */
BB_MUST_CHECK enum bb_status bb_granule_table_decode(struct bb_bytes section, struct bb_place place,
                                                     size_t granule_count, size_t attribute_count,
                                                     struct bb_granule_table *ret_table);

/* Records of a granule in a state other than PRESENT. */
static inline uint64_t bb_granule_table_count(const struct bb_granule_table *table, size_t granule,
                                              size_t attribute, enum bb_attribute_state state)
{
    const uint32_t *column = table->columns[attribute * BB_GRANULE_STATES + (size_t)state - 1];
    return column == NULL ? 0 : column[granule];
}

/* Records that lack the attribute. */
static inline uint64_t bb_granule_table_nulls(const struct bb_granule_table *table, size_t granule,
                                              size_t attribute)
{
    return bb_granule_table_count(table, granule, attribute, BB_ATTRIBUTE_NULL) +
           bb_granule_table_count(table, granule, attribute, BB_ATTRIBUTE_MISSING) +
           bb_granule_table_count(table, granule, attribute, BB_ATTRIBUTE_MALFORMED);
}

/* Has every record of the table the attribute? */
static inline bool bb_granule_table_is_complete(const struct bb_granule_table *table,
                                                size_t attribute)
{
    bool is_complete = true;
    for (size_t state = 0; state < BB_GRANULE_STATES; state++)
        is_complete &= table->columns[attribute * BB_GRANULE_STATES + state] == NULL;
    return is_complete;
}

#endif
