/* See table_check.h. */
#include "sstable/table/table_check.h"

#include "sstable/meta/table_meta.h"

enum bb_status bb_table_check(const char *path, const struct bb_table_options *options,
                              const struct bb_table_meta *wanted,
                              struct bb_table_verify_report *ret_report)
{
    struct bb_table *table = NULL;
    struct bb_table_verify_report report;
    enum bb_status status = bb_table_verify(path, options, &report);
    if (status == BB_OK)
        status = bb_table_open(path, options, &table);
    if (status == BB_OK)
        status = bb_table_meta_check(path, wanted, bb_table_meta(table));
    bb_table_close(table);
    if (status == BB_OK)
        *ret_report = report;
    return status;
}
