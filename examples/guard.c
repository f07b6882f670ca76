/* A guard for a database: it rejects lookups of absent keys without a query to the database.
 *
 *     is "user0000017" there?
 *         counting filter of all keys, in memory      "certainly absent": done
 *             |  "may be there"
 *         SQLite                                      decides
 *
 * The guard must never rule out a key of the database. This determines the order of steps:
 *
 *   insert    into the filter, then into the database. In the other order a lookup between the
 *             two steps would report a stored key as absent.
 *   delete    from the database, then from the filter, and only if the database had the key:
 *             removing a key that was never added can rule out other keys.
 *   rebuild   in the background, when the filter has more keys than it is sized for. 1. With
 *             writers locked out, the state of the database is pinned and a log of changes
 *             begins. 2. A new filter is built from that state while others read and write.
 *             3. With writers locked out again, the log is replayed on the new filter, which
 *             then replaces the old one.
 *
 * All changes go through the guard. After other changes, and after a restart, it is rebuilt before
 * its first probe.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, pthread_rwlock_t */

#include <bb/filter.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 50000, MORE = 30000, CHANGED = 10000, ABSENT = 200000 }; /* users in the story */

struct change {
    uint64_t hash;
    bool is_delete;
};

struct guard {
    char folder[32], path[40];
    struct bb_hash_secret secret;
    sqlite3 *db;
    sqlite3_stmt *find, *insert, *remove;
    pthread_mutex_t writing; /* a change of the database together with the filter's */
    struct change *diary;    /* NULL unless a rebuild is running */
    size_t diary_count;      /* of the last one, too */
    pthread_rwlock_t lock;   /* of filter; lookups share it */
    struct bb_counting_filter *filter;
    unsigned long long passed_count; /* lookups that reached SQLite */
    unsigned long long audit_count;
    atomic_bool stop_audit;
};

/* Ends the program if something did not work that always should. */
static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void check(enum bb_status status)
{
    require(status == BB_OK, bb_error_last()->message);
}

static void sql(sqlite3 *db, const char *text)
{
    require(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement = NULL;
    require(sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    return statement;
}

/* Runs a statement about a name to its end: did it give a row? */
static bool run(sqlite3_stmt *statement, const char *name)
{
    int row_count = 0, result;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    while ((result = sqlite3_step(statement)) == SQLITE_ROW)
        row_count++;
    require(result == SQLITE_DONE, sqlite3_errmsg(sqlite3_db_handle(statement)));
    sqlite3_reset(statement);
    return row_count > 0;
}

static sqlite3 *connect_to(const char *path)
{
    sqlite3 *db = NULL;
    require(sqlite3_open(path, &db) == SQLITE_OK, path);
    sqlite3_busy_timeout(db, 60000);
    sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
    return db;
}

static uint64_t hash_of(const struct guard *guard, const char *name)
{
    return bb_hash_key(&guard->secret, (struct bb_bytes){(const uint8_t *)name, strlen(name)});
}

static bool guard_may_have(struct guard *guard, const char *name)
{
    pthread_rwlock_rdlock(&guard->lock);
    bool may_have = bb_counting_filter_may_contain(guard->filter, hash_of(guard, name));
    pthread_rwlock_unlock(&guard->lock);
    return may_have;
}

static bool guard_find(struct guard *guard, const char *name)
{
    if (!guard_may_have(guard, name))
        return false;
    guard->passed_count++;
    return run(guard->find, name);
}

static void apply(struct bb_counting_filter *filter, struct change change)
{
    check(change.is_delete ? bb_counting_filter_remove(filter, change.hash)
                           : bb_counting_filter_add(filter, change.hash));
}

/* The caller holds `writing`. */
static void change_filter(struct guard *guard, const char *name, bool is_delete)
{
    struct change change = {hash_of(guard, name), is_delete};
    pthread_rwlock_wrlock(&guard->lock);
    apply(guard->filter, change);
    pthread_rwlock_unlock(&guard->lock);
    if (guard->diary == NULL)
        return;
    guard->diary[guard->diary_count++] = change;
    guard->diary = realloc(guard->diary, (guard->diary_count + 1) * sizeof(change));
    require(guard->diary != NULL, "no memory");
}

static void guard_insert(struct guard *guard, const char *name)
{
    pthread_mutex_lock(&guard->writing);
    change_filter(guard, name, false);
    run(guard->insert, name);
    if (sqlite3_changes(guard->db) == 0) /* was there before, and is in the filter twice now */
        change_filter(guard, name, true);
    pthread_mutex_unlock(&guard->writing);
}

static void guard_delete(struct guard *guard, const char *name)
{
    pthread_mutex_lock(&guard->writing);
    run(guard->remove, name);
    if (sqlite3_changes(guard->db) == 1)
        change_filter(guard, name, true);
    pthread_mutex_unlock(&guard->writing);
}

static uint64_t count_users(sqlite3 *db)
{
    sqlite3_stmt *count = prepare(db, "SELECT count(*) FROM user");
    require(sqlite3_step(count) == SQLITE_ROW, sqlite3_errmsg(db));
    uint64_t user_count = (uint64_t)sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    return user_count;
}

/* A filter of the keys that a connection sees, sized for a quarter more. */
static struct bb_counting_filter *build(const struct guard *guard, sqlite3 *db, uint64_t count)
{
    struct bb_counting_filter_options options = {.key_count = count + count / 4 + 1,
                                                 .target_rate = 0.01};
    struct bb_counting_filter *filter = NULL;
    sqlite3_stmt *rows = prepare(db, "SELECT name FROM user");
    check(bb_counting_filter_create(&options, &filter));
    while (sqlite3_step(rows) == SQLITE_ROW)
        check(bb_counting_filter_add(filter,
                                     hash_of(guard, (const char *)sqlite3_column_text(rows, 0))));
    require(sqlite3_finalize(rows) == SQLITE_OK, sqlite3_errmsg(db));
    return filter;
}

/* In any thread, once at a time. */
static void *guard_rebuild(void *argument)
{
    struct guard *guard = argument;
    sqlite3 *db = connect_to(guard->path);
    pthread_mutex_lock(&guard->writing);
    sql(db, "BEGIN");
    uint64_t count = count_users(db); /* the first read pins the state */
    guard->diary = malloc(sizeof(struct change));
    guard->diary_count = 0;
    pthread_mutex_unlock(&guard->writing);
    struct bb_counting_filter *filter = build(guard, db, count);
    pthread_mutex_lock(&guard->writing);
    for (size_t i = 0; i < guard->diary_count; i++)
        apply(filter, guard->diary[i]);
    free(guard->diary);
    guard->diary = NULL;
    pthread_rwlock_wrlock(&guard->lock);
    bb_counting_filter_destroy(guard->filter);
    guard->filter = filter;
    pthread_rwlock_unlock(&guard->lock);
    pthread_mutex_unlock(&guard->writing);
    sqlite3_close(db);
    return NULL;
}

/* The name of a user; good until the thread's next call. */
static const char *user(int number)
{
    static _Thread_local char name[16];
    snprintf(name, sizeof(name), "user%07d", number);
    return name;
}

/* Adds new users and looks each up immediately; with departures, also removes the oldest. A
 * repeated change must leave the filter unchanged. */
static void change_users(struct guard *guard, int from, int to, bool with_departures)
{
    for (int i = from; i < to; i++) {
        guard_insert(guard, user(i));
        guard_insert(guard, user(i));
        require(guard_find(guard, user(i)), "a new key is not found");
        for (int time = 0; time < 2 && with_departures; time++)
            guard_delete(guard, user(i - from));
    }
}

/* Looks up absent users with names similar to stored ones. */
static void report(struct guard *guard, const char *when)
{
    struct bb_filter_info info;
    bb_counting_filter_info(guard->filter, &info);
    guard->passed_count = 0;
    for (int i = 0; i < ABSENT; i++)
        require(!guard_find(guard, user(5000000 + i)), "an absent key is found");
    printf("%-8s %llu keys, %llu bytes; %d lookups of absent keys: %llu spared, %llu sent to "
           "SQLite (predicted %.1f)\n",
           when, (unsigned long long)info.key_count, (unsigned long long)info.size_bytes, ABSENT,
           ABSENT - guard->passed_count, guard->passed_count, ABSENT * info.predicted_rate);
}

/* Repeatedly reads the newest key of the database and looks it up in the guard. */
static void *audit(void *argument)
{
    struct guard *guard = argument;
    char newest[16];
    sqlite3 *db = connect_to(guard->path);
    sqlite3_stmt *read = prepare(db, "SELECT name FROM user ORDER BY rowid DESC LIMIT 1");
    while (!atomic_load(&guard->stop_audit)) {
        require(sqlite3_step(read) == SQLITE_ROW, sqlite3_errmsg(db));
        snprintf(newest, sizeof(newest), "%s", sqlite3_column_text(read, 0));
        sqlite3_reset(read);
        require(guard_may_have(guard, newest), "the guard denies a key of the database");
        guard->audit_count++;
    }
    sqlite3_finalize(read);
    sqlite3_close(db);
    return NULL;
}

static void open_users(struct guard *guard)
{
    require(mkdtemp(guard->folder) != NULL, guard->folder);
    snprintf(guard->path, sizeof(guard->path), "%s/users", guard->folder);
    guard->db = connect_to(guard->path);
    sql(guard->db, "CREATE TABLE user (name TEXT UNIQUE); BEGIN");
    guard->find = prepare(guard->db, "SELECT 1 FROM user WHERE name = ?");
    guard->insert = prepare(guard->db, "INSERT OR IGNORE INTO user VALUES (?)");
    guard->remove = prepare(guard->db, "DELETE FROM user WHERE name = ?");
    for (int i = 0; i < FIRST; i++)
        run(guard->insert, user(i));
    sql(guard->db, "COMMIT");
}

static void close_users(struct guard *guard)
{
    bb_counting_filter_destroy(guard->filter);
    sqlite3_finalize(guard->find);
    sqlite3_finalize(guard->insert);
    sqlite3_finalize(guard->remove);
    require(sqlite3_close(guard->db) == SQLITE_OK, "SQLite did not close");
    unlink(guard->path);
    rmdir(guard->folder);
}

int main(void)
{
    struct guard guard = {.folder = "/tmp/guard_XXXXXX",
                          .writing = PTHREAD_MUTEX_INITIALIZER,
                          .lock = PTHREAD_RWLOCK_INITIALIZER};
    pthread_t auditor, rebuild;
    bb_hash_secret_from_seed(1, &guard.secret); /* figures that repeat; else: _random */
    open_users(&guard);
    guard_rebuild(&guard);
    report(&guard, "built");
    pthread_create(&auditor, NULL, audit, &guard);
    change_users(&guard, FIRST, FIRST + MORE, false);
    report(&guard, "grown");
    pthread_create(&rebuild, NULL, guard_rebuild, &guard);
    change_users(&guard, FIRST + MORE, FIRST + MORE + CHANGED, true);
    pthread_join(rebuild, NULL);
    report(&guard, "rebuilt");
    atomic_store(&guard.stop_audit, true);
    pthread_join(auditor, NULL);
    printf("%zu changes during the rebuild; %llu audits, no key of the database was denied\n",
           guard.diary_count, guard.audit_count);
    close_users(&guard);
    return 0;
}
