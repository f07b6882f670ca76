/* A store under one set of options, and a number for each operation that depends on all that the
 * operation showed. Failures of the store end the process. */
#ifndef BB_TESTS_MODEL_TRANSCRIPT_H
#define BB_TESTS_MODEL_TRANSCRIPT_H

#include "tests/model/option_sets.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

struct transcript {
    const struct option_set *set;
    uint64_t seed;
    struct bb_rng rng; /* only draws the operations: the store has no influence on it */
    struct bb_file_memory *memory;
    struct bb_db_options options;
    struct bb_db *db;
    struct bb_snapshot *snapshot; /* or NULL */
    uint64_t operation;           /* number of the next one */
    uint64_t hash;                /* of the results of the current operation */
};

void transcript_init(struct transcript *transcript, const struct option_set *set, uint64_t seed);
/* Draws and executes the next operation; the hash of its results. */
uint64_t transcript_step(struct transcript *transcript);
/* Verifies and releases the store. Gives a hash of all of its contents. */
uint64_t transcript_deinit(struct transcript *transcript);

#endif
