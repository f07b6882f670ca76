/* More filters: Parquet's, filters that can change after they are built, and count sketches.
 *
 * Included by bb/filter.h, which defines filter, hash, target rate, envelope and view. Every
 * envelope made here can be probed through bb_filter_view_init and described by bb_filter_info. The
 * same rules for NULL apply. */
#ifndef BB_PUBLIC_FILTER_SETS_H
#define BB_PUBLIC_FILTER_SETS_H

#include "bb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Filters of Parquet files ---
 *
 * BB_FILTER_SPLIT_BLOCK is the split-block Bloom filter of the Parquet format
 * (apache/parquet-format, BloomFilter.md), bit for bit. Its hash is bb_hash_xxh64 of a value's
 * plain encoding: the bytes of a BYTE_ARRAY without their length, or the 4 or 8 little-endian bytes
 * of a number. Other hashes work too, but then the filter is not Parquet's. The payload of the
 * envelope is the bitset, which follows the filter's header in a Parquet file.
 *
 * A builder (bb_filter_options.kind = BB_FILTER_SPLIT_BLOCK) uses the smallest number of 32-byte
 * blocks that meets the target. It computes the rate from the exact distribution of block loads.
 * Filters sized by the formula of other writers exceed a target of 1 % by half. Some readers accept
 * only numbers of blocks that are powers of two (bb_split_block_encode takes any bitset). All
 * functions: any thread. */

#define BB_SPLIT_BLOCK_SIZE      32
#define BB_SPLIT_BLOCK_COUNT_MAX 0x7fffffff /* Parquet's limit: below 2^31 */

/* The number of blocks for this number of keys. BB_INVALID or BB_TOO_LARGE outside the limits. */
BB_API BB_MUST_CHECK enum bb_status bb_split_block_count(uint64_t key_count, double target_rate,
                                                         uint64_t *ret_block_count);

/* Wraps a raw bitset: appends an envelope with a copy of it. The envelope has no target (its
 * description has target rate 1). key_count is the number of distinct values, or 0 if unknown; it
 * is then estimated from the bits. A bitset of only zero bits becomes a filter of no keys, which
 * has no bitset. BB_INVALID if the size is not a multiple of 32, or if key_count is not 0 and no
 * bit is set. */
BB_API BB_MUST_CHECK enum bb_status
bb_split_block_encode(struct bb_bytes bitset, uint64_t key_count, struct bb_buf *envelope);
/* Returns the bitset of a checked envelope: borrowed from the envelope, or 32 zero bytes for a
 * filter of no keys. Fails like bb_filter_view_init; BB_INVALID for other kinds. */
BB_API BB_MUST_CHECK enum bb_status bb_split_block_decode(struct bb_bytes envelope,
                                                          struct bb_bytes *ret_bitset);

/* Folds a filter: combines neighbouring blocks with OR. The result is bit for bit the filter that a
 * build with fewer blocks would give. It keeps all members and has more false positives. Appends
 * the new envelope to *folded, which must not contain the old one. block_count must divide the old
 * number of blocks (else BB_INVALID). The result has no target. */
BB_API BB_MUST_CHECK enum bb_status
bb_split_block_fold(struct bb_bytes envelope, uint64_t block_count, struct bb_buf *folded);
/* Folds to the fewest blocks whose predicted rate meets the target. So a filter can be built too
 * large, before the number of keys is known, and reduced afterwards. BB_INVALID if the filter
 * already exceeds the target. */
BB_API BB_MUST_CHECK enum bb_status
bb_split_block_fold_to_rate(struct bb_bytes envelope, double target_rate, struct bb_buf *folded);

/* --- Counting filters: keys can be removed ---
 *
 * BB_FILTER_COUNTING has a 4-bit counter for each bit of a classic Bloom filter, so it takes four
 * times the memory. It is a multiset: a key added twice must be removed twice. A counter that
 * reaches 15 stays at 15, because its true value is then unknown. Keys that use it can be removed,
 * but their removal does not decrement it, so that no member is ever ruled out.
 * bb_filter_info.saturated_count is the number of such counters. It is hardly ever above 0 if the
 * filter holds no more keys than planned and each is there once or twice. Keys share counters, so
 * keys that are added ten times each may saturate some.
 *
 * Remove only keys that were added. Removing a false positive decrements counters of other keys,
 * and may make the filter rule these out.
 *
 * Changes: one thread at a time. Probes: any number of threads while no thread changes the filter.
 * Source: Fan, Cao, Almeida, Broder, "Summary cache", SIGCOMM 1998. */

struct bb_filter_info; /* bb/filter.h */

struct bb_counting_filter_options {
    /* Planned number of keys held at a time: 1 ... BB_FILTER_KEY_COUNT_MAX. More may be added; the
     * rate then rises. */
    uint64_t key_count;
    /* Rate at that many keys; 0 means 0.01. */
    double target_rate;
    uint64_t salt;
};

struct bb_counting_filter;

/* BB_INVALID or BB_TOO_LARGE if options are outside the limits. NULL options are BB_INVALID,
 * because key_count has no default. BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_counting_filter_create(const struct bb_counting_filter_options *options,
                          struct bb_counting_filter **ret_filter);
BB_API void bb_counting_filter_destroy(struct bb_counting_filter *filter);
/* BB_TOO_LARGE if it holds BB_FILTER_KEY_COUNT_MAX keys. */
BB_API BB_MUST_CHECK enum bb_status bb_counting_filter_add(struct bb_counting_filter *filter,
                                                           uint64_t hash);
/* BB_NOT_FOUND, without a change, if the key is certainly absent. */
BB_API BB_MUST_CHECK enum bb_status bb_counting_filter_remove(struct bb_counting_filter *filter,
                                                              uint64_t hash);
/* False: the hash is certainly absent. */
BB_API bool bb_counting_filter_may_contain(const struct bb_counting_filter *filter, uint64_t hash);
/* Same as bb_filter_info of its envelope. The key count is the number of keys added minus keys
 * removed. A predicted rate above the target by more than chance means that the filter holds more
 * keys than planned. Reads all counters. */
BB_API void bb_counting_filter_info(const struct bb_counting_filter *filter,
                                    struct bb_filter_info *ret_info);

/* Appends its envelope. Decoding gives a filter that can be changed again. */
BB_API BB_MUST_CHECK enum bb_status
bb_counting_filter_encode(const struct bb_counting_filter *filter, struct bb_buf *envelope);
/* Decodes a copy of an envelope. Fails like bb_filter_view_init; BB_INVALID for other kinds. */
BB_API BB_MUST_CHECK enum bb_status
bb_counting_filter_decode(struct bb_bytes envelope, struct bb_counting_filter **ret_filter);
/* Appends the envelope of the classic Bloom filter (BB_FILTER_BLOOM) that gives the same results in
 * a quarter of the space. It equals, bit for bit, a filter built from the same keys with the same
 * number of bits and probes. */
BB_API BB_MUST_CHECK enum bb_status
bb_counting_filter_encode_bloom(const struct bb_counting_filter *filter, struct bb_buf *envelope);

/* --- Scalable filters: an unknown number of keys ---
 *
 * BB_FILTER_SCALABLE is a sequence of classic Bloom filters ("stages"). Each is sized for twice as
 * many keys as the previous stage and has a lower rate: stage i, starting at 0, has target_rate *
 * (1 - ratio) * ratio^i. The rates of all stages together never exceed the target, for any number
 * of keys. This holds for the bits that are actually set, not only in expectation: a new stage
 * starts before the last stage exceeds its share.
 *
 * Cost, compared with one classic filter of the right size: 1.44 * log2(1 / (1 - ratio)) more bits
 * per key, plus 1.44 * i * log2(1 / ratio) for the keys of stage i. At ratio 1/2 this is 1.44 * (1
 * + i), the best choice up to about 3 stages. For more stages choose 0.8 to 0.9 (3.3 to 4.8 bits,
 * plus 0.46 to 0.22 per stage). A lookup probes every stage. The last stage is half empty on
 * average, so expect up to twice the memory while it fills. If the first stage is large enough,
 * there is only one.
 *
 * Changes: one thread at a time. Probes: any number of threads while no thread changes the filter.
 * Source: Almeida, Baquero, Preguica, Hutchison, "Scalable Bloom filters", 2007. */

#define BB_SCALABLE_FIRST_KEYS_MIN 16
#define BB_SCALABLE_RATIO_MIN      0.1
#define BB_SCALABLE_RATIO_MAX      0.95

struct bb_scalable_filter_options {
    /* Keys of stage 0: BB_SCALABLE_FIRST_KEYS_MIN ... BB_FILTER_KEY_COUNT_MAX; 0 means 1,024. */
    uint64_t first_key_count;
    /* Rate of all stages together; 0 means 0.01. */
    double target_rate;
    /* BB_SCALABLE_RATIO_MIN ... BB_SCALABLE_RATIO_MAX; 0 means 0.5. */
    double ratio;
    uint64_t salt;
};

struct bb_scalable_filter;

/* BB_INVALID or BB_TOO_LARGE if options are outside the limits; BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_scalable_filter_create(const struct bb_scalable_filter_options *options,
                          struct bb_scalable_filter **ret_filter);
BB_API void bb_scalable_filter_destroy(struct bb_scalable_filter *filter);
/* Probes and adds in one call. *ret_added is true if the hash was certainly absent. It is false,
 * and the filter is unchanged, if the hash may have been present. Adding an equal hash costs no
 * space. BB_TOO_LARGE (BB_FILTER_KEY_COUNT_MAX keys) and BB_NO_MEMORY leave the filter
 * unchanged. */
BB_API BB_MUST_CHECK enum bb_status bb_scalable_filter_add(struct bb_scalable_filter *filter,
                                                           uint64_t hash, bool *ret_added);
/* False: the hash was certainly not added. */
BB_API bool bb_scalable_filter_may_contain(const struct bb_scalable_filter *filter, uint64_t hash);
/* Number of keys added, not counting false positives at the time of their addition. */
BB_API uint64_t bb_scalable_filter_key_count(const struct bb_scalable_filter *filter);

/* Appends its envelope. Decoding gives a filter that can grow further. */
BB_API BB_MUST_CHECK enum bb_status
bb_scalable_filter_encode(const struct bb_scalable_filter *filter, struct bb_buf *envelope);
/* Decodes a copy of an envelope. Fails like bb_filter_view_init; BB_INVALID for other kinds. */
BB_API BB_MUST_CHECK enum bb_status
bb_scalable_filter_decode(struct bb_bytes envelope, struct bb_scalable_filter **ret_filter);

/* --- Count sketches: how often each key occurred, and the most frequent keys ---
 *
 * BB_FILTER_COUNT_MIN counts keys in little memory. It has rows of 32-bit cells, with one cell per
 * row for each key. The count of a key is the minimum of its cells. A count is never too low. It is
 * too high by more than error * total for at most a share error_probability of all keys, where
 * total is the sum of all counts added. The sketch has ln(1 / error_probability) rows of e / error
 * cells of 4 bytes, for any number of keys: 54 kB for an error of 0.1 % with probability 1 %.
 *
 * The sketch also keeps a list of the most frequent keys, with copies of their bytes. One use is to
 * find the absent keys that are looked up most often in a database. If the list is full, a key
 * outside it certainly occurred no more often than the count of the last key in the list. A count
 * in the list is the sketch's count, or a tighter bound if there is one: the additions since the
 * key entered the list, plus the count that the last key of the list had at that time. While the
 * list is not full, its counts are exact.
 *
 * Changes: one thread at a time. Queries: any number of threads while no thread changes the sketch.
 * Sources: Cormode, Muthukrishnan, "An improved data stream summary: the count-min sketch and its
 * applications", 2005; Estan, Varghese, "New directions in traffic measurement and accounting",
 * 2002 (conservative update). */

#define BB_COUNT_ERROR_MIN    (1.0 / 16777216) /* 2^-24 */
#define BB_COUNT_ERROR_MAX    0.5
#define BB_COUNT_TOP_MAX      1024
#define BB_COUNT_KEY_SIZE_MAX 65536 /* same as BB_KEY_SIZE_MAX */

struct bb_count_sketch_options {
    /* BB_COUNT_ERROR_MIN ... BB_COUNT_ERROR_MAX; 0 means 0.001. */
    double error;
    /* BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX; 0 means 0.01. */
    double error_probability;
    /* Keys in the list: 0 ... BB_COUNT_TOP_MAX. Adding a key that belongs in the list scans the
     * list. */
    uint32_t top_count;
    /* Raise only cells that are below the new count. The bounds are the same; errors are smaller,
     * mostly for rare keys. */
    bool is_conservative;
    uint64_t salt;
};

struct bb_count_sketch;

/* BB_INVALID or BB_TOO_LARGE if options are outside the limits; BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status
bb_count_sketch_create(const struct bb_count_sketch_options *options,
                       struct bb_count_sketch **ret_sketch);
BB_API void bb_count_sketch_destroy(struct bb_count_sketch *sketch);
/* Clears all counts and the list, for example once an hour. */
BB_API void bb_count_sketch_reset(struct bb_count_sketch *sketch);

/* Adds count occurrences of the key with this hash. key: its bytes, copied if the key enters the
 * list; may be empty if no list is kept. A cell that reaches 2^32 - 1 stays there, so counts of
 * that size are too low: see saturated_count. BB_TOO_LARGE for a key above BB_COUNT_KEY_SIZE_MAX or
 * a total beyond 64 bits; BB_NO_MEMORY. On failure the sketch is unchanged. */
BB_API BB_MUST_CHECK enum bb_status bb_count_sketch_add(struct bb_count_sketch *sketch,
                                                        uint64_t hash, struct bb_bytes key,
                                                        uint64_t count);
/* An upper bound of the number of occurrences; 0 means never. */
BB_API uint64_t bb_count_sketch_count(const struct bb_count_sketch *sketch, uint64_t hash);

struct bb_count_entry {
    uint64_t hash;
    /* The key's count at its last addition. bb_count_sketch_count may since return more, because
     * other keys have raised the same cells. */
    uint64_t count;
    /* Borrowed from the sketch until its next change. */
    struct bb_bytes key;
};
/* Writes up to capacity of the most frequent keys, in descending order. Returns their number. */
BB_API size_t bb_count_sketch_top(const struct bb_count_sketch *sketch,
                                  struct bb_count_entry *entries, size_t capacity);

struct bb_count_sketch_info {
    /* Sum of all counts added. */
    uint64_t total;
    /* Number of keys that were certainly new when added: at most the true number, and at most
     * BB_FILTER_KEY_COUNT_MAX. */
    uint64_t key_count;
    double error;
    double error_probability;
    uint64_t columns;
    uint32_t rows;
    uint64_t cells_size_bytes;
    /* Cells that have reached 2^32 - 1. */
    uint64_t saturated_count;
};
/* Reads all cells. */
BB_API void bb_count_sketch_info(const struct bb_count_sketch *sketch,
                                 struct bb_count_sketch_info *ret_info);

/* Appends its envelope. Decoding gives a sketch that can continue counting. A view of it
 * (bb_filter_view_init) tests whether a key occurred. bb_filter_info gives error_probability as the
 * target rate, and the share of non-member keys whose count is not 0 as the predicted rate. */
BB_API BB_MUST_CHECK enum bb_status bb_count_sketch_encode(const struct bb_count_sketch *sketch,
                                                           struct bb_buf *envelope);
/* Decodes a copy of an envelope. Fails like bb_filter_view_init; BB_INVALID for other kinds. */
BB_API BB_MUST_CHECK enum bb_status bb_count_sketch_decode(struct bb_bytes envelope,
                                                           struct bb_count_sketch **ret_sketch);

#ifdef __cplusplus
}
#endif
#endif
