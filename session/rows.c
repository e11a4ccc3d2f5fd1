#include "session/rows.h"

#include "base/memory.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct making {
    const struct pdnn_rows_request *request;
    struct pdnn_rows_sums *sums;
    double *speeds; /* of the ok rows that have one */
    size_t n_speeds, n_families;
    const struct pdnn_family_def **families;
    struct pdnn_arena arena;
};

static void note_family(struct making *making, const struct pdnn_family_def *family) {
    for (size_t i = 0; i < making->n_families; i++)
        if (making->families[i] == family)
            return;
    making->families = pdnn_resize(making->families, making->n_families + 1, sizeof *making->families);
    making->families[making->n_families++] = family;
}

/* The columns: the families of the tasks and of what only the visits have, in the order of their first
 * instance. */
static void init_tables(struct making *making) {
    const struct pdnn_rows_request *request = making->request;
    const struct pdnn_session *session = request->session;
    struct pdnn_instance instance;
    making->families = pdnn_alloc(1, sizeof *making->families); /* NULL would be all that there are */
    for (size_t i = 0; i < session->n_tasks; i++)
        note_family(making, session->tasks[i].instance.family);
    for (size_t i = 0; i < request->ids->count; i++)
        if (pdnn_instance_parse(request->ids->text[request->order ? request->order[i] : i], &instance,
                                NULL) == PDNN_OK)
            note_family(making, instance.family);
    pdnn_tables_init(request->tables, making->families, making->n_families);
    free(making->families);
}

/* id: SIZE_MAX for a task without visits; task: SIZE_MAX for an instance that the spec does not have. */
static enum pdnn_status add(struct making *making, size_t id, size_t task, struct pdnn_err *err) {
    const struct pdnn_rows_request *request = making->request;
    const struct pdnn_session *session = request->session;
    struct pdnn_tables *tables = request->tables;
    const struct pdnn_session_row *row = task == SIZE_MAX ? NULL : &session->rows[task];
    struct pdnn_aggregate_input input = {.id = id == SIZE_MAX ? session->tasks[task].id
                                                              : request->ids->text[id],
                                         .precision = session->spec.measure.precision};
    /* With another number of threads, it is another model. */
    if (row && row->has_totals && strcmp(session->tasks[task].id, input.id) == 0)
        input.totals = &row->totals;
    if (row) {
        bool lacks_visits = row->outcome == PDNN_OUTCOME_INTERRUPTED && request->unvisited;
        input.outcome = row->outcome;
        input.reason = lacks_visits ? request->unvisited : row->reason;
    }
    enum pdnn_status status = request->fetch(request->user, id, &input, err);
    if (status == PDNN_OK)
        status = pdnn_aggregate(&input, &making->arena, &tables->results, &tables->ops, err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_standing standing = pdnn_standing_of(input.of.visit, input.of.count);
    const struct pdnn_result made = pdnn_result_of(&tables->results, 0);
    const double speed_index = pdnn_result_number(&made, PDNN_RESULT_SPEED_INDEX);
    if (pdnn_tally_add(&making->sums->tally, session, task, &standing) != PDNN_STAGE_OTHER) {
        pdnn_summary_add(&making->sums->summary, &made);
        if (!isnan(speed_index))
            making->speeds[making->n_speeds++] = speed_index;
    }
    if (!request->keeps)
        pdnn_tables_flush(tables);
    return PDNN_OK;
}

enum pdnn_status pdnn_rows_make(const struct pdnn_rows_request *request, struct pdnn_rows_sums *sums,
                                struct pdnn_err *err) {
    const size_t n_tasks = request->session->n_tasks, n_ids = request->ids->count;
    struct making making = {.request = request, .sums = sums};
    enum pdnn_status status = PDNN_OK;
    bool *is_listed = pdnn_alloc(n_ids + 1, sizeof *is_listed); /* by id: it has its row */
    making.speeds = pdnn_alloc(n_tasks + 1, sizeof *making.speeds);
    *sums = (struct pdnn_rows_sums){0};
    init_tables(&making);
    for (size_t i = 0; i < n_tasks + n_ids && status == PDNN_OK; i++) {
        const size_t task = i < n_tasks ? i : SIZE_MAX, at = i - n_tasks;
        const size_t id = i < n_tasks ? request->id_of_task[i] : request->order ? request->order[at] : at;
        if (id != SIZE_MAX && is_listed[id])
            continue;
        status = add(&making, id, task, err);
        if (id != SIZE_MAX)
            is_listed[id] = true;
    }
    sums->speed_index = making.n_speeds ? pdnn_median(making.speeds, making.n_speeds) : NAN;
    pdnn_arena_finish(&making.arena);
    free(making.speeds);
    free(is_listed);
    return status;
}

struct here {
    const struct pdnn_session *session;
    const struct pdnn_visits *visits;
    struct pdnn_scatter pool;
};

static enum pdnn_status fetch(void *user, size_t id, struct pdnn_aggregate_input *input,
                              struct pdnn_err *err) {
    const struct here *here = user;
    input->of = pdnn_visits_of(here->visits, input->id);
    (void)id;
    (void)err;
    input->pool = here->pool;
    input->roof_rows = here->session->roof_rows->count ? here->session->roof_rows : NULL;
    input->host = here->session->host.name;
    return PDNN_OK;
}

enum pdnn_status pdnn_rows_of_visits(const struct pdnn_session *session, const struct pdnn_visits *visits,
                                     bool keeps, struct pdnn_tables *tables, struct pdnn_rows_sums *sums,
                                     struct pdnn_err *err) {
    struct here here = {.session = session, .visits = visits};
    size_t *id_of_task = pdnn_alloc(session->n_tasks + 1, sizeof *id_of_task);
    for (size_t i = 0; i < session->n_tasks; i++)
        id_of_task[i] = pdnn_texts_find(&visits->ids, session->tasks[i].id);
    pdnn_aggregate_pool(visits, &here.pool);
    const struct pdnn_rows_request request = {.session = session,
                                              .tables = tables,
                                              .ids = &visits->ids,
                                              .id_of_task = id_of_task,
                                              .keeps = keeps,
                                              .fetch = fetch,
                                              .user = &here};
    enum pdnn_status status = pdnn_rows_make(&request, sums, err);
    free(id_of_task);
    return status;
}
