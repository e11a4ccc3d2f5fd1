/* The part of a sweep's directory that writes its tables. */
#include "base/memory.h"
#include "session/directory.h"
#include "session/rows.h"
#include "runtime/facts/stats.h"

#include <math.h>
#include <stdlib.h>

struct writing {
    struct pdnn_sweep_directory *sweep;
    struct pdnn_scatter pool;
    double *speeds; /* of the ok rows that have one */
    size_t n_speeds;
    struct pdnn_summary summary;
};

static enum pdnn_status fetch(void *user, size_t id, struct pdnn_aggregate_input *input,
                              struct pdnn_err *err) {
    const struct writing *writing = user;
    const struct pdnn_session *session = writing->sweep->session;
    const struct pdnn_instance_visits of =
        pdnn_visits_of(pdnn_journal_visits(writing->sweep->journal), input->id);
    (void)id;
    (void)err;
    input->visits = of.visit;
    input->ops = of.ops;
    input->n_visits = of.count;
    input->pool = writing->pool;
    input->ceilings = session->ceilings->count ? session->ceilings : NULL;
    input->host = session->host.name;
    return PDNN_OK;
}

static enum pdnn_status note_row(void *user, enum pdnn_stage stage, const struct pdnn_record *record,
                                 struct pdnn_err *err) {
    struct writing *writing = user;
    (void)err;
    if (stage == PDNN_STAGE_OTHER)
        return PDNN_OK;
    pdnn_summary_add(&writing->summary, record);
    if (!isnan(record->speed_index))
        writing->speeds[writing->n_speeds++] = record->speed_index;
    return PDNN_OK;
}

enum pdnn_status pdnn_sweep_directory_tables(struct pdnn_sweep_directory *sweep, struct pdnn_tables *tables,
                                             struct pdnn_err *err) {
    struct writing writing = {.sweep = sweep};
    const struct pdnn_session *session = sweep->session;
    const struct pdnn_texts *ids = &pdnn_journal_visits(sweep->journal)->ids;
    size_t *id_of_task = pdnn_alloc(session->n_tasks + 1, sizeof *id_of_task);
    struct pdnn_tally tally;
    for (size_t i = 0; i < session->n_tasks; i++)
        id_of_task[i] = pdnn_texts_find(ids, session->tasks[i].id);
    writing.speeds = pdnn_alloc(session->n_tasks + 1, sizeof *writing.speeds);
    pdnn_aggregate_pool(pdnn_journal_visits(sweep->journal), &writing.pool);
    const struct pdnn_rows_request request = {.session = session,
                                              .tables = tables,
                                              .ids = ids,
                                              .id_of_task = id_of_task,
                                              .fetch = fetch,
                                              .made = note_row,
                                              .user = &writing};
    enum pdnn_status status = pdnn_rows_make(&request, &tally, err);
    if (status == PDNN_OK) {
        sweep->tally = tally;
        sweep->summary = writing.summary;
        sweep->speed_index = writing.n_speeds ? pdnn_median(writing.speeds, writing.n_speeds) : NAN;
    }
    free(writing.speeds);
    free(id_of_task);
    return status;
}

enum pdnn_status pdnn_sweep_directory_write(struct pdnn_sweep_directory *sweep, struct pdnn_err *err) {
    struct pdnn_tables tables = {.columns = {0}};
    sweep->written = false;
    enum pdnn_status status = pdnn_sweep_directory_tables(sweep, &tables, err);
    if (status == PDNN_OK)
        status = pdnn_tables_write(&tables, &sweep->folder, err);
    sweep->written = status == PDNN_OK;
    pdnn_tables_finish(&tables);
    return status;
}
