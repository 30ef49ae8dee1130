"""A cluster of Slurm on this machine: one node, a key, ports and folders of its own, no accounts."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
MISSING = "Slurm's daemons, as root: apt-get install slurm-wlm"

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
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
SchedulerParameters=sched_interval=2,bf_interval=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=3000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def can_run() -> bool:
    """Whether this machine can be a cluster."""
    return os.geteuid() == 0 and all(shutil.which(daemon) for daemon in DAEMONS)


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
            line, env={**os.environ, **self.environment}, check=True, capture_output=True, text=True, timeout=60
        )
        return done.stdout

    def jobs(self, state: str) -> list[str]:
        """Return the numbers of the jobs in a state, in their order."""
        return sorted(self.tell("squeue", "--noheader", f"--states={state}", "--format=%i").split(), key=int)

    def wait_for(self, state: str, number: int = 1) -> list[str]:
        """Wait until so many jobs are in a state, for a minute at most."""
        end = time.monotonic() + 60
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
            subprocess.run(["pkill", "-9", "-f", "slurmstepd|submitit.core._submit"], check=False)
        while Path(f"/proc/{number}").exists():
            time.sleep(0.1)


@contextmanager
def slurm_cluster(cpus: int = 2) -> Iterator[SlurmCluster]:
    """Run a cluster whose folder, with everything in it, is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = SlurmCluster(folder)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o600)
    folder.chmod(0o755)
    host = platform.node().partition(".")[0]
    ports = {"controller": _free_port(), "node": _free_port()}
    (folder / "slurm.conf").write_text(_CONF.format(host=host, folder=folder, cpus=cpus, **ports))
    try:
        munged = ("munged", "--force", f"--key-file={folder}/key", f"--socket={folder}/munge.socket")
        cluster.tell(*munged, f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                     f"--seed-file={folder}/seed")  # fmt: skip
        cluster.start("slurmctld")
        cluster.start("slurmd")
        end = time.monotonic() + 60
        while "idle" not in cluster.tell("sinfo", "--noheader", "--format=%T"):
            assert time.monotonic() < end, (folder / "slurmctld.log").read_text()[-2000:]
            time.sleep(0.2)
        yield cluster
    finally:
        for daemon in ("slurmd", "slurmctld", "munged"):
            file = folder / f"{daemon}.pid"
            if file.exists():
                subprocess.run(["kill", "-9", file.read_text().strip()], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
