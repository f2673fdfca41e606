"""Puts `experiments` and `configs` into the wheel, inside the package: so `gongzhu train` works
without a checkout, and nobody gets a top-level package of the name `experiments`."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = ("experiments", "configs")


class BuildWithExperiments(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:  # a checkout has them already
            return
        for name in SHIPPED:
            target = Path(self.build_lib) / "gongzhu_jax" / "shipped" / name
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(name, target, ignore=shutil.ignore_patterns("__pycache__"))


setup(cmdclass={"build_py": BuildWithExperiments})
