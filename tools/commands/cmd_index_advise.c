/* bloomblock index advise: which indexes would pay, measured on a sample. */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "tools/commands/cmd_index.h"
#include "tools/output/number_text.h"
#include "tools/output/progress.h"
#include "tools/records/advice_sample.h"
#include "tools/store/store_options.h"
#include "tools/output/text_table.h"

/* An index that skips a smaller share of the granules is not worth its space. */
#define SKIP_MIN 0.1
/* Bounds that skip nearly as much as members are preferred: they take a hundredth. */
#define BOUNDS_SLACK 0.05
/* Text with at least this many words is searched by words. */
#define WORDS_MIN 1.5
/* A dictionary of words pays when words repeat: with this many uses of each word, it is not much
 * larger than tokens. It answers the same conditions exactly, and parts of words too. */
#define WORD_REPEATS_MIN  8.0
#define TEXT_TIMES_TOKENS 2.0
#define TEXT_SHARE_MAX    0.03
/* Where a record's word is in most granules, only counts spare reading them. */
#define COUNTS_SKIP_MAX 0.5
/* A set that is not larger takes a bit for each value and granule. */
#define SET_VALUES_MAX 100
/* Segments that the size is measured on. */
#define ESTIMATE_SEGMENTS 4

/* A proposal for one attribute; none: spec is empty. */
struct proposal {
    size_t attribute;
    char spec[160];
    const char *question; /* that it answers, or the reason for no index */
    double skip;          /* of granules, for the value or word of a record */
    double rare_skip;     /* for a distinct value, each counted once; NaN: not measured */
    uint64_t size_bytes;
};

struct advise {
    struct store_options store;
    struct output out;
    struct bb_db *db;
    struct advice_sample sample;
    struct attribute_facts *facts;
    struct bb_buf proposals; /* struct proposal */
    uint64_t raw_bytes;
};

/* ---- choosing ---- */

static const char *name_of(const struct advise *advise, size_t attribute)
{
    return bb_schema_name(advise->sample.schema, attribute);
}

static struct proposal propose_value(const struct advise *advise, size_t attribute)
{
    const struct attribute_facts *facts = &advise->facts[attribute];
    struct proposal made = {.attribute = attribute, .question = "=", .rare_skip = NAN};
    double best = fmax(facts->value_skip, facts->distinct_skip);
    const char *name = name_of(advise, attribute);
    if (facts->distinct == 0) {
        made.question = "it has no values";
    } else if (facts->bounds_skip >= SKIP_MIN &&
               facts->bounds_skip >= facts->value_skip - BOUNDS_SLACK) {
        snprintf(made.spec, sizeof(made.spec), "min_max(%s)", name);
        made.question = "=, ranges";
        made.skip = facts->bounds_skip;
    } else if (best >= SKIP_MIN) {
        bool is_set = facts->distinct <= SET_VALUES_MAX;
        double rate = is_set ? 0 : 0.01;
        snprintf(made.spec, sizeof(made.spec), "%s(%s)", is_set ? "set" : "values", name);
        made.skip = facts->value_skip * (1 - rate);
        made.rare_skip = facts->distinct_skip * (1 - rate);
    } else {
        made.question = "every value is in nearly every granule";
    }
    return made;
}

static bool propose_words(const struct advise *advise, size_t attribute, struct proposal *made)
{
    const struct attribute_facts *facts = &advise->facts[attribute];
    *made = (struct proposal){.attribute = attribute, .question = "has_token"};
    double best = fmax(facts->word_skip, facts->distinct_word_skip);
    if (facts->words < WORDS_MIN || best < SKIP_MIN)
        return false;
    snprintf(made->spec, sizeof(made->spec), "tokens(%s)", name_of(advise, attribute));
    made->skip = facts->word_skip;
    made->rare_skip = facts->distinct_word_skip;
    return true;
}

/* Whether words repeat so that a dictionary may pay. Its size decides. */
static bool may_have_text(const struct attribute_facts *facts)
{
    return facts->words >= WORDS_MIN && facts->word_repeats >= WORD_REPEATS_MIN &&
           facts->distinct > SET_VALUES_MAX;
}

static struct proposal text_of(const struct advise *advise, size_t attribute, bool has_counts)
{
    const struct attribute_facts *facts = &advise->facts[attribute];
    struct proposal made = {.attribute = attribute,
                            .question = has_counts ? "has_token, parts of words, counts"
                                                   : "has_token, parts of words",
                            .skip = facts->word_skip,
                            .rare_skip = facts->distinct_word_skip};
    snprintf(made.spec, sizeof(made.spec), "text(%s%s)", name_of(advise, attribute),
             has_counts ? ", counts=yes" : "");
    return made;
}

/* The size of the index, built for some tables and thrown away. */
static enum bb_status measure(struct advise *advise, struct proposal *proposal)
{
    struct bb_index_estimate_options options = {.spec = proposal->spec,
                                                .granule_bytes = advise->sample.granule_bytes,
                                                .segments = ESTIMATE_SEGMENTS};
    struct bb_index_estimate estimate = {0};
    enum bb_status status = BB_OK;
    if (proposal->spec[0] != '\0')
        status = bb_db_index_estimate(advise->db, &options, &estimate);
    proposal->size_bytes = estimate.size_bytes;
    return status;
}

static enum bb_status add(struct advise *advise, const struct proposal *proposal)
{
    return bb_buf_append(&advise->proposals, proposal, sizeof(*proposal));
}

static enum bb_status measure_and_add(struct advise *advise, struct proposal *proposal)
{
    enum bb_status status = measure(advise, proposal);
    return status == BB_OK ? add(advise, proposal) : status;
}

/* Whether the dictionary is worth its bytes, given the size of the index that it replaces. Without
 * one (0) its share of the data decides. */
static bool is_worth(const struct advise *advise, const struct proposal *text,
                     uint64_t tokens_bytes)
{
    double size = (double)text->size_bytes;
    return size <= TEXT_SHARE_MAX * (double)advise->raw_bytes &&
           (tokens_bytes == 0 || size <= TEXT_TIMES_TOKENS * (double)tokens_bytes);
}

/* Replaces *made by a dictionary that is worth its bytes. *made: tokens, or no spec; then counts
 * are the only use of a dictionary. */
static enum bb_status prefer_text(struct advise *advise, bool has_counts, struct proposal *made)
{
    struct proposal text = text_of(advise, made->attribute, has_counts);
    enum bb_status status = measure(advise, &text);
    if (status == BB_OK && is_worth(advise, &text, made->size_bytes))
        *made = text;
    return status;
}

/* Tokens, or a dictionary in their place. *ret_is_added: one of them was. */
static enum bb_status add_words(struct advise *advise, size_t attribute, bool *ret_is_added)
{
    const struct attribute_facts *facts = &advise->facts[attribute];
    struct proposal made;
    enum bb_status status = BB_OK;
    bool has_tokens = propose_words(advise, attribute, &made);
    if (has_tokens)
        status = measure(advise, &made);
    if (status == BB_OK && may_have_text(facts) && has_tokens)
        status = prefer_text(advise, false, &made);
    if (status == BB_OK && may_have_text(facts) && facts->word_skip < COUNTS_SKIP_MAX)
        status = prefer_text(advise, true, &made);
    *ret_is_added = made.spec[0] != '\0';
    return status == BB_OK && *ret_is_added ? add(advise, &made) : status;
}

static enum bb_status propose(struct advise *advise, size_t attribute)
{
    struct proposal proposal = propose_value(advise, attribute);
    enum bb_status status = BB_OK;
    bool has_words = false;
    if (proposal.spec[0] != '\0')
        status = measure_and_add(advise, &proposal);
    if (status == BB_OK)
        status = add_words(advise, attribute, &has_words);
    bool has_any = has_words || proposal.spec[0] != '\0';
    return status == BB_OK && !has_any ? add(advise, &proposal) : status;
}

static enum bb_status examine(struct advise *advise)
{
    static const struct bb_key_range everything;
    struct bb_range_size size = {0};
    struct progress progress;
    enum bb_status status = advice_sample_read(&advise->sample, advise->db);
    if (status == BB_OK)
        status = bb_db_approximate_sizes(advise->db, &everything, 1, &size);
    if (status != BB_OK)
        return status;
    size_t count = bb_schema_count(advise->sample.schema);
    advise->raw_bytes = size.raw_bytes;
    advise->facts = bb_alloc_zeroed(count, sizeof(*advise->facts));
    if (advise->facts == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu attributes", count);
    progress_start(&progress, "measuring attributes", count, false);
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        status = attribute_facts_compute(&advise->sample, i, &advise->facts[i]);
        if (status == BB_OK)
            status = propose(advise, i);
        progress_add(&progress, 1);
    }
    progress_stop(&progress);
    return status;
}

/* ---- the report ---- */

static const struct proposal *proposals_of(const struct advise *advise, size_t *ret_count)
{
    *ret_count = advise->proposals.size / sizeof(struct proposal);
    return (const void *)advise->proposals.data;
}

static double size_share(const struct advise *advise, const struct proposal *proposal)
{
    return advise->raw_bytes == 0 ? 0 : (double)proposal->size_bytes / (double)advise->raw_bytes;
}

static void write_facts(struct advise *advise)
{
    static const char *const headers[] = {"attribute", "type",     "null",        "length",
                                          "words",     "distinct", "per granule", "order"};
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    table.left_columns = 3;
    for (size_t i = 0; i < bb_schema_count(advise->sample.schema); i++) {
        const struct attribute_facts *facts = &advise->facts[i];
        enum bb_attribute_type type = bb_schema_type(advise->sample.schema, i);
        bool is_text = type == BB_ATTRIBUTE_BYTES;
        text_table_add(&table, "%s", name_of(advise, i));
        text_table_add(&table, "%s", bb_attribute_type_name(type));
        text_table_add(&table, "%.1f %%", 100 * facts->null_share);
        text_table_add(&table, is_text ? "%.1f" : "-", facts->length);
        text_table_add(&table, is_text ? "%.1f" : "-", facts->words);
        text_table_add(&table, "%s", number_grouped(facts->distinct).text);
        text_table_add(&table, "%.1f", facts->distinct_per_granule);
        text_table_add(&table, "%.2f", facts->order);
    }
    text_table_write(&table, &advise->out);
    text_table_deinit(&table);
}

static void add_share(struct text_table *table, double share)
{
    if (isnan(share))
        text_table_add(table, "-");
    else
        text_table_add(table, "%.1f %%", 100 * share);
}

static void write_proposals(struct advise *advise)
{
    static const char *const headers[] = {"proposed", "for",   "size",
                                          "of data",  "skips", "skips, rare"};
    size_t count = 0;
    const struct proposal *list = proposals_of(advise, &count);
    struct text_table table;
    text_table_init(&table, headers, BB_ARRAY_LENGTH(headers));
    table.left_columns = 3;
    for (size_t i = 0; i < count; i++) {
        if (list[i].spec[0] == '\0')
            continue;
        text_table_add(&table, "%s", list[i].spec);
        text_table_add(&table, "%s", list[i].question);
        text_table_add(&table, "%s", number_bytes(list[i].size_bytes).text);
        text_table_add(&table, "%.2f %%", 100 * size_share(advise, &list[i]));
        add_share(&table, list[i].skip);
        add_share(&table, list[i].rare_skip);
    }
    output_print(&advise->out, "\n");
    text_table_write(&table, &advise->out);
    text_table_deinit(&table);
    for (size_t i = 0; i < count; i++) {
        if (list[i].spec[0] == '\0')
            output_print(&advise->out, "none for %s: %s\n", name_of(advise, list[i].attribute),
                         list[i].question);
    }
}

static void write_method(struct advise *advise)
{
    const struct advice_sample *sample = &advise->sample;
    output_print(
        &advise->out,
        "\nMeasured on %s records: %s granules of %s, from %s of %s tables.\n"
        "skips: granules of the sample without the value (for has_token without the longest "
        "word) of a\n"
        "record, mean over records, less the index's rate; rare: the same over distinct "
        "values or words, each once.\n"
        "Ranks of values and keys correlate by \"order\". Sizes: each index was built for "
        "%d segments of\n"
        "up to 1,024 granules, and removed. A share below %.0f %% is not proposed; column(a) "
        "serves frequent "
        "values.\n",
        number_grouped(sample->records).text, number_grouped(sample->granules).text,
        number_bytes(sample->granule_bytes).text, number_grouped(sample->tables_sampled).text,
        number_grouped(sample->tables).text, ESTIMATE_SEGMENTS, 100 * SKIP_MIN);
}

static json_t *facts_json(const struct advise *advise)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < bb_schema_count(advise->sample.schema); i++) {
        const struct attribute_facts *facts = &advise->facts[i];
        json_t *row = json_object();
        json_set_text(row, "name", name_of(advise, i));
        json_set_text(row, "type",
                      bb_attribute_type_name(bb_schema_type(advise->sample.schema, i)));
        json_set_real(row, "null_share", facts->null_share);
        json_set_real(row, "length", facts->length);
        json_set_real(row, "words", facts->words);
        json_set_count(row, "distinct", facts->distinct);
        json_set_real(row, "distinct_per_granule", facts->distinct_per_granule);
        json_set_real(row, "order", facts->order);
        json_set_real(row, "value_skip", facts->value_skip);
        json_set_real(row, "distinct_skip", facts->distinct_skip);
        json_set_real(row, "bounds_skip", facts->bounds_skip);
        json_set_real(row, "word_skip", facts->word_skip);
        json_set_real(row, "distinct_word_skip", facts->distinct_word_skip);
        json_set_count(row, "distinct_words", facts->distinct_words);
        json_set_real(row, "word_repeats", facts->word_repeats);
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *proposals_json(const struct advise *advise)
{
    json_t *rows = json_array();
    size_t count = 0;
    const struct proposal *list = proposals_of(advise, &count);
    for (size_t i = 0; i < count; i++) {
        json_t *row = json_object();
        json_set_text(row, "attribute", name_of(advise, list[i].attribute));
        bool is_one = list[i].spec[0] != '\0';
        json_object_set_new(row, "spec", is_one ? json_string(list[i].spec) : json_null());
        json_set_text(row, is_one ? "for" : "reason", list[i].question);
        if (is_one) {
            json_set_count(row, "size_bytes", list[i].size_bytes);
            json_set_real(row, "share_of_data", size_share(advise, &list[i]));
            json_set_real(row, "skip", list[i].skip);
            json_set_real(row, "rare_skip", list[i].rare_skip);
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

static void report(struct advise *advise)
{
    if (!advise->out.is_json) {
        write_facts(advise);
        write_proposals(advise);
        write_method(advise);
        return;
    }
    const struct advice_sample *sample = &advise->sample;
    json_t *document = json_object();
    json_object_set_new(document, "attributes", facts_json(advise));
    json_object_set_new(document, "proposals", proposals_json(advise));
    json_set_count(document, "granule_bytes", sample->granule_bytes);
    json_set_count(document, "granules_sampled", sample->granules);
    json_set_count(document, "records_sampled", sample->records);
    json_set_count(document, "tables_sampled", sample->tables_sampled);
    json_set_count(document, "tables", sample->tables);
    json_set_count(document, "raw_bytes", advise->raw_bytes);
    output_json(&advise->out, document);
}

static enum bb_status check_options(const struct advice_sample *sample)
{
    if (sample->granule_bytes < BB_GRANULE_BYTES_MIN ||
        sample->granule_bytes > BB_GRANULE_BYTES_MAX)
        return bb_fail(BB_INVALID, "option --granule: granules have 8K to 1M");
    if (sample->granules_max < 2 || sample->granules_max > 65536)
        return bb_fail(BB_INVALID, "option --sample: 2 to 65536 granules");
    return BB_OK;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
    struct advise advise = {.sample = {.granule_bytes = BB_GRANULE_BYTES_DEFAULT,
                                       .granules_max = SAMPLE_GRANULES_DEFAULT}};
    store_options_init(&advise.store, command);
    const struct option own[] = {
        {"granule", "SIZE", OPTION_SIZE, &advise.sample.granule_bytes,
         "values of a granule, 8K to 1M (64K)"},
        {"sample", "N", OPTION_COUNT, &advise.sample.granules_max, "granules to sample (256)"},
        {"json", NULL, OPTION_FLAG, &advise.out.is_json, "print JSON"},
    };
    const struct option_group groups[] = {
        {.title = "Options", .options = own, .count = BB_ARRAY_LENGTH(own)},
        store_options_group(&advise.store)};
    struct arguments arguments = {0};
    enum exit_code code = EXIT_FOUND;
    if (!options_parse(command, groups, 2, argc, argv, &arguments, &code))
        return code;
    enum bb_status status = check_options(&advise.sample);
    if (status == BB_OK)
        status = store_open_to_read(&advise.store, arguments.values[0], &advise.db);
    if (status == BB_OK)
        status = examine(&advise);
    if (status == BB_OK)
        report(&advise);
    else
        code = command_fail(command, status);
    advice_sample_deinit(&advise.sample);
    bb_free(advise.facts);
    bb_buf_deinit(&advise.proposals);
    code = store_close(&advise.store, advise.db, code);
    return command_finish(command, &advise.out, code);
}

const struct command command_index_advise = {
    .name = "index advise",
    .summary = "propose indexes, measured on a sample",
    .arguments = "DIR",
    .description = "Samples each attribute in granules from up to eight tables: nulls, length, "
                   "words, distinct values,\n"
                   "and whether values grow with the key. Proposes indexes that skip at least a "
                   "tenth of the granules, with\n"
                   "the share that each skips and its size, and describes how both were measured. "
                   "The store is not changed.\n"
                   "\n"
                   "Example:\n"
                   "  bloomblock index advise /tmp/access --granule 16K\n",
    .argument_count_min = 1,
    .argument_count_max = 1,
    .run = run,
};
