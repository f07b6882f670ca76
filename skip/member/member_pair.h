/* A member and a granule that holds it, in one word:
 *
 *     63                      10 9         0
 *    |   hash of the member, 40 | granule   |      of the segment: 0 ... 1,023
 *
 * So pairs order by member, then by granule. The hash is the high 40 bits of the member's
 * (member_hash.h): members that agree in them are one to the index.
 *
 * A segment permutes the hashes: it multiplies them by its factor, modulo 2^40. Two members whose
 * hashes begin with the same bits are one address to a segment; in other segments, with other
 * factors, their hashes begin with different bits. Without this, a member that is absent would hit
 * the granules of the same present member in every segment of a store.
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

/* Permutes the hashes, with 1 not, and orders the pairs, whose granules ascend, by hash; keeps the
 * order of equal hashes. spare has space for count pairs; the sorted ones are in pairs. */
void bb_member_pairs_sort(uint64_t *pairs, uint64_t *spare, size_t count, uint64_t factor);

#endif
