/* Goal: a file system around another one forwards every call of the seam, except calls that its
 * owner replaces. The other file systems' tests (file_test.c) check that a forwarded call has the
 * inner one's effect. Method: an inner system that records each call's number and arguments. */
#include "base/file_forward.h"

#include <string.h>

#include "base/status.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"

typedef void (*any_function)(void);

/* Every member of a table of functions. */
static size_t count_functions(const struct bb_file_system_ops *ops)
{
    size_t count = 0;
    any_function functions[sizeof(*ops) / sizeof(any_function)];
    memcpy(functions, ops, sizeof(*ops));
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        count += functions[i] != NULL;
    return count;
}

static void file_forward__leaves_no_call_of_the_seam_out(void **state)
{
    (void)state;
    struct bb_file_system *posix = NULL;
    struct bb_file_forward forward;
    assert_ok(bb_file_system_posix_create(&posix));
    bb_file_forward_init(&forward, posix);
    assert_int_equal(count_functions(posix->ops),
                     sizeof(struct bb_file_system_ops) / sizeof(any_function));
    assert_int_equal(count_functions(forward.base.ops), count_functions(posix->ops));
    assert_true(forward.base.ops->open_files_max(&forward.base) ==
                posix->ops->open_files_max(posix));
    bb_file_system_posix_destroy(posix);
}

/* NULL means no limit. */
static void file_forward__has_no_limit_on_open_files_where_the_inner_has_none(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_forward forward;
    bb_file_forward_init(&forward, bb_file_memory_system(memory));
    assert_null(bb_file_memory_system(memory)->ops->open_files_max);
    assert_null(forward.base.ops->open_files_max);
    bb_file_memory_destroy(memory);
}

/* A file's hint, through two systems around the inner one. */
static void file_forward__forwards_write_back(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_forward forwards[2];
    struct bb_file *file = NULL;
    bb_file_forward_init(&forwards[0], bb_file_memory_system(memory));
    bb_file_forward_init(&forwards[1], &forwards[0].base);
    assert_ok(bb_file_create(&forwards[1].base, "file", &file));
    bb_file_write_back(file);
    assert_int_equal(bb_file_memory_write_backs(memory), 1);
    assert_ok(bb_file_close(file));
    bb_file_memory_destroy(memory);
}

/* ---- forwarded arguments ---- */

struct inner {
    struct bb_file_system base;
    const char *from;
    const char *to;
};

static enum bb_status take_names(struct bb_file_system *fs, const char *from, const char *to)
{
    struct inner *inner = (struct inner *)fs;
    inner->from = from;
    inner->to = to;
    return bb_fail(BB_NO_SPACE, "%s to %s", from, to);
}

static enum bb_status refuse(struct bb_file_system *fs, const char *from, const char *to)
{
    (void)fs;
    return bb_fail(BB_READ_ONLY, "%s to %s is refused", from, to);
}

static void file_forward__replaced_calls_are_the_owners(void **state)
{
    (void)state;
    static const struct bb_file_system_ops ops = {.rename = take_names, .link = take_names};
    struct inner inner = {.base = {.ops = &ops}};
    struct bb_file_forward forward, other;
    const char *a = "a", *b = "b";
    bb_file_forward_init(&forward, &inner.base);
    bb_file_forward_init(&other, &forward.base);
    forward.ops.link = refuse;
    assert_true(bb_file_forward_inner(&other.base) == &forward.base);
    /* Through both, in order, with status and message. */
    assert_status(other.base.ops->rename(&other.base, a, b), BB_NO_SPACE);
    assert_string_equal(bb_error_last()->message, "a to b");
    assert_true(inner.from == a && inner.to == b);
    inner.from = inner.to = NULL;
    assert_status(other.base.ops->link(&other.base, a, b), BB_READ_ONLY);
    assert_null(inner.from);
    /* The table is private: another one around the same system is unchanged. */
    bb_file_forward_init(&other, &inner.base);
    assert_status(other.base.ops->link(&other.base, a, b), BB_NO_SPACE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_forward__leaves_no_call_of_the_seam_out),
        cmocka_unit_test(file_forward__forwards_write_back),
        cmocka_unit_test(file_forward__has_no_limit_on_open_files_where_the_inner_has_none),
        cmocka_unit_test(file_forward__replaced_calls_are_the_owners),
    };
    return cmocka_run_group_tests_name("file_forward", tests, NULL, NULL);
}
