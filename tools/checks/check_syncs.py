#!/usr/bin/env python3
"""Every sync of the store has a name: marked in the code, explained in docs/durability.md.

scripts/remove_syncs removes one sync after the other and requires that a crash test fails. This
check makes sure that it finds all of them.
"""
import source_tree
import sync_sites


def _kv(*statements):
    return "/* k */\n\nint k(void)\n{\n" + "".join(f"    {statement}\n" for statement in statements) + "}\n"


CLEAN = {
    "kv/k.c": _kv("status = bb_file_sync(file); /* sync S1 */", "/* sync S2: why */",
                  "if (fs->ops->sync_directory(fs, f(path)) != BB_OK)", "    return 1;", "bb_k_sync_all(db);"),
    "kv/wrap.c": "/* w */\n\nint bb_wrap_sync(int a)\n{\n    return bb_file_sync(a);\n}\n\n"
                 "int bb_k_sync_all(int a)\n{\n    return bb_wrap_sync(a); /* sync S3 */\n}\n",
    "base/file.c": "/* f */\n\nint f(void)\n{\n    return fsync(1);\n}\n",
    "docs/durability.md": "| name | what |\n|---|---|\n| S1 | a |\n| S2 | b |\n| S3 | c |\n",
}

VIOLATIONS = [
    ({"kv/a.c": _kv("status = bb_file_sync(file);")}, "bb_file_sync() has no mark"),
    ({"compaction/a.c": _kv("status = fs->ops->sync_directory(fs, path);")}, "sync_directory() has no mark"),
    ({"kv/a.c": _kv("status = bb_wrap_sync(file);")}, "bb_wrap_sync() has no mark"),
    ({"kv/a.c": _kv("status = bb_file_append(file); /* sync S1 */")}, "S1 belongs to no single sync call"),
    ({"sstable/a.c": _kv("status = bb_file_sync(file); /* sync S4 */")}, "S4 is not in the table"),
    ({"docs/durability.md": "| S1 | a |\n| S2 | b |\n| S3 | c |\n| S4 | d |\n"}, "S4 marks no call"),
]

if __name__ == "__main__":
    source_tree.main(sync_sites.check, CLEAN, VIOLATIONS)
