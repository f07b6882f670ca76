/* Standalone filters: a compact summary of a set of keys that returns "absent" or "may contain".
 *
 * A filter takes 64-bit hashes (bb_hash_key under your secret). To build one:
 *
 *     struct bb_filter_options options = {.kind = BB_FILTER_RIBBON, .target_rate = 0.01};
 *     bb_filter_builder_create(&options, &builder);
 *     for (each key) bb_filter_builder_add(builder, bb_hash_key(&secret, key));
 *     bb_filter_builder_finish(builder, &envelope);          // bytes to store anywhere
 *
 * To probe it:
 *
 *     bb_filter_view_init(&view, bytes);                // checks the envelope, borrows the bytes
 *     if (!bb_filter_may_contain(&view, hash)) ...      // certainly absent
 *
 * A view fails open. For damaged, truncated or unknown bytes, bb_filter_view_init returns a status
 * that describes the problem, and the view returns "may contain" for every hash. Only a filter
 * built from zero keys returns "absent" for every hash.
 *
 * Rates. The rate is the share of non-member keys for which the filter returns "may contain".
 * target_rate limits its expectation over all hashes: bb_filter_plan chooses parameters with
 * predicted_rate <= target_rate. The predicted rate in struct bb_filter_info is computed from the
 * bits that are actually set. For Bloom kinds it differs from the plan's by chance, so it exceeds
 * the target in up to half of all valid filters. docs/filters.md has the mathematics.
 *
 * NULL is allowed only for options (meaning the defaults), for objects to be destroyed, and for
 * empty bytes and arrays. */
#ifndef BB_PUBLIC_FILTER_H
#define BB_PUBLIC_FILTER_H

#include "bb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of filters. ON DISK: the values never change. Tables use the kinds up to BB_FILTER_BLOOM.
 * The others are standalone only. */
enum bb_filter_kind {
    /* In options only: ribbon. */
    BB_FILTER_DEFAULT = 0,
    /* No filter: every key may be present. */
    BB_FILTER_NONE = 1,
    /* Byte-grouped or bit-exact ribbon, whichever is smaller: 2 to 8 % above the theoretical
     * minimum. */
    BB_FILTER_RIBBON = 2,
    /* Bloom in 64-byte lines: fast to build, for short-lived sets. */
    BB_FILTER_BLOCKED_BLOOM = 3,
    /* Classic Bloom with any number of bits and independent probes. */
    BB_FILTER_BLOOM = 4,
    /* Parquet's split-block Bloom, bit for bit, for interchange. Hashes are used unchanged; the
     * salt must be 0. */
    BB_FILTER_SPLIT_BLOCK = 5,
    /* Bloom with counters: keys can be removed (bb/filter_sets.h). */
    BB_FILTER_COUNTING = 6,
    /* Bloom that grows, for an unknown number of keys. */
    BB_FILTER_SCALABLE = 7,
    /* Bloom with a separate slice of the bits for each probe. */
    BB_FILTER_PARTITIONED = 8,
    /* Count-min sketch: counts occurrences (bb/filter_sets.h). Builders do not make it. */
    BB_FILTER_COUNT_MIN = 9,
};

/* A stable lower-case name: "ribbon", "blocked-bloom", ... NULL for an unknown value. */
BB_API const char *bb_filter_kind_name(enum bb_filter_kind kind);
/* A set of kinds has a bit for each. */
#define BB_FILTER_KIND_BIT(kind) (UINT32_C(1) << (kind))
/* The kinds of the filters in tables, and so in stores. */
#define BB_FILTER_KINDS_OF_TABLES                                                                  \
    (BB_FILTER_KIND_BIT(BB_FILTER_NONE) | BB_FILTER_KIND_BIT(BB_FILTER_RIBBON) |                   \
     BB_FILTER_KIND_BIT(BB_FILTER_BLOCKED_BLOOM) | BB_FILTER_KIND_BIT(BB_FILTER_BLOOM))
/* The kinds that answer whether a key may be present: all except the default and count-min. */
#define BB_FILTER_KINDS_OF_SETS                                                                    \
    (BB_FILTER_KINDS_OF_TABLES | BB_FILTER_KIND_BIT(BB_FILTER_SPLIT_BLOCK) |                       \
     BB_FILTER_KIND_BIT(BB_FILTER_COUNTING) | BB_FILTER_KIND_BIT(BB_FILTER_SCALABLE) |             \
     BB_FILTER_KIND_BIT(BB_FILTER_PARTITIONED))
/* The kind with this name, of a set of kinds. BB_INVALID for other names; the message lists the
 * names of the set. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_kind_find(const char *name, uint32_t kinds,
                                                        enum bb_filter_kind *ret_kind);

/* Range of target rates. A rate outside is BB_INVALID; it is never clamped. */
#define BB_FILTER_RATE_MIN (1.0 / 16777216) /* 2^-24 */
#define BB_FILTER_RATE_MAX 0.5

/* Maximum number of keys of a filter. */
#define BB_FILTER_KEY_COUNT_MAX (UINT64_C(1) << 32)

/* Maximum slack of a ribbon. */
#define BB_FILTER_SLACK_MAX 0.25

struct bb_filter_options {
    enum bb_filter_kind kind;
    /* BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX; 0 means 0.01. */
    double target_rate;
    /* Ribbon only: trades space for build time. The number of extra slots as a share of the keys, 0
     * ... BB_FILTER_SLACK_MAX. At 0.03 a filter of 1,000 keys is 2 % larger and takes three
     * quarters of the time to build. 0 gives the smallest filter. */
    double slack;
    /* Makes this filter's false positives independent of the false positives of other filters. Kept
     * in the envelope. */
    uint64_t salt;
    /* Bloom kinds: size and number of probes, from a plan or from a filter that will be united with
     * this one. They apply to any number of keys; target_rate is then only recorded. 0:
     * parameters that reach target_rate for the keys added. */
    uint64_t parameters[2];
};

/* Collects hashes. One thread at a time. Memory until finish: an array of 8 bytes per hash, at
 * least 8 KiB, with up to 2 unused bytes per hash (8 below 65,536 hashes). Where realloc copies
 * instead of remapping pages, the old and the new array exist together while the array grows.
 * finish needs up to twice the size of the envelope plus 0.1 MB; for counting and scalable filters
 * up to three times the envelope. After the first failure every call returns it. */
struct bb_filter_builder;
BB_API BB_MUST_CHECK enum bb_status
bb_filter_builder_create(const struct bb_filter_options *options,
                         struct bb_filter_builder **ret_builder);
BB_API void bb_filter_builder_destroy(struct bb_filter_builder *builder);
/* Adds a key by its hash. The same hash may be added again and takes no more space in the filter.
 * BB_TOO_LARGE beyond BB_FILTER_KEY_COUNT_MAX; BB_NO_MEMORY. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_builder_add(struct bb_filter_builder *builder,
                                                          uint64_t hash);
/* Appends the envelope to *envelope (owned by the caller). The builder is then empty and can build
 * another filter. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_builder_finish(struct bb_filter_builder *builder,
                                                             struct bb_buf *envelope);

/* Description of an envelope. */
struct bb_filter_info {
    enum bb_filter_kind kind;
    uint32_t version;
    /* Distinct hashes. */
    uint64_t key_count;
    /* Of the whole envelope. */
    uint64_t size_bytes;
    /* Of the whole envelope; 0 for no keys. */
    double bits_per_key;
    double target_rate;
    /* Computed from the bits that are set: by chance above or below the plan's. */
    double predicted_rate;
    /* Share of set bits; about 1/2 for ribbons. */
    double fill;
    /* Ribbon: fingerprint bits of the larger shards. Bloom kinds: number of probes, k. */
    uint32_t bits_per_probe;
    uint64_t salt;
    /* Counters that are full and stay full; 0 for kinds without counters. */
    uint64_t saturated_count;
    /* Of a scalable filter; 0 for other kinds. */
    uint32_t stage_count;
    /* Relative standard deviation of predicted_rate over all sets with this number of keys. The
     * spread is multiplicative: one valid filter in 30,000 has a rate of more than
     * e^(4 * rate_deviation) times the planned one. For blocked Bloom and split-block filters with
     * a target of 1e-4 or less it is one in 1,000, because a single line or block can dominate the
     * rate. 0 for ribbon and scalable filters, whose predicted rate never exceeds the target, and
     * for count-min. */
    double rate_deviation;
};

/* A filter that can be probed. It borrows the bytes of the envelope, which must outlive it. It may
 * be copied by assignment. A view is constant, so any number of threads may probe it. */
struct bb_filter_view {
    /* Internal. NULL in a zeroed view, which returns "may contain". */
    const void *kind;
    /* Internal: the probe function for this processor's instruction set. */
    const void *probe;
    struct bb_bytes payload;
    uint64_t salt;
    uint64_t parameters[4];
};

/* Checks the envelope and its checksum. On failure (BB_CORRUPT with the offset, BB_UNSUPPORTED)
 * *view is still usable and returns "may contain" for every hash. Neither this call nor a later
 * probe reads outside the bytes. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_view_init(struct bb_filter_view *view,
                                                        struct bb_bytes envelope);
/* Makes the same checks and returns the description. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_info(struct bb_bytes envelope,
                                                   struct bb_filter_info *ret_info);
/* Probes the filter. False: the hash was certainly not added. Any thread. */
BB_API bool bb_filter_may_contain(const struct bb_filter_view *view, uint64_t hash);

/* Batch probes. They give the same results as single probes. The memory for all probes is
 * prefetched, so that cache misses overlap. This is faster if the filters do not fit into the
 * processor's caches: a single probe then waits for memory once or twice. The result of probe i is
 * bit i % 64 of ret_bits[i / 64], 1 for "may contain". ret_bits has (count + 63) / 64 words; the
 * unused bits of the last word are 0. Any thread. */

/* Probes one filter for count hashes. */
BB_API void bb_filter_may_contain_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                       size_t count, uint64_t *ret_bits);
/* Probes view_count filters, of any kinds, for one hash: for example the runs of a store, newest
 * first. */
BB_API void bb_filter_may_contain_each(const struct bb_filter_view *views, size_t view_count,
                                       uint64_t hash, uint64_t *ret_bits);

/* Adds keys in place to a finished filter of a Bloom kind. The bits are the same as if the filter
 * had been built from all keys with its parameters. *ret_inserted counts the hashes that are new to
 * the filter. A new key for which the filter already returned "may contain" is not counted, so the
 * key count may be slightly low. The predicted rate exceeds the plan's when the filter holds more
 * keys than planned. hashes: in any order, duplicates allowed. On failure nothing is changed.
 * BB_UNSUPPORTED, with the reason, for other kinds; BB_INVALID for a filter of no keys, which has
 * no bits to set; damaged envelopes fail as in bb_filter_info. Each call reads the whole filter, so
 * pass many hashes per call. No thread may probe a view of the filter during the call.
 *
 * Scalable and counting filters take keys in another way: decode the envelope
 * (bb_scalable_filter_decode, bb_counting_filter_decode), add, and encode it. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_insert(struct bb_buf *envelope,
                                                     const uint64_t *hashes, size_t count,
                                                     uint64_t *ret_inserted);

/* --- Filters in separate files --- */

/* How keys are hashed for a filter. ON DISK: the values never change. */
enum bb_filter_hash {
    /* bb_hash_key under a secret stored in the same file. A reader of the file can construct
     * colliding keys. */
    BB_FILTER_HASH_KEYED = 1,
    /* bb_hash_xxh64, without a secret: Parquet's hash. Anybody can construct colliding keys. */
    BB_FILTER_HASH_XXH64 = 2,
};

struct bb_file_system; /* bb/file.h */

/* Size of the header that precedes the envelope. */
#define BB_FILTER_FILE_HEADER_SIZE 256

/* Contents of a filter file: everything needed to probe the filter for keys. See
 * docs/format-filter-file.md. */
struct bb_filter_file {
    enum bb_filter_hash hash;
    /* For the keyed hash; otherwise ignored when encoding, and zeros when decoding. */
    struct bb_hash_secret secret;
    /* Number of keys the filter was sized for; 0: its key count. */
    uint64_t planned_key_count;
    /* Borrowed. */
    struct bb_bytes envelope;
};

/* Appends the header and the envelope, as finished by a builder, to *buf: the contents of a file.
 * bb_filter_file_save writes the file. A program that writes it in another way creates it with mode
 * 0600 (it contains the secret), and replaces a file by writing a new one, syncing it and renaming
 * it. BB_INVALID for invalid fields or an invalid envelope. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_file_encode(const struct bb_filter_file *file,
                                                          struct bb_buf *buf);
/* Decodes the contents of a file. ret_file->envelope borrows the bytes. Checks the header, and that
 * the envelope belongs to this header. bb_filter_view_init checks the envelope itself. BB_CORRUPT
 * with the offset; BB_UNSUPPORTED for newer versions and other hashes. Threads: any. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_file_decode(struct bb_bytes bytes,
                                                          struct bb_filter_file *ret_file);
/* The hash of a key, for probing the filter or for adding to it. Threads: any. */
BB_API uint64_t bb_filter_file_hash(const struct bb_filter_file *file, struct bb_bytes key);

/* Writes a filter file. The call writes and syncs the file under another name in the same
 * directory, with mode 0600, renames it, and syncs the directory. So after a failure, or a power
 * failure at any time, the name has its old contents or the new ones. The call replaces an existing
 * file. It replaces a symbolic link, not the link's target. file_system: NULL for the operating
 * system's files. BB_IO, BB_NO_SPACE, BB_NO_MEMORY; BB_INVALID as bb_filter_file_encode. Threads:
 * any; if two calls save the same path, either may win. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_file_save(struct bb_file_system *file_system,
                                                        const char *path,
                                                        const struct bb_filter_file *file);
/* Reads a filter file into *contents (replaced; owned by the caller), and decodes it like
 * bb_filter_file_decode: ret_file->envelope borrows *contents. The messages name the file.
 * BB_NOT_FOUND: there is no such file. Threads: any. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_file_load(struct bb_file_system *file_system,
                                                        const char *path, struct bb_buf *contents,
                                                        struct bb_filter_file *ret_file);

/* --- Set operations ---
 *
 * Filters of the Bloom kinds support cardinality estimates, union and comparison. Two filters are
 * compatible if they have the same kind, salt and number of probes, and if the size of one is a
 * multiple of the other's; the larger filter is then folded. Their keys must have been hashed under
 * the same secret, which the functions cannot check. A counting filter is treated as the classic
 * filter of its keys. Incompatible filters are BB_INVALID with the reason. Ribbons are
 * BB_UNSUPPORTED, because their bits do not correspond to keys. Damaged envelopes fail as in
 * bb_filter_info. docs/filters.md has the mathematics. Any thread. */

/* An estimate and its standard error: the root mean square error over the hashes. A standard error
 * of INFINITY means that the bits carry no information and the value is only a bound. */
struct bb_filter_estimate {
    double value;
    double standard_error;
};

/* Estimates the number of distinct keys; INFINITY if all bits are set. */
BB_API BB_MUST_CHECK enum bb_status
bb_filter_estimate_keys(struct bb_bytes envelope, struct bb_filter_estimate *ret_key_count);

/* Appends the envelope of the union of two filters. Its bits are the same as in a filter built from
 * all keys. Its size is the size of the smaller filter; its target rate is the larger of the two.
 * bb_filter_info gives the predicted rate of the result. Its key count is estimated from its bits,
 * rounded, and limited to the range from the larger count to the sum; it is exact if one count
 * is 0. *envelope is owned by the caller and contains neither input. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_union(struct bb_bytes first, struct bb_bytes second,
                                                    struct bb_buf *envelope);

/* Estimates for two sets, consistent with each other. */
struct bb_filter_comparison {
    struct bb_filter_estimate first;
    struct bb_filter_estimate second;
    /* Union. */
    struct bb_filter_estimate either;
    /* Intersection. */
    struct bb_filter_estimate both;
    /* Differences. */
    struct bb_filter_estimate first_only;
    struct bb_filter_estimate second_only;
    /* both / either; 1 for two empty sets. */
    struct bb_filter_estimate jaccard;
};

/* Compares two filters. The standard error does not shrink with the quantity: for two sets of a
 * million keys at 10 bits per key, the number of common keys is accurate to +- 500, whether it is
 * large or small. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_compare(struct bb_bytes first, struct bb_bytes second,
                                                      struct bb_filter_comparison *ret_comparison);

/* --- Sizing ---
 *
 * A filter has a number of keys, a rate and a size. Any two of them determine the third:
 *
 *     struct bb_filter_question question = {.key_count = 1000000, .size_bytes = 1 << 20};
 *     bb_filter_plan(&question, &plan);             // plan.target_rate is the lowest that fits
 *
 * Then set options.target_rate = plan.target_rate. More keys or a lower rate never need fewer
 * bytes, and more memory never gives a higher rate. */

/* How parameters are derived from a rate. */
enum bb_filter_policy {
    /* The smallest size whose predicted rate meets the target. */
    BB_FILTER_POLICY_EXACT = 0,
    /* The parameters of ClickHouse's index bloom_filter(rate) for this number of distinct values: a
     * whole number of bits per key from a table, up to 19, and the fewest probes that the table
     * allows. Kind BB_FILTER_BLOOM, from keys and rate only. Like the original, it gives 19 bits
     * and 13 probes for rates in [0.221, 0.237), never achieves a rate below 1.09e-4, and gives a
     * rate of 0.4 for requested rates from 0.283 to 0.4. predicted_rate is the true rate. To build
     * the filter, set options.parameters. */
    BB_FILTER_POLICY_CLICKHOUSE = 1,
};

/* Exactly two of the three numbers are set; the third is 0. */
struct bb_filter_question {
    enum bb_filter_kind kind;
    enum bb_filter_policy policy;
    /* Distinct keys, at most BB_FILTER_KEY_COUNT_MAX. */
    uint64_t key_count;
    /* BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX. */
    double target_rate;
    /* Of the whole envelope. */
    uint64_t size_bytes;
    /* As in struct bb_filter_options. */
    double slack;
};

struct bb_filter_plan {
    enum bb_filter_kind kind;
    uint64_t key_count;
    /* For struct bb_filter_options, with slack. */
    double target_rate;
    double slack;
    /* Size of the whole envelope. Bloom kinds, and ribbons up to 2,000 keys: the exact size that
     * the builder writes (a ribbon that no seed solves, once in 10^8 filters, takes the next size).
     * Ribbons of more keys: an upper bound; docs/filters.md shows how close it is. Scalable: the
     * size of one stage, which suffices 999 times out of 1,000; otherwise the filter has a second
     * stage, of two to three times the size. */
    uint64_t size_bytes;
    double bits_per_key;
    /* The expected rate for these parameters; at most target_rate. */
    double predicted_rate;
    /* As in struct bb_filter_info. */
    uint32_t bits_per_probe;
    /* Of the envelope. Bloom kinds can be built with them. */
    uint64_t parameters[2];
    /* Mean number of 64-byte cache lines that a probe of a member touches: its cost if the filter
     * is not cached. */
    double member_cache_lines;
    /* The same for a non-member key. */
    double absent_cache_lines;
};

/* Computes the missing number. If size_bytes exceeds the size for BB_FILTER_RATE_MIN or for
 * BB_FILTER_KEY_COUNT_MAX keys, the rest is unused; size_bytes of the plan is the size that is
 * used. BB_INVALID: not exactly two numbers are set; a rate outside its range; too little memory
 * for the keys at BB_FILTER_RATE_MAX, or for one key. BB_TOO_LARGE: more keys than a filter can
 * have. BB_UNSUPPORTED: a kind whose size does not follow from a rate (count-min), or a question
 * that the policy cannot answer. Computing a size takes microseconds, a rate or a number of keys
 * milliseconds. Any thread. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_plan(const struct bb_filter_question *question,
                                                   struct bb_filter_plan *ret_plan);

/* Size, predicted rate and cost of a filter with given parameters and any number of keys, including
 * 0. target_rate is set to the predicted rate. The parameters are those of the envelope
 * (docs/filters.md, section 6). The rate of a ribbon follows from its number of fingerprint bits.
 * BB_INVALID for impossible parameters. BB_UNSUPPORTED for count-min, and for scalable filters,
 * whose stages follow from a target rate. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_predict(enum bb_filter_kind kind, uint64_t key_count,
                                                      const uint64_t parameters[2],
                                                      struct bb_filter_plan *ret_plan);

/* A run of a store, for bb_filter_allocate. */
struct bb_filter_run {
    uint64_t key_count;
    /* Share of lookups of absent keys that reach the run; 0 means 1. */
    double visit_share;
    /* Relative cost of a wasted read in this run; 0 means 1. */
    double read_cost;
    /* Output: rate for the run's filters; 1 means no filter. */
    double ret_rate;
};

/* Distributes a target of wasted reads per lookup of an absent key over runs, so that the total
 * memory is minimal. Each rate is proportional to key_count / (visit_share * read_cost). A rate
 * above BB_FILTER_RATE_MAX becomes 1 (no filter), and the remainder is distributed again. No rate
 * is below BB_FILTER_RATE_MIN. *ret_achieved is the sum of visit_share * read_cost * rate. Source:
 * Dayan, Athanassoulis, Idreos, "Monkey", SIGMOD 2017. Takes as long as sorting the runs, and
 * allocates no memory. BB_INVALID for targets outside (0, run_count]. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_allocate(struct bb_filter_run *runs, size_t run_count,
                                                       double target_wasted_reads,
                                                       double *ret_achieved);

#ifdef __cplusplus
}
#endif

#include "bb/filter_sets.h"

#endif
