/* Bytes that this process has read so far, as the operating system counts them: the progress of
 * library calls that read a known amount and do not report it. */
#ifndef BB_TOOLS_OUTPUT_PROCESS_READS_H
#define BB_TOOLS_OUTPUT_PROCESS_READS_H

#include <stdbool.h>
#include <stdint.h>

/* False: the system does not tell. Any thread. */
bool process_reads(uint64_t *ret_bytes);

/* The size of a file, or of the files of a directory; 0 if it is unknown. */
uint64_t process_reads_expected(const char *path);

#endif
