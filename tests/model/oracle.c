/* See oracle.h. */
#include "tests/model/oracle.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/model/version_list.h"

enum statement {
    APPLY,
    DELETE_RANGE,
    GET,
    FIRST,
    AT_OR_AFTER,
    AFTER,
    BEFORE,
    LAST,
    ALL,
    TRUNCATE,
    FORGET,
    LOWER,
    STATEMENT_COUNT,
};

/* Returns the newest version of the next key, because the table is in this order. */
#define FORWARD "ORDER BY key, sequence DESC LIMIT 1"
/* Returns all versions of the key before, the newest last, and then versions of earlier keys. */
#define BACKWARD "ORDER BY key DESC, sequence"

static const char *const texts[STATEMENT_COUNT] = {
    [APPLY] = "INSERT INTO versions VALUES (?1, ?2, ?3)",
    [DELETE_RANGE] = "INSERT INTO versions SELECT DISTINCT key, ?2, 0 FROM versions "
                     "WHERE key >= ?1 AND key < ?3",
    [GET] = "SELECT value FROM versions WHERE key = ?1 AND sequence <= ?2 ORDER BY sequence DESC "
            "LIMIT 1",
    [FIRST] = "SELECT key, value FROM versions WHERE sequence <= ?2 " FORWARD,
    [AT_OR_AFTER] = "SELECT key, value FROM versions WHERE key >= ?1 AND sequence <= ?2 " FORWARD,
    [AFTER] = "SELECT key, value FROM versions WHERE key > ?1 AND sequence <= ?2 " FORWARD,
    [BEFORE] = "SELECT key, value FROM versions WHERE key < ?1 AND sequence <= ?2 " BACKWARD,
    [LAST] = "SELECT key, value FROM versions WHERE sequence <= ?2 " BACKWARD,
    [ALL] = "SELECT key, value, sequence FROM versions ORDER BY key, sequence DESC",
    [TRUNCATE] = "DELETE FROM versions WHERE sequence > ?2",
    [FORGET] = "DELETE FROM versions WHERE key = ?1 AND sequence = ?2",
    [LOWER] = "UPDATE versions SET sequence = ?2 WHERE sequence > ?2",
};

/* One transaction that never ends, so that a statement need not begin and commit its own. */
static const char setup[] =
    "PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN;"
    "CREATE TABLE versions (key BLOB NOT NULL, sequence INTEGER NOT NULL, value BLOB, "
    "PRIMARY KEY (key, sequence DESC)) WITHOUT ROWID";

/* All versions of all keys, in order of keys. */
struct selection {
    sqlite3_stmt *statement; /* NULL: none has begun */
    bool is_backward;        /* the newest version of a key is the last one, not the first one */
    bool has_row;            /* the statement is at the first version of the next key */
};

/* A position in the list. */
struct scan {
    uint64_t sequence;
    bool is_backward;
    size_t at; /* of the next key's newest version; backward: after its oldest one */
};

struct oracle {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    bool is_reverse;
    struct bb_buf encoded[2]; /* the keys that a statement is bound to */
    uint64_t ranges_crossed;
    struct selection selection;
    struct version_list list;
    bool is_listed; /* list has the present contents */
    struct scan scan;
};

static void must(struct oracle *oracle, bool is_fine)
{
    if (is_fine)
        return;
    fprintf(stderr, "oracle: SQLite: %s\n", sqlite3_errmsg(oracle->db));
    abort();
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
    buf->size = 0;
    if (!oracle->is_reverse) { /* the caller's buffer takes the result */
        must(oracle, bb_buf_assign(buf, key) == BB_OK);
        return bb_buf_bytes(buf);
    }
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

/* decoded(key), for conditions of SQL. */
static void answer_decoded(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct bb_buf key = {0};
    struct bb_bytes stored = {.data = sqlite3_value_blob(values[0]),
                              .size = (size_t)sqlite3_value_bytes(values[0])};
    (void)count;
    if (bb_buf_assign(&key, stored) != BB_OK)
        abort();
    decode(sqlite3_user_data(context), &key);
    sqlite3_result_blob(context, key.size == 0 ? (const void *)"" : key.data, (int)key.size,
                        SQLITE_TRANSIENT);
    bb_buf_deinit(&key);
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
    must(oracle, sqlite3_create_function(oracle->db, "decoded", 1, SQLITE_UTF8, oracle,
                                         answer_decoded, NULL, NULL) == SQLITE_OK);
    for (int i = 0; i < STATEMENT_COUNT; i++)
        must(oracle, sqlite3_prepare_v2(oracle->db, texts[i], -1, &oracle->statements[i], NULL) ==
                         SQLITE_OK);
    return oracle;
}

static void end_selection(struct oracle *oracle)
{
    sqlite3_finalize(oracle->selection.statement);
    oracle->selection = (struct selection){0};
}

void oracle_destroy(struct oracle *oracle)
{
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(oracle->statements[i]);
    end_selection(oracle);
    sqlite3_close(oracle->db);
    for (int i = 0; i < 2; i++)
        bb_buf_deinit(&oracle->encoded[i]);
    version_list_deinit(&oracle->list);
    free(oracle);
}

static sqlite3_stmt *prepare(struct oracle *oracle, enum statement which,
                             const struct bb_bytes *key, uint64_t sequence)
{
    sqlite3_stmt *statement = oracle->statements[which];
    sqlite3_reset(statement);
    if (key != NULL)
        bind_bytes(oracle, statement, 1, encode(oracle, 0, *key));
    if (sqlite3_bind_parameter_count(statement) >= 2)
        must(oracle, sqlite3_bind_int64(statement, 2, (sqlite3_int64)sequence) == SQLITE_OK);
    return statement;
}

static void run(struct oracle *oracle, sqlite3_stmt *statement)
{
    oracle->is_listed = false;
    must(oracle, sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_reset(statement);
}

void oracle_apply(struct oracle *oracle, uint64_t sequence, struct bb_bytes key,
                  const struct bb_bytes *value)
{
    sqlite3_stmt *statement = prepare(oracle, APPLY, &key, sequence);
    if (value != NULL)
        bind_bytes(oracle, statement, 3, *value);
    else
        must(oracle, sqlite3_bind_null(statement, 3) == SQLITE_OK);
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

static struct bb_bytes column(sqlite3_stmt *statement, int index)
{
    return (struct bb_bytes){.data = sqlite3_column_blob(statement, index),
                             .size = (size_t)sqlite3_column_bytes(statement, index)};
}

static bool has_row(struct oracle *oracle, sqlite3_stmt *statement)
{
    int step = sqlite3_step(statement);
    must(oracle, step == SQLITE_ROW || step == SQLITE_DONE);
    return step == SQLITE_ROW;
}

static void take_column(sqlite3_stmt *statement, int index, struct bb_buf *buf)
{
    if (bb_buf_assign(buf, column(statement, index)) != BB_OK)
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
static enum oracle_answer take_answer(sqlite3_stmt *statement, int index, struct bb_buf *value)
{
    enum oracle_answer answer = answer_of(sqlite3_column_type(statement, index));
    if (answer == ORACLE_PRESENT)
        take_column(statement, index, value);
    return answer;
}

enum oracle_answer oracle_get(struct oracle *oracle, struct bb_bytes key, uint64_t sequence,
                              struct bb_buf *value)
{
    sqlite3_stmt *statement = prepare(oracle, GET, &key, sequence);
    enum oracle_answer answer =
        has_row(oracle, statement) ? take_answer(statement, 0, value) : ORACLE_NEVER;
    sqlite3_reset(statement);
    return answer;
}

/* The key that the statement returns for *key, into *key; false if there is no such key. */
static bool move(struct oracle *oracle, enum statement which, uint64_t sequence, struct bb_buf *key,
                 struct bb_buf *value, enum oracle_answer *answer)
{
    struct bb_bytes from = bb_buf_bytes(key);
    bool is_backward = which == BEFORE || which == LAST;
    sqlite3_stmt *statement =
        prepare(oracle, which, which == FIRST || which == LAST ? NULL : &from, sequence);
    bool is_found = has_row(oracle, statement);
    if (is_found) {
        take_column(statement, 0, key);
        *answer = take_answer(statement, 1, value);
        while (is_backward && has_row(oracle, statement) &&
               bb_bytes_equal(column(statement, 0), bb_buf_bytes(key)))
            *answer = take_answer(statement, 1, value);
        decode(oracle, key);
    }
    sqlite3_reset(statement);
    return is_found;
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

/* ---- selections ---- */

enum column {
    COLUMN_KEY,
    COLUMN_VALUE,
    COLUMN_MATCHES,
};

static void step(struct oracle *oracle)
{
    oracle->selection.has_row = has_row(oracle, oracle->selection.statement);
}

static const char *bound(const struct bb_bytes *key, const char *text)
{
    return key == NULL ? "" : text;
}

/* The statement keeps a copy, because other calls may encode keys before it ends. */
static void bind_bound(struct oracle *oracle, sqlite3_stmt *statement, int index,
                       const struct bb_bytes *key)
{
    if (key == NULL)
        return;
    struct bb_bytes bytes = encode(oracle, 0, *key);
    const void *data = bytes.size == 0 ? (const void *)"" : bytes.data;
    must(oracle,
         sqlite3_bind_blob(statement, index, data, (int)bytes.size, SQLITE_TRANSIENT) == SQLITE_OK);
}

/* The condition has decoded keys, bounds and order have stored ones. */
#define VERSIONS                                                                                   \
    "(SELECT key AS stored, %s AS key, sequence, value FROM versions WHERE sequence <= ?2%s%s) v"

/* Reads the table once: a search for the newest version of each key takes longer. */
void oracle_select(struct oracle *oracle, uint64_t sequence, const char *where,
                   const struct bb_key_range *range, bool is_backward)
{
    char text[8192];
    int size = snprintf(
        text, sizeof(text), "SELECT stored, value, (%s) FROM " VERSIONS " ORDER BY %s", where,
        oracle->is_reverse ? "decoded(key)" : "key", bound(range->low, " AND versions.key >= ?1"),
        bound(range->high, " AND versions.key < ?3"),
        is_backward ? "stored DESC, sequence" : "stored, sequence DESC");
    must(oracle, size < (int)sizeof(text));
    end_selection(oracle);
    sqlite3_stmt **statement = &oracle->selection.statement;
    must(oracle, sqlite3_prepare_v2(oracle->db, text, -1, statement, NULL) == SQLITE_OK);
    must(oracle, sqlite3_bind_int64(*statement, 2, (sqlite3_int64)sequence) == SQLITE_OK);
    bind_bound(oracle, *statement, 1, range->low);
    bind_bound(oracle, *statement, 3, range->high);
    oracle->selection.is_backward = is_backward;
    step(oracle);
}

/* Takes the value of a version that is present and satisfies the condition. */
static bool take_version(const struct selection *selection, struct bb_buf *value)
{
    sqlite3_stmt *statement = selection->statement;
    return sqlite3_column_int(statement, COLUMN_MATCHES) != 0 &&
           take_answer(statement, COLUMN_VALUE, value) == ORACLE_PRESENT;
}

static bool is_of_key(const struct selection *selection, const struct bb_buf *key)
{
    return bb_bytes_equal(column(selection->statement, COLUMN_KEY), bb_buf_bytes(key));
}

/* Passes all versions of the next key; true when the newest one belongs to the selection. */
static bool take_key(struct oracle *oracle, struct bb_buf *key, struct bb_buf *value)
{
    struct selection *selection = &oracle->selection;
    take_column(selection->statement, COLUMN_KEY, key);
    bool is_selected = take_version(selection, value);
    for (step(oracle); selection->has_row && is_of_key(selection, key); step(oracle)) {
        if (selection->is_backward)
            is_selected = take_version(selection, value);
    }
    return is_selected;
}

bool oracle_select_next(struct oracle *oracle, struct bb_buf *key, struct bb_buf *value)
{
    bool is_selected = false;
    while (!is_selected && oracle->selection.has_row)
        is_selected = take_key(oracle, key, value);
    if (is_selected)
        decode(oracle, key);
    else
        end_selection(oracle);
    return is_selected;
}

/* ---- scans ---- */

static void read_list(struct oracle *oracle)
{
    struct bb_buf key = {0};
    sqlite3_stmt *statement = prepare(oracle, ALL, NULL, 0);
    version_list_reset(&oracle->list);
    while (has_row(oracle, statement)) {
        bool is_present = answer_of(sqlite3_column_type(statement, 1)) == ORACLE_PRESENT;
        struct bb_bytes value = column(statement, 1);
        take_column(statement, 0, &key);
        decode(oracle, &key);
        version_list_add(&oracle->list, bb_buf_bytes(&key),
                         (uint64_t)sqlite3_column_int64(statement, 2), is_present ? &value : NULL);
    }
    sqlite3_reset(statement);
    bb_buf_deinit(&key);
    oracle->is_listed = true;
}

void oracle_scan(struct oracle *oracle, uint64_t sequence, bool is_backward)
{
    if (!oracle->is_listed)
        read_list(oracle);
    oracle->scan = (struct scan){.sequence = sequence,
                                 .is_backward = is_backward,
                                 .at = is_backward ? oracle->list.count : 0};
}

/* Skips the next key. Index of its newest version; SIZE_MAX without one at the sequence. */
static size_t skip_key(const struct version_list *list, struct scan *scan)
{
    size_t end = 0;
    size_t first = scan->is_backward ? list->versions[scan->at - 1].first : scan->at;
    size_t newest = version_list_newest(list, first, scan->sequence, &end);
    scan->at = scan->is_backward ? first : end;
    return newest;
}

bool oracle_scan_next(struct oracle *oracle, struct bb_bytes *key, struct bb_bytes *value)
{
    struct scan *scan = &oracle->scan;
    const struct version_list *list = &oracle->list;
    must(oracle, oracle->is_listed);
    while (scan->at != (scan->is_backward ? 0 : list->count)) {
        size_t newest = skip_key(list, scan);
        if (newest == SIZE_MAX || !list->versions[newest].is_present)
            continue;
        *key = version_list_key(list, newest);
        *value = version_list_value(list, newest);
        return true;
    }
    return false;
}

/* ---- versions that are forgotten ---- */

void oracle_truncate(struct oracle *oracle, uint64_t sequence)
{
    run(oracle, prepare(oracle, TRUNCATE, NULL, sequence));
}

static void forget(struct oracle *oracle, size_t index)
{
    struct bb_bytes key = version_list_key(&oracle->list, index);
    run(oracle, prepare(oracle, FORGET, &key, oracle->list.versions[index].sequence));
}

void oracle_prune(struct oracle *oracle, uint64_t sequence_min)
{
    const struct version_list *list = &oracle->list;
    if (!oracle->is_listed)
        read_list(oracle);
    for (size_t at = 0, end = 0; at < list->count; at = end) {
        size_t newest = version_list_newest(list, at, sequence_min, &end);
        for (size_t i = newest == SIZE_MAX ? end : newest + 1; i < end; i++)
            forget(oracle, i);
    }
}

void oracle_lower(struct oracle *oracle, uint64_t sequence)
{
    run(oracle, prepare(oracle, LOWER, NULL, sequence));
}
