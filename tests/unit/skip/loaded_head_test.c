/* Goal: a head that two readers load concurrently is used by both, and kept once. Method: the
 * second reader loads it during the read of the first. */
#include "tests/unit/skip/indexed_rows.h"

#include "skip/file/skip_file.h"

static struct {
    const struct bb_file_ops *sound;
    struct bb_file_ops ops;
    struct bb_skip_file *file;
    const struct bb_loaded_head *head;
} other;

static enum bb_status read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    file->ops = other.sound;
    assert_ok(bb_skip_file_head(other.file, 0, NULL, &other.head));
    return other.sound->read_at(file, offset, buffer, size, ret_size);
}

static void loaded_head__of_the_first_reader_to_finish_is_kept(void **state)
{
    (void)state;
    static const char *const specs[] = {"min_max(number)", NULL};
    struct bb_rng rng;
    struct indexed_rows rows;
    const struct bb_loaded_head *head = NULL;
    bb_rng_init(&rng, bb_rng_seed("loaded_head_test", 1));
    indexed_rows_init(&rows, &rng, 3, 20, specs);
    assert_ok(open_rows(&rows, false, &other.file));
    other.sound = other.file->file->ops;
    other.ops = *other.sound;
    other.ops.read_at = read_at;
    other.file->file->ops = &other.ops;
    assert_ok(bb_skip_file_head(other.file, 0, NULL, &head));
    assert_non_null(other.head);
    assert_ptr_equal(head, other.head);
    assert_false(head->is_damaged);
    bb_skip_file_close(other.file);
    indexed_rows_deinit(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded_head__of_the_first_reader_to_finish_is_kept),
    };
    return cmocka_run_group_tests_name("loaded_head", tests, NULL, NULL);
}
