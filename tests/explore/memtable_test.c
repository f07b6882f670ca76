/* Goal: a reader of a memtable sees every entry that was published before its call, and no entry
 * that is incomplete. Method: all executions of kv/memtable/ and bloomblock/table/memory_filter.c
 * with a writer and readers, in small programs: one for each way in which an add changes the
 * tree. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_node.h"
#include "kv/memtable/memtable_ranges.h"
#include "tests/explore/explore.h"

struct scene {
    struct bb_memtable *memtable;
    _Atomic uint64_t published; /* as the last sequence of a store */
};
static struct scene *scene;

/* ---- one writer ---- */

/* The hash of a test's key: different tags, and different bits of the filter. */
static uint64_t hash_of(struct bb_bytes key)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < key.size; i++)
        hash = (hash ^ key.data[i]) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 31;
}

static void add_kind(enum bb_entry_kind kind, const char *key, uint64_t sequence, const char *value)
{
    struct bb_entry entry = {.key = bb_bytes_of_text(key),
                             .sequence = sequence,
                             .kind = kind,
                             .value = bb_bytes_of_text(value)};
    explore_check(bb_memtable_add(scene->memtable, &entry, hash_of(entry.key)) == BB_OK,
                  "an add failed");
}

static void add(const char *key, uint64_t sequence, const char *value)
{
    add_kind(BB_ENTRY_PUT, key, sequence, value);
    atomic_store_explicit(&scene->published, sequence, memory_order_release);
}

static void make_scene(void)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    explore_check(bb_memtable_create(NULL, 32 * 1024, &scene->memtable) == BB_OK, "no memtable");
}

static void add_numbered(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%04u", i * 2);
        add(key, i + 1, "v");
    }
}

/* Two keys, in a leaf that is the root. */
static void make_small(void)
{
    make_scene();
    add("a", 1, "v1");
    add("c", 2, "v2");
}

/* A full leaf: the next key in its middle splits it. */
static void make_full_leaf(void)
{
    make_scene();
    add_numbered(0, BB_MEMTABLE_SLOTS);
}

/* A root over two leaves, of which the second is full: the next split copies the root. */
static void make_full_last_leaf(void)
{
    make_full_leaf();
    add("k0001", 1000, "v");
    add_numbered(1000, 1000 + BB_MEMTABLE_SLOTS / 2 - 1);
}

/* Two levels of inner nodes, and a full leaf: the next key in its middle copies the inner node over
 * it, which is published in the root. */
static void make_tall(void)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    explore_check(bb_memtable_create(NULL, 200 * 1024, &scene->memtable) == BB_OK, "no memtable");
    add_numbered(0, 35 * BB_MEMTABLE_SLOTS);
}

/* ---- readers ---- */

/* The entry with this sequence, and its value, if it was published; otherwise perhaps. */
static void expect(const char *key_text, uint64_t sequence, const char *value)
{
    struct bb_bytes key = bb_bytes_of_text(key_text);
    struct bb_bytes found = {0};
    enum bb_entry_kind kind = BB_ENTRY_PUT;
    uint64_t found_sequence = 0;
    uint64_t published = atomic_load_explicit(&scene->published, memory_order_acquire);
    enum bb_status status = bb_memtable_get(scene->memtable, key, hash_of(key), published, &found,
                                            &kind, &found_sequence);
    if (published < sequence)
        return;
    explore_check(status == BB_OK && found_sequence == sequence, "a published entry is not found");
    explore_check(bb_bytes_equal(found, bb_bytes_of_text(value)), "an entry has another value");
}

/* A get that does not wait for the publication: every entry that it finds is complete. */
static void get_early(const char *key_text, const char *value)
{
    struct bb_bytes key = bb_bytes_of_text(key_text);
    struct bb_bytes found = {0};
    enum bb_entry_kind kind = BB_ENTRY_PUT;
    uint64_t sequence = 0;
    enum bb_status status = bb_memtable_get(scene->memtable, key, hash_of(key), UINT64_MAX >> 8,
                                            &found, &kind, &sequence);
    if (status == BB_OK)
        explore_check(bb_bytes_equal(found, bb_bytes_of_text(value)), "an entry has another value");
}

/* ---- a new key ---- */

static void add_b(void)
{
    add("b", 3, "v3");
}

static void expect_b(void)
{
    expect("b", 3, "v3");
}

static void get_b_early(void)
{
    get_early("b", "v3");
}

static void scan_early(void)
{
    struct bb_iter *iter = NULL;
    uint64_t published = atomic_load_explicit(&scene->published, memory_order_acquire);
    unsigned count = 0;
    explore_check(bb_memtable_iter_create(scene->memtable, &iter) == BB_OK, "no iterator");
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        count++;
    explore_check(count >= (published >= 3 ? 3U : 2U) && count <= 3, "a scan misses an entry");
    bb_iter_destroy(iter);
}

static void estimate_early(void)
{
    double share = bb_memtable_share(scene->memtable, bb_bytes_of_text("bb"));
    explore_check(share > 0 && share < 1, "a share out of range");
}

/* The heads of keys while one of them changes. */
static void scan_heads(void)
{
    struct bb_iter *iter = NULL;
    explore_check(bb_memtable_iter_create(scene->memtable, &iter) == BB_OK, "no iterator");
    bb_iter_seek_first(iter);
    explore_check(iter->is_valid && iter->entry.value.data[0] == 'v', "an entry is incomplete");
    bb_iter_destroy(iter);
}

/* ---- a new version ---- */

static void add_version(void)
{
    add("a", 3, "v3");
}

static void expect_version(void)
{
    expect("a", 3, "v3");
}

static void get_old_version(void)
{
    struct bb_bytes key = bb_bytes_of_text("a");
    struct bb_bytes found = {0};
    enum bb_entry_kind kind = BB_ENTRY_PUT;
    uint64_t sequence = 0;
    enum bb_status status =
        bb_memtable_get(scene->memtable, key, hash_of(key), 2, &found, &kind, &sequence);
    explore_check(status == BB_OK && sequence == 1, "an old version disappeared");
    explore_check(bb_bytes_equal(found, bb_bytes_of_text("v1")), "an old version changed");
}

/* ---- splits ---- */

static void split_leaf(void)
{
    add("k0021", 100, "new");
}

static void expect_split(void)
{
    expect("k0021", 100, "new");
}

static void split_leaf_of_tall(void)
{
    add("k0021", 5000, "new");
}

static void expect_split_of_tall(void)
{
    expect("k0021", 5000, "new");
}

static void get_moved(void)
{
    struct bb_bytes key = bb_bytes_of_text("k0050");
    struct bb_bytes found = {0};
    enum bb_entry_kind kind = BB_ENTRY_PUT;
    uint64_t sequence = 0;
    explore_check(bb_memtable_get(scene->memtable, key, hash_of(key), UINT64_MAX >> 8, &found,
                                  &kind, &sequence) == BB_OK,
                  "an entry disappears while its leaf is split");
}

static void split_last_leaf(void)
{
    add("k2011", 3000, "new");
}

static void expect_split_last(void)
{
    expect("k2011", 3000, "new");
}

/* ---- range tombstones ---- */

static void add_range(uint64_t sequence)
{
    add_kind(BB_ENTRY_DELETE_RANGE, "a", sequence, "b");
    atomic_store_explicit(&scene->published, sequence, memory_order_release);
}

/* The next range tombstone makes an index. */
static void make_ranges(void)
{
    make_small();
    for (uint64_t sequence = 3; sequence < 3 + 15; sequence++)
        add_range(sequence);
}

static void add_first_range(void)
{
    add_range(3);
}

static void add_indexed_range(void)
{
    add_range(18);
}

static void expect_covered(void)
{
    struct bb_bytes key = bb_bytes_of_text("a");
    struct bb_bytes found = {0};
    enum bb_entry_kind kind = BB_ENTRY_PUT;
    uint64_t sequence = 0;
    uint64_t published = atomic_load_explicit(&scene->published, memory_order_acquire);
    explore_check(bb_memtable_get(scene->memtable, key, hash_of(key), published, &found, &kind,
                                  &sequence) == BB_OK,
                  "neither the entry nor its deletion is found");
    explore_check(sequence == (published < 3 ? 1 : published), "a range tombstone is not seen");
}

static void list_ranges(void)
{
    struct bb_range_tombstone_array array = {0};
    uint64_t published = atomic_load_explicit(&scene->published, memory_order_acquire);
    explore_check(bb_memtable_ranges_list(scene->memtable, &array) == BB_OK, "no list");
    explore_check(array.count + 2 >= published, "a range tombstone is not listed");
    bb_range_tombstone_array_deinit(&array);
}

static const struct explore_program programs[] = {
    {"a key is added", make_small, {add_b, expect_b}, NULL},
    {"a key is added under a get", make_small, {add_b, get_b_early}, NULL},
    {"a key is added under a scan", make_small, {add_b, scan_early}, NULL},
    {"a key is added under an estimate", make_small, {add_b, estimate_early}, NULL},
    {"a version is added", make_small, {add_version, expect_version}, NULL},
    {"a version is added under a get", make_small, {add_version, get_old_version}, NULL},
    {"a version is added under a scan", make_small, {add_version, scan_heads}, NULL},
    {"a version is added under an estimate", make_small, {add_version, estimate_early}, NULL},
    {"a leaf is split under a scan", make_full_leaf, {split_leaf, scan_heads}, NULL},
    {"a leaf is split", make_full_leaf, {split_leaf, expect_split}, NULL},
    {"a leaf is split under a get", make_full_leaf, {split_leaf, get_moved}, NULL},
    {"the root is copied", make_full_last_leaf, {split_last_leaf, expect_split_last}, NULL},
    {"an inner node is copied", make_tall, {split_leaf_of_tall, expect_split_of_tall}, NULL},
    {"a range tombstone is added", make_small, {add_first_range, expect_covered}, NULL},
    {"a range tombstone is added under a list", make_small, {add_first_range, list_ranges}, NULL},
    {"range tombstones are indexed", make_ranges, {add_indexed_range, expect_covered}, NULL},
};

/* The walk that follows loads the newest range tombstone again; a prefetch reads nothing. */
static const char *const not_needed[] = {
    "has_ranges: load, acquire -> relaxed",
    "prefetch_records: load, acquire -> relaxed",
    NULL,
};

int main(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
