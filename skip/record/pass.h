/* One pass through a record: a format finds the requested attributes.
 *
 * A reader has a pass per format, and per separator of fields. A pass gives every slot a field, in
 * any order; setting a slot makes the field's text a value of the attribute's type. Threads: one.
 */
#ifndef BB_SKIP_RECORD_PASS_H
#define BB_SKIP_RECORD_PASS_H

#include "skip/record/definition.h"
#include "skip/record/scratch.h"
#include "skip/record/time_memo.h"

/* An attribute that a pass has to find. */
struct bb_slot {
    const struct bb_definition *definition;
    size_t attribute; /* its number in the schema */
    struct bb_time_memo time;
};

/* A record that is being read. */
struct bb_record {
    struct bb_bytes key;
    struct bb_bytes value;
    struct bb_bytes line; /* the value without its line end */
    struct bb_scratch *scratch;
    struct bb_attribute *attributes;
};

/* The result: a text, if the state is PRESENT. */
struct bb_field {
    enum bb_attribute_state state;
    struct bb_bytes text;
};

struct bb_pass {
    const struct bb_pass_type *type;
    struct bb_slot *slots; /* owned */
    size_t slot_count;     /* at least 1 */
    void *state;           /* the type's own, owned */
};

struct bb_pass_type {
    /* Whether both can be found in one pass. */
    bool (*shares)(const struct bb_definition *a, const struct bb_definition *b);
    /* Prepares pass->state; may sort the slots. NULL: the format has no state. */
    enum bb_status (*prepare)(struct bb_pass *pass);
    void (*read)(struct bb_pass *pass, struct bb_record *record);
    /* Releases pass->state, which may be NULL. NULL: no release is needed. */
    void (*release)(struct bb_pass *pass);
};

/* Sets the attribute of the slot to the text, as its type reads it. The text counts if the state is
 * PRESENT. */
void bb_pass_slot_set_text(struct bb_slot *slot, struct bb_record *record,
                           enum bb_attribute_state state, struct bb_bytes text);

/* WHY inline: a field passed as a whole is copied by loads that are wider than the stores that made
 * it, and each such copy waits for the stores. */
static inline void bb_slot_set(struct bb_slot *slot, struct bb_record *record,
                               struct bb_field field)
{
    bb_pass_slot_set_text(slot, record, field.state, field.text);
}

static inline struct bb_field bb_field_without(enum bb_attribute_state state)
{
    return (struct bb_field){.state = state};
}

static inline struct bb_field bb_field_of(const uint8_t *data, const uint8_t *end)
{
    return (struct bb_field){BB_ATTRIBUTE_PRESENT, {data, (size_t)(end - data)}};
}

#endif
