/* The parameters of probes of ribbons. A batch of probes is processed in steps: compute the
 * parameters of all, prefetch their memory, then test it.
 *
 * Pure functions; any thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_QUESTION_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_QUESTION_H

#include "bloomblock/ribbon/ribbon_bits.h"
#include "bloomblock/ribbon/ribbon_window.h"

/* Everything that a probe works out before it looks at the payload. */
struct bb_ribbon_question {
    const uint8_t *bytes; /* byte-grouped: the window; bit-exact: the payload */
    uint64_t coefficients;
    uint32_t fingerprint;     /* 32 bits, of which the lowest fingerprint_bits count */
    uint8_t fingerprint_bits; /* of this filter; 0: the answer is yes */
    uint8_t slots;            /* bit-exact: bits of a column; byte-grouped: 0 */
    uint8_t start;            /* bit-exact: the first bit of a column that counts */
};

_Static_assert(BB_RIBBON_BITS_SLOTS_MAX <= UINT8_MAX, "slots fit into a byte");

static inline bool bb_ribbon_question_has_columns(uint64_t descriptor)
{
    return (descriptor & 255) > 0;
}

static inline struct bb_ribbon_question bb_ribbon_question_grouped(const uint8_t *payload,
                                                                   uint64_t descriptor,
                                                                   uint64_t fingerprint_bits,
                                                                   uint64_t hash)
{
    struct bb_ribbon_window window = bb_ribbon_window(payload, descriptor, fingerprint_bits, hash);
    return (struct bb_ribbon_question){.bytes = window.bytes,
                                       .coefficients = window.coefficients | 1,
                                       .fingerprint = window.fingerprint,
                                       .fingerprint_bits = (uint8_t)window.fingerprint_bits};
}

/* descriptor: of the bit-exact layout, its size possible. */
static inline struct bb_ribbon_question bb_ribbon_question_bits(const uint8_t *payload,
                                                                uint64_t descriptor,
                                                                uint64_t fingerprint_bits,
                                                                uint64_t hash)
{
    struct bb_descriptor parts = bb_descriptor_decode((uint16_t)descriptor);
    struct bb_ribbon_equation equation =
        bb_ribbon_bits_equation(hash, (uint16_t)descriptor, parts.size);
    return (struct bb_ribbon_question){.bytes = payload,
                                       .coefficients = equation.coefficients,
                                       .fingerprint = equation.fingerprint,
                                       .fingerprint_bits = (uint8_t)(fingerprint_bits + parts.step),
                                       .slots = (uint8_t)parts.size,
                                       .start = (uint8_t)equation.start};
}

/* A question whose answer is yes. */
static inline struct bb_ribbon_question bb_ribbon_question_none(void)
{
    static const uint8_t nothing[64 + BB_FILTER_PAD_BYTES] = {0};
    return (struct bb_ribbon_question){.bytes = nothing + 64};
}

static inline void bb_ribbon_question_set(struct bb_ribbon_question *question,
                                          struct bb_ribbon_question value)
{
    question->bytes = value.bytes;
    question->coefficients = value.coefficients;
    question->fingerprint = value.fingerprint;
    question->fingerprint_bits = value.fingerprint_bits;
    question->slots = value.slots;
    question->start = value.start;
}

/* Parameters of probe i of a batch. Descriptors that do not exist give "maybe". Assigned field by
 * field: copying words that were stored as bytes waits for the stores. */
static inline void bb_ribbon_question_init(struct bb_ribbon_question *question,
                                           const struct bb_filter_batch *batch, size_t i)
{
    bb_filter_place place = batch->places[i];
    uint16_t descriptor = (uint16_t)place;
    uint64_t fingerprint_bits = batch->fingerprint_bits[i];
    uint64_t hash = batch->hashes[i];
    const uint8_t *payloads = batch->payloads[i];
    if (bb_ribbon_window_exists_at(place))
        bb_ribbon_question_set(question,
                               bb_ribbon_question_grouped(payloads + (place >> 16), descriptor,
                                                          fingerprint_bits, hash));
    else if (bb_descriptor_is_bit_exact(descriptor) && bb_ribbon_question_has_columns(descriptor))
        bb_ribbon_question_set(
            question,
            bb_ribbon_question_bits(payloads + (place >> 16), descriptor, fingerprint_bits, hash));
    else
        bb_ribbon_question_set(question, bb_ribbon_question_none());
}

/* Of a question to a byte-grouped ribbon. */
static inline struct bb_ribbon_window
bb_ribbon_question_window(const struct bb_ribbon_question *question)
{
    return (struct bb_ribbon_window){.bytes = question->bytes,
                                     .fingerprint_bits = question->fingerprint_bits,
                                     .coefficients = question->coefficients,
                                     .fingerprint = question->fingerprint};
}

/* Has the bytes that the answer depends on fetched into the first-level cache. */
static inline void bb_ribbon_question_prefetch(const struct bb_ribbon_question *question)
{
    size_t size = question->slots > 0
                      ? bb_ribbon_bits_size(question->slots, question->fingerprint_bits)
                      : (size_t)BB_RIBBON_WINDOW_GROUPS * question->fingerprint_bits;
    const uint8_t *bytes = question->bytes;
    __builtin_prefetch(bytes);
    for (size_t i = 64; i < size; i += 64)
        __builtin_prefetch(bytes + i);
    __builtin_prefetch(bytes + size - (size > 0));
    __asm__ volatile(""
                     :
                     /* gcc treats a function that only prefetches as having no effects, and drops
                      * its calls. */
                     : "r"(bytes));
}

static inline bool bb_ribbon_question_agrees(const struct bb_ribbon_question *question,
                                             uint32_t sums)
{
    return ((sums ^ question->fingerprint) &
            bb_ribbon_equation_fingerprint_mask(question->fingerprint_bits)) == 0;
}

#endif
