/* State shared by the steps of a repair. See repair.h. */
#include "kv/repair/repair.h"

#include <stdarg.h>
#include <stdio.h>

void bb_repair_tell(struct bb_repair *repair, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (repair->options.on_event == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    struct bb_event event = {.kind = BB_EVENT_RECOVERY, .level = -1, .message = text};
    repair->options.on_event(repair->options.event_context, &event);
}

const struct bb_directory_file *bb_repair_find(const struct bb_repair *repair,
                                               enum bb_file_kind kind, uint64_t number)
{
    for (size_t i = 0; i < repair->directory.file_count; i++) {
        const struct bb_directory_file *file = &repair->directory.files[i];
        if (file->is.kind == kind && file->is.number == number)
            return file;
    }
    return NULL;
}

enum bb_status bb_repair_new_number(struct bb_repair *repair, uint64_t *ret_number)
{
    if (repair->next_number > BB_FILE_NUMBER_MAX)
        return bb_directory_fail_used_up(repair->path);
    *ret_number = repair->next_number++;
    return BB_OK;
}

void bb_repair_set_aside(struct bb_repair *repair, const struct bb_directory_file *file)
{
    repair->aside[file - repair->directory.files] = true;
}

void bb_repair_leave(struct bb_repair *repair, const struct bb_directory_file *file,
                     const char *why)
{
    bb_repair_tell(repair, "%s is not taken: %s", file->name, why);
    repair->report.tables_unnamed++;
    bb_repair_set_aside(repair, file);
}

bool bb_repair_lacks_first_log(const struct bb_repair *repair)
{
    const struct bb_manifest_state *state = &repair->state;
    return state->log_number != 0 && !state->log_is_absent &&
           bb_repair_find(repair, BB_FILE_LOG, state->log_number) == NULL;
}
