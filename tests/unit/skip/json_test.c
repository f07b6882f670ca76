/* Values at paths of JSON texts: rules, and random texts compared with jansson, in both forms of
 * the finder. */
#include <jansson.h>
#include <math.h>

#include "skip/record/json_finder.h"
#include "skip/record/schema.h"
#include "tests/support/rng.h"
#include "tests/unit/skip/record_fixture.h"

/* --- Rules --- */

static void json__values_are_text_of_their_kind(void **state)
{
    static const struct record_case cases[] = {
        {"{\"a\":\"x\"}", "x"},
        {" { \"b\" : [ { } , [ ] ] , \"a\" : \"x\" } ", "x"},
        {"{\"a\":\"\"}", ""},
        {"{\"a\":1e3}", "1e3"},
        {"{\"a\":-0.5E+7}", "-0.5E+7"},
        {"{\"a\":true}", "true"},
        {"{\"a\":false}", "false"},
        {"{\"a\":null}", "<null>"},
        {"{\"a\":{\"b\": [1,\"]\"]}}", "{\"b\": [1,\"]\"]}"},
        {"{\"a\":[]}", "[]"},
        {"{}", "<missing>"},
        {"{\"b\":1}", "<missing>"},
        {"[1]", "<missing>"},
        {"7", "<missing>"},
        {"\"a\"", "<missing>"},
        {"{\"b\":{\"a\":1}}", "<missing>"},
        {"{\"a\":1,\"a\":2}", "1"},
        {"{\"\\u0061\":1}", "1"},
        {"{\"\\u0061\":1,\"a\":2}", "1"},
        {"{\"\\u0062\":1,\"a\":2}", "2"},
        {"{\"\\q\":1,\"a\":2}", "2"},
        {"{\"a\":\"\xff\xfe\"}", "\\xff\\xfe"},
        {"{\"a\":\"x\ty\"}", "x\\x09y"},
        {"\xef\xbb\xbf{\"a\":1}", "<malformed>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = json($.a)", cases);
}

static void json__strings_lose_their_escapes(void **state)
{
    static const struct record_case cases[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\\/\\x08\\x0c\\x0a\\x0d\\x09"},
        {"\"\\u00e9\\u20AC\\ud83d\\ude00\\u0041\"",
         "\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9f\\x98\\x80A"},
        {"\"\\u0000\"", "\\x00"},
        {"\"a\\\\\"", "a\\\\"},
        {"\"\\q\"", "<malformed>"},
        {"\"\\u12g4\"", "<malformed>"},
        {"\"\\u12\"", "<malformed>"},
        {"\"\\ud83d\"", "<malformed>"},
        {"\"\\ud83d\\n\"", "<malformed>"},
        {"\"\\ud83d\\u0041\"", "<malformed>"},
        {"\"\\ude00\"", "<malformed>"},
        {"\"\\", "<malformed>"},
        {"\"\\\"", "<malformed>"},
        {"\"", "<malformed>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = json($)", cases);
}

static void json__paths(void **state)
{
    static const char text[] = "{\"a\":{\"b c\":[10,[20,21],{\"d\":22}],\"\\\"\\\\\":5},\"@t\":6,"
                               "\"0\":7,\"\xc3\xa9\":8}";
    static const char *const expected[][2] = {
        {"a bytes = json($.a.\"b c\"[0])", "10"},
        {"a bytes = json($.a.\"b c\"[1][1])", "21"},
        {"a bytes = json($.a.\"b c\"[2].d)", "22"},
        {"a bytes = json($.a.\"b c\"[3])", "<missing>"},
        {"a bytes = json($.a.\"b c\".d)", "<missing>"},
        {"a bytes = json($.a[0])", "<missing>"},
        {"a bytes = json($.a.\"\\\"\\\\\")", "5"},
        {"a bytes = json($.@t)", "6"},
        {"a bytes = json($.0)", "7"},
        {"a bytes = json($.\xc3\xa9)", "8"},
        {"a bytes = json($.\"a\".\"b c\"[1])", "[20,21]"},
    };
    (void)state;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(expected); i++) {
        struct record_case one = {text, expected[i][1]};
        assert_cases(expected[i][0], &one, 1);
    }
}

static void json__damage_before_the_value_is_malformed(void **state)
{
    static const struct record_case cases[] = {
        {"", "<malformed>"},
        {" ", "<malformed>"},
        {"{", "<malformed>"},
        {"{\"a\"", "<malformed>"},
        {"{\"a\":", "<malformed>"},
        {"{\"a\":1", "<malformed>"}, /* 1 may be the beginning of 12 */
        {"{\"a\":1 ", "1"},
        {"{\"a\":\"x\"", "x"},
        {"{\"a\":1,", "1"},
        {"{\"a\":01}", "<malformed>"},
        {"{\"a\":+1}", "<malformed>"},
        {"{\"a\":.5}", "<malformed>"},
        {"{\"a\":1.}", "<malformed>"},
        {"{\"a\":1e}", "<malformed>"},
        {"{\"a\":-}", "<malformed>"},
        {"{\"a\":NaN}", "<malformed>"},
        {"{\"a\":nul}", "<malformed>"},
        {"{\"a\":}", "<malformed>"},
        {"{\"a\" 1}", "<malformed>"},
        {"{a:1}", "<malformed>"},
        {"{\"b\":1 \"a\":2}", "<malformed>"},
        {"{\"b\":1,,\"a\":2}", "<malformed>"},
        {"{,\"a\":2}", "<malformed>"},
        {"{\"b\":1,}", "<malformed>"},
        {"{\"b\":1]", "<malformed>"},
        {"{\"b\":1", "<malformed>"},
        {"{\"b\":{\"a\":1}", "<malformed>"},
        {"{\"b\":{1 2 3:[}],\"a\":2}", "2"}, /* skipped parts are not read */
        {"GET / HTTP/1.1", "<malformed>"},
    };
    (void)state;
    ASSERT_CASES("a bytes = json($.a)", cases);
}

static void json__definitions(void **state)
{
    static const char *const cases[][2] = {
        {"a u64 = json( $ )", "a u64 = json($)"},
        {"a u64 = json($.\"a\".\"b c\" [ 07 ])", "a u64 = json($.a.\"b c\"[7])"},
        {"a u64 = json($.\"\")", "a u64 = json($.\"\")"},
        {"a u64 = json($.\"\\\"\\\\\")", "a u64 = json($.\"\\\"\\\\\")"},
    };
    static const char *const refused[][2] = {
        {"a u64 = json()", "at byte 13: expected '$'"},
        {"a u64 = json(a)", "at byte 13: expected '$'"},
        {"a u64 = json($a)", "at byte 14: expected ')'"},
        {"a u64 = json($.)", "at byte 15: expected a key"},
        {"a u64 = json($. a)", "at byte 15: expected a key"},
        {"a u64 = json($[-1])", "at byte 15: expected the index"},
        {"a u64 = json($[4294967296])", "at byte 15: the index of an element is from 0"},
        {"a u64 = json($[0)", "at byte 16: expected ']'"},
        {"a u64 = json($.\"a)", "at byte 15: the quote has no end"},
        {"a u64 = json($.\"\\n\")", "at byte 16: unknown escape"},
    };
    struct bb_schema *schema;
    char deep[2 * BB_JSON_DEPTH_MAX + 64] = "deep u64 = json($";
    (void)state;
    assert_ok(bb_schema_create(&schema));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(refused); i++) {
        assert_status(bb_schema_add(schema, refused[i][0]), BB_INVALID);
        assert_message(refused[i][1]);
    }
    for (int i = 0; i < BB_JSON_DEPTH_MAX; i++)
        strcat(deep, ".a");
    strcat(deep, ")");
    assert_ok(bb_schema_add(schema, deep));
    strcpy(strrchr(deep, ')'), ".a)");
    assert_status(bb_schema_add(schema, deep), BB_INVALID);
    assert_message("a path has at most 64 steps");
    bb_schema_destroy(schema);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(cases); i++) {
        assert_ok(bb_schema_create(&schema));
        assert_ok(bb_schema_add(schema, cases[i][0]));
        assert_string_equal(bb_schema_definition(schema, 0), cases[i][1]);
        bb_schema_destroy(schema);
    }
}

static void json__brackets_nest_without_a_limit(void **state)
{
    enum { DEPTH = 1 << 20 };
    struct record_fixture fixture;
    char *text = malloc(2 * DEPTH + 64);
    (void)state;
    assert_non_null(text);
    memcpy(text, "{\"b\":", 5);
    memset(text + 5, '[', DEPTH);
    memset(text + 5 + DEPTH, ']', DEPTH);
    strcpy(text + 5 + 2 * DEPTH, ",\"a\":1}");
    fixture_open(&fixture, "a u64 = json($.a)");
    assert_string_equal(fixture_read(&fixture, bb_bytes_of_text(text)), "1");
    text[5 + DEPTH] = ' ';
    assert_string_equal(fixture_read(&fixture, bb_bytes_of_text(text)), "<malformed>");
    fixture_close(&fixture);
    free(text);
}

/* --- Random texts --- */

/* Keys of random texts, each in two spellings. */
static const char *const KEYS[][2] = {
    {"a", "\\u0061"},
    {"b", "\\u0062"},
    {"long key with blanks in it", "long key with \\u0062lanks in it"},
    {"\xc3\xa9", "\\u00e9"},
    {"q\"", "\\u0071\\\""},
};

static const char *const PATHS[] = {
    "$",
    "$.a",
    "$.b",
    "$.a.a",
    "$.a.b",
    "$.b.a[0]",
    "$.b[1]",
    "$.b[1].a",
    "$[0]",
    "$[2].b",
    "$.\"long key with blanks in it\"",
    "$.a.\"q\\\"\"",
    "$.\xc3\xa9.a",
    "$.\xc3\xa9[0][1]",
};

enum { PATH_COUNT = BB_ARRAY_LENGTH(PATHS), TYPE_COUNT = 3, SLOT_COUNT = PATH_COUNT * TYPE_COUNT };

struct text_draft {
    struct bb_rng *rng;
    char bytes[1 << 16];
    size_t size;
};

static void add(struct text_draft *draft, const char *text)
{
    size_t size = strlen(text);
    if (draft->size + size < sizeof(draft->bytes))
        memcpy(draft->bytes + draft->size, text, size + 1);
    draft->size += size;
}

static void add_blanks(struct text_draft *draft)
{
    static const char *const blanks[] = {
        "", "", "", " ", "\n", "\t \r", "                                   "};
    add(draft, blanks[bb_rng_below(draft->rng, BB_ARRAY_LENGTH(blanks))]);
}

static void add_string(struct text_draft *draft)
{
    static const char *const parts[] = {
        "x",        "{",       "]",
        ",",        "\\\"",    "\\\\",
        "\\n",      "\\u20ac", "\\ud83d\\ude00",
        "\xc3\xa9", "\\/",     "a longer piece of text, of more than thirty-two bytes",
        "\\u0000",  ":",       "null",
    };
    add(draft, "\"");
    for (uint64_t left = bb_rng_skewed(draft->rng, 12); left > 0; left--)
        add(draft, parts[bb_rng_below(draft->rng, BB_ARRAY_LENGTH(parts))]);
    add(draft, "\"");
}

static void add_number(struct text_draft *draft)
{
    char text[64];
    uint64_t bits = bb_rng_next(draft->rng);
    if (bb_rng_one_in(draft->rng, 2))
        snprintf(text, sizeof(text), "%lld", (long long)bits >> bb_rng_below(draft->rng, 64));
    else
        snprintf(text, sizeof(text), "%.*e", (int)bb_rng_below(draft->rng, 25),
                 ldexp((double)(int64_t)bits, (int)bb_rng_below(draft->rng, 600) - 300));
    add(draft, text);
}

static void add_value(struct text_draft *draft, int depth);

static void add_object(struct text_draft *draft, int depth)
{
    uint32_t order[] = {0, 1, 2, 3, 4};
    uint64_t count = bb_rng_below(draft->rng, BB_ARRAY_LENGTH(order) + 1);
    bb_rng_shuffle(draft->rng, order, BB_ARRAY_LENGTH(order));
    add(draft, "{");
    for (uint64_t i = 0; i < count; i++) {
        add(draft, i == 0 ? "" : ",");
        add_blanks(draft);
        add(draft, "\"");
        add(draft, KEYS[order[i]][bb_rng_one_in(draft->rng, 4)]);
        add(draft, "\"");
        add_blanks(draft);
        add(draft, ":");
        add_value(draft, depth + 1);
    }
    add_blanks(draft);
    add(draft, "}");
}

static void add_array(struct text_draft *draft, int depth)
{
    uint64_t count = bb_rng_below(draft->rng, 4);
    add(draft, "[");
    for (uint64_t i = 0; i < count; i++) {
        add(draft, i == 0 ? "" : ",");
        add_value(draft, depth + 1);
    }
    add_blanks(draft);
    add(draft, "]");
}

static void add_value(struct text_draft *draft, int depth)
{
    static const char *const words[] = {"true", "false", "null"};
    uint64_t kind = bb_rng_below(draft->rng, depth < 5 ? 8 : 4);
    add_blanks(draft);
    if (kind < 2)
        add_string(draft);
    else if (kind == 2)
        add_number(draft);
    else if (kind == 3)
        add(draft, words[bb_rng_below(draft->rng, 3)]);
    else if (kind < 7)
        add_object(draft, depth);
    else
        add_array(draft, depth);
    add_blanks(draft);
}

/* --- Both forms --- */

/* All paths as bytes, i64 and f64, read by one form of the finder. */
struct form {
    struct bb_schema *schema;
    struct bb_json_tree tree;
    struct bb_pass pass;
    struct bb_slot slots[SLOT_COUNT];
    struct bb_scratch scratch;
    struct bb_attribute attributes[SLOT_COUNT];
};

static void form_open(struct form *form)
{
    static const char *const types[] = {"bytes", "i64", "f64"};
    char definition[128];
    memset(form, 0, sizeof(*form));
    assert_ok(bb_schema_create(&form->schema));
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        snprintf(definition, sizeof(definition), "x%zu %s = json(%s)", i, types[i % TYPE_COUNT],
                 PATHS[i / TYPE_COUNT]);
        assert_ok(bb_schema_add(form->schema, definition));
        form->slots[i] =
            (struct bb_slot){.definition = form->schema->definitions[i], .attribute = i};
    }
    form->pass = (struct bb_pass){.slots = form->slots, .slot_count = SLOT_COUNT};
    assert_ok(bb_json_tree_init(&form->tree, &form->pass));
}

static void form_close(struct form *form)
{
    bb_json_tree_deinit(&form->tree);
    bb_buf_deinit(&form->scratch.buf);
    bb_schema_destroy(form->schema);
}

static void form_read(struct form *form, struct bb_bytes text,
                      void (*find)(struct bb_json_tree *tree, const struct bb_pass *pass,
                                   struct bb_record *record))
{
    struct bb_record record = {
        .value = text, .scratch = &form->scratch, .attributes = form->attributes};
    bb_scratch_reset(&form->scratch, text.size);
    find(&form->tree, &form->pass, &record);
}

static void assert_same(const struct bb_attribute *a, const struct bb_attribute *b,
                        struct bb_bytes text, const char *what)
{
    bool is_same = a->state == b->state && a->type == b->type;
    if (is_same && a->state == BB_ATTRIBUTE_PRESENT)
        is_same = a->type == BB_ATTRIBUTE_BYTES ? bb_bytes_equal(a->as.bytes, b->as.bytes)
                                                : a->as.u64 == b->as.u64;
    if (!is_same)
        fail_msg("%s differs in %.*s", what, (int)text.size, (const char *)text.data);
}

/* --- jansson --- */

/* jansson before 2.14 has no lookup by a key with a length. */
static const json_t *member(const json_t *object, struct bb_bytes key)
{
    char name[64];
    assert_true(key.size < sizeof(name));
    memcpy(name, key.data, key.size);
    name[key.size] = '\0';
    return json_object_get(object, name);
}

/* The value at the path, which is of the form of those above. */
static const json_t *walk(const json_t *value, const struct bb_json_path *path)
{
    for (size_t i = 0; i < path->count && value != NULL; i++) {
        const struct bb_json_step *step = &path->steps[i];
        value = step->is_index ? json_array_get(value, step->index) : member(value, step->key);
    }
    return value;
}

static void assert_bytes(const struct bb_attribute *found, const json_t *value)
{
    struct bb_bytes bytes = found->as.bytes;
    assert_int_equal(found->state, BB_ATTRIBUTE_PRESENT);
    if (json_is_string(value)) {
        assert_int_equal(bytes.size, json_string_length(value));
        assert_memory_equal(bytes.data, json_string_value(value), bytes.size);
        return;
    }
    json_t *again =
        json_loadb((const char *)bytes.data, bytes.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(again);
    assert_true(json_equal(again, value));
    json_decref(again);
}

static void assert_value(const struct bb_attribute *found, const json_t *value)
{
    if (value == NULL || json_is_null(value)) {
        for (int i = 0; i < TYPE_COUNT; i++)
            assert_int_equal(found[i].state,
                             value == NULL ? BB_ATTRIBUTE_MISSING : BB_ATTRIBUTE_NULL);
        return;
    }
    assert_bytes(&found[0], value);
    if (json_is_integer(value)) {
        assert_int_equal(found[1].state, BB_ATTRIBUTE_PRESENT);
        assert_true(found[1].as.i64 == json_integer_value(value));
    }
    if (json_is_real(value)) {
        assert_int_equal(found[1].state, BB_ATTRIBUTE_MALFORMED);
        assert_int_equal(found[2].state, BB_ATTRIBUTE_PRESENT);
        assert_true(found[2].as.f64 == json_real_value(value));
    }
}

static void assert_as_jansson(const struct form *form, struct bb_bytes text)
{
    json_t *root = json_loadb((const char *)text.data, text.size,
                              JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
    if (root == NULL)
        return;
    for (size_t i = 0; i < PATH_COUNT; i++)
        assert_value(&form->attributes[i * TYPE_COUNT],
                     walk(root, form->schema->definitions[i * TYPE_COUNT]->path));
    json_decref(root);
}

/* A single path gives the same result as among all paths. */
static void assert_alone(struct bb_record_reader *const *readers, const struct form *form,
                         struct bb_bytes text)
{
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        struct bb_attribute attributes[SLOT_COUNT];
        assert_ok(bb_record_read(readers[i], bb_bytes_of(NULL, 0), text, attributes));
        assert_same(&attributes[i], &form->attributes[i], text, PATHS[i / TYPE_COUNT]);
    }
}

static void damage(struct bb_rng *rng, uint8_t *bytes, size_t *size)
{
    static const char marks[] = "{}[]\",:\\ 1n\xff";
    for (uint64_t left = bb_rng_below(rng, 3); left > 0 && *size > 0; left--) {
        size_t at = bb_rng_below(rng, *size);
        if (bb_rng_one_in(rng, 3))
            *size = at;
        else
            bytes[at] = (uint8_t)marks[bb_rng_below(rng, sizeof(marks) - 1)];
    }
}

struct forms {
    struct form portable;
    struct form wide;
    struct bb_record_reader *alone[SLOT_COUNT];
};

static void read_both(struct forms *forms, const uint8_t *data, size_t size, bool is_alone_too)
{
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    struct bb_bytes text = {exact, size};
    assert_non_null(exact);
    memcpy(exact, data, size);
    form_read(&forms->portable, text, bb_json_find_portable);
    assert_as_jansson(&forms->portable, text);
#if BB_CPU_X86
    if (bb_cpu_has(BB_CPU_AVX2)) {
        form_read(&forms->wide, text, bb_json_find_avx2);
        for (size_t i = 0; i < SLOT_COUNT; i++)
            assert_same(&forms->portable.attributes[i], &forms->wide.attributes[i], text, "a form");
    }
#endif
    if (is_alone_too)
        assert_alone(forms->alone, &forms->portable, text);
    free(exact);
}

static void json__random_texts_are_read_as_by_jansson(void **state)
{
    static struct text_draft draft;
    static struct forms forms;
    struct bb_rng rng;
    (void)state;
    bb_rng_init(&rng, bb_rng_seed("json__random_texts_are_read_as_by_jansson", 20261122));
    draft.rng = &rng;
    form_open(&forms.portable);
    form_open(&forms.wide);
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        bool wanted[SLOT_COUNT] = {false};
        wanted[i] = true;
        assert_ok(bb_record_reader_create(forms.portable.schema, wanted, &forms.alone[i]));
    }
    for (int i = 0; i < 20000; i++) {
        draft.size = 0;
        add_value(&draft, 0);
        size_t size = draft.size < sizeof(draft.bytes) ? draft.size : 0;
        read_both(&forms, (const uint8_t *)draft.bytes, size, i % 8 == 0);
        damage(&rng, (uint8_t *)draft.bytes, &size);
        read_both(&forms, (const uint8_t *)draft.bytes, size, i % 8 == 1);
    }
    for (size_t i = 0; i < SLOT_COUNT; i++)
        bb_record_reader_destroy(forms.alone[i]);
    form_close(&forms.portable);
    form_close(&forms.wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json__values_are_text_of_their_kind),
        cmocka_unit_test(json__strings_lose_their_escapes),
        cmocka_unit_test(json__paths),
        cmocka_unit_test(json__damage_before_the_value_is_malformed),
        cmocka_unit_test(json__definitions),
        cmocka_unit_test(json__brackets_nest_without_a_limit),
        cmocka_unit_test(json__random_texts_are_read_as_by_jansson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
