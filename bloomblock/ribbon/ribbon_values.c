/* See ribbon_values.h. */
#include "bloomblock/ribbon/ribbon_values.h"

#include "base/assert.h"
#include "base/status.h"
#include "bloomblock/ribbon/ribbon_payload.h"
#include "bloomblock/ribbon/ribbon_portable.h"
#include "bloomblock/ribbon/ribbon_shape.h"

_Static_assert(BB_RIBBON_VALUES_MAX == BB_RIBBON_KEYS_MAX, "shapes exist for all sets");

/* --- Building --- */

enum bb_status bb_ribbon_values_encode(struct bb_ribbon_solver *solver, const uint64_t *hashes,
                                       const uint32_t *values, size_t count,
                                       uint32_t fingerprint_bits, bool step, struct bb_buf *payload,
                                       uint16_t *ret_descriptor)
{
    BB_ASSERT(count <= BB_RIBBON_VALUES_MAX &&
              fingerprint_bits + step <= BB_RIBBON_FINGERPRINT_BITS_MAX);
    struct bb_ribbon_keys keys = {.hashes = hashes, .values = values, .count = count};
    *ret_descriptor = BB_DESCRIPTOR_NONE;
    if (count == 0)
        return BB_OK;
    enum bb_status status =
        bb_ribbon_payload_append(solver, &keys, 0, fingerprint_bits, step, payload, ret_descriptor);
    if (status == BB_OK && *ret_descriptor == BB_DESCRIPTOR_NONE)
        return bb_fail(BB_TOO_LARGE, "no ribbon of %zu keys solves their equations", count);
    return status;
}

size_t bb_ribbon_values_size(size_t count, uint32_t fingerprint_bits)
{
    BB_ASSERT(count <= BB_RIBBON_VALUES_MAX);
    return count == 0
               ? 0
               : bb_ribbon_shape_size(bb_ribbon_shape_for((uint32_t)count, fingerprint_bits, 0),
                                      fingerprint_bits);
}

/* --- Reading --- */

bool bb_ribbon_values_payload_size(uint16_t descriptor, uint32_t fingerprint_bits, size_t *ret_size)
{
    struct bb_descriptor parts = bb_descriptor_decode(descriptor);
    struct bb_ribbon_shape shape = {.bit_exact = parts.bit_exact, .size = parts.size};
    bool is_none = descriptor == BB_DESCRIPTOR_NONE;
    if (!is_none && parts.size < (parts.bit_exact ? 1 : BB_RIBBON_GROUPS_MIN))
        return false;
    *ret_size = is_none ? 0 : bb_ribbon_shape_size(shape, fingerprint_bits + parts.step);
    return true;
}

uint32_t bb_ribbon_values_get(const uint8_t *payload, uint16_t descriptor,
                              uint32_t fingerprint_bits, uint64_t hash)
{
    struct bb_ribbon_question question =
        bb_descriptor_is_bit_exact(descriptor)
            ? bb_ribbon_question_bits(payload, descriptor, fingerprint_bits, hash)
            : bb_ribbon_question_grouped(payload, descriptor, fingerprint_bits, hash);
    uint32_t sums = bb_ribbon_portable_sums(&question);
    return (sums ^ question.fingerprint) &
           bb_ribbon_equation_fingerprint_mask(question.fingerprint_bits);
}
