/* Comparators of the programs: what a program of LevelDB may come with. */
#ifndef BB_TESTS_LEVELDB_ORDER_H
#define BB_TESTS_LEVELDB_ORDER_H

#include <leveldb/c.h>

/* Bytewise, backwards. */
leveldb_comparator_t *order_create_reverse(void);
/* By length, then bytewise. Counts its comparisons in *count. */
leveldb_comparator_t *order_create_by_length(long *count);
/* Letters without regard to their case: equates keys of different bytes. */
leveldb_comparator_t *order_create_caseless(void);
/* Numbers of 8 bytes, the machine's way. Ends the program when it is shown anything else: a store may
 * only compare keys that it was given. */
leveldb_comparator_t *order_create_numbers(void);

#endif
