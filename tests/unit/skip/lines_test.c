/* Files of lines: selections equal a scan of the bytes, with an index file that is complete, old,
 * damaged, of another file or missing. */
#include "tests/unit/skip/lines_file.h"

#include "tests/support/step.h"

/* ---- drawn files ---- */

static void selections__are_those_of_a_scan(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t excluded = 0;
    for (uint64_t turn = 0; turn < 14; turn += bb_test_step()) {
        fixture_init(&fixture, 100 + turn);
        draw_lines(&fixture.rng, bb_rng_skewed(&fixture.rng, 400000), &fixture.bytes);
        write_bytes(&fixture);
        check_conditions(&fixture, 5);
        assert_int_equal(index_state(&fixture), BB_LINES_INDEX_NONE);
        struct bb_lines_index_report report = create_index(&fixture, false);
        assert_int_equal(report.granules_taken, 0);
        assert_int_equal(index_state(&fixture), BB_LINES_INDEX_USED);
        excluded += check_conditions(&fixture, 20);
        fixture_deinit(&fixture);
    }
    assert_true(excluded > 0 || bb_test_step() > 1);
}

static void counts__take_granules_of_matches_unread(void **state)
{
    (void)state;
    struct fixture fixture;
    struct bb_lines_account account;
    uint64_t count = 0;
    fixture_init(&fixture, 2);
    for (int i = 0; i < 20000; i++)
        assert_ok(bb_buf_print(&fixture.bytes, "w%d\t%d\t%s\n", i, i, i < 15000 ? "a" : "b"));
    write_bytes(&fixture);
    create_index(&fixture, false);
    struct bb_lines *lines = open_lines(&fixture);
    struct bb_lines_select_options options = select_options(&fixture, "kind = 'a'");
    assert_ok(bb_lines_count(lines, &options, &count, &account));
    assert_int_equal(count, 15000);
    assert_true(account.granules_counted > 20);
    assert_true(account.granules_excluded > 5);
    assert_int_equal(account.granules_read, 1);
    /* All lines, without a condition. */
    options.where = NULL;
    assert_ok(bb_lines_count(lines, &options, &count, &account));
    assert_int_equal(count, 20000);
    assert_int_equal(account.granules_read, 0);
    options.limit = 7;
    assert_ok(bb_lines_count(lines, &options, &count, &account));
    assert_int_equal(count, 7);
    bb_lines_close(lines);
    fixture_deinit(&fixture);
}

/* ---- files that change ---- */

/* Appends, selections before and after the index file is extended. */
static void appended_lines__are_read_and_then_indexed(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t excluded = 0;
    fixture_init(&fixture, 3);
    draw_lines(&fixture.rng, 100000, &fixture.bytes);
    write_bytes(&fixture);
    create_index(&fixture, false);
    for (uint64_t turn = 0; turn < 6; turn += bb_test_step()) {
        /* At least a line: a file of the same size was rewritten, and its index file is stale. */
        draw_lines(&fixture.rng, 1 + bb_rng_skewed(&fixture.rng, 100000), &fixture.bytes);
        write_bytes(&fixture);
        assert_int_equal(index_state(&fixture), BB_LINES_INDEX_USED);
        excluded += check_conditions(&fixture, 5);
        struct bb_lines_index_options options = {.file_system = fixture.fs};
        struct bb_lines_index_report report;
        assert_ok(bb_lines_index_create(PATH, &options, &report));
        assert_int_equal(report.file_bytes, fixture.bytes.size);
        check_conditions(&fixture, 5);
    }
    assert_true(excluded > 0);
    fixture_deinit(&fixture);
}

static void truncated_and_rewritten_files__are_not_the_indexed_ones(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 6);
    draw_lines(&fixture.rng, 200000, &fixture.bytes);
    assert_ok(bb_buf_print(&fixture.bytes, "\n"));
    write_bytes(&fixture);
    create_index(&fixture, false);
    /* Truncated, by a line end. */
    fixture.bytes.size--;
    write_bytes(&fixture);
    assert_int_equal(index_state(&fixture), BB_LINES_INDEX_STALE);
    assert_int_equal(check_conditions(&fixture, 5), 0);
    /* Longer, with another beginning: only the size of the indexed part is the same. */
    assert_ok(bb_buf_print(&fixture.bytes, "\nmore\n"));
    assert_int_equal(create_index(&fixture, false).granules_taken, 0);
    fixture.bytes.data[0] ^= 1;
    write_bytes(&fixture);
    assert_int_equal(index_state(&fixture), BB_LINES_INDEX_STALE);
    assert_int_equal(check_conditions(&fixture, 5), 0);
    /* The end of the indexed part, in a file that grew. */
    create_index(&fixture, false);
    fixture.bytes.data[fixture.bytes.size - 3] ^= 1;
    draw_lines(&fixture.rng, 1000, &fixture.bytes);
    write_bytes(&fixture);
    assert_int_equal(index_state(&fixture), BB_LINES_INDEX_STALE);
    assert_int_equal(check_conditions(&fixture, 5), 0);
    /* The index file still has the list of indexes. */
    struct bb_lines_index_options options = {.file_system = fixture.fs};
    assert_ok(bb_lines_index_create(PATH, &options, NULL));
    assert_int_equal(index_state(&fixture), BB_LINES_INDEX_USED);
    check_conditions(&fixture, 5);
    fixture_deinit(&fixture);
}

/* ---- damage ---- */

static void damaged_index_files__lose_no_line(void **state)
{
    (void)state;
    struct fixture fixture;
    size_t size = 0;
    size_t unreadable = 0;
    fixture_init(&fixture, 7);
    draw_lines(&fixture.rng, 60000, &fixture.bytes);
    write_bytes(&fixture);
    create_index(&fixture, false);
    uint8_t *index = bb_file_memory_bytes(fixture.memory, INDEX, &size);
    for (size_t at = size % 211; at < size; at += 211 * bb_test_step()) {
        uint8_t before = index[at];
        index[at] ^= (uint8_t)(1u << at % 8);
        unreadable += index_state(&fixture) == BB_LINES_INDEX_UNREADABLE;
        check_conditions(&fixture, 2);
        index[at] = before;
    }
    assert_true(unreadable > 0);
    assert_int_equal(index_state(&fixture), BB_LINES_INDEX_USED);
    struct bb_buf copy = {0};
    assert_ok(bb_buf_assign(&copy, bb_bytes_of(index, size)));
    for (size_t cut = 0; cut < size; cut += 1 + size / 20) {
        write_file(fixture.fs, INDEX, bb_bytes_of(copy.data, cut));
        assert_int_equal(index_state(&fixture), BB_LINES_INDEX_UNREADABLE);
        assert_int_equal(check_conditions(&fixture, 1), 0);
    }
    bb_buf_deinit(&copy);
    fixture_deinit(&fixture);
}

static void an_index_file_of_a_table__is_passed_over(void **state)
{
    (void)state;
    struct fixture fixture;
    struct bb_skip_builder *builder = NULL;
    fixture_init(&fixture, 9);
    put_text(&fixture, "a\nb\n");
    struct bb_skip_options options = {.file_system = fixture.fs};
    assert_ok(bb_skip_builder_create(INDEX, &options, fixture.schema.schema, fixture.schema.specs,
                                     1, &builder));
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
    assert_int_equal(index_state(&fixture), BB_LINES_INDEX_UNREADABLE);
    check_conditions(&fixture, 5);
    fixture_deinit(&fixture);
}

/* ---- lines at their limits ---- */

static void check_text(struct fixture *fixture, const char *text, uint64_t records)
{
    uint64_t count = 0;
    put_text(fixture, text);
    for (int turn = 0; turn < 2; turn++) {
        struct bb_lines *lines = open_lines(fixture);
        struct bb_lines_select_options options = select_options(fixture, NULL);
        assert_ok(bb_lines_count(lines, &options, &count, NULL));
        assert_int_equal(count, records);
        select_lines(fixture, lines, "line = ''");
        select_lines(fixture, lines, "line = 'a' OR contains(line, 'b')");
        bb_lines_close(lines);
        create_index(fixture, false);
    }
    assert_ok(fixture->fs->ops->remove(fixture->fs, INDEX));
}

static void line_ends(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 10);
    check_text(&fixture, "", 0);
    check_text(&fixture, "\n", 1);
    check_text(&fixture, "\r\n", 1);
    check_text(&fixture, "a", 1);
    check_text(&fixture, "a\r", 1);
    check_text(&fixture, "\n\n\na", 4);
    check_text(&fixture, "a\r\nb\r\nab", 3);
    check_text(&fixture, "a\nb\n\r\n\rb\r\r\n", 4);
    /* A needle with a line end is in no line. */
    put_text(&fixture, "a\nb\na\nb\n");
    struct bb_lines *lines = open_lines(&fixture);
    assert_int_equal(select_lines(&fixture, lines, "contains(line, 'a\nb')").records_returned, 0);
    assert_int_equal(select_lines(&fixture, lines, "contains(line, 'b')").records_returned, 2);
    bb_lines_close(lines);
    fixture_deinit(&fixture);
}

static void long_lines__are_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {65536, 262143, 262144, 3000000, 100u * 1000 * 1000};
    struct fixture fixture;
    uint8_t *line = NULL;
    fixture_init(&fixture, 12);
    /* A sanitizer checks each of the 100 MB. */
    size_t count = BB_ARRAY_LENGTH(sizes) - (bb_test_step() > 1);
    for (size_t i = 0; i < count; i++) {
        bb_buf_reset(&fixture.bytes);
        assert_ok(bb_buf_print(&fixture.bytes, "first needle\n"));
        assert_ok(bb_buf_extend(&fixture.bytes, sizes[i], &line));
        memset(line, 'x', sizes[i]);
        assert_ok(bb_buf_print(&fixture.bytes, "needle\nlast needle"));
        write_bytes(&fixture);
        for (int turn = 0; turn < 2; turn++) {
            struct bb_lines *lines = open_lines(&fixture);
            struct bb_lines_account account =
                select_lines(&fixture, lines, "ends_with(line, 'needle')");
            assert_int_equal(account.records_returned, 3);
            bb_lines_close(lines);
            create_index(&fixture, false);
        }
    }
    fixture_deinit(&fixture);
}

/* ---- calls ---- */

static void select_is(const struct fixture *fixture, const struct bb_lines_select_options *options,
                      enum bb_status expected, const char *message)
{
    struct bb_lines *lines = open_lines(fixture);
    struct bb_lines_select *select = NULL;
    assert_status(bb_lines_select(lines, options, &select), expected);
    assert_message(message);
    bb_lines_close(lines);
}

static void wrong_options__are_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 13);
    put_text(&fixture, "a\nb\n");
    struct bb_lines_select_options options = select_options(&fixture, "line == 'a'");
    select_is(&fixture, &options, BB_INVALID, "at byte 6");
    options = (struct bb_lines_select_options){.where = "line = 'a'"};
    select_is(&fixture, &options, BB_INVALID, "access.log.bbi");
    struct bb_lines_index_options index = {.file_system = fixture.fs};
    assert_status(bb_lines_index_create(PATH, &index, NULL), BB_NOT_FOUND);
    index = index_options(&fixture);
    index.spec_count = 0;
    assert_status(bb_lines_index_create(PATH, &index, NULL), BB_INVALID);
    index = index_options(&fixture);
    index.granule_bytes = BB_GRANULE_BYTES_MIN - 1;
    assert_status(bb_lines_index_create(PATH, &index, NULL), BB_INVALID);
    assert_int_equal(index_state(&fixture), BB_LINES_INDEX_NONE);
    struct bb_lines *lines = NULL;
    assert_status(bb_lines_open("", NULL, &lines), BB_INVALID);
    assert_status(bb_lines_open(NULL, NULL, &lines), BB_INVALID);
    fixture_deinit(&fixture);
}

/* With the attributes of the index file, under any name, and a selection's. */
static void a_schema__comes_from_the_index_file(void **state)
{
    (void)state;
    struct fixture fixture;
    struct bb_schema *schema = NULL;
    uint64_t count = 0;
    struct bb_lines_account account;
    fixture_init(&fixture, 14);
    draw_lines(&fixture.rng, 1000000, &fixture.bytes);
    assert_ok(bb_buf_print(&fixture.bytes, "\nrare\t1\n"));
    write_bytes(&fixture);
    create_index(&fixture, false);
    struct bb_lines *lines = open_lines(&fixture);
    struct bb_lines_select_options options = {.where =
                                                  "has_token(words, 'rare') AND ratio IS NULL"};
    assert_ok(bb_lines_count(lines, &options, &count, &account));
    assert_int_equal(count, 1);
    assert_true(account.granules_excluded > 10);
    assert_int_equal(bb_schema_count(bb_lines_schema(lines)), BB_ARRAY_LENGTH(line_definitions));
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "other bytes = tsv(1)"));
    options.schema = schema;
    options.where = "has_token(other, 'rare')";
    assert_ok(bb_lines_count(lines, &options, &count, &account));
    assert_int_equal(count, 1);
    assert_true(account.granules_excluded > 10);
    options.ignore_indexes = true;
    assert_ok(bb_lines_count(lines, &options, &count, &account));
    assert_int_equal(count, 1);
    assert_int_equal(account.granules, 0);
    assert_int_equal(account.data_read_bytes, fixture.bytes.size);
    bb_schema_destroy(schema);
    bb_lines_close(lines);
    fixture_deinit(&fixture);
}

static bool cancel_select(void *context, const struct bb_lines_account *account)
{
    (void)context;
    return account->data_read_bytes < 300000;
}

static bool cancel_index(void *context, uint64_t done, uint64_t bytes)
{
    (void)context;
    assert_true(done <= bytes);
    return done < 300000;
}

static void progress__cancels(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t count = 0;
    fixture_init(&fixture, 15);
    draw_lines(&fixture.rng, 1000000, &fixture.bytes);
    write_bytes(&fixture);
    struct bb_lines_index_options index = index_options(&fixture);
    index.progress = cancel_index;
    uint64_t calls = bb_file_memory_calls(fixture.memory);
    assert_status(bb_lines_index_create(PATH, &index, NULL), BB_BUSY);
    assert_message("cancelled");
    assert_true(bb_file_memory_calls(fixture.memory) > calls);
    struct bb_file_names names;
    assert_ok(fixture.fs->ops->list(fixture.fs, ".", &names));
    assert_int_equal(names.count, 1);
    bb_file_names_deinit(&names);
    struct bb_lines *lines = open_lines(&fixture);
    struct bb_lines_select_options options = select_options(&fixture, "kind = 'GET'");
    options.progress = cancel_select;
    assert_status(bb_lines_count(lines, &options, &count, NULL), BB_BUSY);
    bb_lines_close(lines);
    fixture_deinit(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selections__are_those_of_a_scan),
        cmocka_unit_test(counts__take_granules_of_matches_unread),
        cmocka_unit_test(appended_lines__are_read_and_then_indexed),
        cmocka_unit_test(truncated_and_rewritten_files__are_not_the_indexed_ones),
        cmocka_unit_test(damaged_index_files__lose_no_line),
        cmocka_unit_test(an_index_file_of_a_table__is_passed_over),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(long_lines__are_whole),
        cmocka_unit_test(wrong_options__are_refused),
        cmocka_unit_test(a_schema__comes_from_the_index_file),
        cmocka_unit_test(progress__cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
