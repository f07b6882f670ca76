/* A ribbon that returns a number for each of its keys: the right side of a key's equation is the
 * key's fingerprint, combined with the number by exclusive or. With r fingerprint bits:
 *
 *     sum of the key's rows = fingerprint ^ number             r bits, of the key's own number
 *
 * For a key that was not added each of the 2^r numbers is equally likely: its fingerprint is
 * independent of the rows. So if the number of a key is its place, one probe replaces a probe of a
 * filter for each place, and no fingerprints are stored.
 *
 * Layouts, descriptors and sizes are as in block_filter.h. Without keys the descriptor is
 * BB_DESCRIPTOR_NONE, and there is no payload.
 *
 * Threads: one solver, one thread; the rest are pure functions. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_VALUES_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_VALUES_H

#include "base/buf.h"
#include "bloomblock/ribbon/ribbon_question.h"
#include "bloomblock/ribbon/ribbon_solver.h"

/* Maximum number of keys of one ribbon. */
#define BB_RIBBON_VALUES_MAX 2000

/* Appends the payload for count distinct hashes, hash i with the lowest fingerprint_bits + step
 * bits of values[i]. count: 0 ... BB_RIBBON_VALUES_MAX; fingerprint_bits + step: 1 ...
 * BB_RIBBON_FINGERPRINT_BITS_MAX. BB_TOO_LARGE: no seed solves the equations, which happens once in
 * 10^33 sets, or for equal hashes. */
BB_MUST_CHECK enum bb_status bb_ribbon_values_encode(struct bb_ribbon_solver *solver,
                                                     const uint64_t *hashes, const uint32_t *values,
                                                     size_t count, uint32_t fingerprint_bits,
                                                     bool step, struct bb_buf *payload,
                                                     uint16_t *ret_descriptor);

/* Bytes of a payload of count keys, 0 ... BB_RIBBON_VALUES_MAX. fingerprint_bits: step
 * included. */
size_t bb_ribbon_values_size(size_t count, uint32_t fingerprint_bits);

/* Bytes of a payload from its descriptor; false for a descriptor that does not exist.
 * fingerprint_bits: of the shorter step, 1 ... BB_RIBBON_FINGERPRINT_BITS_MAX - 1. */
BB_MUST_CHECK bool bb_ribbon_values_payload_size(uint16_t descriptor, uint32_t fingerprint_bits,
                                                 size_t *ret_size);

/* The number of the hash, of fingerprint_bits + step bits. The descriptor exists and is not
 * BB_DESCRIPTOR_NONE; BB_FILTER_PAD_BYTES after the payload are readable. */
uint32_t bb_ribbon_values_get(const uint8_t *payload, uint16_t descriptor,
                              uint32_t fingerprint_bits, uint64_t hash);

#endif
