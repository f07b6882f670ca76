/* The last edit of a store's manifest: it records that the store was closed and where its logs end.
 * It saves work at the next opening, and reveals a log that was truncated or replaced.
 *
 * Threads: the leader of the commit queue, without workers.
 */
#ifndef BB_KV_OPEN_CLOSE_NOTE_H
#define BB_KV_OPEN_CLOSE_NOTE_H

#include "kv/store/store.h"

/* Writes the note, except when the store is cleanly closed already and unchanged, when it is read
 * only, or when a log or the manifest has failed. REQUIRES: all logs were synced, and no write
 * follows. */
BB_MUST_CHECK enum bb_status bb_close_note_write(struct bb_db *db);

#endif
