"""A Slurm on this machine: slurmctld, munge, and nodes that are slurmds in PID namespaces of their own, so that killing one is what a
power failure is to a real one. What it takes is in Debian's packages slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins and munge."""

import getpass
import os
import random
import shutil
import signal
import subprocess
import time

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "sinfo", "munged", "unshare", "taskset")

CONFIGURATION = """\
ClusterName=test
SlurmctldHost=localhost
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=cred_expire=5,socket={place}/munge.sock
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool.%n
TmpFS={place}/tmp.%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.%n.pid
SlurmdLogFile={place}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmdTimeout=5
KillWait=3
MinJobAge=3600
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
JobCompType=jobcomp/none
NodeName=n[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 State=UNKNOWN
PartitionName=test Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(Exception):
    """There is no Slurm here, and this says why."""


def missing():
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [name for name in PROGRAMS if not shutil.which(name, path=path)]


class Slurm:
    def __init__(self, place):
        """place: a directory to be made, in one that everybody may enter."""
        self.place, self.nodes, self.servers = place, {}, []
        self.cpus = sorted(os.sched_getaffinity(0))
        self.environment = {**os.environ, "SLURM_CONF": os.path.join(place, "slurm.conf"),
                            "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}

    def up(self, nodes):
        """Starts all; stop() is called in any case. Unavailable where namespaces or the loopback interface cannot be had."""
        place = self.place
        if missing():
            raise Unavailable(", ".join(missing()) + " not installed")
        if self.run("unshare", "--uts", "--pid", "--fork", "--mount-proc", "true", check=False).returncode:
            raise Unavailable("no PID namespaces are allowed")
        for name in ("", "state"):
            os.makedirs(os.path.join(place, name))
        port = random.randrange(20000, 30000)
        with open(os.path.join(place, "slurm.conf"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(user=getpass.getuser(), place=place, port=port, nodes=nodes, first=port + 1,
                                            last=port + nodes))
        with open(os.path.join(place, "cgroup.conf"), "w", encoding="utf-8") as file:
            file.write("CgroupPlugin=cgroup/v1\n")  # slurmd loads one at its start, used or not
        with open(os.path.join(place, "munge.key"), "wb") as file:
            os.chmod(file.fileno(), 0o400)
            file.write(os.urandom(1024))
        self.start("munged", "-F", *(f"--{what}={os.path.join(place, 'munge.' + end)}" for what, end in
                                     (("key-file", "key"), ("socket", "sock"), ("log-file", "log"), ("pid-file", "pid"),
                                      ("seed-file", "seed"))))
        self.wait(lambda: os.path.exists(os.path.join(place, "munge.sock")))
        self.start("slurmctld", "-D")
        for number in range(1, nodes + 1):
            self.node_up(f"n{number}")
        self.wait(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(nodes))

    def start(self, *command):
        with open(os.path.join(self.place, command[0] + ".out"), "wb") as log:
            self.servers.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def run(self, *command, check=True):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"{command}: {done.stderr}")
        return done

    def wait(self, condition):
        """A client blocks for long if the controller is gone, so that is looked at first."""
        while True:
            for server in [*self.servers, *self.nodes.values()]:
                if server.poll() is not None:
                    self.complain(f"{' '.join(server.args)} has ended")
            if condition():
                return
            time.sleep(0.1)

    def complain(self, what):
        logs = ""
        for name in sorted(os.listdir(self.place)):
            if name.endswith((".out", ".log")):
                with open(os.path.join(self.place, name), errors="replace", encoding="utf-8") as file:
                    logs += f"--- {name}\n" + "".join(file.readlines()[-8:])
        if "Address family not supported" in logs:
            raise Unavailable("the loopback interface is all there is, and Slurm wants another address")
        raise AssertionError(f"Slurm: {what}\n{logs}")

    def node_up(self, name):
        os.makedirs(os.path.join(self.place, "tmp." + name), exist_ok=True)
        cpu = self.cpus[(int(name[1:]) - 1) % len(self.cpus)]
        script = f"hostname {name}; exec taskset -c {cpu} slurmd -D -N {name}"
        with open(os.path.join(self.place, name + ".out"), "ab") as log:
            self.nodes[name] = subprocess.Popen(
                ["unshare", "--uts", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "sh", "-c", script],
                env=self.environment, stdout=log, stderr=log)

    def node_die(self, name):
        """Its power fails; whoever looks at it knows at once instead of after SlurmdTimeout."""
        node = self.nodes.pop(name)
        node.kill()
        node.wait()
        self.run("scontrol", "update", f"nodename={name}", "state=down", "reason=killed")

    def is_in_queue(self, job):
        return bool(self.run("squeue", "-h", "-j", job, check=False).stdout.strip())

    def stop(self):
        """The controller first: the nodes would wait for it."""
        if self.nodes:
            self.run("scancel", "--full", "-u", getpass.getuser(), check=False)
        for process in [*reversed(self.servers), *self.nodes.values()]:
            process.send_signal(signal.SIGKILL)
            process.wait()
