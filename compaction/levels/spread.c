/* See spread.h. */
#include "compaction/levels/spread.h"

#include <math.h>

#include "base/bytes.h"

/* The run with most tables is a measure only between keys with this number of its tables. */
#define TABLES_MIN 4

/* The number of bytes that are read as a number. */
#define BYTES_MAX 8

/* Characters that a byte of keys usually has. */
struct alphabet {
    /* One or two intervals of characters; an empty second one has count 0. */
    int first[2];
    int count[2];
};
static const struct alphabet alphabets[] = {
    {.first = {'0'}, .count = {10}},
    {.first = {'a'}, .count = {26}},
    {.first = {'0', 'a'}, .count = {10, 6}},
    {.first = {0}, .count = {256}},
};

/* The bytes of a key; MISSING after its end. */
#define MISSING (-1)

static int byte_at(struct bb_bytes key, size_t i)
{
    return i < key.size ? key.data[i] : MISSING;
}

/* The character's place in the alphabet. */
static int place_in(const struct alphabet *alphabet, int byte)
{
    int place = 0;
    for (size_t i = 0; i < 2; i++) {
        int after = byte - alphabet->first[i];
        place += after < 0 ? 0 : after < alphabet->count[i] ? after : alphabet->count[i];
    }
    return place;
}

static bool has(const struct alphabet *alphabet, int byte)
{
    for (size_t i = 0; i < 2; i++) {
        if (byte >= alphabet->first[i] && byte - alphabet->first[i] < alphabet->count[i])
            return true;
    }
    return byte == MISSING;
}

/* The first alphabet with all three bytes. */
static const struct alphabet *alphabet_of(int a, int b, int c)
{
    const struct alphabet *alphabet = alphabets;
    while (!has(alphabet, a) || !has(alphabet, b) || !has(alphabet, c))
        alphabet++;
    return alphabet;
}

/* The place of the key between low and high: 0 ... 1. The first bytes that differ are digits of a
 * number, in the alphabet that the keys seem to have. `unknown` is returned if the bytes do not
 * tell. REQUIRES: low <= key <= high, in the order of bytes. */
static double position(struct bb_bytes low, struct bb_bytes high, struct bb_bytes key,
                       double unknown)
{
    size_t shared = bb_bytes_shared_prefix(low, high);
    double unit = 1;
    double place = 0;
    double length = 0;
    for (size_t i = shared; i < shared + BYTES_MAX; i++) {
        int first = byte_at(low, i);
        int last = byte_at(high, i);
        int middle = byte_at(key, i);
        const struct alphabet *alphabet = alphabet_of(first, last, middle);
        int start = place_in(alphabet, first);
        unit /= alphabet->count[0] + alphabet->count[1];
        place += (place_in(alphabet, middle) - start) * unit;
        length += (place_in(alphabet, last) - start) * unit;
    }
    return length <= 0 ? unknown : fmin(1, fmax(0, place / length));
}

/* The number of keys of a run below a key. */
static double rank_of(const struct bb_levels *levels, const struct bb_run *run, struct bb_bytes key)
{
    size_t index = bb_run_find_index(run, levels->comparator, key);
    if (index == run->count)
        return (double)run->key_count;
    const struct bb_table_file *file = run->files[index];
    struct bb_bytes low = bb_table_file_smallest(file);
    double before = (double)run->keys_before[index];
    if (bb_bytes_compare(key, low) <= 0)
        return before;
    return before +
           (double)file->meta.key_count * position(low, bb_table_file_largest(file), key, 0);
}

static const struct bb_run *longest_run(const struct bb_levels *levels)
{
    const struct bb_run *longest = NULL;
    for (size_t i = 0; i < levels->turn_count; i++) {
        const struct bb_run *run = levels->turns[i].run;
        longest = longest == NULL || run->count > longest->count ? run : longest;
    }
    return longest;
}

/* Like position, but measured by the tables of the longest run if enough of them are between low
 * and high. */
static double place_of(const struct bb_levels *levels, struct bb_bytes low, struct bb_bytes high,
                       struct bb_bytes key, double unknown)
{
    size_t first = 0;
    size_t end = 0;
    const struct bb_run *run = longest_run(levels);
    if (run != NULL && run->count >= TABLES_MIN)
        bb_run_find_overlap(run, levels->comparator, low, high, &first, &end);
    if (end - first < TABLES_MIN)
        return position(low, high, key, unknown);
    double least = rank_of(levels, run, low);
    double most = rank_of(levels, run, high);
    return most <= least ? unknown : (rank_of(levels, run, key) - least) / (most - least);
}

double bb_spread_share(const struct bb_levels *levels, const struct bb_hull *hull,
                       struct bb_bytes low, struct bb_bytes high)
{
    const struct bb_comparator *comparator = levels->comparator;
    if (!hull->has_any || bb_key_compare(comparator, hull->high, low) < 0 ||
        bb_key_compare(comparator, high, hull->low) < 0)
        return 0;
    if (comparator != NULL)
        return 1;
    double begin =
        bb_bytes_compare(hull->low, low) <= 0 ? 0 : place_of(levels, low, high, hull->low, 0);
    double end =
        bb_bytes_compare(high, hull->high) <= 0 ? 1 : place_of(levels, low, high, hull->high, 1);
    return end > begin ? end - begin : 0;
}

static double table_keys(const struct bb_levels *levels, const struct bb_hull *hull,
                         const struct bb_table_file *file)
{
    return (double)file->meta.key_count *
           bb_spread_share(levels, hull, bb_table_file_smallest(file), bb_table_file_largest(file));
}

/* Only the first and the last table of the overlap can have keys outside. */
double bb_spread_run_keys(const struct bb_levels *levels, const struct bb_hull *hull,
                          const struct bb_run *run)
{
    size_t first = 0;
    size_t end = 0;
    bb_hull_find_overlap(hull, run, &first, &end);
    if (first == end)
        return 0;
    double keys = table_keys(levels, hull, run->files[first]);
    if (end - first == 1)
        return keys;
    return keys + table_keys(levels, hull, run->files[end - 1]) +
           (double)(run->keys_before[end - 1] - run->keys_before[first + 1]);
}

double bb_spread_keys(const struct bb_levels *levels, const struct bb_hull *hull)
{
    double keys = 0;
    for (size_t i = 0; i < levels->turn_count; i++)
        keys += bb_spread_run_keys(levels, hull, levels->turns[i].run);
    return keys;
}
