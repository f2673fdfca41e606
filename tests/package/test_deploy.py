"""The files to start from on a cluster, checked by the tools that read them if they are here."""

import importlib.util
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from experiments import train
from experiments.common.cli import load_settings
from experiments.common.provenance import ROOT

DEPLOY = ROOT / "deploy"
KUBERNETES, SKY = DEPLOY / "train.kubernetes.yaml", DEPLOY / "train.sky.yaml"


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("*.sbatch")), ids=lambda path: path.name)
def test_sbatch(path: Path) -> None:
    subprocess.run(["bash", "-n", path], check=True)
    lines = path.read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    first = next(n for n, line in enumerate(lines) if line and not line.startswith("#"))
    options = [line for line in lines if line.startswith("#SBATCH")]
    assert options == [line for line in lines[:first] if line.startswith("#SBATCH")]  # else ignored
    assert all(re.fullmatch(r"#SBATCH --[a-z-]+(=\S+)?", option) for option in options)
    for module in re.findall(r"-m experiments\.(\w+)", path.read_text()):
        assert (ROOT / "experiments" / f"{module}.py").exists()


def test_the_training_of_sbatch_is_started_again_only_if_it_was_stopped(tmp_path: Path) -> None:
    """With stand-ins for Slurm's programs."""
    for name in ("srun", "scontrol"):
        code = f"${{{name.upper()}:-0}}"
        (tmp_path / name).write_text(f'#!/bin/bash\necho {name} "$@"\nexit {code}\n')
        (tmp_path / name).chmod(0o755)
    line = ["bash", DEPLOY / "train.sbatch", "train_belief", "chunk=32"]
    for code, again in ((0, False), (130, True), (1, False)):
        settings = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7", "SRUN": str(code)}
        done = subprocess.run(line, env=settings, capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert "-m experiments.train_belief distributed=true" in done.stdout
        assert done.stdout.count("directory=runs/train_belief-7 chunk=32") == 1
        assert ("scontrol requeue 7" in done.stdout) == again


def check_settings(line: list[str], tmp_path: Path) -> None:
    """A command line with settings that there are."""
    assert line[:3] == ["python", "-m", "experiments.train"]
    settings = load_settings("train", train.TrainSettings, [*line[3:], f"directory={tmp_path}"])
    assert settings.distributed


def test_kubernetes(tmp_path: Path) -> None:
    service, job = yaml.safe_load_all(KUBERNETES.read_text())
    for resource in (service, job):
        kubernetes_validate.validate(resource, kubernetes_validate.latest_version(), strict=True)
    spec = job["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    values: dict[str, Any] = {entry["name"]: entry.get("value") for entry in container["env"]}
    name = job["metadata"]["name"]
    assert spec["template"]["spec"]["subdomain"] == service["metadata"]["name"]
    assert service["spec"]["selector"] == {"job-name": name}
    address = f"{name}-0.{service['metadata']['name']}:1234"
    assert values["JAX_COORDINATOR_ADDRESS"] == address
    assert int(values["JAX_NUM_PROCESSES"]) == spec["completions"] == spec["parallelism"]
    check_settings([*container["command"], *container["args"]], tmp_path)


def test_skypilot(tmp_path: Path) -> None:
    task = yaml.safe_load(SKY.read_text())
    if importlib.util.find_spec("sky"):
        import sky

        sky.Task.from_yaml(str(SKY))
    if bash := shutil.which("bash"):
        for script in (task["setup"], task["run"]):
            subprocess.run([bash, "-n"], input=script, text=True, check=True)
    (line,) = (line for line in task["run"].splitlines() if line.startswith("python"))
    check_settings(shlex.split(line), tmp_path)
