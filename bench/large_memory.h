/* Memory that a benchmark reads at random, in large pages if the system provides them, as the
 * filters of a store are. With small pages, the limits that are measured on it would be too high.
 */
#ifndef BB_BENCH_LARGE_MEMORY_H
#define BB_BENCH_LARGE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Not zeroed, at the beginning of a cache line; ends the process when memory runs out. Owned:
 * free. */
uint8_t *large_memory_allocate(size_t size);

#endif
