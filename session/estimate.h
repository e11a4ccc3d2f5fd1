/* How long a sweep over many instances takes, as it is told to people before anything runs. */
#ifndef SESSION_ESTIMATE_H
#define SESSION_ESTIMATE_H

#include "base/str.h"
#include "runtime/host/host.h"
#include "session/predict.h"

struct pdnn_estimate; /* opaque */

/* All pointers are borrowed. cache: the directory of what is kept (pdnn_session_cache), from which the roofs
 * measured last are taken for each thread count; ceilings, if not NULL, are used instead. Without either, the
 * rates are nominal. */
struct pdnn_estimate *pdnn_estimate_create(const struct pdnn_spec *spec, const struct pdnn_host *host,
                                           const char *cache, const struct pdnn_ceilings *ceilings);
void pdnn_estimate_destroy(struct pdnn_estimate *estimate);

/* Adds an instance. Its memory may be unknown. */
enum pdnn_status pdnn_estimate_add(struct pdnn_estimate *estimate, const struct pdnn_instance *instance,
                                   const struct pdnn_totals *totals, struct pdnn_err *err);

/* Appends one line: "a sweep takes about 33 h 10 min, up to 51 h 02 min where intervals stay wide (by the
 * roofs measured 2026-11-22T18:40Z)". */
void pdnn_estimate_format(const struct pdnn_estimate *estimate, struct pdnn_str *out);

#endif
