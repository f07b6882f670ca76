/* Turns a frozen memtable into a table of level 0. */
#ifndef BB_KV_BACKGROUND_FLUSH_H
#define BB_KV_BACKGROUND_FLUSH_H

#include "kv/store/store.h"

/* Called by the flushing worker. Flushes the oldest frozen buffer, makes that durable and visible,
 * and removes its log. */
BB_MUST_CHECK enum bb_status bb_flush_oldest(struct bb_db *db);

#endif
