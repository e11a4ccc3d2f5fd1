#include "session/compose/compose.h"

#include "base/memory.h"
#include "runtime/protocol/standing.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PERCENT      PDNN_KIND_NUMBER, PDNN_SHOW_PERCENT, .decimals = 1
#define TIME         PDNN_KIND_NUMBER, PDNN_SHOW_TIME
#define HIDDEN(kind) PDNN_KIND_##kind, PDNN_SHOW_NEVER

static const struct pdnn_column_def columns[PDNN_VALIDATED_COLUMNS] = {
    {"id", "model", NULL, .help = "the model"},
    {"stratum", NULL, NULL, HIDDEN(TEXT), .help = "its family and mode"},
    {"plan_bytes", NULL, "bytes", HIDDEN(COUNT), .help = "memory that it needs"},
    {"composed_ns", "composed", "ns", TIME, .help = "its step as the sum of its operators"},
    {"low_ns", NULL, "ns", HIDDEN(NUMBER), .help = "of the interval of that; empty without one"},
    {"high_ns", NULL, "ns", HIDDEN(NUMBER), .help = "of the interval of that; empty without one"},
    {"direct_ns", "direct", "ns", TIME, .help = "its step as it ran"},
    {"error_pct", "error", "%", PERCENT, .help = "composed_ns over direct_ns, less 1"},
    {"repeat_pct", "repeat", "%", PERCENT,
     .help = "the last direct visit over the first, less 1: the machine's own share; empty from one visit"},
    {"outside_pct", NULL, "%", HIDDEN(NUMBER),
     .help = "of a direct step, what is in none of its ops; may be below 0"},
    {"worst_op", "in", NULL, PDNN_KIND_TEXT, PDNN_SHOW_PLAIN, PDNN_ALIGN_CUT, .rank = 1,
     .help = "the row of ops.csv that is off by most"},
    {"worst_ns", "off by", "ns", TIME, .help = "of that row: composed less direct"},
};
const struct pdnn_table_def pdnn_validation_def = {"compose-validation", "composed times against direct ones",
                                                   columns, PDNN_VALIDATED_COLUMNS};

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
                      const struct pdnn_standing *standing, const struct pdnn_measured_op *row) {
    double sum_ns = 0;
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) {
        if (!pdnn_visit_is(&of->visit[i], which, standing))
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
static const char *find_worst(const struct pdnn_instance_visits *of, const struct pdnn_standing *standing,
                              double *worst_ns) {
    const char *worst = "";
    *worst_ns = 0;
    for (size_t i = 0; i < of->count; i++) {
        for (size_t k = 0; k < of->ops[i].count; k++) {
            const struct pdnn_measured_op *row = &of->ops[i].op[k];
            double off_ns = time_of(of, PDNN_VISITS_COMPOSED, standing, row) -
                            time_of(of, PDNN_VISITS_DIRECT, standing, row);
            if (fabs(off_ns) > fabs(*worst_ns)) {
                *worst_ns = off_ns;
                worst = row->key;
            }
        }
    }
    return worst;
}

/* Nothing if it has not both kinds of visits. */
static void validate_one(const struct pdnn_instance_visits *of, const struct pdnn_task *task, double *scratch,
                         struct pdnn_table *table) {
    const struct pdnn_standing standing = pdnn_standing_of(of->visit, of->count);
    double worst_ns;
    char stratum[64];
    const double composed = pdnn_visits_median_ns(of->visit, of->count, PDNN_VISITS_COMPOSED, scratch);
    const size_t n_direct = pdnn_visits_medians(of->visit, of->count, PDNN_VISITS_DIRECT, scratch);
    if (isnan(composed) || !n_direct)
        return;
    const double repeat = n_direct > 1 ? scratch[n_direct - 1] / scratch[0] - 1 : NAN;
    const double direct = pdnn_median(scratch, n_direct);
    size_t row = pdnn_table_add_row(table);
    for (size_t i = 0; i < of->count; i++) {
        const struct pdnn_visit *visit = &of->visit[i];
        if (!pdnn_visit_is(visit, PDNN_VISITS_COMPOSED, &standing) || !(visit->p10_ns < visit->p90_ns))
            continue;
        pdnn_table_set_number(table, row, PDNN_VALIDATED_LOW, visit->p10_ns);
        pdnn_table_set_number(table, row, PDNN_VALIDATED_HIGH, visit->p90_ns);
    }
    snprintf(stratum, sizeof stratum, "%s %s", task->instance.family->name,
             task->instance.setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN ? "train" : "infer");
    pdnn_table_set_text(table, row, PDNN_VALIDATED_ID, task->id);
    pdnn_table_set_text(table, row, PDNN_VALIDATED_STRATUM, stratum);
    pdnn_table_set_count(table, row, PDNN_VALIDATED_PLAN_BYTES, of->visit[of->count - 1].plan_bytes);
    pdnn_table_set_number(table, row, PDNN_VALIDATED_COMPOSED, composed);
    pdnn_table_set_number(table, row, PDNN_VALIDATED_DIRECT, direct);
    pdnn_table_set_number(table, row, PDNN_VALIDATED_ERROR, (composed / direct - 1) * 100);
    pdnn_table_set_number(table, row, PDNN_VALIDATED_REPEAT, repeat * 100);
    pdnn_table_set_number(table, row, PDNN_VALIDATED_OUTSIDE, find_outside(of, scratch) * 100);
    pdnn_table_set_text(table, row, PDNN_VALIDATED_WORST_OP, find_worst(of, &standing, &worst_ns));
    pdnn_table_set_number(table, row, PDNN_VALIDATED_WORST_NS, worst_ns);
}

void pdnn_compose_validate(const struct pdnn_sweep_directory *sweep, const bool *calibrates,
                           struct pdnn_table *made) {
    const struct pdnn_visits *visits = &sweep->journal->known;
    const struct pdnn_session *session = sweep->session;
    double *scratch = pdnn_alloc(pdnn_visits_most(visits), sizeof *scratch);
    pdnn_table_init(made, &pdnn_validation_def);
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_instance_visits of = pdnn_sweep_directory_visits(sweep, i);
        if (!(calibrates && calibrates[i]) && of.count)
            validate_one(&of, &session->tasks[i], scratch, made);
    }
    free(scratch);
}
