/* A command's results: text for people or JSON for programs, on standard output.
 *
 * Written through a private buffer, because stdio loses the reason of a failed write: a closed pipe
 * (`| head`) ends the command quietly, a full disk does not. Sticky: after a failure all further
 * output is dropped, and output_finish reports it. Threads: one.
 */
#ifndef BB_TOOLS_OUTPUT_OUTPUT_H
#define BB_TOOLS_OUTPUT_OUTPUT_H

#include <jansson.h>

#include "base/status.h"

struct output {
    bool is_json; /* set by --json */
    bool has_failed;
    int error_number;  /* of the failed write; 0: out of memory */
    uint64_t size_max; /* output beyond it is dropped; 0: no limit */
    uint64_t size;
    bool is_cut; /* by size_max */
    struct bb_buf pending;
};

void output_write(struct output *out, struct bb_bytes bytes);
void output_print(struct output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Bytes of a key or value: escaped, or as hexadecimal digits. */
void output_bytes(struct output *out, struct bb_bytes bytes, bool is_hex);
/* The document, indented, and a newline. Takes the reference; NULL counts as out of memory. */
void output_json(struct output *out, json_t *document);
/* The same on one line without the newline: for streams of many. */
void output_json_compact(struct output *out, json_t *document);
/* Is more output of no use, because writing failed or the limit is reached? */
static inline bool output_is_over(const struct output *out)
{
    return out->has_failed || out->is_cut;
}
/* Writes pending output to the system now. */
void output_flush(struct output *out);

/* Flushes and releases. Errors: why writing failed, if not for a closed pipe. */
BB_MUST_CHECK enum bb_status output_end(struct output *out);

/* Sets name to the bytes as a string when they are UTF-8, else name_hex to their hexadecimal
 * digits: JSON has no other bytes than text. */
void json_set_bytes(json_t *object, const char *name, struct bb_bytes bytes);
/* Bytes of a key or value: with is_hex (`--hex`) as name_hex, even if they are UTF-8. */
void json_set_shown(json_t *object, const char *name, struct bb_bytes bytes, bool is_hex);
/* Counters are below 2^63. */
void json_set_count(json_t *object, const char *name, uint64_t value);
void json_set_real(json_t *object, const char *name, double value);
void json_set_text(json_t *object, const char *name, const char *value);
void json_set_bool(json_t *object, const char *name, bool value);
/* Sixteen hexadecimal digits: for numbers that use all their bits. */
void json_set_hex64(json_t *object, const char *name, uint64_t value);

#endif
