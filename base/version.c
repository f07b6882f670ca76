/* See bb/base.h. */
#include "bb/base.h"

const char *bb_version(void)
{
    return BB_VERSION;
}
