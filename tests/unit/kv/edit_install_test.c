/* Goal: the share of running work ends when its edit is installed, and stays when it is not.
 * Method: edits without tables on a store. */
#include "tests/support/store.h"

#include "base/status.h"
#include "kv/background/edit_install.h"
#include "kv/store/store.h"

static enum bb_status refuse(void *context, struct bb_levels *levels, struct bb_edit *edit)
{
    (void)levels;
    (void)edit;
    *(bool *)context = true;
    return bb_fail(BB_BUSY, "refused");
}

static void edit_install__ends_the_share(void **state)
{
    (void)state;
    struct store store;
    struct bb_edit edit = {0};
    struct bb_waste_share share = {0};
    bool was_asked = false;
    const struct bb_hull everywhere = {.comparator = NULL};
    store_init(&store);
    store_open(&store);
    bb_waste_share_set(&store.db->shares, &share, &everywhere, 0.5);
    const struct bb_placing refused = {.place = refuse, .context = &was_asked, .share = &share};
    assert_status(bb_edit_install_placed(store.db, &edit, &refused), BB_BUSY);
    assert_true(was_asked);
    assert_ptr_equal(store.db->shares, &share);
    const struct bb_placing placing = {.share = &share};
    assert_ok(bb_edit_install_placed(store.db, &edit, &placing));
    assert_null(store.db->shares);
    bb_edit_deinit(&edit);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edit_install__ends_the_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
