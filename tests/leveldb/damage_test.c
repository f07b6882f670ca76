/* Goal: a store that damage keeps from opening can be destroyed and created again, or destroying it
 * is an error; a failed call leaves no new file. Method: files whose first byte or whole contents
 * are spoilt. */
#include "tests/leveldb/opened.h"

#include <dirent.h>
#include <sys/stat.h>

/* "CURRENT LOCK ", in the order of their names; empty without a directory. */
static const char *names_in(const char *path)
{
    static char text[512];
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            strcat(text, entries[i]->d_name);
            strcat(text, " ");
        }
        free(entries[i]);
    }
    free(entries);
    return text;
}

static void path_of(const struct opened *o, const char *name, char path[PATH_MAX])
{
    assert_true(snprintf(path, PATH_MAX, "%s/%s", o->path, name) < PATH_MAX);
}

static void write_file(const struct opened *o, const char *name, const char *text)
{
    char path[PATH_MAX];
    path_of(o, name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void flip_first_byte(const struct opened *o, const char *name)
{
    char path[PATH_MAX];
    path_of(o, name, path);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fputc('X', file), 'X');
    assert_int_equal(fclose(file), 0);
}

/* Calls change on every manifest and log. */
static void spoil(const struct opened *o, void (*change)(const struct opened *o, const char *name))
{
    char names[512];
    char *rest = NULL;
    snprintf(names, sizeof(names), "%s", names_in(o->path));
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        if (strstr(name, "MANIFEST-") != NULL || strstr(name, ".wal") != NULL)
            change(o, name);
    }
}

static void overwrite(const struct opened *o, const char *name)
{
    write_file(o, name, "text that is not of a store");
}

static void expect_failure(char *error, const char *kind)
{
    assert_non_null(error);
    if (strncmp(error, kind, strlen(kind)) != 0)
        print_error("%s\n", error);
    assert_int_equal(strncmp(error, kind, strlen(kind)), 0);
    leveldb_free(error);
}

static void expect_no_opening(struct opened *o, const char *kind)
{
    char *error = NULL;
    assert_null(leveldb_open(o->options, o->path, &error));
    expect_failure(error, kind);
}

static void damaged_headers_can_be_destroyed(void **state)
{
    struct opened o;
    char *error = NULL;
    (void)state;
    opened_init(&o);
    opened_put(&o, "a", "1");
    leveldb_close(o.db);
    spoil(&o, flip_first_byte);
    expect_no_opening(&o, "Corruption: ");
    leveldb_repair_db(o.options, o.path, &error);
    expect_failure(error, "Corruption: ");
    error = NULL;
    leveldb_destroy_db(o.options, o.path, &error);
    assert_null(error);
    assert_string_equal(names_in(o.path), "");
    opened_again(&o);
    opened_deinit(&o);
}

static void destroying_unknown_contents_is_an_error(void **state)
{
    struct opened o;
    char names[512];
    char *error = NULL;
    (void)state;
    opened_init(&o);
    leveldb_close(o.db);
    spoil(&o, overwrite);
    snprintf(names, sizeof(names), "%s", names_in(o.path));
    leveldb_destroy_db(o.options, o.path, &error);
    expect_failure(error, "Invalid argument: ");
    assert_string_equal(names_in(o.path), names);
    o.db = NULL;
    opened_deinit(&o);
}

static void a_failed_opening_leaves_no_lock(void **state)
{
    struct opened o;
    (void)state;
    opened_prepare(&o);
    assert_int_equal(mkdir(o.path, 0755), 0);
    write_file(&o, "CURRENT", "nonsense");
    expect_no_opening(&o, "Corruption: ");
    assert_string_equal(names_in(o.path), "CURRENT ");
    write_file(&o, "LOCK", "");
    expect_no_opening(&o, "Corruption: ");
    assert_string_equal(names_in(o.path), "CURRENT LOCK ");
    opened_deinit(&o);
}

static void a_failed_repair_leaves_no_lock(void **state)
{
    struct opened o;
    char *error = NULL;
    (void)state;
    opened_prepare(&o);
    assert_int_equal(mkdir(o.path, 0755), 0);
    write_file(&o, "CURRENT", "nonsense");
    write_file(&o, "MANIFEST-000001", "nonsense");
    leveldb_repair_db(o.options, o.path, &error);
    expect_failure(error, "Corruption: ");
    assert_string_equal(names_in(o.path), "CURRENT MANIFEST-000001 ");
    opened_deinit(&o);
}

static void nothing(void *state)
{
    (void)state;
}

static int compare(void *state, const char *a, size_t a_size, const char *b, size_t b_size)
{
    (void)state;
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static const char *no_name(void *state)
{
    (void)state;
    return "";
}

static void a_failed_creation_leaves_no_directory(void **state)
{
    struct opened o;
    leveldb_comparator_t *order = leveldb_comparator_create(NULL, nothing, compare, no_name);
    struct stat found;
    (void)state;
    opened_prepare(&o);
    leveldb_options_set_comparator(o.options, order);
    expect_no_opening(&o, "Invalid argument: ");
    assert_int_equal(stat(o.path, &found), -1);
    opened_deinit(&o);
    leveldb_comparator_destroy(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_headers_can_be_destroyed),
        cmocka_unit_test(destroying_unknown_contents_is_an_error),
        cmocka_unit_test(a_failed_opening_leaves_no_lock),
        cmocka_unit_test(a_failed_repair_leaves_no_lock),
        cmocka_unit_test(a_failed_creation_leaves_no_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
