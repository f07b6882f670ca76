/* Reads the attributes of an index file from records, for a proof. It uses the caller's schema, or
 * makes a schema of the definitions in the file.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_CHECK_PROOF_READER_H
#define BB_SKIP_CHECK_PROOF_READER_H

#include "skip/file/skip_file.h"

struct bb_proof_reader {
    struct bb_schema *own_schema;    /* owned, or NULL */
    const struct bb_schema *schema;  /* borrowed */
    struct bb_record_reader *reader; /* owned */
    struct bb_attribute *attributes; /* owned: of the latest record, in the schema's order */
    size_t *numbers;                 /* owned: the schema's number of each attribute of the file */
};

/* schema: must have the file's attributes; NULL: the reader makes a schema of their definitions.
 * The file and the schema are borrowed until bb_proof_reader_deinit, which must be called after a
 * failure too. BB_INVALID, BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_proof_reader_init(struct bb_proof_reader *reader,
                                                  const struct bb_skip_file *file,
                                                  const struct bb_schema *schema);
/* A zeroed reader is allowed. */
void bb_proof_reader_deinit(struct bb_proof_reader *reader);

BB_MUST_CHECK enum bb_status bb_proof_reader_read(struct bb_proof_reader *reader,
                                                  struct bb_bytes key, struct bb_bytes value);

/* An attribute of the latest record, by its number in the file. */
static inline const struct bb_attribute *bb_proof_reader_get(const struct bb_proof_reader *reader,
                                                             size_t attribute)
{
    return &reader->attributes[reader->numbers[attribute]];
}

#endif
