/* The last edit of a store's manifest: it was closed, and its logs end there. The next opening needs no
 * more than it finds, and notices a log that has lost its end or got another one.
 *
 * Threads: the leader of the commit queue, without workers. */
#ifndef BB_KV_RECOVERY_CLOSE_NOTE_H
#define BB_KV_RECOVERY_CLOSE_NOTE_H

#include "kv/store.h"

/* REQUIRES: all logs were synced, and nothing is written to them afterwards. Notes nothing where the
 * store is at rest as it was found, is read only, or where a log or the manifest has failed. */
BB_MUST_CHECK enum bb_status bb_close_note_write(struct bb_db *db);

#endif
