/* Comparators of the programs, as LevelDB's users may have. */
#ifndef BB_TESTS_LEVELDB_ORDER_H
#define BB_TESTS_LEVELDB_ORDER_H

#include <leveldb/c.h>

/* Bytewise, backwards. */
leveldb_comparator_t *order_create_reverse(void);
/* By length, then bytewise. Counts its comparisons in *count. */
leveldb_comparator_t *order_create_by_length(long *count);
/* Letters without regard to their case: equates keys of different bytes. */
leveldb_comparator_t *order_create_caseless(void);
/* Numbers of 8 bytes in native order. Ends the program for any other key: a store may only compare
 * keys that were passed to it. */
leveldb_comparator_t *order_create_numbers(void);

#endif
