/* A member and a granule that holds it, in one word:
 *
 *     63                      10 9         0
 *    |   hash of the member, 40 | granule   |      of the segment: 0 ... 1,023
 *
 * So pairs are sorted by member, then by granule. The hash is the high 40 bits of the member's hash
 * (member_hash.h). An index does not distinguish members that agree in these bits.
 *
 * A segment permutes the hashes: it multiplies them by its factor, modulo 2^40. Two members whose
 * permuted hashes begin with the same bits have the same address in the segment. In other segments,
 * which have other factors, their hashes begin with different bits. WHY: otherwise an absent member
 * would match the same present member in every segment of a store.
 */
#ifndef BB_SKIP_MEMBER_MEMBER_PAIR_H
#define BB_SKIP_MEMBER_MEMBER_PAIR_H

#include <stddef.h>
#include <stdint.h>

/* ON DISK. */
#define BB_MEMBER_HASH_BITS 40

#define BB_MEMBER_GRANULE_BITS 10

static inline uint64_t bb_member_pair(uint64_t hash, uint32_t granule)
{
    return hash >> (64 - BB_MEMBER_HASH_BITS) << BB_MEMBER_GRANULE_BITS | granule;
}

static inline uint64_t bb_member_pair_hash(uint64_t pair)
{
    return pair >> BB_MEMBER_GRANULE_BITS;
}

static inline uint16_t bb_member_pair_granule(uint64_t pair)
{
    return (uint16_t)(pair & ((UINT64_C(1) << BB_MEMBER_GRANULE_BITS) - 1));
}

/* factor: odd, less than 2^40. */
static inline uint64_t bb_member_permute(uint64_t hash40, uint64_t factor)
{
    return hash40 * factor & ((UINT64_C(1) << BB_MEMBER_HASH_BITS) - 1);
}

/* A factor that depends on all pairs, in any order. */
uint64_t bb_member_pairs_factor(const uint64_t *pairs, size_t count);

/* Permutes the hashes by the factor (1: unchanged), and sorts the pairs by hash. The granules of
 * the pairs must ascend; the sort is stable, so they ascend for each hash. spare: space for count
 * pairs. */
void bb_member_pairs_sort(uint64_t *pairs, uint64_t *spare, size_t count, uint64_t factor);

#endif
