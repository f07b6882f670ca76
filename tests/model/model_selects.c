/* See model_store.h: selections by conditions on keys and values, compared with SQLite, with
 * indexes that are added and dropped. Each condition is written twice, for the store and for
 * SQL. */
#include "tests/model/model_keys.h"

#include <stdio.h>

#include "base/bytes.h"
#include "bb/select.h"
#include "skip/condition/token.h"

#define TEXT_SIZE 2048

static const char *const definitions[] = {
    "k bytes = key",
    "v bytes = value",
    "head u64 = fixed(0, u8)",
    "two bytes = fixed(1, bytes 2)",
};
#define DEFINITIONS (sizeof(definitions) / sizeof(definitions[0]))

static const char *const specs[MODEL_INDEXES] = {
    "min_max(head)",         "set(head, values=300)",  "values(head, rate=0.05)",
    "set(two, values=100)",  "values(two, rate=0.05)", "min_max(k)",
    "ngrams(k, n=3)",        "column(head)",           "text(k)",
    "text(two, counts=yes)",
};

/* ---- conditions ---- */

struct condition_texts {
    char ours[TEXT_SIZE];
    char sql[TEXT_SIZE];
};

#define SQL_HEAD "(CASE WHEN length(v.value) >= 1 THEN substr(v.value, 1, 1) END)"
#define SQL_TWO  "(CASE WHEN length(v.value) >= 3 THEN substr(v.value, 2, 2) END)"

static const char *const operators[] = {"=", "!=", "<", "<=", ">", ">="};

static const char *draw_operator(struct model *model)
{
    return operators[bb_rng_below(&model->rng, 6)];
}

/* Text as SQL's blob; hex has space. */
static const char *hex_of(const char *text, char *hex)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)text[i]);
    hex[2 * size] = 0;
    return hex;
}

static void draw_head(struct model *model, struct condition_texts *texts)
{
    unsigned a = (unsigned)bb_rng_below(&model->rng, 256);
    unsigned b = (unsigned)bb_rng_below(&model->rng, 256);
    const char *name = draw_operator(model);
    switch (bb_rng_below(&model->rng, 4)) {
    case 0:
        snprintf(texts->ours, TEXT_SIZE, "head BETWEEN %u AND %u", a, b);
        snprintf(texts->sql, TEXT_SIZE, SQL_HEAD " BETWEEN x'%02x' AND x'%02x'", a, b);
        break;
    case 1:
        snprintf(texts->ours, TEXT_SIZE, "head NOT IN (%u, %u, 0)", a, b);
        snprintf(texts->sql, TEXT_SIZE, SQL_HEAD " NOT IN (x'%02x', x'%02x', x'00')", a, b);
        break;
    case 2:
        snprintf(texts->ours, TEXT_SIZE, "head IS %sNULL", a % 2 == 0 ? "" : "NOT ");
        snprintf(texts->sql, TEXT_SIZE, SQL_HEAD " IS %sNULL", a % 2 == 0 ? "" : "NOT ");
        break;
    default:
        snprintf(texts->ours, TEXT_SIZE, "head %s %u", name, a);
        snprintf(texts->sql, TEXT_SIZE, SQL_HEAD " %s x'%02x'", name, a);
    }
}

static void draw_two(struct model *model, struct condition_texts *texts)
{
    char two[3] = {(char)('A' + bb_rng_below(&model->rng, 58)),
                   (char)('a' + bb_rng_below(&model->rng, 26)), 0};
    char hex[8];
    const char *name = draw_operator(model);
    if (two[0] == '\\')
        two[0] = 'x';
    /* Two letters are a complete word. */
    if (bb_rng_one_in(&model->rng, 3) && bb_token_is_one(bb_bytes_of_text(two))) {
        const char *no = bb_rng_one_in(&model->rng, 4) ? "NOT " : "";
        snprintf(texts->ours, TEXT_SIZE, "%shas_token(two, '%s')", no, two);
        snprintf(texts->sql, TEXT_SIZE, "%s(" SQL_TWO " = x'%s')", no, hex_of(two, hex));
        return;
    }
    snprintf(texts->ours, TEXT_SIZE, "two %s '%s'", name, two);
    snprintf(texts->sql, TEXT_SIZE, SQL_TWO " %s x'%s'", name, hex_of(two, hex));
}

/* Keys have numbers of six digits. */
static void draw_key_leaf(struct model *model, struct condition_texts *texts)
{
    char text[32];
    char hex[80];
    unsigned number = (unsigned)bb_rng_below(&model->rng, model->key_space);
    const char *name = draw_operator(model);
    switch (bb_rng_below(&model->rng, 4)) {
    case 0:
        snprintf(text, sizeof(text), "%03u", number % 1000);
        snprintf(texts->ours, TEXT_SIZE, "contains(k, '%s')", text);
        snprintf(texts->sql, TEXT_SIZE, "instr(v.key, x'%s') > 0", hex_of(text, hex));
        break;
    case 1:
        snprintf(text, sizeof(text), "k%05u", number / 10);
        snprintf(texts->ours, TEXT_SIZE, "starts_with(k, '%s')", text);
        /* Of a blob without bytes substr is NULL. */
        snprintf(texts->sql, TEXT_SIZE, "coalesce(substr(v.key, 1, %zu), x'') = x'%s'",
                 strlen(text), hex_of(text, hex));
        break;
    case 2:
        snprintf(text, sizeof(text), "k%06u%s", number, number % 3 == 0 ? " and a tail" : "");
        snprintf(texts->ours, TEXT_SIZE, "k = '%s'", text);
        snprintf(texts->sql, TEXT_SIZE, "v.key = x'%s'", hex_of(text, hex));
        break;
    default:
        snprintf(text, sizeof(text), "k%06u", number);
        snprintf(texts->ours, TEXT_SIZE, "k %s '%s'", name, text);
        snprintf(texts->sql, TEXT_SIZE, "v.key %s x'%s'", name, hex_of(text, hex));
    }
}

static void draw_condition(struct model *model, int depth, struct condition_texts *texts)
{
    struct condition_texts left;
    struct condition_texts right;
    uint64_t draw = bb_rng_below(&model->rng, depth == 0 ? 6 : 10);
    if (draw < 3) {
        draw_head(model, texts);
    } else if (draw < 4) {
        draw_two(model, texts);
    } else if (draw < 6) {
        draw_key_leaf(model, texts);
    } else if (draw == 6) {
        draw_condition(model, depth - 1, &left);
        snprintf(texts->ours, TEXT_SIZE, "NOT (%.1000s)", left.ours);
        snprintf(texts->sql, TEXT_SIZE, "NOT (%.2000s)", left.sql);
    } else {
        const char *name = draw == 7 ? "OR" : "AND";
        draw_condition(model, depth - 1, &left);
        draw_condition(model, depth - 1, &right);
        snprintf(texts->ours, TEXT_SIZE, "(%.900s) %s (%.900s)", left.ours, name, right.ours);
        snprintf(texts->sql, TEXT_SIZE, "(%.900s) %s (%.900s)", left.sql, name, right.sql);
    }
}

/* ---- one selection ---- */

struct selection {
    struct bb_db *db;
    struct bb_select_options options;
    struct condition_texts texts;
    uint64_t sequence; /* that it shows */
    struct bb_schema *schema;
    struct bb_condition *condition;
    struct model_key low_key;
    struct model_key high_key;
    struct bb_bytes low;
    struct bb_bytes high;
    struct bb_key_range range;
    uint64_t progress_calls;
};

static bool count_progress(void *context, const struct bb_select_account *account)
{
    struct selection *selection = context;
    (void)account;
    selection->progress_calls++;
    return true;
}

static void make_schema(struct model *model, struct selection *selection)
{
    model_must(model, bb_schema_create(&selection->schema), "schema");
    for (size_t i = 0; i < DEFINITIONS; i++)
        model_must(model, bb_schema_add(selection->schema, definitions[i]), "schema");
}

/* By its text or by calls, over the store's schema or one like it. */
static void draw_form(struct model *model, struct selection *selection, bool has_attributes)
{
    struct bb_select_options *options = &selection->options;
    if (has_attributes && !bb_rng_one_in(&model->rng, 3)) {
        options->where = selection->texts.ours;
        return;
    }
    make_schema(model, selection);
    options->schema = selection->schema;
    if (bb_rng_one_in(&model->rng, 2)) {
        options->where = selection->texts.ours;
        return;
    }
    model_must(model,
               bb_condition_parse(selection->schema, bb_bytes_of_text(selection->texts.ours),
                                  &selection->condition),
               "condition");
    options->condition = selection->condition;
}

static void draw_selection(struct model *model, struct selection *selection, bool has_attributes)
{
    struct bb_select_options *options = &selection->options;
    *options = (struct bb_select_options){0};
    draw_condition(model, 2, &selection->texts);
    draw_form(model, selection, has_attributes);
    selection->low = model_draw_key(model, &selection->low_key);
    selection->high = model_draw_key(model, &selection->high_key);
    selection->range.low = bb_rng_one_in(&model->rng, 4) ? &selection->low : NULL;
    selection->range.high = bb_rng_one_in(&model->rng, 4) ? &selection->high : NULL;
    options->range = bb_rng_one_in(&model->rng, 4) ? NULL : &selection->range;
    options->backward = bb_rng_one_in(&model->rng, 3);
    options->ignore_indexes = bb_rng_one_in(&model->rng, 5);
    options->limit = bb_rng_one_in(&model->rng, 4) ? bb_rng_between(&model->rng, 1, 20) : 0;
    options->progress = count_progress;
    options->progress_context = selection;
}

static void differ(struct model *model, const struct selection *selection, const char *what)
{
    fprintf(stderr, "model: selection where %s%s%s, limit %llu\n", selection->texts.ours,
            selection->options.backward ? ", backward" : "",
            selection->options.range != NULL ? ", in a range" : "",
            (unsigned long long)selection->options.limit);
    model_differ(model, what);
}

static void compare_record(struct model *model, const struct selection *selection,
                           struct bb_select *select)
{
    const struct bb_attribute *attributes = NULL;
    if (!bb_bytes_equal(bb_select_key(select), bb_buf_bytes(&model->value)))
        differ(model, selection, "a selection shows another key");
    if (!bb_bytes_equal(bb_select_value(select), bb_buf_bytes(&model->expected)))
        differ(model, selection, "a selection shows another value");
    model_must(model, bb_select_attributes(select, &attributes), "attributes");
    if (!bb_bytes_equal(attributes[0].as.bytes, bb_buf_bytes(&model->value)))
        differ(model, selection, "the attribute of the key is another one");
    model->coverage->selected++;
}

static void add_account(struct model *model, struct bb_select *select)
{
    struct bb_select_account account;
    const struct bb_select_index_account *accounts = NULL;
    size_t count = 0;
    bb_select_account(select, &account);
    bb_select_index_accounts(select, &accounts, &count);
    for (size_t i = 0; i < count; i++)
        model->coverage->index_questions += accounts[i].account.leaves;
    model->coverage->granules_excluded += account.granules_excluded;
}

/* Gives how many records there must be, up to the limit. */
static uint64_t compare_records(struct model *model, struct selection *selection)
{
    const struct bb_select_options *options = &selection->options;
    static const struct bb_key_range everything;
    struct bb_select *select = NULL;
    bool has_record = false;
    uint64_t count = 0;
    oracle_select(model->oracle, selection->sequence, selection->texts.sql,
                  options->range != NULL ? options->range : &everything, options->backward);
    model_must(model, bb_db_select(selection->db, options, &select), "select");
    while ((options->limit == 0 || count < options->limit) &&
           oracle_select_next(model->oracle, &model->value, &model->expected)) {
        model_must(model, bb_select_next(select, &has_record), "next of a selection");
        if (!has_record)
            differ(model, selection, "a selection ends early");
        compare_record(model, selection, select);
        count++;
    }
    model_must(model, bb_select_next(select, &has_record), "end of a selection");
    if (has_record)
        differ(model, selection, "a selection shows what does not match");
    add_account(model, select);
    bb_select_destroy(select);
    return count;
}

static void compare_count(struct model *model, const struct selection *selection, uint64_t expected,
                          bool may_lack_indexes)
{
    struct bb_select_account account = {0};
    struct bb_select *select = NULL;
    uint64_t count = 0;
    if (bb_rng_one_in(&model->rng, 2)) {
        model_must(model, bb_db_select_count(selection->db, &selection->options, &count, &account),
                   "count");
    } else {
        model_must(model, bb_db_select(selection->db, &selection->options, &select), "select");
        model_must(model, bb_select_count(select, &count), "count of a selection");
        bb_select_account(select, &account);
        bb_select_destroy(select);
    }
    if (count != expected)
        differ(model, selection, "a count is another one");
    if (account.damaged_indexes > 0 && !may_lack_indexes)
        differ(model, selection, "an index was passed over");
    model->coverage->granules_counted += account.granules_counted;
}

/* snapshot NULL: now. */
static void compare_selection(struct model *model, struct selection *selection,
                              const struct bb_snapshot *snapshot, bool has_attributes)
{
    bool is_beside = selection->db != model->db;
    draw_selection(model, selection, has_attributes);
    selection->options.snapshot = snapshot;
    uint64_t count = compare_records(model, selection);
    compare_count(model, selection, count, is_beside);
    bb_condition_destroy(selection->condition);
    bb_schema_destroy(selection->schema);
    model->coverage->selections++;
    model->coverage->selection_progress += selection->progress_calls;
}

void model_compare_selection(struct model *model, struct bb_db *db, uint64_t sequence)
{
    struct selection selection = {.db = db, .sequence = sequence};
    compare_selection(model, &selection, NULL, false);
}

/* ---- indexes ---- */

static void create_attributes(struct model *model)
{
    for (size_t i = 0; i < DEFINITIONS && !model->has_attributes; i++)
        model_must(model, bb_db_attribute_create(model->db, definitions[i]), "attribute");
    model->has_attributes = true;
    model_must(model, bb_db_attribute_create(model->db, "spare i64 = split(' ', 2)"), "attribute");
    if (bb_db_attribute_create(model->db, "spare bytes = value") != BB_EXISTS)
        model_differ(model, "an attribute is defined twice");
    model_must(model, bb_db_attribute_drop(model->db, "spare"), "drop of an attribute");
}

static bool go_on(void *context, uint64_t done, uint64_t tables)
{
    bool *is_cancelled = context;
    return !*is_cancelled || done == tables;
}

static void materialize(struct model *model)
{
    bool is_cancelled = bb_rng_one_in(&model->rng, 4);
    struct bb_materialize_options options = {0};
    options.rebuild = bb_rng_one_in(&model->rng, 3);
    options.progress = go_on;
    options.progress_context = &is_cancelled;
    enum bb_status status = bb_db_index_materialize(model->db, &options);
    if (status != BB_BUSY || !is_cancelled)
        model_must(model, status, "materialize");
    model->coverage->materialized += status == BB_OK;
}

static void change_index(struct model *model)
{
    unsigned which = (unsigned)bb_rng_below(&model->rng, MODEL_INDEXES);
    char name[8];
    snprintf(name, sizeof(name), "i%u", which);
    if ((model->indexes >> which & 1) != 0) {
        model_must(model, bb_db_index_drop(model->db, name), "drop of an index");
        model->coverage->indexes_dropped++;
    } else {
        model_must(model, bb_db_index_create(model->db, name, specs[which]), "index");
        model->coverage->indexes_created++;
    }
    model->indexes ^= UINT32_C(1) << which;
}

static void estimate(struct model *model)
{
    struct bb_index_estimate_options options = {0};
    struct bb_index_estimate result;
    options.spec = specs[bb_rng_below(&model->rng, MODEL_INDEXES)];
    options.where = "head = 7";
    options.granule_bytes = bb_rng_one_in(&model->rng, 2) ? 0 : BB_GRANULE_BYTES_MIN;
    options.segments = 1;
    options.granules = 1 + bb_rng_below(&model->rng, 8);
    enum bb_status status = bb_db_index_estimate(model->db, &options, &result);
    if (status != BB_NOT_FOUND) /* there are no tables */
        model_must(model, status, "estimate");
}

/* The list agrees with everything created and dropped, after any other events. */
static void check_list(struct model *model)
{
    struct bb_db_index_list list;
    uint32_t found = 0;
    model_must(model, bb_db_index_list(model->db, &list), "list of indexes");
    for (size_t i = 0; i < list.count; i++)
        found |= UINT32_C(1) << (list.indexes[i].name[1] - '0');
    bb_db_index_list_deinit(&list);
    if (found != model->indexes)
        model_differ(model, "the store has other indexes");
}

static void check_schema(struct model *model)
{
    struct bb_schema *schema = NULL;
    model_must(model, bb_db_schema(model->db, &schema), "schema of the store");
    if (bb_schema_count(schema) != (model->has_attributes ? DEFINITIONS : 0))
        model_differ(model, "the store has other attributes");
    bb_schema_destroy(schema);
}

static void change_something(struct model *model)
{
    if (bb_rng_one_in(&model->rng, 4))
        change_index(model);
    if (bb_rng_one_in(&model->rng, 15))
        materialize(model);
    if (bb_rng_one_in(&model->rng, 30))
        estimate(model);
    if (bb_rng_one_in(&model->rng, 20))
        model_must(model,
                   bb_db_granule_set(model->db, bb_rng_between(&model->rng, BB_GRANULE_BYTES_MIN,
                                                               8 * BB_GRANULE_BYTES_MIN)),
                   "size of granules");
}

static void change_catalog(struct model *model)
{
    check_schema(model);
    if (!model->has_attributes)
        create_attributes(model);
    check_list(model);
    change_something(model);
}

/* A store in another order keeps no attributes. Selections there bring their own. */
void model_select(struct model *model)
{
    struct selection selection = {.db = model->db};
    bool has_attributes = model->options.comparator == NULL;
    if (has_attributes)
        change_catalog(model);
    else if (bb_db_attribute_create(model->db, definitions[0]) != BB_UNSUPPORTED)
        model_differ(model, "a store with another order takes attributes");
    const struct bb_snapshot *snapshot = model_draw_snapshot(model, &selection.sequence);
    compare_selection(model, &selection, snapshot, has_attributes);
}
