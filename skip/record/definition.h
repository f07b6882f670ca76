/* An attribute of a schema: name, type and how it is found.
 *
 * Constant once it is made: any thread reads it.
 */
#ifndef BB_SKIP_RECORD_DEFINITION_H
#define BB_SKIP_RECORD_DEFINITION_H

#include "bb/record.h"
#include "skip/record/definition_text.h"
#include "skip/record/time_format.h"

struct bb_format;

/* A callback that a program registered under a name. */
struct bb_callback {
    char *name;
    bb_record_callback function;
    void *context;
};

struct bb_definition {
    char *name;
    char *text; /* canonical */
    enum bb_attribute_type type;
    struct bb_time_format time; /* of TIME */
    const struct bb_format *format;
    /* The parsed arguments; a format sets only its own. */
    uint64_t field;    /* number of a field, from 1; clf's from 0; offset of fixed */
    uint64_t size;     /* bytes of fixed */
    int form;          /* of fixed */
    uint8_t separator; /* split, csv, tsv, zeek */
    bool has_quotes;   /* split, csv */
    void *path;        /* json, logfmt: one allocation, owned */
    const struct bb_callback *callback;
};

/* A format of records. A single scan of a record finds all attributes of one format that share
 * it. */
struct bb_format {
    const char *name; /* of the extractor, in definitions */
    bool has_arguments;
    /* Reads the arguments, between the brackets, into definition, whose type is set. May allocate
     * definition->path, also when it fails. NULL without arguments. */
    enum bb_status (*parse)(struct bb_definition_text *text, struct bb_definition *definition);
    /* Appends the arguments in canonical form. */
    enum bb_status (*print)(const struct bb_definition *definition, struct bb_buf *buf);
    /* Of attributes of bytes, and of the digits of integers. */
    enum bb_verbatim (*verbatim)(const struct bb_definition *definition, uint8_t *ret_escape);
    /* The byte before the text of each attribute, in the value; 0: none, or unknown. NULL: always
     * unknown. */
    uint8_t (*byte_before)(const struct bb_definition *definition);
    const struct bb_pass_type *pass_type;
};

#endif
