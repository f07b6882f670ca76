/* Randomness of the operating system, for the file system and for secrets; other code uses the file
 * system's. */
#ifndef BB_BASE_RANDOM_H
#define BB_BASE_RANDOM_H

#include "bb/base.h"

/* Fills buffer. May wait shortly after the machine's start, until there is entropy. BB_IO when
 * refused. */
BB_MUST_CHECK enum bb_status bb_random_fill(void *buffer, size_t size);

#endif
