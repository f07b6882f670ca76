/* See run.h. */
#include "bench/run.h"

#include <stdlib.h>
#include <string.h>

#include "bench/baton.h"
#include "bench/die.h"
#include "bench/quiet.h"
#include "bench/store_files.h"
#include "bench/thread_clock.h"

/* Operations between two looks at the clock: few enough that their keys and values stay in the
 * first caches. */
#define BATCH 128

/* After the load, the silence that counts as idle is long, because its start is a figure; elsewhere
 * no work is due. */
#define SILENCE_AFTER_LOAD_NANOSECONDS  UINT64_C(500000000)
#define SILENCE_NANOSECONDS             UINT64_C(100000000)
#define SILENCE_AFTER_SLICE_NANOSECONDS UINT64_C(20000000)

/* Checks the entries read in order. */
struct tracer {
    struct bench_visitor visitor; /* first */
    struct workload_trace trace;
};

struct run {
    const struct bench_engine *engine;
    const struct run_options *options;
    const struct workload *workload;
    void *store;
    struct run_result *result;
    uint8_t *keys; /* of a batch */
    uint8_t *values;
    struct tracer tracer;     /* of a phase */
    struct counters counters; /* at the beginning of the phase */
};

/* A phase of reading in batches. */
struct reading {
    enum phase phase;
    const uint64_t *numbers; /* of the keys */
    uint64_t count;
    bool with_values; /* expected ones */
    void (*ask)(struct run *run, size_t size);
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

bool phase_is_sliced(enum phase phase)
{
    return phase != PHASE_LOAD && phase != PHASE_SETTLE && phase != PHASE_COMPACT;
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

/* At most as long as the load took: after a short load there is little work to wait for. */
static uint64_t wait_for_silence(const struct run *run, uint64_t nanoseconds_max)
{
    uint64_t load = run->result->phases[PHASE_LOAD].nanoseconds;
    uint64_t least = SILENCE_AFTER_SLICE_NANOSECONDS;
    uint64_t silence = load < nanoseconds_max ? load : nanoseconds_max;
    return quiet_wait(silence > least ? silence : least);
}

static void settle(struct run *run, uint64_t silence_nanoseconds_max)
{
    if (run->engine->wait_idle != NULL)
        run->engine->wait_idle(run->store);
    (void)wait_for_silence(run, silence_nanoseconds_max);
}

/* Twice, because the first opening may write tables from the log, and these are warm then. */
static void reopen_cold(struct run *run)
{
    for (int i = 0; i < 2; i++) {
        run->engine->close(run->store);
        store_files_drop(run->options->settings.directory);
        run->store = run->engine->open(&run->options->settings);
        settle(run, SILENCE_NANOSECONDS);
    }
}

/* Every engine begins a reading phase in the same state. */
static void prepare_reading(struct run *run)
{
    settle(run, SILENCE_NANOSECONDS);
    if (run->options->is_cold)
        reopen_cold(run);
    else
        store_files_warm(run->options->settings.directory);
    baton_pass(run->options->baton);
    counters_read(&run->counters);
}

static struct slice_time time_now(void)
{
    uint64_t processor = (uint64_t)thread_clock_now();
    return (struct slice_time){.clock = clock_nanoseconds(), .processor = processor};
}

static void add_since(struct slice_time *sum, struct slice_time begin)
{
    sum->clock += clock_nanoseconds() - begin.clock;
    sum->processor += (uint64_t)thread_clock_now() - begin.processor;
}

static uint64_t slice_begin(const struct run *run, uint64_t count, uint64_t slice)
{
    return count * slice / run->options->slice_count;
}

static void end_reading(struct run *run, enum phase phase, uint64_t operations)
{
    uint64_t elapsed = 0;
    for (uint64_t i = 0; i < run->options->slice_count; i++)
        elapsed += run->result->phases[phase].slices[i].clock;
    end_phase(run, phase, operations, elapsed);
}

static void end_slice(struct run *run)
{
    settle(run, SILENCE_AFTER_SLICE_NANOSECONDS);
    baton_pass(run->options->baton);
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
    uint64_t silence = wait_for_silence(run, SILENCE_AFTER_LOAD_NANOSECONDS);
    /* A silence that lasted from the first check on began when the engine reported it. */
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

static void visit(struct bench_visitor *visitor, struct bb_bytes key, struct bb_bytes value)
{
    struct tracer *tracer = (struct tracer *)visitor;
    workload_trace_add(&tracer->trace, key, value);
}

static void seek(struct run *run, size_t size)
{
    for (size_t i = 0; i < size; i++)
        run->engine->seek(run->store, batch_key(run, i), run->workload->options.seek_length,
                          &run->tracer.visitor);
}

static struct slice_time read_slice(struct run *run, const struct reading *reading, uint64_t slice)
{
    struct slice_time sum = {0};
    uint64_t end = slice_begin(run, reading->count, slice + 1);
    for (uint64_t done = slice_begin(run, reading->count, slice); done < end;) {
        size_t size = batch_size(done, end);
        for (size_t i = 0; i < size; i++)
            fill_slot(run, i, reading->numbers[done + i], reading->with_values);
        struct slice_time begin = time_now();
        reading->ask(run, size);
        add_since(&sum, begin);
        done += size;
    }
    return sum;
}

static void read_phase(struct run *run, const struct reading *reading)
{
    struct slice_time *slices = run->result->phases[reading->phase].slices;
    prepare_reading(run);
    for (uint64_t i = 0; i < run->options->slice_count; i++) {
        slices[i] = read_slice(run, reading, i);
        if (i + 1 == run->options->slice_count)
            end_reading(run, reading->phase, reading->count);
        end_slice(run);
    }
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

static void read_present(struct run *run, enum phase phase)
{
    read_phase(run, &(struct reading){.phase = phase,
                                      .numbers = run->workload->present,
                                      .count = run->workload->options.lookup_count,
                                      .with_values = true,
                                      .ask = look_up_present});
}

static void read_absent(struct run *run, enum phase phase)
{
    read_phase(run, &(struct reading){.phase = phase,
                                      .numbers = run->workload->absent,
                                      .count = run->workload->options.lookup_count,
                                      .ask = look_up_absent});
}

static void read_ranges(struct run *run, enum phase phase)
{
    run->tracer = (struct tracer){.visitor.visit = visit};
    read_phase(run, &(struct reading){.phase = phase,
                                      .numbers = run->workload->seeks,
                                      .count = run->workload->options.seek_count,
                                      .ask = seek});
    check_trace(run, &run->tracer.trace, &run->workload->seek);
}

/* ---- the scan: one, which rests between two slices ---- */

struct scan {
    struct tracer tracer; /* first */
    struct run *run;
    uint64_t slice;
    uint64_t slice_end;      /* entries before it */
    struct slice_time begin; /* of the slice */
};

static void note_scanned(struct scan *scan)
{
    add_since(&scan->run->result->phases[PHASE_SCAN].slices[scan->slice], scan->begin);
}

static void begin_scan_slice(struct scan *scan, uint64_t slice)
{
    scan->slice = slice;
    scan->slice_end = slice_begin(scan->run, scan->run->workload->options.key_count, slice + 1);
    scan->begin = time_now();
}

static void visit_scanned(struct bench_visitor *visitor, struct bb_bytes key, struct bb_bytes value)
{
    struct scan *scan = (struct scan *)visitor;
    workload_trace_add(&scan->tracer.trace, key, value);
    if (scan->tracer.trace.count != scan->slice_end ||
        scan->slice + 1 == scan->run->options->slice_count)
        return;
    note_scanned(scan);
    end_slice(scan->run);
    begin_scan_slice(scan, scan->slice + 1);
}

static void read_all(struct run *run)
{
    struct scan scan = {.tracer.visitor.visit = visit_scanned, .run = run};
    prepare_reading(run);
    begin_scan_slice(&scan, 0);
    run->engine->scan(run->store, &scan.tracer.visitor);
    note_scanned(&scan);
    end_reading(run, PHASE_SCAN, scan.tracer.trace.count);
    check_trace(run, &scan.tracer.trace, &run->workload->scan);
    end_slice(run);
}

static void compact(struct run *run)
{
    settle(run, SILENCE_NANOSECONDS);
    counters_read(&run->counters);
    uint64_t begin = clock_nanoseconds();
    run->engine->compact(run->store);
    end_phase(run, PHASE_COMPACT, 1, clock_nanoseconds() - begin);
    settle(run, SILENCE_NANOSECONDS);
    run->result->size_compacted = store_files_size(run->options->settings.directory);
    baton_pass(run->options->baton);
}

void run_engine(const struct bench_engine *engine, const struct run_options *options,
                const struct workload *workload, struct run_result *ret_result)
{
    struct run run = {
        .engine = engine,
        .options = options,
        .workload = workload,
        .result = ret_result,
        .keys = bench_allocate(BATCH * workload->options.key_size),
        .values = bench_allocate(BATCH * workload->options.value_size),
    };
    *ret_result = (struct run_result){0};
    counters_init();
    run.store = engine->open(&options->settings);
    load(&run);
    measure_settling(&run);
    baton_pass(options->baton);
    read_present(&run, PHASE_PRESENT_LOADED);
    read_absent(&run, PHASE_ABSENT_LOADED);
    read_ranges(&run, PHASE_SEEK_LOADED);
    compact(&run);
    read_present(&run, PHASE_PRESENT_COMPACTED);
    read_absent(&run, PHASE_ABSENT_COMPACTED);
    read_all(&run);
    read_ranges(&run, PHASE_SEEK_COMPACTED);
    engine->close(run.store);
    free(run.keys);
    free(run.values);
}
