"""Build the compiled kernel; where it cannot be built, install the pure Python one and say so."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError


def switched_on(name: str) -> bool:
    """Whether an environment variable holds a truthy word; `0` and an empty one are off."""
    return os.environ.get(name, "").strip().lower() in {"1", "true", "yes", "on"}


class BuildKernel(build_ext):
    """Compile the kernel, or leave no trace of it: users fall back, packagers can refuse to."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.cython_c_in_temp = True  # generated C belongs in build/, not beside the source

    def run(self) -> None:
        try:
            super().run()
        except (BaseError, CCompilerError, OSError) as error:
            if switched_on("IO_HARNESS_REQUIRE_EXTENSIONS"):
                raise
            for extension in self.extensions:  # an earlier build may have left one
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []
            self.distribution.ext_modules = []  # also what the wheel's tag is made from
            print(
                f"io-harness: the kernel could not be compiled ({error}): installing the pure "
                "Python one, which gives the same results more slowly",
                file=sys.stderr,
            )


class TagWheel(bdist_wheel):
    """Tag a wheel by what is in it once it is built, not by what was hoped for."""

    def get_tag(self) -> tuple[str, str, str]:
        self.root_is_pure = not self.distribution.ext_modules
        return super().get_tag()


KERNEL = Extension(
    "io_harness.context._kernel",
    ["csrc/kernel.pyx"],
    extra_compile_args=["-g0"] if os.name == "posix" else [],  # a fifth of the size
)
wanted = not switched_on("IO_HARNESS_NO_EXTENSIONS")
setup(
    ext_modules=[KERNEL] if wanted else [],
    cmdclass={"build_ext": BuildKernel, "bdist_wheel": TagWheel},
)
