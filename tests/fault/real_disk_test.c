/* Goal: the results of full_disk_test, which uses a file system in memory, hold on a full file
 * system of the kernel: a write succeeds after there is space again, also without threads; the
 * first compaction after everything was deleted succeeds; a store whose process crashed on the
 * full disk opens for writing. No acknowledged write is lost.
 * Method: the operating system's files in BB_TEST_FULL_DISK, a directory on a small file system;
 * `scripts/soak disk` mounts one. Removing a ballast file frees space. Without the variable the
 * tests are skipped. */
#include "tests/support/assert_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "bb/db_files.h"

#define VALUE_SIZE    900
#define BALLAST_BYTES (4 << 20)
#define FRESH_MAX     100000 /* more rows than the disk holds */

struct scene {
    char store[512];
    char ballast[512];
    struct bb_db_options options;
    struct bb_db *db;
};

static const char *disk(void)
{
    return getenv("BB_TEST_FULL_DISK");
}

/* Appends this many bytes, or fewer if the disk is full. */
static void write_ballast(const char *path, uint64_t bytes)
{
    static const char page[4096];
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    ssize_t put = 1;
    assert_true(file >= 0);
    for (uint64_t done = 0; done < bytes && put > 0; done += (uint64_t)put)
        put = write(file, page, sizeof(page));
    assert_int_equal(close(file), 0);
}

static void scene_init(struct scene *scene, bool deterministic)
{
    struct statvfs space;
    *scene = (struct scene){0};
    if (disk() == NULL) {
        print_message(
            "BB_TEST_FULL_DISK names no small file system: scripts/soak disk makes one\n");
        skip();
    }
    assert_int_equal(statvfs(disk(), &space), 0);
    if (space.f_blocks * space.f_frsize > (UINT64_C(256) << 20))
        fail_msg("%s is not small: 256 MiB at most, or the test fills a disk of yours", disk());
    snprintf(scene->store, sizeof(scene->store), "%s/store", disk());
    snprintf(scene->ballast, sizeof(scene->ballast), "%s/ballast", disk());
    scene->options = (struct bb_db_options){.create_if_missing = true,
                                            .write_buffer_bytes = 256 * 1024,
                                            .table_size_bytes = 256 * 1024,
                                            .level1_size_bytes = 1 << 20,
                                            .level0_run_count_stop = 1000,
                                            .compression = BB_COMPRESSION_NONE,
                                            .deterministic = deterministic};
    write_ballast(scene->ballast, BALLAST_BYTES);
}

static void scene_open(struct scene *scene)
{
    assert_ok(bb_db_open(scene->store, &scene->options, &scene->db));
}

static void scene_deinit(struct scene *scene)
{
    assert_ok(bb_db_close(scene->db));
    assert_ok(bb_db_verify(scene->store, &scene->options, NULL));
    assert_ok(bb_db_destroy(scene->store, &scene->options, NULL));
    (void)unlink(scene->ballast);
}

static void row(int i, char key[16], char value[VALUE_SIZE + 1])
{
    snprintf(key, 16, "%06d", (int)((long)i * 7919 % 999983));
    memset(value, 'a' + i % 26, VALUE_SIZE);
    value[VALUE_SIZE] = 0;
}

static enum bb_status put(struct bb_db *db, int i)
{
    char key[16];
    char value[VALUE_SIZE + 1];
    row(i, key, value);
    return bb_db_put(db, &(struct bb_write_options){.sync = i % 50 == 0}, bb_bytes_of_text(key),
                     bb_bytes_of_text(value));
}

/* Until it is refused; how many were acknowledged. */
static int fill_up(struct bb_db *db)
{
    int count = 0;
    enum bb_status status = BB_OK;
    while (status == BB_OK && count < FRESH_MAX) {
        status = put(db, count);
        count += status == BB_OK;
    }
    assert_status(status, BB_NO_SPACE);
    return count;
}

static void assert_has(struct bb_db *db, int count)
{
    char key[16];
    char value[VALUE_SIZE + 1];
    struct bb_buf found = {0};
    for (int i = 0; i < count; i++) {
        row(i, key, value);
        assert_ok(bb_db_get(db, NULL, bb_bytes_of_text(key), &found));
        assert_true(bb_bytes_equal(bb_buf_bytes(&found), bb_bytes_of_text(value)));
    }
    bb_buf_deinit(&found);
}

/* ---- space comes back ---- */

static void resume(bool deterministic)
{
    struct scene scene;
    scene_init(&scene, deterministic);
    scene_open(&scene);
    int count = fill_up(scene.db);
    for (int i = 0; i < 8; i++) /* the threads rest longer and longer */
        if (put(scene.db, count) == BB_OK)
            count++;
    assert_has(scene.db, count);
    assert_int_equal(unlink(scene.ballast), 0);
    assert_ok(put(scene.db, count++)); /* the first attempt */
    assert_ok(bb_db_flush(scene.db));
    /* Regression: a write was refused while a merge used the remaining space. */
    for (int i = 0; i < 1000; i++)
        assert_ok(put(scene.db, count++));
    assert_has(scene.db, count);
    print_message("%d rows fit, 1001 more after 4 MiB were given back\n", count - 1001);
    scene_deinit(&scene);
}

static void real_disk__no_refusal_is_stale(void **state)
{
    (void)state;
    resume(false);
}

static void real_disk__without_threads(void **state)
{
    (void)state;
    resume(true);
}

/* ---- deleting everything ---- */

static void real_disk__first_compaction_after_deleting_everything(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct scene scene;
        scene_init(&scene, i == 0);
        scene_open(&scene);
        int count = fill_up(scene.db);
        (void)!bb_db_compact(scene.db);
        /* Space for the deletion, and for little else. */
        assert_int_equal(unlink(scene.ballast), 0);
        write_ballast(scene.ballast, BALLAST_BYTES - 3 * scene.options.write_buffer_bytes);
        assert_ok(bb_db_delete_range(scene.db, NULL, bb_bytes_of_text("0"), bb_bytes_of_text("a")));
        assert_ok(bb_db_compact(scene.db));
        for (int k = 0; k < count / 2; k++)
            assert_ok(put(scene.db, k));
        assert_has(scene.db, count / 2);
        scene_deinit(&scene);
    }
}

/* ---- opening ---- */

/* Fills the disk to its last page, and exits without closing. */
static int fill_and_die(struct scene *scene)
{
    int pipe_of[2];
    int count = -1;
    int result = -1;
    assert_int_equal(pipe(pipe_of), 0);
    pid_t child = fork();
    if (child == 0) {
        struct bb_db *db = NULL;
        enum bb_status status = bb_db_open(scene->store, &scene->options, &db);
        count = status == BB_OK ? fill_up(db) : -1;
        _exit(write(pipe_of[1], &count, sizeof(count)) == (ssize_t)sizeof(count) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(read(pipe_of[0], &count, sizeof(count)), sizeof(count));
    (void)close(pipe_of[0]);
    (void)close(pipe_of[1]);
    write_ballast(scene->ballast, UINT64_MAX);
    return count;
}

static void real_disk__a_full_store_opens_for_writing(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, false);
    int count = fill_and_die(&scene);
    assert_true(count > 0);
    scene_open(&scene);
    assert_has(scene.db, count);
    assert_status(put(scene.db, count), BB_NO_SPACE);
    assert_has(scene.db, count);
    assert_int_equal(unlink(scene.ballast), 0);
    assert_ok(put(scene.db, count));
    assert_ok(bb_db_flush(scene.db));
    assert_has(scene.db, count + 1);
    scene_deinit(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_disk__no_refusal_is_stale),
        cmocka_unit_test(real_disk__without_threads),
        cmocka_unit_test(real_disk__first_compaction_after_deleting_everything),
        cmocka_unit_test(real_disk__a_full_store_opens_for_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
