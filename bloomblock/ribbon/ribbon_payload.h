/* The rows of a solved ribbon as the payload of a filter. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PAYLOAD_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PAYLOAD_H

#include "base/buf.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon/ribbon_rows.h"

/* Appends the rows in the layout of parts, which they were solved with. fingerprint_bits: of the
 * rows, step included. */
BB_MUST_CHECK enum bb_status bb_ribbon_payload_append(const struct bb_ribbon_rows *rows,
                                                      uint32_t fingerprint_bits,
                                                      struct bb_descriptor parts,
                                                      struct bb_buf *payload);

#endif
