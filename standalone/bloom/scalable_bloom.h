/* Bloom filters that grow (Almeida, Baquero, Preguica, Hutchison, "Scalable Bloom filters", 2007):
 * a sequence of classic filters ("stages"). Each stage is twice as large as the previous one and
 * has a lower rate, so that the sum of all rates stays below the target for any number of stages.
 *
 *     stage i      sized for first_key_count * 2^i keys, at the rate
 *                  target * (1 - ratio) * ratio^i;  the sum over all i is the target
 *     key          is added to the last stage; may be present if any stage returns maybe
 *     hash         of stage i: mix(h ^ i). Earlier stages have ruled out the keys of a stage. With
 *                  the same hash for all stages, these keys would set bits where the earlier stages
 *                  have none: at a rate of 1/2 this gives 3 % more false positives
 *
 * A stage is full if one more key could raise its set bits X of m beyond (X/m)^k = its rate: so the
 * rate holds for the actual bits, not only in expectation. A stage has slightly more space than its
 * keys need on average, so that they fit 999 times out of 1,000.
 *
 *     payload    | stage count, u64 | ratio, f64 |
 *                | keys, u64 | bits, u64 | probes, u64 |              per stage
 *                | bits of stage 0 | bits of stage 1 | ...            as in bloom.h, whole bytes
 *
 * Changes: one thread at a time. Probes: any thread while no thread changes the filter. */
#ifndef BB_STANDALONE_BLOOM_SCALABLE_BLOOM_H
#define BB_STANDALONE_BLOOM_SCALABLE_BLOOM_H

#include "base/hash.h"
#include "standalone/envelope/envelope.h"

#define BB_SCALABLE_STAGES_MAX       32 /* with the fewest first keys, 2^36 keys */
#define BB_SCALABLE_GROWTH           2
#define BB_SCALABLE_HEADER_SIZE      16
#define BB_SCALABLE_STAGE_ENTRY_SIZE 24
#define BB_SCALABLE_RATIO_DEFAULT    0.5

/* How many keys a stage is made for. */
static inline uint64_t bb_scalable_bloom_stage_keys(uint64_t first_key_count, uint32_t stage)
{
    uint64_t keys = first_key_count << stage; /* BB_SCALABLE_GROWTH; below 2^64 */
    return keys < BB_FILTER_KEY_COUNT_MAX ? keys : BB_FILTER_KEY_COUNT_MAX;
}

static inline uint64_t bb_scalable_bloom_hash(uint64_t hash, uint32_t stage)
{
    return bb_hash_mix(hash ^ stage);
}

struct bb_scalable_stage {
    uint64_t key_count;
    uint64_t bits;
    uint32_t probes;
    uint64_t set_count;
    uint64_t set_limit;
    uint8_t *payload; /* owned */
};

struct bb_scalable_bloom {
    double target_rate;
    double ratio;
    uint64_t first_key_count;
    uint32_t stage_count;
    struct bb_scalable_stage stages[BB_SCALABLE_STAGES_MAX];
};

/* Creates one empty stage. The arguments are within bb/filter_sets.h's limits. */
BB_MUST_CHECK enum bb_status bb_scalable_bloom_init(struct bb_scalable_bloom *bloom,
                                                    double target_rate, double ratio,
                                                    uint64_t first_key_count);
void bb_scalable_bloom_deinit(struct bb_scalable_bloom *bloom);

/* hash: a domain hash. BB_NO_MEMORY, BB_TOO_LARGE: nothing was changed. */
BB_MUST_CHECK enum bb_status bb_scalable_bloom_add(struct bb_scalable_bloom *bloom, uint64_t hash);
bool bb_scalable_bloom_may_contain(const struct bb_scalable_bloom *bloom, uint64_t hash);

uint64_t bb_scalable_bloom_key_count(const struct bb_scalable_bloom *bloom);

/* --- Sizes --- */

/* Keys in excess of the planned number for which a stage has space. */
uint64_t bb_scalable_bloom_spare_keys(uint64_t keys, double rate);
/* Number of bits of a stage with space for this many keys, including spare keys. */
uint64_t bb_scalable_bloom_stage_bits(uint64_t keys, double rate, uint32_t *ret_probes);

/* --- Payloads --- */

BB_MUST_CHECK enum bb_status bb_scalable_bloom_encode(const struct bb_scalable_bloom *bloom,
                                                      struct bb_buf *buf);
/* Copies the stages of a checked envelope. */
BB_MUST_CHECK enum bb_status bb_scalable_bloom_decode(struct bb_scalable_bloom *bloom,
                                                      const struct bb_envelope *envelope);

/* A stage in a payload. */
struct bb_scalable_entry {
    uint64_t key_count;
    uint64_t bits;
    uint64_t probes;
    size_t offset; /* of its bits, in the payload */
};

/* Visits the stages of a payload, from the first on. The payload has its header and its table. */
struct bb_scalable_bloom_walk {
    uint32_t stage_count;
    uint32_t next;
    size_t offset; /* of the next stage's bits, in the payload */
};
struct bb_scalable_bloom_walk bb_scalable_bloom_walk(struct bb_bytes payload);
/* False after the last stage. */
bool bb_scalable_bloom_walk_next(struct bb_scalable_bloom_walk *walk, struct bb_bytes payload,
                                 struct bb_scalable_entry *ret_entry);
double bb_scalable_bloom_ratio(struct bb_bytes payload);

#endif
