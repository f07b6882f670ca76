/* The writes to a store, commit by commit: small enough to compare every state of it completely.
 *
 * Keys are numbers below HISTORY_KEYS. A value names the sequence that wrote it and is padded to
 * its size. A commit that returned an error has used up its sequences; it may be present, whole,
 * until another one follows, and then is gone for good.
 */
#ifndef BB_TESTS_CRASH_HISTORY_H
#define BB_TESTS_CRASH_HISTORY_H

#include "bb/db.h"

#define HISTORY_KEYS 24

struct history_operation {
    uint32_t key;
    bool is_put;
    uint32_t value_size;
    uint32_t high_key; /* not 0: all keys from key up to it, exclusive, are deleted */
};

/* Operations from the previous commit's end up to `end`. */
struct history_commit {
    uint64_t end; /* its last sequence */
    bool has_failed;
};

struct history {
    struct history_operation *operations; /* the i-th has sequence i + 1 */
    size_t operation_count;
    size_t operation_capacity;
    struct history_commit *commits; /* the begun ones, ascending; without the empty store */
    size_t commit_count;
    size_t commit_capacity;
    uint64_t acknowledged; /* commits up to here have returned */
    uint64_t durable;      /* commits up to here have returned durably */
};

void history_deinit(struct history *history);
/* A commit is about to be written; its operations follow one another in sequence. */
void history_begin(struct history *history, const struct history_operation *operations,
                   size_t count);
/* The commit that was begun last, if any, was acknowledged. is_durable: and everything so far is
 * safe from loss of power. */
void history_end(struct history *history, bool is_durable);
/* The commit that was begun last returned an error. */
void history_fail(struct history *history);

/* key: at least 16 bytes. */
struct bb_bytes history_key(uint32_t key, char *buffer);
/* The value that operation `sequence` wrote; buffer has space for its size. */
struct bb_bytes history_value(const struct history *history, uint64_t sequence, uint8_t *buffer);

/* Compares everything in the store with the state after `sequence`; 0, or 1 with the first
 * difference in message. */
int history_compare(const struct history *history, uint64_t sequence, struct bb_db *db,
                    char *message, size_t size);
/* Is it the end of a commit (or 0)? */
bool history_is_commit(const struct history *history, uint64_t sequence);

#endif
