/* See ribbon_commands.h. */
#include "redis/filter/ribbon_commands.h"

#include "redis/command/arguments.h"
#include "redis/command/command.h"
#include "redis/command/key.h"
#include "redis/command/reply.h"
#include "redis/filter/item_hash.h"
#include "redis/filter/ribbon_type.h"

static struct bb_redis_filter_types types;

/* --- Building --- */

/* Puts the envelope of the builder into a new value. NULL: see bb_error_last. */
static struct bb_redis_ribbon *finish(struct bb_filter_builder *builder)
{
    struct bb_buf envelope = {0};
    struct bb_redis_ribbon *ribbon = bb_redis_ribbon_create();
    enum bb_status status = ribbon == NULL ? bb_error_set(BB_NO_MEMORY, "no memory for a filter")
                                           : bb_filter_builder_finish(builder, &envelope);
    if (status == BB_OK)
        status = bb_redis_ribbon_copy_part(ribbon, (struct bb_bytes){envelope.data, envelope.size});
    bb_buf_deinit(&envelope);
    if (status == BB_OK)
        return ribbon;
    bb_redis_ribbon_destroy(ribbon);
    return NULL;
}

/* Sets the key to the filter of the builder, or replies with the failure of adding to it. */
static void store(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                  struct bb_filter_builder *builder, enum bb_status added)
{
    struct bb_redis_key key =
        bb_redis_key_open(ctx, name, types.ribbon, REDISMODULE_READ | REDISMODULE_WRITE);
    struct bb_redis_ribbon *ribbon = NULL;
    if (key.is_wrong_type) {
        bb_redis_reply_wrong_type(ctx);
    } else if (added != BB_OK || (ribbon = finish(builder)) == NULL) {
        bb_redis_reply_failure(ctx);
    } else {
        bb_redis_key_set(&key, ribbon);
        bb_redis_key_changed(&key, "bb.filter.build");
        RedisModule_ReplyWithLongLong(ctx, (long long)bb_redis_ribbon_totals(ribbon).key_count);
    }
    bb_redis_key_close(&key);
}

/* A builder with the rate that is the next argument. NULL: an error was the reply. */
static struct bb_filter_builder *create_builder(struct RedisModuleCtx *ctx,
                                                struct bb_redis_arguments *arguments)
{
    struct bb_filter_options options = {.kind = BB_FILTER_RIBBON};
    struct bb_filter_builder *builder = NULL;
    if (!bb_redis_arguments_take_double(arguments, &options.target_rate) ||
        !(options.target_rate > 0)) {
        RedisModule_ReplyWithError(ctx, "ERR bad error rate");
        return NULL;
    }
    if (bb_filter_builder_create(&options, &builder) != BB_OK)
        bb_redis_reply_failure(ctx);
    return builder;
}

static int build(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    struct bb_filter_builder *builder = create_builder(ctx, &arguments);
    enum bb_status status = BB_OK;
    if (builder == NULL)
        return REDISMODULE_OK;
    for (; arguments.at < argc && status == BB_OK; arguments.at++)
        status = bb_filter_builder_add(builder, bb_redis_item_hash(argv[arguments.at]));
    store(ctx, argv[1], builder, status);
    bb_filter_builder_destroy(builder);
    return REDISMODULE_OK;
}

/* The members of a key of Redis' own, one after the other. */
struct intake {
    struct bb_filter_builder *builder;
    enum bb_status status;
};

static void take_member(struct RedisModuleKey *key, struct RedisModuleString *member,
                        struct RedisModuleString *value, void *data)
{
    struct intake *intake = data;
    (void)key;
    (void)value;
    if (intake->status == BB_OK)
        intake->status = bb_filter_builder_add(intake->builder, bb_redis_item_hash(member));
}

/* Adds the members of a set, of a sorted set, or the fields of a hash. */
static enum bb_status take_members(struct RedisModuleKey *key, struct bb_filter_builder *builder)
{
    struct intake intake = {builder, BB_OK};
    struct RedisModuleScanCursor *cursor = RedisModule_ScanCursorCreate();
    while (RedisModule_ScanKey(key, cursor, take_member, &intake) != 0)
        continue;
    RedisModule_ScanCursorDestroy(cursor);
    return intake.status;
}

static const struct RedisModuleCommandKeySpec source_key = {
    .flags = BB_REDIS_KEY_READ,
    .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,
    .bs.index.pos = 3,
    .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
    .fk.range.keystep = 1,
};

static int build_from(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    if (bb_redis_command_lists_keys(ctx, argv, argc, BB_REDIS_KEY_OVERWRITE, &source_key))
        return REDISMODULE_OK;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    struct bb_filter_builder *builder = create_builder(ctx, &arguments);
    if (builder == NULL)
        return REDISMODULE_OK;
    struct RedisModuleKey *source = RedisModule_OpenKey(ctx, argv[3], REDISMODULE_READ);
    int type = source == NULL ? REDISMODULE_KEYTYPE_EMPTY : RedisModule_KeyType(source);
    if (type == REDISMODULE_KEYTYPE_EMPTY)
        RedisModule_ReplyWithError(ctx, "ERR not found");
    else if (type != REDISMODULE_KEYTYPE_SET && type != REDISMODULE_KEYTYPE_ZSET &&
             type != REDISMODULE_KEYTYPE_HASH)
        bb_redis_reply_wrong_type(ctx);
    else
        store(ctx, argv[1], builder, take_members(source, builder));
    if (source != NULL)
        RedisModule_CloseKey(source);
    bb_filter_builder_destroy(builder);
    return REDISMODULE_OK;
}

/* --- Queries --- */

static int exists(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                  bool is_many)
{
    struct bb_redis_any_filter filter = bb_redis_any_filter_open(ctx, argv[1], &types);
    if (filter.is_wrong_type) {
        bb_redis_any_filter_close(&filter);
        return bb_redis_reply_wrong_type(ctx);
    }
    if (is_many)
        RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++)
        bb_redis_reply_truth(ctx,
                             bb_redis_any_filter_may_contain(&filter, bb_redis_item_hash(argv[i])));
    bb_redis_any_filter_close(&filter);
    return REDISMODULE_OK;
}

static int exists_one(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return exists(ctx, argv, argc, false);
}

static int exists_many(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return exists(ctx, argv, argc, true);
}

/* The fields of BB.FILTER.INFO. */
struct description {
    const char *kind;
    uint64_t parts;
    uint64_t item_count;
    uint64_t memory;
    double target_rate;
    double predicted_rate;
};

static struct description describe_chain(const struct bb_fingerprint_chain *chain)
{
    struct bb_fingerprint_totals totals = bb_fingerprint_chain_totals(chain);
    return (struct description){"fingerprints", chain->table_count,  totals.count,
                                totals.memory,  chain->options.rate, totals.rate};
}

static struct description describe_ribbon(const struct bb_redis_ribbon *ribbon)
{
    struct bb_redis_ribbon_totals totals = bb_redis_ribbon_totals(ribbon);
    return (struct description){"ribbon",      ribbon->part_count, totals.key_count,
                                totals.memory, totals.target_rate, totals.predicted_rate};
}

static void reply_description(struct RedisModuleCtx *ctx, struct description filter)
{
    bb_redis_reply_pairs(ctx, 7);
    RedisModule_ReplyWithSimpleString(ctx, "Kind");
    RedisModule_ReplyWithSimpleString(ctx, filter.kind);
    RedisModule_ReplyWithSimpleString(ctx, "Number of filters");
    RedisModule_ReplyWithLongLong(ctx, (long long)filter.parts);
    RedisModule_ReplyWithSimpleString(ctx, "Number of items");
    RedisModule_ReplyWithLongLong(ctx, (long long)filter.item_count);
    RedisModule_ReplyWithSimpleString(ctx, "Size");
    RedisModule_ReplyWithLongLong(ctx, (long long)filter.memory);
    RedisModule_ReplyWithSimpleString(ctx, "Bits per item");
    RedisModule_ReplyWithDouble(
        ctx, filter.item_count == 0 ? 0 : 8.0 * (double)filter.memory / (double)filter.item_count);
    RedisModule_ReplyWithSimpleString(ctx, "Target rate");
    RedisModule_ReplyWithDouble(ctx, filter.target_rate);
    RedisModule_ReplyWithSimpleString(ctx, "Predicted rate");
    RedisModule_ReplyWithDouble(ctx, filter.predicted_rate);
}

static int info(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    (void)argc;
    struct bb_redis_any_filter filter = bb_redis_any_filter_open(ctx, argv[1], &types);
    if (filter.is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else if (filter.chain != NULL)
        reply_description(ctx, describe_chain(filter.chain));
    else if (filter.ribbon != NULL)
        reply_description(ctx, describe_ribbon(filter.ribbon));
    else
        RedisModule_ReplyWithError(ctx, "ERR not found");
    bb_redis_any_filter_close(&filter);
    return REDISMODULE_OK;
}

/* --- Unions --- */

/* A union as it grows by sources: ribbons, or sets of fingerprints. */
struct uniting {
    struct bb_redis_ribbon *ribbon;
    struct bb_fingerprint_chain *chain;
};

static bool has_same_options(const struct bb_fingerprint_chain *first,
                             const struct bb_fingerprint_chain *second)
{
    return first->options.is_set == second->options.is_set &&
           first->options.capacity == second->options.capacity &&
           first->options.rate == second->options.rate &&
           first->options.expansion == second->options.expansion;
}

/* The error of adding the fingerprints, or NULL. */
static const char *unite_chain(struct uniting *uniting, const struct bb_fingerprint_chain *source)
{
    if (uniting->ribbon != NULL)
        return "ERR a union is of filters of one type";
    if (!source->options.is_set)
        return "ERR a union is of filters of BF or BB.FILTER";
    if (uniting->chain == NULL) {
        uniting->chain = bb_fingerprint_chain_copy(source);
        return uniting->chain == NULL ? "ERR no memory for a union" : NULL;
    }
    if (!has_same_options(uniting->chain, source))
        return "ERR filters with other capacities, error rates or expansions cannot be united";
    return bb_fingerprint_chain_unite(uniting->chain, source) == BB_FINGERPRINT_ADDED
               ? NULL
               : "ERR the union has too many items, or there is no memory";
}

static const char *unite_ribbon(struct uniting *uniting, const struct bb_redis_ribbon *source)
{
    if (uniting->chain != NULL)
        return "ERR a union is of filters of one type";
    if (uniting->ribbon == NULL)
        uniting->ribbon = bb_redis_ribbon_create();
    if (uniting->ribbon == NULL)
        return "ERR no memory for a union";
    return bb_redis_ribbon_unite(uniting->ribbon, source) == BB_OK
               ? NULL
               : "ERR the union has more than 64 ribbons, or there is no memory";
}

static const char *unite(struct RedisModuleCtx *ctx, struct uniting *uniting,
                         struct RedisModuleString *name)
{
    struct bb_redis_any_filter source = bb_redis_any_filter_open(ctx, name, &types);
    const char *error = "ERR not found";
    if (source.is_wrong_type)
        error = REDISMODULE_ERRORMSG_WRONGTYPE;
    else if (source.chain != NULL)
        error = unite_chain(uniting, source.chain);
    else if (source.ribbon != NULL)
        error = unite_ribbon(uniting, source.ribbon);
    bb_redis_any_filter_close(&source);
    return error;
}

/* Sets the key to the union, which is owned then if the result is NULL. */
static const char *set_union(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                             struct uniting *uniting)
{
    bool is_ribbon = uniting->ribbon != NULL;
    const char *error = REDISMODULE_ERRORMSG_WRONGTYPE;
    struct bb_redis_key key = bb_redis_key_open(ctx, name, is_ribbon ? types.ribbon : types.bloom,
                                                REDISMODULE_READ | REDISMODULE_WRITE);
    if (!key.is_wrong_type) {
        bb_redis_key_set(&key, is_ribbon ? (void *)uniting->ribbon : (void *)uniting->chain);
        bb_redis_key_changed(&key, "bb.filter.union");
        error = NULL;
    }
    bb_redis_key_close(&key);
    return error;
}

static int make_union(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    long long count = 0;
    struct uniting uniting = {0};
    const char *error = NULL;
    if (bb_redis_command_lists_keys(ctx, argv, argc, BB_REDIS_KEY_OVERWRITE,
                                    &bb_redis_command_counted_keys))
        return REDISMODULE_OK;
    if (!bb_redis_arguments_take_integer(&arguments, &count) || count < 1 ||
        count != bb_redis_arguments_left(&arguments))
        return RedisModule_ReplyWithError(ctx, "ERR numkeys is not the number of keys");
    for (; arguments.at < argc && error == NULL; arguments.at++)
        error = unite(ctx, &uniting, argv[arguments.at]);
    if (error == NULL)
        error = set_union(ctx, argv[1], &uniting);
    if (error == NULL)
        return bb_redis_reply_ok(ctx);
    bb_redis_ribbon_destroy(uniting.ribbon);
    bb_fingerprint_chain_destroy(uniting.chain);
    return RedisModule_ReplyWithError(ctx, error);
}

/* --- The AOF --- */

static int load(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    (void)argc;
    struct bb_redis_key key =
        bb_redis_key_open(ctx, argv[1], types.ribbon, REDISMODULE_READ | REDISMODULE_WRITE);
    struct bb_redis_ribbon *ribbon = key.value == NULL ? bb_redis_ribbon_create() : key.value;
    if (key.is_wrong_type) {
        bb_redis_reply_wrong_type(ctx);
    } else if (ribbon == NULL) {
        RedisModule_ReplyWithError(ctx, "ERR no memory for a filter");
    } else if (bb_redis_ribbon_copy_part(ribbon, bb_redis_arguments_bytes(argv[2])) != BB_OK) {
        bb_redis_reply_failure(ctx);
    } else {
        if (key.value == NULL)
            bb_redis_key_set(&key, ribbon);
        bb_redis_key_changed(&key, "bb.filter.load");
        bb_redis_reply_ok(ctx);
    }
    if (ribbon != key.value)
        bb_redis_ribbon_destroy(ribbon);
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

static const struct bb_redis_command table[] = {
    {"BB.FILTER.BUILD", build, "write deny-oom", BB_REDIS_KEY_OVERWRITE, NULL,
     "key error_rate:double item...", "Sets a key to the smallest filter of the items",
     "O(N), where N is the number of items"},
    {"BB.FILTER.BUILDFROM", build_from, "write deny-oom", BB_REDIS_KEY_OVERWRITE, &source_key,
     "key error_rate:double source:key",
     "Sets a key to the smallest filter of the members of a set or sorted set, or of the fields of "
     "a hash",
     "O(N), where N is the number of members"},
    {"BB.FILTER.EXISTS", exists_one, "readonly fast", BB_REDIS_KEY_READ, NULL, "key item",
     "Tells whether an item may be in a filter of BB.FILTER, BF or CF", "O(1)"},
    {"BB.FILTER.MEXISTS", exists_many, "readonly", BB_REDIS_KEY_READ, NULL, "key item...",
     "Tells for each item whether it may be in a filter of BB.FILTER, BF or CF",
     "O(N), where N is the number of items"},
    {"BB.FILTER.INFO", info, "readonly fast", BB_REDIS_KEY_READ, NULL, "key",
     "Describes a filter of BB.FILTER, BF or CF, with its predicted rate", "O(1)"},
    {"BB.FILTER.UNION", make_union, "write deny-oom", BB_REDIS_KEY_OVERWRITE,
     &bb_redis_command_counted_keys, "destination:key numkeys:integer source:key...",
     "Sets a key to the union of filters of one type", "O(N), where N is the size of all sources"},
    {"BB.FILTER.LOAD", load, "write deny-oom", BB_REDIS_KEY_INSERT, NULL, "key data",
     "Adds a ribbon to a filter; for rewritten AOF files", "O(N), where N is the size of the data"},
    {.name = NULL},
};

bool bb_redis_ribbon_commands_register(struct RedisModuleCtx *ctx,
                                       const struct bb_redis_filter_types *others)
{
    types = *others;
    types.ribbon = bb_redis_ribbon_type_create(ctx);
    return types.ribbon != NULL && bb_redis_commands_register(ctx, table);
}
