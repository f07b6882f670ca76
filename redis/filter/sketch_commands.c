/* See sketch_commands.h. Clients of RedisBloom expect these arguments, replies and texts of errors;
 * docs/redis.md lists the differences. */
#include "redis/filter/sketch_commands.h"

#include <math.h>

#include "redis/command/arguments.h"
#include "redis/command/command.h"
#include "redis/command/key.h"
#include "redis/command/reply.h"
#include "redis/filter/item_hash.h"
#include "redis/filter/sketch_type.h"

static struct RedisModuleType *type;

/* Opens the sketch. False: an error was the reply, and the key is closed. */
static bool open_sketch(struct RedisModuleCtx *ctx, struct RedisModuleString *name, int mode,
                        struct bb_redis_key *key)
{
    *key = bb_redis_key_open(ctx, name, type, mode);
    if (key->value != NULL)
        return true;
    if (key->is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else
        RedisModule_ReplyWithError(ctx, "CMS: key does not exist");
    bb_redis_key_close(key);
    return false;
}

/* --- Creation --- */

_Static_assert(BB_REDIS_SKETCH_CELLS_MAX == 134217728, "the error has this number");
#define TOO_MANY_CELLS "CMS: width * depth must be at most 134217728"
#define ABSURD         "CMS: invalid init arguments" /* RedisBloom refuses it too */

static const char *mistake_of(uint64_t columns, uint64_t rows)
{
    return rows != 0 && columns <= INT64_MAX / rows ? TOO_MANY_CELLS : ABSURD;
}

static int create(struct RedisModuleCtx *ctx, struct RedisModuleString *name, uint64_t columns,
                  uint64_t rows)
{
    struct bb_redis_key key =
        bb_redis_key_open(ctx, name, type, REDISMODULE_READ | REDISMODULE_WRITE);
    struct bb_redis_sketch *sketch = NULL;
    if (key.is_wrong_type || key.value != NULL) {
        RedisModule_ReplyWithError(ctx, "CMS: key already exists");
    } else if (!bb_redis_sketch_type_is_possible(columns, rows)) {
        RedisModule_ReplyWithError(ctx, mistake_of(columns, rows));
    } else if ((sketch = bb_redis_sketch_create(columns, rows)) == NULL) {
        RedisModule_ReplyWithError(ctx, "CMS: Insufficient memory to create the key");
    } else {
        bb_redis_key_set(&key, sketch);
        bb_redis_key_changed(&key, "cms.init");
        bb_redis_reply_ok(ctx);
    }
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

static int create_by_dimensions(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                int argc)
{
    long long columns = 0;
    long long rows = 0;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (!bb_redis_arguments_take_integer(&arguments, &columns) || columns < 1)
        return RedisModule_ReplyWithError(ctx, "CMS: invalid width");
    if (!bb_redis_arguments_take_integer(&arguments, &rows) || rows < 1)
        return RedisModule_ReplyWithError(ctx, "CMS: invalid depth");
    return create(ctx, argv[1], (uint64_t)columns, (uint64_t)rows);
}

static int create_by_error(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    double error = 0;
    double probability = 0;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (!bb_redis_arguments_take_double(&arguments, &error) || !(error > 0 && error < 1))
        return RedisModule_ReplyWithError(ctx, "CMS: invalid overestimation value");
    if (!bb_redis_arguments_take_double(&arguments, &probability) ||
        !(probability > 0 && probability < 1))
        return RedisModule_ReplyWithError(ctx, "CMS: invalid prob value");
    /* A row halves the probability of an error of 2 / columns (Markov's inequality). */
    double columns = ceil(2 / error);
    double rows = ceil(-log2(probability));
    if (columns >= 0x1p63)
        return RedisModule_ReplyWithError(ctx, ABSURD);
    return create(ctx, argv[1], (uint64_t)columns, (uint64_t)rows);
}

/* --- Counting --- */

/* The error of the pairs of an item and an increment, or NULL. */
static const char *check_increments(struct bb_redis_arguments arguments)
{
    while (bb_redis_arguments_left(&arguments) > 0) {
        long long increment = 0;
        arguments.at++;
        if (!bb_redis_arguments_take_integer(&arguments, &increment))
            return "CMS: Cannot parse number";
        if (increment < 0)
            return "CMS: Number cannot be negative";
    }
    return NULL;
}

/* True: the sketch was changed. */
static bool add_all(struct RedisModuleCtx *ctx, struct bb_redis_sketch *sketch,
                    struct bb_redis_arguments arguments)
{
    bool is_change = false;
    RedisModule_ReplyWithArray(ctx, bb_redis_arguments_left(&arguments) / 2);
    while (bb_redis_arguments_left(&arguments) > 0) {
        long long increment = 0;
        uint64_t hash = bb_redis_item_hash(arguments.values[arguments.at++]);
        if (!bb_redis_arguments_take_integer(&arguments, &increment))
            break; /* checked before */
        struct bb_redis_sketch_addition addition =
            bb_redis_sketch_add(sketch, hash, (uint64_t)increment);
        is_change |= addition.is_change;
        if (addition.is_overflow)
            RedisModule_ReplyWithError(ctx, "CMS: INCRBY overflow");
        else
            RedisModule_ReplyWithLongLong(ctx, addition.count);
    }
    return is_change;
}

static int increment(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_key key;
    if (argc % 2 != 0)
        return RedisModule_WrongArity(ctx);
    if (!open_sketch(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key))
        return REDISMODULE_OK;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    const char *error = check_increments(arguments);
    if (error != NULL)
        RedisModule_ReplyWithError(ctx, error);
    else if (add_all(ctx, key.value, arguments))
        bb_redis_key_changed(&key, "cms.incrby");
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

static int query(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_key key;
    if (!open_sketch(ctx, argv[1], REDISMODULE_READ, &key))
        return REDISMODULE_OK;
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        uint32_t count = bb_redis_sketch_count(key.value, bb_redis_item_hash(argv[i]));
        RedisModule_ReplyWithLongLong(ctx, count);
    }
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

static int info(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_key key;
    (void)argc;
    if (!open_sketch(ctx, argv[1], REDISMODULE_READ, &key))
        return REDISMODULE_OK;
    const struct bb_redis_sketch *sketch = key.value;
    bb_redis_reply_pairs(ctx, 3);
    RedisModule_ReplyWithSimpleString(ctx, "width");
    RedisModule_ReplyWithLongLong(ctx, (long long)sketch->column_count);
    RedisModule_ReplyWithSimpleString(ctx, "depth");
    RedisModule_ReplyWithLongLong(ctx, (long long)sketch->row_count);
    RedisModule_ReplyWithSimpleString(ctx, "count");
    RedisModule_ReplyWithLongLong(ctx, (long long)sketch->total);
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* --- Sums --- */

struct sources {
    int count;
    struct bb_redis_key *keys;
    const struct bb_redis_sketch **sketches;
    long long *weights;
};

static void close_sources(struct sources *sources)
{
    for (int i = 0; i < sources->count; i++)
        bb_redis_key_close(&sources->keys[i]);
    RedisModule_Free(sources->keys);
    RedisModule_Free(sources->sketches);
    RedisModule_Free(sources->weights);
}

/* The error of the count of keys and of weights, or NULL; *ret_has_weights tells whether there are
 * weights after the keys. */
static const char *check_counts(struct bb_redis_arguments arguments, long long key_count,
                                bool *ret_has_weights)
{
    long long left = bb_redis_arguments_left(&arguments);
    if (key_count <= 0)
        return "CMS: Number of keys must be positive";
    if (left == key_count) {
        *ret_has_weights = false;
        return NULL;
    }
    if (key_count > left || left != 2 * key_count + 1)
        return "CMS: wrong number of keys";
    arguments.at += (int)key_count;
    *ret_has_weights = bb_redis_arguments_take_word(&arguments, "WEIGHTS");
    return *ret_has_weights ? NULL : "CMS: wrong number of keys/weights";
}

/* Opens the sources of a sum. False: an error was the reply. */
static bool open_sources(struct RedisModuleCtx *ctx, const struct bb_redis_sketch *target,
                         struct bb_redis_arguments arguments, int key_count, bool has_weights,
                         struct sources *sources)
{
    size_t count = (size_t)key_count;
    sources->keys = RedisModule_Alloc(count * sizeof(sources->keys[0]));
    sources->sketches = RedisModule_Alloc(count * sizeof(sources->sketches[0]));
    sources->weights = RedisModule_Alloc(count * sizeof(sources->weights[0]));
    struct bb_redis_arguments weights = arguments;
    weights.at += key_count + 1;
    for (int i = 0; i < key_count; i++) {
        sources->weights[i] = 1;
        if (has_weights && !bb_redis_arguments_take_integer(&weights, &sources->weights[i])) {
            RedisModule_ReplyWithError(ctx, "CMS: invalid weight value");
            return false;
        }
        if (!open_sketch(ctx, arguments.values[arguments.at + i], REDISMODULE_READ,
                         &sources->keys[i]))
            return false;
        sources->count++;
        sources->sketches[i] = sources->keys[i].value;
        if (sources->sketches[i]->column_count != target->column_count ||
            sources->sketches[i]->row_count != target->row_count) {
            RedisModule_ReplyWithError(ctx, "CMS: width/depth is not equal");
            return false;
        }
    }
    return true;
}

static void set_sum(struct bb_redis_key *key, const struct sources *sources)
{
    bool is_change = false;
    if (!bb_redis_sketch_sum(key->value, sources->sketches, sources->weights,
                             (size_t)sources->count, &is_change)) {
        RedisModule_ReplyWithError(key->ctx, "CMS: MERGE overflow");
        return;
    }
    if (is_change)
        bb_redis_key_changed(key, "cms.merge");
    bb_redis_reply_ok(key->ctx);
}

static void merge_into(struct bb_redis_key *key, struct bb_redis_arguments arguments,
                       long long key_count)
{
    struct sources sources = {0};
    bool has_weights = false;
    const char *error = check_counts(arguments, key_count, &has_weights);
    if (error != NULL) {
        RedisModule_ReplyWithError(key->ctx, error);
        return;
    }
    if (open_sources(key->ctx, key->value, arguments, (int)key_count, has_weights, &sources))
        set_sum(key, &sources);
    close_sources(&sources);
}

static int merge(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_key key;
    long long key_count = 0;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (bb_redis_command_lists_keys(ctx, argv, argc, BB_REDIS_KEY_UPDATE,
                                    &bb_redis_command_counted_keys) ||
        !open_sketch(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key))
        return REDISMODULE_OK;
    if (bb_redis_arguments_take_integer(&arguments, &key_count))
        merge_into(&key, arguments, key_count);
    else
        RedisModule_ReplyWithError(ctx, "CMS: invalid numkeys");
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* --- The AOF --- */

static int load(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_key key;
    long long total = 0;
    long long cell = 0;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (!bb_redis_arguments_take_integer(&arguments, &total) ||
        !bb_redis_arguments_take_integer(&arguments, &cell) || cell < 0)
        return RedisModule_ReplyWithError(ctx, "CMS: Cannot parse number");
    if (!open_sketch(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key))
        return REDISMODULE_OK;
    struct bb_redis_sketch *sketch = key.value;
    if (bb_redis_sketch_type_load(sketch, (uint64_t)cell, bb_redis_arguments_bytes(argv[4]))) {
        bb_redis_sketch_set_total(sketch, (uint64_t)total);
        bb_redis_key_changed(&key, "bb.cms.load");
        bb_redis_reply_ok(ctx);
    } else {
        RedisModule_ReplyWithError(ctx, "ERR received bad data");
    }
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

static const struct bb_redis_command table[] = {
    {"CMS.INITBYDIM", create_by_dimensions, "write deny-oom fast", BB_REDIS_KEY_INSERT, NULL,
     "key width:integer depth:integer", "Creates a count-min sketch of the dimensions",
     "O(N), "
     "where N is the number of cells"},
    {"CMS.INITBYPROB", create_by_error, "write deny-oom fast", BB_REDIS_KEY_INSERT, NULL,
     "key error:double probability:double",
     "Creates a count-min sketch whose counts are too high by more than a share of all with at "
     "most the probability",
     "O(N), where N is the number of cells"},
    {"CMS.INCRBY", increment, "write deny-oom", BB_REDIS_KEY_UPDATE, NULL,
     "key (item increment:integer)...", "Adds to the counts of items",
     "O(N), where N is the number of items"},
    {"CMS.QUERY", query, "readonly", BB_REDIS_KEY_READ, NULL, "key item...",
     "The counts of items, which are never too low", "O(N), where N is the number of items"},
    {"CMS.MERGE", merge, "write deny-oom", BB_REDIS_KEY_UPDATE, &bb_redis_command_counted_keys,
     "destination:key numkeys:integer source:key... [WEIGHTS weight:integer...]",
     "Sets a sketch to the weighted sum of sketches",
     "O(N * M), where N is the number of cells and M the number of sketches"},
    {"CMS.INFO", info, "readonly fast", BB_REDIS_KEY_READ, NULL, "key",
     "The dimensions of a sketch and the sum of its counts", "O(1)"},
    {"BB.CMS.LOAD", load, "write deny-oom", BB_REDIS_KEY_UPDATE, NULL,
     "key count:integer cell:integer data", "Sets cells of a sketch; for rewritten AOF files",
     "O(N), where N is the size of the data"},
    {.name = NULL},
};

bool bb_redis_sketch_commands_register(struct RedisModuleCtx *ctx)
{
    type = bb_redis_sketch_type_create(ctx);
    return type != NULL && bb_redis_commands_register(ctx, table);
}
