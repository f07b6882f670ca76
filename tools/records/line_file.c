/* See line_file.h. */
#include "tools/records/line_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "tools/records/caret.h"

enum bb_status line_file_path(const char *path, struct bb_buf *ret_path)
{
    /* A missing file is named by the path that the user typed. */
    char *real = realpath(path, NULL);
    const char *found = real != NULL ? real : path;
    enum bb_status status = bb_buf_assign(ret_path, bb_bytes_of(found, strlen(found) + 1));
    free(real);
    return status;
}

static enum bb_status add_given(struct bb_schema *schema, const struct option_texts *given)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < given->count && status == BB_OK; i++) {
        status = bb_schema_add(schema, given->values[i]);
        if (status == BB_INVALID)
            caret_show(given->values[i]);
    }
    return status == BB_EXISTS ? bb_fail(BB_INVALID, "%s", bb_error_last()->message) : status;
}

static enum bb_status add_indexed(struct bb_schema *schema, const struct bb_schema *indexed)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < bb_schema_count(indexed) && status == BB_OK; i++) {
        size_t number = 0;
        struct bb_bytes name = bb_bytes_of_text(bb_schema_name(indexed, i));
        if (bb_schema_find(schema, name, &number) != BB_OK)
            status = bb_schema_add(schema, bb_schema_definition(indexed, i));
    }
    return status;
}

enum bb_status line_file_schema(const struct bb_lines *lines, const struct option_texts *given,
                                struct bb_schema **ret_schema)
{
    struct bb_schema *schema = NULL;
    enum bb_status status = bb_schema_create(&schema);
    if (status == BB_OK)
        status = add_given(schema, given);
    if (status == BB_OK && lines != NULL && bb_lines_schema(lines) != NULL)
        status = add_indexed(schema, bb_lines_schema(lines));
    if (status == BB_OK) {
        *ret_schema = schema;
        return BB_OK;
    }
    struct bb_error failure = *bb_error_last();
    bb_schema_destroy(schema);
    return bb_error_restore(&failure);
}
