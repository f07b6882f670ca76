/* Goal: unsupported input is reported and not written: keys and values over the limits, single and
 * in batches; options out of range are adjusted, not refused. */
#include "tests/leveldb/opened.h"

#include "bb/table.h"

static char *large_key(void)
{
    char *key = malloc(BB_KEY_SIZE_MAX + 1);
    memset(key, 'k', BB_KEY_SIZE_MAX + 1);
    return key;
}

static void expect_too_large(char *error)
{
    assert_non_null(error);
    assert_non_null(strstr(error, "Invalid argument: "));
    leveldb_free(error);
}

static void largest_key_fits_and_one_more_does_not(void **state)
{
    struct opened o;
    char *key = large_key();
    char *error = NULL;
    size_t size = 0;
    (void)state;
    opened_init(&o);
    leveldb_put(o.db, o.write, key, BB_KEY_SIZE_MAX, "v", 1, &error);
    assert_null(error);
    leveldb_compact_range(o.db, key, BB_KEY_SIZE_MAX, key, BB_KEY_SIZE_MAX);
    char *value = leveldb_get(o.db, o.read, key, BB_KEY_SIZE_MAX, &size, &error);
    assert_non_null(value);
    leveldb_free(value);
    leveldb_put(o.db, o.write, key, BB_KEY_SIZE_MAX + 1, "v", 1, &error);
    expect_too_large(error);
    error = NULL;
    leveldb_delete(o.db, o.write, key, BB_KEY_SIZE_MAX + 1, &error);
    expect_too_large(error);
    error = NULL;
    assert_null(leveldb_get(o.db, o.read, key, BB_KEY_SIZE_MAX + 1, &size, &error));
    leveldb_free(error);
    opened_put(&o, "after", "it goes on");
    opened_deinit(&o);
    free(key);
}

static void batch_with_a_failure_is_not_written(void **state)
{
    struct opened o;
    char *key = large_key();
    char *error = NULL;
    size_t size = 0;
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    leveldb_writebatch_t *other = leveldb_writebatch_create();
    (void)state;
    opened_init(&o);
    leveldb_writebatch_put(batch, "before", 6, "1", 1);
    leveldb_writebatch_put(batch, key, BB_KEY_SIZE_MAX + 1, "2", 1);
    leveldb_writebatch_put(batch, "behind", 6, "3", 1);
    leveldb_write(o.db, o.write, batch, &error);
    expect_too_large(error);
    error = NULL;
    leveldb_writebatch_append(other, batch);
    leveldb_write(o.db, o.write, other, &error);
    expect_too_large(error);
    error = NULL;
    assert_null(leveldb_get(o.db, o.read, "before", 6, &size, &error));
    assert_null(leveldb_get(o.db, o.read, "behind", 6, &size, &error));
    leveldb_writebatch_clear(batch);
    leveldb_writebatch_put(batch, "before", 6, "4", 1);
    leveldb_write(o.db, o.write, batch, &error);
    assert_null(error);
    opened_expect(&o, "before", "4");
    leveldb_writebatch_destroy(other);
    leveldb_writebatch_destroy(batch);
    opened_deinit(&o);
    free(key);
}

static void open_with(struct opened *o, size_t size, int number)
{
    leveldb_cache_t *cache = leveldb_cache_create_lru(size);
    leveldb_filterpolicy_t *filter = leveldb_filterpolicy_create_bloom(number);
    leveldb_options_set_cache(o->options, cache);
    leveldb_options_set_filter_policy(o->options, filter);
    leveldb_options_set_block_size(o->options, size);
    leveldb_options_set_max_file_size(o->options, size);
    leveldb_options_set_max_open_files(o->options, number);
    leveldb_options_set_block_restart_interval(o->options, number);
    leveldb_options_set_compression(o->options, number);
    opened_again(o);
    opened_put(o, "key", "value");
    leveldb_compact_range(o->db, NULL, 0, NULL, 0);
    opened_expect(o, "key", "value");
    leveldb_close(o->db);
    leveldb_filterpolicy_destroy(filter);
    leveldb_cache_destroy(cache);
}

static void options_out_of_range_are_moved(void **state)
{
    struct opened o;
    (void)state;
    opened_prepare(&o);
    leveldb_options_set_write_buffer_size(o.options, 0);
    open_with(&o, 0, 0);
    open_with(&o, 1, -1);
    open_with(&o, (size_t)1 << 33, 1000000);
    open_with(&o, 100000, INT32_MAX);
    open_with(&o, 100000, INT32_MIN);
    leveldb_options_set_env(o.options, NULL);
    leveldb_options_set_info_log(o.options, NULL);
    leveldb_options_set_comparator(o.options, NULL);
    leveldb_options_set_filter_policy(o.options, NULL);
    leveldb_options_set_cache(o.options, NULL);
    opened_again(&o);
    opened_expect(&o, "key", "value");
    opened_deinit(&o);
}

/* Bindings make slices of results, for which NULL is invalid. */
static void empty_bytes_have_an_address(void **state)
{
    struct opened o;
    char *error = NULL;
    size_t size = 4711;
    (void)state;
    opened_init(&o);
    leveldb_put(o.db, o.write, NULL, 0, NULL, 0, &error);
    assert_null(error);
    char *value = leveldb_get(o.db, o.read, NULL, 0, &size, &error);
    assert_non_null(value);
    assert_int_equal(size, 0);
    leveldb_free(value);
    leveldb_iterator_t *iterator = leveldb_create_iterator(o.db, NULL);
    assert_non_null(leveldb_iter_key(iterator, &size));
    leveldb_iter_seek(iterator, NULL, 0);
    assert_true(leveldb_iter_valid(iterator));
    assert_non_null(leveldb_iter_key(iterator, &size));
    assert_non_null(leveldb_iter_value(iterator, &size));
    leveldb_iter_destroy(iterator);
    opened_deinit(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_key_fits_and_one_more_does_not),
        cmocka_unit_test(batch_with_a_failure_is_not_written),
        cmocka_unit_test(options_out_of_range_are_moved),
        cmocka_unit_test(empty_bytes_have_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
