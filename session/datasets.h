/* The data sets that a spec names: found and checked before anything runs. What a model makes of them, the
 * worker finds out. */
#ifndef SESSION_DATASETS_H
#define SESSION_DATASETS_H

#include "base/str.h"
#include "gen/spec.h"
#include "runtime/protocol/request.h"

/* Opens every data set of the spec. Fills paths for requests, and appends what they are to text. PDNN_INVALID
 * if there is none, or what is wrong with one. */
enum pdnn_status pdnn_datasets_find(const struct pdnn_spec *spec, char paths[PDNN_REQUEST_SETS],
                                    struct pdnn_str *text, struct pdnn_err *err);

#endif
