/* Write batches: order, iteration, appending, also to itself, clearing and using again. */
#include "tests/leveldb/session.h"

static void on_put(void *state, const char *k, size_t klen, const char *v, size_t vlen)
{
    (*(int *)state)++;
    printf("put ");
    print_text((struct text){k, klen});
    printf(" = ");
    print_text((struct text){v, vlen});
    putchar('\n');
}

static void on_delete(void *state, const char *k, size_t klen)
{
    (*(int *)state)++;
    printf("delete ");
    print_text((struct text){k, klen});
    putchar('\n');
}

static void print_batch(const leveldb_writebatch_t *batch)
{
    int count = 0;
    leveldb_writebatch_iterate(batch, &count, on_put, on_delete);
    printf("%d operations\n", count);
}

static void write_batch(struct session *s, leveldb_writebatch_t *batch)
{
    leveldb_write(s->db, s->write, batch, &s->error);
    session_say(s, "write");
}

/* The later operation of a key wins. */
static void repeat_keys(struct session *s, leveldb_writebatch_t *batch)
{
    leveldb_writebatch_put(batch, "a", 1, "first", 5);
    leveldb_writebatch_delete(batch, "a", 1);
    leveldb_writebatch_put(batch, "b", 1, "first", 5);
    leveldb_writebatch_put(batch, "b", 1, "second", 6);
    leveldb_writebatch_delete(batch, "c", 1);
    leveldb_writebatch_put(batch, "c", 1, "last", 4);
    leveldb_writebatch_put(batch, "", 0, "", 0);
    leveldb_writebatch_put(batch, "a\0b", 3, "\0\n\xff", 3);
    print_batch(batch);
    write_batch(s, batch);
    session_dump(s);
}

static void append(struct session *s, leveldb_writebatch_t *batch)
{
    leveldb_writebatch_t *other = leveldb_writebatch_create();
    leveldb_writebatch_append(batch, other);
    leveldb_writebatch_put(other, "d", 1, "from the other", 14);
    leveldb_writebatch_delete(other, "b", 1);
    leveldb_writebatch_append(batch, other);
    leveldb_writebatch_append(batch, other);
    leveldb_writebatch_append(other, batch);
    print_batch(batch);
    print_batch(other);
    leveldb_writebatch_append(other, other);
    print_batch(other);
    write_batch(s, other);
    leveldb_writebatch_destroy(other);
    session_dump(s);
}

/* Much more than a write buffer. */
static void write_much(struct session *s, leveldb_writebatch_t *batch)
{
    char key[32];
    char value[200];
    memset(value, 'v', sizeof(value));
    for (int i = 0; i < 4000; i++) {
        snprintf(key, sizeof(key), "many %05d", i * 37 % 1000);
        if (i % 3 == 0)
            leveldb_writebatch_delete(batch, key, strlen(key));
        else
            leveldb_writebatch_put(batch, key, strlen(key), value, (size_t)(i % 200));
    }
    write_batch(s, batch);
    write_batch(s, batch);
}

int main(void)
{
    struct session s;
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    session_init(&s, "store");
    session_open(&s);
    print_batch(batch);
    write_batch(&s, batch);
    repeat_keys(&s, batch);
    append(&s, batch);
    leveldb_writebatch_clear(batch);
    print_batch(batch);
    write_much(&s, batch);
    leveldb_writebatch_destroy(batch);
    session_dump(&s);
    session_deinit(&s);
    return 0;
}
