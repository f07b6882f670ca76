/* One file of drawn lines in memory, and its index file. Included by one program each. */
#ifndef BB_TESTS_UNIT_SKIP_LINES_FILE_H
#define BB_TESTS_UNIT_SKIP_LINES_FILE_H

#include "tests/unit/skip/lines_fixture.h"

#include "tests/support/file_memory.h"

#define PATH  "access.log"
#define INDEX PATH BB_LINES_INDEX_SUFFIX

struct fixture {
    struct bb_file_memory *memory;
    struct bb_file_system *fs;
    struct line_schema schema;
    struct bb_buf bytes; /* of the file */
    struct bb_buf where;
    struct bb_rng rng;
    size_t spec_count; /* the first of line_specs */
};

static inline void fixture_init(struct fixture *fixture, uint64_t seed)
{
    *fixture = (struct fixture){.memory = bb_file_memory_create(seed),
                                .spec_count = BB_ARRAY_LENGTH(line_specs)};
    fixture->fs = bb_file_memory_system(fixture->memory);
    line_schema_init(&fixture->schema);
    bb_rng_init(&fixture->rng, bb_rng_seed("lines_test", seed));
}

static inline void fixture_deinit(struct fixture *fixture)
{
    line_schema_deinit(&fixture->schema);
    bb_buf_deinit(&fixture->bytes);
    bb_buf_deinit(&fixture->where);
    bb_file_memory_destroy(fixture->memory);
}

static inline void write_bytes(struct fixture *fixture)
{
    write_file(fixture->fs, PATH, bb_buf_bytes(&fixture->bytes));
}

static inline void put_text(struct fixture *fixture, const char *text)
{
    assert_ok(bb_buf_assign(&fixture->bytes, bb_bytes_of_text(text)));
    write_bytes(fixture);
}

static inline struct bb_lines_index_options index_options(const struct fixture *fixture)
{
    return (struct bb_lines_index_options){.file_system = fixture->fs,
                                           .schema = fixture->schema.schema,
                                           .specs = fixture->schema.specs,
                                           .spec_count = fixture->spec_count,
                                           .granule_bytes = BB_GRANULE_BYTES_MIN};
}

static inline struct bb_lines_index_report create_index(const struct fixture *fixture, bool rebuild)
{
    struct bb_lines_index_options options = index_options(fixture);
    struct bb_lines_index_report report;
    options.rebuild = rebuild;
    assert_ok(bb_lines_index_create(PATH, &options, &report));
    return report;
}

static inline struct bb_lines *open_lines(const struct fixture *fixture)
{
    struct bb_lines_options options = {.file_system = fixture->fs};
    struct bb_lines *lines = NULL;
    assert_ok(bb_lines_open(PATH, &options, &lines));
    return lines;
}

static inline struct bb_lines_select_options select_options(const struct fixture *fixture,
                                                            const char *where)
{
    return (struct bb_lines_select_options){.schema = fixture->schema.schema, .where = where};
}

static inline struct bb_lines_account select_lines(const struct fixture *fixture,
                                                   const struct bb_lines *lines, const char *where)
{
    struct bb_lines_select_options options = select_options(fixture, where);
    return check_select(lines, bb_buf_bytes(&fixture->bytes), &options);
}

/* Drawn conditions; gives the granules that were excluded. */
static inline uint64_t check_conditions(struct fixture *fixture, size_t count)
{
    struct bb_lines *lines = open_lines(fixture);
    uint64_t excluded = 0;
    for (size_t i = 0; i < count; i++) {
        const char *where = draw_where(&fixture->rng, &fixture->where);
        excluded += select_lines(fixture, lines, where).granules_excluded;
    }
    bb_lines_close(lines);
    return excluded;
}

static inline enum bb_lines_index_state index_state(const struct fixture *fixture)
{
    struct bb_lines *lines = open_lines(fixture);
    struct bb_lines_info info;
    bb_lines_info(lines, &info);
    assert_true((info.index_state == BB_LINES_INDEX_USED) == (info.index_reason[0] == '\0'));
    assert_true((info.index_state == BB_LINES_INDEX_USED) == (info.index_status == BB_OK));
    bb_lines_close(lines);
    return info.index_state;
}

#endif
