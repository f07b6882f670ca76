/* Goal: options of reading come over from callers that were built against another header, or are
 * refused, in every call that takes them. Method: struct_size at every length, and an option whose
 * effect is seen: filters are not asked. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/hash.h"
#include "bb/table_explain.h"
#include "tests/support/sizes.h"

struct world {
    struct bb_table *table;
    struct bb_hash_secret secret;
};

static struct bb_bytes absent_key(void)
{
    return bb_bytes_of_text("0000041");
}

static void assert_visit(enum bb_status status, enum bb_visit visit)
{
    assert_int_equal(visit, status == BB_OK ? BB_VISIT_FALSE_POSITIVE : BB_VISIT_COUNT);
}

static enum bb_status take_get(const struct world *world, const struct bb_read_options *options)
{
    enum bb_visit visit = BB_VISIT_COUNT;
    struct bb_buf value = {0};
    uint64_t sequence = 0;
    enum bb_status status =
        bb_table_get(world->table, options, absent_key(), bb_hash_key(&world->secret, absent_key()),
                     BB_SEQUENCE_MAX, NULL, &value, &sequence, &visit);
    assert_visit(status, visit);
    bb_buf_deinit(&value);
    return status;
}

static enum bb_status take_get_pinned(const struct world *world,
                                      const struct bb_read_options *options)
{
    enum bb_visit visit = BB_VISIT_COUNT;
    struct bb_pinned value = {0};
    uint64_t sequence = 0;
    enum bb_status status = bb_table_get_pinned(world->table, options, absent_key(),
                                                bb_hash_key(&world->secret, absent_key()),
                                                BB_SEQUENCE_MAX, NULL, &value, &sequence, &visit);
    assert_visit(status, visit);
    return status;
}

static enum bb_status take_explain(const struct world *world, const struct bb_read_options *options)
{
    struct bb_table_explain explain = {.visit = BB_VISIT_COUNT};
    enum bb_status status = bb_table_explain(world->table, options, absent_key(),
                                             bb_hash_key(&world->secret, absent_key()),
                                             BB_SEQUENCE_MAX, NULL, NULL, &explain);
    assert_visit(status, explain.visit);
    return status;
}

static enum bb_status take_iter(const struct world *world, const struct bb_read_options *options)
{
    struct bb_iter *iter = NULL;
    enum bb_status status = bb_table_iter_create(world->table, options, NULL, &iter);
    assert_true((iter != NULL) == (status == BB_OK));
    bb_iter_destroy(iter);
    return status;
}

/* All calls accept the same options. */
static enum bb_status take(const void *options, void *context)
{
    const struct world *world = context;
    enum bb_status status = take_get(world, options);
    assert_int_equal(take_get_pinned(world, options), status);
    assert_int_equal(take_explain(world, options), status);
    assert_int_equal(take_iter(world, options), status);
    return status;
}

static void read_options__of_other_versions(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(61);
    struct world world = {0};
    struct entry_list list = {0};
    bb_hash_secret_from_seed(61, &world.secret);
    struct bb_table_options options = {.file_system = bb_file_memory_system(memory),
                                       .secret = &world.secret};
    for (int i = 0; i < 100; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i);
        entry_list_add_text(&list, key, 7, "a value");
    }
    build_table(FIXTURE_PATH, &options, &list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &options, &world.table));
    struct bb_read_options good = {.ignore_filters = true};
    assert_sizes(&good, sizeof(good), take, &world);
    bb_table_close(world.table);
    entry_list_deinit(&list);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_options__of_other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
