/* bloomblock import: a new store from the files of another one. */
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/import/import.h"
#include "tools/output/interrupt.h"
#include "tools/output/number_text.h"

struct import_format {
    const char *name;
    enum bb_status (*run)(struct import *import, const char *source, const char *directory);
};

static const struct import_format formats[] = {
    {"leveldb", import_leveldb},
    {"text", import_text},
    {"json", import_json},
};

static enum bb_status find_format(const char *name, const struct import_format **ret_format)
{
    for (size_t i = 0; i < BB_ARRAY_LENGTH(formats); i++) {
        if (strcmp(formats[i].name, name) == 0) {
            *ret_format = &formats[i];
            return BB_OK;
        }
    }
    return bb_fail(BB_INVALID, "there is no form \"%.100s\": leveldb, text or json", name);
}

static void report_json(struct import *import)
{
    json_t *document = json_object();
    json_set_count(document, "records", import->records);
    json_set_count(document, "bytes", import->bytes);
    json_set_real(document, "seconds", (double)import->nanoseconds / 1e9);
    if (import->source != NULL)
        json_object_set(document, "leveldb", import->source);
    output_json(&import->out, document);
}

static void report(struct import *import)
{
    if (import->out.is_json)
        report_json(import);
    else
        output_print(&import->out, "imported %s, %s, in %s\n",
                     number_of(import->records, "record", "records").text,
                     number_bytes(import->bytes).text, number_duration(import->nanoseconds).text);
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct import import = {0};
    store_options_init(&import.store, command);
    const struct option own[] = {
        {"json", NULL, OPTION_FLAG, &import.out.is_json, "report as JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&import.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    const struct import_format *format = NULL;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    interrupt_watch_reads();
    enum bb_status status = find_format(arguments.values[0], &format);
    if (status == BB_OK)
        status = format->run(&import, arguments.values[1], arguments.values[2]);
    if (status == BB_OK)
        report(&import);
    else
        code = command_fail(command, status);
    if (status == BB_BUSY && interrupt_is_wanted())
        code = EXIT_INTERRUPTED;
    json_decref(import.source);
    return command_finish(command, &import.out, code);
}

const struct command command_import = {
    .name = "import",
    .summary = "make a store from a LevelDB, a dump or JSON lines",
    .arguments = "FORM SOURCE STORE",
    .description =
        "Creates a store in a missing or empty directory, from\n"
        "  leveldb  a LevelDB directory that is not open: the newest version of each key\n"
        "  text     a dump as written by `export`, mdb_dump and db_dump\n"
        "  json     a line for each key: {\"key\": \"cat\", \"value\": \"9 lives\"};\n"
        "           key_hex and value_hex for any bytes\n"
        "\n"
        "The store is built as STORE.importing and renamed at the end, so that STORE is "
        "complete or missing. The source - is standard input. It is not changed.\n"
        "\n"
        "Examples:\n"
        "  bloomblock import leveldb /var/lib/old /var/lib/new\n"
        "  mdb_dump -s pets /var/lib/lmdb | bloomblock import text - /tmp/pets\n"
        "  bloomblock export /tmp/pets | bloomblock import text - /tmp/copy\n",
    .argument_count_min = 3,
    .argument_count_max = 3,
    .run = run,
};
