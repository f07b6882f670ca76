/* Shared by the parts of the model test. */
#ifndef BB_TESTS_MODEL_MODEL_KEYS_H
#define BB_TESTS_MODEL_MODEL_KEYS_H

#include "tests/model/model_store.h"

/* A key of the key space; *key has the bytes. */
struct bb_bytes model_draw_key(struct model *model, struct model_key *key);
/* The key of a number, which is taken modulo the key space. */
void model_key_number(const struct model *model, uint64_t number, struct model_key *key);
/* Now (NULL), or one of the snapshots. */
const struct bb_snapshot *model_draw_snapshot(struct model *model, uint64_t *ret_sequence);

/* The same, and other options of reading. */
struct bb_get_options model_draw_get_options(struct model *model, uint64_t *ret_sequence);
/* In the store's order. */
int model_compare(const struct model *model, struct bb_bytes a, struct bb_bytes b);

/* Ends the process with the store's message unless status is BB_OK. */
void model_must(const struct model *model, enum bb_status status, const char *what);
/* Ends the process: store and oracle differ. */
void model_differ(const struct model *model, const char *what) __attribute__((noreturn));
uint64_t model_compaction_count(const struct model *model);
/* Everything, both directions; the store shows the state of that sequence. */
void model_compare_at(struct model *model, uint64_t sequence);
/* A selection of a store that shows the state of that sequence: not only of the model's own. */
void model_compare_selection(struct model *model, struct bb_db *db, uint64_t sequence);
void model_open(struct model *model);
void model_close(struct model *model);
/* True when the process may buffer, or lose in a crash, acknowledged writes. */
bool model_may_lose(const struct model *model);
/* True when a commit ended there, if a crash may return to it. */
bool model_is_commit(const struct model *model, uint64_t sequence);
/* Of finished writes: the possible states after a crash. */
void model_committed(struct model *model, bool sync);
/* No write so far may be lost any more. */
void model_set_durable(struct model *model);

#endif
