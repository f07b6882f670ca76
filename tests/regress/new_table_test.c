/* A crash while an ingest or a flush without a log wrote a table left a complete table with the
 * newest sequences. If the manifest ended without a mark, because the process was killed before it
 * wrote the mark or a power failure removed it, verification reported damage, and the next opening
 * kept the table under another name. Such a table has another name now until its edit
 * follows. */
#include "tests/support/store.h"

struct crashing {
    struct bb_db_options options;
    size_t crashes;
    bool is_doubtful; /* between the rename and the sync of the manifest */
};

static size_t count_files(struct bb_file_memory *memory, const char *ending)
{
    struct bb_file_names names = {0};
    struct bb_file_system *fs = bb_file_memory_system(memory);
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        const char *found = strstr(names.names[i], ending);
        count += found != NULL && strcmp(found, ending) == 0;
    }
    bb_file_names_deinit(&names);
    return count;
}

/* Verification finds no damage, and an opening removes the table. */
static void check_is_sound(struct crashing *crashing, struct bb_file_memory *image)
{
    struct bb_db_options options = crashing->options;
    struct bb_db *db = NULL;
    options.file_system = bb_file_memory_system(image);
    assert_ok(bb_db_verify(STORE_PATH, &options, NULL));
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    assert_int_equal(count_files(image, ".lost"), 0);
    assert_int_equal(count_files(image, ".new"), 0);
    assert_ok(bb_db_close(db));
    bb_file_memory_destroy(image);
    crashing->crashes++;
}

/* The process is killed before the call; or the power fails, and the mark of the manifest, which is
 * not synced, is lost. */
static enum bb_status crash(void *context, struct bb_file_memory *memory, uint64_t number,
                            enum bb_file_call call, const char *path)
{
    struct crashing *crashing = context;
    (void)number;
    if (!crashing->is_doubtful) {
        check_is_sound(crashing, bb_file_memory_clone(memory));
        check_is_sound(crashing, bb_file_memory_crash(
                                     memory, &(struct bb_crash){.names = BB_CRASH_NAMES_ALL}));
    }
    if (call == BB_FILE_CALL_RENAME)
        crashing->is_doubtful = true;
    else if (call == BB_FILE_CALL_SYNC && strstr(path, "MANIFEST") != NULL)
        crashing->is_doubtful = false;
    return BB_OK;
}

static void begin(struct store *store, struct crashing *crashing)
{
    store_init(store);
    store->options.wal_off = true;
    store_open(store);
    store_put(store, "a", "1");
    assert_ok(bb_db_flush(store->db));
    crashing->options = store->options;
    bb_file_memory_set_hook(store->memory, crash, crashing);
}

static void end(struct store *store, const struct crashing *crashing)
{
    bb_file_memory_set_hook(store->memory, NULL, NULL);
    assert_true(crashing->crashes >= 8);
    assert_content(store, "a=1 b=2");
    store_deinit(store);
}

static void new_table__of_a_flush_without_a_log(void **state)
{
    (void)state;
    struct store store;
    struct crashing crashing = {0};
    begin(&store, &crashing);
    store_put(&store, "b", "2");
    assert_ok(bb_db_flush(store.db));
    end(&store, &crashing);
}

static void build(struct store *store)
{
    struct bb_table_options options = {.file_system = store->options.file_system};
    struct bb_table_builder *builder = NULL;
    struct bb_entry entry = {
        .key = bb_bytes_of_text("b"), .kind = BB_ENTRY_PUT, .value = bb_bytes_of_text("2")};
    assert_ok(bb_table_builder_create("/data/table", &options, &builder));
    assert_ok(bb_table_builder_add(builder, &entry));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static void new_table__of_an_ingest(void **state)
{
    (void)state;
    struct store store;
    struct crashing crashing = {0};
    const char *path = "/data/table";
    begin(&store, &crashing);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    build(&store);
    bb_file_memory_set_hook(store.memory, crash, &crashing);
    assert_ok(bb_db_ingest(store.db, &path, 1, NULL));
    end(&store, &crashing);
}

static void new_table__that_was_not_renamed(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    store_close(&store);
    bb_file_memory_put(store.memory, STORE_PATH "/000900.bbt.new", bb_bytes_of_text("a part"));
    assert_int_equal(store_verify(&store).orphans, 1);
    store_open(&store);
    assert_int_equal(count_files(store.memory, ".new"), 0);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_table__of_a_flush_without_a_log),
        cmocka_unit_test(new_table__of_an_ingest),
        cmocka_unit_test(new_table__that_was_not_renamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
