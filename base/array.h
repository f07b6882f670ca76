/* Arrays that grow by one element at a time. */
#ifndef BB_BASE_ARRAY_H
#define BB_BASE_ARRAY_H

#include "bb/base.h"

/* Doubles the capacity of an array, with the arguments of bb_array_reserve. */
BB_MUST_CHECK enum bb_status bb_array_grow(void *array, size_t *capacity, size_t element_size,
                                           const char *of_what);

/* Makes space for one more element after `count`. array: points to the pointer to the elements,
 * which is replaced on success only. of_what: the elements in the message of BB_NO_MEMORY. */
BB_MUST_CHECK static inline enum bb_status bb_array_reserve(void *array, size_t count,
                                                            size_t *capacity, size_t element_size,
                                                            const char *of_what)
{
    return count < *capacity ? BB_OK : bb_array_grow(array, capacity, element_size, of_what);
}

#endif
