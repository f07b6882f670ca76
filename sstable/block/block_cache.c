/* See block_cache.h.
 *
 *     shard   mutex | buckets: chain through items | ring: newest .. oldest |
 *             misses: marks of recent misses | counters
 *
 * A cached item has one reference of the cache and one per pin. The last reference destroys it. An
 * item's first pin is added under the shard's mutex, so an item that has only the cache's reference
 * stays unpinned while the mutex is held. Pins are released without it.
 *
 * The ring is a clock (Corbato, 1968): a hit only marks its item as used, and touches no other
 * item. An eviction starts with the oldest item. It moves pinned and used items to the newest end,
 * and clears their mark. Only pins keep a shard above its share: the next insert, or the release of
 * a pin, evicts the surplus.
 *
 * Items are destroyed after the mutex is released, because freeing a block takes longer than
 * everything else here. The capacity counts the items' charge. Not counted: the buckets (16 to 32
 * bytes per item), the marks of misses (4 bytes for 8 KiB).
 *
 * In a forked child, a thread that exists only in the parent may hold a shard's mutex forever. A
 * shard that the child cannot lock immediately is skipped: lookups miss, and inserts are dropped.
 *
 * A miss touches no item: each bucket has 64 bits that show which hashes its chain may have.
 */
#include "sstable/block/block_cache.h"

#include <stdalign.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/prefetch.h"
#include "base/status.h"
#include "base/sync.h"
#include "sstable/block/block_spares.h"
#include "sstable/block/miss_marks.h"

#define SHARD_COUNT_MAX  64
#define SHARD_BYTES_MIN  (256 * 1024)
#define BUCKET_COUNT_MIN 64
#define LARGEST_PART     2 /* the largest item takes 1 / LARGEST_PART of a shard */
/* Limits of one eviction, so that it does not hold the mutex for long. After USED_PASSES_MAX passed
 * items it also evicts marked ones. After PINNED_PASSES_MAX pinned items it ends. */
#define USED_PASSES_MAX            64
#define PINNED_PASSES_MAX          16
#define PINNED_PASSES_MAX_RELEASES 1 /* after the release of a pin */
/* The number of chains that drop_owner handles per hold of a shard's mutex. */
#define DROP_STEP 1024

struct bucket {
    struct bb_cache_item *chain;
    uint64_t hashes; /* bit hash_bit() of each item's hash */
};

struct shard {
    alignas(64) struct bb_mutex mutex; /* on a separate cache line */
    _Atomic(struct bucket *) buckets;  /* bb_block_cache_prefetch takes no mutex */
    _Atomic size_t bucket_count;       /* a power of two */
    struct bb_miss_marks misses;
    size_t item_count;
    /* newer: the oldest item, older: the newest; points to itself when empty. */
    struct bb_cache_item ring;
    /* Where the next eviction reads memory: two lines of the oldest item, one of the next item in
     * the ring, and the bucket. As numbers: they are only prefetched, and may have been freed since
     * the last eviction, which noted them. */
    uintptr_t victim[4];
    uint64_t share_bytes;
    uint64_t used_bytes;
    _Atomic bool has_surplus; /* pinned items kept used_bytes above share_bytes */
    uint64_t hits;
    uint64_t miss_total;
    uint64_t evictions;
};

struct bb_block_cache {
    uint64_t capacity_bytes;
    size_t shard_count; /* a power of two */
    _Atomic uint64_t last_owner;
    struct bb_block_spares spares;
    struct shard shards[];
};

/* The place of an item: the upper half of the hash selects the shard, the lower half the chain. */
struct place {
    struct shard *shard;
    uint64_t hash;
};

static struct shard *shard_of(struct bb_block_cache *cache, uint64_t hash)
{
    return &cache->shards[(hash >> 32) & (cache->shard_count - 1)];
}

static struct place place_of(struct bb_block_cache *cache, uint64_t owner, uint64_t offset)
{
    uint64_t hash = bb_hash_mix(offset + owner * UINT64_C(0x9e3779b97f4a7c15));
    return (struct place){shard_of(cache, hash), hash};
}

/* ---- the ring ---- */

static void ring_add_newest(struct shard *shard, struct bb_cache_item *item)
{
    BB_DEBUG_ASSERT(item->newer == NULL && item->older == NULL);
    item->newer = &shard->ring;
    item->older = shard->ring.older;
    item->older->newer = item;
    shard->ring.older = item;
}

static void ring_remove(struct bb_cache_item *item)
{
    BB_DEBUG_ASSERT(item->newer != NULL && item->older != NULL);
    item->newer->older = item->older;
    item->older->newer = item->newer;
    item->newer = NULL;
    item->older = NULL;
}

/* ---- the chains; the shard's mutex is held ---- */

static size_t bucket_count(const struct shard *shard)
{
    return atomic_load_explicit(&shard->bucket_count, memory_order_relaxed);
}

static struct bucket *bucket_of(const struct shard *shard, uint64_t hash)
{
    struct bucket *buckets = atomic_load_explicit(&shard->buckets, memory_order_relaxed);
    return &buckets[hash & (bucket_count(shard) - 1)];
}

static uint64_t hash_bit(uint64_t hash)
{
    return UINT64_C(1) << (hash >> 58);
}

static struct bb_cache_item *find_item(struct place place, uint64_t owner, uint64_t offset)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&place.shard->mutex));
    const struct bucket *bucket = bucket_of(place.shard, place.hash);
    if ((bucket->hashes & hash_bit(place.hash)) == 0)
        return NULL;
    struct bb_cache_item *item = bucket->chain;
    while (item != NULL && (item->offset != offset || item->owner != owner))
        item = item->chain;
    return item;
}

static void chain_add(struct shard *shard, struct bb_cache_item *item)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&shard->mutex));
    struct bucket *bucket = bucket_of(shard, item->hash);
    item->chain = bucket->chain;
    bucket->chain = item;
    bucket->hashes |= hash_bit(item->hash);
}

static void chain_remove(struct shard *shard, struct bb_cache_item *item)
{
    struct bucket *bucket = bucket_of(shard, item->hash);
    struct bb_cache_item **link = &bucket->chain;
    while (*link != item)
        link = &(*link)->chain;
    *link = item->chain;
    bucket->hashes = 0;
    for (const struct bb_cache_item *left = bucket->chain; left != NULL; left = left->chain)
        bucket->hashes |= hash_bit(left->hash);
}

/* Without memory for more buckets the chains grow longer, which is slower but correct. */
static void grow_if_full(struct shard *shard)
{
    size_t old_count = bucket_count(shard);
    BB_DEBUG_ASSERT((old_count & (old_count - 1)) == 0);
    if (shard->item_count < old_count)
        return;
    struct bucket *old = bucket_of(shard, 0);
    struct bucket *grown = bb_alloc_zeroed(old_count * 2, sizeof(*grown));
    if (grown == NULL)
        return;
    atomic_store_explicit(&shard->buckets, grown, memory_order_relaxed);
    atomic_store_explicit(&shard->bucket_count, old_count * 2, memory_order_relaxed);
    for (size_t i = 0; i < old_count; i++) {
        while (old[i].chain != NULL) {
            struct bb_cache_item *item = old[i].chain;
            old[i].chain = item->chain;
            chain_add(shard, item);
        }
    }
    bb_free(old);
}

/* Removes the item from the cache and drops the cache's reference. Without pins, the item goes to
 * the list to destroy. */
static void detach(struct shard *shard, struct bb_cache_item *item, struct bb_cache_item **dead)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&shard->mutex));
    BB_DEBUG_ASSERT(shard->item_count > 0 && shard->used_bytes >= item->charge);
    chain_remove(shard, item);
    ring_remove(item);
    shard->item_count--;
    shard->used_bytes -= item->charge;
    if (atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel) > 1)
        return;
    item->chain = *dead;
    *dead = item;
}

/* Once false it stays false: the mutex is held. */
static bool is_pinned(const struct bb_cache_item *item)
{
    return atomic_load_explicit(&item->references, memory_order_relaxed) > 1;
}

/* Moves the item to the newest end. */
static void pass(struct shard *shard, struct bb_cache_item *item)
{
    item->is_used = false;
    ring_remove(item);
    ring_add_newest(shard, item);
}

/* True when an eviction must pass the item. Counts down the passes that are left. */
static bool is_saved(const struct bb_cache_item *item, size_t *used_passes, size_t *pinned_passes)
{
    if (is_pinned(item)) {
        --*pinned_passes;
        return true;
    }
    if (!item->is_used || *used_passes == 0)
        return false;
    --*used_passes;
    return true;
}

static void note_victim(struct shard *shard)
{
    const struct bb_cache_item *oldest = shard->ring.newer;
    shard->victim[0] = (uintptr_t)&oldest->references;
    shard->victim[1] = (uintptr_t)&oldest->older;
    shard->victim[2] = (uintptr_t)&oldest->newer->older;
    shard->victim[3] = (uintptr_t)bucket_of(shard, oldest->hash);
}

/* These lines arrive while the block that will be inserted is read. */
static void prefetch_victim(const struct shard *shard)
{
    for (size_t i = 0; i < sizeof(shard->victim) / sizeof(shard->victim[0]); i++)
        __builtin_prefetch((const void *)shard->victim[i], 1);
    bb_prefetch_done(shard);
}

static void evict_surplus(struct shard *shard, size_t pinned_passes, struct bb_cache_item **dead)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&shard->mutex));
    size_t used_passes = USED_PASSES_MAX;
    while (shard->used_bytes > shard->share_bytes && pinned_passes > 0) {
        struct bb_cache_item *oldest = shard->ring.newer;
        BB_DEBUG_ASSERT(oldest != &shard->ring);
        if (is_saved(oldest, &used_passes, &pinned_passes)) {
            pass(shard, oldest);
        } else {
            detach(shard, oldest, dead);
            shard->evictions++;
        }
    }
    note_victim(shard);
    atomic_store_explicit(&shard->has_surplus, shard->used_bytes > shard->share_bytes,
                          memory_order_relaxed);
}

/* The mutex is not held. */
static void destroy_list(struct bb_cache_item *dead)
{
    while (dead != NULL) {
        struct bb_cache_item *item = dead;
        dead = item->chain;
        item->destroy(item);
    }
}

/* ---- items ---- */

void bb_block_cache_item_init(struct bb_cache_item *item, void (*destroy)(struct bb_cache_item *),
                              uint64_t charge)
{
    *item = (struct bb_cache_item){.destroy = destroy, .charge = charge};
    atomic_init(&item->references, 1);
}

/* The mutex is held. */
static void pin(struct bb_cache_item *item)
{
    BB_DEBUG_ASSERT(atomic_load_explicit(&item->references, memory_order_relaxed) > 0);
    atomic_fetch_add_explicit(&item->references, 1, memory_order_relaxed);
}

/* An item of the shard lost its last pin. */
static void evict_if_surplus(struct shard *shard)
{
    struct bb_cache_item *dead = NULL;
    if (!atomic_load_explicit(&shard->has_surplus, memory_order_relaxed) ||
        !bb_mutex_enter(&shard->mutex))
        return;
    evict_surplus(shard, PINNED_PASSES_MAX_RELEASES, &dead);
    bb_mutex_unlock(&shard->mutex);
    destroy_list(dead);
}

void bb_block_cache_item_unref(struct bb_cache_item *item)
{
    if (item == NULL)
        return;
    /* The item may be gone as soon as its reference is dropped. */
    struct bb_block_cache *cache = item->cache;
    uint64_t hash = item->hash;
    uint32_t before = atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel);
    if (before == 1)
        item->destroy(item);
    else if (before == 2 && cache != NULL)
        evict_if_surplus(shard_of(cache, hash));
}

/* ---- the cache ---- */

/* WHY small caches have fewer: a shard for a few blocks evicts by chance rather than by age. */
static size_t shard_count_for(uint64_t capacity_bytes)
{
    size_t count = 1;
    while (count < SHARD_COUNT_MAX && capacity_bytes / (count * 2) >= SHARD_BYTES_MIN)
        count *= 2;
    return count;
}

static bool shard_init(struct shard *shard, uint64_t share_bytes)
{
    shard->buckets = bb_alloc_zeroed(BUCKET_COUNT_MIN, sizeof(*shard->buckets));
    if (!bb_miss_marks_init(&shard->misses, share_bytes) || shard->buckets == NULL) {
        bb_free(shard->buckets);
        bb_free(shard->misses.marks);
        return false;
    }
    shard->bucket_count = BUCKET_COUNT_MIN;
    shard->ring.newer = &shard->ring;
    shard->ring.older = &shard->ring;
    shard->share_bytes = share_bytes;
    bb_mutex_init(&shard->mutex);
    return true;
}

/* False when the shard could not be locked. */
static bool shard_clear(struct shard *shard)
{
    struct bb_cache_item *dead = NULL;
    if (!bb_mutex_enter(&shard->mutex))
        return false;
    struct bb_cache_item *item = shard->ring.newer;
    while (item != &shard->ring) {
        struct bb_cache_item *newer = item->newer;
        if (!is_pinned(item))
            detach(shard, item, &dead);
        item = newer;
    }
    bb_mutex_unlock(&shard->mutex);
    destroy_list(dead);
    return true;
}

static void shard_deinit(struct shard *shard)
{
    if (!shard_clear(shard))
        return;
    /* Otherwise an item is still pinned: its user leaked it, or is a thread that does not exist in
     * the forked child. */
    BB_ASSERT(shard->item_count == 0 || bb_mutex_is_inherited(&shard->mutex));
    bb_mutex_deinit(&shard->mutex);
    bb_free(shard->buckets);
    bb_free(shard->misses.marks);
}

enum bb_status bb_block_cache_create(uint64_t capacity_bytes, struct bb_block_cache **ret_cache)
{
    size_t shard_count = shard_count_for(capacity_bytes);
    size_t size = sizeof(struct bb_block_cache) + shard_count * sizeof(struct shard);
    struct bb_block_cache *cache = bb_alloc_aligned(alignof(struct bb_block_cache), size);
    size_t done = 0;
    if (cache != NULL) {
        memset(cache, 0, size);
        while (done < shard_count && shard_init(&cache->shards[done], capacity_bytes / shard_count))
            done++;
        cache->capacity_bytes = capacity_bytes;
        cache->shard_count = done;
    }
    if (done < shard_count) {
        bb_block_cache_destroy(cache);
        return bb_fail(BB_NO_MEMORY, "no memory for a block cache of %zu shards", shard_count);
    }
    *ret_cache = cache;
    return BB_OK;
}

void bb_block_cache_destroy(struct bb_block_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < cache->shard_count; i++)
        shard_deinit(&cache->shards[i]);
    bb_block_spares_deinit(&cache->spares);
    bb_free_aligned(cache);
}

uint64_t bb_block_cache_new_owner(struct bb_block_cache *cache)
{
    return atomic_fetch_add_explicit(&cache->last_owner, 1, memory_order_relaxed) + 1;
}

void bb_block_cache_prefetch(struct bb_block_cache *cache, uint64_t owner, uint64_t offset)
{
    struct place place = place_of(cache, owner, offset);
    size_t bucket = place.hash & (bucket_count(place.shard) - 1);
    /* As a number: during a growth the address may be outside of the array, which is harmless. */
    uintptr_t first = (uintptr_t)bucket_of(place.shard, 0);
    __builtin_prefetch((const void *)(first + bucket * sizeof(struct bucket)));
    bb_miss_marks_prefetch(&place.shard->misses, place.hash);
}

/* True when one more block of the usual size fits. The space that an eviction leaves must not
 * count, or a larger block would be inserted on each miss. The mutex is held. */
static bool has_space(const struct shard *shard)
{
    uint64_t usual = shard->item_count == 0 ? 0 : shard->used_bytes / shard->item_count;
    if (usual < BB_MISS_MARKS_BYTES)
        usual = BB_MISS_MARKS_BYTES;
    return shard->used_bytes + usual <= shard->share_bytes;
}

struct bb_cache_item *bb_block_cache_find_or_judge(struct bb_block_cache *cache, uint64_t owner,
                                                   uint64_t offset, uint64_t size,
                                                   bool *ret_is_wanted)
{
    struct place place = place_of(cache, owner, offset);
    if (!bb_mutex_enter(&place.shard->mutex)) {
        *ret_is_wanted = false;
        return NULL;
    }
    struct bb_cache_item *item = find_item(place, owner, offset);
    if (item != NULL) {
        pin(item);
        item->is_used = true;
        place.shard->hits++;
    } else {
        place.shard->miss_total++;
        *ret_is_wanted =
            bb_miss_marks_add(&place.shard->misses, place.hash, size) || has_space(place.shard);
        if (*ret_is_wanted)
            prefetch_victim(place.shard);
    }
    bb_mutex_unlock(&place.shard->mutex);
    return item;
}

struct bb_cache_item *bb_block_cache_find(struct bb_block_cache *cache, uint64_t owner,
                                          uint64_t offset)
{
    bool is_wanted = false;
    return bb_block_cache_find_or_judge(cache, owner, offset, 0, &is_wanted);
}

struct bb_block_spares *bb_block_cache_spares(struct bb_block_cache *cache)
{
    return &cache->spares;
}

bool bb_block_cache_takes(const struct bb_block_cache *cache, uint64_t charge)
{
    return charge <= cache->capacity_bytes / cache->shard_count / LARGEST_PART;
}

struct bb_cache_item *bb_block_cache_peek(struct bb_block_cache *cache, uint64_t owner,
                                          uint64_t offset)
{
    struct place place = place_of(cache, owner, offset);
    if (!bb_mutex_enter(&place.shard->mutex))
        return NULL;
    struct bb_cache_item *item = find_item(place, owner, offset);
    if (item != NULL)
        pin(item);
    bb_mutex_unlock(&place.shard->mutex);
    return item;
}

/* The mutex is held; no other thread sees the item yet. */
static void attach(struct bb_block_cache *cache, struct place place, struct bb_cache_item *item)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&place.shard->mutex));
    struct shard *shard = place.shard;
    grow_if_full(shard);
    item->cache = cache;
    item->hash = place.hash;
    chain_add(shard, item);
    ring_add_newest(shard, item);
    pin(item);
    shard->item_count++;
    shard->used_bytes += item->charge;
}

struct bb_cache_item *bb_block_cache_insert(struct bb_block_cache *cache, uint64_t owner,
                                            uint64_t offset, struct bb_cache_item *item)
{
    BB_DEBUG_ASSERT(item->cache == NULL);
    struct place place = place_of(cache, owner, offset);
    struct bb_cache_item *dead = NULL;
    item->owner = owner;
    item->offset = offset;
    if (!bb_mutex_enter(&place.shard->mutex))
        return item;
    struct bb_cache_item *first = find_item(place, owner, offset);
    if (first != NULL) {
        pin(first);
        first->is_used = true;
    } else {
        attach(cache, place, item);
        evict_surplus(place.shard, PINNED_PASSES_MAX, &dead);
    }
    bb_mutex_unlock(&place.shard->mutex);
    destroy_list(dead);
    if (first == NULL)
        return item;
    bb_block_cache_item_unref(item);
    return first;
}

/* The mutex is held. */
static void drop_from_chain(struct shard *shard, size_t bucket, uint64_t owner,
                            struct bb_cache_item **dead)
{
    struct bb_cache_item *item = bucket_of(shard, bucket)->chain;
    while (item != NULL) {
        struct bb_cache_item *next = item->chain;
        if (item->owner == owner)
            detach(shard, item, dead);
        item = next;
    }
}

/* Works in steps, so that readers of other tables do not wait for the whole walk. Growth between
 * two steps moves items from chain i to chain i + the old count, never from a pending chain to a
 * finished one. */
static void shard_drop_owner(struct shard *shard, uint64_t owner)
{
    struct bb_cache_item *dead = NULL;
    bool is_done = false;
    for (size_t bucket = 0; !is_done;) {
        if (!bb_mutex_enter(&shard->mutex))
            break;
        for (size_t step = 0; step < DROP_STEP && bucket < bucket_count(shard); step++)
            drop_from_chain(shard, bucket++, owner, &dead);
        is_done = bucket >= bucket_count(shard);
        bb_mutex_unlock(&shard->mutex);
    }
    destroy_list(dead);
}

void bb_block_cache_drop_owner(struct bb_block_cache *cache, uint64_t owner)
{
    for (size_t i = 0; i < cache->shard_count; i++)
        shard_drop_owner(&cache->shards[i], owner);
}

void bb_block_cache_clear(struct bb_block_cache *cache)
{
    for (size_t i = 0; i < cache->shard_count; i++)
        (void)shard_clear(&cache->shards[i]);
}

bool bb_block_cache_is_free(struct bb_block_cache *cache)
{
    bool is_free = true;
    for (size_t i = 0; i < cache->shard_count && is_free; i++)
        is_free = bb_mutex_is_free(&cache->shards[i].mutex);
    return is_free;
}

void bb_block_cache_stats(struct bb_block_cache *cache, struct bb_block_cache_stats *ret_stats)
{
    struct bb_block_cache_stats stats = {.capacity_bytes = cache->capacity_bytes};
    for (size_t i = 0; i < cache->shard_count; i++) {
        struct shard *shard = &cache->shards[i];
        if (!bb_mutex_enter(&shard->mutex))
            continue;
        stats.used_bytes += shard->used_bytes;
        stats.hits += shard->hits;
        stats.misses += shard->miss_total;
        stats.evictions += shard->evictions;
        bb_mutex_unlock(&shard->mutex);
    }
    *ret_stats = stats;
}
