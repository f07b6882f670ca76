/* bloomblock index estimate: the cost and the saving of an index that does not exist yet. */
#include "base/assert.h"
#include "bb/select.h"
#include "tools/commands/cmd_index.h"
#include "tools/output/number_text.h"
#include "tools/output/output.h"
#include "tools/records/caret.h"
#include "tools/store/store_options.h"

struct index_estimate {
    struct store_options store;
    struct output out;
    struct bb_db *db;
    struct bb_index_estimate_options options;
    struct bb_index_estimate estimate;
};

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

static void write_text(struct index_estimate *self)
{
    const struct bb_index_estimate *estimate = &self->estimate;
    struct output *out = &self->out;
    output_print(out, "size      %s, %.2f %% of the data\n",
                 number_bytes(estimate->size_bytes).text,
                 100 * share(estimate->size_bytes, estimate->raw_bytes));
    output_print(out, "granules  %s", number_grouped(estimate->granules).text);
    if (self->options.where != NULL)
        output_print(out, ": %s are read (%.1f %%), standard error %s",
                     number_grouped(estimate->granules_read).text,
                     100 * share(estimate->granules_read, estimate->granules),
                     number_grouped(estimate->granules_read_error).text);
    output_print(out, "\nsample    ");
    if (estimate->is_whole)
        output_print(out, "the whole store");
    else
        output_print(out, "%.1f %% of the data, %s granules",
                     100 * share(estimate->raw_bytes_sampled, estimate->raw_bytes),
                     number_grouped(estimate->granules_sampled).text);
    output_print(out, ", built in %s\n", number_duration(estimate->build_nanoseconds).text);
}

static void write_json(struct index_estimate *self)
{
    const struct bb_index_estimate *estimate = &self->estimate;
    json_t *document = json_object();
    json_set_text(document, "spec", self->options.spec);
    json_set_count(document, "size_bytes", estimate->size_bytes);
    json_set_real(document, "share_of_data", share(estimate->size_bytes, estimate->raw_bytes));
    json_set_count(document, "tables", estimate->tables);
    json_set_count(document, "granules", estimate->granules);
    if (self->options.where != NULL) {
        json_set_text(document, "where", self->options.where);
        json_set_count(document, "granules_read", estimate->granules_read);
        json_set_count(document, "granules_read_error", estimate->granules_read_error);
    }
    json_set_bool(document, "is_whole", estimate->is_whole);
    json_set_count(document, "granules_sampled", estimate->granules_sampled);
    json_set_count(document, "raw_bytes", estimate->raw_bytes);
    json_set_count(document, "raw_bytes_sampled", estimate->raw_bytes_sampled);
    json_set_count(document, "build_nanoseconds", estimate->build_nanoseconds);
    output_json(&self->out, document);
}

/* Shows where the condition is wrong, as `select` does. */
static enum bb_status check_where(const struct index_estimate *self)
{
    struct bb_schema *schema = NULL;
    struct bb_condition *condition = NULL;
    const char *where = self->options.where;
    enum bb_status status = where == NULL ? BB_OK : bb_db_schema(self->db, &schema);
    if (status == BB_OK && where != NULL)
        status = caret_parse_condition(schema, where, &condition);
    bb_condition_destroy(condition);
    bb_schema_destroy(schema);
    return status;
}

static enum bb_status estimate(struct index_estimate *self, const struct arguments *arguments)
{
    enum bb_status status = store_open_to_read(&self->store, arguments->values[0], &self->db);
    self->options.spec = arguments->values[1];
    if (status == BB_OK)
        status = check_where(self);
    if (status == BB_OK)
        status = bb_db_index_estimate(self->db, &self->options, &self->estimate);
    if (status != BB_OK)
        return status;
    if (self->out.is_json)
        write_json(self);
    else
        write_text(self);
    return BB_OK;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct index_estimate self = {.options = {0}};
    store_options_init(&self.store, command);
    const struct option own[] = {
        {"where", "CONDITION", OPTION_TEXT, &self.options.where,
         "also count the granules that a selection with this condition would read"},
        {"granule", "SIZE", OPTION_SIZE, &self.options.granule_bytes,
         "values of a granule, 8K to 1M (as the store has them)"},
        {"segments", "N", OPTION_COUNT, &self.options.segments,
         "segments to measure the size on (8)"},
        {"granules", "N", OPTION_COUNT, &self.options.granules,
         "granules to test the condition on (4096)"},
        {"json", NULL, OPTION_FLAG, &self.out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&self.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = estimate(&self, &arguments);
    if (status != BB_OK)
        code = command_fail(command, status);
    code = store_close(&self.store, self.db, code);
    return command_finish(command, &self.out, code);
}

const struct command command_index_estimate = {
    .name = "index estimate",
    .summary = "estimate the cost and benefit of an index from a sample",
    .arguments = "DIR SPEC",
    .description =
        "Builds the index for a part of the store, tests it, and removes it: the store "
        "is not changed. The size is measured on segments of up to 1,024 granules, the "
        "effect on --where on single granules, spread evenly. A smaller store is used "
        "completely: then the figures are exact.\n"
        "\n"
        "Examples:\n"
        "  bloomblock index estimate /tmp/access 'tokens(agent)'\n"
        "  bloomblock index estimate /tmp/access 'values(host)' --where \"host = '::1'\"\n",
    .argument_count_min = 2,
    .argument_count_max = 2,
    .run = run,
};
