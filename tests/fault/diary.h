/* The writes of a workload, and the contents that a store may have when some of them have failed.
 *
 *     acknowledged    the write returned BB_OK: it is present, unless a later one is
 *     failed          it returned an error: it may be present or not, whole, unless a later one was
 *                     acknowledged
 *     durable         acknowledged, and survives a power failure
 *
 * Keys are numbers below DIARY_KEYS. A value names the write that wrote it.
 */
#ifndef BB_TESTS_FAULT_DIARY_H
#define BB_TESTS_FAULT_DIARY_H

#include "bb/db.h"

#define DIARY_KEYS      32
#define DIARY_VALUE_MIN 16
#define DIARY_VALUE_MAX 4096

struct diary_operation {
    uint32_t key;
    bool is_put;
    uint32_t value_size;
    uint64_t write; /* number of the write it belongs to, from 1 */
};

struct diary {
    struct diary_operation *operations; /* in order; owned */
    size_t operation_count;
    size_t operation_capacity;
    bool *acknowledged; /* by number of the write; owned */
    uint64_t write_count;
    size_t write_capacity;
    uint64_t durable; /* acknowledged writes up to here are durable */
};

void diary_deinit(struct diary *diary);

/* Begins the next write and gives its number. */
uint64_t diary_begin(struct diary *diary);
void diary_add(struct diary *diary, uint32_t key, bool is_put, uint32_t value_size);
/* All keys from low up to high, exclusive, are deleted. */
void diary_add_range(struct diary *diary, uint32_t low, uint32_t high);
void diary_end(struct diary *diary, bool is_acknowledged);
/* Everything acknowledged so far is durable now. */
void diary_set_durable(struct diary *diary);

/* buffer: 16 bytes. */
struct bb_bytes diary_key(uint32_t key, char *buffer);
/* buffer: DIARY_VALUE_MAX bytes. */
struct bb_bytes diary_value(const struct diary_operation *operation, uint8_t *buffer);

enum diary_scope {
    DIARY_LIVE,    /* all acknowledged writes must be present: the process continues, or crashed */
    DIARY_DURABLE, /* only durable writes must be: the power failed */
};

/* Reads everything, by get and by scan, and returns the first error found: NULL, or a sentence
 * (valid until the next call). failures NULL: every read must succeed. Otherwise reads may fail,
 * and failures counts them. */
const char *diary_check(const struct diary *diary, struct bb_db *db, enum diary_scope scope,
                        uint64_t *failures);

#endif
