"""Whether the programs of Redis on this machine can run the module."""
import re
import shutil
import subprocess

VERSION_MIN = 7  # of the server; Valkey begins with 7.2
_VERSION = re.compile(r"\bv=(\d+)\.")


def unfit(*names):
    """Why not, in a sentence without an end; None if they can. names: of further programs."""
    for name in ("redis-server", *names):
        if shutil.which(name) is None:
            return f"{name} is not installed (scripts/setup redis)"
    said = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=False).stdout
    found = _VERSION.search(said)
    if found is None or int(found.group(1)) < VERSION_MIN:
        return f"redis-server {VERSION_MIN} or newer is needed, this is: {said.strip()}"
    return None
