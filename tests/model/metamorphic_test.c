/* Goal: options change sizes and times, and no result. Method: the same drawn operations under
 * twenty sets of options (option_sets.h); every operation must show the same as under the first
 * set.
 *
 * BB_TEST_METAMORPHIC_OPS sets the operations under each set (default 1,000), BB_TEST_SEED the
 * seed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/model/transcript.h"
#include "tests/support/must_alloc.h"

static void run(const struct option_set *set, uint64_t seed, uint64_t count, uint64_t *ret_hashes)
{
    struct transcript transcript;
    transcript_init(&transcript, set, seed);
    for (uint64_t i = 0; i < count; i++)
        ret_hashes[i] = transcript_step(&transcript);
    ret_hashes[count] = transcript_deinit(&transcript);
}

/* The first operation that differs; SIZE_MAX: none. */
static size_t difference(const uint64_t *a, const uint64_t *b, uint64_t count)
{
    for (size_t i = 0; i <= count; i++) {
        if (a[i] != b[i])
            return i;
    }
    return SIZE_MAX;
}

int main(void)
{
    const char *text = getenv("BB_TEST_METAMORPHIC_OPS");
    uint64_t count = text == NULL ? 1000 : strtoull(text, NULL, 10);
    uint64_t seed = bb_rng_seed("metamorphic_test", 1);
    uint64_t *expected = bb_must_alloc_zeroed((count + 1) * sizeof(*expected));
    uint64_t *found = bb_must_alloc_zeroed((count + 1) * sizeof(*found));
    int failed = 0;
    run(&option_sets[0], seed, count, expected);
    for (size_t i = 1; i < option_set_count; i++) {
        run(&option_sets[i], seed, count, found);
        size_t place = difference(expected, found, count);
        if (place == SIZE_MAX)
            continue;
        fprintf(stderr, "metamorphic_test: options \"%s\": operation %zu shows something else\n",
                option_sets[i].name, place + 1);
        fprintf(stderr,
                "    replay: BB_TEST_SEED=%" PRIu64 " BB_TEST_METAMORPHIC_OPS=%zu "
                "model_metamorphic_test\n",
                seed, place + 1);
        failed = 1;
    }
    printf("%zu sets of options\ncount: %" PRIu64 " operations\n", option_set_count,
           count * option_set_count);
    free(expected);
    free(found);
    return failed;
}
