/* Goal: any hashes are sorted without duplicates. Method: compared with qsort, for sizes around the
 * limits of the two sorts, for mixed hashes and for hashes that agree in most bytes. */
#include "tests/unit/bloomblock/filter_fixture.h"

#include "bloomblock/hash_sort.h"
#include "tests/support/must_alloc.h"

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t sort_simply(uint64_t *hashes, size_t count)
{
    size_t kept = 0;
    qsort(hashes, count, sizeof(hashes[0]), compare_hashes);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || hashes[i] != hashes[i - 1])
            hashes[kept++] = hashes[i];
    return kept;
}

static void assert_sorts(struct bb_rng *rng, size_t count, uint64_t mask)
{
    uint64_t *hashes = bb_must_alloc_zeroed((count + 1) * sizeof(hashes[0]));
    uint64_t *expected = bb_must_alloc_zeroed((count + 1) * sizeof(hashes[0]));
    for (size_t i = 0; i < count; i++)
        expected[i] = hashes[i] = bb_rng_next(rng) & mask;
    size_t kept = sort_simply(expected, count);
    assert_int_equal(bb_hash_sort(hashes, count), kept);
    assert_memory_equal(hashes, expected, kept * sizeof(hashes[0]));
    free(hashes);
    free(expected);
}

static void hash_sort__agrees_with_qsort(void **state)
{
    (void)state;
    static const uint64_t masks[] = {UINT64_MAX,
                                     UINT64_C(0xff),
                                     UINT64_C(0xff000000000000ff),
                                     UINT64_C(0x00000000fff00000),
                                     UINT64_C(1) << 63,
                                     0};
    struct bb_rng rng;
    bb_rng_init(&rng, key_seed);
    for (size_t m = 0; m < BB_ARRAY_LENGTH(masks); m++) {
        for (size_t count = 0; count < 130; count++)
            assert_sorts(&rng, count, masks[m]);
        for (size_t count = 1000; count < 2100; count += 131)
            assert_sorts(&rng, count, masks[m]);
        assert_sorts(&rng, 2048, masks[m]);
        assert_sorts(&rng, 20000, masks[m]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_sort__agrees_with_qsort),
    };
    keys_init("hash_sort");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
