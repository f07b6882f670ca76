/* bloomblock delete: deletes keys from a store. */
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "tools/keys/key_argument.h"
#include "tools/output/output.h"
#include "tools/store/store_options.h"

struct deletion {
    struct store_options store;
    struct output out;
    bool is_hex;
    bool is_synced;
    const char *from; /* as typed; NULL: no range */
    const char *to;
    struct bb_db *db;
    struct bb_batch *batch;
    struct bb_buf key;
    struct bb_buf high;
};

/* A range without an end would delete all keys after its start, so the user must name an end. */
static enum bb_status check_arguments(const struct deletion *deletion, size_t key_count)
{
    if ((deletion->from == NULL) != (deletion->to == NULL))
        return bb_fail(BB_INVALID, "a range needs both --from and --to");
    if (deletion->from == NULL && key_count == 0)
        return bb_fail(BB_INVALID, "no key to delete: give a key, or --from and --to");
    return BB_OK;
}

static enum bb_status add_range(struct deletion *deletion)
{
    if (deletion->from == NULL)
        return BB_OK;
    enum bb_status status = key_argument_decode(deletion->from, deletion->is_hex, &deletion->key);
    if (status == BB_OK)
        status = key_argument_decode(deletion->to, deletion->is_hex, &deletion->high);
    if (status == BB_OK)
        status = bb_batch_delete_range(deletion->batch, bb_buf_bytes(&deletion->key),
                                       bb_buf_bytes(&deletion->high));
    return status;
}

/* Deletes with one batch: all of the keys or none. */
static enum bb_status delete_all(struct deletion *deletion, const struct arguments *arguments)
{
    enum bb_status status = check_arguments(deletion, arguments->count - 1);
    if (status == BB_OK)
        status = bb_batch_create(&deletion->batch);
    if (status == BB_OK)
        status = add_range(deletion);
    for (size_t i = 1; i < arguments->count && status == BB_OK; i++) {
        status = key_argument_decode(arguments->values[i], deletion->is_hex, &deletion->key);
        if (status == BB_OK)
            status = bb_batch_delete(deletion->batch, bb_buf_bytes(&deletion->key));
    }
    if (status == BB_OK)
        status = store_open(&deletion->store, arguments->values[0], &deletion->db);
    struct bb_write_options options = {.sync = deletion->is_synced};
    if (status == BB_OK)
        status = bb_db_write(deletion->db, &options, deletion->batch);
    return status;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct deletion deletion = {0};
    store_options_init(&deletion.store, command);
    const struct option own[] = {
        {"from", "KEY", OPTION_TEXT, &deletion.from, "first key of a range, inclusive; with --to"},
        {"to", "KEY", OPTION_TEXT, &deletion.to, "end of that range, exclusive"},
        {"hex", NULL, OPTION_FLAG, &deletion.is_hex, "keys are hexadecimal digits"},
        {"sync", NULL, OPTION_FLAG, &deletion.is_synced,
         "durable against loss of power before the command ends"},
        {"json", NULL, OPTION_FLAG, &deletion.out.is_json, "report as JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&deletion.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = delete_all(&deletion, &arguments);
    if (status != BB_OK) {
        code = command_fail(command, status);
    } else if (deletion.out.is_json) {
        json_t *document = json_object();
        json_set_count(document, "deletions", bb_batch_count(deletion.batch));
        output_json(&deletion.out, document);
    }
    bb_batch_destroy(deletion.batch);
    bb_buf_deinit(&deletion.key);
    bb_buf_deinit(&deletion.high);
    code = store_close(&deletion.store, deletion.db, code);
    return command_finish(command, &deletion.out, code);
}

const struct command command_delete = {
    .name = "delete",
    .summary = "delete keys, all in one commit",
    .arguments = "DIR [KEY...]",
    .description =
        "Deletes all of the keys or, on failure, none. Deleting an absent key is not an error.\n"
        "With --from and --to it deletes all keys of that range in one operation, but not --to "
        "itself.\n"
        "\n"
        "Examples:\n"
        "  bloomblock delete /tmp/pets dog\n"
        "  bloomblock delete /tmp/pets --hex 646f67 --sync\n"
        "  bloomblock delete /tmp/pets --from a --to f\n",
    .argument_count_min = 1,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
