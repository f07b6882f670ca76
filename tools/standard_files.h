/* Standard input, output and error, when the caller left them closed. */
#ifndef BB_TOOLS_STANDARD_FILES_H
#define BB_TOOLS_STANDARD_FILES_H

#include <stdbool.h>

/* The next files that a process opens get the numbers of those that are closed. A file of the store
 * would become standard output, and what is printed be written into it; or be standard input, and
 * be loaded as keys. This takes the free ones of the three numbers with descriptors that refuse
 * both, as closed ones do. Call it before anything is opened. False: the system gave none. */
bool standard_files_occupy(void);

#endif
