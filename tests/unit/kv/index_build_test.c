/* Goal: the parts of a granule are its blocks, however the granule ends, because a selection reads
 * single blocks only where their number is that of the parts. Method: builds of index files with a
 * column, whose parts are compared with the blocks shown. */
#include "tests/support/indexed_store.h"

#include "kv/indexes/index_build.h"
#include "kv/indexes/index_file.h"
#include "sstable/entry.h"

static const uint8_t table_id[16] = {7};

static void open_with_column(struct store *store)
{
    store_init(store);
    store_open(store);
    indexed_create_attributes(store);
    assert_ok(bb_db_index_create(store->db, "column", "column(user)"));
}

/* Rows of this many blocks, three in each. */
static void add_blocks(struct bb_index_build *build, uint64_t *block, uint64_t count)
{
    for (uint64_t end = *block + count; *block < end; (*block)++) {
        for (uint64_t i = 0; i < 3; i++) {
            char row[160];
            struct bb_entry entry = {.key = bb_bytes_of_text("key"), .kind = BB_ENTRY_PUT};
            entry.value = bb_bytes_of(row, indexed_row(*block * 3 + i, 1, row));
            assert_ok(bb_index_build_add(build, &entry, *block));
        }
    }
}

static void add_deletion(struct bb_index_build *build, uint64_t *block)
{
    struct bb_entry entry = {.key = bb_bytes_of_text("key"), .kind = BB_ENTRY_DELETE};
    assert_ok(bb_index_build_add(build, &entry, (*block)++));
}

static void assert_parts(struct store *store, struct bb_index_build *build, size_t granule,
                         size_t parts)
{
    struct bb_companion *companion = NULL;
    struct bb_skip_file *file = NULL;
    struct bb_condition *condition = NULL;
    struct bb_skip_rows *rows = NULL;
    struct bb_skip_row_bits bits;
    const struct bb_schema *schema = build->catalog->schema;
    assert_ok(bb_index_file_create(store->db, build->built[0].number, table_id, &companion));
    assert_ok(bb_index_file_open(companion, &file));
    assert_ok(bb_condition_parse(schema, bb_bytes_of_text("user = 'user1'"), &condition));
    assert_ok(bb_skip_rows_create(file, condition, schema, &rows));
    assert_ok(bb_skip_rows_read(rows, granule, NULL, &bits));
    assert_int_equal(bits.part_count, parts);
    for (size_t i = 0; i < parts; i++)
        assert_int_equal(bits.part_records[i], 3);
    bb_skip_rows_destroy(rows);
    bb_condition_destroy(condition);
    bb_companion_unref(companion);
}

static void begin(struct store *store, struct bb_index_build *build)
{
    open_with_column(store);
    bb_index_build_init(build, store->db, store->db->files);
    assert_ok(bb_index_build_begin(build, bb_bytes_of(table_id, sizeof(table_id))));
}

/* Regression: a granule after an ended one had one part too many, and was read whole. */
static void index_build__parts_are_blocks_after_an_ended_granule(void **state)
{
    (void)state;
    struct store store;
    struct bb_index_build build;
    uint64_t block = 0;
    begin(&store, &build);
    for (uint64_t count = 2; count < 5; count++) {
        add_blocks(&build, &block, count);
        assert_ok(bb_index_build_end_granule(&build));
    }
    assert_ok(bb_index_build_finish(&build));
    for (size_t i = 0; i < 3; i++)
        assert_parts(&store, &build, i, i + 2);
    bb_index_build_deinit(&build);
    store_deinit(&store);
}

/* Regression: blocks of deletions alone were parts of the next granule. */
static void index_build__drops_a_granule_of_deletions(void **state)
{
    (void)state;
    struct store store;
    struct bb_index_build build;
    uint64_t block = 0;
    begin(&store, &build);
    add_deletion(&build, &block);
    add_deletion(&build, &block);
    assert_ok(bb_index_build_end_granule(&build));
    add_blocks(&build, &block, 2);
    assert_ok(bb_index_build_finish(&build));
    assert_parts(&store, &build, 0, 2);
    bb_index_build_deinit(&build);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_build__parts_are_blocks_after_an_ended_granule),
        cmocka_unit_test(index_build__drops_a_granule_of_deletions),
    };
    return cmocka_run_group_tests_name("index_build", tests, NULL, NULL);
}
