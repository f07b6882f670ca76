/* See runner.h. */
#include "bench/runner.h"

#include "bench/baton.h"
#include "bench/quiet.h"
#include "bench/store_files.h"
#include "bench/thread_clock.h"

/* After the load, the silence that counts as idle is long, because its start is a figure; elsewhere
 * no work is due. */
#define SILENCE_AFTER_LOAD_NANOSECONDS  UINT64_C(500000000)
#define SILENCE_NANOSECONDS             UINT64_C(100000000)
#define SILENCE_AFTER_SLICE_NANOSECONDS UINT64_C(20000000)

static const char *const phase_names[PHASE_COUNT] = {
    [PHASE_LOAD] = "load",
    [PHASE_SETTLE] = "settle",
    [PHASE_PRESENT_LOADED] = "get_present_loaded",
    [PHASE_ABSENT_LOADED] = "get_absent_loaded",
    [PHASE_SEEK_LOADED] = "seek_loaded",
    [PHASE_COMPACT] = "compact",
    [PHASE_PRESENT_COMPACTED] = "get_present_compacted",
    [PHASE_ABSENT_COMPACTED] = "get_absent_compacted",
    [PHASE_SCAN] = "scan",
    [PHASE_SEEK_COMPACTED] = "seek_compacted",
    [PHASE_MIX] = "mix",
    [PHASE_OVERWRITE] = "overwrite",
    [PHASE_DELETE] = "delete",
    [PHASE_GET] = "get",
    [PHASE_GET_NEVER] = "get_never_stored",
    [PHASE_GET_10] = "get_many_10",
    [PHASE_GET_100] = "get_many_100",
    [PHASE_SEEK] = "seek",
    [PHASE_RANGE_10] = "range_10",
    [PHASE_RANGE_100] = "range_100",
    [PHASE_PREFIX] = "prefix",
};

const char *phase_name(enum phase phase)
{
    return phase_names[phase];
}

bool phase_is_sliced(enum phase phase)
{
    return phase != PHASE_LOAD && phase != PHASE_SETTLE && phase != PHASE_COMPACT;
}

void runner_open(struct runner *runner)
{
    *runner->result = (struct run_result){0};
    counters_init();
    runner->store = runner->engine->open(&runner->options->settings);
}

void runner_begin_phase(struct runner *runner)
{
    counters_read(&runner->counters);
}

void runner_end_phase(struct runner *runner, enum phase phase, uint64_t operations,
                      uint64_t nanoseconds)
{
    struct phase_result *result = &runner->result->phases[phase];
    counters_since(&runner->counters, &result->counters);
    result->operations = operations;
    result->nanoseconds = nanoseconds;
    uint64_t memory_bytes = counters_anonymous_bytes();
    if (memory_bytes > runner->result->memory_bytes)
        runner->result->memory_bytes = memory_bytes;
}

/* At most as long as the load took: after a short load there is little work to wait for. */
static uint64_t wait_for_silence(const struct runner *runner, uint64_t nanoseconds_max)
{
    uint64_t load = runner->result->phases[PHASE_LOAD].nanoseconds;
    uint64_t least = SILENCE_AFTER_SLICE_NANOSECONDS;
    uint64_t silence = load < nanoseconds_max ? load : nanoseconds_max;
    return quiet_wait(silence > least ? silence : least);
}

static void settle(struct runner *runner, uint64_t silence_nanoseconds_max)
{
    if (runner->engine->wait_idle != NULL)
        runner->engine->wait_idle(runner->store);
    (void)wait_for_silence(runner, silence_nanoseconds_max);
}

void runner_settle(struct runner *runner)
{
    settle(runner, SILENCE_NANOSECONDS);
}

void runner_settle_slice(struct runner *runner)
{
    settle(runner, SILENCE_AFTER_SLICE_NANOSECONDS);
}

/* Twice, because the first opening may write tables from the log, and these are warm then. */
static void reopen_cold(struct runner *runner)
{
    for (int i = 0; i < 2; i++) {
        runner->engine->close(runner->store);
        store_files_drop(runner->options->settings.directory);
        runner->store = runner->engine->open(&runner->options->settings);
        settle(runner, SILENCE_NANOSECONDS);
    }
}

/* Every engine begins a reading phase in the same state. */
void runner_prepare(struct runner *runner)
{
    settle(runner, SILENCE_NANOSECONDS);
    if (runner->options->is_cold)
        reopen_cold(runner);
    else
        store_files_warm(runner->options->settings.directory);
    baton_pass(runner->options->baton);
    counters_read(&runner->counters);
}

struct slice_time runner_time(void)
{
    uint64_t processor = (uint64_t)thread_clock_now();
    return (struct slice_time){.clock = clock_nanoseconds(), .processor = processor};
}

void runner_add_since(struct slice_time *sum, struct slice_time begin)
{
    sum->clock += clock_nanoseconds() - begin.clock;
    sum->processor += (uint64_t)thread_clock_now() - begin.processor;
}

uint64_t runner_slice_begin(const struct runner *runner, uint64_t count, uint64_t slice)
{
    return count * slice / runner->options->slice_count;
}

void runner_end_slices(struct runner *runner, enum phase phase, uint64_t operations)
{
    uint64_t elapsed = 0;
    for (uint64_t i = 0; i < runner->options->slice_count; i++)
        elapsed += runner->result->phases[phase].slices[i].clock;
    runner_end_phase(runner, phase, operations, elapsed);
}

void runner_end_slice(struct runner *runner)
{
    runner_settle_slice(runner);
    baton_pass(runner->options->baton);
}

void runner_measure_settling(struct runner *runner)
{
    uint64_t begin = clock_nanoseconds();
    counters_read(&runner->counters);
    if (runner->engine->wait_idle != NULL)
        runner->engine->wait_idle(runner->store);
    uint64_t told = clock_nanoseconds();
    uint64_t silence = wait_for_silence(runner, SILENCE_AFTER_LOAD_NANOSECONDS);
    /* A silence that lasted from the first check on began when the engine reported it. */
    runner_end_phase(runner, PHASE_SETTLE, 1, (silence > told ? silence : told) - begin);
    runner->result->size_loaded = store_files_size(runner->options->settings.directory);
}
