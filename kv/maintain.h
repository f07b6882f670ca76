/* Work on request, for closing. */
#ifndef BB_KV_MAINTAIN_H
#define BB_KV_MAINTAIN_H

#include "kv/store.h"

/* The leader's: all that was written is in tables when this returns. */
BB_MUST_CHECK enum bb_status bb_store_flush_led(struct bb_db *db);

#endif
