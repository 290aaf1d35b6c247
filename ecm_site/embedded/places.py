"""Folders and users: where private services may keep their files, and as whom they run."""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: Unprivileged users to run PostgreSQL as when root starts it; it refuses to be root.
CANDIDATES = ("postgres", "nobody")
#: Where data goes when root's own folders are closed to the unprivileged user.
ELSEWHERE = Path("/var/lib/ecm-server")
#: The one folder that every user can be in.
TOP = Path("/")
#: A socket's whole path may have 107 bytes, so sockets never live below the data folder.
SOCKET_ROOT = Path("/tmp")  # noqa: S108 - folders below are private and their owner is checked


class Unavailable(Exception):
    """This machine cannot run the service; the text says what to do instead."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A system user by name and numbers."""

    name: str
    uid: int
    gid: int


def me() -> str:
    """Name of the user of this process, as PostgreSQL's peer authentication will see it."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError as error:
        raise Unavailable(f"User {os.geteuid()} has no entry in the user database. Set DATABASE_URL.") from error


def owner_for(data: Path) -> Owner | None:
    """Who must own `data`: None for ourselves; for root, who owns it already or an unprivileged user."""
    if os.geteuid() != 0:
        return None
    if data.exists() and (uid := data.stat().st_uid) != 0:
        entry = pwd.getpwuid(uid)
        return Owner(entry.pw_name, entry.pw_uid, entry.pw_gid)
    for name in CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        owner = Owner(name, entry.pw_uid, entry.pw_gid)
        if run_as(owner, ["/bin/sh", "-c", "exit 0"]):
            return owner
    raise Unavailable("PostgreSQL refuses to run as root and no other user can be used. Set DATABASE_URL.")


def identity(owner: Owner | None) -> tuple[int | None, int | None, list[int] | None]:
    """(user, group, extra_groups) for Popen; all None for ourselves."""
    return (owner.uid, owner.gid, []) if owner else (None, None, None)


def run_as(owner: Owner | None, command: list[str]) -> bool:
    """Whether this command succeeds as `owner`."""
    user, group, groups = identity(owner)
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(
            command,
            cwd=TOP,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            timeout=30,
            user=user,
            group=group,
            extra_groups=groups,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def can_enter(owner: Owner | None, folder: Path) -> bool:
    """Whether `owner` can reach `folder`: found by trying, which covers modes, ACLs and mounts."""
    return run_as(owner, ["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)])


def short_name(data: Path) -> str:
    """Eight characters that stand for this data folder."""
    return hashlib.sha256(str(data).encode()).hexdigest()[:8]


def make_folder(path: Path, mode: int = 0o755) -> Path:
    """The folder, made with this mode whatever the umask; one that exists is left as it is."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
    return path


def private_folder(path: Path, owner: Owner | None) -> Path:
    """A folder that only `owner` can enter. Refuses one that somebody else has put there."""
    uid, gid = (owner.uid, owner.gid) if owner else (os.geteuid(), os.getegid())
    try:
        path.mkdir(mode=0o700)
        os.chown(path, uid, gid)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {uid, os.geteuid()}:
            raise Unavailable(f"{path} belongs to somebody else. Remove it and try again.") from None
        if os.geteuid() == 0:
            os.chown(path, uid, gid)
    path.chmod(0o700)
    return path


def socket_folder(data: Path, service: str, owner: Owner | None) -> Path:
    """A short private folder for the sockets of one service of this data folder."""
    return private_folder(SOCKET_ROOT / f"ecm-{short_name(data)}-{service}", owner)


def data_folder(wanted: Path, owner: Owner | None) -> Path:
    """`wanted`, or a folder elsewhere when its parents are closed to `owner`."""
    make_folder(wanted.parent)
    if owner is None or can_enter(owner, wanted.parent):
        return wanted
    return make_folder(ELSEWHERE / short_name(wanted)) / wanted.name


def reachable_copy(folder: Path, owner: Owner | None, data: Path) -> Path:
    """`folder` of a wheel's package, or a copy beside the data when `owner` cannot reach the original.

    Its programs look for their libraries in `<package>.libs` beside the package, so that comes along.
    """
    program = folder / "bin" / "postgres"
    if owner is None or can_enter(owner, program.parent):
        return folder
    package = folder.parent
    copy = data.parent / f"programs-{short_name(program)}-{program.stat().st_mtime_ns:x}"
    if not copy.exists():
        half = copy.with_name(copy.name + ".new")
        shutil.rmtree(half, ignore_errors=True)
        leave = shutil.ignore_patterns("include", "pkgconfig", "*.a")
        shutil.copytree(folder, half / package.name / folder.name, symlinks=True, ignore=leave)
        libraries = package.with_name(package.name + ".libs")
        if libraries.is_dir():
            shutil.copytree(libraries, half / libraries.name, symlinks=True)
        _open_to_all(half)
        half.rename(copy)
    return copy / package.name / folder.name


def _open_to_all(folder: Path) -> None:
    """Readable for every user, whatever the umask was when the originals were installed."""
    for parent, _, names in os.walk(folder):
        Path(parent).chmod(0o755)
        for name in names:
            file = Path(parent, name)
            if not file.is_symlink():
                file.chmod(file.stat().st_mode | 0o444 | (0o111 if file.stat().st_mode & 0o100 else 0))
