/* See table_dump.h: the unreadable parts, each once. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tools/output/escape.h"
#include "tools/dump/table_dump.h"

bool table_dump_found_damage(const struct table_dump *dump)
{
    return dump->damaged.size > 0;
}

static bool is_known(const struct table_dump *dump, uint64_t offset)
{
    for (size_t i = 0; i < dump->damaged.size; i += sizeof(offset)) {
        if (memcmp(dump->damaged.data + i, &offset, sizeof(offset)) == 0)
            return true;
    }
    return false;
}

static enum bb_status note(struct table_dump *dump, uint64_t offset, const struct bb_buf *text)
{
    if (dump->damaged.size == 0)
        snprintf(dump->first_damage, sizeof(dump->first_damage), "%.*s", (int)text->size,
                 (const char *)text->data);
    json_array_append_new(dump->damages, json_stringn((const char *)text->data, text->size));
    return bb_buf_append(&dump->damaged, &offset, sizeof(offset));
}

/* "MESSAGE; lost are keys from FIRST to END" */
static enum bb_status describe_damage(const char *message, struct bb_bytes first_key,
                                      struct bb_bytes end_key, struct bb_buf *text)
{
    enum bb_status status = bb_buf_print(text, "%s; lost are keys from \"", message);
    if (status == BB_OK)
        status = escape_append(text, first_key, ESCAPE_ALL);
    if (status == BB_OK)
        status = bb_buf_print(text, "\" to \"");
    if (status == BB_OK)
        status = escape_append(text, end_key, ESCAPE_ALL);
    if (status == BB_OK)
        status = bb_buf_print(text, "\"");
    return status;
}

enum bb_status table_dump_note_damage(struct table_dump *dump, uint64_t offset, const char *message,
                                      struct bb_bytes first_key, struct bb_bytes end_key)
{
    if (is_known(dump, offset))
        return BB_OK;
    struct bb_buf text = {0};
    enum bb_status status = describe_damage(message, first_key, end_key, &text);
    if (status == BB_OK)
        status = note(dump, offset, &text);
    bb_buf_deinit(&text);
    return status;
}

enum bb_status table_dump_note_filters(struct table_dump *dump, uint32_t page_index)
{
    uint64_t offset = dump->table->root.pages[page_index].page_offset;
    if (is_known(dump, offset))
        return BB_OK;
    struct bb_buf text = {0};
    enum bb_status status =
        bb_buf_print(&text,
                     "%s: at offset %" PRIu64 ": the filters of index page %" PRIu32
                     " are damaged; no key is lost",
                     dump->table->file->path, offset, page_index);
    if (status == BB_OK)
        status = note(dump, offset, &text);
    bb_buf_deinit(&text);
    return status;
}

enum bb_status table_dump_note_table_filter(struct table_dump *dump)
{
    const struct bb_section *section =
        bb_table_directory_find(&dump->table->directory, BB_SECTION_TABLE_FILTER);
    uint64_t offset = section == NULL ? dump->table->footer.directory_offset : section->offset;
    struct bb_buf text = {0};
    enum bb_status status = bb_buf_print(
        &text, "%s: at offset %" PRIu64 ": the table filter is damaged; no key is lost",
        dump->table->file->path, offset);
    if (status == BB_OK)
        status = note(dump, offset, &text);
    bb_buf_deinit(&text);
    return status;
}
