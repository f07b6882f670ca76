/* See ribbon_payload.h. */
#include "bloomblock/ribbon/ribbon_payload.h"

#include "bloomblock/ribbon/ribbon_shape.h"

static bool solve_seeds(struct bb_ribbon_solver *solver, const struct bb_ribbon_keys *keys,
                        struct bb_ribbon_shape shape, uint32_t fingerprint_bits,
                        struct bb_descriptor *parts)
{
    parts->bit_exact = shape.bit_exact;
    parts->size = shape.size;
    for (parts->seed = 0; parts->seed < BB_RIBBON_SEED_COUNT; parts->seed++)
        if (bb_ribbon_solver_solve(solver, keys, *parts, fingerprint_bits))
            return true;
    return false;
}

static enum bb_status append_rows(const struct bb_ribbon_rows *rows, uint32_t fingerprint_bits,
                                  struct bb_descriptor parts, struct bb_buf *payload)
{
    struct bb_ribbon_shape shape = {.bit_exact = parts.bit_exact, .size = parts.size};
    uint8_t *bytes = NULL;
    enum bb_status status =
        bb_buf_extend(payload, bb_ribbon_shape_size(shape, fingerprint_bits), &bytes);
    if (status != BB_OK)
        return status;
    if (shape.bit_exact)
        bb_ribbon_rows_encode_bits(rows, shape.size, fingerprint_bits, bytes);
    else
        bb_ribbon_rows_encode(rows, shape.size, fingerprint_bits, bytes);
    return BB_OK;
}

/* Tries all seeds, then all with one more slot or group. */
enum bb_status bb_ribbon_payload_append(struct bb_ribbon_solver *solver,
                                        const struct bb_ribbon_keys *keys, double slack,
                                        uint32_t fingerprint_bits, bool step,
                                        struct bb_buf *payload, uint16_t *ret_descriptor)
{
    uint32_t own_bits = fingerprint_bits + step;
    struct bb_descriptor parts = {.step = step};
    struct bb_ribbon_shape shape = bb_ribbon_shape_for((uint32_t)keys->count, own_bits, slack);
    *ret_descriptor = BB_DESCRIPTOR_NONE;
    if (!solve_seeds(solver, keys, shape, own_bits, &parts) &&
        !solve_seeds(solver, keys, bb_ribbon_shape_larger(shape), own_bits, &parts))
        return BB_OK;
    enum bb_status status = append_rows(&solver->rows, own_bits, parts, payload);
    if (status == BB_OK)
        *ret_descriptor = bb_descriptor_encode(parts);
    return status;
}
