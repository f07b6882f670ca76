/* Goal: each running piece of work gets the sum of the others' shares, for any order of beginnings
 * and ends. */
#include "tests/support/assert_status.h"

#include "compaction/rates/waste_share.h"

static void waste_share__of_the_others(void **state)
{
    (void)state;
    const struct bb_hull everywhere = {0};
    struct bb_waste_share *list = NULL;
    struct bb_waste_share a = {0};
    struct bb_waste_share b = {0};
    struct bb_waste_share c = {0};
    bb_waste_share_end(&list, &a);
    assert_true(bb_waste_share_others(list, NULL) == 0);
    bb_waste_share_set(&list, &a, &everywhere, 1);
    bb_waste_share_set(&list, &b, &everywhere, 2);
    bb_waste_share_set(&list, &c, &everywhere, 4);
    assert_true(bb_waste_share_others(list, NULL) == 7);
    assert_true(bb_waste_share_others(list, &b) == 5);
    bb_waste_share_set(&list, &a, &everywhere, 8);
    assert_true(bb_waste_share_others(list, NULL) == 14);
    bb_waste_share_end(&list, &b);
    bb_waste_share_end(&list, &b);
    assert_true(bb_waste_share_others(list, &b) == 12);
    bb_waste_share_set(&list, &b, &everywhere, 1);
    bb_waste_share_end(&list, &a);
    bb_waste_share_end(&list, &c);
    assert_true(bb_waste_share_others(list, NULL) == 1);
    bb_waste_share_end(&list, &b);
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waste_share__of_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
