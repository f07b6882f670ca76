/* The equations of eight hashes at a time, with AVX-512: the same as in ribbon_system.h. Compiled
 * for x86 only. Threads: one system, one thread. */
#ifndef BB_BLOOMBLOCK_RIBBON_RIBBON_SYSTEM_AVX512_H
#define BB_BLOOMBLOCK_RIBBON_RIBBON_SYSTEM_AVX512_H

#include "bloomblock/ribbon/ribbon_system.h"

/* bb_ribbon_system_init */
void bb_ribbon_system_avx512_init(struct bb_ribbon_system *system, const uint64_t *hashes,
                                  uint32_t count, struct bb_descriptor parts,
                                  uint32_t fingerprint_bits);

#endif
