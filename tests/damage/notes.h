/* The notes that LevelDB and RocksDB write for people, in the file LOG of the store. */
#ifndef BB_TESTS_DAMAGE_NOTES_H
#define BB_TESTS_DAMAGE_NOTES_H

#include "bb/base.h"

/* Do the notes of the last opening tell of dropped or corrupt data? */
bool notes_report_loss(const char *directory);

#endif
