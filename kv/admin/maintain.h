/* Requested work, for closing. */
#ifndef BB_KV_ADMIN_MAINTAIN_H
#define BB_KV_ADMIN_MAINTAIN_H

#include "kv/store/store.h"

/* Called by the leader. When this returns, everything written is in tables. */
BB_MUST_CHECK enum bb_status bb_maintain_flush_led(struct bb_db *db);

#endif
