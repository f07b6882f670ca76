/* Verification for a caller that holds the store's lock itself. */
#ifndef BB_KV_ADMIN_STORE_VERIFY_H
#define BB_KV_ADMIN_STORE_VERIFY_H

#include "bb/db_files.h"

/* bb_db_verify without the lock. options: resolved. */
BB_MUST_CHECK enum bb_status bb_store_verify_locked(struct bb_file_system *fs, const char *path,
                                                    const struct bb_db_options *options,
                                                    struct bb_db_verify_report *ret_report);

#endif
