/* A store of the linked engine, in ./store.
 *
 *     foreign_program write     makes it, with some entries
 *     foreign_program empty     makes it, without entries, and repairs it
 *     foreign_program read      prints its contents
 *     foreign_program touch     tries to open, repair and destroy it, and prints the results
 */
#include "tests/leveldb/session.h"

static void write_entries(struct session *s)
{
    char key[16];
    char value[128];
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof(key), "key %d", i * 17 % 1000);
        snprintf(value, sizeof(value), "value %0100d", i);
        session_put(s, text_of(key), text_of(value));
    }
}

static void print_error(struct session *s, const char *what)
{
    printf("%s: %s\n", what, s->error == NULL ? "ok" : s->error);
    leveldb_free(s->error);
    s->error = NULL;
}

static void touch(struct session *s)
{
    for (uint8_t creates = 0; creates < 2; creates++) {
        leveldb_options_set_create_if_missing(s->options, creates);
        s->db = leveldb_open(s->options, s->name, &s->error);
        print_error(s, "open");
        session_close(s);
    }
    leveldb_repair_db(s->options, s->name, &s->error);
    print_error(s, "repair");
    leveldb_destroy_db(s->options, s->name, &s->error);
    print_error(s, "destroy");
}

int main(int argc, char **argv)
{
    struct session s;
    const char *what = argc == 2 ? argv[1] : "";
    session_init(&s, "store");
    if (strcmp(what, "touch") == 0) {
        touch(&s);
    } else if (strcmp(what, "empty") == 0) {
        session_open(&s);
        session_close(&s);
        leveldb_repair_db(s.options, s.name, &s.error);
        print_error(&s, "repair");
    } else {
        session_open(&s);
        if (strcmp(what, "write") == 0)
            write_entries(&s);
        session_dump(&s);
    }
    session_deinit(&s);
    return 0;
}
