/* See account_report.h. */
#include "tools/records/account_report.h"

#include <math.h>

#include "base/assert.h"
#include "tools/number_text.h"

double account_false_share(const struct bb_select_account *account)
{
    uint64_t read_in_vain = account->granules_read - account->granules_matching;
    uint64_t without_match = read_in_vain + account->granules_excluded;
    return without_match == 0 ? NAN : (double)read_in_vain / (double)without_match;
}

static void write_reading(const struct bb_select_account *a, FILE *file)
{
    fprintf(file, "tables    %s; an index was asked for %s of them, %s were not read at all\n",
            number_grouped(a->tables).text, number_grouped(a->tables_indexed).text,
            number_grouped(a->tables_excluded).text);
    fprintf(file,
            "granules  %s: %s excluded, %s counted unread, %s read, %s of these with a match\n",
            number_grouped(a->granules).text, number_grouped(a->granules_excluded).text,
            number_grouped(a->granules_counted).text, number_grouped(a->granules_read).text,
            number_grouped(a->granules_matching).text);
    double share = account_false_share(a);
    if (!isnan(share))
        fprintf(file, "false     %.3g %% of the granules without a match were read\n", 100 * share);
    fprintf(file, "blocks    %s decoded, %s of them without the bytes that a match has\n",
            number_grouped(a->blocks_read).text, number_grouped(a->blocks_passed).text);
    fprintf(file, "preads    %s of data, %s; %s of indexes, %s\n",
            number_grouped(a->data_reads).text, number_bytes(a->data_read_bytes).text,
            number_grouped(a->index_reads).text, number_bytes(a->index_read_bytes).text);
}

void account_write(const struct bb_select_account *a, FILE *file)
{
    write_reading(a, file);
    fprintf(file, "records   %s examined, %s matching, %s of these hidden, %s returned\n",
            number_grouped(a->records_examined).text, number_grouped(a->records_matching).text,
            number_grouped(a->records_hidden).text, number_grouped(a->records_returned).text);
    if (a->newer_asked > 0)
        fprintf(file,
                "newer     %s runs and memtables asked whether they hide a record, %s blocks\n",
                number_grouped(a->newer_asked).text, number_grouped(a->newer_blocks).text);
    if (a->damaged_indexes > 0)
        fprintf(file, "damaged   %s indexes were passed over: damaged, missing or unknown\n",
                number_grouped(a->damaged_indexes).text);
    fprintf(file, "time      %s, of it %s to ask indexes\n", number_duration(a->nanoseconds).text,
            number_duration(a->index_nanoseconds).text);
}

json_t *account_json(const struct bb_select_account *a)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"tables", a->tables},
        {"tables_indexed", a->tables_indexed},
        {"tables_excluded", a->tables_excluded},
        {"granules", a->granules},
        {"granules_excluded", a->granules_excluded},
        {"granules_counted", a->granules_counted},
        {"granules_read", a->granules_read},
        {"granules_matching", a->granules_matching},
        {"blocks_read", a->blocks_read},
        {"blocks_passed", a->blocks_passed},
        {"data_reads", a->data_reads},
        {"data_read_bytes", a->data_read_bytes},
        {"index_reads", a->index_reads},
        {"index_read_bytes", a->index_read_bytes},
        {"damaged_indexes", a->damaged_indexes},
        {"records_examined", a->records_examined},
        {"records_matching", a->records_matching},
        {"records_hidden", a->records_hidden},
        {"records_returned", a->records_returned},
        {"newer_asked", a->newer_asked},
        {"newer_blocks", a->newer_blocks},
        {"index_nanoseconds", a->index_nanoseconds},
        {"nanoseconds", a->nanoseconds},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < BB_ARRAY_LENGTH(counts); i++)
        json_set_count(object, counts[i].name, counts[i].value);
    json_set_real(object, "false_share", account_false_share(a));
    return object;
}
