#include "cli/launcher.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Where launchers put the number of a process, from 0, and how many there are. Slurm's come last: an mpirun
 * in a job of Slurm has processes of its own, which inherit those of the step that it runs in. */
static const struct launcher {
    const char *rank, *size;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"PMIX_RANK", "PMIX_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

static int64_t number_of(const char *variable) {
    const char *text = getenv(variable);
    int64_t number;
    return text && pdnn_parse_i64(text, &number) ? number : -1;
}

static const struct launcher *find_launcher(void) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (number_of(launchers[i].rank) >= 0)
            return &launchers[i];
    }
    return NULL;
}

bool pdnn_launcher_has_others(void) {
    const struct launcher *launcher = find_launcher();
    return launcher && (number_of(launcher->rank) > 0 || number_of(launcher->size) > 1);
}

static bool has_ranks(const struct pdnn_session *session) {
    bool found = false;
    for (size_t i = 0; i < session->n_tasks; i++)
        found = found || session->tasks[i].instance.setting[PDNN_SETTING_RANKS] > 1;
    return found;
}

enum pdnn_status pdnn_launcher_leave(const struct pdnn_session *session, bool *is_left,
                                     struct pdnn_err *err) {
    const struct launcher *launcher = has_ranks(session) ? find_launcher() : NULL;
    *is_left = false;
    if (!launcher)
        return PDNN_OK;
    int64_t rank = number_of(launcher->rank);
    int64_t all = number_of("OMPI_COMM_WORLD_SIZE"), here = number_of("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (rank == 0 && all > here && here > 0 && !getenv("SLURM_PROCID") && !getenv("PARADNN_HOSTS"))
        return pdnn_fail(
            err, PDNN_INVALID,
            "mpirun started this on several hosts: name them in PARADNN_HOSTS, as in a:1,b:1, for the ranks");
    *is_left = rank > 0 && !session->shard.count;
    if (*is_left)
        fprintf(stderr,
                "paradnn: %s is %" PRId64
                ": a sweep with ranks is left to process 0, which has mpirun start them\n",
                launcher->rank, rank);
    return PDNN_OK;
}
