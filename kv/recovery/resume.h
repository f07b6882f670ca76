/* A store that was opened while its disk had no space for what an opening writes: it waits for space.
 *
 * It has the lock, and shows what a read-only opening would (kv/glimpse.h); nothing has been written
 * that is in force, so the directory is as it was found. Whatever writes or works carries the opening
 * out first, as kv/recovery/open.c does it, and is refused with BB_NO_SPACE when that fails again.
 * docs/durability.md, "Opening without space". */
#ifndef BB_KV_RECOVERY_RESUME_H
#define BB_KV_RECOVERY_RESUME_H

#include "base/status.h"
#include "kv/store.h"

/* The calling thread's latest failure is that of an opening that found no space, and was undone: shows
 * the store as it was found. On failure that stays the latest. */
BB_MUST_CHECK enum bb_status bb_store_wait_for_space(struct bb_db *db);

#endif
