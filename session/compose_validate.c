/* What the journal says about the error of composed times. */
#include "session/compose.h"

#include "base/memory.h"
#include "runtime/facts/standing.h"
#include "runtime/facts/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The median over these visits, and the last of them over the first, less 1. 0 visits: false. */
static bool summarize(const struct pdnn_instance_visits *of, enum pdnn_visits_of which, double *scratch,
                      double *median, double *repeat) {
    size_t count = pdnn_visits_medians(of->visit, of->count, which, scratch);
    *repeat = count > 1 ? scratch[count - 1] / scratch[0] - 1 : NAN;
    *median = count ? pdnn_median(scratch, count) : NAN;
    return count > 0;
}

/* Steps are timed with and without stamps, whose parts leave no gaps: what the stamped ones lack is before
 * the first part and behind the last. The median over the visits, since the two are other steps. */
static double find_outside(const struct pdnn_instance_visits *of, double *scratch) {
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++)
        if (pdnn_visit_is_direct(&of->visit[i]) && of->visit[i].stamped_ns > 0)
            scratch[count++] = 1 - of->visit[i].stamped_ns / of->visit[i].median_ns;
    return count ? pdnn_median(scratch, count) : NAN;
}

/* The mean time of a row over these visits. */
static double time_of(const struct pdnn_instance_visits *of, enum pdnn_visits_of which,
                      const struct pdnn_measured_op *row) {
    const struct pdnn_standing standing = pdnn_standing_of(of->visit, of->count);
    double sum_ns = 0;
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) {
        if (!pdnn_visit_is(&of->visit[i], which, &standing))
            continue;
        count++;
        for (size_t k = 0; k < of->ops[i].count; k++) {
            const struct pdnn_measured_op *op = &of->ops[i].op[k];
            sum_ns += op->key == row->key && op->implementation == row->implementation ? op->time_ns : 0;
        }
    }
    return count ? sum_ns / (double)count : 0;
}

/* Over the rows of all visits: a row that one method lacks is off by all of its time. */
static void find_worst(const struct pdnn_instance_visits *of, struct pdnn_validated *model) {
    for (size_t i = 0; i < of->count; i++) {
        for (size_t k = 0; k < of->ops[i].count; k++) {
            const struct pdnn_measured_op *row = &of->ops[i].op[k];
            double off_ns = time_of(of, PDNN_VISITS_COMPOSED, row) - time_of(of, PDNN_VISITS_DIRECT, row);
            if (fabs(off_ns) > fabs(model->worst_ns)) {
                model->worst_ns = off_ns;
                model->worst_op = row->key;
            }
        }
    }
}

static bool validate_one(const struct pdnn_instance_visits *of, double *scratch,
                         struct pdnn_validated *model) {
    const struct pdnn_standing standing = pdnn_standing_of(of->visit, of->count);
    double ignored, rounds_ns;
    *model = (struct pdnn_validated){.worst_op = "", .low_ns = NAN, .high_ns = NAN};
    if (!summarize(of, PDNN_VISITS_COMPOSED, scratch, &model->composed_ns, &ignored) ||
        !summarize(of, PDNN_VISITS_DIRECT, scratch, &model->direct_ns, &model->repeat))
        return false;
    summarize(of, PDNN_VISITS_ROUNDS, scratch, &rounds_ns, &ignored);
    model->error = model->composed_ns / model->direct_ns - 1;
    model->outside = find_outside(of, scratch);
    model->uncorrected = rounds_ns / model->direct_ns - 1;
    for (size_t i = 0; i < of->count; i++) {
        const struct pdnn_visit *visit = &of->visit[i];
        if (!pdnn_visit_is(visit, PDNN_VISITS_COMPOSED, &standing) || !(visit->p10_ns < visit->p90_ns))
            continue;
        model->low_ns = visit->p10_ns;
        model->high_ns = visit->p90_ns;
    }
    model->plan_bytes = of->visit[of->count - 1].plan_bytes;
    find_worst(of, model);
    return true;
}

void pdnn_compose_validate(const struct pdnn_sweep_directory *sweep, const bool *corrects,
                           struct pdnn_validation *validation) {
    const struct pdnn_visits *visits = pdnn_journal_visits(sweep->journal);
    const struct pdnn_session *session = sweep->session;
    double *scratch = pdnn_alloc(pdnn_visits_most(visits), sizeof *scratch);
    validation->count = 0;
    validation->model = pdnn_alloc(session->n_tasks + 1, sizeof *validation->model);
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_instance_visits of = pdnn_visits_of(visits, session->tasks[i].id);
        struct pdnn_validated *model = &validation->model[validation->count];
        if ((corrects && corrects[i]) || !of.count || !validate_one(&of, scratch, model))
            continue;
        model->id = session->tasks[i].id;
        validation->count++;
    }
    free(scratch);
}

void pdnn_validation_finish(struct pdnn_validation *validation) {
    free(validation->model);
    *validation = (struct pdnn_validation){0};
}
