/* What the parts of the model test share. */
#ifndef BB_TESTS_MODEL_MODEL_KEYS_H
#define BB_TESTS_MODEL_MODEL_KEYS_H

#include "tests/model/model_store.h"

/* Ends the process with the store's message unless status is BB_OK. */
void model_must(const struct model *model, enum bb_status status, const char *what);
/* Ends the process: store and oracle differ. */
void model_differ(const struct model *model, const char *what) __attribute__((noreturn));
/* Nothing that was written so far may be lost from here on. */
void model_set_durable(struct model *model);

#endif
