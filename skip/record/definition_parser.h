/* Definitions as text: reading, checking, canonical form. Threads: any. */
#ifndef BB_SKIP_RECORD_DEFINITION_PARSER_H
#define BB_SKIP_RECORD_DEFINITION_PARSER_H

#include "skip/record/definition.h"

/* Reads the definition up to its end. callbacks: of the schema. The result is owned by the caller:
 * bb_definition_destroy. */
BB_MUST_CHECK enum bb_status bb_definition_create(struct bb_bytes text,
                                                  struct bb_callback *const *callbacks,
                                                  size_t callback_count,
                                                  struct bb_definition **ret_definition);
void bb_definition_destroy(struct bb_definition *definition);

#endif
