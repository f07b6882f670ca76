/* See verdict.h. */
#include "tests/damage/verdict.h"

#include <string.h>

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {
        "not run",       "refused",        "read error",    "verify",
        "no effect",     "lost, reported", "unsynced lost", "end lost silently",
        "lost silently", "wrong",          "died",
    };
    return names[outcome];
}

/* All that a store shows. */
struct sight {
    uint32_t got[WRITES_KEYS];
    uint32_t scanned[WRITES_KEYS];
    /* The scan proves something about the keys below this one. LevelDB and RocksDB skip a damaged
     * block and report it at the end of the scan: their callers get an error, so a failed scan
     * proves nothing. Ours ends at the damage. */
    uint32_t scan_end;
    bool is_foreign;
    bool has_failed; /* a read did */
};

static void see(const struct engine *engine, void *store, struct sight *sight)
{
    struct scan scan;
    *sight = (struct sight){0};
    for (uint32_t key = 0; key < WRITES_KEYS; key++) {
        sight->got[key] = engine->get(store, key);
        sight->has_failed |= sight->got[key] == WRITES_UNKNOWN;
        sight->is_foreign |= sight->got[key] == WRITES_FOREIGN;
    }
    scan_init(&scan, sight->scanned);
    bool is_complete = engine->scan(store, &scan);
    sight->has_failed |= !is_complete;
    sight->scan_end = is_complete ? WRITES_KEYS : engine->is_ours ? scan.next : 0;
    sight->is_foreign |= scan.is_foreign;
    for (uint32_t key = 0; key < WRITES_KEYS; key++)
        sight->is_foreign |= sight->scanned[key] == WRITES_FOREIGN;
}

/* The reads that did not fail show the state after `count` writes. */
static bool shows_state(const struct sight *sight, uint32_t count)
{
    uint32_t state[WRITES_KEYS];
    writes_state(count, state);
    for (uint32_t key = 0; key < WRITES_KEYS; key++) {
        if (sight->got[key] != WRITES_UNKNOWN && sight->got[key] != state[key])
            return false;
    }
    return memcmp(sight->scanned, state, sight->scan_end * sizeof(state[0])) == 0;
}

/* A key shows another value than it should, or one although it should be absent. */
static bool shows_wrong_value(const struct sight *sight)
{
    uint32_t state[WRITES_KEYS];
    writes_state(WRITES_MAX, state);
    for (uint32_t key = 0; key < WRITES_KEYS; key++) {
        uint32_t got = sight->got[key];
        uint32_t scanned = key < sight->scan_end ? sight->scanned[key] : WRITES_ABSENT;
        if ((got != WRITES_UNKNOWN && got != WRITES_ABSENT && got != state[key]) ||
            (scanned != WRITES_ABSENT && scanned != state[key]))
            return true;
    }
    return false;
}

static enum outcome judge_loss(const struct sight *sight, enum store_end end, bool is_reported)
{
    if (sight->is_foreign)
        return OUTCOME_WRONG_SILENT;
    if (is_reported)
        return OUTCOME_LOST_REPORTED;
    for (uint32_t count = 0; count < WRITES_MAX; count++) {
        if (!shows_state(sight, count))
            continue;
        bool is_permitted = end == STORE_KILLED_UNSYNCED && count >= WRITES_REOPENED;
        return is_permitted ? OUTCOME_TAIL_SILENT : OUTCOME_END_SILENT;
    }
    return shows_wrong_value(sight) ? OUTCOME_WRONG_SILENT : OUTCOME_LOST_SILENT;
}

/* Opening may have changed the store: the verification gets the damaged image again. */
static enum outcome judge_unseen(const struct engine *engine, const struct store_image *image,
                                 const char *directory)
{
    if (engine->verify == NULL)
        return OUTCOME_NO_EFFECT;
    engine->load(image, directory);
    return engine->verify(directory) ? OUTCOME_VERIFY : OUTCOME_NO_EFFECT;
}

enum outcome verdict_reach(const struct engine *engine, enum store_end end,
                           const struct store_image *image, const char *directory)
{
    struct sight sight;
    engine->load(image, directory);
    void *store = engine->open(directory);
    if (store == NULL)
        return OUTCOME_REFUSED;
    see(engine, store, &sight);
    bool is_reported = engine->has_reported(store, directory);
    engine->close(store);
    if (sight.is_foreign || !shows_state(&sight, WRITES_MAX))
        return judge_loss(&sight, end, is_reported);
    return sight.has_failed ? OUTCOME_READ_ERROR : judge_unseen(engine, image, directory);
}
