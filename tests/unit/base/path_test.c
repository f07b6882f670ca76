/* Goal: parents of paths, and the limit of a given path. Method: cases, with their neighbours. */
#include "base/path.h"

#include <string.h>

#include "tests/support/assert_status.h"

static void assert_parent(const char *path, const char *expected)
{
    char parent[BB_PATH_SIZE_MAX];
    bb_path_parent(path, parent);
    assert_string_equal(parent, expected);
}

static void path__parents(void **state)
{
    (void)state;
    assert_parent("name", ".");
    assert_parent("name/", ".");
    assert_parent("/a", "/");
    assert_parent("/", "/");
    assert_parent("//", "/");
    assert_parent("/a/b", "/a");
    assert_parent("/a//b//", "/a");
    assert_parent("a/b/c", "a/b");
}

static void check_limit(enum bb_status (*check)(const char *, const char *), size_t size_max)
{
    char path[BB_PATH_SIZE_MAX];
    memset(path, 'a', sizeof(path));
    path[size_max] = 0;
    assert_ok(check(path, "the file"));
    path[size_max] = 'a';
    path[size_max + 1] = 0;
    assert_status(check(path, "the file"), BB_INVALID);
    assert_status(check("", "the file"), BB_INVALID);
    assert_status(check(NULL, "the file"), BB_INVALID);
}

static void path__of_a_caller_leaves_space_for_names(void **state)
{
    (void)state;
    check_limit(bb_path_check_file, BB_PATH_FILE_SIZE_MAX);
    check_limit(bb_path_check_directory, BB_PATH_DIRECTORY_SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path__parents),
        cmocka_unit_test(path__of_a_caller_leaves_space_for_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
