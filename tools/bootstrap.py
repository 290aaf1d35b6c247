#!/usr/bin/env python3
"""Make .venv: find or fetch uv, find a Python 3.12+ that runs, install the locked requirements.

Runs on any Python 3.6+ with nothing but the standard library. A second run finds its stamp and
does nothing. Exit status: 0 ready, 1 impossible (one sentence on stderr says why).
"""

import argparse
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOOT = os.path.join(ROOT, ".boot")
VENV = os.path.join(ROOT, ".venv")
STAMP = os.path.join(VENV, "ecm-stamp")
REQUIREMENTS = os.path.join(ROOT, "requirements", "dev.txt")
UV_REQUIREMENTS = os.path.join(ROOT, "requirements", "uv.txt")
OLDEST, NEWEST = (3, 12), (3, 14)
NAMES = ("python3.14", "python3.13", "python3.12", "python3", "python")
PROBE = "import ssl, zlib, ctypes, sys; print('%d.%d.%d' % sys.version_info[:3]); print(sys.executable)"


class Impossible(Exception):
    """Nothing more can be tried; the text says what the reader can do."""


class Python:
    """An interpreter that was run: its version and its real path."""

    def __init__(self, version, path):
        self.version = version
        self.path = path

    @property
    def fits(self):
        return OLDEST <= self.version[:2] <= NEWEST

    @property
    def name(self):
        return "Python %d.%d.%d" % self.version


def run(command, env=None, timeout=900):
    """(exit status, stdout, stderr); a command that cannot be started has status 127."""
    try:
        done = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            env=dict(os.environ, **(env or {})),
            cwd=ROOT,
        )
    except OSError as error:
        return 127, "", str(error)
    try:
        out, err = done.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        done.kill()
        out, err = done.communicate()
        return 124, out, err
    return done.returncode, out, err


def probe(path):
    """What this candidate is, found by running it: a shim may exist and still exit 127."""
    status, out, _ = run([path, "-c", PROBE], timeout=20)
    lines = out.split("\n")
    if status != 0 or len(lines) < 2 or not re.match(r"\d+\.\d+\.\d+$", lines[0]):
        return None
    return Python(tuple(int(part) for part in lines[0].split(".")), lines[1])


def on_path():
    """Every match of the usual names on PATH, not only the first: the first may be a dead shim."""
    folders = [f for f in os.environ.get("PATH", "").split(os.pathsep) if f]
    for name in NAMES:
        for folder in folders:
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK):
                yield path


def in_pyenv():
    """Interpreters that pyenv holds, newest first, whatever its shims are set to."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = glob.glob(os.path.join(root, "versions", "*", "bin", "python3"))

    def order(path):
        return [int(n) for n in re.findall(r"\d+", path.split(os.sep)[-3])]

    return sorted(found, key=order, reverse=True)


def known_to_uv(uv):
    """The interpreter that uv itself would take, without a download."""
    if uv is None:
        return
    status, out, _ = run([uv, "python", "find", ">=3.12,<3.15"], env={"UV_PYTHON_DOWNLOADS": "never"}, timeout=60)
    if status == 0 and out.strip():
        yield out.strip()


def find_python(uv):
    """The first candidate that runs and fits, or None."""
    seen = set()
    for source in (on_path, in_pyenv, lambda: known_to_uv(uv)):
        for path in source():
            if path in seen:
                continue
            seen.add(path)
            python = probe(path)
            if python is not None and python.fits:
                return python
    return None


def find_uv():
    """A uv that runs, or None."""
    home = os.path.expanduser("~")
    candidates = [shutil.which("uv"), os.path.join(BOOT, "bin", "uv"), os.path.join(BOOT, "lib", "bin", "uv")]
    candidates += [os.path.join(home, ".local", "bin", "uv"), os.path.join(home, ".cargo", "bin", "uv")]
    for path in candidates:
        if path and os.access(path, os.X_OK) and run([path, "--version"], timeout=20)[0] == 0:
            return path
    return None


def fetch_uv(python):
    """Install uv into .boot with pip, from hashes; without ensurepip by the pip that is there."""
    interpreter = python.path if python is not None else sys.executable
    wanted = ["install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", UV_REQUIREMENTS]
    complaints = []
    if run([interpreter, "-m", "venv", "--clear", BOOT])[0] == 0:
        complaints.append(run([os.path.join(BOOT, "bin", "pip")] + wanted)[2])
    if find_uv() is None:
        complaints.append(run([interpreter, "-m", "pip"] + wanted + ["--target", os.path.join(BOOT, "lib")])[2])
    uv = find_uv()
    if uv is None:
        raise Impossible("Could not install uv with %s: %s" % (interpreter, complaints[-1].strip()[-600:]))
    return uv


def stamp_text(python):
    """What .venv was made from."""
    with open(REQUIREMENTS, "rb") as file:
        return "%s %s %s\n" % (hashlib.sha256(file.read()).hexdigest(), python.name, python.path)


def made():
    """The interpreter of a .venv that is up to date, or None."""
    try:
        with open(STAMP) as file:
            stamped = file.read()
    except OSError:
        return None
    python = probe(os.path.join(VENV, "bin", "python"))
    if python is None or not python.fits:
        return None
    base = Python(python.version, stamped.rstrip("\n").split(" ", 3)[-1])
    return base if stamp_text(base) == stamped else None


def is_on(python):
    """Whether .venv runs and is built on this interpreter: then only its packages need a look."""
    here = probe(os.path.join(VENV, "bin", "python"))
    if here is None or here.version != python.version:
        return False
    return os.path.realpath(os.path.join(VENV, "bin", "python")) == os.path.realpath(python.path)


def make_venv(uv, python):
    """A .venv on this interpreter, or on one that uv downloads when there is none."""
    if python is not None and is_on(python):
        return python
    if python is not None:
        wanted, env = python.path, {"UV_PYTHON_DOWNLOADS": "never"}
    else:
        wanted, env = "3.13", {"UV_PYTHON_DOWNLOADS": "automatic"}
    status, _, err = run([uv, "venv", "--quiet", "--clear", "--no-project", "--python", wanted, VENV], env=env)
    if status != 0:
        if python is None:
            raise Impossible(
                "No Python 3.12, 3.13 or 3.14 runs here and uv could not fetch one: %s\n"
                "Install one (for example: apt install python3.12, or pyenv install 3.13) and try again."
                % err.strip()[-600:]
            )
        raise Impossible("uv could not make .venv: %s" % err.strip()[-600:])
    return python or probe(os.path.join(VENV, "bin", "python"))


def sync(uv):
    """Install exactly the locked packages; number of packages."""
    command = [uv, "pip", "sync", "--quiet", "--require-hashes", "--python", os.path.join(VENV, "bin", "python")]
    status, _, err = run(command + [REQUIREMENTS], env={"UV_LINK_MODE": os.environ.get("UV_LINK_MODE", "copy")})
    if status != 0:
        raise Impossible("The locked packages could not be installed: %s" % err.strip()[-1500:])
    return len(glob.glob(os.path.join(VENV, "lib", "python3.*", "site-packages", "*.dist-info")))


def say(left, right, since):
    sys.stdout.write("  %-15s %-52s %5.1f s\n" % (left, right, time.time() - since))
    sys.stdout.flush()


def bootstrap(quiet):
    start = time.time()
    python = made()
    if python is not None:
        if not quiet:
            say(python.name, python.path, start)
        return
    uv = find_uv()
    python = find_python(uv)
    if uv is None:
        uv = fetch_uv(python)
        python = python or find_python(uv)
    if python is not None:
        say(python.name, python.path, start)
    start = time.time()
    downloaded = python is None
    python = make_venv(uv, python)
    if downloaded:
        say(python.name, "downloaded by uv", start)
    start = time.time()
    count = sync(uv)
    with open(STAMP, "w") as file:
        file.write(stamp_text(python))
    say("%d packages" % count, "into .venv, locked", start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quiet", action="store_true", help="say nothing when there is nothing to do")
    options = parser.parse_args()
    # Two makes may start at once; the second waits and then finds the stamp.
    with open(os.path.join(ROOT, ".bootstrap.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            bootstrap(options.quiet)
        except Impossible as error:
            sys.stderr.write("%s\n" % error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
