/* The keys, values and lookups of a comparison: the same for every engine, in the same order.
 *
 * A key is a 64-bit number in 16 hexadecimal digits, so keys sort like their numbers. A longer key
 * continues with digits derived from the number. A key of 8 bytes is the number itself, big-endian.
 * A bijection maps a counter to the numbers: even counts give stored keys, odd counts absent keys.
 * So an absent key is never stored, and both have the same form and the same range.
 *
 * The second half of a value repeats the first, which is noise: compression halves the value. A
 * value of fewer than 16 bytes is all noise. The first eight bytes are derived from the number and
 * a version, so that values of different versions differ. Workloads that never update a key use
 * version 0.
 *
 * Memory: shared, so that a forked run neither copies nor counts it. Threads: read-only after init.
 */
#ifndef BB_BENCH_WORKLOAD_H
#define BB_BENCH_WORKLOAD_H

#include "bb/base.h"

#define WORKLOAD_KEY_SIZE_BINARY 8  /* the number in binary */
#define WORKLOAD_KEY_SIZE_MIN    16 /* of the others */
#define WORKLOAD_VALUE_SIZE_MIN  8
#define WORKLOAD_SIZE_MAX        65536

struct workload_options {
    uint64_t key_count;
    uint64_t lookup_count; /* of each kind */
    uint64_t seek_count;
    uint64_t seek_length; /* entries visited by each */
    size_t key_size;
    size_t value_size;
    uint64_t seed;
    bool is_bare; /* only keys and values: no lookups, range queries and traces */
};

/* The expected result of reading entries in order. */
struct workload_trace {
    uint64_t count;
    uint64_t checksum; /* of keys and values, depends on the order */
};

struct workload {
    struct workload_options options;
    uint64_t *present; /* numbers of the lookups */
    uint64_t *absent;
    uint64_t *seeks;
    uint8_t *noise;
    struct workload_trace scan;
    struct workload_trace seek; /* over all seeks */
};

/* Ends the process when memory runs out. Owned: workload_deinit. */
void workload_init(struct workload *workload, const struct workload_options *options);
void workload_deinit(struct workload *workload);

/* The number of the i-th key stored. */
uint64_t workload_number(const struct workload *workload, uint64_t i);
/* True when the number belongs to a key that may be stored; *ret_index is then its i. */
bool workload_index(const struct workload *workload, uint64_t number, uint64_t *ret_index);
/* The number of the i-th key that is never stored. */
uint64_t workload_absent_number(const struct workload *workload, uint64_t i);
/* The number of a key whose first 16 bytes, or 8 of a binary one, are given. */
uint64_t workload_parse(const struct workload *workload, const uint8_t *key);
/* The numbers of the first count keys, ascending. Owned: workload_release. */
uint64_t *workload_sorted(const struct workload *workload, uint64_t count);
/* The index of the first number that is not below `number`; count if there is none. */
uint64_t workload_lower_bound(const uint64_t *sorted, uint64_t count, uint64_t number);
/* Zeroed shared memory; ends the process when memory runs out. */
void *workload_allocate(size_t count, size_t element_size);
void workload_release(void *memory, size_t count, size_t element_size);

void workload_key(const struct workload *workload, uint64_t number, uint8_t *key);
void workload_value(const struct workload *workload, uint64_t number, uint8_t *value);
void workload_version_value(const struct workload *workload, uint64_t number, uint64_t version,
                            uint8_t *value);
/* The version of a key's value, from the first eight bytes of the value. */
uint64_t workload_version_of(uint64_t number, const uint8_t *value);

/* Adds an entry. Cheap enough for a timed loop: three loads and two multiplications. */
static inline void workload_trace_add(struct workload_trace *trace, struct bb_bytes key,
                                      struct bb_bytes value)
{
    uint64_t digits = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
    if (key.size >= 8 && value.size >= 8) {
        __builtin_memcpy(&digits, key.data + (key.size >= 16 ? 8 : 0), 8);
        __builtin_memcpy(&begin, value.data, 8);
        __builtin_memcpy(&end, value.data + value.size - 8, 8);
    }
    trace->count++;
    trace->checksum = (trace->checksum ^ digits ^ begin) * UINT64_C(0x9e3779b97f4a7c15) +
                      end * (key.size + value.size);
}

#endif
