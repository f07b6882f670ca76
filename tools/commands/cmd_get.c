/* bloomblock get: prints the values of keys. */
#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "tools/keys/key_argument.h"
#include "tools/output/output.h"
#include "tools/store/store_options.h"

struct get {
    struct store_options store;
    struct output out;
    bool is_hex;
    bool is_raw;
    bool is_quiet;
    bool has_many;
    bool has_absent;
    struct bb_db *db;
    struct bb_buf key;
    struct bb_pinned value;
    json_t *rows; /* NULL: text */
};

static void print_json_row(struct get *get, bool is_found)
{
    json_t *row = json_object();
    json_set_shown(row, "key", bb_buf_bytes(&get->key), get->is_hex);
    json_set_bool(row, "found", is_found);
    if (is_found)
        json_set_shown(row, "value", get->value.bytes, get->is_hex);
    json_array_append_new(get->rows, row);
}

static void print_text_row(struct get *get)
{
    if (get->is_raw) {
        output_write(&get->out, get->value.bytes);
        return;
    }
    if (get->has_many) {
        output_bytes(&get->out, bb_buf_bytes(&get->key), get->is_hex);
        output_write(&get->out, bb_bytes_of("\t", 1));
    }
    output_bytes(&get->out, get->value.bytes, get->is_hex);
    output_write(&get->out, bb_bytes_of("\n", 1));
}

static enum bb_status get_one(struct get *get, const char *argument)
{
    enum bb_status status = key_argument_decode(argument, get->is_hex, &get->key);
    if (status != BB_OK)
        return status;
    status = bb_db_get_pinned(get->db, NULL, bb_buf_bytes(&get->key), &get->value);
    bool is_found = status == BB_OK;
    if (status != BB_OK && status != BB_NOT_FOUND)
        return status;
    if (!is_found)
        get->has_absent = true;
    if (get->rows != NULL)
        print_json_row(get, is_found);
    else if (is_found && !get->is_quiet)
        print_text_row(get);
    bb_pinned_release(&get->value);
    return BB_OK;
}

static enum bb_status get_all(struct get *get, const struct arguments *arguments)
{
    enum bb_status status = store_open_to_read(&get->store, arguments->values[0], &get->db);
    get->has_many = arguments->count > 2;
    for (size_t i = 1; i < arguments->count && status == BB_OK && !get->out.has_failed; i++)
        status = get_one(get, arguments->values[i]);
    return status;
}

static void print_json(struct get *get)
{
    json_t *document = json_object();
    json_object_set_new(document, "entries", get->rows);
    output_json(&get->out, document);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct get get = {0};
    store_options_init_to_read(&get.store, command);
    const struct option own[] = {
        {"hex", NULL, OPTION_FLAG, &get.is_hex,
         "keys are hexadecimal digits, and so are printed values"},
        {"raw", NULL, OPTION_FLAG, &get.is_raw, "print only the bytes of the values"},
        {"quiet", NULL, OPTION_FLAG, &get.is_quiet, "print nothing; the exit code is the result"},
        {"json", NULL, OPTION_FLAG, &get.out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&get.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    if (get.out.is_json)
        get.rows = json_array();
    enum bb_status status = get_all(&get, &arguments);
    if (get.rows != NULL && get.db != NULL)
        print_json(&get);
    else
        json_decref(get.rows);
    if (status != BB_OK)
        code = command_fail(command, status);
    else
        code = get.has_absent ? EXIT_ABSENT : EXIT_FOUND;
    bb_buf_deinit(&get.key);
    code = store_close(&get.store, get.db, code);
    return command_finish(command, &get.out, code);
}

const struct command command_get = {
    .name = "get",
    .summary = "print the values of keys; exit code 1 when one is absent",
    .arguments = "DIR KEY...",
    .description =
        "Prints the value of the key. For several keys it prints a line for each key that "
        "exists: key, tab,\n"
        "value. Control characters, bytes that are not UTF-8, and backslashes are "
        "escaped (\\n, \\x00,\n"
        "\\\\) unless --raw is given. In JSON a key or value that is not UTF-8, and with "
        "--hex every one, is called key_hex, value_hex.\n"
        "The exit code is 0 if all keys exist and 1 if one is absent.\n"
        "\n"
        "Examples:\n"
        "  bloomblock get /tmp/pets cat\n"
        "  bloomblock get /tmp/pets --quiet unicorn || echo 'no unicorn'\n"
        "  bloomblock get /tmp/pets --hex 636174\n"
        "  bloomblock get /tmp/pets -- --a-key-with-dashes\n",
    .argument_count_min = 2,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run,
};
