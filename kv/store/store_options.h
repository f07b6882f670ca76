/* The options of an open store, from its caller and its manifest. */
#ifndef BB_KV_STORE_STORE_OPTIONS_H
#define BB_KV_STORE_STORE_OPTIONS_H

#include "kv/store/store.h"

/* Takes the stored options over where the caller gave none. Called once per opening, after the
 * manifest was read and before tables and memtables are made. db->stored_options is what the
 * manifest is to have from then on. Errors: BB_INVALID when given and stored options contradict
 * each other. */
BB_MUST_CHECK enum bb_status bb_store_options_take(struct bb_db *db,
                                                   const struct bb_stored_options *stored);

#endif
