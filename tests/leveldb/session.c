/* See session.h. */
#include "tests/leveldb/session.h"

#include <inttypes.h>
#include <stdlib.h>

#define PRINTED_MAX 40

void print_text(struct text text)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    if (text.data == NULL) {
        printf("NULL");
        return;
    }
    if (text.size <= PRINTED_MAX) {
        for (size_t i = 0; i < text.size; i++) {
            unsigned char c = (unsigned char)text.data[i];
            if (c > ' ' && c < 127 && c != '\\')
                putchar(c);
            else
                printf("\\%02x", c);
        }
        return;
    }
    for (size_t i = 0; i < text.size; i++)
        sum = (sum ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
    printf("(%zu bytes, %016" PRIx64 ")", text.size, sum);
}

void print_place(const leveldb_iterator_t *iterator)
{
    struct text key = {0};
    struct text value = {0};
    if (!leveldb_iter_valid(iterator)) {
        char *error = NULL;
        leveldb_iter_get_error(iterator, &error);
        printf("nowhere%s%s\n", error == NULL ? "" : ": ", error == NULL ? "" : error);
        leveldb_free(error);
        return;
    }
    key.data = leveldb_iter_key(iterator, &key.size);
    value.data = leveldb_iter_value(iterator, &value.size);
    printf("at ");
    print_text(key);
    printf(" = ");
    print_text(value);
    putchar('\n');
}

void session_init(struct session *s, const char *name)
{
    *s = (struct session){.name = name};
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    s->options = leveldb_options_create();
    s->read = leveldb_readoptions_create();
    s->write = leveldb_writeoptions_create();
    leveldb_options_set_create_if_missing(s->options, 1);
    leveldb_options_set_write_buffer_size(s->options, 64 * 1024);
}

void session_deinit(struct session *s)
{
    session_close(s);
    leveldb_options_destroy(s->options);
    leveldb_readoptions_destroy(s->read);
    leveldb_writeoptions_destroy(s->write);
    leveldb_free(s->error);
}

static bool is_known_by_heart(const char *error)
{
    return strstr(error, "create_if_missing is false") != NULL ||
           strstr(error, "error_if_exists is true") != NULL;
}

bool session_say(struct session *s, const char *what)
{
    bool is_ok = s->error == NULL;
    if (is_ok)
        printf("%s: ok\n", what);
    else if (is_known_by_heart(s->error))
        printf("%s: %s\n", what, s->error);
    else
        printf("%s: %.*s\n", what, (int)strcspn(s->error, ":"), s->error);
    leveldb_free(s->error);
    s->error = NULL;
    return is_ok;
}

void session_check(struct session *s, const char *what)
{
    if (s->error == NULL)
        return;
    printf("%s: %s\n", what, s->error);
    fflush(stdout);
    exit(1);
}

void session_open(struct session *s)
{
    s->db = leveldb_open(s->options, s->name, &s->error);
    if ((s->db == NULL) != (s->error != NULL))
        printf("a store and an error, or neither\n");
    session_say(s, "open");
}

void session_close(struct session *s)
{
    if (s->db != NULL)
        leveldb_close(s->db);
    s->db = NULL;
}

void session_put(struct session *s, struct text key, struct text value)
{
    leveldb_put(s->db, s->write, key.data, key.size, value.data, value.size, &s->error);
    session_check(s, "put");
}

void session_delete(struct session *s, struct text key)
{
    leveldb_delete(s->db, s->write, key.data, key.size, &s->error);
    session_check(s, "delete");
}

void session_get(struct session *s, struct text key)
{
    size_t size = 4711;
    char *value = leveldb_get(s->db, s->read, key.data, key.size, &size, &s->error);
    session_check(s, "get");
    print_text(key);
    printf(value == NULL ? " is absent" : " = ");
    if (value != NULL)
        print_text((struct text){value, size});
    else if (size != 0)
        printf(", and has a size of %zu", size);
    putchar('\n');
    leveldb_free(value);
}

void session_dump(struct session *s)
{
    leveldb_iterator_t *iterator = leveldb_create_iterator(s->db, s->read);
    printf("-- forwards\n");
    for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator);
         leveldb_iter_next(iterator))
        print_place(iterator);
    print_place(iterator);
    printf("-- backwards\n");
    for (leveldb_iter_seek_to_last(iterator); leveldb_iter_valid(iterator);
         leveldb_iter_prev(iterator))
        print_place(iterator);
    print_place(iterator);
    leveldb_iter_destroy(iterator);
}
