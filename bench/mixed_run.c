/* See mixed_run.h. With one thread, the process's first thread calls the engine. With more, threads
 * live as long as a phase, attached to the store, and wait at a barrier between two slices. */
#include "bench/mixed_run.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench/baton.h"
#include "bench/mix_batch.h"
#include "bench/die.h"
#include "bench/process_clock.h"
#include "bench/thread_clock.h"

struct mixed_run;

struct thread {
    struct mixed_run *run;
    pthread_t thread;
    uint64_t place;
    struct mix_batch batch;
    struct slice_time time; /* of the slice */
    uint64_t untimed;       /* processor time of the slice outside the calls */
};

struct mixed_run {
    struct runner base;
    const struct mixed_options *options;
    struct ledger *ledger;
    struct thread threads[MIXED_THREADS_MAX];
    uint64_t *load_order; /* indexes; thread t has those at places t, t + thread_count, ... */
    const struct mix_phase *phase; /* NULL: the load */
    uint64_t count;                /* operations of the phase */
    pthread_barrier_t barrier;
};

void mixed_run_ledger(const struct mixed_options *options, const struct workload *workload,
                      struct ledger *ret_ledger)
{
    uint64_t insertions = mix_inserts(options->mix) ? options->operation_count : 0;
    uint64_t capacity = workload->options.key_count;
    if (insertions > 0)
        capacity += insertions + 2 * options->thread_count;
    ledger_init(ret_ledger, workload, capacity);
    ret_ledger->thread_count = options->thread_count;
}

/* ---- a thread's part of a slice ---- */

/* Operations of the phase from `begin` to `end` are divided equally. */
static uint64_t part_of(const struct thread *thread, uint64_t begin, uint64_t end)
{
    uint64_t threads = thread->run->options->thread_count;
    uint64_t count = end - begin;
    return count * (thread->place + 1) / threads - count * thread->place / threads;
}

static uint64_t run_batch(struct thread *thread, uint64_t most,
                          void (*call)(struct mix_batch *batch))
{
    struct slice_time begin = runner_time();
    call(&thread->batch);
    runner_add_since(&thread->time, begin);
    mix_batch_check(&thread->batch);
    return most - thread->batch.operation_count;
}

static void run_operations(struct thread *thread, uint64_t slice)
{
    const struct mixed_run *run = thread->run;
    uint64_t rest = part_of(thread, runner_slice_begin(&run->base, run->count, slice),
                            runner_slice_begin(&run->base, run->count, slice + 1));
    while (rest > 0) {
        (void)mix_batch_fill(&thread->batch, rest);
        rest = run_batch(thread, rest, mix_batch_call);
    }
}

static void commit(struct thread *thread)
{
    struct slice_time begin = runner_time();
    if (thread->run->base.engine->commit != NULL)
        thread->run->base.engine->commit(thread->batch.store);
    runner_add_since(&thread->time, begin);
}

/* A thread loads its own keys, in the order of all keys. */
static void run_load(struct thread *thread)
{
    const struct mixed_run *run = thread->run;
    uint64_t indexes[MIX_BATCH_OPERATIONS_MAX];
    uint64_t place = 0;
    uint64_t key_count = run->ledger->workload->options.key_count;
    while (place < key_count) {
        size_t count = 0;
        for (; place < key_count && count < MIX_BATCH_OPERATIONS_MAX; place++) {
            if (run->load_order[place] % run->options->thread_count == thread->place)
                indexes[count++] = run->load_order[place];
        }
        for (size_t done = 0; done < count; done += thread->batch.operation_count) {
            (void)mix_batch_fill_load(&thread->batch, indexes + done, count - done);
            (void)run_batch(thread, count, mix_batch_call_load);
        }
    }
    commit(thread);
}

static void run_slice(struct thread *thread, uint64_t slice)
{
    uint64_t begin = (uint64_t)thread_clock_now();
    thread->time = (struct slice_time){0};
    if (thread->run->phase == NULL)
        run_load(thread);
    else
        run_operations(thread, slice);
    thread->untimed = (uint64_t)thread_clock_now() - begin - thread->time.processor;
}

/* ---- all threads ---- */

static uint64_t phase_slices(const struct mixed_run *run)
{
    return run->phase == NULL ? 1 : run->base.options->slice_count;
}

static void wait_for_all(struct mixed_run *run)
{
    (void)pthread_barrier_wait(&run->barrier);
}

static void *run_thread(void *context)
{
    struct thread *thread = context;
    struct mixed_run *run = thread->run;
    thread->batch.store = run->base.engine->attach(run->base.store);
    for (uint64_t slice = 0; slice < phase_slices(run); slice++) {
        wait_for_all(run);
        run_slice(thread, slice);
        wait_for_all(run);
    }
    run->base.engine->detach(thread->batch.store);
    return NULL;
}

static bool is_single(const struct mixed_run *run)
{
    return run->options->thread_count == 1;
}

static void start_threads(struct mixed_run *run)
{
    for (uint64_t i = 0; i < run->options->thread_count; i++) {
        if (run->phase != NULL)
            chooser_begin_phase(&run->threads[i].batch.chooser, run->phase);
        if (!is_single(run) &&
            pthread_create(&run->threads[i].thread, NULL, run_thread, &run->threads[i]) != 0)
            bench_die("cannot start a thread");
    }
}

static void join_threads(struct mixed_run *run)
{
    for (uint64_t i = 0; i < run->options->thread_count && !is_single(run); i++) {
        if (pthread_join(run->threads[i].thread, NULL) != 0)
            bench_die("cannot join a thread");
    }
}

static struct slice_time run_slice_of_all(struct mixed_run *run, uint64_t slice)
{
    struct slice_time sum = {0};
    if (is_single(run)) {
        run->threads[0].batch.store = run->base.store;
        run_slice(&run->threads[0], slice);
    } else {
        wait_for_all(run);
        wait_for_all(run);
    }
    for (uint64_t i = 0; i < run->options->thread_count; i++) {
        sum.clock += run->threads[i].time.clock;
        sum.processor += run->threads[i].time.processor;
    }
    return sum;
}

/* Without the work outside the calls, and without this thread's waiting for quiet. */
static uint64_t process_since(const struct mixed_run *run, uint64_t begin, uint64_t settling)
{
    uint64_t used = process_clock_now() - begin;
    uint64_t outside = settling;
    for (uint64_t i = 0; i < run->options->thread_count; i++)
        outside += run->threads[i].untimed;
    return used > outside ? used - outside : 1;
}

static void measure_slice(struct mixed_run *run, uint64_t slice)
{
    uint64_t begin = process_clock_now();
    struct slice_time *time = &run->base.result->phases[run->phase->phase].slices[slice];
    *time = run_slice_of_all(run, slice);
    uint64_t settling = (uint64_t)thread_clock_now();
    runner_settle_slice(&run->base);
    time->process = process_since(run, begin, (uint64_t)thread_clock_now() - settling);
}

/* A call for several keys is as many operations. */
static uint64_t keys_per_operation(const struct mix_phase *phase)
{
    return phase->percents[MIX_GET_MANY] > 0 ? phase->count : 1;
}

static uint64_t operation_count(const struct mixed_run *run, const struct mix_phase *phase)
{
    uint64_t key_count = run->ledger->workload->options.key_count;
    uint64_t count = run->options->operation_count / keys_per_operation(phase);
    if (phase->keys_percent > 0)
        count = key_count * phase->keys_percent / 100;
    uint64_t least = run->base.options->slice_count * run->options->thread_count;
    return count < least ? least : count;
}

static void note_checksum(struct mixed_run *run)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < run->options->thread_count; i++)
        sum += run->threads[i].batch.checksum;
    run->base.result->phases[run->phase->phase].checksum = sum;
}

static void run_phase(struct mixed_run *run, const struct mix_phase *phase)
{
    run->phase = phase;
    run->count = operation_count(run, phase);
    runner_prepare(&run->base);
    start_threads(run);
    for (uint64_t slice = 0; slice < run->base.options->slice_count; slice++) {
        measure_slice(run, slice);
        if (slice + 1 == run->base.options->slice_count) {
            runner_end_slices(&run->base, phase->phase, run->count * keys_per_operation(phase));
            note_checksum(run);
            join_threads(run);
        }
        baton_pass(run->base.options->baton);
    }
}

static void load(struct mixed_run *run)
{
    run->phase = NULL;
    runner_begin_phase(&run->base);
    start_threads(run);
    struct slice_time time = run_slice_of_all(run, 0);
    join_threads(run);
    runner_end_phase(&run->base, PHASE_LOAD, run->ledger->workload->options.key_count, time.clock);
    runner_measure_settling(&run->base);
    baton_pass(run->base.options->baton);
}

/* Ascending numbers, as indexes. A ledger for insertions has more numbers than the load has. */
static void order_keys(struct mixed_run *run)
{
    const struct ledger *ledger = run->ledger;
    uint64_t key_count = ledger->workload->options.key_count;
    enum mix_load order = run->options->mix->load;
    uint64_t count = 0;
    run->load_order = workload_allocate(key_count, sizeof(run->load_order[0]));
    for (uint64_t i = 0; i < ledger->capacity; i++) {
        uint64_t index = i;
        if (order != MIX_LOAD_RANDOM)
            (void)workload_index(ledger->workload, ledger->sorted[i], &index);
        if (index < key_count) {
            uint64_t place = order == MIX_LOAD_REVERSE ? key_count - 1 - count : count;
            run->load_order[place] = index;
            count++;
        }
    }
}

static void init(struct mixed_run *run)
{
    uint64_t seed = run->ledger->workload->options.seed;
    for (uint64_t i = 0; i < run->options->thread_count; i++) {
        struct thread *thread = &run->threads[i];
        thread->run = run;
        thread->place = i;
        mix_batch_init(&thread->batch, run->base.engine, run->ledger, seed, i);
    }
    if (pthread_barrier_init(&run->barrier, NULL, (unsigned)run->options->thread_count + 1) != 0)
        bench_die("cannot make a barrier");
    order_keys(run);
}

static void deinit(struct mixed_run *run)
{
    for (uint64_t i = 0; i < run->options->thread_count; i++)
        mix_batch_deinit(&run->threads[i].batch);
    (void)pthread_barrier_destroy(&run->barrier);
    workload_release(run->load_order, run->ledger->workload->options.key_count,
                     sizeof(run->load_order[0]));
}

void mixed_run_engine(const struct bench_engine *engine, const struct run_options *options,
                      const struct mixed_options *mixed, struct ledger *ledger,
                      struct run_result *ret_result)
{
    struct mixed_run *run = bench_allocate(sizeof(*run));
    ledger->engine = engine->name;
    run->base = (struct runner){.engine = engine, .options = options, .result = ret_result};
    run->options = mixed;
    run->ledger = ledger;
    init(run);
    runner_open(&run->base);
    load(run);
    for (const struct mix_phase *phase = mixed->mix->phases;
         phase < mixed->mix->phases + MIX_PHASES_MAX && mix_percents(phase) > 0; phase++)
        run_phase(run, phase);
    engine->close(run->base.store);
    deinit(run);
    free(run);
}
