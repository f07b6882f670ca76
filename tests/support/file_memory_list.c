/* Names in the form of the file seam. A separate file, because it is the only part of the test
 * support that uses the product's allocator: the receiver releases it with bb_file_names_deinit. */
#include "tests/support/file_memory_tree.h"

#include "base/alloc.h"
#include "base/status.h"

enum bb_status bb_memory_list(const struct bb_memory_names *names, struct bb_file_names *ret_list)
{
    struct bb_file_names list = {.names = bb_alloc_zeroed(names->count, sizeof(*list.names))};
    if (list.names == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu names of a directory", names->count);
    for (size_t i = 0; i < names->count; i++) {
        /* Backward, so that no code relies on the order of creation. */
        char *copy = bb_strdup(names->entries[names->count - 1 - i].name);
        if (copy == NULL) {
            bb_file_names_deinit(&list);
            return bb_fail(BB_NO_MEMORY, "no memory for a name of a directory");
        }
        list.names[list.count++] = copy;
    }
    *ret_list = list;
    return BB_OK;
}
