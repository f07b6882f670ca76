/* Repair of a store that is sound, that has lost its CURRENT, and that has also lost its manifest:
 * all contents are present again. */
#include <glob.h>
#include <unistd.h>

#include "tests/leveldb/order.h"
#include "tests/leveldb/session.h"

static void fill(struct session *s)
{
    char key[16];
    char value[200];
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof(key), "key %04d", i * 37 % 700);
        snprintf(value, sizeof(value), "%d %0150d", i, i);
        if (i % 6 == 0)
            session_delete(s, text_of(key));
        else
            session_put(s, text_of(key), text_of(value));
        if (i == 1000)
            leveldb_compact_range(s->db, NULL, 0, NULL, 0);
    }
}

static void lose(const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        (void)!unlink(found.gl_pathv[i]);
    globfree(&found);
}

static void repair(struct session *s)
{
    session_close(s);
    leveldb_repair_db(s->options, s->name, &s->error);
    session_say(s, "repair");
    session_open(s);
    session_dump(s);
}

static void run(struct session *s)
{
    session_open(s);
    fill(s);
    repair(s);
    session_put(s, text_of("key 0001"), text_of("after the repair"));
    session_close(s);
    lose("store*/CURRENT");
    repair(s);
    session_close(s);
    lose("store*/CURRENT");
    lose("store*/MANIFEST-*");
    repair(s);
    fill(s);
    session_dump(s);
}

int main(void)
{
    struct session s;
    leveldb_comparator_t *order = order_create_reverse();
    session_init(&s, "store");
    run(&s);
    session_deinit(&s);
    lose("store/*");
    session_init(&s, "store-reverse");
    leveldb_options_set_comparator(s.options, order);
    run(&s);
    session_deinit(&s);
    leveldb_comparator_destroy(order);
    return 0;
}
