/* Failures and their reports: stores that are missing or exist, held, destroyed; the rules of
 * errptr; properties that do not exist. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/leveldb/session.h"

static char *own_copy(const char *string)
{
    char *copy = malloc(strlen(string) + 1);
    memcpy(copy, string, strlen(string) + 1);
    return copy;
}

static void print_existence(const char *path)
{
    printf("%s is %s\n", path, access(path, F_OK) == 0 ? "there" : "not there");
}

static void open_missing_and_present(struct session *s)
{
    leveldb_options_set_create_if_missing(s->options, 0);
    session_open(s);
    leveldb_options_set_create_if_missing(s->options, 1);
    leveldb_options_set_error_if_exists(s->options, 1);
    session_open(s);
    session_put(s, text_of("a"), text_of("1"));
    session_close(s);
    session_open(s);
    leveldb_options_set_error_if_exists(s->options, 0);
    leveldb_options_set_create_if_missing(s->options, 0);
    session_open(s);
    session_get(s, text_of("a"));
}

static void open_where_nothing_can_be(struct session *s)
{
    char *error = NULL;
    leveldb_options_set_create_if_missing(s->options, 1);
    leveldb_t *db = leveldb_open(s->options, "no/such/parent", &error);
    printf("%s %.8s\n", db == NULL ? "no store" : "a store", error == NULL ? "" : error);
    leveldb_free(error);
}

/* The opener holds a store. */
static void open_twice(struct session *s)
{
    char *error = NULL;
    leveldb_t *second = leveldb_open(s->options, s->name, &error);
    printf("%s %.14s\n", second == NULL ? "refused" : "opened twice", error == NULL ? "" : error);
    leveldb_destroy_db(s->options, s->name, &error);
    printf("%.14s\n", error == NULL ? "destroyed while open" : error);
    leveldb_free(error);
    session_get(s, text_of("a"));
}

/* Success does not change an earlier error, failure replaces it. */
static void keep_and_replace_errors(struct session *s)
{
    char *error = own_copy("an earlier error");
    size_t size = 0;
    char *earlier = error;
    leveldb_put(s->db, s->write, "b", 1, "2", 1, &error);
    leveldb_free(leveldb_get(s->db, s->read, "b", 1, &size, &error));
    leveldb_free(leveldb_get(s->db, s->read, "absent", 6, &size, &error));
    printf("%s, %s\n", error, error == earlier ? "the same" : "another");
    leveldb_options_set_error_if_exists(s->options, 1);
    printf("%s\n", leveldb_open(s->options, s->name, &error) == NULL ? "refused" : "opened twice");
    printf("%s\n", strcmp(error, "an earlier error") == 0 ? "still the earlier" : "replaced");
    leveldb_free(error);
    leveldb_options_set_error_if_exists(s->options, 0);
}

static void ask_properties(struct session *s)
{
    static const char *const names[] = {
        "leveldb.stats",
        "leveldb.sstables",
        "leveldb.nothing",
        "leveldb.num-files-at-level0",
        "rocksdb.stats",
        "leveldb.num-files-at-level6",
        "",
        "leveldb.num-files-at-level7",
        "leveldb",
        "leveldb.num-files-at-level",
        "leveldb.statsx",
        "leveldb.num-files-at-level0x",
        "leveldb.",
        "leveldb.num-files-at-level00",
        "Leveldb.stats",
        "leveldb.num-files-at-level10",
        "leveldb.approximate-memory-usage",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *value = leveldb_property_value(s->db, names[i]);
        printf("%s: %s\n", names[i], value == NULL ? "unknown" : "known");
        leveldb_free(value);
    }
}

static void destroy(struct session *s, const char *name)
{
    leveldb_destroy_db(s->options, name, &s->error);
    session_say(s, "destroy");
    print_existence(name);
}

static void destroy_everything(struct session *s)
{
    session_close(s);
    destroy(s, "never was");
    (void)!mkdir("empty", 0755);
    destroy(s, "empty");
    (void)!mkdir("foreign", 0755);
    FILE *file = fopen("foreign/letter.txt", "w");
    fclose(file);
    destroy(s, "foreign");
    print_existence("foreign/letter.txt");
    file = fopen("store/letter.txt", "w");
    fclose(file);
    destroy(s, "store");
    print_existence("store/letter.txt");
    print_existence("store/CURRENT");
    (void)!unlink("store/letter.txt");
    leveldb_options_set_create_if_missing(s->options, 0);
    session_open(s);
    leveldb_options_set_create_if_missing(s->options, 1);
    session_open(s);
    session_dump(s);
    session_close(s);
    destroy(s, "store");
}

int main(void)
{
    struct session s;
    session_init(&s, "store");
    open_missing_and_present(&s);
    open_where_nothing_can_be(&s);
    open_twice(&s);
    keep_and_replace_errors(&s);
    ask_properties(&s);
    destroy_everything(&s);
    printf("version %d.%d\n", leveldb_major_version(), leveldb_minor_version() > 0);
    leveldb_free(NULL);
    session_deinit(&s);
    return 0;
}
