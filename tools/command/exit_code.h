/* The meaning of the command's exit codes. Documented in docs/tools.md and in `bloomblock --help`;
 * scripts rely on it. */
#ifndef BB_TOOLS_COMMAND_EXIT_CODE_H
#define BB_TOOLS_COMMAND_EXIT_CODE_H

#include "bb/base.h"

enum exit_code {
    EXIT_FOUND = 0,  /* done; the key is there */
    EXIT_ABSENT = 1, /* a key is not there; select: no record matches */
    EXIT_USAGE = 2,  /* the command line, a key or a value is not acceptable */
    EXIT_IO = 3, /* refused by the operating system; store missing or open elsewhere; disk full */
    EXIT_CORRUPT = 4,       /* bytes of a file are damaged */
    EXIT_UNSUPPORTED = 5,   /* a newer format */
    EXIT_INCONSISTENT = 6,  /* measure: the sums of the accounting do not agree */
    EXIT_ABOVE_TARGET = 7,  /* filter: done, but its rate is above its target */
    EXIT_RECOVERED = 8,     /* done, but an opening or a repair has dropped data */
    EXIT_INTERRUPTED = 130, /* Ctrl-C: output right but incomplete; the number that shells use */
};

/* BB_NOT_FOUND is EXIT_IO here: it means that a file or store is missing. An absent key is the
 * caller's to tell. */
enum exit_code exit_code_of(enum bb_status status);

#endif
