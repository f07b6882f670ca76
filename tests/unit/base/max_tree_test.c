/* Goal: the tree agrees with a search of all its values. Method: random changes, insertions and
 * removals in the middle, compared with a plain array. */
#include "base/max_tree.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

#include <string.h>

#define VALUES_MAX 200

struct plain {
    uint32_t values[VALUES_MAX];
    size_t count;
};

static void assert_same(const struct bb_max_tree *tree, const struct plain *plain, uint32_t bound)
{
    uint32_t largest = 0;
    size_t first = SIZE_MAX;
    for (size_t i = plain->count; i-- > 0;) {
        largest = plain->values[i] > largest ? plain->values[i] : largest;
        first = plain->values[i] > bound ? i : first;
    }
    assert_int_equal(bb_max_tree_largest(tree), largest);
    assert_int_equal(bb_max_tree_find(tree, bound), first);
}

static void insert(struct bb_max_tree *tree, struct plain *plain, size_t at, uint32_t value)
{
    assert_true(bb_max_tree_reserve(tree, plain->count + 1));
    bb_max_tree_insert(tree, at, value);
    memmove(plain->values + at + 1, plain->values + at, (plain->count - at) * sizeof(uint32_t));
    plain->values[at] = value;
    plain->count++;
}

static void take_out(struct bb_max_tree *tree, struct plain *plain, size_t at)
{
    bb_max_tree_remove(tree, at);
    plain->count--;
    memmove(plain->values + at, plain->values + at + 1, (plain->count - at) * sizeof(uint32_t));
}

static void change(struct bb_max_tree *tree, struct plain *plain, struct bb_rng *rng)
{
    uint32_t value = (uint32_t)bb_rng_below(rng, 50);
    bool grows = bb_rng_one_in(rng, 2);
    if (plain->count < VALUES_MAX && (plain->count == 0 || (grows && bb_rng_one_in(rng, 3)))) {
        insert(tree, plain, (size_t)bb_rng_below(rng, plain->count + 1), value);
    } else if (bb_rng_one_in(rng, 4)) {
        take_out(tree, plain, (size_t)bb_rng_below(rng, plain->count));
    } else {
        size_t at = (size_t)bb_rng_below(rng, plain->count);
        bb_max_tree_set(tree, at, value);
        plain->values[at] = value;
    }
}

static void max_tree__says_what_all_values_say(void **state)
{
    (void)state;
    struct bb_max_tree tree = {0};
    struct plain plain = {0};
    struct bb_rng rng;
    size_t most = 0;
    bb_rng_init(&rng, 81);
    assert_same(&tree, &plain, 0);
    for (int i = 0; i < 60000; i++) {
        /* Grows first, then changes at random. */
        if (i < VALUES_MAX)
            insert(&tree, &plain, (size_t)bb_rng_below(&rng, plain.count + 1), 7);
        else
            change(&tree, &plain, &rng);
        most = plain.count > most ? plain.count : most;
        assert_same(&tree, &plain, (uint32_t)bb_rng_below(&rng, 52));
    }
    assert_int_equal(most, VALUES_MAX);
    bb_max_tree_deinit(&tree);
    assert_same(&tree, &(struct plain){0}, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(max_tree__says_what_all_values_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
