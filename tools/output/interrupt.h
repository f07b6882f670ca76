/* Ctrl-C, for commands that stop in good order: they print their results up to then and close the
 * store.
 *
 * The first SIGINT sets a flag; the next one ends the process, as without a handler. Once per
 * process.
 */
#ifndef BB_TOOLS_OUTPUT_INTERRUPT_H
#define BB_TOOLS_OUTPUT_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
/* The same for commands that take input: a read that waits is ended with EINTR, and standard input
 * has an end from then on. So check the flag after each read. */
void interrupt_watch_reads(void);
bool interrupt_is_wanted(void);

#endif
