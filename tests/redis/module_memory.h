/* The server's memory functions, over the C library: for code of the module that runs without a
 * server. */
#ifndef BB_TESTS_REDIS_MODULE_MEMORY_H
#define BB_TESTS_REDIS_MODULE_MEMORY_H

/* Sets the pointers of redis/server/redis_module.h. */
void module_memory_use(void);

/* Blocks that are allocated. */
long module_memory_live(void);

/* The n-th request after this call fails, and all later ones; 0: none fails. */
void module_memory_fail(long n);

#endif
