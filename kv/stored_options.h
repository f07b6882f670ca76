/* The options that shape a store's data, as the manifest keeps them. An option is stored if a
 * caller has given it. An opening without it uses the stored value, and an opening with another
 * value stores that. docs/options.md lists them.
 *
 *     stored options  :=  (varint number | u64 value) *     ascending by number; no value is 0
 *
 * Threads: any, on different structs.
 */
#ifndef BB_KV_STORED_OPTIONS_H
#define BB_KV_STORED_OPTIONS_H

#include "base/buf.h"
#include "base/status.h"
#include "bb/db.h"

/* ON DISK: the numbers never change. A number that is used no more is not used again: 7 was
 * filter_slack of version 0.1, and a reader ignores it. */
enum bb_stored_option {
    BB_STORED_FILTER_UNIT = 1, /* the unit + 1; with BB_STORED_FILTER_VALUE */
    BB_STORED_FILTER_VALUE = 2,
    BB_STORED_FILTER_KIND = 3,
    BB_STORED_FILTER_GRANULARITY = 4,
    BB_STORED_ABSENT_SHARE = 5,
    BB_STORED_TABLE_FILTER_BITS = 6,
    BB_STORED_WRITE_BUFFER = 8,
    BB_STORED_BLOCK_SIZE = 9,
    BB_STORED_COMPRESSION = 10,
    BB_STORED_RESTART_INTERVAL = 11,
    BB_STORED_TABLE_SIZE = 12,
    BB_STORED_STYLE = 13,
    BB_STORED_LEVEL0_COMPACT = 14,
    BB_STORED_LEVEL0_BUSY = 15,
    BB_STORED_LEVEL0_STOP = 16,
    BB_STORED_LEVEL1_SIZE = 17,
    BB_STORED_SIZE_RATIO = 18,
    BB_STORED_TOMBSTONE_AGE = 19,
    BB_STORED_OPTION_END,
};

/* A zeroed struct has no options. Reals are the bits of an IEEE 754 double. */
struct bb_stored_options {
    uint64_t values[BB_STORED_OPTION_END]; /* by number; 0: not given */
};

/* The options that the caller gives explicitly. NULL: none. */
struct bb_stored_options bb_stored_options_of(const struct bb_db_options *options);
/* Given values replace stored ones. An amount of filters replaces the kind "none", and the kind
 * "none" an amount. The three counts of level 0 limit each other: one replaces all three. */
struct bb_stored_options bb_stored_options_merge(const struct bb_stored_options *stored,
                                                 const struct bb_stored_options *given);
/* Sets the options that have a value, and no others. The result must be validated, as if a caller
 * had given it. */
void bb_stored_options_fill(const struct bb_stored_options *stored, struct bb_db_options *options);

bool bb_stored_options_are_empty(const struct bb_stored_options *options);
bool bb_stored_options_are_equal(const struct bb_stored_options *a,
                                 const struct bb_stored_options *b);

BB_MUST_CHECK enum bb_status bb_stored_options_encode(const struct bb_stored_options *options,
                                                      struct bb_buf *buf);
/* Errors: BB_CORRUPT at place; BB_UNSUPPORTED for an option that this version does not know. Ranges
 * are not checked. */
BB_MUST_CHECK enum bb_status bb_stored_options_decode(struct bb_bytes bytes, struct bb_place place,
                                                      struct bb_stored_options *ret_options);

#endif
