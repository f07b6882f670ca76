/* See interrupt.h. */
#include "tools/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t is_wanted;

static void note(int number)
{
    (void)number;
    is_wanted = 1;
}

void interrupt_watch(void)
{
    /* SA_RESETHAND: a second Ctrl-C ends the process immediately. */
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}

bool interrupt_is_wanted(void)
{
    return is_wanted != 0;
}
