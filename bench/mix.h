/* The mixed workloads: the phases of each, and the operations of a phase.
 *
 * A phase draws operations of several kinds, each with its percentage. It draws all keys from one
 * distribution. docs/benchmarks.md, "Workloads", describes all of them.
 */
#ifndef BB_BENCH_MIX_H
#define BB_BENCH_MIX_H

#include "bench/runner.h"

#define MIX_PHASES_MAX 5

enum mix_kind {
    MIX_GET,
    MIX_PUT,    /* a new version of a key */
    MIX_INSERT, /* a key that was never stored */
    MIX_DELETE,
    MIX_MODIFY,   /* a get and then a put of one key: one operation */
    MIX_SEEK,     /* an iterator from a key on */
    MIX_GET_MANY, /* one call for several keys */
    MIX_RANGE,    /* an iterator with bounds that enclose a number of entries */
    MIX_PREFIX,   /* an iterator over the keys with a prefix */
    MIX_KIND_COUNT,
};

/* Which key. */
enum mix_choice {
    MIX_UNIFORM,
    MIX_ZIPF,       /* by popularity, independent of the order of keys and of the load */
    MIX_LATEST,     /* by popularity, the newest key first */
    MIX_NEVER,      /* a key that was never stored */
    MIX_EACH,       /* in no particular order, each at most once */
    MIX_HOT_RANGES, /* neighbours in the order of keys have similar popularity */
};

/* Order of the keys of the load. */
enum mix_load { MIX_LOAD_RANDOM, MIX_LOAD_IN_ORDER, MIX_LOAD_REVERSE };

/* Number of entries of a seek. */
enum mix_length {
    MIX_LENGTH_FIXED,
    MIX_LENGTH_UNIFORM, /* 1 to count */
    MIX_LENGTH_PARETO,  /* 1 to count, few are long */
};

struct mix_phase {
    enum phase phase;
    enum mix_choice choice;
    unsigned percents[MIX_KIND_COUNT];
    unsigned count;         /* keys of MIX_GET_MANY, entries of MIX_SEEK and MIX_RANGE */
    enum mix_length length; /* of MIX_SEEK */
    unsigned keys_percent;  /* operations in percent of the keys; 0: as the options specify */
};

struct mix {
    const char *name;
    enum mix_load load;
    struct mix_phase phases[MIX_PHASES_MAX]; /* the first with percentages of 0 ends them */
};

/* NULL: there is none of this name. */
const struct mix *mix_find(const char *name);
/* The i-th name; NULL after the last one. */
const char *mix_name(size_t i);
/* 0 after the last phase. */
unsigned mix_percents(const struct mix_phase *phase);
/* Whether a phase inserts keys. */
bool mix_inserts(const struct mix *mix);

#endif
