/* Memory that is mapped from files, and what happens when a page of it cannot be read or written.
 *
 * An access to a mapped page raises SIGBUS if the file was truncated before it, or if the device
 * fails. By default that ends the process. With the first watch a handler is installed, which puts
 * a page of zeros there, marks the watch as unsound, and lets the access continue:
 *
 *     access -> SIGBUS -> handler: is the address watched?
 *                           yes: is_unsound = true, zeros at that page, return: it is repeated
 *                           no:  the handler that was installed before
 *
 * A handler that the program installs later replaces this one; it must call the previous handler,
 * or a truncated file ends the process.
 * Threads: any. */
#ifndef BB_BASE_MAP_WATCH_H
#define BB_BASE_MAP_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bb/base.h"

struct bb_map_watch;

/* Watches size bytes at an address. is_writable: a page of zeros that replaces a lost one may be
 * written. path: for messages. Errors: BB_UNSUPPORTED if the signal cannot be handled,
 * BB_NO_MEMORY. Ends with bb_map_watch_end. */
BB_MUST_CHECK enum bb_status bb_map_watch_begin(const void *bytes, uint64_t size, bool is_writable,
                                                const char *path, struct bb_map_watch **ret_watch);
/* Call before the memory is unmapped: its address may then belong to another map. */
void bb_map_watch_end(struct bb_map_watch *watch);

/* False after a page was lost. Bytes that were read or written before this call were the file's if
 * it returns true. */
bool bb_map_watch_is_sound(const struct bb_map_watch *watch);

#endif
