/* See array_iter.h. */
#include "tests/support/array_iter.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tests/support/must_alloc.h"

struct array_iter {
    struct bb_iter iter; /* first: a bb_iter is an array_iter */
    const struct bb_entry *entries;
    size_t count;
    const struct bb_comparator *comparator;
    size_t position; /* of the entry shown */
    uint8_t *key;    /* copies of it, each in a block of just its size */
    uint8_t *value;
    unsigned steps;    /* taken before the seek that must follow */
    bool has_steps;    /* more may be taken */
    uint8_t *approach; /* a copy of the key of that seek; NULL if no step was taken */
    struct bb_entry approached;
    uint64_t moves;
    uint64_t moves_until_failure; /* 0: never */
    enum bb_status failure;
};

static struct array_iter *array_of(struct bb_iter *iter)
{
    return (struct array_iter *)iter;
}

static int compare(const struct bb_comparator *comparator, const struct bb_entry *a,
                   const struct bb_entry *b)
{
    int order = bb_key_compare(comparator, a->key, b->key);
    return order != 0 ? order : (a->sequence < b->sequence) - (a->sequence > b->sequence);
}

static uint8_t *copy(struct bb_bytes bytes)
{
    uint8_t *block = bb_must_realloc(NULL, bytes.size);
    if (bytes.size > 0)
        memcpy(block, bytes.data, bytes.size);
    return block;
}

static void forget(struct array_iter *array)
{
    free(array->key);
    free(array->value);
    array->key = NULL;
    array->value = NULL;
    array->iter.is_valid = false;
    array->iter.entry = (struct bb_entry){0};
}

/* Ends the steps before a seek. */
static void end_approach(struct array_iter *array)
{
    free(array->approach);
    array->approach = NULL;
    array->steps = 0;
}

/* True when the planned failure has come. */
static bool count_move(struct array_iter *array)
{
    BB_ASSERT(array->approach == NULL);
    array->moves++;
    if (array->moves_until_failure == 0 || --array->moves_until_failure > 0)
        return false;
    forget(array);
    array->iter.status = bb_fail(array->failure, "the test lets move %llu of a stream fail",
                                 (unsigned long long)array->moves);
    return true;
}

/* Shows the entry at a position; count and everything beyond is the end. */
static void show(struct array_iter *array, size_t position)
{
    forget(array);
    array->iter.status = BB_OK;
    array->position = position;
    if (position >= array->count)
        return;
    const struct bb_entry *entry = &array->entries[position];
    array->key = copy(entry->key);
    array->value = copy(entry->value);
    array->iter.entry = *entry;
    array->iter.entry.key.data = array->key;
    array->iter.entry.value.data = array->value;
    array->iter.is_valid = true;
}

static void seek_first(struct bb_iter *iter)
{
    if (!count_move(array_of(iter)))
        show(array_of(iter), 0);
}

static void seek_last(struct bb_iter *iter)
{
    struct array_iter *array = array_of(iter);
    if (!count_move(array))
        show(array, array->count == 0 ? 0 : array->count - 1);
}

static void seek(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    struct array_iter *array = array_of(iter);
    const struct bb_entry wanted = {.key = key, .sequence = sequence};
    size_t position = 0;
    BB_ASSERT(array->approach == NULL || (bb_bytes_equal(array->approached.key, key) &&
                                          array->approached.sequence == sequence));
    end_approach(array);
    if (count_move(array))
        return;
    while (position < array->count &&
           compare(array->comparator, &array->entries[position], &wanted) < 0)
        position++;
    show(array, position);
}

/* Streams of different length take 0 to 3 steps. */
bool bb_array_iter_approach(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence,
                            unsigned step)
{
    struct array_iter *array = array_of(iter);
    BB_ASSERT(step == array->steps && (step == 0 || array->has_steps));
    if (step == 0) {
        array->approach = copy(key);
        array->approached = (struct bb_entry){.key = {.data = array->approach, .size = key.size},
                                              .sequence = sequence};
    }
    BB_ASSERT(bb_bytes_equal(array->approached.key, key));
    forget(array);
    array->steps++;
    array->has_steps = step < array->count % 4;
    return array->has_steps;
}

static void next(struct bb_iter *iter)
{
    struct array_iter *array = array_of(iter);
    BB_ASSERT(iter->is_valid);
    if (!count_move(array))
        show(array, array->position + 1);
}

static void prev(struct bb_iter *iter)
{
    struct array_iter *array = array_of(iter);
    BB_ASSERT(iter->is_valid);
    if (!count_move(array))
        show(array, array->position == 0 ? array->count : array->position - 1);
}

static void destroy(struct bb_iter *iter)
{
    forget(array_of(iter));
    end_approach(array_of(iter));
    free(iter);
}

struct bb_iter *bb_array_iter_create(const struct bb_entry *entries, size_t count,
                                     const struct bb_comparator *comparator)
{
    static const struct bb_iter_ops ops = {.destroy = destroy,
                                           .seek_first = seek_first,
                                           .seek_last = seek_last,
                                           .seek = seek,
                                           .next = next,
                                           .prev = prev};
    struct array_iter *array = bb_must_alloc_zeroed(sizeof(*array));
    array->iter.ops = &ops;
    array->entries = entries;
    array->count = count;
    array->comparator = comparator;
    for (size_t i = 1; i < count; i++)
        BB_ASSERT(compare(comparator, &entries[i - 1], &entries[i]) < 0);
    return &array->iter;
}

void bb_array_iter_fail(struct bb_iter *iter, uint64_t nth, enum bb_status status)
{
    array_of(iter)->moves_until_failure = nth;
    array_of(iter)->failure = status;
}

uint64_t bb_array_iter_moves(const struct bb_iter *iter)
{
    return ((const struct array_iter *)iter)->moves;
}

void bb_array_iter_sort(struct bb_entry *entries, size_t count,
                        const struct bb_comparator *comparator)
{
    /* By insertion: arrays of tests are short, and qsort has no place for the comparator. */
    for (size_t i = 1; i < count; i++) {
        struct bb_entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && compare(comparator, &entry, &entries[at - 1]) < 0; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}
