/* The sizes of ClickHouse's index bloom_filter(rate), for those who compare or move from there.
 *
 * Source: src/Interpreters/BloomFilterHash.h of ClickHouse (calculationBestPractices), whose
 * figures are those of Pei Cao's page on Bloom filters (University of Wisconsin, 1998): the rate
 * (1 - e^(-k/b))^k for b bits per key and k probes, to three digits.
 *
 * The way from a rate to a row and column of the table:
 *
 *     rate >= 0.283      2 bits, 2 probes
 *     else               the first row of which the best entry is not above the rate; in it the
 *                        fewest probes which, and all more up to the best of which, are not above;
 *                        but a row all of which is not above is passed over, and so are all after
 *     no row is left     19 bits, 13 probes: 1.09e-4. Row 20 is never reached
 *
 * That a row is passed over happens in [0.221, 0.237): row 3 begins at 0.237, and of row 4 all is
 * at most 0.221. These rates get 19 bits where 4 do.
 *
 * Pure functions; any thread.
 */
#ifndef BB_BLOOMBLOCK_SIZING_CLICKHOUSE_H
#define BB_BLOOMBLOCK_SIZING_CLICKHOUSE_H

#include <stdint.h>

struct bb_clickhouse_sizing {
    uint32_t bits_per_key;
    uint32_t probes;
};

struct bb_clickhouse_sizing bb_clickhouse_sizing(double target_rate);

/* Bytes of bits for so many distinct keys. */
uint64_t bb_clickhouse_size(struct bb_clickhouse_sizing sizing, uint64_t key_count);

/* The table: a rate for 2 ... 20 bits per key and 1 ... 14 probes; 0 where it has none. */
#define BB_CLICKHOUSE_BITS_MAX   20
#define BB_CLICKHOUSE_PROBES_MAX 14
double bb_clickhouse_rate(uint32_t bits_per_key, uint32_t probes);

#endif
