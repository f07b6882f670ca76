/* See interrupt.h. */
#include "tools/output/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t is_wanted;
static int no_input = -1;

static void note(int number)
{
    (void)number;
    is_wanted = 1;
    /* A read that waits ends with EINTR. The caller of a read that begins now has not seen the
     * flag, so the read finds the end of the input. */
    if (no_input >= 0)
        (void)!dup2(no_input, STDIN_FILENO);
}

static void watch(int flags)
{
    /* SA_RESETHAND: a second Ctrl-C ends the process immediately. */
    struct sigaction action = {.sa_handler = note, .sa_flags = flags | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}

void interrupt_watch(void)
{
    watch(SA_RESTART);
}

void interrupt_watch_reads(void)
{
    no_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    watch(0);
}

bool interrupt_is_wanted(void)
{
    return is_wanted != 0;
}
