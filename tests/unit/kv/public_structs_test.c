/* Goal: structs that programs were compiled with keep their sizes and offsets, and the library
 * fills them to the end, with 0 for values not counted yet. Method: fixed sizes and offsets; every
 * call that fills a struct, into memory that is all ones. */
#include <stddef.h>

#include "bb/db_explain.h"
#include "bb/filter_sets.h"
#include "tests/support/store.h"

/* ---- layout ---- */

struct layout {
    const char *name;
    size_t size;          /* as compiled, */
    size_t expected_size; /* and as required forever */
    size_t room;          /* where the reserved fields begin, as compiled, */
    size_t room_end;
};

#define WITH_ROOM(type, expected)                                                                  \
    {                                                                                              \
#type, sizeof(struct type), expected, offsetof(struct type, reserved),                     \
            offsetof(struct type, reserved) + sizeof(((struct type *)NULL)->reserved)              \
    }
#define CLOSED(type, expected)                                                                     \
    {                                                                                              \
#type, sizeof(struct type), expected, 0, sizeof(struct type)                               \
    }

/* With eight bytes to a pointer. A struct that grows takes from its room, and this list stays. */
static const struct layout layouts[] = {
    WITH_ROOM(bb_block_cache_stats, 64),
    WITH_ROOM(bb_comparator, 48),
    WITH_ROOM(bb_count_sketch_info, 88),
    WITH_ROOM(bb_db_destroy_report, 64),
    WITH_ROOM(bb_db_recovery, 160),
    WITH_ROOM(bb_db_scrub_report, 96),
    WITH_ROOM(bb_db_repair_report, 232),
    WITH_ROOM(bb_db_stats, 3008),
    WITH_ROOM(bb_db_table, 64),
    WITH_ROOM(bb_db_verify_report, 96),
    WITH_ROOM(bb_explain, 272),
    WITH_ROOM(bb_explain_step, 456),
    WITH_ROOM(bb_filter_explain, 48),
    WITH_ROOM(bb_filter_file, 240),
    WITH_ROOM(bb_filter_info, 120),
    WITH_ROOM(bb_filter_plan, 128),
    WITH_ROOM(bb_level_stats, 128),
    WITH_ROOM(bb_range_size, 32),
    WITH_ROOM(bb_read_stats, 192),
    WITH_ROOM(bb_table_explain, 392),
    WITH_ROOM(bb_table_meta, 216),
    WITH_ROOM(bb_table_verify_report, 128),
    CLOSED(bb_buf, 24),
    CLOSED(bb_bytes, 16),
    CLOSED(bb_count_entry, 32),
    CLOSED(bb_db_table_list, 16),
    CLOSED(bb_entry, 48),
    CLOSED(bb_error, 1028),
    CLOSED(bb_filter_comparison, 112),
    CLOSED(bb_filter_estimate, 16),
    CLOSED(bb_filter_run, 32),
    CLOSED(bb_filter_view, 72),
    CLOSED(bb_hash_secret, 192),
    CLOSED(bb_iter, 64),
    CLOSED(bb_key_range, 16),
    CLOSED(bb_pinned, 40),
};

static void public_structs__keep_their_sizes(void **state)
{
    (void)state;
    if (sizeof(void *) != 8)
        skip();
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        const struct layout *layout = &layouts[i];
        if (layout->size != layout->expected_size || layout->room_end != layout->size)
            print_error("struct %s: %zu bytes, %zu expected; room %zu to %zu\n", layout->name,
                        layout->size, layout->expected_size, layout->room, layout->room_end);
        assert_int_equal(layout->size, layout->expected_size);
        assert_int_equal(layout->room_end, layout->size);
    }
}

/* Options may grow at the end, so existing fields stay in place. */
static void public_structs__first_versions_of_options(void **state)
{
    (void)state;
    if (sizeof(void *) != 8)
        skip();
    assert_true(sizeof(struct bb_db_options) >= 304);
    assert_int_equal(offsetof(struct bb_db_options, level0_run_count_busy), 296);
    assert_int_equal(offsetof(struct bb_filter_question, slack), 40);
    assert_int_equal(offsetof(struct bb_get_options, bypass_fill), 26);
    assert_int_equal(offsetof(struct bb_read_options, bypass_fill), 10);
    assert_int_equal(offsetof(struct bb_table_options, filter_slack), 88);
}

/* Calls with options of the first version's size, which a newer library must accept forever. The
 * numbers never change. */
static void take_first_of_store(void)
{
    struct store store;
    struct bb_buf value = {0};
    struct bb_db_repair_options how = {.struct_size = 16, .dry_run = true};
    struct bb_db_repair_report report;
    store_init(&store);
    store.options.struct_size = 304;
    store_open(&store);
    assert_ok(bb_db_put(store.db, &(struct bb_write_options){.struct_size = 16},
                        bb_bytes_of_text("a key"), bb_bytes_of_text("its value")));
    assert_ok(bb_db_get(store.db, &(struct bb_get_options){.struct_size = 32},
                        bb_bytes_of_text("a key"), &value));
    assert_ok(bb_db_ingest(store.db, NULL, 0, &(struct bb_ingest_options){.struct_size = 16}));
    assert_ok(bb_db_scrub(store.db, &(struct bb_db_scrub_options){.struct_size = 40}, NULL));
    store_close(&store);
    assert_ok(bb_db_repair(STORE_PATH, &store.options, &how, &report));
    bb_buf_deinit(&value);
    store_deinit(&store);
}

static void take_first_of_table(void)
{
    struct bb_file_memory *memory = store_memory(9);
    struct bb_hash_secret secret;
    struct bb_table_builder *builder = NULL;
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    struct bb_read_options reading = {.struct_size = 16};
    bb_hash_secret_from_seed(9, &secret);
    struct bb_table_options options = {
        .struct_size = 96, .file_system = bb_file_memory_system(memory), .secret = &secret};
    assert_ok(bb_table_builder_create("/data/table", &options, &builder));
    assert_ok(bb_table_builder_add(builder, &(struct bb_entry){.kind = BB_ENTRY_PUT}));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_open("/data/table", &options, &table));
    assert_ok(bb_table_iter_create(table, &reading, NULL, &iter));
    bb_iter_destroy(iter);
    bb_table_close(table);
    bb_file_memory_destroy(memory);
}

static void take_first_of_filters(void)
{
    struct bb_filter_builder *builder = NULL;
    struct bb_counting_filter *counting = NULL;
    struct bb_scalable_filter *scalable = NULL;
    struct bb_count_sketch *sketch = NULL;
    struct bb_filter_options options = {.struct_size = 56};
    struct bb_filter_question question = {.struct_size = 48, .key_count = 100, .target_rate = 0.01};
    struct bb_filter_plan plan;
    assert_ok(bb_filter_builder_create(&options, &builder));
    assert_ok(bb_filter_plan(&question, &plan));
    assert_ok(bb_counting_filter_create(
        &(struct bb_counting_filter_options){.struct_size = 32, .key_count = 10}, &counting));
    assert_ok(bb_scalable_filter_create(&(struct bb_scalable_filter_options){.struct_size = 40},
                                        &scalable));
    assert_ok(
        bb_count_sketch_create(&(struct bb_count_sketch_options){.struct_size = 40}, &sketch));
    bb_filter_builder_destroy(builder);
    bb_counting_filter_destroy(counting);
    bb_scalable_filter_destroy(scalable);
    bb_count_sketch_destroy(sketch);
}

static void public_structs__first_versions_are_taken(void **state)
{
    (void)state;
    if (sizeof(void *) != 8)
        skip();
    take_first_of_store();
    take_first_of_table();
    take_first_of_filters();
}

static void public_structs__enums_have_room(void **state)
{
    (void)state;
    assert_true((int)BB_VISIT_COUNT <= BB_VISIT_ROOM);
    assert_true((int)BB_STALL_COUNT <= BB_STALL_ROOM);
    assert_int_equal(BB_LEVEL_COUNT, 7);
}

/* ---- filled to the end ---- */

#define DIRTY(type, name)                                                                          \
    struct type name;                                                                              \
    memset(&(name), 0xff, sizeof(name))

static void assert_zero(const uint64_t *room, size_t size)
{
    for (size_t i = 0; i < size / sizeof(*room); i++)
        assert_true(room[i] == 0);
}

#define ASSERT_ROOM(given) assert_zero((given).reserved, sizeof((given).reserved))

static void fill(struct store *store)
{
    store_init(store);
    store_open(store);
    store_put(store, "a key", "its value");
    assert_ok(bb_db_flush(store->db));
}

static void public_structs__of_an_open_store(void **state)
{
    (void)state;
    struct store store;
    struct bb_key_range range = {0};
    struct bb_db_table_list list;
    fill(&store);
    DIRTY(bb_db_stats, stats);
    bb_db_stats(store.db, &stats);
    ASSERT_ROOM(stats);
    ASSERT_ROOM(stats.cache);
    ASSERT_ROOM(stats.scan_reads);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        ASSERT_ROOM(stats.levels[level]);
        ASSERT_ROOM(stats.level_reads[level]);
    }
    for (int i = BB_STALL_COUNT; i < BB_STALL_ROOM; i++)
        assert_true(stats.stalls[i] == 0 && stats.stall_nanoseconds[i] == 0);
    DIRTY(bb_db_scrub_report, scrub);
    assert_ok(bb_db_scrub(store.db, NULL, &scrub));
    ASSERT_ROOM(scrub);
    DIRTY(bb_range_size, size);
    assert_ok(bb_db_approximate_sizes(store.db, &range, 1, &size));
    ASSERT_ROOM(size);
    assert_ok(bb_db_tables(store.db, &list));
    assert_true(list.count > 0);
    ASSERT_ROOM(list.tables[0]);
    bb_db_table_list_deinit(&list);
    store_deinit(&store);
}

static void public_structs__of_an_explanation(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    DIRTY(bb_explain, explain);
    assert_ok(bb_db_explain(store.db, NULL, bb_bytes_of_text("a key"), NULL, &explain));
    ASSERT_ROOM(explain);
    ASSERT_ROOM(explain.reads);
    assert_true(explain.step_count > 1);
    for (size_t i = 0; i < explain.step_count; i++) {
        ASSERT_ROOM(explain.steps[i]);
        ASSERT_ROOM(explain.steps[i].table);
        ASSERT_ROOM(explain.steps[i].table.summary);
        ASSERT_ROOM(explain.steps[i].table.filter);
    }
    bb_explain_deinit(&explain);
    store_deinit(&store);
}

static void public_structs__of_a_closed_store(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_repair_options how = {.dry_run = true};
    fill(&store);
    store_close(&store);
    DIRTY(bb_db_verify_report, verify);
    assert_ok(bb_db_verify(STORE_PATH, &store.options, &verify));
    ASSERT_ROOM(verify);
    DIRTY(bb_db_repair_report, repair);
    assert_ok(bb_db_repair(STORE_PATH, &store.options, &how, &repair));
    ASSERT_ROOM(repair);
    DIRTY(bb_db_destroy_report, destroy);
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, &destroy));
    ASSERT_ROOM(destroy);
    bb_file_memory_destroy(store.memory);
}

static void public_structs__of_a_table(void **state)
{
    (void)state;
    struct bb_file_memory *memory = store_memory(7);
    struct bb_hash_secret secret;
    struct bb_table_builder *builder = NULL;
    struct bb_entry entry = {.kind = BB_ENTRY_PUT};
    bb_hash_secret_from_seed(7, &secret);
    struct bb_table_options options = {.file_system = bb_file_memory_system(memory),
                                       .secret = &secret};
    assert_ok(bb_table_builder_create("/data/table", &options, &builder));
    assert_ok(bb_table_builder_add(builder, &entry));
    DIRTY(bb_table_meta, meta);
    assert_ok(bb_table_builder_finish(builder, &meta));
    ASSERT_ROOM(meta);
    bb_table_meta_deinit(&meta);
    bb_table_builder_destroy(builder);
    DIRTY(bb_table_verify_report, report);
    assert_ok(bb_table_verify("/data/table", &options, &report));
    ASSERT_ROOM(report);
    bb_file_memory_destroy(memory);
}

static void public_structs__of_a_filter(void **state)
{
    (void)state;
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0};
    struct bb_buf file = {0};
    struct bb_filter_question question = {.key_count = 100, .target_rate = 0.01};
    assert_ok(bb_filter_builder_create(NULL, &builder));
    assert_ok(bb_filter_builder_add(builder, 7));
    assert_ok(bb_filter_builder_finish(builder, &envelope));
    DIRTY(bb_filter_info, info);
    assert_ok(bb_filter_info((struct bb_bytes){envelope.data, envelope.size}, &info));
    ASSERT_ROOM(info);
    struct bb_filter_file given = {.hash = BB_FILTER_HASH_XXH64,
                                   .envelope = {envelope.data, envelope.size}};
    assert_ok(bb_filter_file_encode(&given, &file));
    DIRTY(bb_filter_file, decoded);
    assert_ok(bb_filter_file_decode((struct bb_bytes){file.data, file.size}, &decoded));
    ASSERT_ROOM(decoded);
    DIRTY(bb_filter_plan, plan);
    assert_ok(bb_filter_plan(&question, &plan));
    ASSERT_ROOM(plan);
    DIRTY(bb_filter_plan, predicted);
    assert_ok(bb_filter_predict(plan.kind, 100, plan.parameters, &predicted));
    ASSERT_ROOM(predicted);
    bb_filter_builder_destroy(builder);
    bb_buf_deinit(&envelope);
    bb_buf_deinit(&file);
}

static void public_structs__of_a_count_sketch(void **state)
{
    (void)state;
    struct bb_count_sketch *sketch = NULL;
    assert_ok(bb_count_sketch_create(NULL, &sketch));
    DIRTY(bb_count_sketch_info, info);
    bb_count_sketch_info(sketch, &info);
    ASSERT_ROOM(info);
    bb_count_sketch_destroy(sketch);
}

/* ---- reserved space must be empty in arguments ---- */

static void public_structs__room_of_given_ones(void **state)
{
    (void)state;
    struct bb_buf file = {0};
    uint8_t envelope[64] = {0};
    struct bb_filter_file given = {.hash = BB_FILTER_HASH_XXH64,
                                   .envelope = {envelope, sizeof(envelope)}};
    given.reserved[1] = 1;
    assert_status(bb_filter_file_encode(&given, &file), BB_INVALID);
    assert_message("reserved fields that are not 0");
    assert_int_equal(file.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_structs__keep_their_sizes),
        cmocka_unit_test(public_structs__first_versions_of_options),
        cmocka_unit_test(public_structs__first_versions_are_taken),
        cmocka_unit_test(public_structs__enums_have_room),
        cmocka_unit_test(public_structs__of_an_open_store),
        cmocka_unit_test(public_structs__of_an_explanation),
        cmocka_unit_test(public_structs__of_a_closed_store),
        cmocka_unit_test(public_structs__of_a_table),
        cmocka_unit_test(public_structs__of_a_filter),
        cmocka_unit_test(public_structs__of_a_count_sketch),
        cmocka_unit_test(public_structs__room_of_given_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
