/* Shared by the parts of the explorer. One execution runs at a time, on one thread of the system,
 * so that all state is in globals. */
#ifndef BB_TESTS_EXPLORE_EXPLORE_PRIVATE_H
#define BB_TESTS_EXPLORE_EXPLORE_PRIVATE_H

#include "tests/explore/explore.h"

#define TRACKED_MAX 160

/* The knowledge of a thread: of each thread, which accesses happened before (a vector clock); of
 * each tracked location, the oldest store that it may still read. */
struct knowledge {
    uint32_t clock[EXPLORE_THREADS_MAX];
    uint16_t oldest[TRACKED_MAX];
};

struct explored_thread {
    struct knowledge knowledge;
    uint64_t history; /* a hash of all that it has read: with the program, its state */
};

enum operation {
    OPERATION_LOAD,
    OPERATION_STORE,
    OPERATION_CHANGE,   /* read-modify-write */
    OPERATION_EXCHANGE, /* compare-and-exchange */
};

/* ---- search.c ---- */

extern bool explore_is_running; /* threads run; not setup or finish */
extern unsigned explore_self;   /* the running thread */
extern struct explored_thread explore_threads[EXPLORE_THREADS_MAX];

/* Ends the execution with a failure; does not return to a thread. */
void explore_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The search may continue another thread here. */
void explore_point(void);
/* The same; this thread continues after a step of another one. */
void explore_yield(void);
/* This thread continues when *address is NULL. */
void explore_wait(void *const *address);
/* 0 ... count - 1. */
unsigned explore_choose(unsigned count);
/* A location turned out to be shared: the search begins again with this knowledge. */
void explore_restart(void);

static inline uint64_t explore_mix(uint64_t a, uint64_t b)
{
    uint64_t mixed = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) *
                     UINT64_C(0xbf58476d1ce4e5b9);
    return mixed ^ mixed >> 29;
}

/* ---- atomics.c ---- */

void explore_atomics_forget(void); /* everything, before a program */
void explore_atomics_begin(void);  /* an execution */
uint64_t explore_atomics_hash(void);
uint64_t explore_atomics_tracked(void);
void explore_learn_newest(struct explored_thread *thread);

/* An operation on an atomic variable. */
struct access_to {
    void *address;
    size_t size;
    int order;
    const void *place;
};
uint64_t explore_load(struct access_to access);
void explore_store(struct access_to access, uint64_t value);
/* change: of the old value. Returns the old one. */
uint64_t explore_change(struct access_to access, uint64_t (*change)(uint64_t old, uint64_t operand),
                        uint64_t operand);
bool explore_exchange(struct access_to access, int failure_order, uint64_t *expected,
                      uint64_t desired);
void explore_lock(void *mutex);
void explore_unlock(void *mutex);
bool explore_holds(const void *mutex);
/* A plain write replaces an atomic variable. */
void explore_atomic_overwritten(uint16_t location);

/* ---- conditions.c ---- */

void explore_conditions_begin(void); /* an execution */
void explore_condition_wait(void *condition, void *mutex);
void explore_condition_broadcast(void *condition);

/* ---- shadow.c ---- */

void explore_memory_forget(void);
void explore_memory_keep(void);  /* after setup */
void explore_memory_begin(void); /* an execution */
void *explore_alloc(size_t alignment, size_t size);
size_t explore_size_of(const void *memory);
void explore_free(void *memory, const void *place);

/* place: in the code, for messages. */
void explore_plain(const void *address, size_t size, bool is_write, const void *place);
void explore_atomic(const void *address, size_t size, bool is_write, const void *place);
/* The plain bytes at address hold the atomic location with this number, from 1 on. */
void explore_mark_location(const void *address, size_t size, uint16_t location);

/* ---- sites.c ---- */

/* Notes the place of an operation, and returns its order, or a weaker one if the place is the one
 * to weaken. */
int explore_site(const void *place, enum operation operation, int order, bool is_failure);
/* The function whose call returns to this place. */
const char *explore_function(const void *place);

#endif
