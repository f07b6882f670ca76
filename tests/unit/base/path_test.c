/* Goal: a path that finds no memory is reported, and leaks no block. Method: each allocation
 * fails. */
#include "base/path.h"

#include <string.h>

#include "tests/support/alloc/alloc_fault.h"
#include "tests/support/assert_status.h"

static enum bb_status join(void *context)
{
    struct bb_buf path = {0};
    enum bb_status status = bb_path_join("/a/directory", context, &path);
    bb_buf_deinit(&path);
    return status;
}

static enum bb_status parent(void *context)
{
    struct bb_buf path = {0};
    enum bb_status status = bb_path_parent(context, &path);
    bb_buf_deinit(&path);
    return status;
}

static void path__without_memory(void **state)
{
    (void)state;
    char name[] = "name";
    char path[] = "/a/b";
    char long_name[200];
    memset(long_name, 'a', sizeof(long_name));
    long_name[sizeof(long_name) - 1] = 0;
    assert_true(bb_alloc_fault_sweep(join, name, false) > 0);
    assert_true(bb_alloc_fault_sweep(join, long_name, false) > 0);
    assert_true(bb_alloc_fault_sweep(parent, name, false) > 0);
    assert_true(bb_alloc_fault_sweep(parent, path, false) > 0);
    long_name[190] = '/';
    assert_true(bb_alloc_fault_sweep(parent, long_name, false) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path__without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
