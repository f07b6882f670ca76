#!/usr/bin/env python3
"""A function that other files can call carries its file's noun, as bb_block_cache_find.

- The noun is the file's name, in the singular or plural, without the suffix of a variant for a
  processor or a system. A function of a _posix.c file may carry the seam's noun: bb_posix_list.
- A .c file without a header of its own is a part of a noun: table_read.c is a part of table.h, and
  its functions may carry that noun.
- The public interface (include/bb) is excepted, and so is EXCEPTIONS.
"""
import posixpath
import re

import c_source
import source_tree

LAYERS = ("base/", "bloomblock/", "standalone/", "skip/", "sstable/", "compaction/", "kv/")
# Prefixes or names that functions of a file may have instead of its noun.
EXCEPTIONS = {
    "base/alloc.c": (("bb_free", "bb_realloc"), "the names of the C functions that they replace"),
    "base/alloc_text.c": (("bb_strdup",), "the name of the C function that it replaces"),
    "base/coding.c": (("bb_append_", "bb_decode_", "bb_store_varint", "bb_varint_size"),
                      "an encoding is named by its verb and its type"),
    "base/status.c": (("bb_fail", "bb_corrupt", "bb_error_"), "where failures originate, and their record"),
    "base/sync.c": (("bb_condvar_", "bb_fork_watch", "bb_mutex_", "bb_once_run", "bb_thread_"),
                    "one seam for all parts of threads"),
    "skip/condition/segments_none.c": (("bb_words_",), "the parts of words.h that depend on the Unicode library"),
    "skip/condition/segments_unistring.c": (("bb_words_",), "the parts of words.h that depend on the Unicode library"),
    "skip/record/definition_parser.c": (("bb_definition_create", "bb_definition_destroy"),
                                        "a definition is made by parsing it, and definition.h has no .c"),
}
_WORD = re.compile(r"\bbb_\w+(?=\()")
_VARIANT = re.compile(r"_(?:avx2|avx512|avx|posix)$")


def forms(noun):
    """The noun, its singular and its plural."""
    singular = noun[:-3] + "y" if noun.endswith("ies") else noun[:-1] if noun.endswith("s") else noun
    return {noun, singular, noun + "s"}


def nouns(tree, path):
    """The nouns that functions of a .c file may carry."""
    folder, name = posixpath.split(posixpath.splitext(path)[0])
    own = _VARIANT.sub("", name)
    found = forms(own) | ({"posix"} if name.endswith("_posix") else set())
    if not tree.has(f"{folder}/{name}.h"):
        words = own.split("_")
        heads = ["_".join(words[:count]) for count in range(1, len(words))]
        for head in heads:
            if tree.has(f"{folder}/{head}.h"):
                found |= forms(head)
    return found


def carries(name, noun):
    return name == "bb_" + noun or name.startswith(f"bb_{noun}_")


def misnamed(tree, layers):
    """(path, line, name) of each function of the layers without its file's noun."""
    public = {name for path in tree.with_suffix(".h") if path.startswith("include/")
              for name in _WORD.findall(c_source.code(tree.text(path)))}
    for path in tree.with_suffix(".c"):
        if not path.startswith(tuple(layers)):
            continue
        allowed = nouns(tree, path)
        excepted = EXCEPTIONS.get(path, ((), ""))[0]
        for name, line in c_source.external_functions(tree.text(path)):
            is_excepted = name in public or name.startswith(excepted)
            if not is_excepted and not any(carries(name, noun) for noun in allowed):
                yield path, line, name


def unneeded(tree):
    """Exceptions that no function needs."""
    for path, (prefixes, _) in sorted(EXCEPTIONS.items()):
        names = [name for name, _ in c_source.external_functions(tree.text(path))] if tree.has(path) else []
        for prefix in prefixes:
            if names and not any(name.startswith(prefix) for name in names):
                yield f"tools/checks/check_names.py:1: {path} needs no exception for {prefix}"


def check(tree):
    problems = [f"{path}:{line}: {name} does not carry the noun of its file"
                for path, line, name in misnamed(tree, LAYERS)]
    return [*problems, *(unneeded(tree) if "tools/checks/check_names.py" in tree.paths else [])]


def _function(name, words=""):
    return f"{words}int {name}(int a)\n{{\n    return a;\n}}\n"


CLEAN = {
    "include/bb/db.h": "int bb_db_get(int a);\n",
    "kv/lookup.c": _function("bb_db_get") + "\n" + _function("helper", "static "),
    "kv/block_cache.c": _function("bb_block_cache_find") + "\n" + _function("bb_block_cache"),
    "kv/properties.c": _function("bb_property_count") + "\n" + _function("bb_properties_count"),
    "kv/worker.c": _function("bb_workers_start"),
    "kv/table.h": "int bb_table_read_block(int a);\n",
    "kv/table_read.c": _function("bb_table_block_read"),
    "kv/hash_avx2.c": _function("bb_hash_all", "__attribute__((flatten)) "),
    "base/file_posix.c": _function("bb_posix_open"),
    "base/alloc.c": _function("bb_free"),
    "leveldb/other.c": _function("bb_anything"),
}

VIOLATIONS = [
    ({"kv/shard.c": _function("bb_store_shard")}, "bb_store_shard does not carry"),
    ({"kv/shard.c": _function("bb_shard_get") + "\n" + _function("bb_sharding")}, "kv/shard.c:6: bb_sharding"),
    ({"kv/shard.c": _function("bb_block_get", "__attribute__((noinline)) ")}, "bb_block_get does not carry"),
    ({"kv/table_walk.h": "/* w */\n", "kv/table_walk.c": _function("bb_table_step")}, "bb_table_step does not carry"),
    ({"kv/free_posix.c": _function("bb_sync_free")}, "bb_sync_free does not carry"),
    ({"kv/alloc.c": _function("bb_free")}, "bb_free does not carry"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
