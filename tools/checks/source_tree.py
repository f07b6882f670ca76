"""The files of a source tree, and the frame of a check: prove that it can fail, then run it.

A check is a function that takes a Tree and returns problems: one sentence each, starting with
"path:line: ". It has a clean tree, in which it must find no problem, and violations: files to put
over the clean tree, each with words that must occur in the only problem that results. So a check
that no longer finds anything fails its self-test.
"""
import os
import subprocess
import sys
import tempfile

SKIPPED_FOLDERS = {".git", "__pycache__"}


class Tree:
    """Files below a root: tracked by git or untracked and not ignored; without git, all files."""

    def __init__(self, root):
        self.root = root
        self.paths = sorted(self._list())
        self.path_set = frozenset(self.paths)
        self.texts = {}  # a check reads a file several times

    def _list(self):
        if os.path.exists(os.path.join(self.root, ".git")):
            listed = subprocess.run(
                ["git", "-c", "safe.directory=*", "-C", self.root, "ls-files", "-z", "--cached", "--others",
                 "--exclude-standard"], capture_output=True, check=False)
            if listed.returncode == 0:
                paths = {os.fsdecode(path) for path in listed.stdout.split(b"\0") if path}
                return [path for path in paths if os.path.isfile(os.path.join(self.root, path))]
        return self._walk()

    def _walk(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            # Rooms of layers are called build too.
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and
                          (folder != self.root or name != "build")]
            found += [os.path.relpath(os.path.join(folder, name), self.root).replace(os.sep, "/") for name in names]
        return found

    def with_suffix(self, *suffixes):
        return [path for path in self.paths if path.endswith(suffixes)]

    def has(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def bytes(self, path):
        with open(os.path.join(self.root, path), "rb") as file:
            return file.read()

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = self.bytes(path).decode("utf-8", errors="replace")
        return self.texts[path]


def _run_on(check, files):
    with tempfile.TemporaryDirectory(prefix="bb_check_") as root:
        for path, content in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8", newline="") as file:
                file.write(content)
            if content.startswith("#!"):
                os.chmod(full, 0o755)
        return check(Tree(root))


def self_test(check, clean, violations):
    """Complaints about the check itself."""
    defects = [f"self-test: clean tree: {problem}" for problem in _run_on(check, clean)]
    for files, words in violations:
        problems = _run_on(check, {**clean, **files})
        if len(problems) != 1 or words not in problems[0]:
            defects.append(f"self-test: {sorted(files)}: expected one complaint with \"{words}\", found {problems}")
    return defects


def main(check, clean, violations):
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(f"usage: {os.path.basename(sys.argv[0])} SOURCE_FOLDER")
    problems = self_test(check, clean, violations)
    if not problems:
        tree = Tree(sys.argv[1])
        problems = check(tree)
        print(f"{len(violations)} violations recognised, {len(tree.paths)} files looked at, {len(problems)} problems")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
