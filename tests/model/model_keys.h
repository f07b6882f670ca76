/* What the parts of the model test share. */
#ifndef BB_TESTS_MODEL_MODEL_KEYS_H
#define BB_TESTS_MODEL_MODEL_KEYS_H

#include "tests/model/model_store.h"

#define MODEL_KEY_SIZE_MAX 64

struct model_key {
    uint8_t data[MODEL_KEY_SIZE_MAX];
    size_t size;
};

/* One of the key space; the bytes stand in *key. */
struct bb_bytes model_draw_key(struct model *model, struct model_key *key);
/* The key of a number, which is taken modulo the key space. */
void model_key_number(const struct model *model, uint64_t number, struct model_key *key);
/* Now (NULL), or one of the snapshots. */
const struct bb_snapshot *model_draw_snapshot(struct model *model, uint64_t *ret_sequence);

/* Ends the process with the store's message unless status is BB_OK. */
void model_must(const struct model *model, enum bb_status status, const char *what);
/* Ends the process: store and oracle differ. */
void model_differ(const struct model *model, const char *what) __attribute__((noreturn));
uint64_t model_compaction_count(const struct model *model);
/* Everything, both directions, as of now. */
void model_compare_now(struct model *model);
/* Nothing that was written so far may be lost from here on. */
void model_set_durable(struct model *model);

#endif
