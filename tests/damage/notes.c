/* See notes.h. */
#include "tests/damage/notes.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool notes_report_loss(const char *directory)
{
    char path[PATH_MAX];
    char line[1024];
    bool is_reported = false;
    snprintf(path, sizeof(path), "%s/LOG", directory);
    FILE *notes = fopen(path, "r");
    if (notes == NULL)
        return false;
    while (!is_reported && fgets(line, sizeof(line), notes) != NULL) {
        is_reported = strstr(line, "ropping ") != NULL || strstr(line, "Corruption") != NULL ||
                      strstr(line, "Ignoring error") != NULL;
    }
    fclose(notes);
    return is_reported;
}
