/* Probing blocks of Parquet's filter, all words together. */
#include "standalone/bloom/split_block.h"

#include "bloomblock/cpu.h"

#if BB_CPU_X86
#include <immintrin.h>

#include "base/hash.h"

BB_CPU_TARGET_AVX2 bool bb_split_block_avx2(const uint8_t *bitset, uint32_t block_count,
                                            uint64_t hash)
{
    const uint8_t *place = bitset + (size_t)bb_hash_range(hash, block_count) * BB_SPLIT_BLOCK_SIZE;
    __m256i block = _mm256_loadu_si256((const __m256i *)place);
    __m256i salts = _mm256_loadu_si256((const __m256i *)bb_split_block_salts);
    __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32((int)hash), salts);
    __m256i bits = _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(products, 27));
    return _mm256_testc_si256(block, bits) != 0;
}
#endif
