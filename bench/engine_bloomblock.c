/* bloomblock with its defaults, except write buffer, cache and the filters' memory. One put is one
 * commit, which a crash of the process does not lose. */
#include <stdlib.h>

#include "bb/db.h"
#include "bench/die.h"
#include "bench/engine.h"

/* The same as the filters of the others; the default is a target rate. */
#define BITS_PER_KEY                                                                               \
    {                                                                                              \
        BB_FILTER_BITS_PER_KEY, 10                                                                 \
    }

struct store {
    struct bb_db *db;
    struct bb_buf value;
    struct bb_buf values[BENCH_MANY_MAX]; /* of the last get_many */
};

static void must(enum bb_status status)
{
    if (status != BB_OK)
        bench_die("bloomblock: %s: %s", bb_status_name(status), bb_error_last()->message);
}

static void *open_with(const struct bench_settings *settings, struct bb_db_options options)
{
    struct store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        bench_die("bloomblock: no memory");
    options.create_if_missing = true;
    options.write_buffer_bytes = settings->write_buffer_bytes;
    options.cache_bytes = settings->cache_bytes;
    must(bb_db_open(settings->directory, &options, &store->db));
    return store;
}

static void *open_store(const struct bench_settings *settings)
{
    return open_with(settings, (struct bb_db_options){.filter_amount = BITS_PER_KEY});
}

static void *open_mapped(const struct bench_settings *settings)
{
    return open_with(settings, (struct bb_db_options){.filter_amount = BITS_PER_KEY,
                                                      .read_mode = BB_READ_MAPPED,
                                                      .compression = BB_COMPRESSION_NONE});
}

static void *open_calls(const struct bench_settings *settings)
{
    return open_with(settings, (struct bb_db_options){.filter_amount = BITS_PER_KEY,
                                                      .read_mode = BB_READ_CALLS});
}

static void *open_plain(const struct bench_settings *settings)
{
    return open_with(settings, (struct bb_db_options){.filter_amount = BITS_PER_KEY,
                                                      .compression = BB_COMPRESSION_NONE});
}

static void *open_defaults(const struct bench_settings *settings)
{
    return open_with(settings, (struct bb_db_options){0});
}

static void *open_leveled(const struct bench_settings *settings)
{
    return open_with(settings, (struct bb_db_options){.compaction_style = BB_COMPACTION_LEVELED});
}

static void *open_tiered(const struct bench_settings *settings)
{
    return open_with(settings, (struct bb_db_options){.compaction_style = BB_COMPACTION_TIERED});
}

static void *open_lazy(const struct bench_settings *settings)
{
    return open_with(settings,
                     (struct bb_db_options){.compaction_style = BB_COMPACTION_LAZY_LEVELING});
}

static void *attach(void *memory)
{
    struct store *handle = bench_allocate(sizeof(*handle));
    handle->db = ((struct store *)memory)->db;
    return handle;
}

static void detach(void *memory)
{
    struct store *store = memory;
    bb_buf_deinit(&store->value);
    for (size_t i = 0; i < BENCH_MANY_MAX; i++)
        bb_buf_deinit(&store->values[i]);
    free(store);
}

static void close_store(void *memory)
{
    struct store *store = memory;
    struct bb_db *db = store->db;
    detach(store);
    must(bb_db_close(db));
}

static void put(void *memory, struct bb_bytes key, struct bb_bytes value)
{
    struct store *store = memory;
    must(bb_db_put(store->db, NULL, key, value));
}

static void remove_key(void *memory, struct bb_bytes key)
{
    struct store *store = memory;
    must(bb_db_delete(store->db, NULL, key));
}

static bool get(void *memory, struct bb_bytes key, struct bb_bytes *ret_value)
{
    struct store *store = memory;
    enum bb_status status = bb_db_get(store->db, NULL, key, &store->value);
    if (status == BB_NOT_FOUND)
        return false;
    must(status);
    *ret_value = (struct bb_bytes){.data = store->value.data, .size = store->value.size};
    return true;
}

static void get_many(void *memory, const struct bb_bytes *keys, size_t count,
                     struct bb_bytes *ret_values)
{
    struct store *store = memory;
    enum bb_status statuses[BENCH_MANY_MAX];
    must(bb_db_get_many(store->db, NULL, keys, count, store->values, statuses));
    for (size_t i = 0; i < count; i++) {
        const struct bb_buf *value = &store->values[i];
        ret_values[i] = (struct bb_bytes){0};
        if (statuses[i] == BB_OK)
            ret_values[i] = (struct bb_bytes){.data = value->data, .size = value->size};
    }
}

static void visit_entries(struct bb_db_iter *iter, uint64_t count_max,
                          struct bench_visitor *visitor)
{
    for (uint64_t i = 0; i < count_max && bb_db_iter_valid(iter); i++) {
        visitor->visit(visitor, bb_db_iter_key(iter), bb_db_iter_value(iter));
        bb_db_iter_next(iter);
    }
    must(bb_db_iter_status(iter));
}

static void visit_all(struct bb_db_iter *iter, struct bench_visitor *visitor)
{
    bb_db_iter_seek_first(iter);
    visit_entries(iter, UINT64_MAX, visitor);
    bb_db_iter_destroy(iter);
}

static void scan(void *memory, struct bench_visitor *visitor)
{
    struct store *store = memory;
    struct bb_db_iter *iter = NULL;
    must(bb_db_iter_create(store->db, NULL, &iter));
    visit_all(iter, visitor);
}

static void seek(void *memory, struct bb_bytes key, uint64_t count_max,
                 struct bench_visitor *visitor)
{
    struct store *store = memory;
    struct bb_db_iter *iter = NULL;
    must(bb_db_iter_create(store->db, NULL, &iter));
    bb_db_iter_seek(iter, key);
    visit_entries(iter, count_max, visitor);
    bb_db_iter_destroy(iter);
}

static void range(void *memory, struct bb_bytes low, struct bb_bytes high,
                  struct bench_visitor *visitor)
{
    struct store *store = memory;
    struct bb_db_iter *iter = NULL;
    struct bb_key_range bounds = {.low = &low, .high = &high};
    must(bb_db_iter_create_range(store->db, NULL, &bounds, &iter));
    visit_all(iter, visitor);
}

static void prefix(void *memory, struct bb_bytes prefix_bytes, struct bench_visitor *visitor)
{
    struct store *store = memory;
    struct bb_db_iter *iter = NULL;
    must(bb_db_iter_create_prefix(store->db, NULL, prefix_bytes, &iter));
    visit_all(iter, visitor);
}

static void wait_idle(void *memory)
{
    struct store *store = memory;
    must(bb_db_wait_idle(store->db));
}

static void compact(void *memory)
{
    struct store *store = memory;
    must(bb_db_compact(store->db));
}

#define OPTIONS_OF(filters_, compression_, reads_)                                                 \
    "write_buffer_bytes, cache_bytes as given; " filters_ ", blocks of 4 KiB, " compression_       \
    "; each put is a commit, into a shared map that is written to the log when full, no "          \
    "sync; " reads_
#define OPTIONS(filters_) OPTIONS_OF(filters_, "LZ4", "checksums verified on every read")
#define MAPPED            "tables mapped, checksums verified on first read"
#define ENGINE(name_, options_, open_)                                                             \
    {                                                                                              \
        .name = name_, .version = BENCH_BLOOMBLOCK_VERSION, .options = options_, .open = open_,    \
        .close = close_store, .put = put, .remove = remove_key, .get = get, .get_many = get_many,  \
        .scan = scan, .seek = seek, .range = range, .prefix = prefix, .attach = attach,            \
        .detach = detach, .wait_idle = wait_idle, .compact = compact,                              \
    }

const struct bench_engine bench_engine_bloomblock =
    ENGINE("bloomblock", OPTIONS("10 bits per key"), open_store);
const struct bench_engine bench_engine_bloomblock_mapped = ENGINE(
    "bloomblock-mapped", OPTIONS_OF("10 bits per key", "no compression", MAPPED), open_mapped);
const struct bench_engine bench_engine_bloomblock_calls = ENGINE(
    "bloomblock-calls",
    OPTIONS_OF("10 bits per key", "LZ4", "checksums verified on every read, no maps"), open_calls);
const struct bench_engine bench_engine_bloomblock_plain =
    ENGINE("bloomblock-plain",
           OPTIONS_OF("10 bits per key", "no compression", "checksums verified on every read"),
           open_plain);
const struct bench_engine bench_engine_bloomblock_default =
    ENGINE("bloomblock-default", OPTIONS("0.01 wasted reads (default)"), open_defaults);
const struct bench_engine bench_engine_bloomblock_leveled =
    ENGINE("bloomblock-leveled", OPTIONS("0.01 wasted reads (default)") "; leveled", open_leveled);
const struct bench_engine bench_engine_bloomblock_tiered =
    ENGINE("bloomblock-tiered", OPTIONS("0.01 wasted reads (default)") "; tiered", open_tiered);
const struct bench_engine bench_engine_bloomblock_lazy =
    ENGINE("bloomblock-lazy", OPTIONS("0.01 wasted reads (default)") "; lazy leveling", open_lazy);
