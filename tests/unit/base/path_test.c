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

static void path__of_a_caller_leaves_space_for_names(void **state)
{
    (void)state;
    char path[BB_PATH_SIZE_MAX];
    memset(path, 'a', sizeof(path));
    path[BB_PATH_GIVEN_SIZE_MAX] = 0;
    assert_ok(bb_path_check(path, "the file"));
    path[BB_PATH_GIVEN_SIZE_MAX] = 'a';
    path[BB_PATH_GIVEN_SIZE_MAX + 1] = 0;
    assert_status(bb_path_check(path, "the file"), BB_INVALID);
    assert_status(bb_path_check("", "the file"), BB_INVALID);
    assert_status(bb_path_check(NULL, "the file"), BB_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path__parents),
        cmocka_unit_test(path__of_a_caller_leaves_space_for_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
