/* A damaged index file costs reads, never rows: every bit flipped, every cut, and bytes that a
 * checksum was made for after they were changed. */
#include "tests/unit/skip/indexed_rows.h"

#include "skip/layout/format.h"
#include "tests/support/file_fault.h"
#include "tests/support/step.h"

static const char *const specs[] = {"min_max(count)",
                                    "set(name, values=60)",
                                    "values(number)",
                                    "tokens(words)",
                                    "column(count)",
                                    "text(words, counts=yes)",
                                    NULL};
static const char *const texts[] = {
    "count < 40 OR number = 3", "NOT (name = 'GET' OR has_token(words, 'w2'))",
    "words LIKE '% GET %' AND number IN (1, 2)", "name IS NULL OR count BETWEEN 10 AND 30",
    "words LIKE '%w1%' OR starts_with(words, 'caf')"};

struct damage {
    struct indexed_rows rows;
    uint8_t *whole;
    size_t size;
};

static void set_up(struct damage *damage, uint64_t seed)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("skip_damage_test", seed));
    indexed_rows_init(&damage->rows, &rng, 12, 8, specs);
    const uint8_t *bytes = bb_file_memory_bytes(damage->rows.memory, ROWS_PATH, &damage->size);
    damage->whole = malloc(damage->size);
    memcpy(damage->whole, bytes, damage->size);
}

static void tear_down(struct damage *damage)
{
    free(damage->whole);
    indexed_rows_deinit(&damage->rows);
}

/* Damaged or exact. */
static void read_column(struct damage *damage, struct bb_skip_file *file)
{
    static const char text[] = "count < 25";
    struct bb_condition *condition = NULL;
    struct bb_skip_rows *rows = NULL;
    struct bb_skip_row_bits bits;
    uint64_t found[12] = {0};
    assert_ok(bb_condition_parse(damage->rows.schema,
                                 (struct bb_bytes){(const uint8_t *)text, sizeof(text) - 1},
                                 &condition));
    for (size_t i = 0; i < damage->rows.row_count; i++) {
        const struct bb_attribute *count = &damage->rows.rows[i].attributes[ROW_COUNT];
        found[damage->rows.granules[i]] +=
            count->state == BB_ATTRIBUTE_PRESENT && count->as.u64 < 25;
    }
    assert_ok(bb_skip_rows_create(file, condition, damage->rows.schema, &rows));
    for (size_t granule = 0; granule < 12; granule++) {
        enum bb_status status = bb_skip_rows_read(rows, granule, NULL, &bits);
        assert_true(status == BB_NOT_FOUND || status == BB_OK);
        if (status == BB_OK)
            assert_int_equal(bits.certain_count, found[granule]);
    }
    bb_skip_rows_destroy(rows);
    bb_condition_destroy(condition);
}

/* With the present file: either it does not open, or no row is lost. Returns whether it opened,
 * whether its own check passed, and the number of damaged segments found. */
static bool check_file(struct damage *damage, bool *ret_is_whole)
{
    struct bb_skip_file *file = NULL;
    enum bb_status status = open_rows(&damage->rows, false, &file);
    *ret_is_whole = false;
    if (status != BB_OK) {
        assert_true(status == BB_CORRUPT || status == BB_UNSUPPORTED);
        return false;
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_condition(&damage->rows, file, texts[i], NULL);
    read_column(damage, file);
    *ret_is_whole = bb_skip_file_verify(file) == BB_OK;
    bb_skip_file_close(file);
    return true;
}

static void every_bit__may_be_flipped(void **state)
{
    (void)state;
    struct damage damage;
    size_t opened = 0;
    bool is_whole = false;
    set_up(&damage, 20);
    assert_true(check_file(&damage, &is_whole) && is_whole);
    for (size_t bit = 0; bit < damage.size * 8; bit += bb_test_step()) {
        size_t size = 0;
        uint8_t *bytes = bb_file_memory_bytes(damage.rows.memory, ROWS_PATH, &size);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        opened += check_file(&damage, &is_whole);
        assert_false(is_whole);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(opened > 0);
    tear_down(&damage);
}

static void every_cut__is_found(void **state)
{
    (void)state;
    struct damage damage;
    bool is_whole = false;
    set_up(&damage, 21);
    for (size_t size = 0; size < damage.size; size += bb_test_step()) {
        bb_file_memory_put(damage.rows.memory, ROWS_PATH, (struct bb_bytes){damage.whole, size});
        assert_false(check_file(&damage, &is_whole));
    }
    tear_down(&damage);
}

/* A byte of a data unit has changed: damaged segments are counted. */
static void damaged_segments__are_counted(void **state)
{
    (void)state;
    struct damage damage;
    struct bb_skip_file *file = NULL;
    struct bb_skip_account accounts[6] = {{0}};
    size_t size = 0;
    set_up(&damage, 22);
    uint8_t *bytes = bb_file_memory_bytes(damage.rows.memory, ROWS_PATH, &size);
    bytes[0] ^= 1; /* units are written first */
    assert_ok(open_rows(&damage.rows, false, &file));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_condition(&damage.rows, file, texts[i], accounts);
    uint64_t damaged = 0;
    for (size_t i = 0; i < 6; i++)
        damaged += accounts[i].damaged_segments;
    assert_true(damaged > 0);
    assert_status(bb_skip_file_verify(file), BB_CORRUPT);
    assert_message(ROWS_PATH);
    bb_skip_file_close(file);
    tear_down(&damage);
}

static void another_id__is_refused(void **state)
{
    (void)state;
    struct damage damage;
    struct bb_skip_file *file = NULL;
    static const uint8_t other[BB_SKIP_ID_SIZE] = {9};
    set_up(&damage, 23);
    struct bb_skip_file_options options = {.file_system = bb_file_memory_system(damage.rows.memory),
                                           .id = other};
    assert_status(bb_skip_file_open(ROWS_PATH, &options, &file), BB_CORRUPT);
    assert_message("another table");
    assert_status(bb_skip_file_open("no.bbi", &options, &file), BB_NOT_FOUND);
    assert_status(bb_skip_file_open("", &options, &file), BB_INVALID);
    tear_down(&damage);
}

/* Gives the changed footer its checksum and opens the file. */
static void check_footer(struct damage *damage, enum bb_status expected, const char *answer)
{
    struct bb_skip_file *file = NULL;
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(damage->rows.memory, ROWS_PATH, &size);
    uint8_t *footer = bytes + size - BB_SKIP_FOOTER_SIZE;
    size_t fields = BB_SKIP_FOOTER_SIZE - BB_SKIP_MAGIC_SIZE - BB_SKIP_CHECKSUM_SIZE;
    bb_store64(footer + fields,
               bb_skip_checksum(rows_id, BB_SKIP_UNIT_FOOTER, size - BB_SKIP_FOOTER_SIZE,
                                (struct bb_bytes){footer, fields}));
    assert_status(open_rows(&damage->rows, false, &file), expected);
    assert_message(answer);
    memcpy(bytes, damage->whole, size);
}

static uint8_t *footer_of(struct damage *damage)
{
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(damage->rows.memory, ROWS_PATH, &size);
    return bytes + size - BB_SKIP_FOOTER_SIZE;
}

static void newer_version__is_refused(void **state)
{
    (void)state;
    struct damage damage;
    set_up(&damage, 24);
    bb_store32(footer_of(&damage) + 16, BB_SKIP_VERSION + 1);
    check_footer(&damage, BB_UNSUPPORTED, "version");
    bb_store32(footer_of(&damage) + 16, BB_SKIP_VERSION_MIN - 1);
    check_footer(&damage, BB_UNSUPPORTED, "version");
    tear_down(&damage);
}

/* Sections are compared with the file before anything is read or allocated. */
static void hostile_footer__is_refused(void **state)
{
    (void)state;
    struct damage damage;
    static const struct {
        uint64_t offset;
        uint64_t size;
        const char *answer;
    } rows[] = {
        {0, 7, "impossible size"},
        {0, (UINT64_C(1) << 30) + 1, "impossible size"},
        {UINT64_MAX, 8, "data after the file's end"},
        {8, UINT64_C(1) << 30, "data after the file's end"},
        {0, 8, "of an index does not match"},
    };
    set_up(&damage, 25);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t *footer = footer_of(&damage);
        bb_store64(footer, rows[i].offset);
        bb_store64(footer + 8, rows[i].size);
        check_footer(&damage, BB_CORRUPT, rows[i].answer);
    }
    tear_down(&damage);
}

static void failing_calls__are_reported(void **state)
{
    (void)state;
    struct damage damage;
    set_up(&damage, 26);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(damage.rows.memory));
    struct bb_skip_file_options options = {.file_system = bb_file_fault_system(fault),
                                           .id = rows_id};
    for (uint32_t turn = 0; turn < 2; turn++) {
        options.is_resident = turn == 1;
        for (uint64_t n = 1;; n++) {
            struct bb_skip_file *file = NULL;
            struct bb_file_fault_plan plan = {.nth = n};
            bb_file_fault_arm(fault, &plan);
            enum bb_status status = bb_skip_file_open(ROWS_PATH, &options, &file);
            bool was_hit = bb_file_fault_hits(fault) > 0;
            bb_file_fault_disarm(fault);
            assert_status(status, was_hit ? BB_IO : BB_OK);
            bb_skip_file_close(file);
            if (!was_hit)
                break;
        }
    }
    bb_file_fault_destroy(fault);
    tear_down(&damage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit__may_be_flipped),
        cmocka_unit_test(every_cut__is_found),
        cmocka_unit_test(damaged_segments__are_counted),
        cmocka_unit_test(another_id__is_refused),
        cmocka_unit_test(newer_version__is_refused),
        cmocka_unit_test(hostile_footer__is_refused),
        cmocka_unit_test(failing_calls__are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
