/* Goal: a clock that goes back costs no time and does not distort the counts. Method: it goes back
 * by a second at every event, so also inside flushes, compactions and stalls, with and without a
 * limit on background writes. */
#include "tests/support/store.h"

#include <inttypes.h>

#define SECOND UINT64_C(1000000000)
#define HOUR   (3600 * SECOND)

struct clock {
    struct bb_file_memory *memory;
    uint64_t events;
};

static void on_event(void *context, const struct bb_event *event)
{
    struct clock *clock = context;
    clock->events++;
    assert_true(event->nanoseconds < HOUR);
    bb_file_memory_advance(clock->memory, UINT64_C(0) - SECOND);
}

static void run(uint64_t background_bytes_per_second)
{
    struct store store;
    store_init(&store);
    struct clock clock = {.memory = store.memory};
    bb_file_memory_advance(store.memory, HOUR); /* to go back in */
    store.options.on_event = on_event;
    store.options.event_context = &clock;
    store.options.background_bytes_per_second = background_bytes_per_second;
    store_open(&store);
    for (uint32_t i = 0; i < 6000; i++) {
        char key[32];
        snprintf(key, sizeof(key), "key%06" PRIu32, i * 7919 % 6000);
        store_put(&store, key, "a value of some forty bytes, as it happens");
    }
    assert_ok(bb_db_compact(store.db));
    struct bb_db_stats stats = store_stats(&store);
    for (size_t i = 0; i < BB_STALL_COUNT; i++)
        assert_true(stats.stall_nanoseconds[i] < HOUR);
    assert_true(clock.events > 10);
    store_deinit(&store);
}

static void clock__goes_back(void **state)
{
    (void)state;
    run(0);
    run((uint64_t)64 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock__goes_back),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
