/* See candidate_source.h. */
#include "kv/select/candidate_source.h"

#include "base/status.h"

enum bb_status bb_candidate_source_report(struct bb_candidate_source *source)
{
    if (source->progress == NULL || source->account.blocks_read % 256 != 0)
        return BB_OK;
    return source->progress(source->progress_context, &source->account)
               ? BB_OK
               : bb_fail(BB_BUSY, "the selection was cancelled");
}
