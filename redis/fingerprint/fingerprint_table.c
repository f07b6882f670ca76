/* See fingerprint_table.h. */
#include "redis/fingerprint/fingerprint_table.h"

#include <math.h>
#include <string.h>

#include "redis/fingerprint/bit_string.h"
#include "redis/server/redis_module.h"

/* WHY: full shards then fill an allocation of jemalloc, whose sizes are a quarter of a power of two
 * apart: shards of 2,000 members vary by 2.2 % (one standard deviation). Larger ones take longer to
 * change. ON DISK: the number of shards follows from these. */
#define SHARD_SIZE     2024
#define SHARD_MARGIN   1.05
#define SHARD_KEYS_MAX 2048

/* 2^-BB_BIT_STRING_FIELD_MAX */
#define REMAINDER_RATE_MIN 0x1p-48
_Static_assert(BB_BIT_STRING_FIELD_MAX == 48, "the lowest rate");

__extension__ typedef unsigned __int128 wide;

/* The rate is load * 2^-bits with a load in (1/2, 1], exactly. */
static uint32_t remainder_bits(double rate, double *ret_load)
{
    int exponent = 0;
    double load = frexp(rate, &exponent);
    if (load == 0.5) {
        load = 1;
        exponent--;
    }
    /* A rate of more than 1/2 is kept with one bit too. */
    if (exponent > -1) {
        load = 1;
        exponent = -1;
    }
    *ret_load = load;
    return (uint32_t)-exponent;
}

struct plan {
    struct bb_fingerprint_shape shape;
    uint32_t shard_count;
};

static struct plan plan_for(uint64_t capacity, double rate)
{
    struct plan plan;
    double load = 0;
    plan.shape.remainder_bits = remainder_bits(rate, &load);
    double bits_per_key = (double)plan.shape.remainder_bits + 1 + 1 / load;
    uint64_t keys = (uint64_t)(SHARD_SIZE * 8 / (bits_per_key * SHARD_MARGIN));
    keys = keys < SHARD_KEYS_MAX ? keys : SHARD_KEYS_MAX;
    plan.shard_count = (uint32_t)((capacity + keys - 1) / keys);
    double per_shard = (double)capacity / (double)plan.shard_count;
    plan.shape.bucket_count = (uint32_t)ceil(per_shard / load);
    return plan;
}

bool bb_fingerprint_table_is_possible(uint64_t capacity, double rate)
{
    if (capacity == 0 || capacity > BB_FINGERPRINT_TABLE_CAPACITY_MAX || !(rate > 0) || rate >= 1)
        return false;
    /* So low a rate needs more bits than there are. */
    if (rate < REMAINDER_RATE_MIN)
        return false;
    struct plan plan = plan_for(capacity, rate);
    uint64_t buckets = (uint64_t)plan.shape.bucket_count * plan.shard_count;
    uint32_t bucket_bits = 64 - (uint32_t)__builtin_clzll(buckets);
    return plan.shape.remainder_bits + bucket_bits <= 63;
}

static uint32_t pages_of(uint32_t shard_count)
{
    return (shard_count + BB_FINGERPRINT_PAGE_SHARDS - 1) / BB_FINGERPRINT_PAGE_SHARDS;
}

/* The shards of a page; the last page has fewer. */
static uint32_t page_length(const struct bb_fingerprint_table *table, uint32_t page)
{
    uint32_t left = table->shard_count - page * BB_FINGERPRINT_PAGE_SHARDS;
    return left < BB_FINGERPRINT_PAGE_SHARDS ? left : BB_FINGERPRINT_PAGE_SHARDS;
}

static void *alloc_zeroed(size_t size)
{
    void *memory = RedisModule_TryAlloc(size);
    return memory == NULL ? NULL : memset(memory, 0, size);
}

struct bb_fingerprint_table *bb_fingerprint_table_create(uint64_t capacity, double rate)
{
    struct plan plan = plan_for(capacity, rate);
    struct bb_fingerprint_table *table =
        alloc_zeroed(sizeof(*table) + pages_of(plan.shard_count) * sizeof(table->pages[0]));
    if (table == NULL)
        return NULL;
    table->capacity = capacity;
    table->shape = plan.shape;
    table->shard_count = plan.shard_count;
    return table;
}

static void destroy_page(struct bb_fingerprint_shard **page, uint32_t length)
{
    if (page == NULL)
        return;
    for (uint32_t i = 0; i < length; i++)
        bb_fingerprint_shard_destroy(page[i]);
    RedisModule_Free(page);
}

void bb_fingerprint_table_destroy(struct bb_fingerprint_table *table)
{
    if (table == NULL)
        return;
    for (uint32_t i = 0; i < pages_of(table->shard_count); i++)
        destroy_page(table->pages[i], page_length(table, i));
    RedisModule_Free(table);
}

/* The place of a shard; NULL if there is no memory for its page. */
static struct bb_fingerprint_shard **slot_of(struct bb_fingerprint_table *table, uint32_t at)
{
    uint32_t page = at / BB_FINGERPRINT_PAGE_SHARDS;
    if (table->pages[page] == NULL) {
        struct bb_fingerprint_shard **made =
            alloc_zeroed(page_length(table, page) * sizeof(struct bb_fingerprint_shard *));
        if (made == NULL)
            return NULL;
        table->memory += RedisModule_MallocSize(made);
        table->pages[page] = made;
    }
    return &table->pages[page][at % BB_FINGERPRINT_PAGE_SHARDS];
}

uint32_t bb_fingerprint_table_empty_run(const struct bb_fingerprint_table *table, uint32_t at)
{
    uint32_t page = at / BB_FINGERPRINT_PAGE_SHARDS;
    if (table->pages[page] == NULL)
        return page_length(table, page) - at % BB_FINGERPRINT_PAGE_SHARDS;
    return bb_fingerprint_table_shard(table, at) == NULL ? 1 : 0;
}

uint64_t bb_fingerprint_table_memory(const struct bb_fingerprint_table *table)
{
    return table->memory + RedisModule_MallocSize((void *)(uintptr_t)table);
}

double bb_fingerprint_table_rate(const struct bb_fingerprint_table *table)
{
    double buckets = (double)table->shape.bucket_count * (double)table->shard_count;
    double rate = ldexp((double)table->count / buckets, -(int)table->shape.remainder_bits);
    return rate < 1 ? rate : 1;
}

struct place {
    uint32_t shard;
    struct bb_fingerprint fingerprint;
};

static struct place place_of(const struct bb_fingerprint_table *table, uint64_t hash)
{
    struct place place;
    uint64_t buckets = (uint64_t)table->shape.bucket_count * table->shard_count;
    wide product = (wide)hash * buckets;
    uint64_t bucket = (uint64_t)(product >> 64);
    place.shard = (uint32_t)(bucket / table->shape.bucket_count);
    place.fingerprint.bucket = (uint32_t)(bucket % table->shape.bucket_count);
    place.fingerprint.remainder = (uint64_t)product >> (64 - table->shape.remainder_bits);
    return place;
}

uint32_t bb_fingerprint_table_find(const struct bb_fingerprint_table *table, uint64_t hash)
{
    struct place place = place_of(table, hash);
    return bb_fingerprint_shard_find(bb_fingerprint_table_shard(table, place.shard), &table->shape,
                                     place.fingerprint);
}

static bool add(struct bb_fingerprint_table *table, uint32_t at, struct bb_fingerprint fingerprint)
{
    struct bb_fingerprint_shard **shard = slot_of(table, at);
    if (shard == NULL)
        return false;
    uint32_t capacity = *shard == NULL ? 0 : (*shard)->capacity;
    uint64_t memory = capacity == 0 ? 0 : bb_fingerprint_shard_memory(*shard);
    if (!bb_fingerprint_shard_add(shard, &table->shape, fingerprint))
        return false;
    if ((*shard)->capacity != capacity)
        table->memory += bb_fingerprint_shard_memory(*shard) - memory;
    table->count++;
    return true;
}

bool bb_fingerprint_table_add(struct bb_fingerprint_table *table, uint64_t hash)
{
    struct place place = place_of(table, hash);
    return add(table, place.shard, place.fingerprint);
}

bool bb_fingerprint_table_remove(struct bb_fingerprint_table *table, uint64_t hash)
{
    struct place place = place_of(table, hash);
    if (bb_fingerprint_table_empty_run(table, place.shard) > 0)
        return false;
    struct bb_fingerprint_shard **shard = slot_of(table, place.shard);
    uint64_t memory = bb_fingerprint_shard_memory(*shard);
    if (!bb_fingerprint_shard_remove(shard, &table->shape, place.fingerprint))
        return false;
    if (*shard == NULL)
        table->memory -= memory;
    table->count--;
    return true;
}

static bool unite_shard(struct bb_fingerprint_table *table, uint32_t at,
                        const struct bb_fingerprint_shard *other)
{
    struct bb_fingerprint_cursor cursor = {.index = 0};
    while (bb_fingerprint_shard_next(other, &table->shape, &cursor)) {
        if (bb_fingerprint_shard_find(bb_fingerprint_table_shard(table, at), &table->shape,
                                      cursor.fingerprint) == 0 &&
            !add(table, at, cursor.fingerprint))
            return false;
    }
    return true;
}

bool bb_fingerprint_table_unite(struct bb_fingerprint_table *table,
                                const struct bb_fingerprint_table *other)
{
    for (uint32_t i = 0; i < table->shard_count; i++) {
        if (!unite_shard(table, i, bb_fingerprint_table_shard(other, i)))
            return false;
    }
    return true;
}

/* Takes a shard out of the sums and releases it. */
static void drop(struct bb_fingerprint_table *table, struct bb_fingerprint_shard **slot)
{
    table->count -= bb_fingerprint_shard_size(*slot);
    table->memory -= bb_fingerprint_shard_memory(*slot);
    bb_fingerprint_shard_destroy(*slot);
    *slot = NULL;
}

bool bb_fingerprint_table_set_shard(struct bb_fingerprint_table *table, uint32_t at,
                                    struct bb_fingerprint_shard *shard)
{
    struct bb_fingerprint_shard **slot = slot_of(table, at);
    if (slot == NULL)
        return false;
    drop(table, slot);
    table->count += bb_fingerprint_shard_size(shard);
    table->memory += bb_fingerprint_shard_memory(shard);
    *slot = shard;
    return true;
}

void bb_fingerprint_table_clear(struct bb_fingerprint_table *table, uint32_t at, uint32_t count)
{
    for (uint32_t end = at + count; at < end;) {
        uint32_t run = bb_fingerprint_table_empty_run(table, at);
        if (run == 0)
            drop(table, slot_of(table, at));
        at += run == 0 ? 1 : run;
    }
}
