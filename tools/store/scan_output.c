/* See scan_output.h. */
#include "tools/store/scan_output.h"

#include "base/bytes.h"

void scan_output_init(struct scan_output *scan)
{
    *scan = (struct scan_output){0};
    const struct option list[SCAN_OUTPUT_OPTION_COUNT] = {
        {"from", "KEY", OPTION_TEXT, &scan->range.from, "first key of the range, inclusive"},
        {"to", "KEY", OPTION_TEXT, &scan->range.to, "end of the range, exclusive"},
        {"prefix", "P", OPTION_TEXT, &scan->range.prefix, "keys that begin with these bytes"},
        {"reverse", NULL, OPTION_FLAG, &scan->is_reverse,
         "from the last key of the range to the first"},
        {"limit", "N", OPTION_COUNT, &scan->limit, "maximum number of entries; 0: all"},
        {"keys-only", NULL, OPTION_FLAG, &scan->is_keys_only, "no values"},
        {"count", NULL, OPTION_FLAG, &scan->is_count_only, "only how many there are"},
        {"hex", NULL, OPTION_FLAG, &scan->is_hex,
         "keys and values as hexadecimal digits, in options too"},
        {"json", NULL, OPTION_FLAG, &scan->out.is_json, "print JSON"},
    };
    memcpy(scan->list, list, sizeof(list));
}

struct option_group scan_output_group(const struct scan_output *scan)
{
    return (struct option_group){
        .title = "Options", .options = scan->list, .count = SCAN_OUTPUT_OPTION_COUNT};
}

bool scan_output_wants(const struct scan_output *scan)
{
    bool is_full = scan->limit != 0 && scan->count == scan->limit;
    return !is_full && !scan->out.has_failed;
}

void scan_output_begin(struct scan_output *scan)
{
    if (scan->out.is_json)
        output_print(&scan->out, "{\"entries\": [");
}

static void print_json(struct scan_output *scan, struct bb_bytes key, struct bb_bytes value)
{
    output_print(&scan->out, scan->count == 0 ? "\n" : ",\n");
    json_t *row = json_object();
    json_set_shown(row, "key", key, scan->is_hex);
    if (!scan->is_keys_only)
        json_set_shown(row, "value", value, scan->is_hex);
    output_json_compact(&scan->out, row);
}

static void print_text(struct scan_output *scan, struct bb_bytes key, struct bb_bytes value)
{
    output_bytes(&scan->out, key, scan->is_hex);
    if (!scan->is_keys_only) {
        output_write(&scan->out, bb_bytes_of("\t", 1));
        output_bytes(&scan->out, value, scan->is_hex);
    }
    output_write(&scan->out, bb_bytes_of("\n", 1));
}

void scan_output_add(struct scan_output *scan, struct bb_bytes key, struct bb_bytes value)
{
    if (!scan->is_count_only && scan->out.is_json)
        print_json(scan, key, value);
    else if (!scan->is_count_only)
        print_text(scan, key, value);
    scan->count++;
}

void scan_output_end(struct scan_output *scan, bool is_complete)
{
    if (scan->out.is_json)
        output_print(&scan->out, "\n], \"count\": %llu, \"complete\": %s}\n",
                     (unsigned long long)scan->count, is_complete ? "true" : "false");
    else if (scan->is_count_only)
        output_print(&scan->out, "%llu\n", (unsigned long long)scan->count);
}
