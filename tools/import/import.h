/* The output of an import: a new store, which exists completely or not at all.
 *
 *     begin (put)* end;   after a failure, end removes the unfinished store
 */
#ifndef BB_TOOLS_IMPORT_IMPORT_H
#define BB_TOOLS_IMPORT_IMPORT_H

#include "tools/import/place.h"
#include "tools/output/output.h"
#include "tools/output/progress.h"
#include "tools/store/store_options.h"

struct import {
    struct store_options store;
    struct output out;
    struct progress progress; /* the source adds the number of bytes read */
    /* At work. */
    struct import_place place;
    struct bb_db *db;
    struct bb_batch *batch;
    uint64_t records;
    uint64_t bytes; /* of keys and values */
    uint64_t start; /* of the clock */
    uint64_t nanoseconds;
    /* Of a LevelDB. */
    json_t *source; /* NULL: no message; owned */
};

/* BB_EXISTS if the directory is not empty. total: bytes of the source for the progress bar, 0:
 * unknown. */
BB_MUST_CHECK enum bb_status import_begin(struct import *import, const char *directory,
                                          uint64_t total);
BB_MUST_CHECK enum bb_status import_put(struct import *import, struct bb_bytes key,
                                        struct bb_bytes value);
/* status: the result up to now. After BB_OK all entries are in tables, durably, and the store is
 * closed and has its name. Otherwise the unfinished store is removed, and the same status is
 * returned. BB_BUSY after Ctrl-C. */
BB_MUST_CHECK enum bb_status import_end(struct import *import, enum bb_status status);

/* The sources. Each begins and ends the import. */
BB_MUST_CHECK enum bb_status import_leveldb(struct import *import, const char *source,
                                            const char *directory);
BB_MUST_CHECK enum bb_status import_text(struct import *import, const char *source,
                                         const char *directory);
BB_MUST_CHECK enum bb_status import_json(struct import *import, const char *source,
                                         const char *directory);

#endif
