/* Where a value is in a JSON text: $.a."b c"[0]. Constant once it is made. */
#ifndef BB_SKIP_RECORD_JSON_PATH_H
#define BB_SKIP_RECORD_JSON_PATH_H

#include "skip/record/definition_text.h"

struct bb_json_step {
    bool is_index; /* of an array; else a key of an object */
    uint64_t index;
    struct bb_bytes key; /* without escapes, in the path's allocation */
};

/* One allocation, owned: bb_free. No step at all is the whole text. */
struct bb_json_path {
    size_t count;
    struct bb_json_step steps[];
};

BB_MUST_CHECK enum bb_status bb_json_path_parse(struct bb_definition_text *text,
                                                struct bb_json_path **ret_path);
/* Appends the canonical text. */
BB_MUST_CHECK enum bb_status bb_json_path_print(const struct bb_json_path *path,
                                                struct bb_buf *buf);

bool bb_json_path_step_equal(const struct bb_json_step *a, const struct bb_json_step *b);

#endif
