/* Goal: an edit is refused for its own waste, not for the waste of other work. */
#include "tests/support/assert_status.h"

#include "kv/background/waste_target.h"

/* As for an ingest of a table without keys during a flush. */
static void waste_target__allows_an_edit_without_waste_of_its_own(void **state)
{
    (void)state;
    static struct bb_db db;
    struct bb_levels *levels = NULL;
    db.options.filter_kind = BB_FILTER_RIBBON;
    db.options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 0.01};
    db.options.absent_share = 1;
    assert_ok(bb_levels_create_empty(NULL, &levels));
    assert_true(bb_waste_target_allows(&db, levels, levels, 0));
    assert_true(bb_waste_target_allows(&db, levels, levels, 100));
    bb_levels_unref(levels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waste_target__allows_an_edit_without_waste_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
