/* The tables that limits_bench prints: steps of an ideal store, and the store's times and limits
 * that follow from them. All times are nanoseconds. */
#ifndef BB_BENCH_LIMITS_TABLE_H
#define BB_BENCH_LIMITS_TABLE_H

/* The heading of steps, then of rows; phase: the state of the store. */
void limits_table_steps(const char *phase);
void limits_table_step(const char *name, double time);
void limits_table_rows(const char *phase, const char *what);
/* reads: blocks read or copied for one operation of the store; of loads, calls. */
void limits_table_row(const char *name, double time, double limit, double reads);

#endif
