#!/usr/bin/env python3
"""The rules of docs/style.md that a program can check.

- The library allocates memory through base/alloc.c, calls the operating system through
  base/*_posix.c and creates threads through base/sync. Only a failed assertion may print or end
  the process. leveldb/ uses only the public headers, so it has separate files for these.
- A C file opens with a comment. A header's guard spells its path. A function's opening brace is on
  a separate line. Structs and enums have no typedefs. No file is called util, common, misc or
  helper.
- No tabs, no trailing blanks, no line over 120 columns, one newline at the end of every file.
"""
import fnmatch
import posixpath
import re

import c_source
import source_tree

LINE_COLUMNS_MAX = 120
LAYERS = ("base/", "bloomblock/", "standalone/", "skip/", "sstable/", "compaction/", "kv/", "leveldb/", "redis/",
          "include/")
ROOMLESS_NAMES = re.compile(r"(^|_)(utils?|common|misc|helpers?)$")
TEXT_FILES = (".c", ".h", ".py", ".sh", ".cmake", ".md", ".json", "CMakeLists.txt")

# (forbidden functions, files that may call them, reason). A call through a table of functions,
# "ops->read(", is allowed.
CALLS = [
    ("malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf posix_memalign aligned_alloc",
     ["base/alloc.c", "leveldb/memory.c"], "memory comes from base/alloc.h"),
    ("open openat creat close read pread readv preadv write pwrite writev pwritev lseek fsync fdatasync sync syncfs "
     "sync_file_range rename renameat unlink unlinkat remove mkdir mkdirat rmdir opendir fdopendir readdir closedir "
     "scandir stat fstat lstat fstatat statvfs fstatvfs access truncate ftruncate fallocate posix_fallocate "
     "posix_fadvise mmap munmap msync madvise flock fcntl ioctl getrandom getentropy rand random srand drand48 time "
     "gettimeofday clock usleep sleep nanosleep getpid fork kill signal sigaction fopen freopen fdopen fclose fread "
     "fwrite fflush fgets fscanf tmpfile mkstemp mkdtemp getenv setenv syscall popen system",
     ["base/*_posix.c", "leveldb/directory.c", "leveldb/env.c", "leveldb/store.c", "redis/store/fork.c",
      "redis/store/unsynced.c"],
     "the operating system is reached through base/file.h"),
    ("clock_gettime clock_nanosleep", ["base/*_posix.c", "base/sync.c"], "time comes from base/file.h"),
    ("pthread_[a-z_]+", ["base/sync.c", "leveldb/store.c", "redis/store/thread.c", "redis/store/fork.c"],
     "threads come from base/sync.h"),
    ("printf fprintf vprintf vfprintf dprintf puts fputs putchar putc fputc perror syslog exit _exit _Exit quick_exit "
     "abort atexit assert raise",
     ["base/assert.h", "base/sync.c", "redis/store/fork.c", "redis/store/loss.c"],
     "a library does not print and does not end the process"),
]
# {name: (files, reason)}; "pthread_" stands for all names that begin so.
FORBIDDEN = {name.replace("[a-z_]+", ""): (homes, reason) for names, homes, reason in CALLS for name in names.split()}
_CALL = re.compile(r"(?<![\w>.])(\w+)\s*\(")

SYSTEM_HEADERS = re.compile(r"^(unistd|fcntl|dirent|time|signal|pthread|sys/.*)\.h$")
SYSTEM_HOMES = ["base/*_posix.[ch]", "base/sync.[ch]", "leveldb/directory.c", "leveldb/env.c", "leveldb/store.[ch]",
                "redis/store/thread.[ch]", "redis/store/fork.c", "redis/store/unsynced.c"]


def matches_any(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def check_lines(path, text):
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        here = f"{path}:{number}: "
        if "\t" in line and not path.endswith(".md"):
            problems.append(here + "tab")
        if line != line.rstrip():
            problems.append(here + "blanks or a carriage return at the end of the line")
        if len(line) > LINE_COLUMNS_MAX and path.endswith((".c", ".h", ".py", ".sh")):
            problems.append(here + f"{len(line)} columns, at most {LINE_COLUMNS_MAX}")
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        problems.append(f"{path}:{text.count(chr(10)) + 1}: the file ends in one newline")
    return problems


def guard_of(path):
    """BB_SSTABLE_BLOCK_H for sstable/block.h, BB_PUBLIC_DB_H for include/bb/db.h."""
    spelled = path.replace("include/bb/", "public/")
    return "BB_" + re.sub(r"[^A-Za-z0-9]", "_", spelled).upper()


def check_guard(path, bare):
    directives = re.findall(r"^\s*#\s*(\w+)\s*(\w*)", bare, re.MULTILINE)[:2]
    guard = guard_of(path)
    if directives != [("ifndef", guard), ("define", guard)]:
        return [f"{path}:1: the include guard is {guard}"]
    return []


def check_layout(path, text, bare):
    problems = []
    if not text.startswith("/*"):
        problems.append(f"{path}:1: a file opens with a comment that says what it is")
    for match in re.finditer(r"^(?!\s|#|typedef|struct \w+ \{|extern ).*\)[ \t]*\{[ \t]*$", bare, re.MULTILINE):
        problems.append(f"{path}:{c_source.line_of(bare, match.start())}: a function's brace stands on its own line")
    for match in re.finditer(r"\btypedef\s+(struct|enum|union)(?:\s+\w+)?\s*(?:\{|\w+\s*;)", bare):
        problems.append(f"{path}:{c_source.line_of(bare, match.start())}: typedef of a {match.group(1)}")
    for line, comment in c_source.comments(text):
        if comment.startswith("//"):
            problems.append(f"{path}:{line}: // comment")
    return problems


def check_library(path, text, bare):
    problems = []
    for match in _CALL.finditer(bare):
        call = match.group(1)
        found = FORBIDDEN.get("pthread_" if call.startswith("pthread_") else call)
        if found is not None and not matches_any(path, found[0]):
            problems.append(f"{path}:{c_source.line_of(bare, match.start())}: {call}(): {found[1]}")
    for line, header, quoted in c_source.includes(text):
        if not quoted and SYSTEM_HEADERS.match(header) and not matches_any(path, SYSTEM_HOMES):
            problems.append(f"{path}:{line}: <{header}>: the operating system is reached through base/")
    return problems


def without_preprocessor(bare):
    """Blanks #pragma and #define lines: they name forbidden functions in order to forbid them."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: "\n" * match.group(0).count("\n"), bare,
                  flags=re.MULTILINE)


def check_c_file(tree, path):
    text = tree.text(path)
    bare = c_source.code(text)
    problems = check_layout(path, text, bare)
    if path.endswith(".h"):
        problems += check_guard(path, bare)
    if path.startswith(LAYERS):
        problems += check_library(path, text, without_preprocessor(bare))
    return problems


def check(tree):
    problems = []
    for path in tree.paths:
        if ROOMLESS_NAMES.search(posixpath.splitext(posixpath.basename(path))[0]):
            problems.append(f"{path}:1: no room is called that: name the file for what it holds")
        if path.endswith(TEXT_FILES) and "/golden/" not in path and "/corpus/" not in path:
            problems += check_lines(path, tree.text(path))
        if path.endswith((".c", ".h")):
            problems += check_c_file(tree, path)
    return problems


CLEAN = {
    "include/bb/db.h": "/* d */\n#ifndef BB_PUBLIC_DB_H\n#define BB_PUBLIC_DB_H\n#endif\n",
    "base/alloc.c": "/* a */\n#pragma GCC poison malloc(\n\nvoid *a(void)\n{\n    return malloc(1);\n}\n",
    "base/file_posix.c": "/* f */\n#include <fcntl.h>\n\nint f(void)\n{\n    return open(\"//\", 0);\n}\n",
    "base/sync.c": "/* s */\n#include <pthread.h>\n\nvoid s(void)\n{\n    abort();\n}\n",
    "kv/store.h": "/* read(2) */\n#ifndef BB_KV_STORE_H\n#define BB_KV_STORE_H\n#include <stdint.h>\n#endif\n",
    "kv/store.c": "/* s */\n#include \"kv/store.h\"\n\nstruct s {\n    int (*read)(int);\n};\n\n"
                  "int store(struct s *s)\n{\n    return s->read(bb_store_close(0)); /* write(2) */\n}\n",
    "tools/hello.c": "/* h */\n#include <stdio.h>\n\nint main(void)\n{\n    printf(\"hello\");\n    return 0;\n}\n",
    "tests/support/call.h": "/* c */\n#ifndef BB_TESTS_SUPPORT_CALL_H\n#define BB_TESTS_SUPPORT_CALL_H\n"
                            "typedef enum bb_status (*call)(void);\n#endif\n",
    "docs/page.md": "# page\n",
}


def _body(statement):
    return f"/* b */\n\nvoid b(void)\n{{\n    {statement}\n}}\n"


VIOLATIONS = [
    ({"kv/b.c": _body("void *p = malloc(1);")}, "malloc(): memory comes from"),
    ({"sstable/build/b.c": _body("void *p = malloc(1);")}, "malloc(): memory comes from"),
    ({"base/b.c": _body("free(p);")}, "free(): memory comes from"),
    ({"sstable/b.c": _body("(void)pread(1, p, 2, 3);")}, "pread(): the operating system"),
    ({"kv/b.c": _body("x = time (NULL);")}, "time(): the operating system"),
    ({"kv/b.c": _body("fsync(fd);")}, "fsync(): the operating system"),
    ({"kv/b.c": _body("pthread_mutex_lock(m);")}, "threads come from"),
    ({"kv/b.c": _body("clock_gettime(1, t);")}, "time comes from"),
    ({"kv/b.c": _body("printf(\"x\");")}, "printf(): a library"),
    ({"compaction/b.c": _body("exit(1);")}, "exit(): a library"),
    ({"kv/b.c": "/* b */\n#include <unistd.h>\n"}, "<unistd.h>"),
    ({"kv/b.c": "#include \"kv/store.h\"\n"}, "opens with a comment"),
    ({"kv/b.h": "/* b */\n#ifndef BB_B_H\n#define BB_B_H\n#endif\n"}, "guard is BB_KV_B_H"),
    ({"kv/b.h": "/* b */\n#pragma once\n"}, "guard is BB_KV_B_H"),
    ({"include/bb/b.h": "/* b */\n#ifndef BB_B_H\n#define BB_B_H\n#endif\n"}, "guard is BB_PUBLIC_B_H"),
    ({"tools/b.c": "/* b */\n\nint b(void) {\n    return 0;\n}\n"}, "brace stands on its own line"),
    ({"tools/b.c": "/* b */\n\ntypedef struct b b;\n"}, "typedef of a struct"),
    ({"tools/b.c": "/* b */\n\ntypedef enum {\n    B,\n} b;\n"}, "typedef of a enum"),
    ({"tools/b.c": _body("b(); // why")}, "// comment"),
    ({"tools/b.c": _body("\tb();")}, "tab"),
    ({"tools/b.c": _body("b(); ")}, "blanks or a carriage return"),
    ({"tools/b.c": _body("b();\r")}, "blanks or a carriage return"),
    ({"tools/b.c": _body("/* " + "x" * 120 + " */")}, "columns, at most 120"),
    ({"docs/b.md": "# b"}, "ends in one newline"),
    ({"docs/b.md": "# b\n\n"}, "ends in one newline"),
    ({"kv/file_util.c": "/* b */\n"}, "no room is called that"),
]

if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
