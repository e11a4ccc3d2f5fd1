#include "results/rows/loaders.h"

#include "runtime/protocol/infeed.h"
#include "base/stats.h"

#include <string.h>

/* The static text for a page cache; "" for any other text. */
static const char *known_pages(const char *text) {
    static const char *const known[] = {"warm", "dropped", "mixed"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], text) == 0)
            return known[i];
    return "";
}

static const struct pdnn_measured_op *find(const struct pdnn_measured_ops *ops) {
    for (size_t i = 0; i < ops->count; i++)
        if (pdnn_infeed_is_alone(ops->op[i].key) && ops->op[i].time_ns > 0)
            return &ops->op[i];
    return NULL;
}

bool pdnn_loaders_find(const struct pdnn_measured_ops *visits, size_t n_visits, double *scratch,
                       struct pdnn_loaders_seen *seen) {
    struct pdnn_loaders_seen found = {.pages = NULL};
    size_t count = 0;
    for (size_t i = 0; i < n_visits; i++) {
        const struct pdnn_measured_op *op = find(&visits[i]);
        if (!op)
            continue;
        const char *pages = known_pages(pdnn_infeed_shape(op->key));
        found.pages = !found.pages || found.pages == pages ? pages : known_pages(pdnn_pages_mixed);
        found.minibatch_bytes = op->bytes;
        scratch[count++] = op->time_ns;
    }
    if (!count)
        return false;
    found.minibatch_ns = pdnn_median(scratch, count);
    *seen = found;
    return true;
}
