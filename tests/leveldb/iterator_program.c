/* Iterators: seeking, both directions and turning at every place, over memtables and tables; they
 * show the state of their creation. */
#include "tests/leveldb/session.h"

/* Every third number is present; tables of several ages have them, and some are deleted in a newer
 * one. */
static void fill(struct session *s)
{
    char key[16];
    char value[400];
    for (int round = 0; round < 4; round++) {
        for (int i = round; i < 900; i += 4) {
            snprintf(key, sizeof(key), "%04d", i * 3);
            snprintf(value, sizeof(value), "%d/%d %0300d", round, i, i);
            session_put(s, text_of(key), text_of(value));
        }
        for (int i = round * 7; i < 900; i += 31) {
            snprintf(key, sizeof(key), "%04d", i * 3);
            session_delete(s, text_of(key));
        }
        if (round == 1)
            leveldb_compact_range(s->db, NULL, 0, NULL, 0);
    }
}

static void seek(leveldb_iterator_t *iterator, const char *key)
{
    leveldb_iter_seek(iterator, key, strlen(key));
    printf("seek %s: ", key);
    print_place(iterator);
}

static void next(leveldb_iterator_t *iterator)
{
    leveldb_iter_next(iterator);
    printf("next: ");
    print_place(iterator);
}

static void prev(leveldb_iterator_t *iterator)
{
    leveldb_iter_prev(iterator);
    printf("prev: ");
    print_place(iterator);
}

static void turn_everywhere(struct session *s)
{
    char key[16];
    leveldb_iterator_t *iterator = leveldb_create_iterator(s->db, s->read);
    print_place(iterator);
    for (int i = 0; i < 2697; i += 13) {
        snprintf(key, sizeof(key), "%04d", i);
        seek(iterator, key);
        for (int step = 0; step < 6 && leveldb_iter_valid(iterator); step++) {
            if ((i >> step) % 2 == 0)
                next(iterator);
            else
                prev(iterator);
        }
    }
    seek(iterator, "");
    prev(iterator);
    seek(iterator, "9999");
    seek(iterator, "2697");
    leveldb_iter_destroy(iterator);
}

static void turn_at_ends(struct session *s)
{
    leveldb_iterator_t *iterator = leveldb_create_iterator(s->db, s->read);
    leveldb_iter_seek_to_first(iterator);
    print_place(iterator);
    next(iterator);
    prev(iterator);
    prev(iterator);
    leveldb_iter_seek_to_last(iterator);
    print_place(iterator);
    prev(iterator);
    next(iterator);
    next(iterator);
    leveldb_iter_destroy(iterator);
}

/* Writes during an iteration are invisible to it. */
static void write_under(struct session *s)
{
    char key[16];
    leveldb_iterator_t *before = leveldb_create_iterator(s->db, s->read);
    leveldb_iter_seek_to_first(before);
    for (int i = 0; i < 2700; i++) {
        snprintf(key, sizeof(key), "%04d", i);
        if (i % 2 == 0)
            session_delete(s, text_of(key));
        else
            session_put(s, text_of(key), text_of("written under an iterator"));
    }
    leveldb_compact_range(s->db, NULL, 0, NULL, 0);
    for (; leveldb_iter_valid(before); leveldb_iter_next(before))
        print_place(before);
    leveldb_iter_destroy(before);
    session_dump(s);
}

int main(void)
{
    struct session s;
    session_init(&s, "store");
    leveldb_options_set_block_size(s.options, 1024);
    leveldb_options_set_block_restart_interval(s.options, 4);
    session_open(&s);
    fill(&s);
    turn_everywhere(&s);
    turn_at_ends(&s);
    session_close(&s);
    session_open(&s);
    turn_everywhere(&s);
    write_under(&s);
    session_deinit(&s);
    return 0;
}
