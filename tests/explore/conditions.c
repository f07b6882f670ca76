/* The conditions of base/sync.h: threads that wait until another one wakes all of them. A thread
 * that no other one wakes waits forever, which fails the execution. Waits that end without a
 * reason are not explored. See explore.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/explore/explore_private.h"

static void *waits_on[EXPLORE_THREADS_MAX]; /* NULL: the thread does not wait */

void explore_conditions_begin(void)
{
    memset(waits_on, 0, sizeof(waits_on));
}

void explore_condition_wait(void *condition, void *mutex)
{
    if (!explore_is_running)
        abort(); /* no other thread could wake it */
    waits_on[explore_self] = condition;
    explore_unlock(mutex);
    explore_wait(&waits_on[explore_self]);
    explore_lock(mutex);
}

void explore_condition_broadcast(void *condition)
{
    if (!explore_is_running)
        return;
    explore_point();
    for (unsigned i = 0; i < EXPLORE_THREADS_MAX; i++) {
        if (waits_on[i] != condition)
            continue;
        waits_on[i] = NULL;
        explore_threads[i].history = explore_mix(explore_threads[i].history, 4);
    }
}
