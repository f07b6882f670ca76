/* See run.h. */
#include "bench/run.h"

#include <stdlib.h>
#include <string.h>

#include "bench/die.h"
#include "bench/quiet.h"
#include "bench/store_files.h"

/* Operations between two looks at the clock: few enough that their keys and values stay in the
 * first caches. */
#define BATCH 128

/* After the load the silence that counts as idle is long, since its beginning is a figure;
 * elsewhere nothing is due. */
#define SILENCE_AFTER_LOAD_NANOSECONDS UINT64_C(500000000)
#define SILENCE_NANOSECONDS            UINT64_C(100000000)

struct run {
    const struct bench_engine *engine;
    const struct run_options *options;
    const struct workload *workload;
    void *store;
    struct run_result *result;
    uint8_t *keys; /* of a batch */
    uint8_t *values;
    struct counters counters; /* at the beginning of the phase */
};

/* Follows a scan. */
struct tracer {
    struct bench_visitor visitor; /* first */
    struct workload_trace trace;
};

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
};

const char *phase_name(enum phase phase)
{
    return phase_names[phase];
}

static struct bb_bytes batch_key(const struct run *run, size_t i)
{
    size_t size = run->workload->options.key_size;
    return (struct bb_bytes){.data = run->keys + i * size, .size = size};
}

static struct bb_bytes batch_value(const struct run *run, size_t i)
{
    size_t size = run->workload->options.value_size;
    return (struct bb_bytes){.data = run->values + i * size, .size = size};
}

static void fill_slot(struct run *run, size_t i, uint64_t number, bool with_value)
{
    const struct workload_options *options = &run->workload->options;
    workload_key(run->workload, number, run->keys + i * options->key_size);
    if (with_value)
        workload_value(run->workload, number, run->values + i * options->value_size);
}

static size_t batch_size(uint64_t done, uint64_t count)
{
    return count - done < BATCH ? (size_t)(count - done) : BATCH;
}

static void end_phase(struct run *run, enum phase phase, uint64_t operations, uint64_t nanoseconds)
{
    struct phase_result *result = &run->result->phases[phase];
    counters_since(&run->counters, &result->counters);
    result->operations = operations;
    result->nanoseconds = nanoseconds;
    uint64_t memory_bytes = counters_anonymous_bytes();
    if (memory_bytes > run->result->memory_bytes)
        run->result->memory_bytes = memory_bytes;
}

static void settle(struct run *run)
{
    if (run->engine->wait_idle != NULL)
        run->engine->wait_idle(run->store);
    (void)quiet_wait(SILENCE_NANOSECONDS);
}

/* Twice, because the first opening may write tables from the log, and these are warm then. */
static void reopen_cold(struct run *run)
{
    for (int i = 0; i < 2; i++) {
        run->engine->close(run->store);
        store_files_drop(run->options->settings.directory);
        run->store = run->engine->open(&run->options->settings);
        settle(run);
    }
}

/* Everybody begins a reading phase alike. */
static void prepare_reading(struct run *run)
{
    settle(run);
    if (run->options->is_cold)
        reopen_cold(run);
    else
        store_files_warm(run->options->settings.directory);
    counters_read(&run->counters);
}

static void load(struct run *run)
{
    const struct workload *workload = run->workload;
    uint64_t count = workload->options.key_count;
    uint64_t elapsed = 0;
    counters_read(&run->counters);
    for (uint64_t done = 0; done < count;) {
        size_t size = batch_size(done, count);
        for (size_t i = 0; i < size; i++)
            fill_slot(run, i, workload_number(workload, done + i), true);
        uint64_t begin = clock_nanoseconds();
        for (size_t i = 0; i < size; i++)
            run->engine->put(run->store, batch_key(run, i), batch_value(run, i));
        done += size;
        if (done == count && run->engine->commit != NULL)
            run->engine->commit(run->store);
        elapsed += clock_nanoseconds() - begin;
    }
    end_phase(run, PHASE_LOAD, count, elapsed);
}

static void measure_settling(struct run *run)
{
    uint64_t begin = clock_nanoseconds();
    counters_read(&run->counters);
    if (run->engine->wait_idle != NULL)
        run->engine->wait_idle(run->store);
    uint64_t told = clock_nanoseconds();
    uint64_t silence = quiet_wait(SILENCE_AFTER_LOAD_NANOSECONDS);
    /* A silence that was there from the first look on began when the engine said so. */
    end_phase(run, PHASE_SETTLE, 1, (silence > told ? silence : told) - begin);
    run->result->size_loaded = store_files_size(run->options->settings.directory);
}

static void look_up_present(struct run *run, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        struct bb_bytes value = {0};
        struct bb_bytes expected = batch_value(run, i);
        if (!run->engine->get(run->store, batch_key(run, i), &value))
            bench_die("%s: a stored key is not found", run->engine->name);
        if (value.size != expected.size || memcmp(value.data, expected.data, value.size) != 0)
            bench_die("%s: a wrong value is found", run->engine->name);
    }
}

static void look_up_absent(struct run *run, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        struct bb_bytes value = {0};
        if (run->engine->get(run->store, batch_key(run, i), &value))
            bench_die("%s: an absent key is found", run->engine->name);
    }
}

static void look_up(struct run *run, enum phase phase, bool is_present)
{
    const uint64_t *numbers = is_present ? run->workload->present : run->workload->absent;
    uint64_t count = run->workload->options.lookup_count;
    uint64_t elapsed = 0;
    prepare_reading(run);
    for (uint64_t done = 0; done < count;) {
        size_t size = batch_size(done, count);
        for (size_t i = 0; i < size; i++)
            fill_slot(run, i, numbers[done + i], is_present);
        uint64_t begin = clock_nanoseconds();
        if (is_present)
            look_up_present(run, size);
        else
            look_up_absent(run, size);
        elapsed += clock_nanoseconds() - begin;
        done += size;
    }
    end_phase(run, phase, count, elapsed);
}

static void visit(struct bench_visitor *visitor, struct bb_bytes key, struct bb_bytes value)
{
    struct tracer *tracer = (struct tracer *)visitor;
    workload_trace_add(&tracer->trace, key, value);
}

static void check_trace(const struct run *run, const struct workload_trace *found,
                        const struct workload_trace *expected)
{
    if (found->count != expected->count)
        bench_die("%s: %llu entries seen in order, expected %llu", run->engine->name,
                  (unsigned long long)found->count, (unsigned long long)expected->count);
    if (found->checksum != expected->checksum)
        bench_die("%s: wrong entries, or in the wrong order", run->engine->name);
}

static void scan(struct run *run)
{
    struct tracer tracer = {.visitor.visit = visit};
    prepare_reading(run);
    uint64_t begin = clock_nanoseconds();
    run->engine->scan(run->store, &tracer.visitor);
    end_phase(run, PHASE_SCAN, tracer.trace.count, clock_nanoseconds() - begin);
    check_trace(run, &tracer.trace, &run->workload->scan);
}

static void seek(struct run *run, enum phase phase)
{
    const struct workload_options *options = &run->workload->options;
    struct tracer tracer = {.visitor.visit = visit};
    uint64_t elapsed = 0;
    prepare_reading(run);
    for (uint64_t done = 0; done < options->seek_count;) {
        size_t size = batch_size(done, options->seek_count);
        for (size_t i = 0; i < size; i++)
            fill_slot(run, i, run->workload->seeks[done + i], false);
        uint64_t begin = clock_nanoseconds();
        for (size_t i = 0; i < size; i++)
            run->engine->seek(run->store, batch_key(run, i), options->seek_length, &tracer.visitor);
        elapsed += clock_nanoseconds() - begin;
        done += size;
    }
    end_phase(run, phase, options->seek_count, elapsed);
    check_trace(run, &tracer.trace, &run->workload->seek);
}

static void compact(struct run *run)
{
    settle(run);
    counters_read(&run->counters);
    uint64_t begin = clock_nanoseconds();
    run->engine->compact(run->store);
    end_phase(run, PHASE_COMPACT, 1, clock_nanoseconds() - begin);
    settle(run);
    run->result->size_compacted = store_files_size(run->options->settings.directory);
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL)
        bench_die("no memory for a batch");
    return memory;
}

void run_engine(const struct bench_engine *engine, const struct run_options *options,
                const struct workload *workload, struct run_result *ret_result)
{
    struct run run = {
        .engine = engine,
        .options = options,
        .workload = workload,
        .result = ret_result,
        .keys = allocate(BATCH * workload->options.key_size),
        .values = allocate(BATCH * workload->options.value_size),
    };
    *ret_result = (struct run_result){0};
    counters_init();
    run.store = engine->open(&options->settings);
    load(&run);
    measure_settling(&run);
    look_up(&run, PHASE_PRESENT_LOADED, true);
    look_up(&run, PHASE_ABSENT_LOADED, false);
    seek(&run, PHASE_SEEK_LOADED);
    compact(&run);
    look_up(&run, PHASE_PRESENT_COMPACTED, true);
    look_up(&run, PHASE_ABSENT_COMPACTED, false);
    scan(&run);
    seek(&run, PHASE_SEEK_COMPACTED);
    engine->close(run.store);
    free(run.keys);
    free(run.values);
}
