/* Four threads on one store, each with separate keys: concurrent puts, gets, iterators and
 * snapshots; then the contents of the store. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/leveldb/session.h"

enum { THREADS = 4, KEYS = 1500 };

struct worker {
    pthread_t thread;
    struct session *s; /* shared */
    char name;
    long wrong;
};

static void write_own(struct worker *w, int round)
{
    char key[16];
    char value[100];
    char *error = NULL;
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "%c%05d", w->name, i);
        snprintf(value, sizeof(value), "%c %d %d %060d", w->name, round, i, i);
        if (i % 3 == 0) {
            leveldb_writebatch_clear(batch);
            leveldb_writebatch_put(batch, key, 6, value, strlen(value));
            leveldb_write(w->s->db, w->s->write, batch, &error);
        } else if (i % 7 == round) {
            leveldb_delete(w->s->db, w->s->write, key, 6, &error);
        } else {
            leveldb_put(w->s->db, w->s->write, key, 6, value, strlen(value), &error);
        }
    }
    w->wrong += error != NULL;
    leveldb_free(error);
    leveldb_writebatch_destroy(batch);
}

static void read_own(struct worker *w, int round)
{
    char key[16];
    char *error = NULL;
    for (int i = 0; i < KEYS; i++) {
        size_t size = 0;
        snprintf(key, sizeof(key), "%c%05d", w->name, i);
        char *value = leveldb_get(w->s->db, w->s->read, key, 6, &size, &error);
        int is_deleted = i % 3 != 0 && i % 7 == round;
        if ((value == NULL) != is_deleted || (value != NULL && value[0] != w->name))
            w->wrong++;
        leveldb_free(value);
    }
    w->wrong += error != NULL;
    leveldb_free(error);
}

/* The thread's keys do not change during the count, and a snapshot shows the same twice. */
static long count_own(struct worker *w, const leveldb_snapshot_t *snapshot)
{
    long count = 0;
    size_t size = 0;
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    leveldb_readoptions_set_snapshot(read, snapshot);
    leveldb_iterator_t *iterator = leveldb_create_iterator(w->s->db, read);
    for (leveldb_iter_seek(iterator, &w->name, 1);
         leveldb_iter_valid(iterator) && leveldb_iter_key(iterator, &size)[0] == w->name;
         leveldb_iter_next(iterator))
        count++;
    leveldb_iter_destroy(iterator);
    leveldb_readoptions_destroy(read);
    return count;
}

static void *work(void *context)
{
    struct worker *w = context;
    for (int round = 0; round < 5; round++) {
        write_own(w, round);
        const leveldb_snapshot_t *snapshot = leveldb_create_snapshot(w->s->db);
        long count = count_own(w, snapshot);
        read_own(w, round);
        write_own(w, round + 1);
        if (count_own(w, snapshot) != count)
            w->wrong++;
        leveldb_release_snapshot(w->s->db, snapshot);
        if (w->name == 'b')
            leveldb_compact_range(w->s->db, NULL, 0, NULL, 0);
        leveldb_free(leveldb_property_value(w->s->db, "leveldb.stats"));
    }
    return NULL;
}

int main(void)
{
    struct session s;
    struct worker workers[THREADS];
    session_init(&s, "store");
    session_open(&s);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.s = &s, .name = (char)('a' + i)};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("thread %c: %ld wrong\n", workers[i].name, workers[i].wrong);
    }
    session_dump(&s);
    session_deinit(&s);
    return 0;
}
