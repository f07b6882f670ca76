/* Filters alone: a small summary of a set of keys that answers "certainly not in it" or "may be in
 * it".
 *
 * A filter takes 64-bit hashes (bb_hash_key under a secret of yours). Build one:
 *
 *     struct bb_filter_options options = {.kind = BB_FILTER_RIBBON, .target_rate = 0.01};
 *     bb_filter_builder_create(&options, &builder);
 *     for (each key) bb_filter_builder_add(builder, bb_hash_key(&secret, key));
 *     bb_filter_builder_finish(builder, &envelope);          // bytes to store anywhere
 *
 * and ask it:
 *
 *     bb_filter_view_init(&view, bytes);                // checks the envelope, borrows the bytes
 *     if (!bb_filter_may_contain(&view, hash)) ...      // certainly absent
 *
 * A view fails open: damaged, truncated, unknown or foreign bytes give a view that answers "may
 * contain" to everything, and a status that says why. Only a filter that was built from zero keys
 * answers "absent" to everything.
 *
 * The rates. target_rate is what filters must not exceed in expectation over foreign keys and
 * hashes: predicted_rate <= target_rate is promised of the parameters, by bb_filter_plan. The
 * predicted rate in struct bb_filter_info is what the bits that were actually set give: for Bloom
 * kinds it falls to either side of the plan's by chance, and so above the target for up to half of
 * all sound filters.
 * docs/filters.md has the mathematics.
 *
 * NULL: options may be it, for defaults, and what is destroyed. No other pointer but those of empty
 * bytes and arrays.
 */
#ifndef BB_PUBLIC_FILTER_H
#define BB_PUBLIC_FILTER_H

#include "bb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of filters. ON DISK: the values never change. Tables hold those up to BLOOM; the others
 * stand alone. */
enum bb_filter_kind {
    BB_FILTER_DEFAULT = 0, /* In options only: ribbon. */
    BB_FILTER_NONE = 1,    /* No filter: everything may be there. */
    BB_FILTER_RIBBON =
        2, /* Byte-grouped or bit-exact ribbon, whichever is smaller: 2 to 8 % over the limit. */
    BB_FILTER_BLOCKED_BLOOM =
        3,               /* Bloom in 64-byte lines: quick to build, for sets that live briefly. */
    BB_FILTER_BLOOM = 4, /* Classic Bloom with any number of bits and independent probes. */
    BB_FILTER_SPLIT_BLOCK = 5, /* Parquet's split-block Bloom, bit for bit: for interchange. Takes
                                  hashes as they are; the salt must be 0. */
    BB_FILTER_COUNTING = 6,    /* Bloom with counters: keys can be removed (bb/filter_sets.h). */
    BB_FILTER_SCALABLE = 7,    /* Bloom that grows, for an unknown number of keys. */
    BB_FILTER_PARTITIONED = 8, /* Bloom with a slice of the bits for each probe. */
    BB_FILTER_COUNT_MIN = 9,   /* Count-min sketch: how often, not whether (bb/filter_sets.h). Not
                                  made by a builder. */
};

/* Stable lower-case name: "ribbon", "blocked-bloom", ... NULL for an unknown value. */
BB_API const char *bb_filter_kind_name(enum bb_filter_kind kind);
/* The kind of a name; BB_INVALID naming the ones there are. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_kind_find(const char *name,
                                                        enum bb_filter_kind *ret_kind);

/* Target rates that can be asked for. Outside: BB_INVALID, never clamped. */
#define BB_FILTER_RATE_MIN (1.0 / 16777216) /* 2^-24 */
#define BB_FILTER_RATE_MAX 0.5

/* The most keys of one filter. */
#define BB_FILTER_KEY_COUNT_MAX (UINT64_C(1) << 32)

/* The most slack of a ribbon. */
#define BB_FILTER_SLACK_MAX 0.25

struct bb_filter_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    enum bb_filter_kind kind;
    double target_rate; /* BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX; 0 means 0.01 */
    /* Ribbon: space given for time, as a share of slots beyond the keys, 0 ... BB_FILTER_SLACK_MAX.
     * At 0.03 a filter of 1,000 keys is 2 % larger and built in three quarters of the time. 0: the
     * least space. No other kind has a use for it. */
    double slack;
    uint64_t salt; /* Makes this filter's false positives independent of other filters'; kept in the
                      envelope. */
    /* Bloom kinds: size and probes, of a plan or of a filter that this one is to be united with,
     * whatever the keys turn out to be; target_rate is then only noted down. 0: what meets
     * target_rate for the keys that were added. */
    uint64_t parameters[2];
};

/* Collects hashes. One thread at a time. Memory: 8 bytes per hash until finish, and up to 2 more to
 * grow (8 more below 65,536 hashes), where realloc moves pages; one that copies holds old and new
 * for a moment. finish needs up to twice the envelope and 0.1 MB besides, counting and scalable
 * filters up to three times the envelope. Sticky after a failure. */
struct bb_filter_builder;
BB_API BB_MUST_CHECK enum bb_status
bb_filter_builder_create(const struct bb_filter_options *options,
                         struct bb_filter_builder **ret_builder);
BB_API void bb_filter_builder_destroy(struct bb_filter_builder *builder);
/* Equal hashes may be added again; they cost nothing in the filter. BB_TOO_LARGE beyond the key
 * limit. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_builder_add(struct bb_filter_builder *builder,
                                                          uint64_t hash);
/* Appends the envelope to *envelope (owned by the caller) and leaves the builder empty, ready for
 * another filter. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_builder_finish(struct bb_filter_builder *builder,
                                                             struct bb_buf *envelope);

/* What an envelope says of itself. */
struct bb_filter_info {
    enum bb_filter_kind kind;
    uint32_t version;
    uint64_t key_count;  /* distinct hashes */
    uint64_t size_bytes; /* the whole envelope */
    double bits_per_key; /* of the whole envelope; 0 for no keys */
    double target_rate;
    double predicted_rate; /* of the bits that are set: by chance above or below the plan's */
    double fill;           /* share of set bits; about 1/2 for ribbons */
    uint32_t
        bits_per_probe; /* ribbon: fingerprint bits of the larger shards; Bloom kinds: probes k */
    uint64_t salt;
    uint64_t saturated_count; /* counters that are full and stay so; 0 but for kinds that count */
    uint32_t stage_count;     /* of a scalable filter; 0 of others */
    /* Relative standard deviation of the predicted rate, over the sets of as many keys. Chance
     * multiplies: a sound filter's is more than e^(4 * rate_deviation) times the plan's once in
     * 30,000 times; where a single line or block can decide (blocked Bloom and split-block, at 1e-4
     * and below), once in 1,000. 0 for kinds whose bits never give more than the target (ribbon,
     * scalable), and for count-min. */
    double rate_deviation;
    uint64_t reserved[3];
};

/* A filter ready for questions; borrows the envelope's bytes, which must outlive it. Copyable. */
struct bb_filter_view {
    const void *kind;  /* internal; NULL in a zeroed view, which answers "may contain" */
    const void *probe; /* internal: the form for this processor's instruction set */
    struct bb_bytes payload;
    uint64_t salt;
    uint64_t parameters[4];
};

/* Checks envelope and checksum. On failure (BB_CORRUPT with the offset, BB_UNSUPPORTED) *view still
 * is usable and answers "may contain" to everything. Reads nothing outside the bytes, then or
 * later. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_view_init(struct bb_filter_view *view,
                                                        struct bb_bytes envelope);
/* The same check, and the description. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_info(struct bb_bytes envelope,
                                                   struct bb_filter_info *ret_info);
/* False: the hash was certainly not added. Any thread. */
BB_API bool bb_filter_may_contain(const struct bb_filter_view *view, uint64_t hash);

/* Batches: the same answers, with the memory that they need fetched in advance, so that the misses
 * of the cache overlap. Worth it where filters do not fit into the caches: there a question alone
 * waits for memory once or twice. Bit i % 64 of ret_bits[i / 64] is the answer to question i, 1 for
 * "may contain"; ret_bits has (count + 63) / 64 words, and bits behind the last question are 0. Any
 * thread. */

/* count hashes asked of one filter. */
BB_API void bb_filter_may_contain_many(const struct bb_filter_view *view, const uint64_t *hashes,
                                       size_t count, uint64_t *ret_bits);
/* One hash asked of view_count filters, of any kinds: the runs of a store, newest first. */
BB_API void bb_filter_may_contain_each(const struct bb_filter_view *views, size_t view_count,
                                       uint64_t hash, uint64_t *ret_bits);

/* Adds keys to a finished filter of a Bloom kind, in place: the same bits as if it had been built
 * with them and these parameters. *ret_inserted counts those that it did not let through before; so
 * does the key count, which may stay a little too low for that. The more keys beyond those it was
 * sized for, the higher the predicted rate. hashes: in any order, as often as they come. On failure
 * nothing was changed. BB_UNSUPPORTED, with the reason, for other kinds; BB_INVALID for a filter of
 * no keys, which has no room; damaged envelopes as bb_filter_info. The whole filter is read each
 * time: give many hashes at once. No view may be asked meanwhile. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_insert(struct bb_buf *envelope,
                                                     const uint64_t *hashes, size_t count,
                                                     uint64_t *ret_inserted);

/* --- Filters in files of their own --- */

/* How keys become the hashes of a filter. ON DISK: the values never change. */
enum bb_filter_hash {
    BB_FILTER_HASH_KEYED = 1, /* bb_hash_key under a secret that is kept beside the filter. Who can
                                 read the file can make keys that collide. */
    BB_FILTER_HASH_XXH64 = 2, /* bb_hash_xxh64, without a secret: Parquet's. Anybody can make keys
                                 that collide. */
};

/* The bytes in front of the envelope. */
#define BB_FILTER_FILE_HEADER_SIZE 256

/* What a filter's file holds: all that is needed to ask it for keys. docs/format-filter-file.md
 * draws it. */
struct bb_filter_file {
    enum bb_filter_hash hash;
    struct bb_hash_secret secret; /* hash keyed; else ignored, and zeros when decoded */
    uint64_t planned_key_count;   /* how many keys it was sized for; 0: those that it has */
    struct bb_bytes envelope;     /* borrowed */
    uint64_t reserved[2];         /* 0 */
};

/* Appends header and envelope, as finished by a builder, to *buf: the contents of a file. Give the
 * file mode 0600 (it holds the secret), and replace files whole: another name, sync, rename.
 * BB_INVALID for fields or an envelope that can not be. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_file_encode(const struct bb_filter_file *file,
                                                          struct bb_buf *buf);
/* Takes the contents apart; ret_file->envelope borrows them. Checks the header and that the
 * envelope is the one it was written with; the envelope itself is checked by bb_filter_view_init.
 * BB_CORRUPT with the offset; BB_UNSUPPORTED for newer versions and other hashes. Threads: any. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_file_decode(struct bb_bytes bytes,
                                                          struct bb_filter_file *ret_file);
/* The hash of a key, to be asked of the filter or added to it. Threads: any. */
BB_API uint64_t bb_filter_file_hash(const struct bb_filter_file *file, struct bb_bytes key);

/* --- Sets from bits ---
 *
 * Filters of the Bloom kinds can be counted, united and compared. Two filters go together if they
 * have the same kind, salt and probes (and their keys were hashed under the same secret, which the
 * bits do not tell), and the same size, or one a whole multiple of the other's: then the larger one
 * is folded. A counting filter counts as the classic one of its keys. Anything else is BB_INVALID
 * with the reason. A ribbon's bits mark no keys:
 * BB_UNSUPPORTED. Damaged envelopes: as bb_filter_info. docs/filters.md has the mathematics. Any
 * thread. */

/* A number that bits suggest, and how far off it is: the root mean square of the error over the
 * hashes. A standard error of INFINITY: the bits tell nothing, the value is a bound. */
struct bb_filter_estimate {
    double value;
    double standard_error;
};

/* How many distinct keys the bits show; INFINITY when all of them are set. */
BB_API BB_MUST_CHECK enum bb_status
bb_filter_estimate_keys(struct bb_bytes envelope, struct bb_filter_estimate *ret_key_count);

/* Appends an envelope that contains what either filter contains; with the same bits as if it had
 * been built from all keys. Its size is that of the smaller one, its target rate the larger of the
 * two; what it really passes is the predicted rate of bb_filter_info. Its key count is the estimate
 * from its bits, rounded, not below either count and not above their sum; exact if one is 0.
 * *envelope is owned by the caller and holds neither of the two. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_union(struct bb_bytes first, struct bb_bytes second,
                                                    struct bb_buf *envelope);

/* Estimates of two sets; each within what the others allow. */
struct bb_filter_comparison {
    struct bb_filter_estimate first;
    struct bb_filter_estimate second;
    struct bb_filter_estimate either;     /* union */
    struct bb_filter_estimate both;       /* intersection */
    struct bb_filter_estimate first_only; /* differences */
    struct bb_filter_estimate second_only;
    struct bb_filter_estimate jaccard; /* both / either; 1 for two empty sets */
};

/* The standard error of what is small is that of what is large: an intersection of two sets of a
 * million keys at 10 bits each is known to +- 500, whatever its size. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_compare(struct bb_bytes first, struct bb_bytes second,
                                                      struct bb_filter_comparison *ret_comparison);

/* --- Sizing ---
 *
 * Keys, rate and memory of a filter: any two of them give the third. Nobody needs bits per key.
 *
 *     struct bb_filter_question question = {.key_count = 1000000, .size_bytes = 1 << 20};
 *     bb_filter_plan(&question, &plan);             // plan.target_rate is the least that fits
 *
 * and then options.target_rate = plan.target_rate. More keys or a lower rate never take fewer
 * bytes, more memory never gives a higher rate, and there are no holes between. */

/* How parameters follow from a rate. */
enum bb_filter_policy {
    BB_FILTER_POLICY_EXACT =
        0, /* the least memory with which the predicted rate meets the target */
    /* What ClickHouse's index bloom_filter(rate) takes for so many distinct values: whole bits per
     * key out of a table, up to 19, and as few probes as the table allows. Kind BB_FILTER_BLOOM,
     * from keys and rate only. Like the original it gives 19 bits and 13 probes for rates in
     * [0.221, 0.237), never passes fewer than 1.09e-4, and passes 0.4 where 0.283 to 0.4 is asked
     * for; predicted_rate says so. Build it with options.parameters. */
    BB_FILTER_POLICY_CLICKHOUSE = 1,
};

/* Exactly two of the three numbers are given; the third is 0. */
struct bb_filter_question {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    enum bb_filter_kind kind;
    enum bb_filter_policy policy;
    uint64_t key_count;  /* distinct keys, at most BB_FILTER_KEY_COUNT_MAX */
    double target_rate;  /* BB_FILTER_RATE_MIN ... BB_FILTER_RATE_MAX */
    uint64_t size_bytes; /* of the whole envelope */
    double slack;        /* as in struct bb_filter_options */
};

struct bb_filter_plan {
    enum bb_filter_kind kind;
    uint64_t key_count;
    double target_rate; /* for struct bb_filter_options, with slack */
    double slack;
    /* The whole envelope. Bloom kinds, and ribbons up to 2,000 keys: what the builder writes, to
     * the byte (a ribbon that no seed solves, once in 10^8 filters, takes one size more). Ribbons
     * of more keys: a bound that the builder stays below; docs/filters.md says how close. Scalable:
     * of one stage, which the builder needs 999 times of 1,000, or up to 8 bytes more. */
    uint64_t size_bytes;
    double bits_per_key;
    double predicted_rate;   /* the expectation for these parameters; at most target_rate */
    uint32_t bits_per_probe; /* as in struct bb_filter_info */
    uint64_t parameters[2];  /* of the envelope; Bloom kinds may be built with them instead */
    /* Lines of 64 bytes that a question touches, in the mean: what it costs outside the cache. */
    double member_cache_lines;  /* for a key of the set */
    double foreign_cache_lines; /* for any other */
    uint64_t reserved[4];
};

/* Answers a question. Memory beyond what BB_FILTER_RATE_MIN or BB_FILTER_KEY_COUNT_MAX keys take is
 * left over: size_bytes of the plan says how much is used. BB_INVALID: not two numbers given; a
 * rate outside of its range; memory too small for the keys at BB_FILTER_RATE_MAX, or for one key.
 * BB_TOO_LARGE: more keys than a filter can have. BB_UNSUPPORTED: as bb_filter_builder_create, and
 * questions that the policy has no answer to. A size is found in microseconds, a rate or a number
 * of keys in milliseconds. Any thread. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_plan(const struct bb_filter_question *question,
                                                   struct bb_filter_plan *ret_plan);

/* What a filter of given parameters is with so many keys, 0 among them: size, predicted rate, cost;
 * target_rate becomes the predicted one. The parameters are those of the envelope (docs/filters.md,
 * section 6); a ribbon's rate is that of its rank. BB_INVALID for parameters that are impossible.
 */
BB_API BB_MUST_CHECK enum bb_status bb_filter_predict(enum bb_filter_kind kind, uint64_t key_count,
                                                      const uint64_t parameters[2],
                                                      struct bb_filter_plan *ret_plan);

/* A run of the store for the allocation of rates: see bb_filter_allocate. */
struct bb_filter_run {
    uint64_t key_count;
    double visit_share; /* share of absent look-ups that reach the run, 0 means 1 */
    double read_cost;   /* relative cost of a wasted read there, 0 means 1 */
    double ret_rate;    /* set by the call: rate for the run's filters; 1 means no filter */
};

/* Spreads a target of wasted reads per absent look-up over runs so that the memory is least: rate
 * proportional to key_count / (visit_share * read_cost), capped at BB_FILTER_RATE_MAX (beyond: no
 * filter, rate 1, and the rest is spread again), never below BB_FILTER_RATE_MIN. *ret_achieved is
 * the sum of visit_share * read_cost * rate. Source: Dayan, Athanassoulis, Idreos, "Monkey", SIGMOD
 * 2017. Time: that of sorting the runs; it needs no memory. BB_INVALID for targets outside
 * (0, run_count]. */
BB_API BB_MUST_CHECK enum bb_status bb_filter_allocate(struct bb_filter_run *runs, size_t run_count,
                                                       double target_wasted_reads,
                                                       double *ret_achieved);

#ifdef __cplusplus
}
#endif

#include "bb/filter_sets.h"

#endif
