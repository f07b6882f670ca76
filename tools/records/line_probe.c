/* See line_probe.h. */
#include "tools/records/line_probe.h"

#include <stdio.h>

enum bb_status line_probe_init(struct line_probe *probe, const char *extractor)
{
    char definition[64];
    *probe = (struct line_probe){0};
    if (extractor[0] == '\0')
        return BB_OK;
    snprintf(probe->extractor, sizeof(probe->extractor), "%s", extractor);
    snprintf(definition, sizeof(definition), "probed bytes = %s", extractor);
    enum bb_status status = bb_schema_create(&probe->schema);
    if (status == BB_OK)
        status = bb_schema_add(probe->schema, definition);
    return status == BB_OK ? bb_record_reader_create(probe->schema, NULL, &probe->reader) : status;
}

void line_probe_deinit(struct line_probe *probe)
{
    bb_record_reader_destroy(probe->reader);
    bb_schema_destroy(probe->schema);
}

enum bb_status line_probe_look(struct line_probe *probe, struct bb_bytes line)
{
    struct bb_attribute found = {0};
    if (probe->reader == NULL || probe->examined_lines >= LINE_PROBE_LINES_MAX)
        return BB_OK;
    enum bb_status status = bb_record_read(probe->reader, (struct bb_bytes){0}, line, &found);
    if (status != BB_OK)
        return status;
    bool has_text = found.state == BB_ATTRIBUTE_PRESENT || found.state == BB_ATTRIBUTE_NULL;
    probe->examined_lines++;
    probe->lines_without += has_text ? 0 : 1;
    return BB_OK;
}
