/* Goal: reads through a meter are counted and keep its limit; a reader can be stopped between
 * slices.
 * Method: the file system in memory, whose clock advances during a sleep: no test waits. */
#include "base/file_meter.h"

#include "base/bytes.h"
#include "base/status.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#define SECOND    UINT64_C(1000000000)
#define FILE_SIZE (4 * BB_FILE_METER_SLICE)

struct scene {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    struct bb_file_meter meter;
    struct bb_file *file;
    uint64_t pauses;
    bool is_refusing;
};

static enum bb_status pause_of(void *context, uint64_t nanoseconds)
{
    struct scene *scene = context;
    scene->pauses++;
    scene->fs->ops->sleep(scene->fs, nanoseconds);
    return scene->is_refusing ? bb_fail(BB_BUSY, "enough") : BB_OK;
}

static void scene_init(struct scene *scene, uint64_t bytes_per_second)
{
    static const uint8_t zeros[FILE_SIZE];
    *scene = (struct scene){.memory = bb_file_memory_create(1)};
    scene->fs = bb_file_memory_system(scene->memory);
    bb_file_memory_put(scene->memory, "/file", bb_bytes_of(zeros, sizeof(zeros)));
    bb_file_meter_init(&scene->meter, scene->fs, pause_of, scene);
    scene->meter.bytes_per_second = bytes_per_second;
    assert_ok(bb_file_open(bb_file_meter_system(&scene->meter), "/file", &scene->file));
}

static void scene_deinit(struct scene *scene)
{
    assert_ok(bb_file_close(scene->file));
    bb_file_memory_destroy(scene->memory);
}

static size_t read_some(struct scene *scene, size_t size)
{
    static uint8_t buffer[FILE_SIZE];
    size_t got = 0;
    assert_ok(bb_file_read_at(scene->file, 0, buffer, size, &got));
    return got;
}

#define READS    3000
#define READ_MAX 16384

/* Bytes of every interval between two reads. */
static void check_limit(uint64_t limit)
{
    static uint64_t begins[READS];
    static uint64_t ends[READS];
    static uint64_t sums[READS + 1];
    struct scene scene;
    struct bb_rng rng;
    bb_rng_init(&rng, 11);
    scene_init(&scene, limit);
    for (size_t i = 0; i < READS; i++) {
        if (bb_rng_one_in(&rng, 100))
            bb_file_memory_advance(scene.memory, SECOND); /* is not saved up */
        begins[i] = scene.fs->ops->now(scene.fs);
        sums[i + 1] = sums[i] + read_some(&scene, 1 + (size_t)bb_rng_below(&rng, READ_MAX));
        ends[i] = scene.fs->ops->now(scene.fs);
    }
    for (size_t first = 0; first < READS; first += 7) {
        for (size_t last = first; last < READS; last++) {
            double seconds = (double)(ends[last] - begins[first]) / (double)SECOND;
            assert_true((double)(sums[last + 1] - sums[first]) <=
                        seconds * (double)limit + BB_FILE_METER_SLICE + READ_MAX);
        }
    }
    assert_int_equal(scene.meter.read_bytes, sums[READS]);
    scene_deinit(&scene);
}

static void file_meter__no_interval_exceeds_the_limit(void **state)
{
    (void)state;
    check_limit(100000);
    check_limit(10000000);
}

static void file_meter__without_a_limit_rests_not(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, 0);
    uint64_t begin = scene.fs->ops->now(scene.fs);
    for (int i = 0; i < 100; i++)
        (void)read_some(&scene, BB_FILE_METER_SLICE / 2);
    assert_int_equal(scene.pauses, 50);
    assert_true(scene.fs->ops->now(scene.fs) - begin < SECOND / 100);
    scene_deinit(&scene);
}

static void file_meter__fails_a_read_as_its_pause(void **state)
{
    (void)state;
    struct scene scene;
    uint8_t buffer[16];
    size_t got = 0;
    scene_init(&scene, 0);
    scene.is_refusing = true;
    (void)read_some(&scene, BB_FILE_METER_SLICE - 1);
    assert_status(bb_file_read_at(scene.file, 0, buffer, 1, &got), BB_BUSY);
    assert_message("enough");
    /* The next slice begins. */
    (void)read_some(&scene, BB_FILE_METER_SLICE - 1);
    scene_deinit(&scene);
}

static void file_meter__bears_a_clock_that_goes_back(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, BB_FILE_METER_SLICE);
    bb_file_memory_advance(scene.memory, 1000 * SECOND);
    (void)read_some(&scene, 1);
    bb_file_memory_advance(scene.memory, UINT64_C(0) - 500 * SECOND);
    uint64_t begin = scene.fs->ops->now(scene.fs);
    (void)read_some(&scene, BB_FILE_METER_SLICE);
    uint64_t taken = scene.fs->ops->now(scene.fs) - begin;
    assert_true(taken > SECOND / 2 && taken < 2 * SECOND);
    scene_deinit(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_meter__no_interval_exceeds_the_limit),
        cmocka_unit_test(file_meter__without_a_limit_rests_not),
        cmocka_unit_test(file_meter__fails_a_read_as_its_pause),
        cmocka_unit_test(file_meter__bears_a_clock_that_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
