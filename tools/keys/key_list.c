/* See key_list.h. */
#include "tools/keys/key_list.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/status.h"

void key_list_deinit(struct key_list *list)
{
    bb_buf_deinit(&list->text);
    bb_buf_deinit(&list->ends);
    list->count = 0;
}

static enum bb_status add_key(struct key_list *list, struct bb_bytes key)
{
    enum bb_status status = bb_buf_append(&list->text, key.data, key.size);
    size_t end = list->text.size;
    if (status == BB_OK)
        status = bb_buf_append(&list->ends, &end, sizeof(end));
    if (status == BB_OK)
        list->count++;
    return status;
}

enum bb_status key_list_read(struct key_list *list, struct key_reader *reader)
{
    enum bb_status status = BB_OK;
    while (status == BB_OK) {
        struct key_record record = {0};
        status = key_reader_next(reader, &record);
        if (status == BB_OK)
            status = add_key(list, record.key);
    }
    return status == BB_NOT_FOUND ? BB_OK : status;
}

enum bb_status key_list_read_file(struct key_list *list, const char *path, bool is_hex)
{
    char *copy = bb_strdup(path);
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a path");
    struct key_reader reader;
    key_reader_init(&reader, &copy, 1);
    reader.is_hex = is_hex;
    enum bb_status status = key_list_read(list, &reader);
    key_reader_deinit(&reader);
    bb_free(copy);
    return status;
}

static size_t end_of(const struct key_list *list, size_t i)
{
    size_t end = 0;
    memcpy(&end, list->ends.data + i * sizeof(end), sizeof(end));
    return end;
}

struct bb_bytes key_list_get(const struct key_list *list, size_t i)
{
    size_t start = i == 0 ? 0 : end_of(list, i - 1);
    size_t end = end_of(list, i);
    /* A list of empty keys has no text. */
    return bb_bytes_of(start == end ? NULL : list->text.data + start, end - start);
}

enum bb_status key_order_as_read(size_t count, size_t **ret_order)
{
    size_t *order = bb_alloc_zeroed(count == 0 ? 1 : count, sizeof(*order));
    if (order == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the order of %zu keys", count);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    *ret_order = order;
    return BB_OK;
}

enum bb_status key_order_shuffle(size_t count, uint64_t seed, size_t **ret_order)
{
    size_t *order = NULL;
    enum bb_status status = key_order_as_read(count, &order);
    if (status != BB_OK)
        return status;
    /* Fisher and Yates; the numbers are a counter, mixed. */
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)(bb_hash_mix(bb_hash_mix(seed) + i) % i);
        size_t other = order[i - 1];
        order[i - 1] = order[j];
        order[j] = other;
    }
    *ret_order = order;
    return BB_OK;
}
