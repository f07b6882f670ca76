/* Files of random lines, and their selections compared with a scan without indexes. Included by one
 * program each. */
#ifndef BB_TESTS_UNIT_SKIP_LINES_FIXTURE_H
#define BB_TESTS_UNIT_SKIP_LINES_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bb/lines.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "tests/support/assert_status.h"
#include "tests/support/rng.h"

static const char *const line_definitions[] = {
    "words bytes = tsv(1)", "number i64 = tsv(2)",    "kind bytes = tsv(3)",
    "line bytes = value",   "name bytes = json($.a)", "ratio f64 = tsv(4)",
};

static const char *const line_specs[] = {
    "tokens(words, fold=lower)",
    "min_max(number)",
    "set(kind, values=20)",
    "ngrams(line, n=4)",
    "column(ratio)",
    "column(words)",
    "values(name)",
    "text(words, counts=yes)",
};

struct line_schema {
    struct bb_schema *schema;
    struct bb_skip_spec specs[BB_ARRAY_LENGTH(line_specs)];
};

static inline void line_schema_init(struct line_schema *schema)
{
    assert_ok(bb_schema_create(&schema->schema));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(line_definitions); i++)
        assert_ok(bb_schema_add(schema->schema, line_definitions[i]));
    for (size_t i = 0; i < BB_ARRAY_LENGTH(line_specs); i++)
        assert_ok(bb_skip_spec_parse(line_specs[i], schema->schema, &schema->specs[i]));
}

static inline void line_schema_deinit(struct line_schema *schema)
{
    bb_schema_destroy(schema->schema);
}

/* ---- drawn bytes ---- */

static inline void draw_fields(struct bb_rng *rng, struct bb_buf *buf)
{
    static const char *const kinds[] = {"GET", "POST", "get", "-", ""};
    for (uint64_t words = bb_rng_below(rng, 8); words > 0; words--)
        assert_ok(bb_buf_print(buf, bb_rng_one_in(rng, 2) ? "w%u " : "W%u/",
                               (unsigned)bb_rng_skewed(rng, 2000)));
    assert_ok(bb_buf_print(buf, "\t%lld\t%s\t%g", (long long)bb_rng_skewed(rng, 100000) - 50,
                           kinds[bb_rng_below(rng, 5)], (double)bb_rng_below(rng, 100) / 8));
}

static inline void draw_json(struct bb_rng *rng, struct bb_buf *buf)
{
    const char *escape = bb_rng_one_in(rng, 4) ? "\\u0077" : "w";
    assert_ok(bb_buf_print(buf, "{\"b\": 1, \"a\": \"%s%u\"}", escape,
                           (unsigned)bb_rng_skewed(rng, 500)));
}

static inline void draw_bytes(struct bb_rng *rng, struct bb_buf *buf, size_t size)
{
    uint8_t *bytes = NULL;
    assert_ok(bb_buf_extend(buf, size, &bytes));
    bb_rng_bytes(rng, bytes, size);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '\n')
            bytes[i] = 'n';
}

static inline void draw_line(struct bb_rng *rng, struct bb_buf *buf)
{
    uint64_t form = bb_rng_below(rng, 100);
    if (form < 70)
        draw_fields(rng, buf);
    else if (form < 85)
        draw_json(rng, buf);
    else if (form < 95)
        draw_bytes(rng, buf, (size_t)bb_rng_skewed(rng, 300));
    else if (bb_rng_one_in(rng, 2000))
        draw_bytes(rng, buf, (size_t)bb_rng_below(rng, 600000));
    assert_ok(bb_buf_print(buf, bb_rng_one_in(rng, 10) ? "\r\n" : "\n"));
}

/* Lines of about this many bytes; the last one may lack its end. */
static inline void draw_lines(struct bb_rng *rng, size_t bytes, struct bb_buf *buf)
{
    size_t end = buf->size + bytes;
    while (buf->size < end)
        draw_line(rng, buf);
    if (buf->size > 0 && bb_rng_one_in(rng, 2))
        buf->size--;
}

/* ---- drawn conditions ---- */

static inline void draw_leaf(struct bb_rng *rng, struct bb_buf *buf)
{
    unsigned word = (unsigned)bb_rng_skewed(rng, 2000);
    long long number = (long long)bb_rng_skewed(rng, 100000) - 50;
    switch (bb_rng_below(rng, 12)) {
    case 0:
        assert_ok(bb_buf_print(buf, "has_token(words, 'w%u')", word));
        break;
    case 1:
        assert_ok(bb_buf_print(buf, "number = %lld", number));
        break;
    case 2:
        assert_ok(bb_buf_print(buf, "number BETWEEN %lld AND %lld", number, number + 100));
        break;
    case 3:
        assert_ok(bb_buf_print(buf, "kind IN ('GET', '', 'PUT')"));
        break;
    case 4:
        assert_ok(bb_buf_print(buf, "contains(line, 'W%u/')", word));
        break;
    case 5:
        assert_ok(bb_buf_print(buf, "name = 'w%u'", (unsigned)bb_rng_skewed(rng, 500)));
        break;
    case 6:
        assert_ok(bb_buf_print(buf, "number IS NULL"));
        break;
    case 7:
        assert_ok(bb_buf_print(buf, "words LIKE 'w%u %%'", word));
        break;
    case 8:
        assert_ok(bb_buf_print(buf, "matches(line, '^w%u.*GET')", word % 50));
        break;
    case 9:
        assert_ok(bb_buf_print(buf, "ratio < %u", word % 13));
        break;
    case 10:
        assert_ok(bb_buf_print(buf, "line = ''"));
        break;
    default:
        assert_ok(bb_buf_print(buf, "contains(name, '%u')", word % 100));
    }
}

static inline void draw_tree(struct bb_rng *rng, uint32_t levels, struct bb_buf *buf)
{
    if (levels == 0 || bb_rng_one_in(rng, 3)) {
        draw_leaf(rng, buf);
        return;
    }
    assert_ok(bb_buf_print(buf, bb_rng_one_in(rng, 4) ? "NOT (" : "("));
    draw_tree(rng, levels - 1, buf);
    assert_ok(bb_buf_print(buf, bb_rng_one_in(rng, 2) ? ") AND (" : ") OR ("));
    draw_tree(rng, levels - 1, buf);
    assert_ok(bb_buf_print(buf, ")"));
}

/* Replaces the text, which is terminated. */
static inline const char *draw_where(struct bb_rng *rng, struct bb_buf *buf)
{
    bb_buf_reset(buf);
    draw_tree(rng, (uint32_t)bb_rng_below(rng, 3), buf);
    assert_ok(bb_buf_append(buf, "", 1));
    return (const char *)buf->data;
}

/* ---- files ---- */

/* Replaces the file, as a program does that writes another one and renames it. */
static inline void write_file(struct bb_file_system *fs, const char *path, struct bb_bytes bytes)
{
    struct bb_file *file = NULL;
    assert_ok(bb_file_create(fs, "written", &file));
    if (bytes.size > 0)
        assert_ok(bb_file_append(file, bytes));
    assert_ok(bb_file_sync(file));
    assert_ok(bb_file_close(file));
    assert_ok(fs->ops->rename(fs, "written", path));
}

/* ---- the scan ---- */

struct scanned_line {
    uint64_t offset;
    struct bb_bytes record;
    struct bb_bytes bytes;
};

/* The line at an offset. */
static inline struct scanned_line line_at(struct bb_bytes file, size_t offset)
{
    size_t end = offset;
    while (end < file.size && file.data[end] != '\n')
        end++;
    bool has_end = end < file.size;
    struct scanned_line line = {.offset = offset,
                                .record = bb_bytes_of(file.data + offset, end - offset),
                                .bytes = bb_bytes_of(file.data + offset, end - offset + has_end)};
    if (has_end && line.record.size > 0 && line.record.data[line.record.size - 1] == '\r')
        line.record.size--;
    return line;
}

struct line_scan {
    const struct bb_schema *schema;
    struct bb_condition *condition;
    struct bb_condition_run *run;
    struct bb_record_reader *reader;
};

static inline void line_scan_init(struct line_scan *scan, const struct bb_schema *schema,
                                  const char *where)
{
    scan->schema = schema;
    assert_ok(bb_condition_parse(schema, bb_bytes_of_text(where), &scan->condition));
    assert_ok(bb_condition_run_create(scan->condition, &scan->run));
    assert_ok(bb_record_reader_create(schema, NULL, &scan->reader));
}

static inline void line_scan_deinit(struct line_scan *scan)
{
    bb_record_reader_destroy(scan->reader);
    bb_condition_run_destroy(scan->run);
    bb_condition_destroy(scan->condition);
}

static inline bool line_scan_matches(struct line_scan *scan, struct bb_bytes record)
{
    struct bb_attribute attributes[BB_ARRAY_LENGTH(line_definitions)];
    enum bb_truth truth = BB_TRUTH_TRUE;
    assert_ok(bb_record_read(scan->reader, (struct bb_bytes){0}, record, attributes));
    assert_ok(bb_condition_test(scan->run, attributes, &truth));
    return truth == BB_TRUTH_TRUE;
}

/* The next line of the selection is this one. */
static inline void expect_line(struct bb_lines_select *select, const struct scanned_line *expected)
{
    bool has_line = false;
    assert_ok(bb_lines_select_next(select, &has_line));
    assert_true(has_line);
    const struct bb_line *line = bb_lines_select_line(select);
    assert_int_equal(line->offset, expected->offset);
    assert_true(bb_bytes_equal(line->record, expected->record));
    assert_true(bb_bytes_equal(line->bytes, expected->bytes));
}

static inline void check_account(const struct bb_lines_account *account)
{
    assert_int_equal(account->granules, account->granules_excluded + account->granules_counted +
                                            account->granules_read);
    assert_true(account->granules_matching <= account->granules_read);
    assert_true(account->records_returned == account->records_matching);
    assert_true(account->records_matching <= account->records_examined);
}

/* The selection and the count equal a scan of the bytes. Returns the account of the selection. */
static inline struct bb_lines_account check_select(const struct bb_lines *lines,
                                                   struct bb_bytes file,
                                                   const struct bb_lines_select_options *options)
{
    struct line_scan scan;
    struct bb_lines_select *select = NULL;
    struct bb_lines_account account;
    uint64_t count = 0;
    uint64_t expected = 0;
    bool has_line = true;
    line_scan_init(&scan, options->schema, options->where);
    assert_ok(bb_lines_select(lines, options, &select));
    for (size_t offset = 0; offset < file.size;) {
        struct scanned_line line = line_at(file, offset);
        if (line_scan_matches(&scan, line.record)) {
            expect_line(select, &line);
            expected++;
        }
        offset += line.bytes.size;
    }
    assert_ok(bb_lines_select_next(select, &has_line));
    assert_false(has_line);
    bb_lines_select_account(select, &account);
    check_account(&account);
    assert_int_equal(account.records_returned, expected);
    bb_lines_select_destroy(select);
    line_scan_deinit(&scan);
    struct bb_lines_account counted;
    assert_ok(bb_lines_count(lines, options, &count, &counted));
    check_account(&counted);
    assert_int_equal(count, expected);
    return account;
}

#endif
