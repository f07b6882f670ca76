/* See comparator.h. */
#include "base/comparator.h"

#include "base/status.h"

const char *bb_comparator_name(const struct bb_comparator *comparator)
{
    return comparator == NULL ? "bytewise" : comparator->name;
}

enum bb_status bb_comparator_check(const struct bb_comparator *comparator)
{
    if (comparator == NULL)
        return BB_OK;
    if (comparator->name == NULL || comparator->name[0] == 0)
        return bb_fail(BB_INVALID, "option comparator has no name");
    if (comparator->compare == NULL)
        return bb_fail(BB_INVALID, "option comparator (\"%.100s\") has no function compare",
                       comparator->name);
    return BB_OK;
}
