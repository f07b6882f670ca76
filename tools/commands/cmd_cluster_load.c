/* bloomblock cluster load: lines into the partitions of a collection. */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/cluster/cluster_options.h"
#include "tools/cluster/partition_options.h"
#include "tools/cluster/reply.h"
#include "tools/commands/cmd_cluster.h"
#include "tools/keys/key_reader.h"
#include "tools/output/clock.h"
#include "tools/output/escape.h"
#include "tools/output/interrupt.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"

/* A round, the records of all partitions that are sent together, is full at this size. */
#define ROUND_BYTES_MAX      (16 * 1024 * 1024)
#define BATCH_COUNT_DEFAULT  100
#define WAIT_SECONDS_DEFAULT 1
#define WAIT_SECONDS_MAX     60
#define WAIT_REPLICAS_MAX    1000

/* The records of a partition in the next round. */
struct batch {
    uint64_t records;
    struct bb_buf acks; /* the lines to print when the records are acknowledged */
};

struct load {
    struct cluster_options options;
    struct partition_options store;
    struct output out;
    struct progress progress;
    bool is_tsv;
    bool is_hex;
    bool with_ack;
    uint64_t batch_count;
    uint64_t wait_replicas;
    double wait_seconds;
    /* While loading. */
    struct cluster cluster;
    struct collection collection;
    struct batch *batches; /* of the partitions */
    uint64_t round_records;
    uint64_t round_bytes;
    uint32_t created;
    uint64_t records; /* in the collection */
    uint64_t bytes;
    uint64_t unacknowledged; /* of these, with fewer replicas than --wait */
    uint64_t rounds;
    uint64_t nanoseconds;
};

static enum bb_status add_ack(struct load *load, struct batch *batch,
                              const struct key_record *record)
{
    enum bb_status status = bb_buf_print(&batch->acks, "%" PRIu64 "\t", record->line);
    if (status == BB_OK)
        status = load->is_hex ? hex_append(&batch->acks, record->key)
                              : escape_append(&batch->acks, record->key, ESCAPE_ALL);
    return status == BB_OK ? bb_buf_append(&batch->acks, "\n", 1) : status;
}

static enum bb_status add_record(struct load *load, const struct key_record *record)
{
    uint32_t number = collection_partition_of(&load->collection, record->key);
    struct words *words = &load->collection.partitions[number].request.words;
    struct batch *batch = &load->batches[number];
    enum bb_status status = BB_OK;
    if (words->count == 0)
        status = collection_begin(&load->collection, number, "BB.MPUT");
    if (status == BB_OK)
        status = words_add(words, record->key);
    if (status == BB_OK)
        status = words_add(words, record->value);
    if (status == BB_OK && load->with_ack)
        status = add_ack(load, batch, record);
    batch->records++;
    load->round_records++;
    load->round_bytes += record->key.size + record->value.size;
    load->bytes += record->key.size + record->value.size;
    return status;
}

/* If the partition's batch was written, counts it and prints its acknowledgements. Empties it. */
static void settle_batch(struct load *load, uint32_t number)
{
    const struct request *request = &load->collection.partitions[number].request;
    struct batch *batch = &load->batches[number];
    if (request->reply != NULL) {
        load->records += batch->records;
        if (request->acknowledged < load->wait_replicas)
            load->unacknowledged += batch->records;
        else if (load->with_ack)
            output_write(&load->out, bb_buf_bytes(&batch->acks));
    }
    batch->records = 0;
    bb_buf_reset(&batch->acks);
}

/* Writes the batches of all partitions, and then empties them. Each partition has one batch in
 * progress at a time, so a batch that is sent again never replaces later values. */
static enum bb_status write_round(struct load *load)
{
    if (load->round_records == 0)
        return BB_OK;
    enum bb_status status = collection_run(&load->collection);
    for (uint32_t i = 0; i < load->collection.partition_count; i++)
        if (load->batches[i].records > 0)
            settle_batch(load, i);
    if (load->with_ack)
        output_flush(&load->out);
    collection_reset(&load->collection);
    load->rounds++;
    load->round_records = 0;
    load->round_bytes = 0;
    return status;
}

static bool is_full(const struct load *load)
{
    return load->round_records >= load->batch_count * load->collection.partition_count ||
           load->round_bytes >= ROUND_BYTES_MAX;
}

static enum bb_status take_record(struct load *load, struct key_reader *reader)
{
    struct key_record record = {0};
    enum bb_status status = key_reader_next(reader, &record);
    return status == BB_OK ? add_record(load, &record) : status;
}

/* After an invalid or unreadable line: writes the lines before it, which are valid. */
static enum bb_status fail_record(struct load *load)
{
    struct bb_error failure = *bb_error_last();
    enum bb_status written = write_round(load);
    return written == BB_OK ? bb_error_restore(&failure) : written;
}

static enum bb_status load_records(struct load *load, struct key_reader *reader)
{
    enum bb_status status = BB_OK;
    while (status == BB_OK && !load->out.has_failed) {
        status =
            interrupt_is_wanted() ? bb_fail(BB_BUSY, "interrupted") : take_record(load, reader);
        if (status == BB_NOT_FOUND)
            return write_round(load);
        if (status == BB_BUSY)
            return status;
        if (status != BB_OK)
            return fail_record(load);
        if (is_full(load))
            status = write_round(load);
    }
    return status;
}

static enum bb_status prepare(struct load *load, const char *name)
{
    struct words words = {0};
    enum bb_status status = partition_options_add(&load->store, &words);
    if (status == BB_OK)
        status = cluster_options_open(&load->options, name, &load->cluster, &load->collection);
    if (status == BB_OK)
        status = collection_create(&load->collection, &words, &load->created);
    words_deinit(&words);
    if (status != BB_OK)
        return status;
    /* Set only now: replicas that have the records also have the partitions. */
    load->cluster.wait_replicas = load->wait_replicas;
    load->cluster.wait_ns = load->wait_replicas > 0 ? (uint64_t)(load->wait_seconds * 1e9) : 0;
    load->batches = bb_alloc_zeroed(load->collection.partition_count, sizeof(*load->batches));
    return load->batches != NULL ? BB_OK : bb_fail(BB_NO_MEMORY, "no memory for batches");
}

static enum bb_status run_load(struct load *load, const char *name, char *const *paths,
                               size_t path_count)
{
    struct key_reader reader;
    key_reader_init(&reader, paths, path_count);
    reader.is_tsv = load->is_tsv;
    reader.is_hex = load->is_hex;
    reader.progress = &load->progress;
    /* Checks the files first, so that a mistyped file name creates no partition. */
    enum bb_status status = key_reader_check(&reader);
    if (status == BB_OK)
        status = prepare(load, name);
    if (status == BB_OK) {
        uint64_t start = clock_now();
        progress_start(&load->progress, "loading", key_reader_size_bytes(paths, path_count), true);
        status = load_records(load, &reader);
        load->nanoseconds = clock_now() - start;
        progress_stop(&load->progress);
    }
    key_reader_deinit(&reader);
    return status;
}

static void report_json(struct load *load)
{
    json_t *document = json_object();
    json_set_count(document, "records", load->records);
    json_set_count(document, "bytes", load->bytes);
    json_set_real(document, "seconds", (double)load->nanoseconds / 1e9);
    json_set_count(document, "partitions", load->collection.partition_count);
    json_set_count(document, "partitions_created", load->created);
    json_set_count(document, "rounds", load->rounds);
    json_set_count(document, "moved", load->cluster.moved);
    json_set_count(document, "asked", load->cluster.asked);
    json_set_count(document, "repetitions", load->cluster.repetitions);
    json_set_count(document, "unacknowledged", load->unacknowledged);
    output_json(&load->out, document);
}

static void report(struct load *load)
{
    if (load->out.is_json) {
        report_json(load);
        return;
    }
    output_print(&load->out, "loaded %s, %s, in %s; %s, of which %u new\n",
                 number_of(load->records, "record", "records").text, number_bytes(load->bytes).text,
                 number_duration(load->nanoseconds).text,
                 number_of(load->collection.partition_count, "partition", "partitions").text,
                 load->created);
    const struct cluster *cluster = &load->cluster;
    if (cluster->moved + cluster->asked + cluster->repetitions > 0)
        output_print(&load->out, "followed MOVED %s and ASK %s; sent %s again\n",
                     number_of(cluster->moved, "time", "times").text,
                     number_of(cluster->asked, "time", "times").text,
                     number_of(cluster->repetitions, "command", "commands").text);
}

static bool parse(struct load *load, const struct command *command, int argc, char **argv,
                  struct arguments *ret_arguments, enum exit_code *ret_code)
{
    const struct option own[] = {
        {"tsv", NULL, OPTION_FLAG, &load->is_tsv, "the first tab of a line splits key and value"},
        {"hex", NULL, OPTION_FLAG, &load->is_hex, "keys and values are hexadecimal digits"},
        {"batch", "N", OPTION_COUNT, &load->batch_count, "records in a command, on average (100)"},
        {"wait", "REPLICAS", OPTION_COUNT, &load->wait_replicas,
         "wait after each batch until this many replicas have it"},
        {"wait-timeout", "SECONDS", OPTION_REAL, &load->wait_seconds,
         "but no longer than this (1)"},
        {"ack", NULL, OPTION_FLAG, &load->with_ack,
         "print line and key of acknowledged records; no --json"},
        {"json", NULL, OPTION_FLAG, &load->out.is_json, "report as JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        cluster_options_group(&load->options),
        partition_options_group(&load->store)};
    return options_parse(command, groups, BB_ARRAY_LENGTH(groups), argc, argv, ret_arguments,
                         ret_code);
}

static enum bb_status check_options(const struct load *load)
{
    if (load->with_ack && load->out.is_json)
        return bb_fail(BB_INVALID, "options --ack and --json exclude each other: the acknowledged "
                                   "lines are instead of the report");
    if (load->batch_count < 1 || load->batch_count > UINT32_MAX)
        return bb_fail(BB_INVALID, "option --batch: 1 ... %" PRIu32 " records are possible",
                       UINT32_MAX);
    if (load->wait_replicas > WAIT_REPLICAS_MAX)
        return bb_fail(BB_INVALID, "option --wait: at most %d replicas are possible",
                       WAIT_REPLICAS_MAX);
    if (load->wait_seconds < 0.001 || load->wait_seconds > WAIT_SECONDS_MAX)
        return bb_fail(BB_INVALID, "option --wait-timeout: 0.001 ... %d seconds are possible",
                       WAIT_SECONDS_MAX);
    return partition_options_check(&load->store);
}

static void note_written(const struct command *command, const struct load *load)
{
    char text[200];
    snprintf(text, sizeof(text), "%s written before and %s in the collection",
             number_of(load->records, "record was", "records were").text,
             load->records == 1 ? "is" : "are");
    command_warn(command, text);
}

/* All records are on the masters, but some are not on enough replicas. */
static enum exit_code fail_unacknowledged(const struct command *command, const struct load *load)
{
    enum bb_status status = bb_fail(
        BB_IO,
        "%s of %s: fewer than %s had them in time; a fail-over can lose them, so load them again "
        "when the replicas are back",
        number_grouped(load->unacknowledged).text,
        number_of(load->records, "record", "records").text,
        number_of(load->wait_replicas, "replica", "replicas").text);
    return command_fail(command, status);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct load load = {.batch_count = BATCH_COUNT_DEFAULT, .wait_seconds = WAIT_SECONDS_DEFAULT};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!parse(&load, command, argc, argv, &arguments, &code))
        return code;
    interrupt_watch_reads();
    enum bb_status status = check_options(&load);
    if (status == BB_OK)
        status = run_load(&load, arguments.values[0], arguments.values + 1, arguments.count - 1);
    if (status != BB_OK)
        code = command_fail(command, status);
    else if (!load.with_ack)
        report(&load);
    if (status != BB_OK && load.records > 0)
        note_written(command, &load);
    if (status == BB_OK && load.unacknowledged > 0)
        code = fail_unacknowledged(command, &load);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    for (uint32_t i = 0; load.batches != NULL && i < load.collection.partition_count; i++)
        bb_buf_deinit(&load.batches[i].acks);
    bb_free(load.batches);
    collection_deinit(&load.collection);
    cluster_deinit(&load.cluster);
    return command_finish(command, &load.out, code);
}

const struct command command_cluster_load = {
    .name = "cluster load",
    .summary = "put the lines of files into a collection, created when missing",
    .arguments = "NAME [FILE...]",
    .description =
        "Each line of the files (without any, or for -, of standard input) is a key; with --tsv, "
        "key and value separated by a tab. Lines are used unchanged. A later line replaces an "
        "earlier one with the same key. The partitions are created if none exists.\n"
        "\n"
        "A record is written to a master. A fail-over can lose it before a replica has it: "
        "--wait 1 waits for a replica after each batch. Records with fewer are counted, and the "
        "exit code is then 3.\n"
        "\n"
        "Examples:\n"
        "  bloomblock cluster load --seed 127.0.0.1:7101 words /usr/share/dict/words\n"
        "  bloomblock cluster load --seed 127.0.0.1:7101 pets pets.tsv --tsv --wait 1\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
