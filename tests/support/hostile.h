/* Tables of wrong bytes for a decoder: each row describes one damage, and has the damaged bytes.
 *
 * The bytes of a sound object are a list of fields, in hexadecimal digits. A case replaces the
 * bytes of one field. hostile_check then requires of the decoder that it
 *
 *   - reads the sound object,
 *   - refuses every case with BB_CORRUPT,
 *   - refuses the object cut after each of its bytes, also inside of bytes with a length.
 *
 * Each decoding gets a block of exactly its size, so that AddressSanitizer finds reads beyond it.
 *
 *     digits     "01 ff", spaces do not count; "a5*192" is a byte 192 times; "'name'" its letters
 *     lengths    the fields "(" and ")" enclose bytes that follow their varint length
 */
#ifndef BB_TESTS_SUPPORT_HOSTILE_H
#define BB_TESTS_SUPPORT_HOSTILE_H

#include "bb/base.h"

struct hostile_field {
    const char *name; /* "(", ")" and, at the end of the list, NULL */
    const char *digits;
    bool may_end_before; /* the object is also whole without this field and those after it */
};

struct hostile_case {
    const char *wrong; /* a description of the damage; NULL ends the list */
    const char *field;
    const char *digits;
};

/* Decodes, and releases the decoded object. */
typedef enum bb_status (*hostile_decode)(struct bb_bytes bytes, const void *context);

/* answer: words of the message of every refusal; NULL if the decoder writes none. */
void hostile_check(const struct hostile_field *fields, const struct hostile_case *cases,
                   hostile_decode decode, const void *context, const char *answer);

/* The bytes of the object, in an allocated block of their size, with one field replaced. Without a
 * case the sound one. The caller releases them with hostile_free. */
struct bb_bytes hostile_bytes(const struct hostile_field *fields, const struct hostile_case *one);
void hostile_free(struct bb_bytes bytes);

#endif
