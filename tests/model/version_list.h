/* All versions of all keys of an oracle, read once for several scans: in order of keys,
 * and of a key the newest first. */
#ifndef BB_TESTS_MODEL_VERSION_LIST_H
#define BB_TESTS_MODEL_VERSION_LIST_H

#include "base/buf.h"

struct version {
    size_t first; /* index of the key's newest version */
    size_t key_offset;
    size_t key_size;
    uint64_t sequence;
    bool is_present; /* not a deletion */
    size_t value_offset;
    size_t value_size;
};

struct version_list {
    struct version *versions; /* owned */
    size_t count;
    size_t capacity;
    struct bb_buf bytes; /* of keys and values */
};

void version_list_deinit(struct version_list *list);
void version_list_reset(struct version_list *list);
/* Appends the next version. value NULL: a deletion. */
void version_list_add(struct version_list *list, struct bb_bytes key, uint64_t sequence,
                      const struct bb_bytes *value);

/* Borrowed until the list changes. */
struct bb_bytes version_list_key(const struct version_list *list, size_t index);
struct bb_bytes version_list_value(const struct version_list *list, size_t index);

/* The index of the newest version up to the sequence of the key whose newest version is number
 * `first`; SIZE_MAX if no version qualifies. *ret_end: the index after the key's last version. */
size_t version_list_newest(const struct version_list *list, size_t first, uint64_t sequence,
                           size_t *ret_end);

#endif
