"""The recorders: how each is fetched, built and run. All of it happens in a copy, so that a checkout stays as it is."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent


class NotRecordable(Exception):
    """The ADK cannot be recorded on this machine: a program is missing, or a download failed or took too long."""


@dataclass(frozen=True)
class Recorder:
    """One ADK's recorder. `pinned` finds the ADK's version, its second group, in the file `manifest`.

    `fetch` brings the ADK into the folder and is all that downloads, `build` makes the program, `command` runs it.
    """

    package: str
    manifest: str
    pinned: str
    programs: tuple[str, ...]
    fetch: Callable[[Path, float | None], None]
    build: Callable[[Path], None]
    command: Callable[[Path], list[str]]

    def prepare(self, source: Path, folder: Path, version: str | None = None, timeout: float | None = None) -> str:
        """Copy `source` to `folder` and make the program there; the ADK's version, by default the manifest's.

        Downloads may take `timeout` seconds. Raises `NotRecordable`, and `CalledProcessError` when it does not build.
        """
        for program in self.programs:
            if shutil.which(program) is None:
                raise NotRecordable(f"{program} is not installed")
        shutil.copytree(source, folder, dirs_exist_ok=True)
        manifest = folder / self.manifest
        text = manifest.read_text("utf-8")
        found = re.search(self.pinned, text)
        assert found is not None, f"{manifest} does not name {self.package}"
        if version is not None:
            text = text[: found.start(2)] + version + text[found.end(2) :]
            manifest.write_text(text, "utf-8")
        self.fetch(folder, timeout)
        self.build(folder)
        return version or found[2]


def download(command: Sequence[str], folder: Path, timeout: float | None) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=timeout)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines() or [f"exit code {error.returncode}"]
        raise NotRecordable(f"{' '.join(command[:2])} failed: {said[-1]}") from error
    except subprocess.TimeoutExpired as error:
        raise NotRecordable(f"{' '.join(command[:2])} took longer than {timeout:g} s") from error


def run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True)


def nothing(folder: Path) -> None:
    """There is nothing to build."""


CLASSPATH = "classpath.txt"


def java_fetch(folder: Path, timeout: float | None) -> None:
    maven = ["mvn", "-q", "-B", "dependency:build-classpath", f"-Dmdep.outputFile={CLASSPATH}"]
    try:
        download([*maven, "-o"], folder, timeout)  # what is here already needs no network
    except NotRecordable:
        download(maven, folder, timeout)


def java_build(folder: Path) -> None:
    sources = sorted(str(file) for file in folder.glob("src/*.java"))
    classpath = (folder / CLASSPATH).read_text("utf-8").strip()
    run(folder, "javac", "--release", "17", "-encoding", "UTF-8", "-d", "classes", "-cp", classpath, *sources)


def java_command(folder: Path) -> list[str]:
    classpath = f"{folder / 'classes'}:{(folder / CLASSPATH).read_text('utf-8').strip()}"
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classpath, "Record"]


def python_at(folder: Path) -> Path:
    return folder / "venv" / "bin" / "python"


def has_pinned(folder: Path) -> bool:
    """Whether the interpreter that runs this has the ADK of the folder's requirements."""
    try:
        installed = importlib.metadata.version("google-adk")
    except importlib.metadata.PackageNotFoundError:
        return False
    return f"google-adk=={installed}" in (folder / "requirements.txt").read_text("utf-8").split()


def python_fetch(folder: Path, timeout: float | None) -> None:
    if not has_pinned(folder):
        run(folder, sys.executable, "-m", "venv", "venv")
        download([str(python_at(folder)), "-m", "pip", "install", "-q", "-r", "requirements.txt"], folder, timeout)


def python_command(folder: Path) -> list[str]:
    python = python_at(folder)
    return [str(python) if python.exists() else sys.executable, str(folder / "main.py")]


RECORDERS: Final = {
    "java": Recorder(
        package="com.google.adk:google-adk",
        manifest="pom.xml",
        pinned=r"(<artifactId>google-adk</artifactId>\s*<version>)([^<]+)",
        programs=("mvn", "javac", "java"),
        fetch=java_fetch,
        build=java_build,
        command=java_command,
    ),
    "go": Recorder(
        package="google.golang.org/adk/v2",
        manifest="go.mod",
        pinned=r"(google\.golang\.org/adk/v2 )(\S+)",
        programs=("go",),
        fetch=lambda folder, timeout: download(["go", "list", "-mod=mod", "-deps", "."], folder, timeout),
        build=lambda folder: run(folder, "go", "build", "-mod=mod", "-o", "record"),
        command=lambda folder: [str(folder / "record")],
    ),
    "js": Recorder(
        package="@google/adk",
        manifest="package.json",
        pinned=r'("@google/adk": ")([^"]+)',
        programs=("npm", "node"),
        fetch=lambda folder, timeout: download(
            ["npm", "install", "--prefer-offline", "--no-package-lock", "--no-audit", "--no-fund"], folder, timeout
        ),
        build=nothing,
        command=lambda folder: ["node", str(folder / "record.mjs")],
    ),
    "python": Recorder(
        package="google-adk",
        manifest="requirements.txt",
        pinned=r"(google-adk==)(\S+)",
        programs=(),
        fetch=python_fetch,
        build=nothing,
        command=python_command,
    ),
}
