/* The sizes of ClickHouse's index bloom_filter(rate), for comparison and migration.
 *
 * Source: src/Interpreters/BloomFilterHash.h of ClickHouse (calculationBestPractices), whose
 * figures are from Pei Cao's page on Bloom filters (University of Wisconsin, 1998): the rate (1 -
 * e^(-k/b))^k for b bits per key and k probes, to three digits.
 *
 * The mapping from a rate to a row and column of the table:
 *
 *     rate >= 0.283      2 bits, 2 probes
 *     otherwise          the first row whose best entry is not above the rate; in it, the fewest
 *                        probes such that no entry from there to the best is above it. A row is
 *                        skipped if no entry from 1 probe to the best is above the rate; then
 *                        all later rows are skipped too
 *     no row remains     19 bits, 13 probes: 1.09e-4. Row 20 is never reached
 *
 * Rows are skipped in [0.221, 0.237): row 3 begins at 0.237, and all of row 4 is at most 0.221.
 * These rates get 19 bits where 4 would suffice.
 *
 * Pure functions; any thread. */
#ifndef BB_STANDALONE_PLAN_CLICKHOUSE_H
#define BB_STANDALONE_PLAN_CLICKHOUSE_H

#include <stdint.h>

struct bb_clickhouse_sizing {
    uint32_t bits_per_key;
    uint32_t probes;
};

struct bb_clickhouse_sizing bb_clickhouse_sizing(double target_rate);

/* Size in bytes for this many distinct keys. */
uint64_t bb_clickhouse_size(struct bb_clickhouse_sizing sizing, uint64_t key_count);

/* The table: a rate for 2 ... 20 bits per key and 1 ... 14 probes; 0 for missing entries. */
#define BB_CLICKHOUSE_BITS_MAX   20
#define BB_CLICKHOUSE_PROBES_MAX 14
double bb_clickhouse_rate(uint32_t bits_per_key, uint32_t probes);

#endif
