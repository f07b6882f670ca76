/* The keys between the lowest and the highest used key, and the number of tables across them. */
#ifndef BB_TESTS_MODEL_MODEL_SPANS_H
#define BB_TESTS_MODEL_MODEL_SPANS_H

#include "tests/model/model_store.h"

struct model_span {
    struct bb_buf least;
    struct bb_buf greatest;
    bool is_started;
};

void model_span_add(struct model *model, struct model_span *span, struct bb_bytes key);
/* Live tables with keys at an end of the span or inside, counted up to two. */
size_t model_span_tables(struct model *model, const struct model_span *span);
void model_span_deinit(struct model_span *span);

#endif
