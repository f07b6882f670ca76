/* See cuckoo_commands.h. Clients of RedisBloom expect these arguments, replies and texts of errors;
 * docs/redis.md lists the differences. */
#include "redis/filter/cuckoo_commands.h"

#include "redis/command/arguments.h"
#include "redis/command/command.h"
#include "redis/command/key.h"
#include "redis/command/reply.h"
#include "redis/filter/chain_dump.h"
#include "redis/filter/cuckoo_type.h"
#include "redis/filter/item_hash.h"

static struct RedisModuleType *type;

static const struct bb_redis_cuckoo_options options_default = {
    .capacity = 1024, .bucket_size = 2, .max_iterations = 20, .expansion = 1};

/* --- Creation --- */

static struct bb_redis_cuckoo *create(struct bb_redis_key *key,
                                      const struct bb_redis_cuckoo_options *options)
{
    struct bb_redis_cuckoo *cuckoo = bb_redis_cuckoo_create(options);
    if (cuckoo == NULL)
        RedisModule_ReplyWithError(key->ctx, "ERR Insufficient memory to create filter");
    else
        bb_redis_key_set(key, cuckoo);
    return cuckoo;
}

/* An option of CF.RESERVE: its word, its range, and its errors. */
struct option {
    const char *word;
    long long *value;
    long long minimum;
    long long maximum;
    const char *not_a_number;
    const char *out_of_range;
};

/* Takes an option if it is the next. *ret_error is NULL, or why its value is refused. */
static bool take_option(struct bb_redis_arguments *arguments, const struct option *option,
                        const char **ret_error)
{
    if (!bb_redis_arguments_take_word(arguments, option->word))
        return false;
    if (!bb_redis_arguments_take_integer(arguments, option->value))
        *ret_error = option->not_a_number;
    else if (*option->value < option->minimum || *option->value > option->maximum)
        *ret_error = option->out_of_range;
    return true;
}

/* The error of the options of CF.RESERVE, or NULL. */
static const char *parse_options(struct bb_redis_arguments *arguments,
                                 struct bb_redis_cuckoo_options *options)
{
    const struct option table[] = {
        {"BUCKETSIZE", &options->bucket_size, 1, BB_REDIS_CUCKOO_BUCKET_MAX,
         "Couldn't parse BUCKETSIZE", "BUCKETSIZE: value must be in the range [1, 255]"},
        {"MAXITERATIONS", &options->max_iterations, 1, BB_REDIS_CUCKOO_ITERATIONS_MAX,
         "Couldn't parse MAXITERATIONS", "MAXITERATIONS: value must be in the range [1, 65535]"},
        {"EXPANSION", &options->expansion, 0, BB_FINGERPRINT_CHAIN_EXPANSION_MAX,
         "Couldn't parse EXPANSION", "EXPANSION: value must be in the range [0, 32768]"},
    };
    const char *error = NULL;
    if (!bb_redis_arguments_take_integer(arguments, &options->capacity))
        return "Bad capacity";
    while (bb_redis_arguments_left(arguments) > 0 && error == NULL) {
        if (!take_option(arguments, &table[0], &error) &&
            !take_option(arguments, &table[1], &error) &&
            !take_option(arguments, &table[2], &error))
            return "ERR syntax error";
    }
    if (error == NULL && (options->capacity < 2 * options->bucket_size ||
                          options->capacity > BB_REDIS_CUCKOO_CAPACITY_MAX))
        return "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]";
    return error;
}

static int reserve(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_cuckoo_options options = options_default;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    const char *error = parse_options(&arguments, &options);
    if (error != NULL)
        return RedisModule_ReplyWithError(ctx, error);
    struct bb_redis_key key =
        bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ | REDISMODULE_WRITE);
    if (key.is_wrong_type) {
        bb_redis_reply_wrong_type(ctx);
    } else if (key.value != NULL) {
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    } else if (create(&key, &options) != NULL) {
        bb_redis_key_changed(&key, "cf.reserve");
        bb_redis_reply_ok(ctx);
    }
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* --- Insertion --- */

struct insertion {
    long long capacity;
    bool is_existing_only;
    /* Only items that the filter does not contain. */
    bool is_new_only;
    bool is_many;
};

static enum bb_fingerprint_outcome add_item(struct bb_redis_cuckoo *cuckoo, uint64_t hash,
                                            bool is_new_only)
{
    if (is_new_only && bb_fingerprint_chain_contains(cuckoo->chain, hash))
        return BB_FINGERPRINT_KNOWN;
    return bb_fingerprint_chain_add(cuckoo->chain, hash);
}

static void reply_failure(struct RedisModuleCtx *ctx, const struct bb_redis_cuckoo *cuckoo,
                          enum bb_fingerprint_outcome outcome)
{
    if (outcome == BB_FINGERPRINT_NO_MEMORY)
        RedisModule_ReplyWithError(ctx, "ERR Insufficient memory");
    else if (cuckoo->chain->options.expansion == 0)
        RedisModule_ReplyWithError(ctx, "Filter is full");
    else
        RedisModule_ReplyWithError(ctx, "Maximum expansions reached");
}

/* CF.INSERTNX has three answers, which are numbers in both protocols. */
static void reply_outcome(struct RedisModuleCtx *ctx, const struct bb_redis_cuckoo *cuckoo,
                          enum bb_fingerprint_outcome outcome, const struct insertion *insertion)
{
    bool is_added = outcome == BB_FINGERPRINT_ADDED;
    bool is_failed = !is_added && outcome != BB_FINGERPRINT_KNOWN;
    bool is_number =
        insertion->is_many && (insertion->is_new_only || !bb_redis_reply_is_resp3(ctx));
    if (is_failed && !insertion->is_many)
        reply_failure(ctx, cuckoo, outcome);
    else if (is_number)
        RedisModule_ReplyWithLongLong(ctx, is_added ? 1 : is_failed ? -1 : 0);
    else
        bb_redis_reply_truth(ctx, is_added);
}

static void add_items(struct bb_redis_key *key, struct bb_redis_arguments items,
                      const struct insertion *insertion, bool is_changed)
{
    if (insertion->is_many)
        RedisModule_ReplyWithArray(key->ctx, bb_redis_arguments_left(&items));
    for (; items.at < items.count; items.at++) {
        uint64_t hash = bb_redis_item_hash(items.values[items.at]);
        enum bb_fingerprint_outcome outcome = add_item(key->value, hash, insertion->is_new_only);
        is_changed |= outcome == BB_FINGERPRINT_ADDED;
        reply_outcome(key->ctx, key->value, outcome, insertion);
    }
    if (is_changed)
        bb_redis_key_changed(key, "cf.add");
}

static int insert(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                  struct bb_redis_arguments items, const struct insertion *insertion)
{
    struct bb_redis_cuckoo_options options = options_default;
    options.capacity = insertion->capacity;
    struct bb_redis_key key =
        bb_redis_key_open(ctx, name, type, REDISMODULE_READ | REDISMODULE_WRITE);
    bool is_new = key.value == NULL;
    if (key.is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else if (is_new && insertion->is_existing_only)
        RedisModule_ReplyWithError(ctx, "ERR not found");
    else if (!is_new || create(&key, &options) != NULL)
        add_items(&key, items, insertion, is_new);
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

static int add(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct insertion insertion = {.capacity = options_default.capacity};
    return insert(ctx, argv[1], bb_redis_arguments_make(argv, argc, 2), &insertion);
}

static int add_new(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct insertion insertion = {.capacity = options_default.capacity, .is_new_only = true};
    return insert(ctx, argv[1], bb_redis_arguments_make(argv, argc, 2), &insertion);
}

static const char *take_capacity(struct bb_redis_arguments *arguments, long long *capacity)
{
    if (!bb_redis_arguments_take_integer(arguments, capacity))
        return "Bad capacity";
    if (*capacity < 2 * options_default.bucket_size || *capacity > BB_REDIS_CUCKOO_CAPACITY_MAX)
        return "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
    return NULL;
}

static int insert_with_options(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                               int argc, bool is_new_only)
{
    struct insertion insertion = {
        .capacity = options_default.capacity, .is_new_only = is_new_only, .is_many = true};
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    while (!bb_redis_arguments_take_word(&arguments, "ITEMS")) {
        const char *error = NULL;
        if (bb_redis_arguments_take_word(&arguments, "NOCREATE"))
            insertion.is_existing_only = true;
        else if (bb_redis_arguments_take_word(&arguments, "CAPACITY"))
            error = take_capacity(&arguments, &insertion.capacity);
        else
            error = "Unknown argument received";
        if (bb_redis_arguments_left(&arguments) == 0)
            return RedisModule_WrongArity(ctx);
        if (error != NULL)
            return RedisModule_ReplyWithError(ctx, error);
    }
    if (bb_redis_arguments_left(&arguments) == 0)
        return RedisModule_WrongArity(ctx);
    return insert(ctx, argv[1], arguments, &insertion);
}

static int insert_many(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return insert_with_options(ctx, argv, argc, false);
}

static int insert_new(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return insert_with_options(ctx, argv, argc, true);
}

static int delete_item(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    (void)argc;
    struct bb_redis_key key =
        bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ | REDISMODULE_WRITE);
    struct bb_redis_cuckoo *cuckoo = key.value;
    if (key.is_wrong_type) {
        bb_redis_reply_wrong_type(ctx);
    } else if (cuckoo == NULL) {
        RedisModule_ReplyWithError(ctx, "Not found");
    } else if (bb_fingerprint_chain_remove(cuckoo->chain, bb_redis_item_hash(argv[2]))) {
        cuckoo->deleted_count++;
        bb_redis_key_changed(&key, "cf.del");
        bb_redis_reply_truth(ctx, true);
    } else {
        bb_redis_reply_truth(ctx, false);
    }
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* --- Questions --- */

static uint64_t count_of(const struct bb_redis_cuckoo *cuckoo, const struct RedisModuleString *item)
{
    return cuckoo == NULL ? 0 : bb_fingerprint_chain_find(cuckoo->chain, bb_redis_item_hash(item));
}

static int exists(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                  bool is_many)
{
    struct bb_redis_key key = bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ);
    if (key.is_wrong_type) {
        bb_redis_key_close(&key);
        return bb_redis_reply_wrong_type(ctx);
    }
    if (is_many)
        RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++)
        bb_redis_reply_truth(ctx, count_of(key.value, argv[i]) > 0);
    bb_redis_key_close(&key);
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

static int count(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    (void)argc;
    struct bb_redis_key key = bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ);
    if (key.is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else
        RedisModule_ReplyWithLongLong(ctx, (long long)count_of(key.value, argv[2]));
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

static void reply_field(struct RedisModuleCtx *ctx, const char *name, uint64_t value)
{
    RedisModule_ReplyWithSimpleString(ctx, name);
    RedisModule_ReplyWithLongLong(ctx, (long long)value);
}

static void reply_info(struct RedisModuleCtx *ctx, const struct bb_redis_cuckoo *cuckoo)
{
    bb_redis_reply_pairs(ctx, 8);
    reply_field(ctx, "Size", bb_redis_cuckoo_memory(cuckoo));
    reply_field(ctx, "Number of buckets", bb_redis_cuckoo_bucket_count(cuckoo));
    reply_field(ctx, "Number of filters", cuckoo->chain->table_count);
    reply_field(ctx, "Number of items inserted", bb_fingerprint_chain_totals(cuckoo->chain).count);
    reply_field(ctx, "Number of items deleted", cuckoo->deleted_count);
    reply_field(ctx, "Bucket size", cuckoo->bucket_size);
    reply_field(ctx, "Expansion rate", cuckoo->chain->options.expansion);
    reply_field(ctx, "Max iterations", cuckoo->max_iterations);
}

static int info(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    (void)argc;
    struct bb_redis_key key = bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ);
    if (key.is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else if (key.value == NULL)
        RedisModule_ReplyWithError(ctx, "ERR not found");
    else
        reply_info(ctx, key.value);
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* --- Copies in pieces --- */

_Static_assert(BB_REDIS_CUCKOO_HEADER_SIZE <= BB_REDIS_CHAIN_DUMP_HEADER_MAX, "space for it");

static void write_header(const void *value, uint8_t *header)
{
    bb_redis_cuckoo_type_header(value, header);
}

static const struct bb_fingerprint_chain *chain_of(const void *value)
{
    return ((const struct bb_redis_cuckoo *)value)->chain;
}

static int scan_dump(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_chain_dump_class class = {
        .iterator_error = "Invalid position",
        .ends_with_null = true,
        .skips_empty = true,
        .header_size = BB_REDIS_CUCKOO_HEADER_SIZE,
        .write_header = write_header,
        .chain_of = chain_of,
    };
    return bb_redis_chain_dump_command(ctx, argv, argc, type, &class);
}

/* The error of loading a piece, or NULL. */
static const char *load_piece(struct bb_redis_key *key, long long iterator, struct bb_bytes piece)
{
    struct bb_redis_cuckoo *cuckoo = key->value;
    if (cuckoo != NULL)
        return iterator > 1 && bb_redis_chain_dump_load(cuckoo->chain, piece)
                   ? NULL
                   : "Couldn't load chunk!";
    if (iterator != 1)
        return "ERR not found";
    cuckoo = bb_redis_cuckoo_type_decode(piece);
    if (cuckoo == NULL)
        return "Invalid header";
    bb_redis_key_set(key, cuckoo);
    return NULL;
}

static int load_chunk(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_chain_dump_load_class class = {
        .event = "cf.loadchunk", .iterator_error = "Invalid position", .load_piece = load_piece};
    return bb_redis_chain_dump_load_command(ctx, argv, argc, type, &class);
}

#define PER_FILTER "O(N), where N is the number of sub-filters"
#define PER_ITEM   "O(M * N), where M is the number of items and N the number of sub-filters"
#define PER_PIECE  "O(N), where N is the size of the piece"

static const struct bb_redis_command table[] = {
    {"CF.RESERVE", reserve, "write deny-oom", BB_REDIS_KEY_INSERT, NULL,
     "key capacity:integer [BUCKETSIZE bucket_size:integer] [MAXITERATIONS iterations:integer] "
     "[EXPANSION expansion:integer]",
     "Creates an empty filter with removal", "O(1)"},
    {"CF.ADD", add, "write deny-oom fast", BB_REDIS_KEY_INSERT, NULL, "key item",
     "Adds an item to a filter with removal, which is created if it does not exist", PER_FILTER},
    {"CF.ADDNX", add_new, "write deny-oom fast", BB_REDIS_KEY_INSERT, NULL, "key item",
     "Adds an item that a filter with removal does not contain", PER_FILTER},
    {"CF.INSERT", insert_many, "write deny-oom", BB_REDIS_KEY_INSERT, NULL,
     "key [CAPACITY capacity:integer] [NOCREATE] ITEMS item...",
     "Adds items to a filter with removal, which is created with the capacity if it does not exist",
     PER_ITEM},
    {"CF.INSERTNX", insert_new, "write deny-oom", BB_REDIS_KEY_INSERT, NULL,
     "key [CAPACITY capacity:integer] [NOCREATE] ITEMS item...",
     "Adds the items that a filter with removal does not contain", PER_ITEM},
    {"CF.EXISTS", exists_one, "readonly fast", BB_REDIS_KEY_READ, NULL, "key item",
     "Tells whether an item may be in a filter with removal", PER_FILTER},
    {"CF.MEXISTS", exists_many, "readonly", BB_REDIS_KEY_READ, NULL, "key item...",
     "Tells for each item whether it may be in a filter with removal", PER_ITEM},
    {"CF.DEL", delete_item, "write fast", BB_REDIS_KEY_DELETE, NULL, "key item",
     "Removes an item once from a filter; it must be a member", PER_FILTER},
    {"CF.COUNT", count, "readonly fast", BB_REDIS_KEY_READ, NULL, "key item",
     "The number of times that an item may be in a filter with removal", PER_FILTER},
    {"CF.INFO", info, "readonly fast", BB_REDIS_KEY_READ, NULL, "key",
     "Describes a filter with removal", "O(1)"},
    {"CF.SCANDUMP", scan_dump, "readonly", BB_REDIS_KEY_READ, NULL, "key iterator:integer",
     "The next piece of a copy of a filter with removal", PER_PIECE},
    {"CF.LOADCHUNK", load_chunk, "write deny-oom", BB_REDIS_KEY_INSERT, NULL,
     "key iterator:integer data", "Restores a piece of a copy of a filter with removal", PER_PIECE},
    {.name = NULL},
};

bool bb_redis_cuckoo_commands_register(struct RedisModuleCtx *ctx,
                                       struct RedisModuleType **ret_type)
{
    type = bb_redis_cuckoo_type_create(ctx);
    *ret_type = type;
    return type != NULL && bb_redis_commands_register(ctx, table);
}
