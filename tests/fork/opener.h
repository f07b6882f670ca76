/* The actions of the process that opens the store, and of its children. Neither can use cmocka: a
 * failure is a line on stderr and the end of the process. */
#ifndef BB_TESTS_FORK_OPENER_H
#define BB_TESTS_FORK_OPENER_H

#include <stdatomic.h>
#include <sys/types.h>

#include "tests/fork/fork_run.h"

#define FORK_TIMEOUT_SECONDS 120
#define FORK_ROW_SIZE_MAX    1024

/* Shared by all processes of a run. */
struct fork_board {
    _Atomic uint64_t acknowledged[FORK_WRITERS_MAX + 1]; /* rows of each thread, from 0 on */
    _Atomic uint64_t heirs;                              /* rows of FORK_CHILD_SUCCEEDS */
    _Atomic uint64_t children;                           /* that outlive the opener, and run */
    _Atomic uint32_t is_over;     /* the opener is gone, and they may continue */
    _Atomic uint32_t may_succeed; /* and the test has seen the store */
};

struct fork_stage {
    const struct fork_plan *plan;
    struct fork_board *board;
    const char *directory;
};

/* Never returns. */
_Noreturn void fork_opener_run(const struct fork_stage *stage);

/* The key and the value of a thread's n-th row. */
size_t fork_row(unsigned thread, uint64_t row, char *key, size_t key_size, char *value);

struct bb_db_options fork_options(const struct fork_plan *plan);

/* Ends the process unless it is so. */
#define FORK_CHECK(condition) fork_check((condition), #condition, __FILE__, __LINE__)
void fork_check(bool condition, const char *what, const char *file, int line);

#endif
