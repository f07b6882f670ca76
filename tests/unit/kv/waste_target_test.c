/* Goal: an edit is refused for its own waste where it adds some, not for the waste of other work or
 * of other keys. Method: levels before and after an edit; shares of other work. */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "kv/background/waste_target.h"

static struct bb_hull hull_of(const char *low, const char *high)
{
    struct bb_hull hull = {.comparator = NULL};
    bb_hull_widen(&hull, bb_bytes_of_text(low), bb_bytes_of_text(high));
    return hull;
}

static void init(struct bb_db *db)
{
    db->options.filter_kind = BB_FILTER_RIBBON;
    db->options.filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 0.01};
    db->options.absent_share = 1;
}

/* As for an ingest of a table without keys during a flush. */
static void waste_target__allows_an_edit_without_waste_of_its_own(void **state)
{
    (void)state;
    static struct bb_db db;
    struct bb_levels *levels = NULL;
    struct bb_waste_share share = {0};
    struct bb_hull hull = hull_of("a", "b");
    init(&db);
    assert_ok(bb_levels_create_empty(NULL, &levels));
    assert_true(bb_waste_target_allows(&db, levels, levels, &hull, NULL));
    bb_waste_share_set(&db.shares, &share, &hull, 100);
    assert_true(bb_waste_target_allows(&db, levels, levels, &hull, NULL));
    bb_waste_share_end(&db.shares, &share);
    bb_levels_unref(levels);
}

static void remove_nothing(void *context, uint64_t number)
{
    (void)context;
    (void)number;
}

/* Adds a table to levels, which are replaced. */
static void add_table(struct bb_table_file_env *env, int level, const struct bb_hull *bounds,
                      double rate, struct bb_levels **levels)
{
    struct bb_table_meta meta = {.filter_rate = rate, .key_count = 1000, .file_size = 1000};
    struct bb_level_change change = {.level = level};
    struct bb_levels *before = *levels;
    assert_ok(bb_buf_assign(&meta.smallest, bounds->low));
    assert_ok(bb_buf_assign(&meta.largest, bounds->high));
    assert_ok(bb_table_file_create(env, (uint64_t)level + 1, &meta, &change.file));
    assert_ok(bb_levels_apply(before, NULL, 0, &change, 1, levels));
    bb_table_file_unref(change.file);
    bb_table_meta_deinit(&meta);
    bb_levels_unref(before);
}

/* The edit adds a table from n to z. Level 2 exceeds the target from a to m. */
static void waste_target__looks_at_the_keys_of_the_edit(void **state)
{
    (void)state;
    static struct bb_db db;
    struct bb_table_file_env env = {.remove = remove_nothing};
    struct bb_levels *before = NULL;
    struct bb_waste_share share = {0};
    struct bb_hull hull = hull_of("n", "z");
    struct bb_hull old = hull_of("a", "m");
    init(&db);
    bb_table_file_env_init(&env);
    assert_ok(bb_levels_create_empty(NULL, &before));
    add_table(&env, 2, &old, 0.02, &before);
    struct bb_levels *after = bb_levels_ref(before);
    add_table(&env, 1, &hull, 0.009, &after);
    assert_true(bb_waste_target_allows(&db, before, after, &hull, NULL));
    bb_waste_share_set(&db.shares, &share, &hull, 0.008);
    assert_false(bb_waste_target_allows(&db, before, after, &hull, NULL));
    assert_true(bb_waste_target_allows(&db, before, after, &hull, &share));
    struct bb_hull elsewhere = hull_of("a", "b");
    bb_waste_share_set(&db.shares, &share, &elsewhere, 0.008);
    assert_true(bb_waste_target_allows(&db, before, after, &hull, NULL));
    bb_waste_share_end(&db.shares, &share);
    bb_levels_unref(before);
    bb_levels_unref(after);
    bb_table_file_env_deinit(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waste_target__allows_an_edit_without_waste_of_its_own),
        cmocka_unit_test(waste_target__looks_at_the_keys_of_the_edit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
