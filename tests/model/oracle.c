/* See oracle.h. */
#include "tests/model/oracle.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum statement {
    APPLY,
    DELETE_RANGE,
    GET,
    FIRST,
    AT_OR_AFTER,
    AFTER,
    BEFORE,
    LAST,
    TRUNCATE,
    PRUNE,
    LOWER,
    STATEMENT_COUNT,
};

/* Returns the newest version of the next key, because the table is in this order. */
#define FORWARD "ORDER BY key, sequence DESC LIMIT 1"

static const char *const texts[STATEMENT_COUNT] = {
    [APPLY] = "INSERT INTO versions VALUES (?1, ?2, ?3)",
    [DELETE_RANGE] = "INSERT INTO versions SELECT DISTINCT key, ?2, 0 FROM versions "
                     "WHERE key >= ?1 AND key < ?3",
    [GET] = "SELECT value FROM versions WHERE key = ?1 AND sequence <= ?2 ORDER BY sequence DESC "
            "LIMIT 1",
    [FIRST] = "SELECT key, value FROM versions WHERE sequence <= ?2 " FORWARD,
    [AT_OR_AFTER] = "SELECT key, value FROM versions WHERE key >= ?1 AND sequence <= ?2 " FORWARD,
    [AFTER] = "SELECT key, value FROM versions WHERE key > ?1 AND sequence <= ?2 " FORWARD,
    [BEFORE] = "SELECT key FROM versions WHERE key < ?1 ORDER BY key DESC LIMIT 1",
    [LAST] = "SELECT key FROM versions ORDER BY key DESC LIMIT 1",
    [TRUNCATE] = "DELETE FROM versions WHERE sequence > ?2",
    [PRUNE] = "DELETE FROM versions WHERE sequence < (SELECT MAX(v.sequence) FROM versions v WHERE "
              "v.key = versions.key "
              "AND v.sequence <= ?2)",
    [LOWER] = "UPDATE versions SET sequence = ?2 WHERE sequence > ?2",
};

/* One transaction that never ends, so that a statement need not begin and commit its own. */
static const char setup[] =
    "PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN;"
    "CREATE TABLE versions (key BLOB NOT NULL, sequence INTEGER NOT NULL, value BLOB, "
    "PRIMARY KEY (key, sequence DESC)) WITHOUT ROWID";

struct oracle {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    bool is_reverse;
    struct bb_buf encoded[2]; /* the keys that a statement is bound to */
    uint64_t ranges_crossed;
    sqlite3_stmt *selection; /* begun, or NULL */
};

static void must(struct oracle *oracle, bool is_fine)
{
    if (is_fine)
        return;
    fprintf(stderr, "oracle: SQLite: %s\n", sqlite3_errmsg(oracle->db));
    abort();
}

struct oracle *oracle_create(bool is_reverse)
{
    struct oracle *oracle = calloc(1, sizeof(*oracle));
    if (oracle == NULL)
        abort();
    oracle->is_reverse = is_reverse;
    /* One thread uses SQLite, so SQLite needs no locks. Later calls fail and change nothing. */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    must(oracle, sqlite3_open_v2(":memory:", &oracle->db, flags, NULL) == SQLITE_OK);
    must(oracle, sqlite3_exec(oracle->db, setup, NULL, NULL, NULL) == SQLITE_OK);
    for (int i = 0; i < STATEMENT_COUNT; i++)
        must(oracle, sqlite3_prepare_v2(oracle->db, texts[i], -1, &oracle->statements[i], NULL) ==
                         SQLITE_OK);
    return oracle;
}

void oracle_destroy(struct oracle *oracle)
{
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(oracle->statements[i]);
    sqlite3_finalize(oracle->selection);
    sqlite3_close(oracle->db);
    for (int i = 0; i < 2; i++)
        bb_buf_deinit(&oracle->encoded[i]);
    free(oracle);
}

static void bind_bytes(struct oracle *oracle, sqlite3_stmt *statement, int index,
                       struct bb_bytes bytes)
{
    /* An empty blob needs a pointer, or SQLite takes it for NULL. */
    const void *data = bytes.size == 0 ? (const void *)"" : bytes.data;
    must(oracle,
         sqlite3_bind_blob(statement, index, data, (int)bytes.size, SQLITE_STATIC) == SQLITE_OK);
}

/* SQLite orders blobs bytewise. For the reverse order each byte becomes two, complemented, followed
 * by an end marker greater than any of them. */
static struct bb_bytes encode(struct oracle *oracle, int which, struct bb_bytes key)
{
    struct bb_buf *buf = &oracle->encoded[which];
    uint8_t *data = NULL;
    if (!oracle->is_reverse)
        return key;
    buf->size = 0;
    must(oracle, bb_buf_extend(buf, 2 * key.size + 1, &data) == BB_OK);
    for (size_t i = 0; i < key.size; i++) {
        data[2 * i] = 0xfe;
        data[2 * i + 1] = (uint8_t)~key.data[i];
    }
    data[2 * key.size] = 0xff;
    return bb_buf_bytes(buf);
}

static void decode(const struct oracle *oracle, struct bb_buf *key)
{
    if (!oracle->is_reverse)
        return;
    key->size /= 2;
    for (size_t i = 0; i < key->size; i++)
        key->data[i] = (uint8_t)~key->data[2 * i + 1];
}

static sqlite3_stmt *prepare(struct oracle *oracle, enum statement which,
                             const struct bb_bytes *key, uint64_t sequence)
{
    sqlite3_stmt *statement = oracle->statements[which];
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (key != NULL)
        bind_bytes(oracle, statement, 1, encode(oracle, 0, *key));
    if (sqlite3_bind_parameter_count(statement) >= 2)
        must(oracle, sqlite3_bind_int64(statement, 2, (sqlite3_int64)sequence) == SQLITE_OK);
    return statement;
}

static void run(struct oracle *oracle, sqlite3_stmt *statement)
{
    must(oracle, sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_reset(statement);
}

void oracle_apply(struct oracle *oracle, uint64_t sequence, struct bb_bytes key,
                  const struct bb_bytes *value)
{
    sqlite3_stmt *statement = prepare(oracle, APPLY, &key, sequence);
    if (value != NULL)
        bind_bytes(oracle, statement, 3, *value);
    run(oracle, statement);
}

void oracle_delete_range(struct oracle *oracle, uint64_t sequence, struct bb_bytes low,
                         struct bb_bytes high)
{
    sqlite3_stmt *statement = prepare(oracle, DELETE_RANGE, &low, sequence);
    bind_bytes(oracle, statement, 3, encode(oracle, 1, high));
    run(oracle, statement);
}

uint64_t oracle_ranges_crossed(const struct oracle *oracle)
{
    return oracle->ranges_crossed;
}

static void take_column(sqlite3_stmt *statement, int column, struct bb_buf *buf)
{
    struct bb_bytes bytes = {.data = sqlite3_column_blob(statement, column),
                             .size = (size_t)sqlite3_column_bytes(statement, column)};
    if (bb_buf_assign(buf, bytes) != BB_OK)
        abort();
}

static enum oracle_answer answer_of(int column_type)
{
    switch (column_type) {
    case SQLITE_NULL:
        return ORACLE_DELETED;
    case SQLITE_INTEGER:
        return ORACLE_DELETED_RANGE;
    default:
        return ORACLE_PRESENT;
    }
}

/* Takes the value in a column, which is a deletion if it is not a blob. */
static enum oracle_answer take_answer(sqlite3_stmt *statement, int column, struct bb_buf *value)
{
    enum oracle_answer answer = answer_of(sqlite3_column_type(statement, column));
    if (answer == ORACLE_PRESENT)
        take_column(statement, column, value);
    return answer;
}

enum oracle_answer oracle_get(struct oracle *oracle, struct bb_bytes key, uint64_t sequence,
                              struct bb_buf *value)
{
    sqlite3_stmt *statement = prepare(oracle, GET, &key, sequence);
    int step = sqlite3_step(statement);
    must(oracle, step == SQLITE_ROW || step == SQLITE_DONE);
    enum oracle_answer answer =
        step == SQLITE_ROW ? take_answer(statement, 0, value) : ORACLE_NEVER;
    sqlite3_reset(statement);
    return answer;
}

/* The key that the statement returns for *key, into *key; false if there is no such key. */
static bool move(struct oracle *oracle, enum statement which, uint64_t sequence, struct bb_buf *key,
                 struct bb_buf *value, enum oracle_answer *answer)
{
    struct bb_bytes from = bb_buf_bytes(key);
    sqlite3_stmt *statement =
        prepare(oracle, which, which == FIRST || which == LAST ? NULL : &from, sequence);
    int step = sqlite3_step(statement);
    must(oracle, step == SQLITE_ROW || step == SQLITE_DONE);
    if (step == SQLITE_ROW) {
        take_column(statement, 0, key);
        decode(oracle, key);
        *answer = sqlite3_column_count(statement) == 2
                      ? take_answer(statement, 1, value)
                      : oracle_get(oracle, bb_buf_bytes(key), sequence, value);
    }
    sqlite3_reset(statement);
    return step == SQLITE_ROW;
}

static bool find(struct oracle *oracle, uint64_t sequence, enum statement first,
                 enum statement then, struct bb_buf *key, struct bb_buf *value)
{
    enum oracle_answer answer = ORACLE_PRESENT;
    bool is_found = move(oracle, first, sequence, key, value, &answer);
    while (is_found && answer != ORACLE_PRESENT) {
        oracle->ranges_crossed += answer == ORACLE_DELETED_RANGE;
        is_found = move(oracle, then, sequence, key, value, &answer);
    }
    return is_found;
}

bool oracle_first(struct oracle *oracle, uint64_t sequence, struct bb_buf *key,
                  struct bb_buf *value)
{
    return find(oracle, sequence, FIRST, AFTER, key, value);
}

bool oracle_seek(struct oracle *oracle, uint64_t sequence, bool is_after, struct bb_buf *key,
                 struct bb_buf *value)
{
    return find(oracle, sequence, is_after ? AFTER : AT_OR_AFTER, AFTER, key, value);
}

bool oracle_before(struct oracle *oracle, uint64_t sequence, struct bb_buf *key,
                   struct bb_buf *value)
{
    return find(oracle, sequence, BEFORE, BEFORE, key, value);
}

bool oracle_last(struct oracle *oracle, uint64_t sequence, struct bb_buf *key, struct bb_buf *value)
{
    return find(oracle, sequence, LAST, BEFORE, key, value);
}

void oracle_select(struct oracle *oracle, uint64_t sequence, const char *where, bool is_backward)
{
    char text[8192];
    int size =
        snprintf(text, sizeof(text),
                 "SELECT v.key, v.value FROM versions v WHERE v.sequence = (SELECT MAX(w.sequence) "
                 "FROM versions w WHERE w.key = v.key AND w.sequence <= ?1) "
                 "AND typeof(v.value) = 'blob' AND (%s) ORDER BY v.key%s",
                 where, is_backward ? " DESC" : "");
    must(oracle, size < (int)sizeof(text));
    sqlite3_finalize(oracle->selection);
    must(oracle, sqlite3_prepare_v2(oracle->db, text, -1, &oracle->selection, NULL) == SQLITE_OK);
    must(oracle, sqlite3_bind_int64(oracle->selection, 1, (sqlite3_int64)sequence) == SQLITE_OK);
}

bool oracle_select_next(struct oracle *oracle, struct bb_buf *key, struct bb_buf *value)
{
    int step = sqlite3_step(oracle->selection);
    must(oracle, step == SQLITE_ROW || step == SQLITE_DONE);
    if (step == SQLITE_ROW) {
        take_column(oracle->selection, 0, key);
        take_column(oracle->selection, 1, value);
        return true;
    }
    sqlite3_finalize(oracle->selection);
    oracle->selection = NULL;
    return false;
}

void oracle_truncate(struct oracle *oracle, uint64_t sequence)
{
    run(oracle, prepare(oracle, TRUNCATE, NULL, sequence));
}

void oracle_prune(struct oracle *oracle, uint64_t sequence_min)
{
    run(oracle, prepare(oracle, PRUNE, NULL, sequence_min));
}

void oracle_lower(struct oracle *oracle, uint64_t sequence)
{
    run(oracle, prepare(oracle, LOWER, NULL, sequence));
}
