/* The formats of records, by the names of their extractors. Constant. */
#ifndef BB_SKIP_RECORD_FORMATS_H
#define BB_SKIP_RECORD_FORMATS_H

#include "skip/record/definition.h"

extern const struct bb_format bb_format_key;
extern const struct bb_format bb_format_value;
extern const struct bb_format bb_format_split;
extern const struct bb_format bb_format_csv;
extern const struct bb_format bb_format_tsv;
extern const struct bb_format bb_format_fixed;
extern const struct bb_format bb_format_clf;
extern const struct bb_format bb_format_json;
extern const struct bb_format bb_format_zeek;
extern const struct bb_format bb_format_logfmt;
extern const struct bb_format bb_format_callback;

/* NULL when no extractor has this name. */
const struct bb_format *bb_format_find(struct bb_bytes name);
/* The names, with commas between them, for messages. */
extern const char bb_format_names[];

/* For the `verbatim` of formats: do the bytes of an attribute appear in the value unchanged?
 * always: yes. never: not reliably. backslash: yes, unless the value contains a backslash. */
enum bb_verbatim bb_formats_verbatim_always(const struct bb_definition *definition,
                                            uint8_t *ret_escape);
enum bb_verbatim bb_formats_verbatim_never(const struct bb_definition *definition,
                                           uint8_t *ret_escape);
enum bb_verbatim bb_formats_verbatim_backslash(const struct bb_definition *definition,
                                               uint8_t *ret_escape);
/* For the `shares` of a format that finds all attributes in one pass. */
bool bb_formats_share_pass(const struct bb_definition *a, const struct bb_definition *b);

#endif
