/* More about filters: those of Parquet, and those that change after they were made.
 *
 * Included by bb/filter.h, which says what a filter, a hash, a target rate, an envelope and a view
 * are. Every envelope made here can be asked through bb_filter_view_init and described by
 * bb_filter_info.
 */
#ifndef BB_PUBLIC_FILTER_SETS_H
#define BB_PUBLIC_FILTER_SETS_H

#include "bb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Filters of Parquet files ---
 *
 * BB_FILTER_SPLIT_BLOCK is the split-block Bloom filter of the Parquet format (apache/
 * parquet-format, BloomFilter.md), bit for bit. Its hash is bb_hash_xxh64 of a value's plain
 * encoding: the bytes of a BYTE_ARRAY without their length, 4 or 8 bytes little-endian of numbers.
 * Other hashes may be used, and are then no longer Parquet's. The envelope's payload is the bitset,
 * which in a Parquet file follows the header of the filter.
 *
 * A builder (bb_filter_options.kind = BB_FILTER_SPLIT_BLOCK) makes the least number of blocks of 32
 * bytes that meets the target, by the true mixture of block loads: the formula that most writers
 * use misses 1 % by a half. Some readers accept powers of two only (bb_split_block_encode takes any
 * bitset). All functions: any thread.
 */

#define BB_SPLIT_BLOCK_SIZE      32
#define BB_SPLIT_BLOCK_COUNT_MAX 0x7fffffff /* Parquet's: below 2^31 */

/* How many blocks so many keys need. BB_INVALID, BB_TOO_LARGE outside the limits. */
BB_API BB_MUST_CHECK enum bb_status bb_split_block_count(uint64_t key_count, double target_rate,
                                                         uint64_t *ret_block_count);

/* Wraps a raw bitset: appends an envelope with a copy of it, without a target (the target rate of
 * its description is 1). key_count: of distinct values; 0 if it is not known, and then it is
 * estimated from the bits. A bitset without a bit set becomes a filter of no keys, which has no
 * bitset. BB_INVALID for a size that is not a multiple of 32, and for keys without bits. */
BB_API BB_MUST_CHECK enum bb_status
bb_split_block_encode(struct bb_bytes bitset, uint64_t key_count, struct bb_buf *envelope);
/* Gets the bitset out of a checked envelope: borrowed from it, or 32 zero bytes for a filter of no
 * keys. Fails like bb_filter_view_init; BB_INVALID for filters of other kinds. */
BB_API BB_MUST_CHECK enum bb_status bb_split_block_decode(struct bb_bytes envelope,
                                                          struct bb_bytes *ret_bitset);

/* Folding: neighbouring blocks are laid over each other, so that the result is bit for bit the
 * filter that would have been built with fewer blocks; it denies no member, and passes more foreign
 * keys. Appends a new envelope to *folded, which must not hold the old one. The number of blocks
 * must divide the old number (BB_INVALID); the result has no target. */
BB_API BB_MUST_CHECK enum bb_status
bb_split_block_fold(struct bb_bytes envelope, uint64_t block_count, struct bb_buf *folded);
/* Folds to the fewest blocks whose predicted rate meets the target: a filter can be made too large
 * before the number of keys is known, and cut to size afterwards. BB_INVALID if it passes more than
 * the target as it is. */
BB_API BB_MUST_CHECK enum bb_status
bb_split_block_fold_to_rate(struct bb_bytes envelope, double target_rate, struct bb_buf *folded);

/* --- Counting filters: keys can be removed ---
 *
 * BB_FILTER_COUNTING has a counter of 4 bits where a classic Bloom filter has a bit, so it takes
 * four times the memory. It is a set with repetitions: a key that was added twice has to be removed
 * twice. A counter that has reached 15 stays there, since nobody knows how far it went: keys that
 * name it can be removed, and it goes on saying that they may be there, so that no member is ever
 * denied. bb_filter_info.saturated_count tells how many there are: none to be expected as long as
 * no more keys are in it than planned and none is added more than 14 times.
 *
 * Removing a key that was never added, but passes by accident, takes away what belongs to others,
 * which may then be denied: remove only what was added.
 *
 * One thread at a time for changes; questions from any number of threads while nobody changes it.
 * Source: Fan, Cao, Almeida, Broder, "Summary cache", SIGCOMM 1998. */

struct bb_filter_info; /* bb/filter.h */

struct bb_counting_filter_options {
    uint64_t key_count; /* at a time, as planned: 1 ... BB_FILTER_KEY_COUNT_MAX; more may be added,
                           and the rate rises */
    double target_rate; /* at that many keys; 0 means 0.01 */
    uint64_t salt;
};

struct bb_counting_filter;

/* BB_INVALID, BB_TOO_LARGE for options outside the limits; BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_counting_filter_create(const struct bb_counting_filter_options *options,
                          struct bb_counting_filter **ret_filter);
BB_API void bb_counting_filter_destroy(struct bb_counting_filter *filter);
/* BB_TOO_LARGE when it holds BB_FILTER_KEY_COUNT_MAX keys. */
BB_API BB_MUST_CHECK enum bb_status bb_counting_filter_add(struct bb_counting_filter *filter,
                                                           uint64_t hash);
/* BB_NOT_FOUND, and nothing is changed, if the key is certainly not there. */
BB_API BB_MUST_CHECK enum bb_status bb_counting_filter_remove(struct bb_counting_filter *filter,
                                                              uint64_t hash);
/* False: the hash is certainly not there. */
BB_API bool bb_counting_filter_may_contain(const struct bb_counting_filter *filter, uint64_t hash);
/* As bb_filter_info of its envelope; the key count is that of keys added less removed. A predicted
 * rate above the target: it holds more than planned. Reads all counters. */
BB_API void bb_counting_filter_info(const struct bb_counting_filter *filter,
                                    struct bb_filter_info *ret_info);

/* Appends its envelope, from which it can be decoded and changed further. */
BB_API BB_MUST_CHECK enum bb_status
bb_counting_filter_encode(const struct bb_counting_filter *filter, struct bb_buf *envelope);
/* A copy of what an envelope holds. Fails like bb_filter_view_init; BB_INVALID for other kinds. */
BB_API BB_MUST_CHECK enum bb_status
bb_counting_filter_decode(struct bb_bytes envelope, struct bb_counting_filter **ret_filter);
/* Appends the envelope of the classic Bloom filter (BB_FILTER_BLOOM) with the same answers in a
 * quarter of the space; bit for bit the one of the same keys with these bits and probes. */
BB_API BB_MUST_CHECK enum bb_status
bb_counting_filter_encode_bloom(const struct bb_counting_filter *filter, struct bb_buf *envelope);

#ifdef __cplusplus
}
#endif
#endif
