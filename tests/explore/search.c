/* Threads as coroutines, and the search: depth first over all choices, each execution from the
 * start. See explore.h.
 *
 * A state is all that every thread has read so far, and the order of stores of every location. Two
 * schedules that lead to the same state have the same continuations, so the second one is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/explore/explore_private.h"

#define CHOICES_MAX 4096
#define STEPS_MAX   4000
#define STACK_SIZE  (256 * 1024)

bool explore_is_running;
unsigned explore_self;
struct explored_thread explore_threads[EXPLORE_THREADS_MAX];

struct choice {
    unsigned count;
    unsigned chosen;
};

/* WHY jumps: swapcontext makes a system call, which takes most of the time of an execution. */
struct coroutine {
    ucontext_t context; /* for the first step */
    jmp_buf place;      /* for the others */
    bool has_begun;
    char *stack;
    bool is_done;
    bool has_yielded;
    void *const *waits_for; /* runs when this is NULL */
};

static struct coroutine coroutines[EXPLORE_THREADS_MAX];
static jmp_buf scheduler;
static const struct explore_program *running;
static struct choice choices[CHOICES_MAX];
static unsigned choice_count; /* made or to be repeated */
static unsigned choice_next;
static bool is_over; /* this execution: failed or cut */
static bool must_restart;
static struct explore_result result;

/* ---- states ---- */

static uint64_t *known;
static uint64_t known_capacity;

static void known_forget(void)
{
    free(known);
    known_capacity = 1 << 12;
    known = calloc(known_capacity, sizeof(*known));
    result.states = 0;
}

static bool known_add(uint64_t state);

static void known_grow(void)
{
    uint64_t *old = known;
    uint64_t old_capacity = known_capacity;
    known_capacity *= 2;
    known = calloc(known_capacity, sizeof(*known));
    result.states = 0;
    for (uint64_t i = 0; i < old_capacity; i++) {
        if (old[i] != 0)
            (void)known_add(old[i]);
    }
    free(old);
}

/* False: it was known. */
static bool known_add(uint64_t state)
{
    uint64_t at = state & (known_capacity - 1);
    state += state == 0;
    for (; known[at] != 0; at = (at + 1) & (known_capacity - 1)) {
        if (known[at] == state)
            return false;
    }
    known[at] = state;
    if (++result.states * 2 > known_capacity)
        known_grow();
    return true;
}

static uint64_t state_now(void)
{
    uint64_t state = explore_atomics_hash();
    for (unsigned i = 0; i < EXPLORE_THREADS_MAX; i++) {
        uint64_t flags = (uint64_t)coroutines[i].is_done << 1 | coroutines[i].has_yielded;
        state = explore_mix(state, explore_mix(explore_threads[i].history, flags));
    }
    return state;
}

/* ---- choices ---- */

unsigned explore_choose(unsigned count)
{
    if (count <= 1)
        return 0;
    if (choice_next == choice_count) {
        if (choice_count == CHOICES_MAX)
            abort();
        choices[choice_count++] = (struct choice){.count = count};
    }
    return choices[choice_next++].chosen;
}

/* The next execution differs in the last choice that has an alternative. */
static bool next_choices(void)
{
    while (choice_count > 0 &&
           choices[choice_count - 1].chosen + 1 == choices[choice_count - 1].count)
        choice_count--;
    if (choice_count > 0)
        choices[choice_count - 1].chosen++;
    return choice_count > 0;
}

/* ---- threads ---- */

static void leave_thread(void)
{
    if (_setjmp(coroutines[explore_self].place) == 0)
        _longjmp(scheduler, 1);
}

void explore_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (result.failure[0] == 0)
        vsnprintf(result.failure, sizeof(result.failure), format, arguments);
    va_end(arguments);
    is_over = true;
    if (explore_is_running)
        leave_thread(); /* never continued */
}

void explore_check(bool condition, const char *text)
{
    if (!condition)
        explore_fail("%s", text);
}

void explore_restart(void)
{
    must_restart = true;
}

void explore_point(void)
{
    struct explored_thread *self = &explore_threads[explore_self];
    self->history = explore_mix(self->history, 1); /* it came this far */
    leave_thread();
}

void explore_yield(void)
{
    if (!explore_is_running)
        return;
    coroutines[explore_self].has_yielded = true;
    explore_point();
    /* A store becomes visible to every thread at some time. */
    explore_learn_newest(&explore_threads[explore_self]);
}

void explore_wait(void *const *address)
{
    coroutines[explore_self].waits_for = address;
    explore_point();
    coroutines[explore_self].waits_for = NULL;
}

static void run_thread(void)
{
    running->threads[explore_self]();
    coroutines[explore_self].is_done = true;
    leave_thread();
}

static void start_thread(unsigned number)
{
    struct coroutine *coroutine = &coroutines[number];
    if (coroutine->stack == NULL)
        coroutine->stack = malloc(STACK_SIZE);
    coroutine->is_done = running->threads[number] == NULL;
    coroutine->has_begun = false;
    coroutine->has_yielded = false;
    coroutine->waits_for = NULL;
    memset(&explore_threads[number], 0, sizeof(explore_threads[number]));
    explore_threads[number].knowledge.clock[number] = 1;
    getcontext(&coroutine->context);
    coroutine->context.uc_stack.ss_sp = coroutine->stack;
    coroutine->context.uc_stack.ss_size = STACK_SIZE;
    makecontext(&coroutine->context, run_thread, 0);
}

static bool can_run(unsigned number)
{
    const struct coroutine *coroutine = &coroutines[number];
    return !coroutine->is_done && !coroutine->has_yielded &&
           (coroutine->waits_for == NULL || *coroutine->waits_for == NULL);
}

/* The threads that can continue, the running one first. */
static unsigned list_ready(unsigned ready[EXPLORE_THREADS_MAX])
{
    unsigned count = 0;
    for (unsigned i = 0; i < EXPLORE_THREADS_MAX; i++) {
        unsigned number = (explore_self + i) % EXPLORE_THREADS_MAX;
        if (can_run(number))
            ready[count++] = number;
    }
    return count;
}

/* Threads that yielded wait for another one's step, unless there is no other. */
static void wake_yielded(unsigned except)
{
    for (unsigned i = 0; i < EXPLORE_THREADS_MAX; i++) {
        if (i != except)
            coroutines[i].has_yielded = false;
    }
}

static bool are_done(void)
{
    bool are = true;
    for (unsigned i = 0; i < EXPLORE_THREADS_MAX; i++)
        are = are && coroutines[i].is_done;
    return are;
}

static void enter_thread(void)
{
    struct coroutine *coroutine = &coroutines[explore_self];
    if (_setjmp(scheduler) != 0)
        return;
    if (coroutine->has_begun)
        _longjmp(coroutine->place, 1);
    coroutine->has_begun = true;
    setcontext(&coroutine->context);
}

static void step(void)
{
    unsigned ready[EXPLORE_THREADS_MAX];
    unsigned count = list_ready(ready);
    if (count == 0) {
        wake_yielded(EXPLORE_THREADS_MAX);
        count = list_ready(ready);
    }
    if (count == 0) {
        explore_is_running = false;
        explore_fail("no thread can continue");
        return;
    }
    explore_self = ready[explore_choose(count)];
    wake_yielded(explore_self);
    enter_thread();
}

static void run_threads(void)
{
    uint64_t steps = 0;
    explore_is_running = true;
    while (!is_over && !are_done()) {
        /* Choices that are repeated lead to known states. */
        if (choice_next == choice_count && !known_add(state_now()))
            break;
        step();
        if (!is_over && ++steps > STEPS_MAX) {
            explore_is_running = false;
            explore_fail("an execution does not end");
        }
    }
    explore_is_running = false;
}

static void execute(void)
{
    explore_memory_begin();
    explore_atomics_begin();
    explore_conditions_begin();
    explore_self = 0;
    choice_next = 0;
    is_over = false;
    for (unsigned i = 0; i < EXPLORE_THREADS_MAX; i++)
        start_thread(i);
    run_threads();
    if (!is_over && are_done() && running->finish != NULL)
        running->finish();
    result.executions++;
}

static void restart(void)
{
    must_restart = false;
    choice_count = 0;
    known_forget();
    result = (struct explore_result){0};
}

struct explore_result explore(const struct explore_program *program)
{
    running = program;
    explore_memory_forget();
    explore_atomics_forget();
    restart();
    program->setup();
    explore_memory_keep();
    for (bool is_more = true; is_more;) {
        execute();
        if (must_restart)
            restart(); /* a failure may come from a location that was not tracked yet */
        else
            is_more = result.failure[0] == 0 && next_choices();
    }
    result.locations = explore_atomics_tracked();
    return result;
}
