/* See maintain_command.h. They change no contents, and are not replicated. */
#include "redis/store/maintain_command.h"

#include <inttypes.h>
#include <stdio.h>

#include "bb/db_files.h"
#include "redis/command/reply.h"
#include "redis/store/store_key.h"
#include "redis/store/request.h"

/* Of the text before the first damage, at most. */
#define EXTENT_SIZE 128

struct maintain {
    struct bb_redis_request request; /* must be first */
    struct bb_db_scrub_report report;
};

static void flush(struct bb_redis_request *request)
{
    bb_redis_request_end(request, bb_db_flush(request->store->db));
}

static void compact(struct bb_redis_request *request)
{
    bb_redis_request_end(request, bb_db_compact(request->store->db));
}

/* The latest failure, which is the first damage, with the extent. */
static enum bb_status describe(enum bb_status status, const struct bb_db_scrub_report *report)
{
    const struct bb_error first = *bb_error_last();
    char message[sizeof(first.message)];
    snprintf(message, sizeof(message),
             "damaged files: %" PRIu64 " (the store has %" PRIu64 " tables), the first: %.*s",
             report->damaged, report->tables, (int)sizeof(message) - EXTENT_SIZE, first.message);
    return bb_error_set(status, message);
}

static void verify(struct bb_redis_request *request)
{
    struct bb_db_scrub_report *report = &((struct maintain *)request)->report;
    enum bb_status status = bb_db_scrub(request->store->db, NULL, report);
    if (report->damaged > 0 && (status == BB_CORRUPT || status == BB_IO))
        status = describe(status, report);
    bb_redis_request_end(request, status);
}

static int reply_ok(struct RedisModuleCtx *ctx, struct bb_redis_request *request)
{
    (void)request;
    return bb_redis_reply_ok(ctx);
}

static int reply_report(struct RedisModuleCtx *ctx, struct bb_redis_request *request)
{
    const struct bb_db_scrub_report *report = &((const struct maintain *)request)->report;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"tables", report->tables},
                {"entries", report->entries},
                {"bytes", report->read_bytes},
                {"damaged", report->damaged}};
    (void)bb_redis_reply_pairs(ctx, sizeof(rows) / sizeof(rows[0]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)RedisModule_ReplyWithSimpleString(ctx, rows[i].name);
        (void)RedisModule_ReplyWithLongLong(ctx, (long long)rows[i].value);
    }
    return REDISMODULE_OK;
}

static int maintain(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                    const struct bb_redis_request_class *class)
{
    if (argc != 2)
        return RedisModule_WrongArity(ctx);
    struct bb_redis_store *store = bb_redis_store_key_require(ctx, argv[1]);
    if (store == NULL)
        return REDISMODULE_OK;
    struct maintain *request = RedisModule_Alloc(sizeof(*request));
    request->report = (struct bb_db_scrub_report){0};
    bb_redis_request_init(&request->request, class, store, argv, argc);
    request->request.job.is_long = true;
    request->request.job.ends_on_close = true;
    return bb_redis_request_run(ctx, &request->request);
}

int bb_redis_flush_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_request_class class = {flush, reply_ok, NULL};
    return maintain(ctx, argv, argc, &class);
}

int bb_redis_compact_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_request_class class = {compact, reply_ok, NULL};
    return maintain(ctx, argv, argc, &class);
}

int bb_redis_verify_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_request_class class = {verify, reply_report, NULL};
    return maintain(ctx, argv, argc, &class);
}
