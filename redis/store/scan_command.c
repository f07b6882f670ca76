/* See scan_command.h. Iterators read blocks, so a thread of the pool runs them. */
#include "redis/store/scan_command.h"

#include <string.h>

#include "redis/command/arguments.h"
#include "redis/command/reply.h"
#include "redis/store/store_key.h"
#include "redis/store/request.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     100000
/* BB.LEN EXACT looks for the end of the server whenever it has counted this many fields. */
#define COUNT_SLICE 1024
/* A reply ends after the entry that exceeds this, however large LIMIT is. */
#define REPLY_BYTES ((size_t)4 << 20)

/* Bytes that point into the arguments; data is NULL without the argument. */
struct scan {
    struct bb_redis_request request; /* must be first */
    struct bb_bytes from;
    struct bb_bytes to;
    struct bb_bytes prefix;
    struct bb_bytes after;
    bool is_reversed;
    long long limit;
    /* The result: sizes (field, value, ...) and the bytes one after the other. */
    struct bb_buf sizes;
    struct bb_buf bytes;
    size_t last_field; /* its index in sizes; the cursor */
    bool has_more;
};

/* ---- in a thread of the pool ---- */

static int compare(struct bb_bytes a, struct bb_bytes b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static bool has_prefix(struct bb_bytes field, struct bb_bytes prefix)
{
    return field.size >= prefix.size &&
           (prefix.size == 0 || memcmp(field.data, prefix.data, prefix.size) == 0);
}

/* The highest lower bound. */
static struct bb_bytes low_of(const struct scan *scan)
{
    struct bb_bytes low = scan->from;
    if (scan->prefix.data != NULL && (low.data == NULL || compare(scan->prefix, low) > 0))
        low = scan->prefix;
    if (!scan->is_reversed && scan->after.data != NULL &&
        (low.data == NULL || compare(scan->after, low) >= 0))
        low = scan->after;
    return low;
}

/* The lowest upper bound that is given as a field. */
static struct bb_bytes high_of(const struct scan *scan)
{
    struct bb_bytes high = scan->to;
    if (scan->is_reversed && scan->after.data != NULL &&
        (high.data == NULL || compare(scan->after, high) < 0))
        high = scan->after;
    return high;
}

static enum bb_status add_bytes(struct scan *scan, struct bb_bytes bytes)
{
    enum bb_status status = bb_buf_append(&scan->sizes, &bytes.size, sizeof(bytes.size));
    return status == BB_OK ? bb_buf_append(&scan->bytes, bytes.data, bytes.size) : status;
}

static size_t size_at(const struct scan *scan, size_t index)
{
    size_t size = 0;
    memcpy(&size, scan->sizes.data + index * sizeof(size), sizeof(size));
    return size;
}

static size_t size_count(const struct scan *scan)
{
    return scan->sizes.size / sizeof(size_t);
}

static void step(struct bb_db_iter *iter, const struct scan *scan)
{
    if (scan->is_reversed)
        bb_db_iter_prev(iter);
    else
        bb_db_iter_next(iter);
}

/* Moves to the first entry of the result. Of equal fields only AFTER excludes one. */
static void seek(struct bb_db_iter *iter, const struct scan *scan)
{
    if (scan->is_reversed)
        bb_db_iter_seek_last(iter);
    else
        bb_db_iter_seek_first(iter);
    if (!scan->is_reversed && scan->after.data != NULL && bb_db_iter_valid(iter) &&
        compare(bb_db_iter_key(iter), scan->after) == 0)
        bb_db_iter_next(iter);
}

static bool is_within(const struct scan *scan, struct bb_bytes field)
{
    return scan->prefix.data == NULL || has_prefix(field, scan->prefix);
}

static enum bb_status collect(struct scan *scan, struct bb_db_iter *iter)
{
    enum bb_status status = BB_OK;
    for (seek(iter, scan); bb_db_iter_valid(iter) && status == BB_OK; step(iter, scan)) {
        struct bb_bytes field = bb_db_iter_key(iter);
        if (!is_within(scan, field))
            break;
        scan->has_more =
            (long long)(size_count(scan) / 2) >= scan->limit || scan->bytes.size >= REPLY_BYTES;
        if (scan->has_more)
            break;
        scan->last_field = size_count(scan);
        status = add_bytes(scan, field);
        if (status == BB_OK)
            status = add_bytes(scan, bb_db_iter_value(iter));
    }
    return status == BB_OK ? bb_db_iter_status(iter) : status;
}

/* The first field after all that have the prefix, in *raised; empty: no field
 * follows. */
static enum bb_status raise_prefix(struct bb_bytes prefix, struct bb_buf *raised)
{
    enum bb_status status = bb_buf_assign(raised, prefix);
    while (status == BB_OK && raised->size > 0 && raised->data[raised->size - 1] == UINT8_MAX)
        raised->size--;
    if (status == BB_OK && raised->size > 0)
        raised->data[raised->size - 1]++;
    return status;
}

static enum bb_status scan_range(struct scan *scan, struct bb_bytes low, struct bb_bytes high)
{
    const struct bb_key_range range = {.low = low.data != NULL ? &low : NULL,
                                       .high = high.data != NULL ? &high : NULL};
    struct bb_db_iter *iter = NULL;
    enum bb_status status = bb_db_iter_create_range(scan->request.store->db, NULL, &range, &iter);
    if (status == BB_OK)
        status = collect(scan, iter);
    bb_db_iter_destroy(iter);
    return status;
}

static void work(struct bb_redis_request *request)
{
    struct scan *scan = (struct scan *)request;
    struct bb_buf raised = {0};
    struct bb_bytes high = high_of(scan);
    enum bb_status status = raise_prefix(scan->prefix, &raised);
    const struct bb_bytes end = {raised.data, raised.size};
    if (end.size > 0 && (high.data == NULL || compare(end, high) < 0))
        high = end;
    bool is_empty = high.data != NULL && compare(low_of(scan), high) >= 0;
    if (status == BB_OK && !is_empty)
        status = scan_range(scan, low_of(scan), high);
    bb_redis_request_end(request, status);
    bb_buf_deinit(&raised);
}

/* ---- replies ---- */

static void reply_bytes(struct RedisModuleCtx *ctx, const uint8_t *data, size_t size)
{
    (void)RedisModule_ReplyWithStringBuffer(ctx, size > 0 ? (const char *)data : "", size);
}

static void reply_cursor(struct RedisModuleCtx *ctx, const struct scan *scan)
{
    const uint8_t *end = scan->bytes.data + scan->bytes.size;
    size_t value_size = 0;
    if (!scan->has_more) {
        (void)RedisModule_ReplyWithNull(ctx);
        return;
    }
    value_size = size_at(scan, scan->last_field + 1);
    size_t field_size = size_at(scan, scan->last_field);
    reply_bytes(ctx, end - value_size - field_size, field_size);
}

static int reply(struct RedisModuleCtx *ctx, struct bb_redis_request *request)
{
    const struct scan *scan = (const struct scan *)request;
    const uint8_t *at = scan->bytes.data;
    (void)RedisModule_ReplyWithArray(ctx, 2);
    reply_cursor(ctx, scan);
    (void)RedisModule_ReplyWithArray(ctx, (long)size_count(scan));
    for (size_t i = 0; i < size_count(scan); i++) {
        size_t size = size_at(scan, i);
        reply_bytes(ctx, at, size);
        at += size;
    }
    return REDISMODULE_OK;
}

static void release(struct bb_redis_request *request)
{
    struct scan *scan = (struct scan *)request;
    bb_buf_deinit(&scan->sizes);
    bb_buf_deinit(&scan->bytes);
}

static const struct bb_redis_request_class scan_class = {work, reply, release};

static int reply_empty(struct RedisModuleCtx *ctx)
{
    (void)RedisModule_ReplyWithArray(ctx, 2);
    (void)RedisModule_ReplyWithNull(ctx);
    return RedisModule_ReplyWithArray(ctx, 0);
}

/* ---- arguments ---- */

static bool take_field(struct bb_redis_arguments *arguments, const char *word,
                       struct bb_bytes *ret_field)
{
    if (bb_redis_arguments_left(arguments) < 2 || !bb_redis_arguments_take_word(arguments, word))
        return false;
    *ret_field = bb_redis_arguments_bytes(arguments->values[arguments->at++]);
    if (ret_field->size == 0)
        ret_field->data = (const uint8_t *)"";
    return true;
}

static bool take_option(struct bb_redis_arguments *arguments, struct scan *scan)
{
    if (take_field(arguments, "FROM", &scan->from) || take_field(arguments, "TO", &scan->to) ||
        take_field(arguments, "PREFIX", &scan->prefix) ||
        take_field(arguments, "AFTER", &scan->after))
        return true;
    if (bb_redis_arguments_take_word(arguments, "REVERSE"))
        return scan->is_reversed = true;
    return bb_redis_arguments_take_word(arguments, "LIMIT") &&
           bb_redis_arguments_take_integer(arguments, &scan->limit) && scan->limit > 0;
}

_Static_assert(BB_KEY_SIZE_MAX == 65536, "the error of parse has this number");

static bool are_fields(const struct scan *scan)
{
    return scan->from.size <= BB_KEY_SIZE_MAX && scan->to.size <= BB_KEY_SIZE_MAX &&
           scan->prefix.size <= BB_KEY_SIZE_MAX && scan->after.size <= BB_KEY_SIZE_MAX;
}

/* The error of the arguments, or NULL. */
static const char *parse(struct RedisModuleString **argv, int argc, struct scan *scan)
{
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    scan->limit = LIMIT_DEFAULT;
    while (bb_redis_arguments_left(&arguments) > 0) {
        if (!take_option(&arguments, scan))
            return "ERR syntax error";
    }
    scan->limit = scan->limit > LIMIT_MAX ? LIMIT_MAX : scan->limit;
    return are_fields(scan) ? NULL : "ERR FROM, TO, PREFIX and AFTER have at most 65536 bytes";
}

int bb_redis_scan_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_store *store = NULL;
    struct scan given = {.limit = 0};
    if (argc < 2)
        return RedisModule_WrongArity(ctx);
    const char *mistake = parse(argv, argc, &given);
    if (mistake != NULL)
        return RedisModule_ReplyWithError(ctx, mistake);
    enum bb_redis_store_key_result result =
        bb_redis_store_key_find(ctx, argv[1], REDISMODULE_READ, &store);
    if (result == BB_REDIS_STORE_KEY_OTHER)
        return bb_redis_reply_wrong_type(ctx);
    if (result == BB_REDIS_STORE_KEY_NONE)
        return reply_empty(ctx);
    if (store->is_incomplete)
        return bb_redis_store_key_reply_incomplete(ctx);
    struct scan *scan = RedisModule_Alloc(sizeof(*scan));
    *scan = given;
    bb_redis_request_init(&scan->request, &scan_class, store, argv, argc);
    return bb_redis_request_run(ctx, &scan->request);
}

/* ---- BB.LEN ---- */

struct count {
    struct bb_redis_request request; /* must be first */
    long long count;
};

static enum bb_status count_fields(struct bb_db_iter *iter, long long *ret_count)
{
    long long count = 0;
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter)) {
        if (++count % COUNT_SLICE == 0 && bb_redis_pool_is_stopped())
            return bb_error_set(BB_BUSY, "the server ends");
    }
    *ret_count = count;
    return bb_db_iter_status(iter);
}

static void count_all(struct bb_redis_request *request)
{
    struct count *count = (struct count *)request;
    const struct bb_get_options options = {.bypass_fill = true};
    struct bb_db_iter *iter = NULL;
    enum bb_status status = bb_db_iter_create_keys(request->store->db, &options, NULL, &iter);
    if (status == BB_OK)
        status = count_fields(iter, &count->count);
    bb_redis_request_end(request, status);
    bb_db_iter_destroy(iter);
}

static int reply_count(struct RedisModuleCtx *ctx, struct bb_redis_request *request)
{
    return RedisModule_ReplyWithLongLong(ctx, ((struct count *)request)->count);
}

static const struct bb_redis_request_class count_class = {count_all, reply_count, NULL};

int bb_redis_len_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_store *store = NULL;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (argc < 2 || argc > 3)
        return RedisModule_WrongArity(ctx);
    bool is_exact = bb_redis_arguments_take_word(&arguments, "EXACT");
    if (bb_redis_arguments_left(&arguments) > 0)
        return RedisModule_ReplyWithError(ctx, "ERR syntax error");
    enum bb_redis_store_key_result result =
        bb_redis_store_key_find(ctx, argv[1], REDISMODULE_READ, &store);
    if (result == BB_REDIS_STORE_KEY_OTHER)
        return bb_redis_reply_wrong_type(ctx);
    if (result == BB_REDIS_STORE_KEY_NONE)
        return RedisModule_ReplyWithLongLong(ctx, 0);
    if (store->is_incomplete)
        return bb_redis_store_key_reply_incomplete(ctx);
    if (!is_exact)
        return RedisModule_ReplyWithLongLong(ctx, (long long)bb_redis_store_estimate(store));
    struct count *count = RedisModule_Alloc(sizeof(*count));
    count->count = 0;
    bb_redis_request_init(&count->request, &count_class, store, argv, argc);
    count->request.job.is_long = true;
    return bb_redis_request_run(ctx, &count->request);
}
