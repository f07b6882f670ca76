/* See ribbon_payload.h. */
#include "bloomblock/ribbon/ribbon_payload.h"

#include "bloomblock/ribbon/ribbon_shape.h"

enum bb_status bb_ribbon_payload_append(const struct bb_ribbon_rows *rows,
                                        uint32_t fingerprint_bits, struct bb_descriptor parts,
                                        struct bb_buf *payload)
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
