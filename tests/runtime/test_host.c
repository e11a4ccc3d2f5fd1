/* Host facts from fake /proc and /sys trees, and those of the machine that runs the test. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "tests/cmocka_all.h"
#include "tests/near.h"

#include "runtime/host/counters.h"
#include "runtime/host/host_cgroup.h"
#include "runtime/host/host.h"
#include "runtime/host/host_openmp.h"

#include <limits.h>
#include <sched.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 14 };

struct file {
    const char *path, *text;
};

static char root[PATH_MAX];

static int make_root(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/paradnn-host-XXXXXX", parent && *parent ? parent : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    (void)state;
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void write_file(const struct file *file) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, file->path);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(file->text, out);
    fclose(out);
}

static void write_files(const struct file *files, size_t count) {
    for (size_t i = 0; i < count && files[i].path; i++)
        write_file(&files[i]);
}

#define V2_MOUNT "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

struct cgroup_row {
    const char *what;
    double quota_cpus;
    uint64_t headroom_bytes;
    struct file files[FILES_MAX];
};

static const struct cgroup_row cgroup_rows[] = {
    {"no files at all", 0, UINT64_MAX, {{0}}},
    {"version 2 without limits",
     0,
     UINT64_MAX,
     {{"/proc/self/cgroup", "0::/a.slice\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/a.slice/cpu.max", "max 100000\n"},
      {"/sys/fs/cgroup/a.slice/memory.max", "max\n"},
      {"/sys/fs/cgroup/a.slice/memory.current", "5000\n"}}},
    {"version 2, the parent has the smaller limits",
     1.5,
     600,
     {{"/proc/self/cgroup", "0::/a.slice/b.scope\n"},
      {"/proc/self/mountinfo", "1 0 0:1 / / rw - ext4 /dev/x rw\n" V2_MOUNT},
      {"/sys/fs/cgroup/a.slice/b.scope/cpu.max", "400000 100000\n"},
      {"/sys/fs/cgroup/a.slice/b.scope/memory.max", "8000\n"},
      {"/sys/fs/cgroup/a.slice/b.scope/memory.current", "1000\n"},
      {"/sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n"},
      {"/sys/fs/cgroup/a.slice/memory.max", "2000\n"},
      {"/sys/fs/cgroup/a.slice/memory.current", "1500\n"},
      {"/sys/fs/cgroup/a.slice/memory.stat", "anon 1400\nfile 100\ninactive_file 100\n"}}},
    {"version 2, throttled before it is killed",
     0,
     100,
     {{"/proc/self/cgroup", "0::/a\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/a/memory.max", "9000\n"},
      {"/sys/fs/cgroup/a/memory.high", "1100\n"},
      {"/sys/fs/cgroup/a/memory.current", "1000\n"}}},
    {"version 2, over the limit",
     0,
     0,
     {{"/proc/self/cgroup", "0::/a\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/a/memory.max", "1000\n"},
      {"/sys/fs/cgroup/a/memory.current", "1001\n"}}},
    {"a limit on the mount point itself",
     2,
     50,
     {{"/proc/self/cgroup", "0::/\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/cpu.max", "20000 10000\n"},
      {"/sys/fs/cgroup/memory.max", "100\n"},
      {"/sys/fs/cgroup/memory.current", "50\n"}}},
    {"version 1 beside an empty version 2",
     0.5,
     4000,
     {{"/proc/self/cgroup", "12:memory:/job\n5:cpu,cpuacct:/job\n4:cpuset:/wrong\n0::/unused\n"},
      {"/proc/self/mountinfo", "40 30 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                               "41 30 0:32 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                               "42 30 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                               "43 30 0:34 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "10000\n"},
      {"/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "7000\n"},
      {"/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 5\ntotal_inactive_file 1000\n"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "8000\n"},
      {"/sys/fs/cgroup/cpuset/wrong/cpu.cfs_quota_us", "1\n"},
      {"/sys/fs/cgroup/cpuset/wrong/cpu.cfs_period_us", "100000\n"}}},
    {"version 1, no quota is -1",
     0,
     UINT64_MAX,
     {{"/proc/self/cgroup", "5:cpu:/job\n"},
      {"/proc/self/mountinfo", "41 30 0:32 / /cg/cpu rw - cgroup cgroup rw,cpu\n"},
      {"/cg/cpu/job/cpu.cfs_quota_us", "-1\n"},
      {"/cg/cpu/job/cpu.cfs_period_us", "100000\n"}}},
    {"a container that sees only its own part",
     3,
     1,
     {{"/proc/self/cgroup", "0::/docker/abc/inner\n"},
      {"/proc/self/mountinfo", "35 24 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"},
      {"/sys/fs/cgroup/inner/memory.max", "3\n"},
      {"/sys/fs/cgroup/inner/memory.current", "2\n"},
      {"/sys/fs/cgroup/cpu.max", "300000 100000\n"}}},
    {"a container with the host's path and no directory for it",
     4,
     UINT64_MAX,
     {{"/proc/self/cgroup", "0::/docker/abc\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}}},
    {"garbage",
     0,
     UINT64_MAX,
     {{"/proc/self/cgroup", "\n::\nx\n0:\n0::/a"},
      {"/proc/self/mountinfo", "- -\n\n1 2 3 4 5 - cgroup2\n" V2_MOUNT},
      {"/sys/fs/cgroup/a/cpu.max", "some 100000\n"},
      {"/sys/fs/cgroup/a/memory.max", ""}}},
};

static void test_cgroup_read_trees(void **state) {
    for (size_t i = 0; i < sizeof cgroup_rows / sizeof *cgroup_rows; i++) {
        const struct cgroup_row *row = &cgroup_rows[i];
        struct pdnn_cgroup cgroup;
        assert_int_equal(make_root(state), 0);
        write_files(row->files, FILES_MAX);
        pdnn_cgroup_read(root, &cgroup);
        assert_int_equal(remove_root(state), 0);
        if (cgroup.headroom_bytes != row->headroom_bytes)
            fail_msg("%s: headroom is %llu", row->what, (unsigned long long)cgroup.headroom_bytes);
        if (cgroup.quota_cpus < row->quota_cpus - 1e-9 || cgroup.quota_cpus > row->quota_cpus + 1e-9)
            fail_msg("%s: quota is %g", row->what, cgroup.quota_cpus);
    }
}

static void test_oom_kills_read_trees(void **state) {
    static const struct {
        const char *what;
        struct pdnn_oom_kills kills;
        struct file files[FILES_MAX];
    } rows[] = {
        {"no files at all", {false, 0}, {{0}}},
        {"only the machine's", {false, 7}, {{"/proc/vmstat", "pgfault 1\noom_kill 7\n"}}},
        {"version 2",
         {true, 2},
         {{"/proc/self/cgroup", "0::/a\n"},
          {"/proc/self/mountinfo", V2_MOUNT},
          {"/proc/vmstat", "oom_kill 7\n"},
          {"/sys/fs/cgroup/a/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n"}}},
        {"version 1",
         {true, 1},
         {{"/proc/self/cgroup", "4:memory:/job\n0::/\n"},
          {"/proc/self/mountinfo", "42 30 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                                   "43 30 0:34 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
          {"/sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"}}},
        {"version 1 of a kernel that does not count",
         {false, 9},
         {{"/proc/self/cgroup", "4:memory:/\n"},
          {"/proc/self/mountinfo", "42 30 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"},
          {"/proc/vmstat", "oom_kill 9\n"},
          {"/sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n"}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(make_root(state), 0);
        write_files(rows[i].files, FILES_MAX);
        struct pdnn_oom_kills kills = pdnn_oom_kills_read(root);
        assert_int_equal(remove_root(state), 0);
        if (kills.of_group != rows[i].kills.of_group || kills.count != rows[i].kills.count)
            fail_msg("%s: %d, %llu", rows[i].what, kills.of_group, (unsigned long long)kills.count);
    }
}

static void test_hostfiles_cpu_models(void **state) {
    static const struct {
        const char *text, *model, *isa;
    } rows[] = {
        {"processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\nflags\t\t: fpu avx avx2x fma avx2\n\n"
         "processor\t: 1\nmodel name\t: another\nflags\t\t: avx512f\n",
         "AMD EPYC 7763", "avx avx2 fma"},
        {"processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd sve bf16\n", "", "asimd bf16 sve"},
        {"processor\t: 0\nFeatures\t: fp asimd asimddp\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
         "CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n",
         "Neoverse-N1", "asimd asimddp"},
        {"CPU implementer\t: 0x99\nCPU part\t: 0x1\n", "implementer 0x99 part 0x001", ""},
        {"model name: x", "x", ""},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char model[PDNN_HOST_TEXT], isa[PDNN_HOST_TEXT];
        assert_int_equal(make_root(state), 0);
        write_file(&(struct file){"/proc/cpuinfo", rows[i].text});
        pdnn_hostfiles_cpu(root, model, isa);
        assert_int_equal(remove_root(state), 0);
        assert_string_equal(model, rows[i].model);
        assert_string_equal(isa, rows[i].isa);
    }
}

static void test_hostfiles_generation(void **state) {
    static const struct {
        const char *text, *generation;
    } rows[] = {
        {"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n\n"
         "processor\t: 1\nmodel\t\t: 2\n",
         "AuthenticAMD family 25 model 1"},
        {"vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel name\t: AMD EPYC\n", ""},
        {"CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char generation[PDNN_HOST_TEXT] = "before";
        assert_int_equal(make_root(state), 0);
        write_file(&(struct file){"/proc/cpuinfo", rows[i].text});
        pdnn_hostfiles_generation(root, generation);
        assert_int_equal(remove_root(state), 0);
        assert_string_equal(generation, rows[i].generation);
    }
}

static void test_hostfiles_long_names_are_cut(void **state) {
    (void)state;
    char text[4096] = "model name\t: ", model[PDNN_HOST_TEXT], isa[PDNN_HOST_TEXT];
    memset(text + strlen(text), 'x', 3000);
    write_file(&(struct file){"/proc/cpuinfo", text});
    pdnn_hostfiles_cpu(root, model, isa);
    assert_int_equal(strlen(model), PDNN_HOST_TEXT - 1);
}

static void test_hostfiles_memory_entries(void **state) {
    (void)state;
    uint64_t total = 1, available = 1;
    pdnn_hostfiles_memory(root, &total, &available);
    assert_int_equal(total, 0);
    write_file(
        &(struct file){"/proc/meminfo", "MemTotal:   2000 kB\nMemFree:  100 kB\nMemAvailable:  1500 kB\n"});
    pdnn_hostfiles_memory(root, &total, &available);
    assert_int_equal(total, 2000 * 1024);
    assert_int_equal(available, 1500 * 1024);
    write_file(&(struct file){"/proc/meminfo", "MemTotal:   2000 kB\nMemFree:  100 kB\n"});
    pdnn_hostfiles_memory(root, &total, &available);
    assert_int_equal(available, 100 * 1024);
}

static void test_hostfiles_governor_and_throttle(void **state) {
    (void)state;
    char governor[PDNN_HOST_TEXT];
    pdnn_hostfiles_governor(root, 3, governor);
    assert_string_equal(governor, "");
    assert_int_equal(pdnn_hostfiles_throttle_count(root), 0);
    static const struct file files[] = {
        {"/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance\n"},
        {"/sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count", "4\n"},
        {"/sys/devices/system/cpu/cpu3/thermal_throttle/package_throttle_count", "30\n"},
        {"/sys/devices/system/cpu/cpu11/thermal_throttle/core_throttle_count", "200\n"},
        {"/sys/devices/system/cpu/cpufreq/thermal_throttle/core_throttle_count", "1000\n"},
    };
    write_files(files, sizeof files / sizeof *files);
    pdnn_hostfiles_governor(root, 3, governor);
    assert_string_equal(governor, "performance");
    assert_int_equal(pdnn_hostfiles_throttle_count(root), 234);
}

/* Ticks of a hundredth of a second, of the processing units that are asked for. */
static void test_hostfiles_steal(void **state) {
    static const struct {
        int units[2];
        int64_t count;
        double ns;
    } rows[] = {{{0, 11}, 2, 210e7}, {{1}, 1, 7e7}, {{11}, 1, 200e7}, {{0, 2}, 2, NAN}, {{12}, 1, NAN}};
    (void)state;
    assert_true(isnan(pdnn_hostfiles_steal_ns(root, rows[0].units, 2)));
    write_file(&(struct file){"/proc/stat",
                              "cpu  1 2 3 4 5 6 7 999 0 0\ncpu0 1 2 3 4 5 6 7 10 0 0\ncpu1 1 2 3 4 5 6 7 7\n"
                              "cpu11 1 2 3 4 5 6 7 200 0 0\ncpu12 1 2\nintr 1 2 3 4 5 6 7 8 9\n"});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double ns = pdnn_hostfiles_steal_ns(root, rows[i].units, rows[i].count);
        assert_true(isnan(rows[i].ns) ? isnan(ns) : ns == rows[i].ns);
    }
}

static void test_host_read_here(void **state) {
    (void)state;
    struct pdnn_host host;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_host_read(&host, &err), PDNN_OK);
    assert_true(host.threads >= 1 && host.threads <= host.cores_online);
    assert_true(host.numa_nodes >= 1);
    assert_true(host.memory_limit_bytes > 0 && host.memory_limit_bytes <= host.memory_bytes);
    assert_true(strlen(host.name) > 0 && strlen(host.cpu) > 0);
    assert_true(strncmp(host.kernel, "Linux ", 6) == 0);
    for (int64_t i = 1; i < host.threads; i++)
        assert_int_not_equal(host.core_pu[i], host.core_pu[i - 1]);
    for (size_t level = 0; level < PDNN_CACHE_LEVELS; level++)
        assert_true(host.cache_bytes[level] == 0 || host.cache_cores[level] >= 1);
}

/* Bound to its last allowed hardware thread, the process may use exactly that one. */
static void test_host_read_respects_affinity(void **state) {
    (void)state;
    struct pdnn_host host;
    struct pdnn_err err = {0};
    cpu_set_t before, one;
    int last = -1;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        last = CPU_ISSET((size_t)i, &before) ? i : last;
    CPU_ZERO(&one);
    CPU_SET((size_t)last, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    enum pdnn_status status = pdnn_host_read(&host, &err);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(status, PDNN_OK);
    assert_int_equal(host.threads, 1);
    assert_int_equal(host.core_pu[0], last);
}

/* A synthetic hwloc topology: two hardware threads of a core count once, and caches are
 * those that the first core sees. */
static void test_host_read_one_unit_per_core(void **state) {
    (void)state;
    struct pdnn_host host;
    struct pdnn_err err = {0};
    cpu_set_t allowed;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (!CPU_ISSET(0, &allowed) || !CPU_ISSET(1, &allowed))
        skip();
    const struct pdnn_host_source here = {"", NULL, environ};
    setenv("HWLOC_SYNTHETIC", "pack:2 l3:2(size=8000000) l2:2(size=500000) l1d:1(size=32000) core:1 pu:2", 1);
    enum pdnn_status status = pdnn_host_read_from(&here, &host, &err);
    unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(status, PDNN_OK);
    assert_int_equal(host.cores_online, 8);
    assert_int_equal(host.core_pu[0], 0);
    assert_true(host.threads == 1 || host.core_pu[1] == 2);
    assert_int_equal(host.cache_bytes[0], 32000);
    assert_int_equal(host.cache_bytes[1], 500000);
    assert_int_equal(host.cache_bytes[2], 8000000);
    assert_int_equal(host.cache_cores[0], 1);
    assert_true(host.cache_cores[2] >= 1 && host.cache_cores[2] <= 2);
}

enum { VARIABLES_MAX = 10, VARIABLE_TEXT = 32 };

struct variables {
    char text[VARIABLES_MAX][VARIABLE_TEXT];
    char *list[VARIABLES_MAX]; /* as environ */
};

static void set_variables(struct variables *variables, const char *const *from) {
    size_t count = 0;
    for (; from[count]; count++) {
        snprintf(variables->text[count], VARIABLE_TEXT, "%s", from[count]);
        variables->list[count] = variables->text[count];
    }
    variables->list[count] = NULL;
}

/* A synthetic machine of 8 cores with two hardware threads each, restricted by masks,
 * cgroups and OpenMP variables. */
static void test_host_read_from_matrix(void **state) {
    static const struct {
        const char *mask, *quota;
        const char *variables[4];
        int64_t threads, threads_all;
        const char *places;
    } rows[] = {
        {"0-15", NULL, {NULL}, 8, 8, "{0},{2},{4},{6},{8},{10},{12},{14}"},
        {"0-3", NULL, {NULL}, 2, 2, "{0},{2}"},
        {"1,5,8-9,15", NULL, {NULL}, 4, 4, "{1},{5},{8},{15}"}, /* a cpuset with holes */
        {"3,13", "150000 100000", {NULL}, 1, 1, "{3}"},
        {"0-15", "350000 100000", {NULL}, 3, 3, "{0},{2},{4}"},
        {"0-15", "50000 100000", {NULL}, 1, 1, "{0}"},
        {"0-15", "max 100000", {NULL}, 8, 8, "{0},{2},{4},{6},{8},{10},{12},{14}"},
        {"2-9", NULL, {"OMP_NUM_THREADS=3"}, 4, 3, "{2},{4},{6},{8}"},
        {"2-9", NULL, {"OMP_NUM_THREADS=12"}, 4, 4, "{2},{4},{6},{8}"},
        {"2-9", NULL, {"OMP_NUM_THREADS=0"}, 4, 4, "{2},{4},{6},{8}"},
        {"2-9", NULL, {"OMP_THREAD_LIMIT=2"}, 2, 2, "{2},{4}"},
        {"2-9", NULL, {"OMP_THREAD_LIMIT=3", "OMP_NUM_THREADS=2,4"}, 3, 2, "{2},{4},{6}"},
        {"2-9", "200000 100000", {"OMP_NUM_THREADS=4", "OMP_PLACES={0}"}, 2, 2, "{2},{4}"},
        {"2-9", NULL, {"SLURM_CPUS_PER_TASK=2", "SLURM_CPUS_ON_NODE=3"}, 4, 2, "{2},{4},{6},{8}"},
        {"2-9", NULL, {"OMP_NUM_THREADS=3", "NSLOTS=2"}, 4, 2, "{2},{4},{6},{8}"},
        {"2-9", NULL, {"NSLOTS=3", "OMP_NUM_THREADS=2"}, 4, 2, "{2},{4},{6},{8}"},
        {"2-9", NULL, {"PBS_NCPUS=1", "OMP_THREAD_LIMIT=2"}, 2, 1, "{2},{4}"},
        {"2-9", NULL, {"PBS_NUM_PPN=64", "LSB_DJOB_NUMPROC=3"}, 4, 3, "{2},{4},{6},{8}"},
        {"2-9", "200000 100000", {"SLURM_CPUS_ON_NODE=3"}, 2, 2, "{2},{4}"},
        {"2-9", NULL, {"SLURM_CPUS_PER_TASK=0", "NSLOTS=", "PBS_NCPUS=4(x2)"}, 4, 4, "{2},{4},{6},{8}"},
        {"2-9", NULL, {"SLURM_CPUS_PER_TASKS=1", "SLURM_NTASKS=1"}, 4, 4, "{2},{4},{6},{8}"},
        {"2-9", NULL, {"XOMP_NUM_THREADS=1", "OMP_NUM_THREADSX=1"}, 4, 4, "{2},{4},{6},{8}"},
    };
    setenv("HWLOC_SYNTHETIC", "pack:1 core:8 pu:2", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_host host;
        struct pdnn_err err = {0};
        struct variables variables;
        const struct pdnn_host_source source = {root, rows[i].mask, variables.list};
        set_variables(&variables, rows[i].variables);
        assert_int_equal(make_root(state), 0);
        if (rows[i].quota) {
            write_file(&(struct file){"/proc/self/cgroup", "0::/job\n"});
            write_file(&(struct file){"/proc/self/mountinfo", V2_MOUNT});
            write_file(&(struct file){"/sys/fs/cgroup/job/cpu.max", rows[i].quota});
        }
        assert_int_equal(pdnn_host_read_from(&source, &host, &err), PDNN_OK);
        assert_int_equal(remove_root(state), 0);
        char *places = pdnn_host_places(&host);
        if (host.threads != rows[i].threads || host.threads_all != rows[i].threads_all)
            fail_msg("row %zu: %d threads, all is %d", i, (int)host.threads, (int)host.threads_all);
        assert_string_equal(places, rows[i].places);
        free(places);
    }
    unsetenv("HWLOC_SYNTHETIC");
}

static void test_openmp_sort_effects(void **state) {
    static const char *const texts[] = {"PATH=/bin",          "OMP_PROC_BIND=CLOSE",     "OMP_PLACES=sockets",
                                        "OMP_STACKSIZE=16M",  "KMP_AFFINITY=compact",    "OMP_NESTED=true",
                                        "OMP_NUM_THREADS=-1", "OMP_WAIT_POLICY=passive", NULL};
    struct variables variables;
    struct pdnn_str obeyed = {0}, overridden = {0};
    (void)state;
    set_variables(&variables, texts);
    pdnn_openmp_sort(variables.list, "", &obeyed, &overridden);
    assert_string_equal(obeyed.text, "OMP_PROC_BIND=CLOSE OMP_STACKSIZE=16M OMP_WAIT_POLICY=passive");
    assert_string_equal(overridden.text,
                        "OMP_PLACES=sockets KMP_AFFINITY=compact OMP_NESTED=true OMP_NUM_THREADS=-1");
    pdnn_str_finish(&obeyed);
    pdnn_str_finish(&overridden);
}

static void test_openmp_tell_reasons(void **state) {
    static const struct {
        const char *variables[4], *text, *ignored, *backends[2]; /* ignored, backends: "" and all */
    } rows[] = {
        {{"PATH=/bin"}, .text = ""},
        {{"LD_PRELOAD=libx.so", "MALLOC_ARENA_MAX=1", "MALLOC_X=1"},
         .text =
             "obeyed LD_PRELOAD=libx.so MALLOC_ARENA_MAX=1; overridden MALLOC_X=1, since paradnn does not know what "
             "they do"},
        {{"OPENBLAS_CORETYPE=Zen", "ONEDNN_CPU_ISA_HINTS=x", "OMP_DYNAMIC=true"},
         .text =
             "obeyed OPENBLAS_CORETYPE=Zen; ignored ONEDNN_CPU_ISA_HINTS=x, since the library does not know such "
             "a value, or has no code for it here; overridden OMP_DYNAMIC=true, since each thread is bound to a "
             "core of its own (taskset chooses which)",
         .ignored = "ONEDNN_CPU_ISA_HINTS=x\nOPENBLAS_CORETYPE=Ze"},
        {{"OPENBLAS_CORETYPE=Zen", "ONEDNN_VERBOSE=1", "LD_AUDIT=x"},
         .text = "obeyed OPENBLAS_CORETYPE=Zen LD_AUDIT=x",
         .backends = {"openblas"}},
        {{"OPENBLAS_CORETYPE=Zen", "OPENBLAS_X=1"}, .text = "", .backends = {"onednn"}},
        {{"OMP_NUM_THREADS= 1 "}, .text = "obeyed OMP_NUM_THREADS= 1 "},
        {{"SLURM_CPUS_PER_TASK=4", "OMP_NUM_THREADS=2", "SLURM_JOB_ID=7"},
         .text = "obeyed SLURM_CPUS_PER_TASK=4 OMP_NUM_THREADS=2"},
        {{"NSLOTS=undefined"}, .text = "overridden NSLOTS=undefined, since that is no number of threads"},
        {{"DNNL_VERBOSE=1", "OMP_PLACES=sockets", "ONEDNN_JIT_DUMP=1"},
         .text =
             "overridden DNNL_VERBOSE=1 ONEDNN_JIT_DUMP=1, since what is measured would take longer; overridden "
             "OMP_PLACES=sockets, since each thread is bound to a core of its own (taskset chooses which)"},
        {{"DNNL_X=1", "OMP_WAIT_POLICY=passive"},
         .text =
             "obeyed OMP_WAIT_POLICY=passive; overridden DNNL_X=1, since paradnn does not know what they do"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct variables variables;
        struct pdnn_str text = {0};
        set_variables(&variables, rows[i].variables);
        pdnn_openmp_tell(variables.list, rows[i].ignored ? rows[i].ignored : "",
                         rows[i].backends[0] ? rows[i].backends : NULL, &text);
        assert_string_equal(pdnn_str_text(&text), rows[i].text);
        pdnn_str_finish(&text);
    }
    char passed[] = "DNNL_CPU_ISA_HINTS=PREFER_YMM", shown[] = "OMP_DISPLAY_ENV=true";
    assert_true(pdnn_openmp_is_passed(passed) && pdnn_openmp_is_setting(passed));
    assert_true(pdnn_openmp_is_passed(shown) && !pdnn_openmp_is_setting(shown));
    assert_false(pdnn_openmp_is_variable("NSLOTS=4")); /* so workers, and the ranks' launcher, see it */
}

static void test_openmp_setting_values(void **state) {
    static const char *const texts[] = {"DNNL_CPU_ISA_HINTS=NO_HINTS",
                                        "ONEDNN_CPU_ISA_HINTS=PREFER_YMM",
                                        "OPENBLAS_CORETYPE=Nonsense",
                                        "MALLOC_TOP_PAD_=1",
                                        "OMP_WAIT_POLICY=active",
                                        "ONEDNN_VERBOSE=1",
                                        NULL};
    struct variables variables;
    const char *name, *value;
    struct pdnn_str set = {0};
    (void)state;
    set_variables(&variables, texts);
    for (size_t i = 0; pdnn_openmp_setting(i, variables.list, "OPENBLAS_CORETYPE=Nonsense", &name, &value);
         i++)
        if (*value || strcmp(name, "OPENBLAS_CORETYPE") == 0)
            pdnn_str_printf(&set, "%s=%s;", name, value);
    assert_string_equal(set.text, "ONEDNN_CPU_ISA_HINTS=PREFER_YMM;MALLOC_TOP_PAD_=1;OPENBLAS_CORETYPE=;");
    pdnn_str_finish(&set);
}

/* Cores that are taken away while a sweep runs. */
static void test_host_cores_check_says_which(void **state) {
    struct pdnn_host host;
    struct pdnn_err err = {0};
    cpu_set_t all, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(pdnn_host_read(&host, &err), PDNN_OK);
    assert_int_equal(pdnn_host_cores_check(&host, &err), PDNN_OK);
    if (host.threads < 2)
        skip();
    CPU_ZERO(&one);
    CPU_SET((size_t)host.core_pu[0], &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    enum pdnn_status status = pdnn_host_cores_check(&host, &err);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(status, PDNN_IO);
    char expected[64];
    snprintf(expected, sizeof expected, "cores %d", host.core_pu[1]);
    assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
    assert_int_equal(pdnn_host_cores_check(&host, &err), PDNN_OK);
}

/* ulimit -d, and the same for -v: what a worker needs for itself is not for tensors. */
static void test_host_read_respects_ulimit(void **state) {
    static const struct {
        int resource;
        uint64_t limit, most;
        enum pdnn_status status;
    } rows[] = {{RLIMIT_DATA, UINT64_C(1536) << 20, UINT64_C(1) << 30, PDNN_OK},
                {RLIMIT_DATA, UINT64_C(256) << 20, 0, PDNN_IO},
                {RLIMIT_AS, UINT64_C(1664) << 20, UINT64_C(1) << 30, PDNN_OK},
                {RLIMIT_AS, UINT64_C(600) << 20, 0, PDNN_IO}};
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its own maps are larger */
#endif
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rlimit usual, limit;
        struct pdnn_host host;
        struct pdnn_err err = {0};
        assert_int_equal(getrlimit((__rlimit_resource_t)rows[i].resource, &usual), 0);
        limit = (struct rlimit){rows[i].limit, usual.rlim_max};
        if (usual.rlim_cur != RLIM_INFINITY)
            continue;
        assert_int_equal(setrlimit((__rlimit_resource_t)rows[i].resource, &limit), 0);
        assert_int_equal(getrlimit((__rlimit_resource_t)rows[i].resource, &limit), 0);
        if (limit.rlim_cur != rows[i].limit)
            skip(); /* qemu takes these limits and does not keep them */
        enum pdnn_status read = pdnn_host_read(&host, &err), status = pdnn_host_process_check(&err);
        assert_int_equal(setrlimit((__rlimit_resource_t)rows[i].resource, &usual), 0);
        assert_int_equal(read, PDNN_OK);
        assert_int_equal(status, rows[i].status);
        assert_true(host.memory_limit_bytes <= rows[i].most);
        assert_int_equal(pdnn_host_process_check(&err), PDNN_OK);
    }
}

static void test_quota_stops_read_rows(void **state) {
    static const struct {
        struct file files[5];
        uint64_t stops;
    } rows[] = {
        {{{"/proc/self/cgroup", "0::/job\n"},
          {"/proc/self/mountinfo", V2_MOUNT},
          {"/sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 7\n"},
          {"/sys/fs/cgroup/cpu.stat", "nr_throttled 1\n"}},
         8},
        {{{"/proc/self/cgroup", "5:cpu:/job\n"},
          {"/proc/self/mountinfo", "41 30 0:32 / /cg/cpu rw - cgroup cgroup rw,cpu\n"},
          {"/cg/cpu/job/cpu.stat", "nr_periods 0\nnr_throttled 3\nthrottled_time 0\n"}},
         3},
        {{{"/proc/self/cgroup", "0::/job\n"}, {"/proc/self/mountinfo", V2_MOUNT}}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(make_root(state), 0);
        for (size_t k = 0; rows[i].files[k].path; k++)
            write_file(&rows[i].files[k]);
        assert_int_equal(pdnn_quota_stops_read(root), rows[i].stops);
        assert_int_equal(remove_root(state), 0);
    }
}

static void test_host_places_text(void **state) {
    (void)state;
    struct pdnn_host host = {.threads = 3, .core_pu = {0, 2, 17}};
    char *places = pdnn_host_places(&host);
    assert_string_equal(places, "{0},{2},{17}");
    free(places);
}

/* The kernel's level is said where it decides, and nowhere else; not where it cannot be read. */
static void test_counters_describe(void **state) {
    static const struct file level = {"/proc/sys/kernel/perf_event_paranoid", "3\n"};
    (void)state;
    for (int has_level = 0; has_level < 2; has_level++) {
        for (enum pdnn_counters i = PDNN_COUNTERS_OFF; i < PDNN_COUNTERS_COUNT; i++) {
            const bool is_said = has_level && (i == PDNN_COUNTERS_USER || i == PDNN_COUNTERS_FORBIDDEN);
            struct pdnn_str text = {0};
            pdnn_counters_describe(i, root, &text);
            assert_true(text.length > 0);
            assert_true((strstr(text.text, "(kernel.perf_event_paranoid is 3)") != NULL) == is_said);
            pdnn_str_finish(&text);
        }
        write_file(&level);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cgroup_read_trees),
        cmocka_unit_test(test_oom_kills_read_trees),
        cmocka_unit_test(test_hostfiles_cpu_models),
        cmocka_unit_test(test_hostfiles_generation),
        cmocka_unit_test_setup_teardown(test_hostfiles_long_names_are_cut, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_hostfiles_memory_entries, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_hostfiles_governor_and_throttle, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_hostfiles_steal, make_root, remove_root),
        cmocka_unit_test(test_host_read_here),
        cmocka_unit_test(test_host_read_respects_affinity),
        cmocka_unit_test(test_host_read_one_unit_per_core),
        cmocka_unit_test(test_host_read_from_matrix),
        cmocka_unit_test(test_openmp_sort_effects),
        cmocka_unit_test(test_openmp_tell_reasons),
        cmocka_unit_test(test_openmp_setting_values),
        cmocka_unit_test(test_host_cores_check_says_which),
        cmocka_unit_test(test_host_read_respects_ulimit),
        cmocka_unit_test(test_quota_stops_read_rows),
        cmocka_unit_test(test_host_places_text),
        cmocka_unit_test_setup_teardown(test_counters_describe, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
