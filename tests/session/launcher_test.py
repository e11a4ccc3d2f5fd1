#!/usr/bin/env python3
"""Where sweeps run that somebody else starts: processes that mpirun or the like started together, as far as their variables say so; tasks of
job arrays; file systems without links or locks.

Usage: launcher_test.py PARADNN LACKING.so"""

import errno
import fcntl
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "cli"))
from program import ROOFS, SHORT, Case, environment, main  # noqa: E402
from processes import preload  # noqa: E402

LACKING = os.path.abspath(sys.argv[2])

LAUNCHERS = ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, {"PMI_RANK": "1", "PMI_SIZE": "2"},
             {"PMIX_RANK": "1"}, {"MV2_COMM_WORLD_RANK": "1"}, {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"})
# The first process, on a host that is one of two.
FIRST = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}


class Launched(Case):
    def sweep(self, *arguments, expect=0, **options):
        return super().sweep(*SHORT, *arguments, expect=expect, **options)

    def test_every_process_says_what_it_is_asked(self):
        for variables in (*LAUNCHERS, FIRST):
            for arguments in (["--help"], ["--version"], ["list", "small.yaml"]):
                with self.subTest(variables=variables, arguments=arguments):
                    self.assertEqual(self.paradnn(*arguments, expect=0, env=environment(**variables)).stdout,
                                     self.paradnn(*arguments, expect=0).stdout)

    def test_shards_are_measured_by_all(self):
        for rank in ("0", "1"):
            self.sweep("--shard", f"{rank}/2", "-o", f"{rank}.results", env=environment(OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE="2"))
        self.assertEqual(sorted(row["id"] for rank in "01" for row in self.rows(f"{rank}.results", "results.csv")), sorted(self.ids()))

    def test_all_join(self):
        for variables in LAUNCHERS:
            with self.subTest(variables=variables):
                directory = next(iter(variables))
                said = self.sweep("-o", directory, "--join", env=environment(**variables)).stderr
                self.assertIn("instances are done", said)
                self.assertIn("part: ", said)

    def test_one_directory_is_written_by_one_after_the_other(self):
        self.sweep("-o", "out")
        for variables in LAUNCHERS:
            with self.subTest(variables=variables), open(self.path("out", "journal.csv"), encoding="utf-8") as journal:
                fcntl.flock(journal, fcntl.LOCK_EX)
                self.assertIn("another paradnn is writing there", self.sweep("-o", "out", expect=2).stderr)
                child = self.popen("sweep", "small.yaml", *ROOFS, *SHORT, "-o", "out", env=environment(**variables))
                self.assertEqual(child.stderr.readline(), "paradnn: out: waiting for another process that writes there; with --join they "
                                 "would share the work\n")
                fcntl.flock(journal, fcntl.LOCK_UN)
                self.assertNotIn("waiting", child.communicate()[1])
                self.assertEqual(child.returncode, 0)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core is one setup")
    def test_who_waited_on_another_core_has_nothing_to_add(self):
        """As mpirun binds its processes; what is not done, it would measure in another setup, and says so."""
        bound = {"env": environment(**LAUNCHERS[0]), "preexec_fn": lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})}
        self.sweep("-o", "out")
        before = self.read("out", "environment.yaml")
        for more, status in (([], 0), (["--set", "measure.rounds=9"], 2)):
            with open(self.path("out", "journal.csv"), encoding="utf-8") as journal:
                fcntl.flock(journal, fcntl.LOCK_EX)
                child = self.popen("sweep", "small.yaml", *ROOFS, *SHORT, *more, "-o", "out", **bound)
                child.stderr.readline()
                fcntl.flock(journal, fcntl.LOCK_UN)
            said = child.communicate()[1]
            self.assertEqual(child.returncode, status, said)
            self.assertEqual("one machine and setup" in said, status == 2, said)
        self.assertEqual(self.read("out", "environment.yaml"), before)

    def test_an_array_of_some_shards_is_said(self):
        said = {}
        for count in ("2", "16"):
            array = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "15", "SLURM_ARRAY_TASK_COUNT": count}
            said[count] = self.sweep("--shard", "auto/16", "-o", "out", env=environment(**array)).stderr
        self.assertIn("paradnn: this job array has 2 of the 16 shards; the others need tasks of their own\n", said["2"])
        self.assertNotIn("job array", said["16"])

    def test_ranks_are_left_to_the_first(self):
        command = ["sweep", "fc/layers=1,nodes=8,batch=2,threads=1,ranks=2", *ROOFS, *SHORT, "-q", "-o", "out"]
        for variables in LAUNCHERS:
            with self.subTest(variables=variables):
                said = self.paradnn(*command, expect=0, env=environment(**variables)).stderr
                self.assertEqual(said, f"paradnn: {next(iter(variables))} is 1: a sweep with ranks is left to process 0, which has mpirun "
                                 "start them\n")
                self.assertFalse(os.path.exists(self.path("out")))
        self.assertIn("name them in PARADNN_HOSTS", self.paradnn(*command, expect=2, env=environment(**FIRST)).stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_shard_with_ranks_is_left_to_nobody(self):
        """No ranks can be started here: the row says so."""
        shard = ["sweep", "fc/layers=1,nodes=8,batch=2,threads=1,ranks=2", *ROOFS, *SHORT, "-q", "-o", "out", "--shard", "0/1"]
        for variables in LAUNCHERS[:2]:
            said = self.paradnn(*shard, env=environment(PARADNN_MPIRUN="/none", **variables)).stderr
            self.assertNotIn("left to", said)
        self.assertEqual(len(self.rows("out", "results.csv")), 1)


class Lacking(Case):
    def lacks(self, call, cause, *arguments, expect=1):
        return self.sweep(*SHORT, *arguments, expect=expect, env=environment(**preload(LACKING), LACKS=f"{call} {cause}")).stderr

    def test_links(self):
        for cause in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            self.assertEqual(self.lacks("linkat", cause, "-o", "out", "--join"),
                             f"paradnn: out/spec.yaml: cannot be created: {os.strerror(cause)}; this file system has no hard links, by which "
                             "--join shares work: use a directory on another one, or --shard\n")
        self.assertEqual(self.lacks("linkat", errno.EIO, "-o", "out", "--join"),
                         f"paradnn: out/spec.yaml: cannot be created: {os.strerror(errno.EIO)}\n")
        # The spec is there, but no lease can be claimed.
        self.sweep(*SHORT, "-o", "out", "--join")
        os.remove(self.path("out", "leases", "00000001"))
        self.assertIn("has no hard links", self.lacks("linkat", errno.EPERM, "-o", "out", "--join"))

    def test_locks(self):
        for cause in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK):
            for options in ([], ["--join"]):
                self.assertIn(f"/journal.csv: cannot be locked: {os.strerror(cause)}; this file system has no locks: mount it with them "
                              "(Lustre: -o flock), or use a directory on another one with -o\n",
                              self.lacks("flock", cause, "-o", "out" + "".join(options), *options))
        self.assertIn(f"journal.csv: cannot be locked: {os.strerror(errno.EIO)}\n", self.lacks("flock", errno.EIO, "-o", "out"))

    def test_a_worker_that_cannot_be_executed(self):
        for name, mode, cause in (("plain", 0o644, errno.EACCES), ("none", None, errno.ENOENT), ("script", 0o755, errno.ENOENT)):
            path = self.path(name)
            if mode:
                self.write(name, "#!/none\n")
                os.chmod(path, mode)
            said = self.sweep(*SHORT, "-o", "out", expect=1, env=environment(PARADNN_WORKER=path)).stderr
            self.assertIn(f"{path}: {os.strerror(cause)}\n" if name == "script" else f"'{path}' (PARADNN_WORKER): {os.strerror(cause)}\n", said)


if __name__ == "__main__":
    main(2)
