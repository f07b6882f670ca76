/* The allocator of file numbers of a store that is open for writing. All kinds of files draw from
 * one sequence, and a number is given out once: docs/durability.md, R7.
 *
 * Threads: any.
 */
#ifndef BB_KV_FILE_NUMBER_H
#define BB_KV_FILE_NUMBER_H

#include "kv/store.h"

/* A number that was never given out, above all that were. BB_TOO_LARGE: none is left. */
BB_MUST_CHECK enum bb_status bb_store_new_file_number(struct bb_db *db, uint64_t *ret_number);

#endif
