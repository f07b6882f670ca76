/* The conditions of skip_bench: as our text, as SQL of ClickHouse, as a literal for grep, and as a
 * predicate on the generator's rows. */
#ifndef BB_BENCH_SKIP_CONDITIONS_H
#define BB_BENCH_SKIP_CONDITIONS_H

#include "bench/planted_log.h"

struct skip_condition {
    const char *name;
    const char *where;
    const char *sql;
    const char *literal; /* that grep finds the same rows by; NULL: it cannot */
    bool (*holds)(const struct planted_facts *facts);
};

extern const struct skip_condition skip_conditions[];
extern const size_t skip_condition_count;

#endif
