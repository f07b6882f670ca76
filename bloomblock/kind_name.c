/* The names of the kinds, which messages of all layers use. standalone/kind/ implements the
 * kinds. */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "bb/filter.h"

static const char *const names[] = {
    [BB_FILTER_DEFAULT] = "default",
    [BB_FILTER_NONE] = "none",
    [BB_FILTER_RIBBON] = "ribbon",
    [BB_FILTER_BLOCKED_BLOOM] = "blocked-bloom",
    [BB_FILTER_BLOOM] = "bloom",
    [BB_FILTER_SPLIT_BLOCK] = "split-block",
    [BB_FILTER_COUNTING] = "counting",
    [BB_FILTER_SCALABLE] = "scalable",
    [BB_FILTER_PARTITIONED] = "partitioned",
    [BB_FILTER_COUNT_MIN] = "count-min",
};

const char *bb_filter_kind_name(enum bb_filter_kind kind)
{
    size_t index = (size_t)kind;
    return index < BB_ARRAY_LENGTH(names) ? names[index] : NULL;
}

/* "ribbon, bloom" */
static void list_names(uint32_t kinds, char *ret_list, size_t size)
{
    size_t length = 0;
    ret_list[0] = '\0';
    for (size_t i = 0; i < BB_ARRAY_LENGTH(names); i++)
        if ((kinds >> i & 1) != 0 && length < size)
            length += (size_t)snprintf(ret_list + length, size - length, "%s%s",
                                       length == 0 ? "" : ", ", names[i]);
}

enum bb_status bb_filter_kind_find(const char *name, uint32_t kinds, enum bb_filter_kind *ret_kind)
{
    char list[128];
    for (size_t i = 0; i < BB_ARRAY_LENGTH(names); i++) {
        if ((kinds >> i & 1) == 0 || strcmp(names[i], name) != 0)
            continue;
        *ret_kind = (enum bb_filter_kind)i;
        return BB_OK;
    }
    list_names(kinds, list, sizeof(list));
    return bb_fail(BB_INVALID, "\"%s\" is no kind of filter that is possible here; possible are %s",
                   name, list);
}
