/* Numbers as text. bb/record.h is the only definition of numbers: extractors and readers of the
 * numbers of a condition call these.
 *
 * All of the text must be the number. False when it is no number or out of range; *ret_value is
 * then unchanged. Threads: any.
 */
#ifndef BB_SKIP_RECORD_NUMBER_H
#define BB_SKIP_RECORD_NUMBER_H

#include "bb/base.h"

bool bb_number_u64(struct bb_bytes text, uint64_t *ret_value);
bool bb_number_i64(struct bb_bytes text, int64_t *ret_value);
/* The nearest double, ties to even, in every locale. */
bool bb_number_f64(struct bb_bytes text, double *ret_value);

static inline bool bb_number_is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* The value of a hexadecimal digit in either case; -1 for any other byte. */
static inline int bb_number_hex_digit(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    if (bb_number_is_digit(byte))
        return byte - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

#endif
