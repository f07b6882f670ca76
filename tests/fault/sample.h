/* A killed store, to be damaged: with tables of several levels, a partly synced log, and a foreign
 * file; and its expected contents. */
#ifndef BB_TESTS_FAULT_SAMPLE_H
#define BB_TESTS_FAULT_SAMPLE_H

#include "tests/fault/photo.h"
#include "tests/support/store.h"

#define SAMPLE_LOGGED  12 /* commits that are in the log, the others are in tables */
#define SAMPLE_COMMITS (300 + SAMPLE_LOGGED)

struct sample {
    struct bb_file_memory *memory;
    struct photo photo; /* of its directory, STORE_PATH */
};

/* first: number of the first commit, so that two samples have different contents. */
struct sample sample_create(uint64_t seed, uint32_t first);
void sample_destroy(struct sample *sample);

/* For a store from the sample with first 0: is every key as commit `count` left it? With
 * may_be_corrupt a read may fail with BB_CORRUPT instead. */
bool sample_shows(struct bb_db *db, uint32_t count, bool may_be_corrupt);
/* The state after some commit that is in the log, or the last one before. */
bool sample_shows_prefix(struct bb_db *db);

/* The suffix of a name, which determines the kind of a file: ".wal", ".bbt", or the whole name. */
const char *sample_suffix(const char *file);

#endif
