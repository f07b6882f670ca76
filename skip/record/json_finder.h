/* Finding values in a JSON text without reading the rest: strings and brackets that no path leads
 * into are skipped 32 bytes at a time.
 *
 *     find    reads the value of the record along the tree, and sets every attribute of the pass
 *
 * Two forms with the same results. A value is read where the tree has nodes below it, else skipped.
 * A skipped object ends where the count of closed brackets, of either kind, equals the count of
 * opened ones. An object that is read ends at the same place. If it cannot be read, it is skipped
 * instead: the value of one attribute does not depend on which others are requested.
 */
#ifndef BB_SKIP_RECORD_JSON_FINDER_H
#define BB_SKIP_RECORD_JSON_FINDER_H

#include "bloomblock/cpu.h"
#include "skip/record/json_tree.h"

void bb_json_find_portable(struct bb_json_tree *tree, const struct bb_pass *pass,
                           struct bb_record *record);
#if BB_CPU_X86
/* REQUIRES: bb_cpu_has(BB_CPU_AVX2). */
void bb_json_find_avx2(struct bb_json_tree *tree, const struct bb_pass *pass,
                       struct bb_record *record);
#endif

#endif
