/* See scan.h. */
#include "tests/damage/scan.h"

#include <string.h>

void scan_init(struct scan *scan, uint32_t shown[WRITES_KEYS])
{
    *scan = (struct scan){.shown = shown};
    memset(shown, 0, WRITES_KEYS * sizeof(*shown));
}

void scan_add(struct scan *scan, struct bb_bytes key, struct bb_bytes value)
{
    uint32_t number = write_key_of(key);
    if (number == WRITES_KEYS || number < scan->next) {
        scan->is_foreign = true;
        return;
    }
    scan->shown[number] = write_number_of(number, value);
    scan->next = number + 1;
}
