#include "cli/slurm_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mpirun's own processes, which srun may have started, know their ranks (main.c). */
bool pdnn_is_left_to_task_0(const struct pdnn_session *session) {
    const char *task = getenv("SLURM_PROCID");
    bool has_ranks = false;
    for (size_t i = 0; i < session->n_tasks; i++)
        has_ranks = has_ranks || session->tasks[i].instance.setting[PDNN_SETTING_RANKS] > 1;
    if (!has_ranks || !task || strcmp(task, "0") == 0 || getenv("OMPI_COMM_WORLD_RANK"))
        return false;
    fprintf(stderr,
            "paradnn: task %s of srun leaves a sweep with ranks to task 0, which has mpirun start them\n",
            task);
    return true;
}
