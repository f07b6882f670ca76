/* Index files of lines with several segments: which segments are reused, and which changes forbid
 * it. */
#include "tests/unit/skip/lines_file.h"

#include "tests/support/step.h"

/* Lines that fill a segment and begin another. Indexing them takes long, and most tests work with
 * few indexes. */
#define SEGMENT_BYTES 14000000
#define FEW_SPECS     3

static void check_same_indexes(const struct fixture *fixture, const struct bb_lines *lines,
                               const struct bb_skip_index_info *infos)
{
    struct bb_skip_file *index = bb_lines_index(lines);
    assert_ok(bb_skip_file_verify(index));
    for (size_t i = 0; i < fixture->spec_count; i++) {
        struct bb_skip_index_info info;
        bb_skip_file_index(index, i, &info);
        assert_int_equal(info.segment_count, infos[i].segment_count);
        assert_int_equal(info.unindexed_granules, infos[i].unindexed_granules);
        assert_int_equal(info.pair_count, infos[i].pair_count);
        /* Offsets in heads may have other sizes. */
        assert_int_equal(info.size_bytes - info.pinned_bytes,
                         infos[i].size_bytes - infos[i].pinned_bytes);
        assert_true(info.predicted_rate == infos[i].predicted_rate);
    }
}

/* Several segments: reused ones equal rebuilt ones. */
static void an_extended_index_file__is_what_it_would_be_if_built_at_once(void **state)
{
    (void)state;
    struct fixture fixture;
    struct bb_skip_index_info infos[BB_ARRAY_LENGTH(line_specs)];
    fixture_init(&fixture, 4);
    if (bb_test_step() > 1)
        fixture.spec_count = FEW_SPECS;
    draw_lines(&fixture.rng, SEGMENT_BYTES, &fixture.bytes);
    write_bytes(&fixture);
    create_index(&fixture, false);
    draw_lines(&fixture.rng, 3000000, &fixture.bytes);
    write_bytes(&fixture);
    struct bb_lines_index_report extended = create_index(&fixture, false);
    assert_true(extended.granules_taken >= 500);
    assert_true(extended.read_bytes < extended.indexed_bytes * 9 / 10);
    struct bb_lines *lines = open_lines(&fixture);
    for (size_t i = 0; i < fixture.spec_count; i++)
        bb_skip_file_index(bb_lines_index(lines), i, &infos[i]);
    check_same_indexes(&fixture, lines, infos);
    check_conditions(&fixture, 10);
    /* Under the same secret. */
    struct bb_lines_index_report rebuilt = create_index(&fixture, true);
    assert_int_equal(rebuilt.granules_taken, 0);
    assert_int_equal(rebuilt.granules, extended.granules);
    assert_int_equal(rebuilt.records, extended.records);
    struct bb_lines *again = open_lines(&fixture);
    check_same_indexes(&fixture, again, infos);
    bb_lines_close(again);
    bb_lines_close(lines);
    fixture_deinit(&fixture);
}

/* Other indexes, or other granules, than the index file has: all is read. */
static void other_indexes__are_built_anew(void **state)
{
    (void)state;
    struct fixture fixture;
    struct bb_lines_index_report report;
    fixture_init(&fixture, 5);
    fixture.spec_count = FEW_SPECS;
    draw_lines(&fixture.rng, SEGMENT_BYTES, &fixture.bytes);
    write_bytes(&fixture);
    create_index(&fixture, false);
    assert_true(create_index(&fixture, false).granules_taken > 0);
    struct bb_lines_index_options options = index_options(&fixture);
    options.granule_bytes *= 2;
    assert_ok(bb_lines_index_create(PATH, &options, &report));
    assert_int_equal(report.granules_taken, 0);
    options.granule_bytes = 0;
    options.spec_count--;
    assert_ok(bb_lines_index_create(PATH, &options, &report));
    assert_int_equal(report.granules_taken, 0);
    struct bb_lines *lines = open_lines(&fixture);
    assert_int_equal(bb_skip_file_index_count(bb_lines_index(lines)), options.spec_count);
    bb_lines_close(lines);
    fixture_deinit(&fixture);
}

/* A change that the ends do not show, found where lines are read again: no segment is reused. */
static void a_change_in_the_middle__is_seen_when_granules_end_elsewhere(void **state)
{
    (void)state;
    struct fixture fixture;
    struct bb_skip_granule_info granule;
    fixture_init(&fixture, 16);
    fixture.spec_count = FEW_SPECS;
    draw_lines(&fixture.rng, SEGMENT_BYTES, &fixture.bytes);
    write_bytes(&fixture);
    create_index(&fixture, false);
    struct bb_lines *lines = open_lines(&fixture);
    struct bb_skip_file *index = bb_lines_index(lines);
    bb_skip_file_granule(index, bb_skip_file_granule_count(index) - 5, &granule);
    bb_lines_close(lines);
    fixture.bytes.data[granule.place - 1] = 'x';
    assert_ok(bb_buf_print(&fixture.bytes, "more\n"));
    write_bytes(&fixture);
    struct bb_lines_index_options options = index_options(&fixture);
    assert_status(bb_lines_index_create(PATH, &options, NULL), BB_INVALID);
    assert_message("index the whole file again");
    options.rebuild = true;
    assert_ok(bb_lines_index_create(PATH, &options, NULL));
    check_conditions(&fixture, 2);
    fixture_deinit(&fixture);
}

/* Damage in a segment that would be reused. */
static void a_damaged_index_file__is_built_anew(void **state)
{
    (void)state;
    struct fixture fixture;
    size_t size = 0;
    fixture_init(&fixture, 8);
    fixture.spec_count = FEW_SPECS;
    draw_lines(&fixture.rng, SEGMENT_BYTES, &fixture.bytes);
    write_bytes(&fixture);
    create_index(&fixture, false);
    bb_file_memory_bytes(fixture.memory, INDEX, &size)[100] ^= 4;
    struct bb_lines_index_report report = create_index(&fixture, false);
    assert_int_equal(report.granules_taken, 0);
    assert_int_equal(report.read_bytes, fixture.bytes.size);
    struct bb_lines *lines = open_lines(&fixture);
    assert_ok(bb_skip_file_verify(bb_lines_index(lines)));
    bb_lines_close(lines);
    fixture_deinit(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_extended_index_file__is_what_it_would_be_if_built_at_once),
        cmocka_unit_test(other_indexes__are_built_anew),
        cmocka_unit_test(a_change_in_the_middle__is_seen_when_granules_end_elsewhere),
        cmocka_unit_test(a_damaged_index_file__is_built_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
