/* The part of a sweep's directory that writes its tables. */
#include "base/memory.h"
#include "session/directory.h"
#include "results/rows/aggregate.h"
#include "results/store/tables.h"
#include "runtime/facts/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything one write of the tables needs, so that functions take one argument. */
struct writing {
    struct pdnn_sweep_directory *sweep;
    struct pdnn_tables *tables;
    struct pdnn_arena arena;
    struct pdnn_scatter pool;
    bool *is_listed; /* by the journal's instance: whether it has its row */
    size_t counts[PDNN_OUTCOME_COUNT];
    double *speeds; /* of the ok rows that have one */
    size_t n_speeds;
    struct pdnn_summary summary;
};

static void note_family(const struct pdnn_family_def **families, size_t *count,
                        const struct pdnn_family_def *family) {
    for (size_t i = 0; i < *count; i++)
        if (families[i] == family)
            return;
    families[(*count)++] = family;
}

/* Collects the families of the session and those that only the journal has; there is room for all. */
static size_t collect_families(const struct pdnn_sweep_directory *sweep,
                               const struct pdnn_family_def **families) {
    size_t count = 0;
    for (size_t i = 0; i < sweep->session->n_tasks; i++)
        note_family(families, &count, sweep->session->tasks[i].instance.family);
    const struct pdnn_texts *ids = &pdnn_journal_visits(sweep->journal)->ids;
    for (size_t i = 0; i < ids->count; i++) {
        struct pdnn_instance instance;
        if (pdnn_instance_parse(ids->text[i], &instance, NULL) == PDNN_OK)
            note_family(families, &count, instance.family);
    }
    return count;
}

/* Adds the row of an instance. */
static enum pdnn_status add_row(struct writing *writing, struct pdnn_aggregate_input *input,
                                struct pdnn_record *record, struct pdnn_err *err) {
    const struct pdnn_session *session = writing->sweep->session;
    const struct pdnn_instance_visits of =
        pdnn_visits_of(pdnn_journal_visits(writing->sweep->journal), input->id);
    struct pdnn_op_record *ops;
    size_t n_ops;
    input->visits = of.visit;
    input->ops = of.ops;
    input->n_visits = of.count;
    input->pool = writing->pool;
    input->precision = session->spec.measure.precision;
    input->ceilings = session->ceilings->count ? session->ceilings : NULL;
    input->host = session->host.name;
    enum pdnn_status status = pdnn_aggregate(input, &writing->arena, record, &ops, &n_ops, err);
    if (status == PDNN_OK)
        pdnn_tables_add(writing->tables, record, ops, n_ops);
    return status;
}

static enum pdnn_status add_rows(struct writing *writing, struct pdnn_err *err) {
    const struct pdnn_sweep_directory *sweep = writing->sweep;
    const struct pdnn_session *session = sweep->session;
    const struct pdnn_texts *ids = &pdnn_journal_visits(sweep->journal)->ids;
    struct pdnn_record record;
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_session_row *row = &session->rows[i];
        struct pdnn_aggregate_input input = {.id = session->tasks[i].id,
                                             .outcome = row->outcome,
                                             .reason = row->reason,
                                             .totals = row->has_totals ? &row->totals : NULL};
        size_t known = pdnn_texts_find(ids, input.id);
        if (known != SIZE_MAX)
            writing->is_listed[known] = true;
        if (add_row(writing, &input, &record, err) != PDNN_OK)
            return err->status;
        writing->counts[record.outcome]++;
        pdnn_summary_add(&writing->summary, &record);
        if (!isnan(record.speed_index))
            writing->speeds[writing->n_speeds++] = record.speed_index;
    }
    for (size_t i = 0; i < ids->count; i++) {
        struct pdnn_aggregate_input input = {.id = ids->text[i]};
        if (!writing->is_listed[i] && add_row(writing, &input, &record, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_sweep_directory_tables(struct pdnn_sweep_directory *sweep, struct pdnn_tables *tables,
                                             struct pdnn_err *err) {
    struct writing writing = {.sweep = sweep, .tables = tables};
    size_t n_known = 0;
    while (pdnn_families[n_known])
        n_known++;
    const struct pdnn_family_def **families = pdnn_alloc(n_known, sizeof *families);
    writing.is_listed =
        pdnn_alloc(pdnn_journal_visits(sweep->journal)->ids.count + 1, sizeof *writing.is_listed);
    writing.speeds = pdnn_alloc(sweep->session->n_tasks + 1, sizeof *writing.speeds);
    pdnn_tables_init(tables, families, collect_families(sweep, families));
    pdnn_aggregate_pool(pdnn_journal_visits(sweep->journal), &writing.pool);
    enum pdnn_status status = add_rows(&writing, err);
    if (status == PDNN_OK) {
        memcpy(sweep->counts, writing.counts, sizeof sweep->counts);
        sweep->summary = writing.summary;
        sweep->speed_index = writing.n_speeds ? pdnn_median(writing.speeds, writing.n_speeds) : NAN;
    }
    pdnn_arena_finish(&writing.arena);
    free(writing.is_listed);
    free(writing.speeds);
    free(families);
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
