/* The internals of a schema, for readers of records. */
#ifndef BB_SKIP_RECORD_SCHEMA_H
#define BB_SKIP_RECORD_SCHEMA_H

#include "skip/record/definition.h"

/* Definitions and callbacks keep their addresses while the schema lives. */
struct bb_schema {
    struct bb_definition **definitions;
    size_t count;
    struct bb_callback **callbacks;
    size_t callback_count;
};

/* After a failure because of an unknown name: adds the names of the attributes to its message. */
BB_MUST_CHECK enum bb_status bb_schema_tell_names(const struct bb_schema *schema);
/* The same as bb_schema_verbatim for the text of an integer: its digits after the sign and leading
 * zeros. */
enum bb_verbatim bb_schema_number_verbatim(const struct bb_schema *schema, size_t attribute,
                                           uint8_t *ret_escape);
/* bb_format.byte_before of an attribute. */
uint8_t bb_schema_byte_before(const struct bb_schema *schema, size_t attribute);

#endif
