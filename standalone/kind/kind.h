/* The kinds of standalone filters. Each is a table of functions in one file (kind_ribbon.c,
 * kind_bloom.c, ...). Envelope, builder, view and description call the functions of the table and
 * depend on no kind.
 *
 * Threads: tables are constant; the functions are pure except for their outputs.
 */
#ifndef BB_STANDALONE_KIND_KIND_H
#define BB_STANDALONE_KIND_KIND_H

#include "bloomblock/cpu.h"
#include "bloomblock/domain.h"
#include "standalone/envelope/envelope.h"

#define BB_KIND_BATCH 64 /* probes whose results fit into one word */

/* The functions that probe a view; view->kind points to one of these. It is chosen when the view is
 * made. */
struct bb_kind_probe {
    /* hash: as the user gave it. The view and its payload were checked. */
    bool (*may_contain)(const struct bb_filter_view *view, uint64_t hash);
    /* Sets view->probe, or view->kind, to the form for an instruction set that the processor has.
     * NULL: there is one form. */
    void (*use)(struct bb_filter_view *view, enum bb_cpu cpu);
    /* Prefetches the lines that may_contain will read. NULL: no prefetch. */
    void (*prefetch)(const struct bb_filter_view *view, uint64_t hash);
    /* Probes up to BB_KIND_BATCH hashes; bit i is the result for hash i. NULL: they are probed one
     * by one. */
    uint64_t (*may_contain_many)(const struct bb_filter_view *view, const uint64_t *hashes,
                                 size_t count);
    /* Probes up to BB_KIND_BATCH views that all have this function; bit i is the result of view i.
     * NULL: they are probed one by one. */
    uint64_t (*may_contain_each)(const struct bb_filter_view *views, size_t count, uint64_t hash);
};

/* Selects another form of the probe than the processor's best one; for tests and measurements. */
static inline void bb_kind_view_use(struct bb_filter_view *view, enum bb_cpu cpu)
{
    const struct bb_kind_probe *probe = view->kind;
    if (probe != NULL && probe->use != NULL)
        probe->use(view, cpu);
}

/* The meaning of the numbers in a view. */
enum bb_view_parameter {
    BB_VIEW_SIZE = 0,   /* parameter 0 of the envelope */
    BB_VIEW_PROBES = 1, /* parameter 1 of the envelope */
    BB_VIEW_DOMAIN = 2, /* of hashes */
    BB_VIEW_OWN = 3,    /* defined by the kind */
};

static inline uint64_t bb_kind_view_domain_hash(const struct bb_filter_view *view, uint64_t hash)
{
    return bb_domain_hash(view->parameters[BB_VIEW_DOMAIN], hash);
}

struct bb_kind_ops {
    /* A key count of 0 needs no special case. In other kinds a filter of no keys has no payload,
     * has parameters of 0, returns no for every key, and reaches none of the functions below. */
    bool answers_without_keys;
    /* Hashes are used unchanged, without a domain; the salt is 0. */
    bool takes_key_hashes;
    /* Hashes come from bb_domain_ribbon_hash. */
    bool takes_ribbon_hashes;
    /* A target rate of 1 may be stored: no target was set. */
    bool may_have_no_target;

    /* Sets the parameters that meet the target for the envelope's key count. NULL: a builder does
     * not make this kind. */
    enum bb_status (*choose)(struct bb_envelope *envelope);
    /* Appends the payload for these parameters. hashes: key_count of them, of the domain, sorted,
     * distinct. On failure the buffer may have grown. NULL for kinds with `add`. */
    enum bb_status (*append)(const struct bb_envelope *envelope, const uint64_t *hashes,
                             struct bb_buf *buf);
    /* Sets the bits of one key in a payload with these parameters. hash: of the domain. NULL for
     * kinds whose payload is built from all keys together, or that count additions. */
    void (*add)(const uint64_t *parameters, uint8_t *payload, uint64_t hash);
    /* Checks parameters and payload of an untrusted envelope, after the fields that all kinds share
     * were checked. */
    enum bb_status (*check)(const struct bb_envelope *envelope);
    /* Fills parameters of a view that are still empty. NULL: none. */
    void (*prepare)(const struct bb_envelope *envelope, struct bb_filter_view *view);
    /* The functions that probe a view. */
    struct bb_kind_probe probe;
    /* Fills the fields that depend on the kind: predicted rate, fill, bits per probe. */
    void (*describe)(const struct bb_envelope *envelope, struct bb_filter_info *info);
};

extern const struct bb_kind_ops bb_kind_none;
extern const struct bb_kind_ops bb_kind_ribbon;
extern const struct bb_kind_ops bb_kind_blocked_bloom;
extern const struct bb_kind_ops bb_kind_bloom;
extern const struct bb_kind_ops bb_kind_split_block;
extern const struct bb_kind_ops bb_kind_counting;
extern const struct bb_kind_ops bb_kind_scalable;
extern const struct bb_kind_ops bb_kind_partitioned;
extern const struct bb_kind_ops bb_kind_count_min;

/* NULL for DEFAULT, and for values that are no kind. */
const struct bb_kind_ops *bb_kind_ops(enum bb_filter_kind kind);

/* `choose` of the classic and the counting Bloom filter. */
enum bb_status bb_kind_choose_bloom(struct bb_envelope *envelope);
/* For `describe` of kinds whose set bits are left to chance: the probes, the share of bits that are
 * set, and the deviation. A scalable filter watches its bits, and a ribbon's pass 2^-r: neither
 * exceeds its target. */
void bb_kind_describe_bits(const struct bb_envelope *envelope, struct bb_filter_info *info);

/* A user's hash, moved to the domain of a filter. */
static inline uint64_t bb_kind_hash(const struct bb_kind_ops *ops, uint64_t domain,
                                    uint64_t key_hash)
{
    if (ops->takes_key_hashes)
        return key_hash;
    if (ops->takes_ribbon_hashes)
        return bb_domain_ribbon_hash(domain, key_hash);
    return bb_domain_hash(domain, key_hash);
}

/* Appends the payload of an envelope, as `append` describes it. */
BB_MUST_CHECK enum bb_status bb_kind_append(const struct bb_envelope *envelope,
                                            const uint64_t *hashes, struct bb_buf *buf);

/* The description of a checked envelope. */
struct bb_filter_info bb_kind_describe(const struct bb_envelope *envelope);

/* Whether the filter has no keys and therefore no payload: every probe returns no. */
static inline bool bb_kind_is_empty(const struct bb_kind_ops *ops,
                                    const struct bb_envelope *envelope)
{
    return envelope->key_count == 0 && !ops->answers_without_keys;
}

#endif
