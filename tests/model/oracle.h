/* The expected results of the store, kept by SQLite in memory: every version of every key.
 *
 * Table: (key BLOB, sequence INTEGER, value BLOB, NULL for a deletion, 0 for one in a range),
 * primary key (key, sequence), WITHOUT ROWID, binary collation. Any failure of SQLite ends the
 * process: a test without its oracle is meaningless.
 */
#ifndef BB_TESTS_MODEL_ORACLE_H
#define BB_TESTS_MODEL_ORACLE_H

#include "base/buf.h"
#include "bb/table.h"

struct oracle;

/* is_reverse: keys order bytewise, the other way round. */
struct oracle *oracle_create(bool is_reverse);
void oracle_destroy(struct oracle *oracle);

/* Deletes all keys from low, inclusive, to high, exclusive. */
void oracle_delete_range(struct oracle *oracle, uint64_t sequence, struct bb_bytes low,
                         struct bb_bytes high);
/* value NULL: a deletion. */
void oracle_apply(struct oracle *oracle, uint64_t sequence, struct bb_bytes key,
                  const struct bb_bytes *value);

enum oracle_answer {
    ORACLE_NEVER,         /* no version up to the sequence */
    ORACLE_DELETED,       /* the newest one is a deletion */
    ORACLE_DELETED_RANGE, /* the key is in a range that was deleted since */
    ORACLE_PRESENT,
};
/* The newest version of key up to sequence; its value goes to *value when it is present. */
enum oracle_answer oracle_get(struct oracle *oracle, struct bb_bytes key, uint64_t sequence,
                              struct bb_buf *value);

/* The first present key of all. */
bool oracle_first(struct oracle *oracle, uint64_t sequence, struct bb_buf *key,
                  struct bb_buf *value);
/* The first present key at or after *key (is_after: strictly after), which it replaces; false at
 * the end. */
bool oracle_seek(struct oracle *oracle, uint64_t sequence, bool is_after, struct bb_buf *key,
                 struct bb_buf *value);
/* The last present key strictly before *key, which it replaces; false at the beginning. */
bool oracle_before(struct oracle *oracle, uint64_t sequence, struct bb_buf *key,
                   struct bb_buf *value);
/* The last present key of all. */
bool oracle_last(struct oracle *oracle, uint64_t sequence, struct bb_buf *key,
                 struct bb_buf *value);

/* Begins to show the present keys of a range at the sequence that satisfy a condition of SQL over
 * v.key and v.value, in order of keys. */
void oracle_select(struct oracle *oracle, uint64_t sequence, const char *where,
                   const struct bb_key_range *range, bool is_backward);
/* The next one; false at the end. */
bool oracle_select_next(struct oracle *oracle, struct bb_buf *key, struct bb_buf *value);

/* Begins to show all present keys at the sequence, in order of keys. Scans without a change between
 * them read SQLite's table once. */
void oracle_scan(struct oracle *oracle, uint64_t sequence, bool is_backward);
/* The next one, borrowed until the oracle changes; false at the end. */
bool oracle_scan_next(struct oracle *oracle, struct bb_bytes *key, struct bb_bytes *value);

/* How many keys of deleted ranges the moves above have passed so far. */
uint64_t oracle_ranges_crossed(const struct oracle *oracle);

/* Forgets everything after the sequence: the data lost in a crash. */
void oracle_truncate(struct oracle *oracle, uint64_t sequence);
/* Renumbers versions after the sequence to that sequence. REQUIRES: pruned to the last version of
 * each key. */
void oracle_lower(struct oracle *oracle, uint64_t sequence);
/* Forgets versions that are invisible at sequence_min and later. */
void oracle_prune(struct oracle *oracle, uint64_t sequence_min);

#endif
