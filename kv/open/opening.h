/* One attempt to open a store for writing: docs/durability.md, "Opening".
 * Threads: the opener, or the leader of a store that waits for space (kv/open/resume.h). */
#ifndef BB_KV_OPEN_OPENING_H
#define BB_KV_OPEN_OPENING_H

#include "kv/directory/directory.h"
#include "kv/manifest/manifest.h"
#include "kv/recovery/replay.h"
#include "kv/store/store.h"

/* State of an opening, passed from step to step. */
struct bb_opening {
    struct bb_db *db;
    struct bb_directory directory;
    struct bb_manifest_state state;
    struct bb_manifest_report manifest;
    struct bb_levels *levels;
    struct bb_replay_report replay;
    uint64_t tables_set_aside;
    bool made_directory;
    bool made_lock; /* there was no LOCK */
    bool is_at_rest;
    /* Made by this attempt, and handed to the store when everything has succeeded. */
    uint64_t first_number; /* the attempt's files have numbers from here on */
    bool is_publishing;    /* CURRENT may name the attempt's manifest */
    struct bb_write_buffer *buffer;
    struct bb_view *blank;
    struct bb_manifest *manifest_in_force;
};

/* Creates the directory if needed, checks that it may contain a store, and locks it. */
BB_MUST_CHECK enum bb_status bb_opening_prepare(struct bb_opening *opening);
/* On success the store has the recovered data and accepts writes. REQUIRES: the lock is held. */
BB_MUST_CHECK enum bb_status bb_opening_recover(struct bb_opening *opening);
/* Undoes an attempt that found no space: removes everything that it made, including files. Returns
 * false when its files may be needed already, or when that is unknown. Keeps the thread's latest
 * failure. */
bool bb_opening_undo(struct bb_opening *opening);
/* After a failure: removes the LOCK that the opening made, and the directory that it made, if it is
 * then empty. Keeps the thread's latest failure. */
void bb_opening_leave(struct bb_opening *opening);
void bb_opening_deinit(struct bb_opening *opening);

#endif
