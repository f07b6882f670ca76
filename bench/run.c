/* See run.h. */
#include "bench/run.h"

#include <stdlib.h>
#include <string.h>

#include "bench/baton.h"
#include "bench/die.h"
#include "bench/store_files.h"

/* Operations between two looks at the clocks, which take a microsecond: as much as ten lookups of
 * absent keys. So batches without values are long. Batches with values are short: the values stay
 * in the first caches. */
#define KEY_BATCH   2048
#define VALUE_BATCH 128

/* Checks the entries read in order. */
struct tracer {
    struct bench_visitor visitor; /* first */
    struct workload_trace trace;
};

struct run {
    struct runner base;
    const struct workload *workload;
    uint8_t *keys; /* of a batch */
    uint8_t *values;
    struct tracer tracer; /* of a phase */
};

/* A phase of reading in batches. */
struct reading {
    enum phase phase;
    const uint64_t *numbers; /* of the keys */
    uint64_t count;
    bool with_values; /* expected ones */
    void (*ask)(struct run *run, size_t size);
};

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

static size_t batch_size(uint64_t left, bool with_values)
{
    size_t most = with_values ? VALUE_BATCH : KEY_BATCH;
    return left < most ? (size_t)left : most;
}

static void load(struct run *run)
{
    const struct workload *workload = run->workload;
    uint64_t count = workload->options.key_count;
    uint64_t elapsed = 0;
    runner_begin_phase(&run->base);
    for (uint64_t done = 0; done < count;) {
        size_t size = batch_size(count - done, true);
        for (size_t i = 0; i < size; i++)
            fill_slot(run, i, workload_number(workload, done + i), true);
        uint64_t begin = clock_nanoseconds();
        for (size_t i = 0; i < size; i++)
            run->base.engine->put(run->base.store, batch_key(run, i), batch_value(run, i));
        done += size;
        if (done == count && run->base.engine->commit != NULL)
            run->base.engine->commit(run->base.store);
        elapsed += clock_nanoseconds() - begin;
    }
    runner_end_phase(&run->base, PHASE_LOAD, count, elapsed);
}

static void look_up_present(struct run *run, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        struct bb_bytes value = {0};
        struct bb_bytes expected = batch_value(run, i);
        if (!run->base.engine->get(run->base.store, batch_key(run, i), &value))
            bench_die("%s: a stored key is not found", run->base.engine->name);
        if (value.size != expected.size || memcmp(value.data, expected.data, value.size) != 0)
            bench_die("%s: a wrong value is found", run->base.engine->name);
    }
}

static void look_up_absent(struct run *run, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        struct bb_bytes value = {0};
        if (run->base.engine->get(run->base.store, batch_key(run, i), &value))
            bench_die("%s: an absent key is found", run->base.engine->name);
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
        run->base.engine->seek(run->base.store, batch_key(run, i),
                               run->workload->options.seek_length, &run->tracer.visitor);
}

static struct slice_time read_slice(struct run *run, const struct reading *reading, uint64_t slice)
{
    struct slice_time sum = {0};
    uint64_t end = runner_slice_begin(&run->base, reading->count, slice + 1);
    for (uint64_t done = runner_slice_begin(&run->base, reading->count, slice); done < end;) {
        size_t size = batch_size(end - done, reading->with_values);
        for (size_t i = 0; i < size; i++)
            fill_slot(run, i, reading->numbers[done + i], reading->with_values);
        struct slice_time begin = runner_time();
        reading->ask(run, size);
        runner_add_since(&sum, begin);
        done += size;
    }
    return sum;
}

static void read_phase(struct run *run, const struct reading *reading)
{
    struct slice_time *slices = run->base.result->phases[reading->phase].slices;
    runner_prepare(&run->base);
    for (uint64_t i = 0; i < run->base.options->slice_count; i++) {
        slices[i] = read_slice(run, reading, i);
        if (i + 1 == run->base.options->slice_count)
            runner_end_slices(&run->base, reading->phase, reading->count);
        runner_end_slice(&run->base);
    }
}

static void check_trace(const struct run *run, const struct workload_trace *found,
                        const struct workload_trace *expected)
{
    if (found->count != expected->count)
        bench_die("%s: %llu entries seen in order, expected %llu", run->base.engine->name,
                  (unsigned long long)found->count, (unsigned long long)expected->count);
    if (found->checksum != expected->checksum)
        bench_die("%s: wrong entries, or in the wrong order", run->base.engine->name);
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
    runner_add_since(&scan->run->base.result->phases[PHASE_SCAN].slices[scan->slice], scan->begin);
}

static void begin_scan_slice(struct scan *scan, uint64_t slice)
{
    scan->slice = slice;
    scan->slice_end =
        runner_slice_begin(&scan->run->base, scan->run->workload->options.key_count, slice + 1);
    scan->begin = runner_time();
}

static void visit_scanned(struct bench_visitor *visitor, struct bb_bytes key, struct bb_bytes value)
{
    struct scan *scan = (struct scan *)visitor;
    workload_trace_add(&scan->tracer.trace, key, value);
    if (scan->tracer.trace.count != scan->slice_end ||
        scan->slice + 1 == scan->run->base.options->slice_count)
        return;
    note_scanned(scan);
    runner_end_slice(&scan->run->base);
    begin_scan_slice(scan, scan->slice + 1);
}

static void read_all(struct run *run)
{
    struct scan scan = {.tracer.visitor.visit = visit_scanned, .run = run};
    runner_prepare(&run->base);
    begin_scan_slice(&scan, 0);
    run->base.engine->scan(run->base.store, &scan.tracer.visitor);
    note_scanned(&scan);
    runner_end_slices(&run->base, PHASE_SCAN, scan.tracer.trace.count);
    check_trace(run, &scan.tracer.trace, &run->workload->scan);
    runner_end_slice(&run->base);
}

static void compact(struct run *run)
{
    runner_settle(&run->base);
    runner_begin_phase(&run->base);
    uint64_t begin = clock_nanoseconds();
    run->base.engine->compact(run->base.store);
    runner_end_phase(&run->base, PHASE_COMPACT, 1, clock_nanoseconds() - begin);
    runner_settle(&run->base);
    run->base.result->size_compacted = store_files_size(run->base.options->settings.directory);
    baton_pass(run->base.options->baton);
}

void run_engine(const struct bench_engine *engine, const struct run_options *options,
                const struct workload *workload, struct run_result *ret_result)
{
    struct run run = {
        .base = {.engine = engine, .options = options, .result = ret_result},
        .workload = workload,
        .keys = bench_allocate(KEY_BATCH * workload->options.key_size),
        .values = bench_allocate(VALUE_BATCH * workload->options.value_size),
    };
    runner_open(&run.base);
    load(&run);
    runner_measure_settling(&run.base);
    baton_pass(options->baton);
    read_present(&run, PHASE_PRESENT_LOADED);
    read_absent(&run, PHASE_ABSENT_LOADED);
    read_ranges(&run, PHASE_SEEK_LOADED);
    compact(&run);
    read_present(&run, PHASE_PRESENT_COMPACTED);
    read_absent(&run, PHASE_ABSENT_COMPACTED);
    read_all(&run);
    read_ranges(&run, PHASE_SEEK_COMPACTED);
    engine->close(run.base.store);
    free(run.keys);
    free(run.values);
}
