/* More about filters: those of Parquet, and those that change after they were made.
 *
 * Included by bb/filter.h, which says what a filter, a hash, a target rate, an envelope and a view
 * are. Every envelope made here can be asked through bb_filter_view_init and described by
 * bb_filter_info. What may be NULL: as there.
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
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    uint64_t key_count; /* at a time, as planned: 1 ... BB_FILTER_KEY_COUNT_MAX; more may be added,
                           and the rate rises */
    double target_rate; /* at that many keys; 0 means 0.01 */
    uint64_t salt;
};

struct bb_counting_filter;

/* BB_INVALID, BB_TOO_LARGE for options outside the limits, which NULL is too: key_count has no
 * default; BB_NO_MEMORY. */
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

/* --- Scalable filters: an unknown number of keys ---
 *
 * BB_FILTER_SCALABLE is a cascade of classic Bloom filters ("stages"), each for twice as many keys
 * as the one before, and each with a lower rate: stage i (from 0 on) has
 * target_rate * (1 - ratio) * ratio^i, so that all of them together never pass more than the
 * target, whatever the number of keys. That holds for the bits that were really set, not in
 * expectation only: a new stage begins before the last one passes more than its share.
 *
 * The price, against one classic filter of the right size: 1.44 * log2(1 / (1 - ratio)) bits per
 * key, and 1.44 * i * log2(1 / ratio) more for those in stage i: 1.44 * (1 + i) at the ratio 1/2,
 * which is best up to about 3 stages; 0.8 to 0.9 beyond (3.3 to 4.8, and 0.46 to 0.22 per stage). A
 * question costs a probe per stage. The last stage is on average half empty: expect up to twice the
 * memory while it fills. A filter whose first stage is large enough has one stage.
 *
 * One thread at a time for changes; questions from any number of threads while nobody changes it.
 * Source: Almeida, Baquero, Preguica, Hutchison, "Scalable Bloom filters", 2007. */

#define BB_SCALABLE_FIRST_KEYS_MIN 16
#define BB_SCALABLE_RATIO_MIN      0.1
#define BB_SCALABLE_RATIO_MAX      0.95

struct bb_scalable_filter_options {
    size_t struct_size;       /* sizeof of it, or 0: bb/base.h */
    uint64_t first_key_count; /* of stage 0: BB_SCALABLE_FIRST_KEYS_MIN ...
                                 BB_FILTER_KEY_COUNT_MAX; 0 means 1,024 */
    double target_rate;       /* of all stages together; 0 means 0.01 */
    double ratio;             /* BB_SCALABLE_RATIO_MIN ... BB_SCALABLE_RATIO_MAX; 0 means 0.5 */
    uint64_t salt;
};

struct bb_scalable_filter;

/* BB_INVALID, BB_TOO_LARGE for options outside the limits; BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_scalable_filter_create(const struct bb_scalable_filter_options *options,
                          struct bb_scalable_filter **ret_filter);
BB_API void bb_scalable_filter_destroy(struct bb_scalable_filter *filter);
/* Asks and adds in one: *ret_added is true if the hash was certainly not there before, and false,
 * with nothing changed, if it may have been. Equal hashes cost nothing. BB_TOO_LARGE at
 * BB_FILTER_KEY_COUNT_MAX keys and BB_NO_MEMORY leave the filter as it was. */
BB_API BB_MUST_CHECK enum bb_status bb_scalable_filter_add(struct bb_scalable_filter *filter,
                                                           uint64_t hash, bool *ret_added);
/* False: the hash was certainly not added. */
BB_API bool bb_scalable_filter_may_contain(const struct bb_scalable_filter *filter, uint64_t hash);
/* Keys that were added, without those that passed by accident when they came. */
BB_API uint64_t bb_scalable_filter_key_count(const struct bb_scalable_filter *filter);

/* Appends its envelope, from which it can be decoded and grow further. */
BB_API BB_MUST_CHECK enum bb_status
bb_scalable_filter_encode(const struct bb_scalable_filter *filter, struct bb_buf *envelope);
/* A copy of what an envelope holds. Fails like bb_filter_view_init; BB_INVALID for other kinds. */
BB_API BB_MUST_CHECK enum bb_status
bb_scalable_filter_decode(struct bb_bytes envelope, struct bb_scalable_filter **ret_filter);

/* --- Count sketches: how often a key came, and which came most ---
 *
 * BB_FILTER_COUNT_MIN counts keys in little memory: rows of 32-bit cells, one cell per row for each
 * key, whose count is the least of its cells. A count is never too low. It is too high by more than
 * error * total for at most error_probability of all keys, where total is the sum of all counts
 * that were added: e / error columns in ln(1 / error_probability) rows of 4 bytes, whatever the
 * number of keys: 54 kB for 0.1 % and 1 %.
 *
 * With it goes a list of the keys that came most, with copies of their bytes: which absent keys a
 * database is asked for most, say. A key that is not in a full list came at most as often as the
 * last of the list says; that is certain. A count of the list is the sketch's or a lower one that
 * is not too low either: what was counted while the key was in the list, and what it came before at
 * most, which is known to the last of the list. As long as the list has room its counts are exact.
 *
 * One thread at a time for changes; questions from any number of threads while nobody changes it.
 * Sources: Cormode, Muthukrishnan, "An improved data stream summary: the count-min sketch and its
 * applications", 2005; Estan, Varghese, "New directions in traffic measurement and accounting",
 * 2002 (conservative update). */

#define BB_COUNT_ERROR_MIN    (1.0 / 16777216) /* 2^-24 */
#define BB_COUNT_ERROR_MAX    0.5
#define BB_COUNT_TOP_MAX      1024
#define BB_COUNT_KEY_SIZE_MAX 65536 /* a table's, BB_KEY_SIZE_MAX */

struct bb_count_sketch_options {
    size_t struct_size;       /* sizeof of it, or 0: bb/base.h */
    double error;             /* BB_COUNT_ERROR_MIN ... BB_COUNT_ERROR_MAX; 0 means 0.001 */
    double error_probability; /* BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX; 0 means 0.01 */
    uint32_t top_count;       /* keys in the list: 0 ... BB_COUNT_TOP_MAX. An addition looks through
                                 all of them if its key belongs to the list */
    bool is_conservative;     /* raise only the cells that are below the new count: the same bounds,
                                 and smaller errors, mostly of rare keys */
    uint64_t salt;
};

struct bb_count_sketch;

/* BB_INVALID, BB_TOO_LARGE for options outside the limits; BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_count_sketch_create(const struct bb_count_sketch_options *options,
                       struct bb_count_sketch **ret_sketch);
BB_API void bb_count_sketch_destroy(struct bb_count_sketch *sketch);
/* Forgets everything that was counted: once an hour, say. */
BB_API void bb_count_sketch_reset(struct bb_count_sketch *sketch);

/* The key with this hash came count times more. key: its bytes, copied if it enters the list; may
 * be empty where no list is kept. A cell that has reached 2^32 - 1 stays there, and counts of that
 * size are then too low: see saturated_count. BB_TOO_LARGE for longer keys, or a total beyond 64
 * bits; BB_NO_MEMORY. On failure nothing was counted. */
BB_API BB_MUST_CHECK enum bb_status bb_count_sketch_add(struct bb_count_sketch *sketch,
                                                        uint64_t hash, struct bb_bytes key,
                                                        uint64_t count);
/* How often the key came, or more; 0 means never. */
BB_API uint64_t bb_count_sketch_count(const struct bb_count_sketch *sketch, uint64_t hash);

struct bb_count_entry {
    uint64_t hash;
    uint64_t count;      /* when it last came; since then its count may have risen by the error */
    struct bb_bytes key; /* borrowed from the sketch until its next change */
};
/* Writes the up to capacity keys that came most, those first; gives how many. */
BB_API size_t bb_count_sketch_top(const struct bb_count_sketch *sketch,
                                  struct bb_count_entry *entries, size_t capacity);

struct bb_count_sketch_info {
    uint64_t total;     /* of all counts that were added */
    uint64_t key_count; /* keys that certainly were new when they came: at most as many as there
                           are, and no more than BB_FILTER_KEY_COUNT_MAX */
    double error;
    double error_probability;
    uint64_t columns;
    uint32_t rows;
    uint64_t cells_size_bytes;
    uint64_t saturated_count; /* cells that have reached 2^32 - 1 */
    uint64_t reserved[3];
};
/* Reads all cells. */
BB_API void bb_count_sketch_info(const struct bb_count_sketch *sketch,
                                 struct bb_count_sketch_info *ret_info);

/* Appends its envelope, from which it can be decoded and count further. bb_filter_view_init asks
 * whether a key came at all; bb_filter_info gives error_probability as the target rate, and as the
 * predicted rate the share of foreign keys whose count is not 0. */
BB_API BB_MUST_CHECK enum bb_status bb_count_sketch_encode(const struct bb_count_sketch *sketch,
                                                           struct bb_buf *envelope);
/* A copy of what an envelope holds. Fails like bb_filter_view_init; BB_INVALID for other kinds. */
BB_API BB_MUST_CHECK enum bb_status bb_count_sketch_decode(struct bb_bytes envelope,
                                                           struct bb_count_sketch **ret_sketch);

#ifdef __cplusplus
}
#endif
#endif
