/* Fields between separators, without quotes: the pass that split, tsv and zeek share. */
#ifndef BB_SKIP_RECORD_SEPARATED_H
#define BB_SKIP_RECORD_SEPARATED_H

#include "skip/record/pass.h"

/* Converts the text of a field, as it is in the record, to the field. zeek decodes escapes. */
typedef struct bb_field (*bb_separated_reading)(struct bb_record *record, struct bb_bytes text);

/* Prepares a pass whose slots have definition->field and the same definition->separator. */
BB_MUST_CHECK enum bb_status bb_separated_prepare(struct bb_pass *pass);
void bb_separated_release(struct bb_pass *pass);
/* Gives the slots their fields; reading is called once for each field, and may be NULL. */
void bb_separated_read(struct bb_pass *pass, struct bb_record *record,
                       bb_separated_reading reading);

/* Sorts slots by definition->field. */
void bb_separated_sort_slots(struct bb_slot *slots, size_t count);
/* Sets the slot `first` and all slots after it that want the same field. Returns the number of the
 * next slot. */
size_t bb_separated_set_field(const struct bb_pass *pass, size_t first, struct bb_record *record,
                              struct bb_field field);

/* Prints definition->field. */
BB_MUST_CHECK enum bb_status bb_separated_print_field(const struct bb_definition *definition,
                                                      struct bb_buf *buf);
/* Looks up the name of a column: reads "NAME, 'HEADER'" of a definition. Columns are separated by
 * any of the bytes of separators; with_quotes: HEADER is a row of CSV. */
BB_MUST_CHECK enum bb_status bb_separated_parse_column(struct bb_definition_text *text,
                                                       const char *separators, bool with_quotes,
                                                       uint64_t *ret_field);

#endif
