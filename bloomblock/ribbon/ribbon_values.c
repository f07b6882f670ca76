/* See ribbon_values.h. */
#include "bloomblock/ribbon/ribbon_values.h"

#include "base/assert.h"
#include "base/status.h"
#include "bloomblock/ribbon/ribbon_payload.h"
#include "bloomblock/ribbon/ribbon_portable.h"
#include "bloomblock/ribbon/ribbon_shape.h"

_Static_assert(BB_RIBBON_VALUES_MAX == BB_RIBBON_KEYS_MAX, "shapes exist for all sets");

/* --- Building --- */

static struct bb_ribbon_equation equation_of(uint64_t hash, uint32_t value,
                                             struct bb_descriptor parts)
{
    uint16_t tweak = bb_descriptor_encode(parts);
    struct bb_ribbon_equation equation = parts.bit_exact
                                             ? bb_ribbon_bits_equation(hash, tweak, parts.size)
                                             : bb_ribbon_equation(hash, tweak, parts.size);
    equation.fingerprint ^= value;
    return equation;
}

static bool solve_seeds(struct bb_ribbon_solver *solver, const uint64_t *hashes,
                        const uint32_t *values, size_t count, struct bb_ribbon_shape shape,
                        uint32_t fingerprint_bits, struct bb_descriptor *parts)
{
    parts->bit_exact = shape.bit_exact;
    parts->size = shape.size;
    for (parts->seed = 0; parts->seed < BB_RIBBON_SEED_COUNT; parts->seed++) {
        bb_ribbon_solver_reset(solver, bb_ribbon_system_slots(*parts), fingerprint_bits);
        for (size_t i = 0; i < count; i++)
            bb_ribbon_solver_add(solver, equation_of(hashes[i], values[i], *parts));
        if (bb_ribbon_solver_finish(solver))
            return true;
    }
    return false;
}

enum bb_status bb_ribbon_values_encode(struct bb_ribbon_solver *solver, const uint64_t *hashes,
                                       const uint32_t *values, size_t count,
                                       uint32_t fingerprint_bits, bool step, struct bb_buf *payload,
                                       uint16_t *ret_descriptor)
{
    BB_ASSERT(count <= BB_RIBBON_VALUES_MAX &&
              fingerprint_bits + step <= BB_RIBBON_FINGERPRINT_BITS_MAX);
    struct bb_descriptor parts = {.step = step};
    *ret_descriptor = BB_DESCRIPTOR_NONE;
    if (count == 0)
        return BB_OK;
    fingerprint_bits += step;
    struct bb_ribbon_shape shape = bb_ribbon_shape_for((uint32_t)count, fingerprint_bits, 0);
    if (!solve_seeds(solver, hashes, values, count, shape, fingerprint_bits, &parts) &&
        !solve_seeds(solver, hashes, values, count, bb_ribbon_shape_larger(shape), fingerprint_bits,
                     &parts))
        return bb_fail(BB_TOO_LARGE, "no ribbon of %zu keys solves their equations", count);
    enum bb_status status =
        bb_ribbon_payload_append(&solver->rows, fingerprint_bits, parts, payload);
    if (status == BB_OK)
        *ret_descriptor = bb_descriptor_encode(parts);
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
    *ret_size = 0;
    if (descriptor == BB_DESCRIPTOR_NONE)
        return true;
    if (parts.size < (parts.bit_exact ? 1 : BB_RIBBON_GROUPS_MIN))
        return false;
    *ret_size = bb_ribbon_shape_size(shape, fingerprint_bits + parts.step);
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
