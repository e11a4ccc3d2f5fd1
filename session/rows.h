/* The rows of results.csv and ops.csv from visits: those of a spec's instances, in its order, then those of
 * instances that only the visits have. For a sweep's own directory and for a merge. */
#ifndef SESSION_ROWS_H
#define SESSION_ROWS_H

#include "base/texts.h"
#include "results/rows/aggregate.h"
#include "results/rows/summary.h"
#include "results/store/tables.h"
#include "session/session.h"

struct pdnn_rows_request {
    const struct pdnn_session *session;
    struct pdnn_tables *tables;   /* {0}; the caller's to finish, also after a failure */
    const struct pdnn_texts *ids; /* of visited instances */
    const size_t *order;          /* of ids: where they follow the spec's; NULL: as they are */
    const size_t *id_of_task;     /* SIZE_MAX: no visits. Of tasks with the same one, the first has it */
    bool keeps;                   /* the rows stay in the tables, and are not put behind others as text */
    const char *unvisited;        /* the reason of a row that lacks only visits; NULL: the session's */
    /* Called before each row: sets the visits of the instance, none for SIZE_MAX, and what else the row
     * needs: host, roofs, pool. */
    enum pdnn_status (*fetch)(void *user, size_t id, struct pdnn_aggregate_input *input,
                              struct pdnn_err *err);
    void *user;
};

/* What the rows come to; the last two are of the spec's instances. */
struct pdnn_rows_sums {
    struct pdnn_tally tally;
    struct pdnn_summary summary;
    double speed_index; /* median over the ok rows; NaN if there are none */
};

enum pdnn_status pdnn_rows_make(const struct pdnn_rows_request *request, struct pdnn_rows_sums *sums,
                                struct pdnn_err *err);

/* The same of visits on this machine, under the session's roofs. */
enum pdnn_status pdnn_rows_of_visits(const struct pdnn_session *session, const struct pdnn_visits *visits,
                                     bool keeps, struct pdnn_tables *tables, struct pdnn_rows_sums *sums,
                                     struct pdnn_err *err);

#endif
