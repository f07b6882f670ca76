/* A store's directory could be so long that it opened, while the paths of its tables were refused:
 * writes were acknowledged, and no flush succeeded. */
#include "tests/support/store.h"

#include "base/path.h"

#define NAME_SIZE 200

/* Makes directories in each other, so that the last one's path has this size. */
static void make_path(struct bb_file_memory *memory, size_t size, char *path)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    size_t at = strlen(strcpy(path, "/data"));
    while (size - at > NAME_SIZE + 1) {
        path[at++] = '/';
        memset(path + at, 'd', NAME_SIZE);
        path[at += NAME_SIZE] = 0;
        assert_ok(fs->ops->make_directory(fs, path));
    }
    path[at++] = '/';
    memset(path + at, 's', size - at);
    path[size] = 0;
}

static void use(const char *path, const struct bb_db_options *options)
{
    struct bb_db *db = NULL;
    struct bb_buf value = {0};
    assert_ok(bb_db_open(path, options, &db));
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("1")));
    assert_ok(bb_db_flush(db));
    assert_ok(bb_db_compact(db));
    assert_ok(bb_db_get(db, NULL, bb_bytes_of_text("a"), &value));
    assert_ok(bb_db_checkpoint(db, "/data/copy"));
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_verify(path, options, NULL));
    assert_ok(bb_db_repair(path, options, NULL, NULL));
    assert_ok(bb_db_destroy(path, options, NULL));
    bb_buf_deinit(&value);
}

static void long_directory__works_or_is_refused_at_once(void **state)
{
    (void)state;
    char path[BB_PATH_SIZE_MAX];
    struct bb_file_memory *memory = store_memory(1);
    struct bb_db_options options = store_options(memory);
    struct bb_db *db = NULL;
    make_path(memory, BB_PATH_DIRECTORY_SIZE_MAX, path);
    use(path, &options);
    strcat(path, "s");
    assert_status(bb_db_open(path, &options, &db), BB_INVALID);
    assert_message("the limit is 3968");
    bb_file_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_directory__works_or_is_refused_at_once),
    };
    return cmocka_run_group_tests_name("long_directory", tests, NULL, NULL);
}
