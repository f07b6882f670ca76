/* The outcome of one damage. */
#ifndef BB_TESTS_DAMAGE_VERDICT_H
#define BB_TESTS_DAMAGE_VERDICT_H

#include "tests/damage/engine.h"

/* If several apply, it is the last. Silent: without an error, an event, a report or a note of the
 * engine. */
enum outcome {
    OUTCOME_NONE,          /* not run */
    OUTCOME_REFUSED,       /* the engine did not open the store */
    OUTCOME_READ_ERROR,    /* a read failed; all others were right */
    OUTCOME_VERIFY,        /* all reads were right, and a verification finds the damage */
    OUTCOME_NO_EFFECT,     /* all reads were right */
    OUTCOME_LOST_REPORTED, /* writes are missing, and the engine reported a loss */
    OUTCOME_TAIL_SILENT,   /* the last writes are missing silently; none of them was synced */
    OUTCOME_END_SILENT,    /* the last writes are missing silently, among them synced ones */
    OUTCOME_LOST_SILENT,   /* other writes are missing silently */
    OUTCOME_WRONG_SILENT,  /* silently, a key shows another value; or bytes that were never written,
                              also with a report */
    OUTCOME_DIED,          /* the process crashed, aborted or did not end */
};
#define OUTCOMES 11

const char *outcome_name(enum outcome outcome);
/* Loads the image, opens it and reads all of it. If all reads are right, also verifies it. */
enum outcome verdict_reach(const struct engine *engine, enum store_end end,
                           const struct store_image *image, const char *directory);

#endif
