/* Snapshots: gets and iterators of many states, across compactions, released in any order. */
#include "tests/leveldb/session.h"

enum { STATES = 12, KEYS = 300 };

static void change(struct session *s, int state)
{
    char key[16];
    char value[200];
    for (int i = state % 5; i < KEYS; i += 1 + state % 4) {
        snprintf(key, sizeof(key), "k%03d", i);
        snprintf(value, sizeof(value), "state %d %0150d", state, i);
        if ((i + state) % 6 == 0)
            session_delete(s, text_of(key));
        else
            session_put(s, text_of(key), text_of(value));
    }
}

static void print_state(struct session *s, const leveldb_snapshot_t *snapshot)
{
    char key[16];
    leveldb_readoptions_set_snapshot(s->read, snapshot);
    for (int i = 0; i < KEYS; i += 7) {
        snprintf(key, sizeof(key), "k%03d", i);
        session_get(s, text_of(key));
    }
    session_dump(s);
    leveldb_readoptions_set_snapshot(s->read, NULL);
}

int main(void)
{
    struct session s;
    const leveldb_snapshot_t *snapshots[STATES];
    session_init(&s, "store");
    session_open(&s);
    for (int state = 0; state < STATES; state++) {
        change(&s, state);
        snapshots[state] = leveldb_create_snapshot(s.db);
        if (state % 4 == 3)
            leveldb_compact_range(s.db, NULL, 0, NULL, 0);
    }
    for (int state = 0; state < STATES; state++)
        print_state(&s, snapshots[state]);
    for (int state = 0; state < STATES; state += 2)
        leveldb_release_snapshot(s.db, snapshots[state]);
    leveldb_compact_range(s.db, NULL, 0, NULL, 0);
    for (int state = STATES - 1; state > 0; state -= 2) {
        print_state(&s, snapshots[state]);
        leveldb_release_snapshot(s.db, snapshots[state]);
    }
    print_state(&s, NULL);
    session_deinit(&s);
    return 0;
}
