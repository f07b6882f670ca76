/* A store whose opening found no disk space: it waits for space.
 *
 * It has the lock, and shows the same as a read-only opening (kv/readonly/read_only_snapshot.h). No
 * written file is current, so the directory is unchanged. The next write or maintenance call
 * repeats the opening, as in kv/open/opening.h, and fails with BB_NO_SPACE if there is still no
 * space. See docs/durability.md, "Opening without space".
 */
#ifndef BB_KV_OPEN_RESUME_H
#define BB_KV_OPEN_RESUME_H

#include "base/status.h"
#include "kv/store/store.h"

/* Shows the store in its state before the opening. REQUIRES: the calling thread's latest failure
 * comes from an opening that found no space and was undone. On failure it remains the latest. */
BB_MUST_CHECK enum bb_status bb_resume_wait_for_space(struct bb_db *db);

#endif
