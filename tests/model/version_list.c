/* See version_list.h. */
#include "tests/model/version_list.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "tests/support/must_alloc.h"

void version_list_deinit(struct version_list *list)
{
    free(list->versions);
    bb_buf_deinit(&list->bytes);
    *list = (struct version_list){0};
}

void version_list_reset(struct version_list *list)
{
    list->count = 0;
    bb_buf_reset(&list->bytes);
}

static size_t append(struct version_list *list, struct bb_bytes bytes)
{
    size_t offset = list->bytes.size;
    if (bb_buf_append(&list->bytes, bytes.data, bytes.size) != BB_OK)
        abort();
    return offset;
}

void version_list_add(struct version_list *list, struct bb_bytes key, uint64_t sequence,
                      const struct bb_bytes *value)
{
    size_t last = list->count - 1;
    bool is_older = list->count > 0 && bb_bytes_equal(version_list_key(list, last), key);
    list->versions =
        bb_must_grow(list->versions, list->count, &list->capacity, sizeof(*list->versions));
    struct version *version = &list->versions[list->count++];
    *version = (struct version){.sequence = sequence, .is_present = value != NULL};
    version->first = is_older ? list->versions[last].first : list->count - 1;
    version->key_size = key.size;
    version->key_offset = is_older ? list->versions[last].key_offset : append(list, key);
    if (value != NULL) {
        version->value_offset = append(list, *value);
        version->value_size = value->size;
    }
}

struct bb_bytes version_list_key(const struct version_list *list, size_t index)
{
    const struct version *version = &list->versions[index];
    return bb_bytes_of(list->bytes.data + version->key_offset, version->key_size);
}

struct bb_bytes version_list_value(const struct version_list *list, size_t index)
{
    const struct version *version = &list->versions[index];
    return bb_bytes_of(list->bytes.data + version->value_offset, version->value_size);
}

size_t version_list_newest(const struct version_list *list, size_t first, uint64_t sequence,
                           size_t *ret_end)
{
    size_t newest = SIZE_MAX;
    size_t at = first;
    for (; at < list->count && list->versions[at].first == first; at++) {
        if (newest == SIZE_MAX && list->versions[at].sequence <= sequence)
            newest = at;
    }
    *ret_end = at;
    return newest;
}
