/* What the journal says about the error of composed times. */
#ifndef SESSION_COMPOSE_VALIDATE_H
#define SESSION_COMPOSE_VALIDATE_H

#include "results/table/table.h"
#include "session/directory.h"

/* How far composed times are from direct ones, a row for each model that has composed visits and direct ones,
 * which those that calibrate lack. */
enum {
    PDNN_VALIDATED_ID,
    PDNN_VALIDATED_STRATUM, /* family and mode */
    PDNN_VALIDATED_PLAN_BYTES,
    PDNN_VALIDATED_COMPOSED,
    PDNN_VALIDATED_LOW, /* of the interval; empty: none */
    PDNN_VALIDATED_HIGH,
    PDNN_VALIDATED_DIRECT,
    PDNN_VALIDATED_ERROR,  /* composed over direct, less 1 */
    PDNN_VALIDATED_REPEAT, /* for the machine's own share; empty from one visit */
    PDNN_VALIDATED_OUTSIDE,
    PDNN_VALIDATED_WORST_OP, /* the row of ops.csv that is off by most, as a key */
    PDNN_VALIDATED_WORST_NS, /* composed less direct */
    PDNN_VALIDATED_COLUMNS
};
extern const struct pdnn_table_def pdnn_validation_def;

/* Of the session's models, from the journal of an open directory. calibrates: by task, the models to leave
 * out. To be finished by the caller. */
void pdnn_compose_validate(const struct pdnn_sweep_directory *sweep, const bool *calibrates,
                           struct pdnn_table *made);

#endif
