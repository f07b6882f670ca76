/* Processes that take turns: a conductor hands the baton to one worker after the other, and
 * continues when it is returned. All others sleep during that time.
 *
 *     conductor          worker
 *     baton_hire         fork; sleeps
 *     baton_give   --->  its first turn
 *                  <---  baton_pass, sleeps
 *     baton_give   --->  the next one
 *                  <---  baton_finish, with its result; ends
 *
 * The calls are send and recv, which the counts of counters.h exclude.
 */
#ifndef BB_BENCH_BATON_H
#define BB_BENCH_BATON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The conductor's end; all 0 before a worker is hired. */
struct baton_worker {
    pid_t process;
    int socket;
};

enum baton_state {
    BATON_BACK, /* has more to do */
    BATON_DONE, /* gave its result, and ended well */
    BATON_LOST, /* ended without one */
};

/* Forks workers[i]. `work` gets its end of the baton, and ends with baton_finish. `workers` must
 * have all of the conductor's workers, because the new one must not keep their ends open. */
void baton_hire(struct baton_worker *workers, size_t worker_count, size_t i,
                void (*work)(void *context, int baton), void *context);
/* Waits until the turn is over. *result is the worker's if it is done, and undefined otherwise. A
 * worker that is done or lost no longer exists. */
enum baton_state baton_give(struct baton_worker *worker, void *result, size_t result_size);

/* The worker's: ends its turn, and waits for the next one. */
void baton_pass(int baton);
_Noreturn void baton_finish(int baton, const void *result, size_t result_size);

#endif
