/* See filter_keys.h. */
#include "tools/filter/filter_keys.h"

static enum bb_status visit_all(struct key_reader *reader,
                                enum bb_status (*visit)(void *context, struct bb_bytes key),
                                void *context)
{
    enum bb_status status = BB_OK;
    while (status == BB_OK) {
        struct key_record record = {0};
        status = key_reader_next(reader, &record);
        if (status == BB_OK)
            status = visit(context, record.key);
    }
    return status == BB_NOT_FOUND ? BB_OK : status;
}

enum bb_status filter_keys_visit(const struct filter_keys *keys, const char *label,
                                 char *const *paths, size_t path_count,
                                 enum bb_status (*visit)(void *context, struct bb_bytes key),
                                 void *context)
{
    struct progress progress;
    struct key_reader reader;
    key_reader_init(&reader, paths, path_count);
    reader.is_hex = keys->is_hex;
    reader.terminator = keys->is_null ? '\0' : '\n';
    reader.is_skipping = keys->skipped_count != NULL;
    reader.progress = &progress;
    progress_start(&progress, label, key_reader_size_bytes(paths, path_count), true);
    enum bb_status status = visit_all(&reader, visit, context);
    progress_stop(&progress);
    if (keys->skipped_count != NULL)
        *keys->skipped_count = reader.skipped_count;
    key_reader_deinit(&reader);
    return status;
}
