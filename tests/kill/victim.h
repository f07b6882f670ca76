/* The process that is killed: it has a store open, and threads that write, ingest and make
 * checkpoints until the kill.
 *
 * Each writer numbers its writes 1, 2, ... and puts write n under its key n % VICTIM_KEYS: the keys
 * of a writer show up to which number its writes have survived, and whether there is a hole. One
 * writer puts batches, an ingest replaces all of its keys. Acknowledged numbers are in memory
 * shared with the killer. */
#ifndef BB_TESTS_KILL_VICTIM_H
#define BB_TESTS_KILL_VICTIM_H

#include <stdatomic.h>

#include "bb/db_files.h"

#define VICTIM_WRITERS     4
#define VICTIM_KEYS        300
#define VICTIM_BATCH       4 /* writes of a batch; the last writer puts these */
#define VICTIM_INGEST_KEYS 24
#define VICTIM_KEY_SIZE    24
#define VICTIM_VALUE_SIZE  1024

/* Shared between the processes. */
struct victim_record {
    _Atomic uint64_t acknowledged[VICTIM_WRITERS];
    _Atomic uint64_t ingested;
    _Atomic uint64_t checkpoints; /* complete ones; the number of the last one */
    /* The acknowledged writes at the start of checkpoint number n, in place n % 2. */
    uint64_t checkpoint_floor[2][VICTIM_WRITERS];
    _Atomic uint64_t failures; /* of any thread */
};

struct victim_plan {
    const char *place; /* a directory, for the store and its checkpoints */
    uint64_t seed;
};

/* The path of the store (number 0) or of a checkpoint, in a buffer of PATH_MAX. */
const char *victim_path(const struct victim_plan *plan, uint64_t checkpoint, char *buffer);
struct bb_db_options victim_options(uint64_t seed);
/* Bytes in the buffers. */
struct bb_bytes victim_key(uint32_t writer, uint64_t number, char *buffer);
struct bb_bytes victim_ingest_key(uint32_t number, char *buffer);
struct bb_bytes victim_value(uint64_t number, char *buffer);

/* Opens the store and runs all threads. Does not return; the killer ends the process. */
_Noreturn void victim_run(const struct victim_plan *plan, struct victim_record *record);

#endif
