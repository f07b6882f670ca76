/* Attributes of records for people and programs.
 *
 *           number  -0.5, 18446744073709551615     TSV, JSON
 *           f64     the shortest text that reads back to it; nan, inf, -inf (JSON: as strings)
 *           time    2015-05-17T10:05:03.123Z, fraction without trailing zeros (JSON: a string)
 *           bytes   TSV: escaped as everywhere; JSON: a string, or digits under NAME_hex
 *           NULL    TSV: \N, which no escaped text is; JSON: null. Missing and malformed too
 */
#ifndef BB_TOOLS_RECORDS_ATTRIBUTE_TEXT_H
#define BB_TOOLS_RECORDS_ATTRIBUTE_TEXT_H

#include "bb/record.h"
#include "tools/output/output.h"

/* "2015-05-17T10:05:03.123Z" */
struct time_text {
    char text[40];
};
struct time_text time_text_of(int64_t nanoseconds);
/* With nine digits of the fraction, so that texts are ordered as times are. */
struct time_text time_text_fixed(int64_t nanoseconds);

void attribute_write_tsv(struct output *out, const struct bb_attribute *attribute);
/* "NAME": VALUE */
void attribute_write_json(struct output *out, const char *name,
                          const struct bb_attribute *attribute);
/* "NAME": "...", or "NAME_hex": "..." when the bytes are not UTF-8. */
void bytes_write_json(struct output *out, const char *name, struct bb_bytes bytes);

#endif
