"""A cluster of Slurm on this machine: one node with its own key, ports and folders, with accounts or without."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.conftest import PATIENCE

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
MISSING = "Slurm's daemons, as root: apt-get install slurm-wlm"
BOOKKEEPERS = ("slurmdbd", "mariadbd", "mariadb-install-db")
NO_BOOKKEEPERS = "Slurm's accounts: apt-get install slurmdbd mariadb-server"

_CONF = """
ClusterName=quorum
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
SchedulerParameters=sched_interval=2,bf_interval=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=3000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
"""
_NO_ACCOUNTS = """
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
"""
_ACCOUNTS = """
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={books}
AccountingStoragePass={folder}/munge.socket
AccountingStorageEnforce=associations,limits,qos
"""
_BOOKS = """
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={books}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=keeper
StoragePass=keeper
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
"""


def can_run() -> bool:
    """Whether this machine can be a cluster."""
    return os.geteuid() == 0 and all(shutil.which(daemon) for daemon in DAEMONS)


def can_keep_books() -> bool:
    """Whether the cluster can have accounts."""
    return all(shutil.which(daemon) for daemon in BOOKKEEPERS)


class SlurmCluster:
    """A running cluster.

    Attributes:
        environment: what a process needs to find it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}

    def tell(self, *line: str) -> str:
        """Run a command of Slurm; return what it prints."""
        done = subprocess.run(
            line, env={**os.environ, **self.environment}, check=True, capture_output=True, text=True, timeout=PATIENCE
        )
        return done.stdout

    def jobs(self, state: str) -> list[str]:
        """Return the numbers of the jobs in a state, in their order."""
        return sorted(self.tell("squeue", "--noheader", f"--states={state}", "--format=%i").split(), key=int)

    def wait_for(self, state: str, number: int = 1) -> list[str]:
        """Wait until so many jobs are in a state, for a minute at most."""
        end = time.monotonic() + PATIENCE
        while len(jobs := self.jobs(state)) < number:
            assert time.monotonic() < end, self.tell("squeue", "--states=all")
            time.sleep(0.2)
        return jobs

    def start(self, daemon: str) -> None:
        """Start `slurmctld` or `slurmd`."""
        self.tell(daemon)

    def end(self, daemon: str) -> None:
        """End a daemon; with `slurmd`, all that it has begun, as when the power of the node is gone."""
        number = int((self.folder / f"{daemon}.pid").read_text())
        os.kill(number, signal.SIGKILL if daemon == "slurmd" else signal.SIGTERM)
        if daemon == "slurmd":
            self._kill_jobs()
        while Path(f"/proc/{number}").exists():
            time.sleep(0.1)

    def _kill_jobs(self) -> None:
        """Kill the processes of this cluster's jobs; another worker of the tests may have a cluster too."""
        mine = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        killed = 0
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                line, variables = (process / "cmdline").read_bytes(), (process / "environ").read_bytes().split(b"\0")
                if mine in variables and (b"slurmstepd" in line or b"submitit.core._submit" in line):
                    os.kill(int(process.name), signal.SIGKILL)
                    killed += 1
        assert killed, "no job was at work on the node"


@contextmanager
def slurm_cluster(cpus: int = 2, *, accounts: bool = False) -> Iterator[SlurmCluster]:
    """Run a cluster whose folder, with everything in it, is removed at the end.

    Args:
        cpus: of its node.
        accounts: whether it keeps accounts in a database, and lets in whom they know only. There are none yet.
    """
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = SlurmCluster(folder)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o600)
    folder.chmod(0o755)
    values = {"host": platform.node().partition(".")[0], "folder": folder, "cpus": cpus}
    values |= {port: _free_port() for port in ("controller", "node", "books", "database")}
    conf = _CONF + (_ACCOUNTS if accounts else _NO_ACCOUNTS)
    (folder / "slurm.conf").write_text(conf.format(**values))
    (folder / "slurmdbd.conf").write_text(_BOOKS.format(**values))
    (folder / "slurmdbd.conf").chmod(0o600)
    database: subprocess.Popen[bytes] | None = None
    try:
        munged = ("munged", "--force", f"--key-file={folder}/key", f"--socket={folder}/munge.socket")
        cluster.tell(*munged, f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                     f"--seed-file={folder}/seed")  # fmt: skip
        if accounts:
            database = _start_database(folder, int(str(values["database"])))
            cluster.start("slurmdbd")
            _wait(lambda: _answers(cluster, "sacctmgr", "--noheader", "list", "cluster"), folder / "slurmdbd.log")
            cluster.tell("sacctmgr", "--immediate", "add", "cluster", "quorum")
        cluster.start("slurmctld")
        cluster.start("slurmd")
        _wait(lambda: "idle" in cluster.tell("sinfo", "--noheader", "--format=%T"), folder / "slurmctld.log")
        yield cluster
    finally:
        for daemon in ("slurmd", "slurmctld", "slurmdbd", "munged"):
            file = folder / f"{daemon}.pid"
            if file.exists():
                subprocess.run(["kill", "-9", file.read_text().strip()], check=False, capture_output=True)
        if database is not None:
            database.kill()
            database.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _start_database(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start MariaDB in the folder, with a user for Slurm."""
    shared = ("--no-defaults", f"--datadir={folder}/database", "--user=root")
    subprocess.run(
        ["mariadb-install-db", *shared, "--skip-test-db", "--auth-root-authentication-method=normal"],
        check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    (folder / "users.sql").write_text(
        "CREATE USER 'keeper'@'127.0.0.1' IDENTIFIED BY 'keeper';\nGRANT ALL ON *.* TO 'keeper'@'127.0.0.1';\n"
    )
    database = subprocess.Popen(
        ["mariadbd", *shared, f"--socket={folder}/database.socket", f"--pid-file={folder}/mariadbd.pid",
         f"--port={port}", "--bind-address=127.0.0.1", "--skip-name-resolve", f"--init-file={folder}/users.sql",
         f"--log-error={folder}/mariadbd.log"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _wait((folder / "mariadbd.pid").exists, folder / "mariadbd.log")
    return database


def _answers(cluster: SlurmCluster, *line: str) -> bool:
    try:
        cluster.tell(*line)
    except subprocess.SubprocessError:
        return False
    return True


def _wait(ready: Callable[[], bool], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end, log.read_text()[-2000:]
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
