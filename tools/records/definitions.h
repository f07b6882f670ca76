/* Attributes and indexes as the command line defines them: of a store, or for one selection. */
#ifndef BB_TOOLS_RECORDS_DEFINITIONS_H
#define BB_TOOLS_RECORDS_DEFINITIONS_H

#include "bb/select.h"
#include "tools/command/options.h"

/* Failures that a definition has caused are shown on stderr with a caret, and are BB_INVALID: the
 * command line is wrong. */

/* "NAME TYPE = EXTRACTOR". An attribute that the store already has with the same definition is no
 * failure if may_exist. */
BB_MUST_CHECK enum bb_status definitions_add_attribute(struct bb_db *db, const char *definition,
                                                       bool may_exist);
BB_MUST_CHECK enum bb_status definitions_drop_attribute(struct bb_db *db, const char *name);

/* "tokens(agent)" or "NAME = tokens(agent)"; without a name it is called agent_tokens. ret_name is
 * appended to, terminated; NULL: not needed. may_exist as above. */
BB_MUST_CHECK enum bb_status definitions_add_index(struct bb_db *db, const char *text,
                                                   bool may_exist, struct bb_buf *ret_name);
BB_MUST_CHECK enum bb_status definitions_drop_index(struct bb_db *db, const char *name);

/* The store's schema with more attributes. Owned: bb_schema_destroy. */
BB_MUST_CHECK enum bb_status definitions_schema(struct bb_db *db, const struct option_texts *more,
                                                struct bb_schema **ret_schema);

#endif
