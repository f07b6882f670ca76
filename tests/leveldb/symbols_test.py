#!/usr/bin/env python3
"""libbloomblock_leveldb.so exports exactly the functions that the header declares.

    symbols_test.py HEADER LIBRARY
"""
import re
import subprocess
import sys

DECLARATION = re.compile(r"^LEVELDB_EXPORT\s[^;]*?\b(leveldb_\w+)\(", re.MULTILINE)


def main():
    header, library = sys.argv[1:]
    with open(header, encoding="utf-8") as file:
        declared = set(DECLARATION.findall(file.read()))
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in output.splitlines()}
    if not declared or declared != exported:
        sys.exit(f"of {len(declared)} declared, missing: {sorted(declared - exported)}, "
                 f"not declared: {sorted(exported - declared)}")
    print(f"{len(declared)} functions")


if __name__ == "__main__":
    main()
