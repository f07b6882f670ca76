/* Goal: several threads test one condition concurrently, each with a separate run. */
#include "tests/unit/skip/condition_fixture.h"

#include "base/sync.h"

#define THREADS 4
#define ROUNDS  2000

static const char text[] = "matches(text, '^(GET|POST) /[a-z]+[0-9]*$') AND (i IN (1, 2, 3) OR "
                           "has_token(text, 'x')) AND text NOT LIKE '%q_z%'";

struct worker {
    const struct bb_condition *condition;
    size_t true_count;
};

static void work(void *context)
{
    struct worker *worker = context;
    struct bb_condition_run *run = NULL;
    if (bb_condition_run_create(worker->condition, &run) != BB_OK)
        return;
    for (int64_t i = 0; i < ROUNDS; i++) {
        struct bb_attribute record[FIELD_COUNT] = {
            [FIELD_TEXT] = text_value(i % 2 == 0 ? "GET /abc12" : "PUT /x"),
            [FIELD_I64] = i64_value(i % 4),
        };
        enum bb_truth truth = BB_TRUTH_UNKNOWN;
        if (bb_condition_test(run, record, &truth) == BB_OK && truth == BB_TRUTH_TRUE)
            worker->true_count++;
    }
    bb_condition_run_destroy(run);
}

static void condition__is_shared_by_threads(void **state)
{
    (void)state;
    struct bb_thread threads[THREADS];
    struct worker workers[THREADS];
    struct bb_condition *condition = parse(text);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.condition = condition};
        assert_status(bb_thread_create(&threads[i], work, &workers[i]), BB_OK);
    }
    for (size_t i = 0; i < THREADS; i++) {
        bb_thread_join(&threads[i]);
        assert_int_equal(workers[i].true_count, ROUNDS / 4);
    }
    bb_condition_destroy(condition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(condition__is_shared_by_threads),
    };
    return cmocka_run_group_tests_name("condition_threads", tests, NULL, NULL);
}
