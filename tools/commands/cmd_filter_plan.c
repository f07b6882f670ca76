/* bloomblock filter plan: the size of a filter of each kind, before there are keys. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "tools/commands/cmd_filter.h"
#include "tools/filter/filter_growth.h"
#include "tools/filter/filter_report.h"
#include "tools/output/number_text.h"
#include "tools/command/options.h"
#include "tools/output/text_table.h"

#define ROW_COUNT_MAX (BB_FILTER_PARTITIONED + 2) /* every kind, and the policy */

struct row {
    const char *name;
    struct bb_filter_plan plan;
};

struct plan {
    struct output out;
    struct bb_filter_question question; /* kind DEFAULT: all of them */
    const char *policy;
    struct row rows[ROW_COUNT_MAX];
    size_t row_count;
    char reasons[ROW_COUNT_MAX][160]; /* why a kind has no answer */
    size_t reason_count;
};

/* --- Answers --- */

/* A kind without an answer is a remark; the other kinds may have one. */
static enum bb_status ask(struct plan *plan, const char *name,
                          const struct bb_filter_question *question)
{
    struct row *row = &plan->rows[plan->row_count];
    enum bb_status status = bb_filter_plan(question, &row->plan);
    if (status == BB_OK) {
        row->name = name;
        plan->row_count++;
        return BB_OK;
    }
    bool is_alone = plan->question.kind != BB_FILTER_DEFAULT;
    if (is_alone || (status != BB_INVALID && status != BB_UNSUPPORTED))
        return status;
    snprintf(plan->reasons[plan->reason_count++], sizeof(plan->reasons[0]), "%s: %.120s", name,
             bb_error_last()->message);
    return BB_OK;
}

static enum bb_status ask_kinds(struct plan *plan)
{
    struct bb_filter_question question = plan->question;
    enum bb_status status = BB_OK;
    if (question.kind != BB_FILTER_DEFAULT)
        return ask(plan, bb_filter_kind_name(question.kind), &question);
    for (int kind = BB_FILTER_RIBBON; kind <= BB_FILTER_PARTITIONED && status == BB_OK; kind++) {
        question.kind = (enum bb_filter_kind)kind;
        status = ask(plan, bb_filter_kind_name(question.kind), &question);
    }
    return status;
}

static enum bb_status ask_policy(struct plan *plan)
{
    struct bb_filter_question question = plan->question;
    if (plan->policy == NULL)
        return BB_OK;
    if (strcmp(plan->policy, "clickhouse") != 0)
        return bb_fail(BB_INVALID,
                       "option --policy: there is no policy \"%.40s\"; there is "
                       "clickhouse",
                       plan->policy);
    question.kind = BB_FILTER_BLOOM;
    question.policy = BB_FILTER_POLICY_CLICKHOUSE;
    return ask(plan, "clickhouse", &question);
}

static enum bb_status ask_all(struct plan *plan)
{
    const struct bb_filter_question *question = &plan->question;
    int given =
        (question->key_count != 0) + (question->target_rate != 0) + (question->size_bytes != 0);
    if (given != 2)
        return bb_fail(BB_INVALID, "two of --keys, --rate and --size are needed, both above 0");
    enum bb_status status = ask_kinds(plan);
    if (status == BB_OK)
        status = ask_policy(plan);
    if (status == BB_OK && plan->row_count == 0)
        return bb_fail(BB_INVALID, "%s", plan->reasons[0]);
    return status;
}

/* The lower bound for any filter: log2(1 / rate) bits per key. It has no rows for rates and numbers
 * of keys that no filter here can have, so memory may remain unused. */
static struct bb_filter_plan limit_of(const struct bb_filter_question *question)
{
    struct bb_filter_plan limit = {.key_count = question->key_count,
                                   .target_rate = question->target_rate};
    double bits = 8 * (double)question->size_bytes;
    if (question->target_rate == 0)
        limit.target_rate = fmax(exp2(-bits / (double)question->key_count), BB_FILTER_RATE_MIN);
    limit.bits_per_key = filter_report_limit(limit.target_rate);
    if (question->key_count == 0)
        limit.key_count =
            (uint64_t)fmin(bits / limit.bits_per_key, (double)BB_FILTER_KEY_COUNT_MAX);
    limit.size_bytes = (uint64_t)ceil((double)limit.key_count * limit.bits_per_key / 8);
    return limit;
}

/* --- Text --- */

static void add_numbers(struct text_table *table, const struct bb_filter_plan *plan)
{
    text_table_add(table, "%s", number_grouped(plan->key_count).text);
    text_table_add(table, "%.2f", plan->bits_per_key);
    text_table_add(table, "%s", number_bytes(plan->size_bytes).text);
    text_table_add(table, "%s", number_rate(plan->target_rate).text);
}

static void add_row(struct text_table *table, const struct row *row)
{
    const struct bb_filter_plan *plan = &row->plan;
    text_table_add(table, "%s", row->name);
    add_numbers(table, plan);
    text_table_add(table, "%s", number_rate(plan->predicted_rate).text);
    text_table_add(table, "%" PRIu32, plan->bits_per_probe);
    text_table_add(table, "%.1f", plan->absent_cache_lines);
    text_table_add(table, "%.1f", plan->member_cache_lines);
    text_table_add(table, "%s", filter_growth_takes(plan->kind) ? "yes" : "no");
}

static void add_limit(struct text_table *table, const struct bb_filter_plan *limit)
{
    text_table_add(table, "limit");
    add_numbers(table, limit);
    text_table_add(table, "%s", number_rate(limit->target_rate).text);
    for (int i = 0; i < 4; i++)
        text_table_add(table, "-");
}

static void write_text(struct plan *plan, const struct bb_filter_plan *limit)
{
    static const char *const headers[] = {
        "kind",      "keys",       "bits/key",      "size",           "rate",
        "predicted", "bits/probe", "lines: absent", "lines: present", "add"};
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    for (size_t i = 0; i < plan->row_count; i++)
        add_row(&table, &plan->rows[i]);
    add_limit(&table, limit);
    text_table_write(&table, &plan->out);
    text_table_deinit(&table);
    for (size_t i = 0; i < plan->reason_count; i++)
        output_print(&plan->out, "(%s)\n", plan->reasons[i]);
}

/* --- JSON --- */

static json_t *numbers_json(const char *name, const struct bb_filter_plan *plan)
{
    json_t *object = json_object();
    json_set_text(object, "kind", name);
    json_set_count(object, "keys", plan->key_count);
    json_set_real(object, "bits_per_key", plan->bits_per_key);
    json_set_count(object, "bytes", plan->size_bytes);
    json_set_real(object, "target_rate", plan->target_rate);
    return object;
}

static json_t *row_json(const struct row *row)
{
    const struct bb_filter_plan *plan = &row->plan;
    json_t *object = numbers_json(row->name, plan);
    json_set_real(object, "predicted_rate", plan->predicted_rate);
    json_set_count(object, "bits_per_probe", plan->bits_per_probe);
    json_set_real(object, "absent_cache_lines", plan->absent_cache_lines);
    json_set_real(object, "present_cache_lines", plan->member_cache_lines);
    json_set_bool(object, "takes_more_keys", filter_growth_takes(plan->kind));
    json_t *parameters = json_array();
    for (size_t i = 0; i < BB_ARRAY_LENGTH(plan->parameters); i++)
        json_array_append_new(parameters, json_integer((json_int_t)plan->parameters[i]));
    json_object_set_new(object, "parameters", parameters);
    return object;
}

static void write_json(struct plan *plan, const struct bb_filter_plan *limit)
{
    json_t *document = json_object();
    json_t *rows = json_array(), *reasons = json_array();
    for (size_t i = 0; i < plan->row_count; i++)
        json_array_append_new(rows, row_json(&plan->rows[i]));
    for (size_t i = 0; i < plan->reason_count; i++)
        json_array_append_new(reasons, json_string(plan->reasons[i]));
    json_object_set_new(document, "plans", rows);
    json_object_set_new(document, "limit", numbers_json("limit", limit));
    json_object_set_new(document, "without_answer", reasons);
    output_json(&plan->out, document);
}

/* --- Command --- */

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct plan plan = {0};
    const struct option own[] = {
        {"keys", "N", OPTION_COUNT, &plan.question.key_count, "distinct keys"},
        {"rate", "RATE", OPTION_REAL, &plan.question.target_rate,
         "share of absent keys for which it returns maybe"},
        {"size", "SIZE", OPTION_SIZE, &plan.question.size_bytes, "memory; accepts K, M and G"},
        {"kind", "KIND", OPTION_FILTER_KIND, &plan.question.kind, "only this kind"},
        {"policy", "NAME", OPTION_TEXT, &plan.policy,
         "an additional row with the choice of another system: clickhouse"},
        {"json", NULL, OPTION_FLAG, &plan.out.is_json, "print JSON"},
    };
    const struct option_group group = {
        .title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, &group, 1, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = ask_all(&plan);
    struct bb_filter_plan limit = {0};
    if (status == BB_OK)
        limit = limit_of(&plan.question);
    if (status != BB_OK)
        code = command_fail(command, status);
    else if (plan.out.is_json)
        write_json(&plan, &limit);
    else
        write_text(&plan, &limit);
    return command_finish(command, &plan.out, code);
}

const struct command command_filter_plan = {
    .name = "filter plan",
    .summary = "plan a filter of each kind: two of keys, rate and size give the third",
    .arguments = "",
    .description =
        "Prints a row per kind. Of keys, rate and size you give two; the third is the best that "
        "the kind achieves.\n"
        "rate is the target for `filter create`, predicted the expected rate of such a filter. A "
        "probe reads the\n"
        "given number of bits, in the given number of 64-byte lines for an absent and for a "
        "present key: this is\n"
        "its cost if the filter is not cached. The last row is the theoretical minimum.\n"
        "\n"
        "Examples:\n"
        "  bloomblock filter plan --keys 1000000 --rate 0.01\n"
        "  bloomblock filter plan --keys 1000000 --size 1M\n"
        "  bloomblock filter plan --rate 0.001 --size 16M --kind ribbon\n"
        "  bloomblock filter plan --keys 1000000 --rate 0.23 --policy clickhouse\n",
    .argument_count_min = 0,
    .argument_count_max = 0,
    .run = run,
};
