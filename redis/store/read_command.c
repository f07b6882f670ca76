/* See read_command.h.
 *
 * The server's thread answers all fields that need no wait: absent ones, because filters are in
 * memory, and values in memory. If fields remain, a thread of the pool looks them up, in a snapshot
 * that was taken here, so that the reply shows one moment. */
#include "redis/store/read_command.h"

#include <string.h>

#include "redis/command/arguments.h"
#include "redis/command/reply.h"
#include "redis/store/store_key.h"
#include "redis/store/request.h"

/* A buffer for values is kept between commands up to this size. */
#define KEPT_BYTES ((size_t)64 * 1024)

/* The results for the fields argv[2] ... */
struct answers {
    enum bb_status *statuses;
    struct bb_buf *values;
    int count;
};

struct read {
    struct bb_redis_request request; /* must be first */
    struct answers answers;
    bool has_values;
    bool is_list;
};

static void answers_init(struct answers *answers, int count)
{
    size_t size = (size_t)count * (sizeof(answers->values[0]) + sizeof(answers->statuses[0]));
    answers->values = RedisModule_Alloc(size);
    memset(answers->values, 0, size);
    answers->statuses = (enum bb_status *)(answers->values + count);
    answers->count = count;
}

static void answers_deinit(struct answers *answers)
{
    for (int i = 0; i < answers->count; i++)
        bb_buf_deinit(&answers->values[i]);
    RedisModule_Free(answers->values);
}

/* ---- replies ---- */

static void reply_one(struct RedisModuleCtx *ctx, enum bb_status status, const struct bb_buf *value,
                      bool has_values)
{
    if (!has_values)
        (void)RedisModule_ReplyWithLongLong(ctx, status == BB_OK);
    else if (status == BB_OK)
        (void)RedisModule_ReplyWithStringBuffer(ctx, value->size > 0 ? (char *)value->data : "",
                                                value->size);
    else
        (void)RedisModule_ReplyWithNull(ctx);
}

static int reply_all(struct RedisModuleCtx *ctx, const struct answers *answers, bool has_values,
                     bool is_list)
{
    if (is_list)
        (void)RedisModule_ReplyWithArray(ctx, answers->count);
    for (int i = 0; i < answers->count; i++)
        reply_one(ctx, answers->statuses[i], &answers->values[i], has_values);
    return REDISMODULE_OK;
}

/* ---- in a thread of the pool ---- */

/* The fields without an answer: their indexes and bytes. */
static size_t list_open(const struct read *read, size_t *indexes, struct bb_bytes *fields)
{
    size_t count = 0;
    for (int i = 0; i < read->answers.count; i++) {
        if (read->answers.statuses[i] != BB_WOULD_WAIT)
            continue;
        indexes[count] = (size_t)i;
        fields[count++] = bb_redis_arguments_bytes(read->request.argv[2 + i]);
    }
    return count;
}

static void look_up(struct bb_redis_request *request)
{
    struct read *read = (struct read *)request;
    struct answers *answers = &read->answers;
    const struct bb_get_options options = {.snapshot = request->snapshot};
    size_t count = (size_t)answers->count;
    size_t *indexes = RedisModule_Alloc(count * sizeof(indexes[0]));
    struct bb_bytes *fields = RedisModule_Alloc(count * sizeof(fields[0]));
    struct answers found;
    answers_init(&found, answers->count);
    size_t open = list_open(read, indexes, fields);
    bb_redis_request_end(request,
                         bb_db_get_many(request->store->db, &options, fields, open,
                                        read->has_values ? found.values : NULL, found.statuses));
    for (size_t i = 0; i < open; i++) {
        struct bb_buf empty = answers->values[indexes[i]];
        answers->statuses[indexes[i]] = found.statuses[i];
        answers->values[indexes[i]] = found.values[i];
        found.values[i] = empty;
    }
    answers_deinit(&found);
    RedisModule_Free(fields);
    RedisModule_Free(indexes);
}

static int reply_request(struct RedisModuleCtx *ctx, struct bb_redis_request *request)
{
    const struct read *read = (const struct read *)request;
    return reply_all(ctx, &read->answers, read->has_values, read->is_list);
}

static void release_request(struct bb_redis_request *request)
{
    answers_deinit(&((struct read *)request)->answers);
}

static const struct bb_redis_request_class read_class = {
    .work = look_up, .reply = reply_request, .release = release_request};

/* Takes the answers. */
static int look_up_later(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                         struct bb_redis_store *store, const struct read *question)
{
    struct bb_snapshot *snapshot = NULL;
    enum bb_status status = bb_snapshot_create(store->db, &snapshot);
    if (status != BB_OK) {
        struct answers answers = question->answers;
        answers_deinit(&answers);
        return bb_redis_store_key_reply_failure(ctx, status);
    }
    struct read *read = RedisModule_Alloc(sizeof(*read));
    *read = *question;
    bb_redis_request_init(&read->request, &read_class, store, argv, argc);
    read->request.snapshot = snapshot;
    return bb_redis_request_run(ctx, &read->request);
}

/* ---- in the server's thread ---- */

/* Answers the fields that need no wait. *ret_open: whether others remain. */
static enum bb_status look_up_now(struct bb_redis_store *store, struct RedisModuleString **argv,
                                  struct answers *answers, bool *ret_open)
{
    for (int i = 0; i < answers->count; i++) {
        enum bb_status status = bb_db_get_now(
            store->db, NULL, bb_redis_arguments_bytes(argv[2 + i]), &answers->values[i]);
        answers->statuses[i] = status;
        if (status == BB_WOULD_WAIT)
            *ret_open = true;
        else if (status != BB_OK && status != BB_NOT_FOUND)
            return status;
    }
    return BB_OK;
}

/* The common case, one field without a wait, allocates no memory. False: there is no reply yet. */
static bool reply_single(struct RedisModuleCtx *ctx, const struct RedisModuleString *field,
                         struct bb_redis_store *store, bool has_values)
{
    static struct bb_buf value;
    enum bb_status status = bb_db_get_now(store->db, NULL, bb_redis_arguments_bytes(field), &value);
    bool is_known = status == BB_OK || status == BB_NOT_FOUND;
    if (is_known)
        reply_one(ctx, status, &value, has_values);
    if (value.capacity > KEPT_BYTES)
        bb_buf_deinit(&value);
    return is_known;
}

static int read_store(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                      struct bb_redis_store *store, struct read *question)
{
    bool is_open = false;
    if (!question->is_list && reply_single(ctx, argv[2], store, question->has_values))
        return REDISMODULE_OK;
    answers_init(&question->answers, argc - 2);
    enum bb_status status = look_up_now(store, argv, &question->answers, &is_open);
    if (status == BB_OK && is_open)
        return look_up_later(ctx, argv, argc, store, question);
    int result = status == BB_OK
                     ? reply_all(ctx, &question->answers, question->has_values, question->is_list)
                     : bb_redis_store_key_reply_failure(ctx, status);
    answers_deinit(&question->answers);
    return result;
}

static int reply_nothing(struct RedisModuleCtx *ctx, const struct read *question, int count)
{
    if (question->is_list)
        (void)RedisModule_ReplyWithArray(ctx, count);
    for (int i = 0; i < count; i++)
        reply_one(ctx, BB_NOT_FOUND, NULL, question->has_values);
    return REDISMODULE_OK;
}

static int read_key(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                    bool has_values, bool is_list)
{
    struct bb_redis_store *store = NULL;
    struct read question = {.has_values = has_values, .is_list = is_list};
    if (argc < 3 || (!is_list && argc != 3))
        return RedisModule_WrongArity(ctx);
    switch (bb_redis_store_key_find(ctx, argv[1], REDISMODULE_READ, &store)) {
    case BB_REDIS_STORE_KEY_OTHER:
        return bb_redis_reply_wrong_type(ctx);
    case BB_REDIS_STORE_KEY_NONE:
        return reply_nothing(ctx, &question, argc - 2);
    default:
        return store->is_incomplete ? bb_redis_store_key_reply_incomplete(ctx)
                                    : read_store(ctx, argv, argc, store, &question);
    }
}

int bb_redis_get_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return read_key(ctx, argv, argc, true, false);
}

int bb_redis_mget_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return read_key(ctx, argv, argc, true, true);
}

int bb_redis_exists_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return read_key(ctx, argv, argc, false, false);
}

int bb_redis_mexists_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return read_key(ctx, argv, argc, false, true);
}
