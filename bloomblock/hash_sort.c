/* Sorting in place by the highest byte first (McIlroy, Bostic, McIlroy, "Engineering radix sort",
 * 1993: American flag), and by insertion where few are left: mixed hashes need one pass per factor
 * of 256 in their number. */
#include "bloomblock/hash_sort.h"

#define BUCKETS       256
#define INSERTION_MAX 48

static void insertion_sort(uint64_t *hashes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t hash = hashes[i];
        size_t j = i;
        for (; j > 0 && hashes[j - 1] > hash; j--)
            hashes[j] = hashes[j - 1];
        hashes[j] = hash;
    }
}

static inline size_t bucket_of(uint64_t hash, unsigned shift)
{
    return (size_t)(hash >> shift) & (BUCKETS - 1);
}

/* Puts every hash into its bucket. ends[b] becomes the end of bucket b. */
static void distribute(uint64_t *hashes, size_t count, unsigned shift, size_t ends[BUCKETS])
{
    size_t next[BUCKETS] = {0};
    for (size_t i = 0; i < count; i++)
        next[bucket_of(hashes[i], shift)]++;
    size_t sum = 0;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t bucket_count = next[b];
        next[b] = sum;
        sum += bucket_count;
        ends[b] = sum;
    }
    for (size_t b = 0; b < BUCKETS; b++)
        while (next[b] < ends[b]) {
            uint64_t hash = hashes[next[b]];
            size_t home = bucket_of(hash, shift);
            hashes[next[b]] = hashes[next[home]];
            hashes[next[home]++] = hash;
        }
}

/* shift: of the highest byte in which the hashes may differ. */
static void sort(uint64_t *hashes, size_t count, unsigned shift)
{
    if (count <= INSERTION_MAX) {
        insertion_sort(hashes, count);
        return;
    }
    size_t ends[BUCKETS];
    distribute(hashes, count, shift, ends);
    if (shift == 0)
        return;
    for (size_t b = 0, start = 0; b < BUCKETS; start = ends[b++])
        sort(hashes + start, ends[b] - start, shift - 8);
}

size_t bb_hash_sort(uint64_t *hashes, size_t count)
{
    if (count == 0)
        return 0;
    sort(hashes, count, 56);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++)
        if (hashes[i] != hashes[kept - 1])
            hashes[kept++] = hashes[i];
    return kept;
}
