"""Builds the extension module over an installed bloomblock, which pkg-config finds.

    pip wheel --no-deps --no-build-isolation python/

The module has the version of that library. With BLOOMBLOCK_STATIC=1 the library becomes part of
the module, so that the wheel needs only the library's own dependencies. PKG_CONFIG_PATH names a
library outside the system's folders.
"""
import glob
import os
import shlex
import subprocess
import sys

from setuptools import Extension, setup

HERE = os.path.dirname(os.path.abspath(__file__))
# The oldest version whose stable ABI suffices for the module.
STABLE = sys.version_info >= (3, 11)


def pkg_config(*options):
    return shlex.split(subprocess.run(["pkg-config", *options, "bloomblock"], check=True, stdout=subprocess.PIPE,
                                      universal_newlines=True).stdout)


def link_options():
    if not os.environ.get("BLOOMBLOCK_STATIC"):
        return pkg_config("--libs")
    folder, = pkg_config("--variable=libdir")
    return [os.path.join(folder, "libbloomblock.a"), "-Wl,--exclude-libs,ALL"] + [
        option for option in pkg_config("--static", "--libs") if option != "-lbloomblock"]


def sources():
    return sorted(os.path.relpath(path, HERE) for path in glob.glob(os.path.join(HERE, "bloomblock", "native", "*.c")))


setup(
    version=" ".join(pkg_config("--modversion")),
    ext_modules=[Extension(
        "bloomblock._native", sources(),
        depends=glob.glob(os.path.join(HERE, "bloomblock", "native", "*.h")),
        define_macros=[("Py_LIMITED_API", "0x030b0000")] if STABLE else [],
        py_limited_api=STABLE,
        extra_compile_args=pkg_config("--cflags") + ["-std=c11", "-fvisibility=hidden"],
        extra_link_args=link_options())],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {})
