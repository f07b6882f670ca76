/* A store with attributes, indexes and rows of CSV, for tests of its index files. */
#ifndef BB_TESTS_SUPPORT_INDEXED_STORE_H
#define BB_TESTS_SUPPORT_INDEXED_STORE_H

#include "tests/support/store.h"

#include "bb/select.h"

static inline void indexed_create_attributes(struct store *store)
{
    assert_ok(bb_db_attribute_create(store->db, "status u64 = csv(1)"));
    assert_ok(bb_db_attribute_create(store->db, "user bytes = csv(2)"));
    assert_ok(bb_db_attribute_create(store->db, "text bytes = csv(3)"));
    assert_ok(bb_db_granule_set(store->db, BB_GRANULE_BYTES_MIN));
}

static inline void indexed_create_indexes(struct store *store)
{
    assert_ok(bb_db_index_create(store->db, "bounds", "min_max(status)"));
    assert_ok(bb_db_index_create(store->db, "statuses", "set(status, values=100)"));
    assert_ok(bb_db_index_create(store->db, "users", "values(user, rate=0.01)"));
    assert_ok(bb_db_index_create(store->db, "words", "tokens(text, rate=0.01)"));
    assert_ok(bb_db_index_create(store->db, "pieces", "ngrams(text, n=3, rate=0.1)"));
    assert_ok(bb_db_index_create(store->db, "column", "column(user)"));
    assert_ok(bb_db_index_create(store->db, "text", "text(text, counts=yes)"));
}

/* Row n: its status, user and words depend only on n and the round. Some statuses and users are
 * NULL. */
static inline size_t indexed_row(uint64_t n, uint64_t round, char row[160])
{
    char status[8] = "";
    char user[16] = "";
    if (n % 11 != 0)
        snprintf(status, sizeof(status), "%u", (unsigned)(200 + n % 7 * 50));
    if (n % 5 != 0)
        snprintf(user, sizeof(user), "user%u", (unsigned)(n / 40));
    return (size_t)snprintf(row, 160, "%s,%s,round%u word%u of a text with some length", status,
                            user, (unsigned)round, (unsigned)(n / 60));
}

static inline void indexed_put_rows(struct store *store, uint64_t first, uint64_t count,
                                    uint64_t round)
{
    char key[16];
    char row[160];
    for (uint64_t n = first; n < first + count; n++) {
        snprintf(key, sizeof(key), "%08u", (unsigned)n);
        size_t size = indexed_row(n, round, row);
        assert_ok(bb_db_put(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of(row, size)));
    }
}

/* Indexes from the beginning, and some tables in more than one level, all with index files. */
static inline void indexed_fill(struct store *store)
{
    indexed_create_attributes(store);
    indexed_create_indexes(store);
    indexed_put_rows(store, 0, 3000, 1);
    assert_ok(bb_db_compact(store->db));
    indexed_put_rows(store, 500, 300, 2);
    assert_ok(bb_db_flush(store->db));
    assert_ok(bb_db_wait_idle(store->db));
}

static inline struct bb_select_account indexed_account(struct bb_db *db, const char *where,
                                                       uint64_t *ret_count)
{
    uint64_t count = 0;
    struct bb_select_account account = {0};
    struct bb_select_options options = {.where = where};
    assert_ok(bb_db_select_count(db, &options, &count, &account));
    if (ret_count != NULL)
        *ret_count = count;
    return account;
}

static inline uint64_t indexed_count(struct bb_db *db, const char *where, bool ignore_indexes)
{
    uint64_t count = 0;
    struct bb_select_options options = {.where = where, .ignore_indexes = ignore_indexes};
    assert_ok(bb_db_select_count(db, &options, &count, NULL));
    return count;
}

static const char *const indexed_conditions[] = {
    "status = 200",
    "status != 250 AND user IS NOT NULL",
    "status IS NULL",
    "user = 'user3'",
    "has_token(text, 'word9')",
    "has_token(text, 'round2') OR status > 450",
    "text LIKE '%ord17%'",
    "NOT (status BETWEEN 200 AND 400)",
};

/* Results are the same with and without indexes, and every index was used. */
static inline void indexed_check(struct bb_db *db)
{
    for (size_t i = 0; i < sizeof(indexed_conditions) / sizeof(indexed_conditions[0]); i++) {
        uint64_t count = 0;
        struct bb_select_account account = indexed_account(db, indexed_conditions[i], &count);
        assert_int_equal(count, indexed_count(db, indexed_conditions[i], true));
        assert_int_equal(account.damaged_indexes, 0);
    }
}

/* All tables have an index file, and it is used. */
static inline void indexed_check_all_built(struct bb_db *db)
{
    struct bb_select_account account = indexed_account(db, "user = 'nobody'", NULL);
    assert_true(account.tables > 0);
    assert_int_equal(account.tables_indexed, account.tables);
    indexed_check(db);
}

/* Names in a directory that end so. */
static inline size_t indexed_count_files(struct bb_file_system *fs, const char *directory,
                                         const char *suffix)
{
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, directory, &names));
    for (size_t i = 0; i < names.count; i++) {
        size_t size = strlen(names.names[i]);
        count +=
            size > strlen(suffix) && strcmp(names.names[i] + size - strlen(suffix), suffix) == 0;
    }
    bb_file_names_deinit(&names);
    return count;
}

/* Of the n-th file of the store with this suffix, in the order of names. */
static inline void indexed_path(struct store *store, const char *suffix, size_t n, char path[300])
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_names names = {0};
    const char *found[1000];
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count && count < 1000; i++) {
        if (strstr(names.names[i], suffix) == NULL)
            continue;
        size_t at = count++;
        for (; at > 0 && strcmp(found[at - 1], names.names[i]) > 0; at--)
            found[at] = found[at - 1];
        found[at] = names.names[i];
    }
    assert_true(n < count);
    snprintf(path, 300, STORE_PATH "/%s", found[n]);
    bb_file_names_deinit(&names);
}

#endif
