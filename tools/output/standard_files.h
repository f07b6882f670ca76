/* Standard input, output and error, when the caller left them closed. */
#ifndef BB_TOOLS_OUTPUT_STANDARD_FILES_H
#define BB_TOOLS_OUTPUT_STANDARD_FILES_H

#include <stdbool.h>

/* If a standard file is closed, the next file that the process opens gets its number. A file of the
 * store could become standard output and receive printed text, or become standard input and be
 * loaded as keys. This call fills the free numbers of the three with descriptors that refuse reads
 * and writes, as closed ones do. Call it before the process opens any file. False: the system
 * refused a descriptor. */
bool standard_files_occupy(void);

#endif
