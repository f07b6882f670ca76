/* Ctrl-C, for commands that stop in good order: what was found is printed, and the store is closed.
 *
 * The first SIGINT sets a flag; the next one ends the process as if nothing had been set up. Once per
 * process.
 */
#ifndef BB_TOOLS_INTERRUPT_H
#define BB_TOOLS_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
bool interrupt_is_wanted(void);

#endif
