/* The entries of a forward scan of an engine. */
#ifndef BB_TESTS_DAMAGE_SCAN_H
#define BB_TESTS_DAMAGE_SCAN_H

#include "tests/damage/writes.h"

struct scan {
    uint32_t *shown; /* WRITES_KEYS of them; borrowed */
    uint32_t next;   /* keys below it were passed */
    bool is_foreign; /* a key that was never written, or out of order */
};

/* Everything is absent at first. */
void scan_init(struct scan *scan, uint32_t shown[WRITES_KEYS]);
void scan_add(struct scan *scan, struct bb_bytes key, struct bb_bytes value);

#endif
