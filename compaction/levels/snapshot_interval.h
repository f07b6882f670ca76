/* Snapshots divide the sequences into intervals: (.., s1] (s1, s2] ... (sn, now]. Every reader
 * reads as of the end of an interval. */
#ifndef BB_COMPACTION_LEVELS_SNAPSHOT_INTERVAL_H
#define BB_COMPACTION_LEVELS_SNAPSHOT_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

/* The number of snapshots older than the sequence: 0 is the oldest interval. snapshots:
 * ascending. */
static inline size_t bb_snapshot_interval(const uint64_t *snapshots, size_t snapshot_count,
                                          uint64_t sequence)
{
    size_t low = 0;
    size_t high = snapshot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (snapshots[middle] < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
