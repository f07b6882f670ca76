/* Goal: an item of the block cache is destroyed once, by the last one who uses it, and after all
 * uses; spare memory has one owner. Method: all executions of sstable/block/block_cache.c and
 * block_spares.c in small programs. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "sstable/block/block_cache.h"
#include "sstable/block/block_spares.h"
#include "tests/explore/explore.h"

#define CAPACITY (64 * 1024)
#define CHARGE   4096
#define OWNER    1
#define CONTENT  UINT64_C(77)

struct item {
    struct bb_cache_item base; /* must be first */
    uint64_t content;
};

struct scene {
    struct bb_block_cache *cache;
    struct item *loose; /* in no cache, with two references */
    struct bb_block_spares spares;
    void *taken[2];
};
static struct scene *scene;

static void destroy_item(struct bb_cache_item *base)
{
    struct item *item = (struct item *)base;
    explore_check(item->content == CONTENT, "an item is destroyed twice");
    item->content = 0;
    bb_free(item);
}

static struct item *make_item(void)
{
    struct item *item = bb_alloc_zeroed(1, sizeof(*item));
    bb_block_cache_item_init(&item->base, destroy_item, CHARGE);
    item->content = CONTENT;
    return item;
}

static struct bb_cache_item *insert(uint64_t offset)
{
    return bb_block_cache_insert(scene->cache, OWNER, offset, &make_item()->base);
}

/* Ends the use of a pinned item. */
static void use(struct bb_cache_item *base)
{
    if (base == NULL)
        return;
    explore_check(((struct item *)base)->content == CONTENT, "a pinned item has another content");
    bb_block_cache_item_unref(base);
}

/* One unpinned item. */
static void make_scene_of(uint64_t capacity)
{
    scene = bb_alloc_zeroed(1, sizeof(*scene));
    explore_check(bb_block_cache_create(capacity, &scene->cache) == BB_OK, "no cache");
    use(insert(0));
    scene->loose = make_item();
    atomic_store(&scene->loose->base.references, 2);
}

static void make_scene(void)
{
    make_scene_of(CAPACITY);
}

/* Another item evicts the first one. */
static void make_full_scene(void)
{
    make_scene_of(CHARGE);
}

static void find_and_use(void)
{
    use(bb_block_cache_find(scene->cache, OWNER, 0));
}

static void pin_twice(void)
{
    struct bb_cache_item *first = bb_block_cache_find(scene->cache, OWNER, 0);
    struct bb_cache_item *second = bb_block_cache_find(scene->cache, OWNER, 0);
    use(second);
    use(first);
}

static void drop_all(void)
{
    bb_block_cache_drop_owner(scene->cache, OWNER);
}

static void insert_other(void)
{
    use(insert(8));
}

static void insert_same(void)
{
    use(insert(0));
}

static void release_loose(void)
{
    explore_check(scene->loose->content == CONTENT, "an item has another content");
    bb_block_cache_item_unref(&scene->loose->base);
}

/* ---- spares ---- */

#define SPARE_SIZE 4096

static void make_spare(void)
{
    make_scene();
    size_t size = 0;
    void *memory = bb_block_spares_take(&scene->spares, SPARE_SIZE, &size);
    bb_block_spares_put(&scene->spares, memory, size);
}

static void take_write_put(size_t thread)
{
    size_t size = 0;
    uint8_t *memory = bb_block_spares_take(&scene->spares, SPARE_SIZE, &size);
    scene->taken[thread] = memory;
    memory[16] = (uint8_t)thread;
    explore_check(memory[16] == thread, "two threads have the same spare");
    bb_block_spares_put(&scene->spares, memory, size);
}

static void take_first(void)
{
    take_write_put(0);
}

static void take_second(void)
{
    take_write_put(1);
}

static const struct explore_program programs[] = {
    {"an item is pinned by two and dropped",
     make_scene,
     {find_and_use, find_and_use, drop_all},
     NULL},
    {"an item is pinned twice and dropped", make_scene, {pin_twice, drop_all}, NULL},
    {"two insert the same block", make_scene, {insert_same, insert_same, drop_all}, NULL},
    {"an item is found while others are inserted", make_scene, {find_and_use, insert_other}, NULL},
    {"an item is used and evicted", make_full_scene, {find_and_use, insert_other}, NULL},
    {"an item without a cache is released by two",
     make_scene,
     {release_loose, release_loose},
     NULL},
    {"spare memory changes hands", make_spare, {take_first, take_second}, NULL},
};

static const char *const not_needed[] = {NULL};

int main(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        explore_every_order(&programs[i]);
    return explore_conclude(not_needed);
}
