/* Counts of outcomes by store, kind of file and kind of damage, printed as a table. */
#ifndef BB_TESTS_DAMAGE_TALLY_H
#define BB_TESTS_DAMAGE_TALLY_H

#include "tests/damage/damage.h"
#include "tests/damage/verdict.h"

struct tally {
    uint64_t counts[STORE_ENDS][IMAGE_KINDS][DAMAGE_KINDS][OUTCOMES];
};

void tally_add(struct tally *tally, const struct damage *damage, enum outcome outcome);
/* Markdown: a row for each kind of file, and for each store. */
void tally_print(const struct tally *tally, const char *engine);
/* Outcomes that the engine may not have after this damage: the rules of docs/durability.md,
 * "Recovery modes" and "Undetectable truncation". */
bool tally_is_permitted(const struct engine *engine, const struct damage *damage,
                        enum outcome outcome);

#endif
