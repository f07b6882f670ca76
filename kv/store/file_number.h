/* Allocates file numbers for a store that is open for writing. All kinds of files share one
 * sequence, and a number is used only once: docs/durability.md, R7.
 *
 * Threads: any.
 */
#ifndef BB_KV_STORE_FILE_NUMBER_H
#define BB_KV_STORE_FILE_NUMBER_H

#include "kv/store/store.h"

/* Returns an unused number, above all used ones. Errors: BB_TOO_LARGE when all numbers are used
 * up. */
BB_MUST_CHECK enum bb_status bb_file_number_new(struct bb_db *db, uint64_t *ret_number);

#endif
