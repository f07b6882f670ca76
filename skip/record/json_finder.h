/* Finding values in a JSON text without reading the rest: strings and brackets that no path leads into
 * are skipped 32 bytes at a time.
 *
 *     find    reads the value of the record along the tree, and sets every attribute of the pass
 *
 * Two forms with the same results. A value is read where the tree goes on below it, else skipped. The
 * end of an object that is skipped is where brackets, of either kind, are as many closed as opened. One
 * that is read ends at the same place; if it does not read, it is skipped instead: what one attribute is
 * does not depend on which others are wanted.
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
