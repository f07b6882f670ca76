/* CURRENT: the one file that is replaced. It says which manifest is in force.
 *
 *     "MANIFEST-" digits "\n"      a name of the grammar (kv/manifest/filename.h) and a newline, nothing
 * else
 *
 * Threads: one at a time for one store.
 */
#ifndef BB_KV_MANIFEST_CURRENT_H
#define BB_KV_MANIFEST_CURRENT_H

#include "base/file.h"

/* BB_NOT_FOUND: there is none. BB_CORRUPT: it is not exactly one name of a manifest and a newline.
 */
BB_MUST_CHECK enum bb_status bb_current_read(struct bb_file_system *fs, const char *directory,
                                             uint64_t *ret_number);

/* Puts the manifest in force. REQUIRES: its bytes are synced. With BB_OK that is durable, and so is
 * every name that was in the directory before. A failure leaves open which manifest is in force. */
BB_MUST_CHECK enum bb_status bb_current_publish(struct bb_file_system *fs, const char *directory,
                                                uint64_t number);

#endif
