/* Views of ribbons of ranks up to 8, with the step, asked with AVX-512: from the key's hash to the
 * answer in one piece. The functions are those of struct bb_kind_probe. Compiled for x86 only.
 *
 * Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_STANDALONE_KIND_RIBBON_AVX512_H
#define BB_BLOOMBLOCK_STANDALONE_KIND_RIBBON_AVX512_H

#include "bloomblock/standalone/kind.h"

bool bb_kind_ribbon_avx512(const struct bb_filter_view *view, uint64_t key_hash);
uint64_t bb_kind_ribbon_avx512_each(const struct bb_filter_view *views, size_t count,
                                    uint64_t key_hash);

#endif
