/* Calls with a point at which they stop, and steps of another thread. */
#ifndef BB_TESTS_INTERLEAVING_ACTS_H
#define BB_TESTS_INTERLEAVING_ACTS_H

#include "tests/interleaving/stage.h"

struct act {
    const char *name; /* "a flush stops before the sync of its table" */
    void (*run)(struct stage *stage);
    struct point point;
    void (*check)(struct bb_db *db); /* its effect; NULL: none */
    enum stage_state state;          /* of the store before the call */
    bool is_read;                    /* no read may run while the store is closed */
    const char *outcomes; /* per step: r: it ends before the call continues; w: it waits */
};
extern const struct act acts[];
extern const size_t act_count;

struct step {
    const char *name;
    void (*run)(struct stage *stage);
    void (*check)(struct bb_db *db); /* also in an image of a crash after it; NULL: no check */
};
extern const struct step steps[];
extern const size_t step_count;

/* In steps.c, and used by acts too. */
void run_flush(struct stage *stage);
void run_compact(struct stage *stage);
void run_ingest(struct stage *stage, const char *key);
void run_checkpoint(struct stage *stage, const char *directory);
void run_scrub(struct stage *stage);
void run_materialize(struct stage *stage);
void run_sizes(struct stage *stage);
void run_select(struct stage *stage);
void run_refresh(struct stage *stage);

#endif
