/* bloomblock attribute: the attributes that a store extracts from its values. */
#include <stdio.h>

#include "base/assert.h"
#include "tools/command/command_group.h"
#include "tools/output/output.h"
#include "tools/output/text_table.h"
#include "tools/records/definitions.h"
#include "tools/store/store_options.h"

struct attribute_command {
    struct store_options store;
    struct output out;
    struct bb_db *db;
};

typedef enum bb_status (*attribute_work)(struct attribute_command *self, char *const *arguments,
                                         size_t count);

static enum exit_code execute(struct attribute_command *self, const struct command *command,
                              int argc, char **argv, attribute_work work)
{
    const struct option own[] = {
        {"json", NULL, OPTION_FLAG, &self->out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&self->store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = store_open_to_read(&self->store, arguments.values[0], &self->db);
    if (status == BB_OK)
        status = work(self, arguments.values + 1, arguments.count - 1);
    if (status != BB_OK)
        code = command_fail(command, status);
    code = store_close(&self->store, self->db, code);
    return command_finish(command, &self->out, code);
}

/* ---- list ---- */

static void write_text(struct attribute_command *self, const struct bb_schema *schema)
{
    static const char *const headers[] = {"attribute", "type", "definition"};
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    table.left_columns = 7;
    for (size_t i = 0; i < bb_schema_count(schema); i++) {
        text_table_add(&table, "%s", bb_schema_name(schema, i));
        text_table_add(&table, "%s", bb_attribute_type_name(bb_schema_type(schema, i)));
        text_table_add(&table, "%s", bb_schema_definition(schema, i));
    }
    text_table_write(&table, &self->out);
    text_table_deinit(&table);
}

static void write_json(struct attribute_command *self, const struct bb_schema *schema)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < bb_schema_count(schema); i++) {
        json_t *row = json_object();
        json_set_text(row, "name", bb_schema_name(schema, i));
        json_set_text(row, "type", bb_attribute_type_name(bb_schema_type(schema, i)));
        json_set_text(row, "definition", bb_schema_definition(schema, i));
        json_array_append_new(rows, row);
    }
    json_t *document = json_object();
    json_object_set_new(document, "attributes", rows);
    output_json(&self->out, document);
}

static enum bb_status list(struct attribute_command *self, char *const *arguments, size_t count)
{
    struct bb_schema *schema = NULL;
    (void)arguments;
    (void)count;
    enum bb_status status = bb_db_schema(self->db, &schema);
    if (status == BB_OK && self->out.is_json)
        write_json(self, schema);
    else if (status == BB_OK)
        write_text(self, schema);
    bb_schema_destroy(schema);
    return status;
}

static enum exit_code run_list(const struct command *command, int argc, char **argv)
{
    struct attribute_command self = {0};
    store_options_init_to_read(&self.store, command);
    return execute(&self, command, argc, argv, list);
}

/* ---- changes ---- */

static enum bb_status create(struct attribute_command *self, char *const *arguments, size_t count)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = definitions_add_attribute(self->db, arguments[i], false);
    return status == BB_OK && self->out.is_json ? list(self, NULL, 0) : status;
}

static enum exit_code run_create(const struct command *command, int argc, char **argv)
{
    struct attribute_command self = {0};
    store_options_init(&self.store, command);
    return execute(&self, command, argc, argv, create);
}

static enum bb_status drop(struct attribute_command *self, char *const *arguments, size_t count)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < count && status == BB_OK; i++)
        status = definitions_drop_attribute(self->db, arguments[i]);
    return status == BB_OK && self->out.is_json ? list(self, NULL, 0) : status;
}

static enum exit_code run_drop(const struct command *command, int argc, char **argv)
{
    struct attribute_command self = {0};
    store_options_init(&self.store, command);
    return execute(&self, command, argc, argv, drop);
}

/* ---- commands ---- */

static const struct command command_create = {
    .name = "attribute create",
    .summary = "add attributes to a store",
    .arguments = "DIR DEFINITION...",
    .description =
        "A definition is NAME TYPE = EXTRACTOR. Types: bytes, i64, u64, f64, time(FORMAT).\n"
        "Extractors: key, value, split('SEP', N), csv(N), tsv(N), json($.PATH), clf(FIELD), "
        "zeek(N),\n"
        "logfmt(NAME), fixed(OFFSET, FORM). docs/tools.md describes them all.\n"
        "Only the definition is written; values are not read. With --json the attributes are "
        "listed.\n"
        "\n"
        "Examples:\n"
        "  bloomblock attribute create /tmp/access 'status u64 = clf(status)'\n"
        "  bloomblock attribute create /tmp/events 'at time(rfc3339) = json($.ts)'\n",
    .argument_count_min = 2,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run_create,
};

static const struct command command_drop = {
    .name = "attribute drop",
    .summary = "remove attributes without indexes",
    .arguments = "DIR NAME...",
    .description = "Values are not changed. An attribute with an index cannot be dropped: drop the "
                   "index first.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock attribute drop /tmp/access ident user\n",
    .argument_count_min = 2,
    .argument_count_max = ARGUMENT_COUNT_ANY,
    .run = run_drop,
};

static const struct command command_list = {
    .name = "attribute list",
    .summary = "the attributes of a store, with their definitions",
    .arguments = "DIR",
    .description = "Prints name, type and definition of each attribute.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock attribute list /tmp/access\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run_list,
};

static enum exit_code run(const struct command *group, int argc, char **argv)
{
    static const struct command *const commands[] = {&command_create, &command_drop, &command_list};
    return command_group_run(group, commands, BB_ARRAY_LENGTH(commands), argc, argv);
}

const struct command command_attribute = {
    .name = "attribute",
    .summary = "attributes of values: create, drop, list",
    .arguments = "COMMAND [OPTION...] [ARGUMENT...]",
    .description = "An attribute is a typed value that an extractor finds in the values of a "
                   "store: the status of a log\n"
                   "line, a column of CSV, a path of JSON. Conditions compare attributes, indexes "
                   "summarise them.\n"
                   "\n"
                   "Getting started:\n"
                   "  bloomblock load /tmp/access --lines access.log --format clf\n"
                   "  bloomblock attribute list /tmp/access\n"
                   "  bloomblock select /tmp/access --where 'status = 418'\n",
    .run = run,
};
