/* bloomblock cluster get: values of keys, looked up in their partitions. */
#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tools/cluster/cluster_options.h"
#include "tools/cluster/reply.h"
#include "tools/commands/cmd_cluster.h"
#include "tools/keys/key_argument.h"
#include "tools/keys/key_reader.h"
#include "tools/output/interrupt.h"
#include "tools/output/output.h"

#define ROUND_BYTES_MAX     (16 * 1024 * 1024)
#define BATCH_COUNT_DEFAULT 8192

/* A key of the round: its bytes end at `end`, and the reply is element `index` of the partition's
 * array. */
struct lookup {
    size_t end;
    uint32_t partition;
    uint32_t index;
};

struct get {
    struct cluster_options options;
    struct output out;
    const char *keys_path;
    bool is_hex;
    bool is_raw;
    bool is_quiet;
    uint64_t batch_count;
    /* At work. */
    struct cluster cluster;
    struct collection collection;
    struct progress progress;
    bool has_many;
    struct bb_buf keys;    /* of the round */
    struct bb_buf lookups; /* struct lookup each */
    size_t count;
    uint64_t printed;
    uint64_t absent;
};

static enum bb_status add_key(struct get *get, struct bb_bytes key)
{
    uint32_t number = collection_partition_of(&get->collection, key);
    struct words *words = &get->collection.partitions[number].request.words;
    enum bb_status status = BB_OK;
    if (words->count == 0)
        status =
            collection_begin(&get->collection, number, get->is_quiet ? "BB.MEXISTS" : "BB.MGET");
    struct lookup lookup = {
        .end = get->keys.size + key.size, .partition = number, .index = (uint32_t)words->count - 2};
    if (status == BB_OK)
        status = words_add(words, key);
    if (status == BB_OK)
        status = bb_buf_append(&get->keys, key.data, key.size);
    if (status == BB_OK)
        status = bb_buf_append(&get->lookups, &lookup, sizeof(lookup));
    if (status == BB_OK)
        get->count++;
    return status;
}

static void print_json_row(struct get *get, struct bb_bytes key, const struct redisReply *value)
{
    output_print(&get->out, get->printed++ == 0 ? "\n" : ",\n");
    json_t *row = json_object();
    json_set_shown(row, "key", key, get->is_hex);
    json_set_bool(row, "found", value != NULL);
    if (value != NULL)
        json_set_shown(row, "value", reply_bytes(value), get->is_hex);
    output_json_compact(&get->out, row);
}

static void print_text_row(struct get *get, struct bb_bytes key, struct bb_bytes value)
{
    if (get->is_raw) {
        output_write(&get->out, value);
        return;
    }
    if (get->has_many) {
        output_bytes(&get->out, key, get->is_hex);
        output_write(&get->out, bb_bytes_of("\t", 1));
    }
    output_bytes(&get->out, value, get->is_hex);
    output_write(&get->out, bb_bytes_of("\n", 1));
}

static enum bb_status take_value(struct get *get, struct bb_bytes key,
                                 const struct redisReply *value)
{
    if (!reply_is_nil(value) && !reply_is_bytes(value))
        return reply_fail(value, "BB.MGET", "strings and nils");
    bool is_found = !reply_is_nil(value);
    get->absent += !is_found;
    if (get->out.is_json)
        print_json_row(get, key, is_found ? value : NULL);
    else if (is_found)
        print_text_row(get, key, reply_bytes(value));
    return BB_OK;
}

static enum bb_status take_presence(struct get *get, const struct redisReply *value)
{
    if (!reply_is_integer(value))
        return reply_fail(value, "BB.MEXISTS", "integers");
    get->absent += value->integer == 0;
    return BB_OK;
}

static enum bb_status take_lookup(struct get *get, const struct lookup *lookup, size_t start)
{
    const struct partition *partition = &get->collection.partitions[lookup->partition];
    const struct redisReply *reply = partition->request.reply;
    struct bb_bytes key = {0};
    if (!reply_is_array(reply, 0) || reply->elements != partition->request.words.count - 2)
        return reply_fail(reply, "BB.MGET or BB.MEXISTS", "an array with an element per field");
    if (lookup->end > start)
        key = bb_bytes_of(get->keys.data + start, lookup->end - start);
    const struct redisReply *value = reply->element[lookup->index];
    return get->is_quiet ? take_presence(get, value) : take_value(get, key, value);
}

/* Looks up the keys of the round, and prints them in their order. */
static enum bb_status run_round(struct get *get)
{
    size_t start = 0;
    enum bb_status status = collection_run(&get->collection);
    for (size_t i = 0; i < get->count && status == BB_OK && !get->out.has_failed; i++) {
        struct lookup lookup;
        memcpy(&lookup, get->lookups.data + i * sizeof(lookup), sizeof(lookup));
        status = take_lookup(get, &lookup, start);
        start = lookup.end;
    }
    collection_reset(&get->collection);
    bb_buf_reset(&get->keys);
    bb_buf_reset(&get->lookups);
    get->count = 0;
    return status;
}

static enum bb_status get_arguments(struct get *get, char *const *texts, size_t count)
{
    struct bb_buf key = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        status = key_argument_decode(texts[i], get->is_hex, &key);
        if (status == BB_OK)
            status = add_key(get, bb_buf_bytes(&key));
    }
    bb_buf_deinit(&key);
    return status == BB_OK ? run_round(get) : status;
}

static enum bb_status read_round(struct get *get, struct key_reader *reader)
{
    enum bb_status status = BB_OK;
    while (status == BB_OK && get->count < get->batch_count && get->keys.size < ROUND_BYTES_MAX) {
        struct key_record record = {0};
        status = interrupt_is_wanted() ? bb_fail(BB_BUSY, "interrupted")
                                       : key_reader_next(reader, &record);
        if (status == BB_OK)
            status = add_key(get, record.key);
    }
    return status;
}

static enum bb_status get_file(struct get *get, const char *path)
{
    char *const paths[] = {(char *)(uintptr_t)path};
    struct key_reader reader;
    key_reader_init(&reader, paths, 1);
    reader.is_hex = get->is_hex;
    reader.progress = &get->progress;
    progress_start(&get->progress, "looking up", key_reader_size_bytes(paths, 1), true);
    enum bb_status status = BB_OK;
    while (status == BB_OK && !get->out.has_failed) {
        status = read_round(get, &reader);
        if (status != BB_OK && status != BB_NOT_FOUND)
            break;
        enum bb_status ran = run_round(get);
        status = ran == BB_OK ? status : ran;
    }
    progress_stop(&get->progress);
    key_reader_deinit(&reader);
    return status == BB_NOT_FOUND ? BB_OK : status;
}

static enum bb_status get_all(struct get *get, const struct arguments *arguments)
{
    enum bb_status status =
        cluster_options_open(&get->options, arguments->values[0], &get->cluster, &get->collection);
    if (status == BB_OK)
        status = collection_check(&get->collection);
    if (status != BB_OK)
        return status;
    bool has_rows = get->out.is_json && !get->is_quiet;
    get->has_many = get->keys_path != NULL || arguments->count > 2;
    if (has_rows)
        output_print(&get->out, "{\"entries\": [");
    status = get->keys_path != NULL
                 ? get_file(get, get->keys_path)
                 : get_arguments(get, arguments->values + 1, arguments->count - 1);
    if (has_rows)
        output_print(&get->out, "\n], \"complete\": %s}\n", status == BB_OK ? "true" : "false");
    return status;
}

static enum bb_status check_options(const struct get *get, const struct arguments *arguments)
{
    if (get->keys_path != NULL && arguments->count > 1)
        return bb_fail(BB_INVALID, "option --keys excludes keys as arguments");
    if (get->keys_path == NULL && arguments->count < 2)
        return bb_fail(BB_INVALID, "arguments are missing: keys, or the option --keys");
    if (get->batch_count < 1 || get->batch_count > UINT32_MAX)
        return bb_fail(BB_INVALID, "option --batch: 1 ... %" PRIu32 " keys are possible",
                       UINT32_MAX);
    return BB_OK;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct get get = {.batch_count = BATCH_COUNT_DEFAULT};
    const struct option own[] = {
        {"keys", "FILE", OPTION_TEXT, &get.keys_path,
         "look up the lines of a file; - is standard input"},
        {"batch", "N", OPTION_COUNT, &get.batch_count,
         "keys of a file that are looked up together (8192)"},
        {"hex", NULL, OPTION_FLAG, &get.is_hex,
         "keys are hexadecimal digits, and so are printed values"},
        {"raw", NULL, OPTION_FLAG, &get.is_raw, "print only the bytes of the values"},
        {"quiet", NULL, OPTION_FLAG, &get.is_quiet, "print nothing; the exit code is the result"},
        {"json", NULL, OPTION_FLAG, &get.out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        cluster_options_group(&get.options)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    interrupt_watch_reads();
    enum bb_status status = check_options(&get, &arguments);
    if (status == BB_OK)
        status = get_all(&get, &arguments);
    if (status != BB_OK)
        code = command_fail(command, status);
    else
        code = get.absent > 0 ? EXIT_ABSENT : EXIT_FOUND;
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    bb_buf_deinit(&get.keys);
    bb_buf_deinit(&get.lookups);
    collection_deinit(&get.collection);
    cluster_deinit(&get.cluster);
    return command_finish(command, &get.out, code);
}

const struct command command_cluster_get = {
    .name = "cluster get",
    .summary = "print the values of keys; exit code 1 when one is absent",
    .arguments = "NAME KEY... | NAME --keys FILE",
    .description =
        "Prints the value of the key; for several keys a line each of key, tab, value, in their "
        "order, and no line for an absent one. Keys and values are escaped as `bloomblock get` "
        "does. With --quiet the values are not read: an absent key is then answered from filters "
        "in memory. The exit code is 0 when all keys are there and 1 when one is not.\n"
        "\n"
        "Examples:\n"
        "  bloomblock cluster get --seed 127.0.0.1:7101 pets cat\n"
        "  bloomblock cluster get --seed 127.0.0.1:7101 pets --keys names.txt\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
