/* Goal: properties are correct, in the layout that programs read: counts of files agree with the
 * list of files, LevelDB's table is at the start of the statistics, and shows the work done. */
#include "tests/leveldb/opened.h"

#include <sys/wait.h>
#include <unistd.h>

static char *property(struct opened *o, const char *name)
{
    char *value = leveldb_property_value(o->db, name);
    assert_non_null(value);
    return value;
}

static unsigned long number(struct opened *o, const char *name)
{
    char *end = NULL;
    char *value = property(o, name);
    unsigned long found = strtoul(value, &end, 10);
    assert_true(end != value && *end == 0);
    leveldb_free(value);
    return found;
}

static unsigned long count_of(const char *text, const char *part)
{
    unsigned long count = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
        count++;
    return count;
}

static void fill(struct opened *o, int keys)
{
    char key[16];
    char value[512];
    char *error = NULL;
    for (int i = 0; i < keys; i++) {
        snprintf(key, sizeof(key), "%08x", (unsigned)i * 2654435761u);
        snprintf(value, sizeof(value), "%0400d", i);
        leveldb_put(o->db, o->write, key, 8, value, strlen(value), &error);
    }
    assert_null(error);
}

/* Nothing changes between the two questions: everything is compacted. */
static void files_add_up(void **state)
{
    struct opened o;
    unsigned long files = 0;
    (void)state;
    opened_prepare(&o);
    leveldb_options_set_write_buffer_size(o.options, 64 << 10);
    leveldb_options_set_max_file_size(o.options, 1 << 20);
    leveldb_options_set_compression(o.options, leveldb_no_compression);
    opened_again(&o);
    fill(&o, 6000);
    leveldb_compact_range(o.db, NULL, 0, NULL, 0);
    for (int level = 0; level < 7; level++) {
        char name[64];
        snprintf(name, sizeof(name), "leveldb.num-files-at-level%d", level);
        files += number(&o, name);
    }
    char *tables = property(&o, "leveldb.sstables");
    assert_true(files >= 2);
    assert_int_equal(count_of(tables, "--- level "), 7);
    assert_int_equal(count_of(tables, "entries"), files);
    leveldb_free(tables);
    assert_true(number(&o, "leveldb.approximate-memory-usage") > 0);
    opened_deinit(&o);
}

static void statistics_begin_with_leveldbs_table(void **state)
{
    static const char head[] = "                               Compactions\n"
                               "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n"
                               "--------------------------------------------------\n";
    struct opened o;
    (void)state;
    opened_prepare(&o);
    leveldb_options_set_write_buffer_size(o.options, 64 << 10);
    leveldb_options_set_compression(o.options, leveldb_no_compression);
    opened_again(&o);
    char *empty = property(&o, "leveldb.stats");
    assert_int_equal(strncmp(empty, head, sizeof(head) - 1), 0);
    leveldb_free(empty);
    fill(&o, 6000);
    leveldb_compact_range(o.db, NULL, 0, NULL, 0);
    char *stats = property(&o, "leveldb.stats");
    assert_int_equal(strncmp(stats, head, sizeof(head) - 1), 0);
    double written[2] = {0};
    char *line = stats + sizeof(head) - 1;
    for (int i = 0; i < 2; i++) {
        int level = 0;
        int consumed = 0;
        assert_int_equal(sscanf(line, "%d %*d %*f %*f %*f %lf\n%n", &level, &written[i], &consumed),
                         2);
        assert_int_equal(level, i);
        line += consumed;
    }
    assert_true(written[0] >= 1 && written[1] >= 1);
    leveldb_free(stats);
    opened_deinit(&o);
}

/* More text than the first piece of memory. */
static void many_tables_are_listed(void **state)
{
    struct opened o;
    (void)state;
    opened_prepare(&o);
    leveldb_options_set_write_buffer_size(o.options, 64 << 10);
    leveldb_options_set_max_file_size(o.options, 0);
    leveldb_options_set_block_size(o.options, 1024);
    leveldb_options_set_compression(o.options, leveldb_no_compression);
    opened_again(&o);
    char *value = malloc(1 << 20);
    memset(value, 'v', 1 << 20);
    for (int i = 0; i < 30; i++) {
        char *error = NULL;
        char key[16];
        snprintf(key, sizeof(key), "%03d", i);
        leveldb_put(o.db, o.write, key, 3, value, 1 << 20, &error);
        assert_null(error);
    }
    leveldb_compact_range(o.db, NULL, 0, NULL, 0);
    char *tables = property(&o, "leveldb.sstables");
    assert_true(strlen(tables) > 1024);
    assert_true(count_of(tables, "entries") >= 25);
    leveldb_free(tables);
    free(value);
    opened_deinit(&o);
}

static void expect_no_properties(leveldb_t *db)
{
    static const char *const names[] = {"leveldb.num-files-at-level0", "leveldb.stats",
                                        "leveldb.sstables", "leveldb.approximate-memory-usage"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *value = leveldb_property_value(db, names[i]);
        if (value != NULL)
            _exit(1);
    }
    _exit(0);
}

/* It had level counts and statistics of zeros. */
static void a_child_has_no_properties(void **state)
{
    struct opened o;
    int status = -1;
    (void)state;
    opened_init(&o);
    fill(&o, 100);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        expect_no_properties(o.db);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    leveldb_free(property(&o, "leveldb.stats"));
    opened_deinit(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_add_up),
        cmocka_unit_test(statistics_begin_with_leveldbs_table),
        cmocka_unit_test(many_tables_are_listed),
        cmocka_unit_test(a_child_has_no_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
