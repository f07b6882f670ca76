/* See explain_command.h. */
#include "redis/store/explain_command.h"

#include <stdio.h>
#include <string.h>

#include "bb/db_explain.h"
#include "redis/command/arguments.h"
#include "redis/command/reply.h"
#include "redis/store/request.h"
#include "redis/store/store_key.h"

#define LINE_SIZE 256

struct explain {
    struct bb_redis_request request; /* must be first */
    struct bb_explain steps;
};

static void work(struct bb_redis_request *request)
{
    struct explain *explain = (struct explain *)request;
    struct bb_bytes field = bb_redis_arguments_bytes(request->argv[2]);
    bb_redis_request_end(request,
                         bb_db_explain(request->store->db, NULL, field, NULL, &explain->steps));
}

static const char *found_name(enum bb_explain_found found)
{
    static const char *const names[] = {[BB_EXPLAIN_NOTHING] = "not found",
                                        [BB_EXPLAIN_VALUE] = "value",
                                        [BB_EXPLAIN_TOMBSTONE] = "deletion"};
    return names[found];
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void print_table(const struct bb_explain_step *step, char line[LINE_SIZE])
{
    const struct bb_table_explain *table = &step->table;
    if (table->visit == BB_VISIT_OUT_OF_BOUNDS) {
        snprintf(line, LINE_SIZE, "level %d, %s: out of bounds", step->level, file_of(step->path));
        return;
    }
    snprintf(line, LINE_SIZE,
             "level %d, %s: table filter %s; index page %s; block filter %s; block %s: %s",
             step->level, file_of(step->path), bb_verdict_name(table->table_filter.verdict),
             bb_source_name(table->page), bb_verdict_name(table->filter.verdict),
             bb_source_name(table->block), found_name(step->found));
}

static void print_step(const struct bb_explain_step *step, char line[LINE_SIZE])
{
    switch (step->kind) {
    case BB_EXPLAIN_MEMTABLE:
        snprintf(line, LINE_SIZE, "memory %zu: %s", step->memtable, found_name(step->found));
        return;
    case BB_EXPLAIN_TABLE:
        print_table(step, line);
        return;
    case BB_EXPLAIN_NO_TABLE:
        snprintf(line, LINE_SIZE, "level %d: no table's bounds include the field", step->level);
        return;
    }
}

static int reply(struct RedisModuleCtx *ctx, struct bb_redis_request *request)
{
    const struct bb_explain *steps = &((const struct explain *)request)->steps;
    char line[LINE_SIZE];
    (void)RedisModule_ReplyWithArray(ctx, (long)steps->step_count + 1);
    for (size_t i = 0; i < steps->step_count; i++) {
        print_step(&steps->steps[i], line);
        (void)RedisModule_ReplyWithStringBuffer(ctx, line, strlen(line));
    }
    const char *result = steps->is_found ? "present" : "absent";
    return RedisModule_ReplyWithStringBuffer(ctx, result, strlen(result));
}

static void release(struct bb_redis_request *request)
{
    bb_explain_deinit(&((struct explain *)request)->steps);
}

int bb_redis_explain_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_request_class class = {work, reply, release};
    if (argc != 3)
        return RedisModule_WrongArity(ctx);
    struct bb_redis_store *store = bb_redis_store_key_require(ctx, argv[1]);
    if (store == NULL)
        return REDISMODULE_OK;
    struct explain *explain = RedisModule_Alloc(sizeof(*explain));
    explain->steps = (struct bb_explain){.is_found = false};
    bb_redis_request_init(&explain->request, &class, store, argv, argc);
    return bb_redis_request_run(ctx, &explain->request);
}
