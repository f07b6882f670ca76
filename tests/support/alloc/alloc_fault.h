/* The allocation seam with failures: defines the same symbols as base/alloc.c and replaces it at
 * link time in every test whose file name ends in _alloc_test.c.
 *
 * Only the product's allocations are counted: the support code of the tests uses the C library.
 * Threads: the counters are atomic; a sweep is meaningful where the scenario allocates from one
 * thread, because only then the n-th allocation is the same in every run.
 */
#ifndef BB_TESTS_SUPPORT_ALLOC_ALLOC_FAULT_H
#define BB_TESTS_SUPPORT_ALLOC_ALLOC_FAULT_H

#include "bb/base.h"

/* The n-th allocation (1 is the next) returns NULL; all later ones too when lasting. */
void bb_alloc_fault_arm(uint64_t n, bool lasting);
void bb_alloc_fault_disarm(void);
/* How many allocations failed since bb_alloc_fault_arm. */
uint64_t bb_alloc_fault_failures(void);
/* The number of requested allocations since the start of the process; growing a block counts
 * too. */
uint64_t bb_alloc_fault_requests(void);
/* Blocks that are allocated and not yet released. */
uint64_t bb_alloc_fault_live(void);
/* Bytes of these, as the C library counts them; and the most there were since the last call of
 * bb_alloc_fault_peak_reset. A block that grows counts once. */
uint64_t bb_alloc_fault_bytes(void);
void bb_alloc_fault_peak_reset(void);
uint64_t bb_alloc_fault_peak(void);

/* Runs scenario repeatedly, with the 1st, 2nd, 3rd ... allocation failing, until one run has no
 * failure: each n once with only that allocation failing, and once with all later ones failing too.
 * scenario sets up, works, and releases everything in one call, and returns its first failure.
 * After each run it is asserted that
 *   - a run with a failure returned BB_NO_MEMORY with a message (or BB_OK, if may_succeed: for
 *     scenarios in which the product can work without some of the memory), and a run without one
 *     returned BB_OK;
 *   - the number of live blocks is unchanged.
 * Returns the number of allocations of the scenario, so that a test can assert that it is not 0.
 */
uint64_t bb_alloc_fault_sweep(enum bb_status (*scenario)(void *context), void *context,
                              bool may_succeed);

#endif
