/* Goal: files under a limit are written at most at that rate, urgent ones first except for the
 * share of the patient ones, and waiting writes continue when the limit is lifted. Method: the file
 * system in memory, whose clock advances during sleeps: no test waits. */
#include "base/file_limit.h"

#include "base/bytes.h"
#include "base/sync.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#define LIMIT  UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

struct scene {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    struct bb_file_limit *limit;
    struct bb_file *urgent;
    struct bb_file *patient;
};

static void scene_init(struct scene *scene)
{
    scene->memory = bb_file_memory_create(1);
    scene->fs = bb_file_memory_system(scene->memory);
    assert_ok(bb_file_limit_create(scene->fs, LIMIT, &scene->limit));
    assert_ok(bb_file_create(bb_file_limit_system(scene->limit, true), "/urgent", &scene->urgent));
    assert_ok(
        bb_file_create(bb_file_limit_system(scene->limit, false), "/patient", &scene->patient));
}

static void scene_deinit(struct scene *scene)
{
    assert_ok(bb_file_close(scene->urgent));
    assert_ok(bb_file_close(scene->patient));
    bb_file_limit_destroy(scene->limit);
    bb_file_memory_destroy(scene->memory);
}

static void append(struct bb_file *file, size_t size)
{
    static const uint8_t zeros[65536];
    assert_ok(bb_file_append(file, bb_bytes_of(zeros, size)));
}

static uint64_t now(struct scene *scene)
{
    return scene->fs->ops->now(scene->fs);
}

#define APPENDS    400
#define APPEND_MAX 4096

/* Bytes of every interval between two appends, by any thread. */
static void file_limit__no_interval_exceeds_it(void **state)
{
    (void)state;
    struct scene scene;
    struct bb_rng rng;
    uint64_t times[APPENDS];
    uint64_t sums[APPENDS + 1] = {0};
    bb_rng_init(&rng, 7);
    scene_init(&scene);
    for (size_t i = 0; i < APPENDS; i++) {
        size_t size = 1 + (size_t)bb_rng_below(&rng, APPEND_MAX);
        if (bb_rng_one_in(&rng, 50))
            bb_file_memory_advance(scene.memory, SECOND); /* is not saved up */
        append(bb_rng_one_in(&rng, 2) ? scene.urgent : scene.patient, size);
        times[i] = now(&scene);
        sums[i + 1] = sums[i] + size;
    }
    for (size_t first = 0; first < APPENDS; first++) {
        for (size_t last = first; last < APPENDS; last++) {
            double seconds = (double)(times[last] - times[first]) / (double)SECOND;
            assert_true((double)(sums[last + 1] - sums[first]) <=
                        seconds * (double)LIMIT + 3 * APPEND_MAX + 1);
        }
    }
    scene_deinit(&scene);
}

static void file_limit__is_used_up(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    uint64_t begin = now(&scene);
    for (size_t i = 0; i < 1000; i++)
        append(scene.patient, 10000);
    double seconds = (double)(now(&scene) - begin) / (double)SECOND;
    assert_true(seconds > 9.9 && seconds < 10.2);
    scene_deinit(&scene);
}

/* After a patient file's append the urgent one continues immediately, and the patient one waits for
 * both. */
static void file_limit__urgent_files_go_first(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    append(scene.patient, 50000); /* a twentieth of a second */
    uint64_t begin = now(&scene);
    append(scene.urgent, 50000);
    assert_true(now(&scene) - begin < SECOND / 1000);
    append(scene.urgent, 50000);
    uint64_t between = now(&scene);
    assert_true(between - begin < SECOND * 6 / 100);
    append(scene.patient, 1);
    assert_true(now(&scene) - between >= SECOND * 9 / 100);
    scene_deinit(&scene);
}

/* While the patient file waits, the urgent one is written as fast as the limit lets it. */
struct rush {
    struct scene scene;
    struct bb_file_system_ops ops;
    void (*sleep)(struct bb_file_system *fs, uint64_t nanoseconds);
    uint64_t urgent_bytes;
    bool is_urgent; /* it is the urgent file that sleeps */
};

static struct rush *the_rush;

static void sleep_in_rush(struct bb_file_system *fs, uint64_t nanoseconds)
{
    struct rush *rush = the_rush;
    if (rush->is_urgent || rush->urgent_bytes > 100 * LIMIT) {
        rush->sleep(fs, nanoseconds);
        return;
    }
    rush->is_urgent = true;
    append(rush->scene.urgent, APPEND_MAX);
    rush->urgent_bytes += APPEND_MAX;
    rush->is_urgent = false;
}

static void file_limit__patient_files_have_a_share(void **state)
{
    (void)state;
    struct rush rush = {.urgent_bytes = 0};
    scene_init(&rush.scene);
    rush.ops = *rush.scene.fs->ops;
    rush.sleep = rush.ops.sleep;
    rush.ops.sleep = sleep_in_rush;
    const struct bb_file_system_ops *ops = rush.scene.fs->ops;
    rush.scene.fs->ops = &rush.ops;
    the_rush = &rush;
    uint64_t begin = now(&rush.scene);
    for (size_t i = 0; i < APPENDS; i++)
        append(rush.scene.patient, APPEND_MAX);
    double seconds = (double)(now(&rush.scene) - begin) / (double)SECOND;
    double patient = (double)APPENDS * APPEND_MAX;
    double all = patient + (double)rush.urgent_bytes;
    /* A turn comes when an urgent append has ended. */
    assert_true(patient >= 0.19 * all && patient <= 0.26 * all);
    assert_true(all <= seconds * (double)LIMIT + 3 * APPEND_MAX + 1);
    assert_true(all >= 0.98 * seconds * (double)LIMIT);
    rush.scene.fs->ops = ops;
    scene_deinit(&rush.scene);
}

static void append_patiently(void *argument)
{
    struct scene *scene = argument;
    append(scene->patient, 65536);
    append(scene->patient, 1);
}

/* Only sleeping advances the clock, so the wait would also end without the call: the test checks
 * that no write waits afterwards. */
static void file_limit__lifting_ends_a_wait(void **state)
{
    (void)state;
    struct scene scene;
    struct bb_thread thread;
    uint64_t size = 0;
    scene_init(&scene);
    append(scene.urgent, 65536);
    assert_ok(bb_thread_create(&thread, append_patiently, &scene));
    bb_file_limit_lift(scene.limit);
    bb_thread_join(&thread);
    assert_ok(bb_file_size(scene.patient, &size));
    assert_int_equal(size, 65537);
    uint64_t begin = now(&scene);
    append(scene.urgent, 65536);
    append(scene.patient, 65536);
    append(scene.urgent, 65536);
    assert_true(now(&scene) - begin < SECOND / 1000);
    scene_deinit(&scene);
}

static void file_limit__zero_is_refused(void **state)
{
    (void)state;
    struct bb_file_limit *limit = NULL;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    assert_status(bb_file_limit_create(bb_file_memory_system(memory), 0, &limit), BB_INVALID);
    bb_file_limit_destroy(NULL);
    bb_file_limit_lift(NULL);
    bb_file_memory_destroy(memory);
}

static void file_limit__reports_a_file_that_cannot_be_created(void **state)
{
    (void)state;
    struct scene scene;
    struct bb_file *file = NULL;
    scene_init(&scene);
    struct bb_file_system *fs = bb_file_limit_system(scene.limit, true);
    assert_status(bb_file_create(fs, "/urgent", &file), BB_EXISTS);
    assert_null(file);
    scene_deinit(&scene);
}

/* No write waits until it has caught up. */
static void file_limit__of_a_clock_that_goes_back(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    bb_file_memory_advance(scene.memory, 7200 * SECOND);
    append(scene.urgent, 4096);
    append(scene.patient, 4096);
    bb_file_memory_advance(scene.memory, UINT64_C(0) - 3600 * SECOND);
    uint64_t begin = now(&scene);
    append(scene.patient, 4096);
    append(scene.urgent, 4096);
    assert_true(now(&scene) - begin < 3600 * SECOND / 2);
    scene_deinit(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_limit__no_interval_exceeds_it),
        cmocka_unit_test(file_limit__is_used_up),
        cmocka_unit_test(file_limit__urgent_files_go_first),
        cmocka_unit_test(file_limit__patient_files_have_a_share),
        cmocka_unit_test(file_limit__lifting_ends_a_wait),
        cmocka_unit_test(file_limit__zero_is_refused),
        cmocka_unit_test(file_limit__reports_a_file_that_cannot_be_created),
        cmocka_unit_test(file_limit__of_a_clock_that_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
