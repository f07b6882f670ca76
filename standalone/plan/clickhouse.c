/* ClickHouse's table, and the search in it. */
#include "standalone/plan/clickhouse.h"

/* The published figures: the thresholds are these, not the values of the formula. */
static const double rates[BB_CLICKHOUSE_BITS_MAX + 1][BB_CLICKHOUSE_PROBES_MAX] = {
    [2] = {0.393, 0.400},
    [3] = {0.283, 0.237, 0.253},
    [4] = {0.221, 0.155, 0.147, 0.160},
    [5] = {0.181, 0.109, 0.092, 0.092, 0.101},
    [6] = {0.154, 0.0804, 0.0609, 0.0561, 0.0578, 0.0638},
    [7] = {0.133, 0.0618, 0.0423, 0.0359, 0.0347, 0.0364},
    [8] = {0.118, 0.0489, 0.0306, 0.024, 0.0217, 0.0216, 0.0229},
    [9] = {0.105, 0.0397, 0.0228, 0.0166, 0.0141, 0.0133, 0.0135, 0.0145},
    [10] = {0.0952, 0.0329, 0.0174, 0.0118, 0.00943, 0.00844, 0.00819, 0.00846},
    [11] = {0.0869, 0.0276, 0.0136, 0.00864, 0.0065, 0.00552, 0.00513, 0.00509},
    [12] = {0.08, 0.0236, 0.0108, 0.00646, 0.00459, 0.00371, 0.00329, 0.00314},
    [13] = {0.074, 0.0203, 0.00875, 0.00492, 0.00332, 0.00255, 0.00217, 0.00199, 0.00194},
    [14] = {0.0689, 0.0177, 0.00718, 0.00381, 0.00244, 0.00179, 0.00146, 0.00129, 0.00121, 0.0012},
    [15] = {0.0645, 0.0156, 0.00596, 0.003, 0.00183, 0.00128, 0.001, 0.000852, 0.000775, 0.000744},
    [16] = {0.0606, 0.0138, 0.005, 0.00239, 0.00139, 0.000935, 0.000702, 0.000574, 0.000505,
            0.00047, 0.000459},
    [17] = {0.0571, 0.0123, 0.00423, 0.00193, 0.00107, 0.000692, 0.000499, 0.000394, 0.000335,
            0.000302, 0.000287, 0.000284},
    [18] = {0.054, 0.0111, 0.00362, 0.00158, 0.000839, 0.000519, 0.00036, 0.000275, 0.000226,
            0.000198, 0.000183, 0.000176},
    [19] = {0.0513, 0.00998, 0.00312, 0.0013, 0.000663, 0.000394, 0.000264, 0.000194, 0.000155,
            0.000132, 0.000118, 0.000111, 0.000109},
    [20] = {0.0488, 0.00906, 0.0027, 0.00108, 0.00053, 0.000303, 0.000196, 0.00014, 0.000108,
            8.89e-5, 7.77e-5, 7.12e-5, 6.79e-5, 6.71e-5},
};

/* The probes with the lowest rate in a row, as listed by the original. Row 5 has a tie. */
static const uint32_t best_probes[BB_CLICKHOUSE_BITS_MAX + 1] = {
    [2] = 1,   [3] = 2,   [4] = 3,   [5] = 3,   [6] = 4,   [7] = 5,   [8] = 6,
    [9] = 6,   [10] = 7,  [11] = 8,  [12] = 8,  [13] = 9,  [14] = 10, [15] = 10,
    [16] = 11, [17] = 12, [18] = 12, [19] = 13, [20] = 14,
};

#define LOOSEST_RATE 0.283 /* from here on the loosest sizes */
#define ROW_LAST     19    /* that is reached */

double bb_clickhouse_rate(uint32_t bits_per_key, uint32_t probes)
{
    return rates[bits_per_key][probes - 1];
}

/* The fewest probes of a row such that they, the best, and all between reach the rate; 0 if the
 * whole row or no entry does. */
static uint32_t probes_in_row(uint32_t bits_per_key, double target_rate)
{
    uint32_t probes = best_probes[bits_per_key];
    if (bb_clickhouse_rate(bits_per_key, probes) > target_rate)
        return 0;
    while (probes > 1 && bb_clickhouse_rate(bits_per_key, probes - 1) <= target_rate)
        probes--;
    return probes > 1 ? probes : 0;
}

struct bb_clickhouse_sizing bb_clickhouse_sizing(double target_rate)
{
    if (target_rate >= LOOSEST_RATE)
        return (struct bb_clickhouse_sizing){.bits_per_key = 2, .probes = 2};
    for (uint32_t bits_per_key = 2; bits_per_key <= ROW_LAST; bits_per_key++) {
        uint32_t probes = probes_in_row(bits_per_key, target_rate);
        if (probes > 0)
            return (struct bb_clickhouse_sizing){.bits_per_key = bits_per_key, .probes = probes};
    }
    return (struct bb_clickhouse_sizing){.bits_per_key = ROW_LAST, .probes = best_probes[ROW_LAST]};
}

uint64_t bb_clickhouse_size(struct bb_clickhouse_sizing sizing, uint64_t key_count)
{
    return (key_count * sizing.bits_per_key + 7) / 8;
}
