/* CURRENT: the only file that is replaced. It names the current manifest.
 *
 *     "MANIFEST-" digits "\n"      exactly a name of the grammar (kv/manifest/filename.h) and a
 *                                  newline
 *
 * Threads: one at a time per store.
 */
#ifndef BB_KV_MANIFEST_CURRENT_H
#define BB_KV_MANIFEST_CURRENT_H

#include "base/file.h"

/* Errors: BB_NOT_FOUND when there is no CURRENT. BB_CORRUPT when it is not exactly a manifest's
 * name and a newline. */
BB_MUST_CHECK enum bb_status bb_current_read(struct bb_file_system *fs, const char *directory,
                                             uint64_t *ret_number);

/* Makes the manifest current. REQUIRES: its bytes are synced. With BB_OK the change is durable, and
 * so is every name that was in the directory before. After a failure it is unknown which manifest
 * is current. */
BB_MUST_CHECK enum bb_status bb_current_publish(struct bb_file_system *fs, const char *directory,
                                                uint64_t number);

#endif
