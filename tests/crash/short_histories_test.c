/* Goal: no short history has a moment at which a power failure breaks a guarantee. (Of the known
 * crash bugs of file systems nearly all need at most three operations on a new file system.)
 * Method: all histories of up to a few operations, drawn from ten kinds with
 * different durability.
 * Each is run on a file system in memory; before every changing call of its last operation and of
 * the close after it, images of the disk are checked (tests/crash/crash_run.h): everything lost,
 * everything kept, and each way to lose a part. The calls of earlier operations belong to a
 * shorter history. Images of some are crashed again before every call of their recovery.
 *
 * BB_TEST_CRASH_LENGTH sets the number of operations (default 2; 3 takes minutes),
 * BB_TEST_CRASH_NESTED the share of images that fail again, one in this many (default 50),
 * BB_TEST_HISTORY runs only that history, or those from "N-M", BB_TEST_SEED sets the seed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/crash/crash_run.h"
#include "tests/support/rng.h"

#define LENGTH_MAX 4

static void put(struct crash_run *run, uint32_t place)
{
    crash_put(run, place % 2, 300 + place, false);
}

static void put_synced(struct crash_run *run, uint32_t place)
{
    crash_put(run, place % 2, 300 + place, true);
}

static void erase(struct crash_run *run, uint32_t place)
{
    (void)place;
    crash_delete(run, 0, false);
}

static void erase_range(struct crash_run *run, uint32_t place)
{
    crash_delete_range(run, 0, 2 + place, false);
}

static void batch(struct crash_run *run, uint32_t place)
{
    crash_batch(run, place, 6, false);
}

static void batch_synced(struct crash_run *run, uint32_t place)
{
    crash_batch(run, place, 4, true);
}

static void flush(struct crash_run *run, uint32_t place)
{
    (void)place;
    crash_flush(run);
}

static void compact(struct crash_run *run, uint32_t place)
{
    (void)place;
    crash_compact(run);
}

static void reopen(struct crash_run *run, uint32_t place)
{
    (void)place;
    crash_close(run);
    crash_open(run);
}

static void kill_process(struct crash_run *run, uint32_t place)
{
    (void)place;
    crash_kill(run);
    crash_open(run);
}

static const struct {
    const char *name;
    void (*act)(struct crash_run *run, uint32_t place);
} operations[] = {
    {"put", put},       {"put synced", put_synced},
    {"delete", erase},  {"delete range", erase_range},
    {"batch", batch},   {"batch synced", batch_synced},
    {"flush", flush},   {"compact", compact},
    {"reopen", reopen}, {"kill", kill_process},
};
#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

struct totals {
    uint64_t histories;
    uint64_t states;
    uint64_t nested;
};

static uint64_t number_of(const char *variable, uint64_t fallback)
{
    const char *given = getenv(variable);
    return given == NULL ? fallback : strtoull(given, NULL, 10);
}

/* The digits of `number` to the base OPERATIONS are the operations, the first one last. */
static void describe(uint64_t number, size_t length, char *text, size_t size)
{
    int used = snprintf(text, size, "\"open");
    for (size_t place = 0; place < length; place++, number /= OPERATIONS)
        used += snprintf(text + used, size - (size_t)used, ", %s",
                         operations[number % OPERATIONS].name);
    snprintf(text + used, size - (size_t)used, ", close\"");
}

/* One call of the opening is enough where operations follow: histories without any have the others.
 */
static void run_history(uint64_t number, size_t length, uint64_t id, uint64_t seed,
                        struct totals *totals)
{
    struct crash_run run;
    char name[160];
    describe(number, length, name, sizeof(name));
    crash_run_init(&run, name, seed, 1);
    snprintf(run.replay, sizeof(run.replay),
             "BB_TEST_SEED=%" PRIu64 " BB_TEST_HISTORY=%" PRIu64 " crash_short_histories_test",
             seed, id);
    run.is_quiet = true;
    run.has_each_tail = true;
    run.nested_interval = number_of("BB_TEST_CRASH_NESTED", 50);
    run.is_paused = length > 0;
    crash_open(&run);
    for (uint32_t place = 0; place < length; place++, number /= OPERATIONS) {
        run.is_paused = place + 1 < length;
        operations[number % OPERATIONS].act(&run, place);
    }
    crash_close(&run);
    crash_run_deinit(&run);
    totals->histories++;
    totals->states += crash_run_states(&run);
    totals->nested += run.nested_images;
}

static void choose_histories(uint64_t *first, uint64_t *last)
{
    const char *text = getenv("BB_TEST_HISTORY");
    char *end = NULL;
    if (text == NULL)
        return;
    *first = strtoull(text, &end, 10);
    *last = *end == '-' ? strtoull(end + 1, NULL, 10) : *first;
}

int main(void)
{
    uint64_t seed = bb_rng_seed("short_histories_test", 1);
    uint64_t length_max = number_of("BB_TEST_CRASH_LENGTH", 2);
    uint64_t first = 0;
    uint64_t last = UINT64_MAX;
    choose_histories(&first, &last);
    struct totals totals = {0};
    uint64_t id = 0;
    uint64_t count = 1; /* histories of this length */
    for (size_t length = 0; length <= length_max && length <= LENGTH_MAX; length++) {
        for (uint64_t number = 0; number < count; number++, id++) {
            if (id >= first && id <= last)
                run_history(number, length, id, seed, &totals);
        }
        count *= OPERATIONS;
    }
    printf("%" PRIu64 " histories of up to %" PRIu64 " operations, %" PRIu64
           " images of a second crash\n",
           totals.histories, length_max, totals.nested);
    printf("count: %" PRIu64 " crash states\n", totals.states);
    return 0;
}
