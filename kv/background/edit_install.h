/* Installs edits, one at a time: makes an edit durable, and then makes its levels current. Readers
 * never see a failed edit. Its tables are removed, or kept as orphans if the manifest may name
 * them. */
#ifndef BB_KV_BACKGROUND_EDIT_INSTALL_H
#define BB_KV_BACKGROUND_EDIT_INSTALL_H

#include "kv/manifest/edit.h"
#include "kv/store/store.h"

/* The levels after an edit. Added tables get a struct bb_table_file, moved tables keep theirs.
 * *ret_levels has one reference, for the caller. */
BB_MUST_CHECK enum bb_status bb_edit_install_levels(struct bb_db *db, struct bb_levels *levels,
                                                    const struct bb_edit *edit,
                                                    struct bb_levels **ret_levels);

/* Called by a worker. Sets the edit's counters. */
BB_MUST_CHECK enum bb_status bb_edit_install(struct bb_db *db, struct bb_edit *edit);

/* Places the tables of an edit, and learns when they become visible. */
struct bb_placing {
    /* Adds the tables to the edit, for these levels. After a failure the caller still owns them.
     * NULL: the edit has its tables. */
    enum bb_status (*place)(void *context, struct bb_levels *levels, struct bb_edit *edit);
    /* Called when the edit is durable and current, before any other edit. May be NULL. */
    void (*placed)(void *context);
    void *context;
    uint64_t sequence; /* of all their entries; later reads use at least this sequence */
    struct bb_write_buffer *flushed; /* the frozen buffer that the edit replaces; may be NULL */
    struct bb_waste_share *share;    /* of the tables: it ends when they count; may be NULL */
    bool drops_index;                /* a table that moves loses its index file */
};
/* Like bb_edit_install. If `placing` has a sequence, the caller is the leader and the memtables are
 * empty. */
BB_MUST_CHECK enum bb_status bb_edit_install_placed(struct bb_db *db, struct bb_edit *edit,
                                                    const struct bb_placing *placing);

/* Called by a worker before other work. Replaces a poisoned manifest (kv/manifest/manifest.h). It
 * accepts no record, so the next output would become an orphan. */
BB_MUST_CHECK enum bb_status bb_edit_install_replace_manifest(struct bb_db *db);

/* Shows the manifest to scrubs, after each change of it. Installing is held, or the store is being
 * opened; the mutex is not held. */
void bb_edit_install_note_manifest(struct bb_db *db);

#endif
