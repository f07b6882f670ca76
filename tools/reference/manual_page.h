/* Pages of the manual, in man(7): one for the tool and one for each command. */
#ifndef BB_TOOLS_REFERENCE_MANUAL_PAGE_H
#define BB_TOOLS_REFERENCE_MANUAL_PAGE_H

#include "tools/command/command_tables.h"
#include "tools/output/output.h"

/* bloomblock(1). */
void manual_page_write_tool(struct output *out);

/* bloomblock-load(1), bloomblock-filter-create(1). The date of the pages is the one in the
 * environment variable SOURCE_DATE_EPOCH, else today's. */
void manual_page_write(const struct command_tables *tables, struct output *out);

#endif
