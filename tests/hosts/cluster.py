"""tests/hosts/cluster.py -- a Slurm of one machine: munged, slurmctld and some slurmd, real ones, in a folder of their own.

As root, with Debian's munge, slurmctld, slurmd and slurm-client.  Nothing of the system's own Slurm is used: own ports, key, socket and spool.
"""
import os
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")


def missing():
    """The programs that are not here."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [name for name in PROGRAMS if not shutil.which(name, path=path)] + ([] if os.geteuid() == 0 else ["root"])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """start(), then `environment` for sbatch and the server; stop() ends all."""

    def __init__(self, folder, nodes=4):
        self.folder, self.nodes, self.daemons = folder, [f"node{i}" for i in range(nodes)], {}
        self.conf = os.path.join(folder, "slurm.conf")
        self.environment = dict(os.environ, SLURM_CONF=self.conf, PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

    def write(self):
        host = socket.gethostname().split(".")[0]
        lines = [
            "ClusterName=breakeven", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={free_port()}", "SlurmUser=root", "SlurmdUser=root",
            "AuthType=auth/munge", f"AuthInfo=socket={self.folder}/munge.socket", "CredType=cred/munge", f"StateSaveLocation={self.folder}/state",
            f"SlurmdSpoolDir={self.folder}/spool/%n", f"SlurmctldPidFile={self.folder}/slurmctld.pid", f"SlurmdPidFile={self.folder}/slurmd-%n.pid",
            f"SlurmctldLogFile={self.folder}/slurmctld.log", f"SlurmdLogFile={self.folder}/slurmd-%n.log", "ProctrackType=proctrack/pgid",
            "TaskPlugin=task/none", "SwitchType=switch/none", "MpiDefault=none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
            "SchedulerType=sched/builtin", "ReturnToService=2", "SlurmdTimeout=10", "SlurmctldTimeout=30", "InactiveLimit=0", "KillWait=3", "MinJobAge=300",
            "Waittime=0", "JobRequeue=1", "MaxArraySize=1001", "AccountingStorageType=accounting_storage/none", "JobAcctGatherType=jobacct_gather/none",
            "SlurmdParameters=config_overrides",
        ]
        lines += [f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=1 State=UNKNOWN" for name in self.nodes]
        lines += [f"PartitionName=main Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP"]
        with open(self.conf, "w") as f:
            f.write("\n".join(lines) + "\n")

    def daemon(self, name, *words):
        log = open(os.path.join(self.folder, name + ".out"), "ab")
        self.daemons[name] = subprocess.Popen(words, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def start(self):
        for part in ("state", "spool", *("spool/" + n for n in self.nodes)):
            os.makedirs(os.path.join(self.folder, part), exist_ok=True)
        os.chmod(self.folder, 0o755)
        with open(os.open(os.path.join(self.folder, "munge.key"), os.O_WRONLY | os.O_CREAT, 0o400), "wb") as f:
            f.write(os.urandom(128))
        self.write()
        self.daemon("munged", "munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={self.folder}/munge.key",
                    f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munged.seed", f"--log-file={self.folder}/munged.log")
        self.wait(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munged")
        self.daemon("slurmctld", "slurmctld", "-D", "-i", "-f", self.conf)
        for name in self.nodes:
            self.start_node(name)
        self.wait(lambda: all(state in ("idle", "mix", "alloc") for state in self.states().values()) and len(self.states()) == len(self.nodes), "the nodes")

    def start_node(self, name):
        self.daemon(name, "slurmd", "-D", "-N", name, "-f", self.conf)

    def kill_node(self, name):
        """As where a machine falls: the daemon and all that it runs, at once."""
        steps = self.steps_of(name)
        self.daemons[name].kill()
        self.daemons[name].wait()
        for pid in steps:
            for victim in [pid, *descendants(pid)]:
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def steps_of(self, name):
        """slurmstepd of each job on the node."""
        jobs = self.call("squeue", "--noheader", "--nodelist", name, "--format=%A").stdout.split()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().decode(errors="replace")
            except OSError:
                continue
            if any(words.startswith(f"slurmstepd: [{job}.") for job in jobs):
                found.append(int(pid))
        return found

    def call(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60)

    def states(self):
        out = self.call("sinfo", "--noheader", "--Node", "--format=%N %t").stdout
        return {line.split()[0]: line.split()[1].rstrip("*~#!%$@^-") for line in out.splitlines() if len(line.split()) == 2}

    def jobs(self):
        """{job: state} of all that Slurm remembers."""
        out = self.call("squeue", "--noheader", "--states=all", "--array", "--format=%i %T").stdout
        return dict(line.split()[:2] for line in out.splitlines())

    def wait(self, fn, what, seconds=120):
        until = time.time() + seconds
        while not fn():
            if time.time() > until:
                raise TimeoutError(f"{what}: nothing after {seconds} s\n{self.tail()}")
            time.sleep(0.2)

    def tail(self):
        text = ""
        for name in ("munged.out", "slurmctld.out", "slurmctld.log", f"slurmd-{self.nodes[0]}.log"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, errors="replace") as f:
                    text += f"--- {name}\n" + "".join(f.readlines()[-8:])
        return text

    def stop(self):
        for name in reversed(list(self.daemons)):
            process = self.daemons[name]
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def descendants(pid):
    """Processes below one, the nearest first."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as f:
                parents.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(name))
        except OSError:
            continue
    found, at = [], [pid]
    while at:
        below = parents.get(at.pop(), [])
        found += below
        at += below
    return found
