/* bloomblock delete: keys out of a store. */
#include "base/buf.h"
#include "base/status.h"
#include "tools/key_argument.h"
#include "tools/output.h"
#include "tools/store_options.h"

struct deletion {
    struct store_options store;
    struct output out;
    bool is_hex;
    bool is_synced;
    struct bb_db *db;
    struct bb_batch *batch;
    struct bb_buf key;
};

/* One batch: all of the keys or none. */
static enum bb_status delete_all(struct deletion *deletion, const struct arguments *arguments)
{
    enum bb_status status = bb_batch_create(&deletion->batch);
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
        {"hex", NULL, OPTION_FLAG, &deletion.is_hex, "keys are hexadecimal digits"},
        {"sync", NULL, OPTION_FLAG, &deletion.is_synced,
         "durable against loss of power before the command ends"},
        {"json", NULL, OPTION_FLAG, &deletion.out.is_json, "report as JSON"},
    };
    const struct option_group groups[] = {{"Options", own, sizeof(own) / sizeof(own[0])},
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
        json_set_count(document, "deletions", arguments.count - 1);
        output_json(&deletion.out, document);
    }
    bb_batch_destroy(deletion.batch);
    bb_buf_deinit(&deletion.key);
    code = store_close(command, deletion.db, code);
    return output_finish(&deletion.out, command, code);
}

const struct command command_delete = {
    .name = "delete",
    .summary = "delete keys, all in one commit",
    .arguments = "DIR KEY...",
    .description = "Deletes the keys: all of them or, on failure, none. Deleting what is not there "
                   "is no error.\n"
                   "\n"
                   "Examples:\n"
                   "  bloomblock delete /tmp/pets dog\n"
                   "  bloomblock delete /tmp/pets --hex 646f67 --sync\n",
    .argument_count_min = 2,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
