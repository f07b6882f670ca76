/* Explores every execution of a small program with threads, on a weakly ordered machine.
 *
 * The program calls functions of the library, which are compiled from their own sources, unchanged,
 * with the calls that -fsanitize=thread inserts before every access of memory and instead of every
 * atomic operation. tests/explore/ defines these calls, instead of ThreadSanitizer's library:
 *
 *     runtime.c     the inserted calls, memcpy and its like, base/sync.h, alloc.h and region.h
 *     atomics.c     the memory model: which stores a load may read, and their messages
 *     conditions.c  threads that wait until another one wakes them
 *     shadow.c      plain bytes: the threads that accessed each, and the order
 *     search.c      threads as coroutines, and the search over all choices
 *     sites.c       the places in the code that order memory, and weaker variants of them
 *
 * Before every lock and every atomic operation on shared memory, the search chooses the thread that
 * continues; for each load it also chooses one of the stores that C11 permits. So a load returns an
 * old value wherever its order permits that, on any machine. An execution fails if a check of the
 * program fails, if two threads access a plain byte without an order between them, if released
 * memory is used, or if no thread can continue.
 *
 * The model is C11's release and acquire (Batty et al., "Mathematizing C++ Concurrency", POPL 2011,
 * with release sequences as of C++20), with these limits:
 *
 *   - The stores to one location become visible in the order in which the search executes them, and
 *     a load reads an executed store. Executions in which two loads each read a store that follows
 *     the other load ("load buffering") are not explored.
 *   - Sequentially consistent operations have the order of their execution. Such a load reads no
 *     store older than the last sequentially consistent one of its location.
 *   - A compare-and-exchange that fails has read the newest store. Weak ones never fail without
 *     reason.
 *   - Races are found in memory of base/alloc.h, not in globals and on stacks.
 *   - Released memory is never allocated again.
 */
#ifndef BB_TESTS_EXPLORE_EXPLORE_H
#define BB_TESTS_EXPLORE_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPLORE_THREADS_MAX 3

/* All data of a program is in memory of base/alloc.h, which is restored to its state after setup
 * before each execution. Globals of a test only refer to it. */
struct explore_program {
    const char *name;
    void (*setup)(void); /* once, before the threads */
    void (*threads[EXPLORE_THREADS_MAX])(void);
    void (*finish)(void); /* after the threads of each execution; may be NULL */
};

struct explore_result {
    uint64_t executions; /* including executions cut at a known state */
    uint64_t states;
    uint64_t locations; /* atomics that threads share */
    char failure[400];  /* empty: none */
};

/* Explores all executions, or up to the first failure. */
struct explore_result explore(const struct explore_program *program);

/* Explores the program, which must not fail, and then again for each operation that orders
 * memory, each time with that one weakened. Prints the figures, and each weaker variant that fails.
 * A variant that an earlier program has shown to fail is not tried again. Ends the test if the
 * program fails. */
void explore_every_order(const struct explore_program *program);

/* After all programs: every weaker variant must have failed in one of them, except the listed ones,
 * which must have failed in none: "function: operation, from -> to", such as "release: store,
 * release -> relaxed". The list ends with NULL. Returns the status for main. */
int explore_conclude(const char *const *not_needed);

/* Fails the execution, in threads and in finish. */
void explore_check(bool condition, const char *text);

#endif
