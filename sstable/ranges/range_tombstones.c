/* Cuts range tombstones into fragments, and searches them. See the header.
 *
 * The cut is a sweep over all ends in key order: between two neighbouring ends the set of open
 * tombstones does not change, and forms one fragment.
 */
#include "sstable/ranges/range_tombstones.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/status.h"

/* One end of a tombstone. */
struct end {
    struct bb_bytes key;
    uint64_t sequence;
    const struct bb_comparator *comparator; /* same for all: qsort has no context */
    bool is_low;
};

struct sweep {
    struct bb_range_tombstone_builder list;
    struct end *ends;
    size_t end_count;
    uint64_t *open; /* sequences of the open tombstones, oldest first; may repeat */
    size_t open_count;
    bool is_seen; /* keep only sequences visible at these snapshots, or now */
    const uint64_t *snapshots;
    size_t snapshot_count;
};

static int compare_ends(const void *a, const void *b)
{
    const struct end *x = a;
    const struct end *y = b;
    int order = bb_key_compare(x->comparator, x->key, y->key);
    return order != 0 ? order : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static enum bb_status sort_ends(struct sweep *sweep, const struct bb_range_tombstone *tombstones,
                                size_t count)
{
    sweep->ends = bb_alloc_zeroed(2 * count + 1, sizeof(*sweep->ends));
    sweep->open = bb_alloc_zeroed(count + 1, sizeof(*sweep->open));
    if (sweep->ends == NULL || sweep->open == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu range tombstones", count);
    for (size_t i = 0; i < count; i++) {
        const struct bb_range_tombstone *t = &tombstones[i];
        sweep->ends[2 * i] = (struct end){t->low, t->sequence, sweep->list.comparator, true};
        sweep->ends[2 * i + 1] = (struct end){t->high, t->sequence, sweep->list.comparator, false};
    }
    sweep->end_count = 2 * count;
    qsort(sweep->ends, sweep->end_count, sizeof(*sweep->ends), compare_ends);
    return BB_OK;
}

/* The number of elements below `number`, in an ascending array. */
static size_t count_below(const uint64_t *numbers, size_t count, uint64_t number)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void pass_end(struct sweep *sweep, const struct end *end)
{
    size_t place = count_below(sweep->open, sweep->open_count, end->sequence);
    uint64_t *at = sweep->open + place;
    if (end->is_low) {
        memmove(at + 1, at, (sweep->open_count - place) * sizeof(*at));
        *at = end->sequence;
        sweep->open_count++;
    } else {
        BB_ASSERT(place < sweep->open_count && *at == end->sequence);
        sweep->open_count--;
        memmove(at, at + 1, (sweep->open_count - place) * sizeof(*at));
    }
}

/* The number of open sequences to check after this one: the older ones. With snapshots, only those
 * that the newest snapshot before this sequence can see; 0 if no such snapshot exists. */
static size_t count_older(const struct sweep *sweep, uint64_t sequence)
{
    if (!sweep->is_seen)
        return count_below(sweep->open, sweep->open_count, sequence);
    size_t older = count_below(sweep->snapshots, sweep->snapshot_count, sequence);
    if (older == 0)
        return 0;
    return count_below(sweep->open, sweep->open_count, sweep->snapshots[older - 1] + 1);
}

/* Adds a fragment of the open sequences, newest first, without duplicates. */
static enum bb_status add_fragment(struct sweep *sweep, struct bb_bytes low, struct bb_bytes high)
{
    enum bb_status status = BB_OK;
    size_t left = sweep->open_count;
    while (left > 0 && status == BB_OK) {
        uint64_t sequence = sweep->open[left - 1];
        status = bb_range_tombstone_builder_add_sequence(&sweep->list, sequence);
        left = count_older(sweep, sequence);
    }
    return status == BB_OK ? bb_range_tombstone_builder_add_fragment(&sweep->list, low, high)
                           : status;
}

static enum bb_status run_sweep(struct sweep *sweep)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < sweep->end_count && status == BB_OK; i++) {
        const struct end *end = &sweep->ends[i];
        bool is_at_new_key =
            i > 0 && bb_key_compare(sweep->list.comparator, end[-1].key, end->key) != 0;
        if (is_at_new_key && sweep->open_count > 0)
            status = add_fragment(sweep, end[-1].key, end->key);
        pass_end(sweep, end);
    }
    return status;
}

/* ---- building a list ---- */

struct bb_range_piece {
    struct bb_bytes low;
    struct bb_bytes high;
    size_t first; /* of its sequences */
    size_t count;
};

static const struct bb_range_piece *pieces_of(const struct bb_range_tombstone_builder *list)
{
    return (const struct bb_range_piece *)(const void *)list->pieces.data;
}

static size_t piece_count(const struct bb_range_tombstone_builder *list)
{
    return list->pieces.size / sizeof(struct bb_range_piece);
}

static const uint64_t *sequences_of(const struct bb_range_tombstone_builder *list)
{
    return (const uint64_t *)(const void *)list->sequences.data;
}

void bb_range_tombstone_builder_deinit(struct bb_range_tombstone_builder *list)
{
    bb_buf_deinit(&list->pieces);
    bb_buf_deinit(&list->sequences);
}

enum bb_status bb_range_tombstone_builder_add_sequence(struct bb_range_tombstone_builder *list,
                                                       uint64_t sequence)
{
    if (list->sequences.size / sizeof(sequence) == list->sequence_count_max)
        return bb_fail(BB_TOO_LARGE, "range tombstones that overlap more than %zu times",
                       list->sequence_count_max);
    return bb_buf_append(&list->sequences, &sequence, sizeof(sequence));
}

/* True when the piece starts where the last one ends, with the same sequences. */
static bool continues_last(const struct bb_range_tombstone_builder *list,
                           const struct bb_range_piece *piece)
{
    size_t count = piece_count(list);
    if (count == 0)
        return false;
    const struct bb_range_piece *last = pieces_of(list) + count - 1;
    const uint64_t *sequences = sequences_of(list);
    return last->count == piece->count &&
           bb_key_compare(list->comparator, last->high, piece->low) == 0 &&
           memcmp(sequences + last->first, sequences + piece->first,
                  piece->count * sizeof(*sequences)) == 0;
}

enum bb_status bb_range_tombstone_builder_add_fragment(struct bb_range_tombstone_builder *list,
                                                       struct bb_bytes low, struct bb_bytes high)
{
    size_t end = list->sequences.size / sizeof(uint64_t);
    struct bb_range_piece piece = {
        .low = low, .high = high, .first = list->taken, .count = end - list->taken};
    BB_ASSERT(piece.count > 0);
    if (continues_last(list, &piece)) {
        uint8_t *after = list->pieces.data + list->pieces.size;
        ((struct bb_range_piece *)(void *)after)[-1].high = high;
        list->sequences.size = piece.first * sizeof(uint64_t);
        return BB_OK;
    }
    list->taken = end;
    return bb_buf_append(&list->pieces, &piece, sizeof(piece));
}

static struct bb_bytes copy_key(uint8_t **p, struct bb_bytes key)
{
    struct bb_bytes copy = bb_bytes_of(*p, key.size);
    if (key.size > 0)
        memcpy(*p, key.data, key.size);
    *p += key.size;
    return copy;
}

static size_t key_bytes(const struct bb_range_piece *pieces, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += pieces[i].low.size + pieces[i].high.size;
    return size;
}

/* One allocation: the list, its fragments, their sequences, their keys. A fragment that begins at
 * the end of the previous one shares its key. */
static void fill(struct bb_range_tombstones *list, const struct bb_range_piece *pieces,
                 const uint64_t *sequences)
{
    struct bb_range_tombstone_fragment *fragments =
        (struct bb_range_tombstone_fragment *)(void *)(list + 1);
    uint64_t *copies = (uint64_t *)(void *)(fragments + list->count);
    uint8_t *p = (uint8_t *)(copies + list->sequence_count);
    if (list->sequence_count > 0)
        memcpy(copies, sequences, list->sequence_count * sizeof(*copies));
    for (size_t i = 0; i < list->count; i++) {
        const struct bb_range_piece *piece = &pieces[i];
        bool is_shared = i > 0 && bb_bytes_equal(fragments[i - 1].high, piece->low);
        fragments[i].low = is_shared ? fragments[i - 1].high : copy_key(&p, piece->low);
        fragments[i].high = copy_key(&p, piece->high);
        fragments[i].sequences = copies + piece->first;
        fragments[i].count = piece->count;
    }
    list->fragments = fragments;
}

enum bb_status bb_range_tombstone_builder_finish(const struct bb_range_tombstone_builder *list,
                                                 struct bb_range_tombstones **ret_list)
{
    const struct bb_range_piece *pieces = pieces_of(list);
    size_t count = piece_count(list);
    size_t sequence_count = list->taken;
    size_t size = sizeof(struct bb_range_tombstones) +
                  count * sizeof(struct bb_range_tombstone_fragment) +
                  sequence_count * sizeof(uint64_t) + key_bytes(pieces, count);
    struct bb_range_tombstones *made = bb_alloc(size);
    if (made == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu range tombstones", sequence_count);
    *made = (struct bb_range_tombstones){.comparator = list->comparator,
                                         .count = count,
                                         .sequence_count = sequence_count,
                                         .memory_size = size};
    fill(made, pieces, sequences_of(list));
    *ret_list = made;
    return BB_OK;
}

static enum bb_status create(struct sweep *sweep, const struct bb_range_tombstone *tombstones,
                             size_t count, struct bb_range_tombstones **ret_list)
{
    enum bb_status status = sort_ends(sweep, tombstones, count);
    if (status == BB_OK)
        status = run_sweep(sweep);
    if (status == BB_OK)
        status = bb_range_tombstone_builder_finish(&sweep->list, ret_list);
    bb_free(sweep->ends);
    bb_free(sweep->open);
    bb_range_tombstone_builder_deinit(&sweep->list);
    return status;
}

enum bb_status bb_range_tombstones_create(const struct bb_range_tombstone *tombstones, size_t count,
                                          const struct bb_comparator *comparator,
                                          size_t sequence_count_max,
                                          struct bb_range_tombstones **ret_list)
{
    struct sweep sweep = {
        .list = {.comparator = comparator, .sequence_count_max = sequence_count_max}};
    return create(&sweep, tombstones, count, ret_list);
}

enum bb_status bb_range_tombstones_create_seen(const struct bb_range_tombstone *tombstones,
                                               size_t count, const struct bb_comparator *comparator,
                                               const uint64_t *snapshots, size_t snapshot_count,
                                               struct bb_range_tombstones **ret_list)
{
    struct sweep sweep = {.list = {.comparator = comparator, .sequence_count_max = SIZE_MAX},
                          .is_seen = true,
                          .snapshots = snapshots,
                          .snapshot_count = snapshot_count};
    return create(&sweep, tombstones, count, ret_list);
}

void bb_range_tombstones_destroy(struct bb_range_tombstones *list)
{
    bb_free(list);
}

/* ---- searching ---- */

size_t bb_range_tombstones_find(const struct bb_range_tombstones *list, struct bb_bytes key)
{
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bb_key_compare(list->comparator, list->fragments[middle].high, key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The index of the newest sequence of at most `sequence`; count if none exists. */
static size_t find_newest(const struct bb_range_tombstone_fragment *fragment, uint64_t sequence)
{
    size_t low = 0;
    size_t high = fragment->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fragment->sequences[middle] > sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t bb_range_tombstone_fragment_newest(const struct bb_range_tombstone_fragment *fragment,
                                            uint64_t sequence)
{
    size_t newest = find_newest(fragment, sequence);
    return newest == fragment->count ? 0 : fragment->sequences[newest];
}

bool bb_range_tombstones_cover(const struct bb_range_tombstones *list, struct bb_bytes key,
                               uint64_t sequence, uint64_t *ret_covering)
{
    size_t index = bb_range_tombstones_find(list, key);
    if (index == list->count ||
        bb_key_compare(list->comparator, list->fragments[index].low, key) > 0)
        return false;
    const struct bb_range_tombstone_fragment *fragment = &list->fragments[index];
    size_t newest = find_newest(fragment, sequence);
    if (newest == fragment->count)
        return false;
    *ret_covering = fragment->sequences[newest];
    return true;
}

uint64_t bb_range_tombstones_covering(const struct bb_range_tombstones *list, struct bb_bytes key,
                                      uint64_t sequence)
{
    uint64_t covering = 0;
    (void)bb_range_tombstones_cover(list, key, sequence, &covering);
    return covering;
}

/* ---- collecting ---- */

void bb_range_tombstone_array_deinit(struct bb_range_tombstone_array *array)
{
    bb_free(array->tombstones);
    *array = (struct bb_range_tombstone_array){0};
}

enum bb_status bb_range_tombstone_array_add(struct bb_range_tombstone_array *array,
                                            struct bb_bytes low, struct bb_bytes high,
                                            uint64_t sequence)
{
    enum bb_status status = bb_array_reserve(&array->tombstones, array->count, &array->capacity,
                                             sizeof(*array->tombstones), "range tombstones");
    if (status == BB_OK)
        array->tombstones[array->count++] = (struct bb_range_tombstone){low, high, sequence};
    return status;
}

enum bb_status bb_range_tombstone_array_add_list(struct bb_range_tombstone_array *array,
                                                 const struct bb_range_tombstones *list)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < list->count; i++) {
        const struct bb_range_tombstone_fragment *fragment = &list->fragments[i];
        for (size_t j = 0; j < fragment->count && status == BB_OK; j++)
            status = bb_range_tombstone_array_add(array, fragment->low, fragment->high,
                                                  fragment->sequences[j]);
    }
    return status;
}
