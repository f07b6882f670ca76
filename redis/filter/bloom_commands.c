/* See bloom_commands.h. Clients of RedisBloom expect these arguments, replies and texts of errors;
 * docs/redis.md lists the differences. */
#include "redis/filter/bloom_commands.h"

#include "redis/command/arguments.h"
#include "redis/command/command.h"
#include "redis/command/key.h"
#include "redis/command/reply.h"
#include "redis/filter/bloom_type.h"
#include "redis/filter/chain_dump.h"
#include "redis/filter/item_hash.h"
#include "redis/fingerprint/fingerprint_coding.h"

#define CAPACITY_DEFAULT  100
#define CAPACITY_MAX      (INT64_C(1) << 30)
#define RATE_DEFAULT      0.01
#define RATE_MAX          0.25
#define EXPANSION_DEFAULT 2

static struct RedisModuleType *type;

/* --- Creation --- */

struct creation {
    long long capacity;
    double rate;
    long long expansion;
    bool has_expansion;
    bool is_fixed;
    bool is_existing_only;
};

static const struct creation creation_default = {
    .capacity = CAPACITY_DEFAULT, .rate = RATE_DEFAULT, .expansion = EXPANSION_DEFAULT};

/* Sets an option of a creation. False: the argument is another one. *ret_error: the reason if its
 * value is refused, or NULL. */
static bool take_expansion(struct bb_redis_arguments *arguments, struct creation *creation,
                           const char **ret_error)
{
    *ret_error = NULL;
    if (bb_redis_arguments_take_word(arguments, "NONSCALING")) {
        creation->is_fixed = true;
        return true;
    }
    if (!bb_redis_arguments_take_word(arguments, "EXPANSION"))
        return false;
    creation->has_expansion = true;
    if (bb_redis_arguments_left(arguments) == 0)
        *ret_error = "ERR no expansion";
    else if (!bb_redis_arguments_take_integer(arguments, &creation->expansion))
        *ret_error = "ERR bad expansion";
    else if (creation->expansion < 0 || creation->expansion > BB_FINGERPRINT_CHAIN_EXPANSION_MAX)
        *ret_error = "ERR expansion must be in the range [0, 32768]";
    return true;
}

static bool is_rate(double rate)
{
    return rate > 0 && rate < 1;
}

static bool is_capacity(long long capacity)
{
    return capacity >= 1 && capacity <= CAPACITY_MAX;
}

/* Creates the filter as the value of the key. NULL: an error was the reply. */
static struct bb_fingerprint_chain *create(struct bb_redis_key *key,
                                           const struct creation *creation)
{
    struct bb_fingerprint_options options = {
        .capacity = (uint64_t)creation->capacity,
        .rate = creation->rate < RATE_MAX ? creation->rate : RATE_MAX,
        .expansion = creation->is_fixed ? 0 : (uint32_t)creation->expansion,
        .is_set = true,
        .table_limit = BB_FINGERPRINT_CHAIN_TABLES_MAX,
    };
    struct bb_fingerprint_chain *chain = NULL;
    if (!bb_fingerprint_options_are_possible(&options)) {
        RedisModule_ReplyWithError(key->ctx, "ERR error rate is too low for this capacity");
        return NULL;
    }
    chain = bb_fingerprint_chain_create(&options);
    if (chain == NULL)
        RedisModule_ReplyWithError(key->ctx, "ERR Insufficient memory to create filter");
    else
        bb_redis_key_set(key, chain);
    return chain;
}

/* The error of the options of BF.RESERVE, or NULL. */
static const char *parse_reserve(struct bb_redis_arguments *arguments, struct creation *creation)
{
    const char *error = NULL;
    if (!bb_redis_arguments_take_double(arguments, &creation->rate))
        return "ERR bad error rate";
    if (!is_rate(creation->rate))
        return "ERR error rate must be in the range (0.000000, 1.000000)";
    if (!bb_redis_arguments_take_integer(arguments, &creation->capacity))
        return "ERR bad capacity";
    if (!is_capacity(creation->capacity))
        return "ERR capacity must be in the range [1, 1073741824]";
    while (bb_redis_arguments_left(arguments) > 0) {
        if (!take_expansion(arguments, creation, &error))
            return "ERR syntax error";
        if (error != NULL)
            return error;
    }
    if (creation->is_fixed && creation->has_expansion && creation->expansion != 0)
        return "Nonscaling filters cannot expand";
    return NULL;
}

static int reserve(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct creation creation = creation_default;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    const char *error = parse_reserve(&arguments, &creation);
    if (error != NULL)
        return RedisModule_ReplyWithError(ctx, error);
    struct bb_redis_key key =
        bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ | REDISMODULE_WRITE);
    if (key.is_wrong_type) {
        bb_redis_reply_wrong_type(ctx);
    } else if (key.value != NULL) {
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    } else if (create(&key, &creation) != NULL) {
        bb_redis_key_changed(&key, "bf.reserve");
        bb_redis_reply_ok(ctx);
    }
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* --- Insertion --- */

/* Replies to one item; false if there was no space for it. */
static bool add_item(struct RedisModuleCtx *ctx, struct bb_fingerprint_chain *chain,
                     const struct RedisModuleString *item, bool *is_changed)
{
    enum bb_fingerprint_outcome outcome = bb_fingerprint_chain_add(chain, bb_redis_item_hash(item));
    *is_changed |= outcome == BB_FINGERPRINT_ADDED;
    if (outcome == BB_FINGERPRINT_ADDED || outcome == BB_FINGERPRINT_KNOWN) {
        bb_redis_reply_truth(ctx, outcome == BB_FINGERPRINT_ADDED);
        return true;
    }
    if (outcome == BB_FINGERPRINT_NO_MEMORY)
        RedisModule_ReplyWithError(ctx, "ERR problem inserting into filter");
    else if (chain->options.expansion == 0)
        RedisModule_ReplyWithError(ctx, "ERR non scaling filter is full");
    else
        RedisModule_ReplyWithError(ctx,
                                   "ERR problem inserting into filter: it cannot grow further");
    return false;
}

/* Adds the items, up to the first for which there is no space. */
static void add_items(struct bb_redis_key *key, struct bb_redis_arguments items, bool is_many,
                      bool is_changed)
{
    long count = 0;
    bool has_space = true;
    if (is_many)
        RedisModule_ReplyWithArray(key->ctx, REDISMODULE_POSTPONED_LEN);
    for (; has_space && items.at < items.count; items.at++, count++)
        has_space = add_item(key->ctx, key->value, items.values[items.at], &is_changed);
    if (is_many)
        RedisModule_ReplySetArrayLength(key->ctx, count);
    if (is_changed)
        bb_redis_key_changed(key, "bf.add");
}

static int insert(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                  struct bb_redis_arguments items, const struct creation *creation, bool is_many)
{
    struct bb_redis_key key =
        bb_redis_key_open(ctx, name, type, REDISMODULE_READ | REDISMODULE_WRITE);
    bool is_new = key.value == NULL;
    if (key.is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else if (is_new && creation->is_existing_only)
        RedisModule_ReplyWithError(ctx, "ERR not found");
    else if (!is_new || create(&key, creation) != NULL)
        add_items(&key, items, is_many, is_new);
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

static int add(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return insert(ctx, argv[1], bb_redis_arguments_make(argv, argc, 2), &creation_default, false);
}

static int add_many(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return insert(ctx, argv[1], bb_redis_arguments_make(argv, argc, 2), &creation_default, true);
}

/* Takes the next option of BF.INSERT. Returns its error, or NULL. */
static const char *take_insert_option(struct bb_redis_arguments *arguments,
                                      struct creation *creation)
{
    const char *error = NULL;
    if (bb_redis_arguments_take_word(arguments, "NOCREATE")) {
        creation->is_existing_only = true;
        return NULL;
    }
    if (bb_redis_arguments_take_word(arguments, "ERROR")) {
        return bb_redis_arguments_take_double(arguments, &creation->rate) && is_rate(creation->rate)
                   ? NULL
                   : "Bad error rate";
    }
    if (bb_redis_arguments_take_word(arguments, "CAPACITY")) {
        return bb_redis_arguments_take_integer(arguments, &creation->capacity) &&
                       is_capacity(creation->capacity)
                   ? NULL
                   : "Bad capacity";
    }
    if (!take_expansion(arguments, creation, &error))
        return "Unknown argument received";
    return error == NULL ? NULL : "Bad expansion";
}

static int insert_with_options(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                               int argc)
{
    struct creation creation = creation_default;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    while (!bb_redis_arguments_take_word(&arguments, "ITEMS")) {
        if (bb_redis_arguments_left(&arguments) == 0)
            return RedisModule_WrongArity(ctx);
        const char *error = take_insert_option(&arguments, &creation);
        if (error != NULL)
            return bb_redis_arguments_left(&arguments) == 0
                       ? RedisModule_WrongArity(ctx)
                       : RedisModule_ReplyWithError(ctx, error);
    }
    if (bb_redis_arguments_left(&arguments) == 0)
        return RedisModule_WrongArity(ctx);
    return insert(ctx, argv[1], arguments, &creation, true);
}

/* --- Questions --- */

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
    for (int i = 2; i < argc; i++) {
        bool is_there = key.value != NULL &&
                        bb_fingerprint_chain_contains(key.value, bb_redis_item_hash(argv[i]));
        bb_redis_reply_truth(ctx, is_there);
    }
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

static int cardinality(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    (void)argc;
    struct bb_redis_key key = bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ);
    if (key.is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else if (key.value == NULL)
        RedisModule_ReplyWithLongLong(ctx, 0);
    else
        RedisModule_ReplyWithLongLong(ctx, (long long)bb_fingerprint_chain_totals(key.value).count);
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* The fields of BF.INFO: the word that selects one, its name and its value. */
struct field {
    const char *word;
    const char *name;
    long long value;
    bool is_null;
};
#define FIELD_COUNT 5

static void list_fields(const struct bb_fingerprint_chain *chain, struct field fields[FIELD_COUNT])
{
    struct bb_fingerprint_totals totals = bb_fingerprint_chain_totals(chain);
    fields[0] = (struct field){"CAPACITY", "Capacity", (long long)totals.capacity, false};
    fields[1] = (struct field){"SIZE", "Size", (long long)totals.memory, false};
    fields[2] = (struct field){"FILTERS", "Number of filters", chain->table_count, false};
    fields[3] = (struct field){"ITEMS", "Number of items inserted", (long long)totals.count, false};
    fields[4] = (struct field){"EXPANSION", "Expansion rate", chain->options.expansion,
                               chain->options.expansion == 0};
}

static void reply_field(struct RedisModuleCtx *ctx, const struct field *field)
{
    if (field->is_null)
        RedisModule_ReplyWithNull(ctx);
    else
        RedisModule_ReplyWithLongLong(ctx, field->value);
}

static int reply_one_field(struct RedisModuleCtx *ctx, struct field fields[FIELD_COUNT],
                           struct bb_redis_arguments *arguments)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (!bb_redis_arguments_take_word(arguments, fields[i].word))
            continue;
        if (bb_redis_reply_is_resp3(ctx)) {
            RedisModule_ReplyWithMap(ctx, 1);
            RedisModule_ReplyWithSimpleString(ctx, fields[i].name);
        } else {
            RedisModule_ReplyWithArray(ctx, 1);
        }
        reply_field(ctx, &fields[i]);
        return REDISMODULE_OK;
    }
    return RedisModule_ReplyWithError(ctx, "Invalid information value");
}

static int reply_all_fields(struct RedisModuleCtx *ctx, struct field fields[FIELD_COUNT])
{
    bb_redis_reply_pairs(ctx, FIELD_COUNT);
    for (int i = 0; i < FIELD_COUNT; i++) {
        RedisModule_ReplyWithSimpleString(ctx, fields[i].name);
        reply_field(ctx, &fields[i]);
    }
    return REDISMODULE_OK;
}

static int info(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct field fields[FIELD_COUNT];
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (bb_redis_arguments_left(&arguments) > 1)
        return RedisModule_WrongArity(ctx);
    struct bb_redis_key key = bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ);
    if (key.value != NULL)
        list_fields(key.value, fields);
    if (key.is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else if (key.value == NULL)
        RedisModule_ReplyWithError(ctx, "ERR not found");
    else if (argc == 3)
        reply_one_field(ctx, fields, &arguments);
    else
        reply_all_fields(ctx, fields);
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* --- Copies in pieces --- */

static void write_header(const void *value, uint8_t *header)
{
    bb_fingerprint_coding_header(value, header);
}

static const struct bb_fingerprint_chain *chain_of(const void *value)
{
    return value;
}

static int scan_dump(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_chain_dump_class class = {
        .iterator_error = "Second argument must be numeric",
        .header_size = BB_FINGERPRINT_HEADER_SIZE,
        .write_header = write_header,
        .chain_of = chain_of,
    };
    return bb_redis_chain_dump_command(ctx, argv, argc, type, &class);
}

/* The error of loading a piece, or NULL. */
static const char *load_piece(struct bb_redis_key *key, long long iterator, struct bb_bytes piece)
{
    if (key->value != NULL)
        return iterator > 1 && bb_redis_chain_dump_load(key->value, piece)
                   ? NULL
                   : "ERR received bad data";
    if (iterator != 1)
        return "ERR not found";
    struct bb_fingerprint_chain *chain = bb_fingerprint_coding_decode_header(piece);
    if (chain == NULL || !chain->options.is_set) {
        bb_fingerprint_chain_destroy(chain);
        return "ERR received bad data";
    }
    bb_redis_key_set(key, chain);
    return NULL;
}

static int load_chunk(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_chain_dump_load_class class = {
        .event = "bf.loadchunk",
        .iterator_error = "ERR Second argument must be numeric",
        .load_piece = load_piece};
    return bb_redis_chain_dump_load_command(ctx, argv, argc, type, &class);
}

static const struct bb_redis_command table[] = {
    {"BF.RESERVE", reserve, "write deny-oom", BB_REDIS_KEY_INSERT, NULL,
     "key error_rate:double capacity:integer [EXPANSION expansion:integer] [NONSCALING]",
     "Creates an empty Bloom filter", "O(1)"},
    {"BF.ADD", add, "write deny-oom fast", BB_REDIS_KEY_INSERT, NULL, "key item",
     "Adds an item to a Bloom filter, which is created if it does not exist",
     "O(N), where N is the number of sub-filters"},
    {"BF.MADD", add_many, "write deny-oom", BB_REDIS_KEY_INSERT, NULL, "key item...",
     "Adds items to a Bloom filter, which is created if it does not exist",
     "O(M * N), where M is the number of items and N the number of sub-filters"},
    {"BF.INSERT", insert_with_options, "write deny-oom", BB_REDIS_KEY_INSERT, NULL,
     "key [CAPACITY capacity:integer] [ERROR error:double] [EXPANSION expansion:integer] "
     "[NOCREATE] [NONSCALING] ITEMS item...",
     "Adds items to a Bloom filter, which is created with the options if it does not exist",
     "O(M * N), where M is the number of items and N the number of sub-filters"},
    {"BF.EXISTS", exists_one, "readonly fast", BB_REDIS_KEY_READ, NULL, "key item",
     "Tells whether an item may be in a Bloom filter",
     "O(N), where N is the number of sub-filters"},
    {"BF.MEXISTS", exists_many, "readonly", BB_REDIS_KEY_READ, NULL, "key item...",
     "Tells for each item whether it may be in a Bloom filter",
     "O(M * N), where M is the number of items and N the number of sub-filters"},
    {"BF.CARD", cardinality, "readonly fast", BB_REDIS_KEY_READ, NULL, "key",
     "The number of items that were new to a Bloom filter", "O(1)"},
    {"BF.INFO", info, "readonly fast", BB_REDIS_KEY_READ, NULL,
     "key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]", "Describes a Bloom filter", "O(1)"},
    {"BF.SCANDUMP", scan_dump, "readonly", BB_REDIS_KEY_READ, NULL, "key iterator:integer",
     "The next piece of a copy of a Bloom filter", "O(N), where N is the size of the piece"},
    {"BF.LOADCHUNK", load_chunk, "write deny-oom", BB_REDIS_KEY_INSERT, NULL,
     "key iterator:integer data", "Restores a piece of a copy of a Bloom filter",
     "O(N), where N is the size of the piece"},
    {.name = NULL},
};

bool bb_redis_bloom_commands_register(struct RedisModuleCtx *ctx, struct RedisModuleType **ret_type)
{
    type = bb_redis_bloom_type_create(ctx);
    *ret_type = type;
    return type != NULL && bb_redis_commands_register(ctx, table);
}
