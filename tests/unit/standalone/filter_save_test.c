/* Goal: a saved filter comes back, with mode 0600 on a disk, and messages name the file. Method:
 * the operating system's files and files in memory. */
#include "tests/unit/standalone/envelope_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "tests/support/file_memory.h"
#include "tests/support/temp_dir.h"

static struct bb_filter_file sample(struct bb_buf *envelope, uint64_t count)
{
    *envelope = envelope_of(BB_FILTER_RIBBON, 0.01, 5, count);
    struct bb_filter_file file = {.hash = BB_FILTER_HASH_KEYED, .envelope = bb_buf_bytes(envelope)};
    bb_hash_secret_from_seed(7, &file.secret);
    return file;
}

static void check_round_trip(struct bb_file_system *fs, const char *path)
{
    for (uint64_t count = 0; count <= 2000; count += 1000) {
        struct bb_buf envelope;
        struct bb_buf contents = {0};
        struct bb_filter_file loaded;
        const struct bb_filter_file file = sample(&envelope, count);
        assert_ok(bb_filter_file_save(fs, path, &file));
        assert_ok(bb_filter_file_load(fs, path, &contents, &loaded));
        assert_memory_equal(&loaded.secret, &file.secret, sizeof(file.secret));
        assert_int_equal(loaded.envelope.size, envelope.size);
        assert_memory_equal(loaded.envelope.data, envelope.data, envelope.size);
        bb_buf_deinit(&contents);
        bb_buf_deinit(&envelope);
    }
}

static void filter_save__comes_back_from_a_disk_with_mode_0600(void **state)
{
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    struct stat found;
    (void)state;
    bb_temp_dir_init(&dir, "filter_save");
    check_round_trip(NULL, bb_temp_dir_path(&dir, "words.bbf", path));
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    bb_temp_dir_deinit(&dir);
}

static void filter_save__comes_back_from_memory(void **state)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    (void)state;
    check_round_trip(bb_file_memory_system(memory), "/words.bbf");
    bb_file_memory_destroy(memory);
}

static void filter_save__names_the_file_in_messages(void **state)
{
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_buf contents = {0};
    struct bb_filter_file file = {.hash = (enum bb_filter_hash)77};
    (void)state;
    assert_status(bb_filter_file_load(fs, "/absent.bbf", &contents, &file), BB_NOT_FOUND);
    assert_message("/absent.bbf");
    bb_file_memory_put(memory, "/short.bbf", bb_bytes_of_text("BBFLFILE"));
    assert_status(bb_filter_file_load(fs, "/short.bbf", &contents, &file), BB_CORRUPT);
    assert_message("/short.bbf");
    assert_status(bb_filter_file_load(fs, "", &contents, &file), BB_INVALID);
    assert_int_equal(file.hash, 77);
    assert_null(contents.data);
    bb_file_memory_destroy(memory);
}

/* The header disproves the size before memory is allocated; without memory it would fail. */
static void filter_save__does_not_read_a_file_that_became_long(void **state)
{
    struct bb_temp_dir dir;
    char path[PATH_MAX];
    struct bb_buf envelope;
    struct bb_buf contents = {0};
    struct bb_filter_file loaded;
    (void)state;
    const struct bb_filter_file file = sample(&envelope, 1000);
    bb_temp_dir_init(&dir, "filter_save");
    bb_temp_dir_path(&dir, "words.bbf", path);
    assert_ok(bb_filter_file_save(NULL, path, &file));
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_status(bb_filter_file_load(NULL, path, &contents, &loaded), BB_CORRUPT);
    assert_message(path);
    assert_message("at offset 16");
    assert_null(contents.data);
    bb_buf_deinit(&envelope);
    bb_temp_dir_deinit(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter_save__comes_back_from_a_disk_with_mode_0600),
        cmocka_unit_test(filter_save__comes_back_from_memory),
        cmocka_unit_test(filter_save__names_the_file_in_messages),
        cmocka_unit_test(filter_save__does_not_read_a_file_that_became_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
