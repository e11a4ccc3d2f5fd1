/* What differs among a number of instances, so that people read that and not whole ids: a label for each, and
 * one text with what all have in common. */
#ifndef MODELS_VARYING_H
#define MODELS_VARYING_H

#include "base/str.h"
#include "models/instance.h"

#include <stddef.h>

/* Whether some instance differs from the first. */
enum pdnn_varies { PDNN_SAME, PDNN_VARIES, PDNN_LEFT_OUT };

struct pdnn_varying_family {
    struct pdnn_instance first; /* the first instance of the family */
    enum pdnn_varies hyper[PDNN_HYPER_MAX];
};

/* {0}: no instances yet. */
struct pdnn_varying {
    size_t count; /* instances */
    struct pdnn_varying_family *family;
    size_t n_families;
    enum pdnn_varies setting[PDNN_SETTING_COUNT];
};

void pdnn_varying_add(struct pdnn_varying *varying, const struct pdnn_instance *instance);

/* Once all are added: neither labels nor what they leave out has this key, as the ids lack it. */
void pdnn_varying_leave_out(struct pdnn_varying *varying, const char *key);
void pdnn_varying_finish(struct pdnn_varying *varying);

/* "nodes=1024,batch=64", or "fc/nodes=1024,batch=64" if there are several families: what tells this instance
 * from the others. The whole id of an instance that was not added, or is the only one. Returns buffer. */
const char *pdnn_varying_label(const struct pdnn_varying *varying, const struct pdnn_instance *instance,
                               char buffer[PDNN_ID_TEXT]);

/* Appends what labels leave out: "fc, layers=4, threads=2", or "threads=2; fc: layers=4; rnn: cell=gru".
 * Settings that have their defaults are left out, as in an id. Nothing for fewer than two instances. */
void pdnn_varying_common(const struct pdnn_varying *varying, struct pdnn_str *out);

#endif
