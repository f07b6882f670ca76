/* Goal: a list has the shares of all running work, for any order of beginnings and ends, and each
 * share has its own copy of its hull. Method: sums of lists; bounds that change after the call. */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/bytes.h"
#include "compaction/rates/waste_share.h"

static const struct bb_hull everywhere = {.comparator = NULL};

static double sum_of(const struct bb_waste_share *list)
{
    double sum = 0;
    for (const struct bb_waste_share *share = list; share != NULL; share = share->next)
        sum += share->waste;
    return sum;
}

static void waste_share__from_set_to_end(void **state)
{
    (void)state;
    struct bb_waste_share *list = NULL;
    struct bb_waste_share a = {0};
    struct bb_waste_share b = {0};
    struct bb_waste_share c = {0};
    bb_waste_share_end(&list, &a);
    assert_null(list);
    bb_waste_share_set(&list, &a, &everywhere, 1);
    bb_waste_share_set(&list, &b, &everywhere, 2);
    bb_waste_share_set(&list, &c, &everywhere, 4);
    assert_true(sum_of(list) == 7);
    bb_waste_share_set(&list, &a, &everywhere, 8);
    assert_true(sum_of(list) == 14);
    bb_waste_share_end(&list, &b);
    bb_waste_share_end(&list, &b);
    assert_true(sum_of(list) == 12);
    bb_waste_share_set(&list, &b, &everywhere, 1);
    bb_waste_share_end(&list, &a);
    bb_waste_share_end(&list, &c);
    assert_true(sum_of(list) == 1);
    bb_waste_share_end(&list, &b);
    assert_null(list);
}

static void assert_bounds(const struct bb_hull *hull, const char *low, const char *high)
{
    assert_true(hull->has_any);
    assert_true(bb_bytes_equal(hull->low, bb_bytes_of_text(low)));
    assert_true(bb_bytes_equal(hull->high, bb_bytes_of_text(high)));
}

static void waste_share__copies_its_hull(void **state)
{
    (void)state;
    struct bb_waste_share *list = NULL;
    struct bb_waste_share share = {0};
    char low[] = "low";
    char high[] = "lower";
    struct bb_hull hull = {.comparator = NULL};
    bb_hull_widen(&hull, bb_bytes_of_text(low), bb_bytes_of_text(high));
    bb_waste_share_set(&list, &share, &hull, 1);
    memset(low, 'x', 3);
    memset(high, 'x', 5);
    assert_bounds(&share.hull, "low", "lower");
    hull = (struct bb_hull){.comparator = NULL};
    bb_hull_widen(&hull, bb_bytes_of_text("a"), bb_bytes_of_text("b"));
    bb_waste_share_set(&list, &share, &hull, 2);
    assert_bounds(&share.hull, "a", "b");
    bb_waste_share_set(&list, &share, &everywhere, 2);
    assert_false(share.hull.has_any);
    bb_waste_share_end(&list, &share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waste_share__from_set_to_end),
        cmocka_unit_test(waste_share__copies_its_hull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
