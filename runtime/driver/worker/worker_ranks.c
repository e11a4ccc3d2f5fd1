#define _GNU_SOURCE
#include "runtime/driver/worker/worker.h"

#include "base/clock.h"
#include "base/paths/folder.h"
#include "base/str.h"
#include "runtime/driver/worker/worker_autopsy.h"
#include "runtime/driver/worker/worker_environment.h"
#include "runtime/driver/worker/worker_link.h"
#include "runtime/driver/worker/worker_program.h"
#include "runtime/driver/worker/worker_start.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Hosts for the ranks, "a,b", for mpirun's --host; and another mpirun. */
#define HOSTS_VARIABLE  "PARADNN_HOSTS"
#define MPIRUN_VARIABLE "PARADNN_MPIRUN"

/* mpirun takes half a second here, and some more for each host. */
static const uint64_t start_limit_ns = UINT64_C(60000000000);
enum { TURN_MS = 50 };

/* Rank 0 calls here, since mpirun passes no descriptors on. */
struct door {
    char directory[PDNN_FOLDER_OWN_TEXT];
    struct sockaddr_un address;
    int fd;
};

static enum pdnn_status open_door(struct door *door, struct pdnn_err *err) {
    *door = (struct door){.fd = -1, .address.sun_family = AF_UNIX};
    if (!pdnn_folder_make_own(door->directory))
        return pdnn_fail(err, PDNN_IO, "cannot make a directory for the ranks' socket: %s", strerror(errno));
    snprintf(door->address.sun_path, sizeof door->address.sun_path, "%s/s", door->directory);
    door->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (door->fd < 0 || bind(door->fd, (const struct sockaddr *)&door->address, sizeof door->address) != 0 ||
        listen(door->fd, 1) != 0)
        return pdnn_fail(err, PDNN_IO, "cannot open a socket for the ranks: %s", strerror(errno));
    return PDNN_OK;
}

static void close_door(struct door *door) {
    if (door->fd >= 0)
        close(door->fd);
    pdnn_folder_remove_own(door->directory);
}

/* What an mpirun around this program told it, which would make the inner one, or its ranks, take themselves
 * for part of the outer job. */
static bool is_of_outer_job(const char *variable) {
    static const char *const prefixes[] = {"PMIX_",
                                           "PMI_",
                                           "OMPI_COMM_WORLD_",
                                           "OMPI_MCA_ess",
                                           "OMPI_MCA_orte_",
                                           "OMPI_MCA_pmix",
                                           "OMPI_UNIVERSE_SIZE",
                                           "OMPI_APP_CTX",
                                           "OMPI_FIRST_RANKS",
                                           "OMPI_NUM_APP_CTX",
                                           "OMPI_FILE_LOCATION",
                                           "OMPI_COMMAND",
                                           "OMPI_ARGV",
                                           "OMPI_MCA_initial_wdir",
                                           "OMPI_MCA_PREFIXES",
                                           "OMPI_MCA_mca_base_component_path",
                                           "OMPI_MCA_num_procs",
                                           "OMPI_WORLD_",
                                           "OMPI_LIBDIR_LOC",
                                           "OMPI_TOOL_NAME",
                                           "OMPI_VERSION",
                                           "PRTE_LAUNCHED",
                                           "PRTE_SHARED_FS",
                                           "MPI_LOCAL",
                                           "HYDI_",
                                           "HYDRA_"};
    bool found = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        found = found || strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0;
    return found;
}

/* Defaults that a user's own settings override. Each rank binds its threads itself; whether there are cores
 * for all is checked there; OpenMPI's usual algorithm of MPI_Iallreduce sends everything twice; the srun by
 * which mpirun reaches a job's other nodes would wait for the step that this program may be in itself. */
static const char *const defaults[] = {
    "OMPI_MCA_rmaps_base_oversubscribe=1",
    "OMPI_MCA_hwloc_base_binding_policy=none",
    "OMPI_MCA_mpi_yield_when_idle=1",
    "OMPI_MCA_coll_libnbc_iallreduce_algorithm=1",
    "SLURM_OVERLAP=1",
    "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy=none",
};
/* This host's cores by number may not exist on another rank's. */
static const char any_host_places[] = "OMP_PLACES=cores";
/* OpenMPI asks whether root means it; who runs this as root has said so. */
static const char *const for_root[] = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                       "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1"};

static void add_default(struct pdnn_str *lines, const char *pair) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(pair, "="), pair);
    if (!getenv(name))
        pdnn_str_printf(lines, "%s%s", lines->length ? "\n" : "", pair);
}

static char **environment_of(struct pdnn_arena *arena, const struct pdnn_host *host, const char *more) {
    struct pdnn_str lines = {0};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        add_default(&lines, defaults[i]);
    for (size_t i = 0; geteuid() == 0 && i < sizeof for_root / sizeof *for_root; i++)
        add_default(&lines, for_root[i]);
    pdnn_str_printf(&lines, "%s%s%s%s", lines.length ? "\n" : "", any_host_places, *more ? "\n" : "", more);
    char **all = pdnn_worker_environment(arena, host, pdnn_str_text(&lines));
    pdnn_str_finish(&lines);
    bool has_outer = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_NAMESPACE") || getenv("PMI_RANK");
    size_t kept = 0;
    for (size_t i = 0; all[i]; i++) {
        if (!has_outer || !is_of_outer_job(all[i]))
            all[kept++] = all[i];
    }
    all[kept] = NULL;
    return all;
}

/* Until rank 0 calls, mpirun ends, or time is up. */
static enum pdnn_status let_in(struct pdnn_worker *worker, const struct door *door, const char *mpirun,
                               struct pdnn_err *err) {
    uint64_t begun_ns = pdnn_clock_ns();
    while (pdnn_clock_ns() - begun_ns < start_limit_ns) {
        struct pollfd fds[] = {{.fd = door->fd, .events = POLLIN},
                               {.fd = worker->link->error_fd, .events = POLLIN}};
        int ready = poll(fds, 2, TURN_MS);
        if (ready > 0 && fds[0].revents) {
            worker->link->fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
            if (worker->link->fd >= 0)
                return PDNN_OK;
        }
        if (ready > 0 && fds[1].revents && !pdnn_worker_hear(worker->link) && worker->link->error_fd < 0) {
            struct pdnn_fate fate;
            pdnn_worker_bury(worker, &fate);
            return pdnn_fail(err, PDNN_IO, "%s did not start the ranks: %s", mpirun, fate.reason);
        }
    }
    return pdnn_fail(err, PDNN_IO, "%s did not start the ranks within a minute", mpirun);
}

static enum pdnn_status connect_ranks(struct pdnn_worker *worker, const struct pdnn_worker_start *start,
                                      const char *more, char program[PDNN_PROGRAM_TEXT],
                                      struct pdnn_err *err) {
    char number[24], host_option[] = "--host", np[] = "-np";
    const char *mpirun = getenv(MPIRUN_VARIABLE), *hosts = getenv(HOSTS_VARIABLE);
    struct pdnn_arena arena = {0};
    struct door door;
    pdnn_worker_mpi_program(program);
    snprintf(number, sizeof number, "%" PRId64, start->ranks);
    enum pdnn_status status = open_door(&door, err);
    char **environment = environment_of(&arena, start->host, more);
    char *name = pdnn_arena_strdup(&arena, mpirun && *mpirun ? mpirun : "mpirun");
    char *host_list = pdnn_arena_strdup(&arena, hosts ? hosts : "");
    char *arguments[9] = {name, np, number};
    int n = 3;
    if (*host_list) {
        arguments[n++] = host_option;
        arguments[n++] = host_list;
    }
    arguments[n++] = program;
    arguments[n++] = door.address.sun_path;
    arguments[n++] = number;
    if (status == PDNN_OK)
        status = pdnn_worker_spawn(worker, -1, name, arguments, environment, err);
    if (status == PDNN_OK)
        status = let_in(worker, &door, name, err);
    close_door(&door);
    pdnn_arena_finish(&arena);
    return status;
}

enum pdnn_status pdnn_worker_start_ranks(struct pdnn_worker *worker, const struct pdnn_host *host,
                                         struct pdnn_worker_kind kind, int64_t ranks,
                                         uint64_t memory_limit_bytes, const struct pdnn_worker *alike,
                                         struct pdnn_err *err) {
    const struct pdnn_worker_start start = {host, kind, memory_limit_bytes, ranks, connect_ranks};
    char program[PDNN_PROGRAM_TEXT];
    if (!pdnn_worker_mpi_program(program))
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "ranks=%" PRId64
                         " needs a build with MPI: install libopenmpi-dev or libmpich-dev, then build again",
                         ranks);
    const char *hosts = getenv(HOSTS_VARIABLE);
    if (kind.library && hosts && *hosts)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "libraries are of this host, and " HOSTS_VARIABLE " has ranks run on others");
    return pdnn_worker_begin(worker, &start, alike->link ? alike->link->variables : "", err);
}
