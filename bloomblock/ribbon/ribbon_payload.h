/* The payload of a ribbon, from its keys: the smallest shape and the first seed that solve their
 * equations. One solver, one thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_PAYLOAD_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_PAYLOAD_H

#include "base/buf.h"
#include "bloomblock/ribbon/ribbon_solver.h"

/* Appends the payload of 1 ... BB_RIBBON_KEYS_MAX keys. slack: as in bb_ribbon_shape_for.
 * fingerprint_bits: of the shorter step. *ret_descriptor is BB_DESCRIPTOR_NONE, without a payload,
 * if no seed solves the equations: once in 10^33 sets of distinct keys. */
BB_MUST_CHECK enum bb_status bb_ribbon_payload_append(struct bb_ribbon_solver *solver,
                                                      const struct bb_ribbon_keys *keys,
                                                      double slack, uint32_t fingerprint_bits,
                                                      bool step, struct bb_buf *payload,
                                                      uint16_t *ret_descriptor);

#endif
