/* Levels as text, for tests that use drawings. A line is a level, a word is a table:
 *
 *     "0: 9[c-k] 8[a-f]\n"           number[smallest-largest]
 *     "1: 3[a-d]*5 2[m-q]~0.25"      *size in units of DRAWN_BYTES and DRAWN_KEYS (1), ~rate of the
 *                                    filters (0.001), ^predicted rate (unknown), @sequence (0)
 *
 *     "1: 7[a-z] | 3[a-d] 4[e-z]"    two runs of a level, the left one newer: 1 and 0
 *
 * There are no files: the tables cannot be opened.
 */
#ifndef BB_TESTS_UNIT_COMPACTION_DRAWING_H
#define BB_TESTS_UNIT_COMPACTION_DRAWING_H

#include "tests/support/assert_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "compaction/levels/levels.h"

#define DRAWN_KEYS       1000
#define DRAWN_BYTES      (1 << 20)
#define DRAWN_RATE       0.001
#define DRAWN_TABLES_MAX 64

/* Which tables' files were removed, in order. */
struct drawn_env {
    struct bb_table_file_env env;
    uint64_t removed[DRAWN_TABLES_MAX];
    size_t removed_count;
};

static inline void drawn_path(void *context, uint64_t number, char path[BB_PATH_SIZE_MAX])
{
    (void)context;
    snprintf(path, BB_PATH_SIZE_MAX, "/drawn/%" PRIu64, number);
}

static inline void drawn_remove(void *context, uint64_t number)
{
    struct drawn_env *drawn = context;
    assert_true(drawn->removed_count < DRAWN_TABLES_MAX);
    drawn->removed[drawn->removed_count++] = number;
}

static inline void drawn_env_init(struct drawn_env *drawn)
{
    *drawn =
        (struct drawn_env){.env = {.path = drawn_path, .remove = drawn_remove, .context = drawn}};
    bb_table_file_env_init(&drawn->env);
}

static inline void drawn_env_deinit(struct drawn_env *drawn)
{
    bb_table_file_env_deinit(&drawn->env);
}

/* Parses one word; *text advances past it. */
static inline struct bb_table_file *draw_table(struct drawn_env *drawn, const char **text)
{
    struct bb_table_file *file = NULL;
    struct bb_table_meta meta = {.filter_rate = DRAWN_RATE};
    char *end = NULL;
    uint64_t number = strtoull(*text, &end, 10);
    assert_int_equal(*end, '[');
    const char *dash = strchr(end, '-');
    const char *close = strchr(end, ']');
    assert_true(dash != NULL && close != NULL && dash < close);
    assert_ok(bb_buf_assign(&meta.smallest, bb_bytes_of(end + 1, (size_t)(dash - end - 1))));
    assert_ok(bb_buf_assign(&meta.largest, bb_bytes_of(dash + 1, (size_t)(close - dash - 1))));
    end = (char *)(uintptr_t)(close + 1);
    uint64_t size = *end == '*' ? strtoull(end + 1, &end, 10) : 1;
    meta.filter_rate = *end == '~' ? strtod(end + 1, &end) : DRAWN_RATE;
    meta.predicted_block_rate = *end == '^' ? strtod(end + 1, &end) : 0;
    meta.predicted_table_filter_rate = meta.predicted_block_rate > 0;
    meta.sequence_min = *end == '@' ? strtoull(end + 1, &end, 10) : 0;
    meta.sequence_max = meta.sequence_min;
    meta.key_count = size * DRAWN_KEYS;
    meta.entry_count = meta.key_count;
    meta.file_size = size * DRAWN_BYTES;
    meta.raw_bytes = meta.file_size;
    assert_ok(bb_table_file_create(&drawn->env, number, &meta, &file));
    bb_table_meta_deinit(&meta);
    *text = end;
    return file;
}

/* The number of runs of the line after this place. */
static inline uint64_t count_runs_after(const char *text)
{
    uint64_t count = 0;
    for (; *text != '\0' && *text != '\n'; text++)
        count += *text == '|';
    return count;
}

/* Reads a drawing into changes, each with a reference to its file; gives their number. */
static inline size_t draw_changes(struct drawn_env *drawn, const char *text,
                                  struct bb_level_change *changes)
{
    size_t count = 0;
    int level = -1;
    while (*text != '\0') {
        if (*text == ' ' || *text == '\n' || *text == '|') {
            text++;
            continue;
        }
        if (text[1] == ':') {
            level = *text - '0';
            text += 2;
            continue;
        }
        assert_true(count < DRAWN_TABLES_MAX);
        changes[count].level = level;
        changes[count].run = count_runs_after(text);
        changes[count++].file = draw_table(drawn, &text);
    }
    return count;
}

static inline void release_changes(struct bb_level_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bb_table_file_unref(changes[i].file);
}

/* `levels` (NULL: empty, under a comparator) without the removed tables and with the drawn ones. */
static inline enum bb_status redraw(struct drawn_env *drawn, const struct bb_levels *levels,
                                    const uint64_t *removed, size_t removed_count, const char *text,
                                    struct bb_levels **ret_levels)
{
    struct bb_level_change changes[DRAWN_TABLES_MAX];
    size_t count = draw_changes(drawn, text, changes);
    enum bb_status status =
        bb_levels_apply(levels, removed, removed_count, changes, count, ret_levels);
    release_changes(changes, count);
    return status;
}

static inline struct bb_levels *
draw_ordered(struct drawn_env *drawn, const struct bb_comparator *comparator, const char *text)
{
    struct bb_levels *empty = NULL;
    struct bb_levels *levels = NULL;
    assert_ok(bb_levels_create_empty(comparator, &empty));
    assert_ok(redraw(drawn, empty, NULL, 0, text, &levels));
    bb_levels_unref(empty);
    return levels;
}

static inline struct bb_levels *draw(struct drawn_env *drawn, const char *text)
{
    return draw_ordered(drawn, NULL, text);
}

static inline void print_bounds(const struct bb_table_file *file, struct bb_buf *text)
{
    assert_ok(bb_buf_print(text, " %" PRIu64 "[%.*s-%.*s]", file->number,
                           (int)file->meta.smallest.size, (const char *)file->meta.smallest.data,
                           (int)file->meta.largest.size, (const char *)file->meta.largest.data));
}

/* Levels as "0: ...\n1: ...\n" without sizes and without empty ones. */
static inline void assert_levels(const struct bb_levels *levels, const char *expected)
{
    struct bb_buf text = {0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        size_t count = bb_levels_table_count(levels, level);
        if (count == 0)
            continue;
        assert_ok(bb_buf_print(&text, "%d:", level));
        for (size_t r = 0; r < levels->levels[level].run_count; r++) {
            const struct bb_run *run = bb_levels_run(levels, level, r);
            if (level > 0 && r > 0)
                assert_ok(bb_buf_print(&text, " |"));
            for (size_t i = 0; i < run->count; i++)
                print_bounds(run->files[i], &text);
        }
        assert_ok(bb_buf_print(&text, "\n"));
    }
    assert_ok(bb_buf_append(&text, "", 1));
    assert_string_equal((const char *)text.data, expected);
    bb_buf_deinit(&text);
}

#endif
