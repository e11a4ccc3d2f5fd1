/* What differs among a number of instances, so that people read that and not whole ids: a label for each, and
 * one text with what all have in common. A model that is a preset is called by the preset's name. */
#ifndef MODELS_VARYING_H
#define MODELS_VARYING_H

#include "base/str.h"
#include "models/instance.h"

#include <stddef.h>

/* Whether some instance differs from the first. */
enum pdnn_varies { PDNN_SAME, PDNN_VARIES, PDNN_LEFT_OUT };

/* The instances of a preset, or those of a family that are none. */
struct pdnn_varying_family {
    struct pdnn_instance first; /* the first of them */
    const struct pdnn_preset *preset;
    enum pdnn_varies hyper[PDNN_HYPER_MAX];
};

/* {0}: no instances yet. */
struct pdnn_varying {
    size_t count; /* instances */
    struct pdnn_varying_family *family;
    size_t n_families;
    enum pdnn_varies setting[PDNN_SETTING_COUNT];
    struct pdnn_parsed_presets **presets; /* of the families that were met; heap */
    size_t n_presets;
};

void pdnn_varying_add(struct pdnn_varying *varying, const struct pdnn_instance *instance);

/* Once all are added: neither labels nor what they leave out has this key, as the ids lack it. */
void pdnn_varying_leave_out(struct pdnn_varying *varying, const char *key);
void pdnn_varying_finish(struct pdnn_varying *varying);

/* "nodes=1024,batch=64", or "fc/nodes=1024,batch=64" and "resnet50,batch=4" if there are several families or
 * presets: what tells this instance from the others. The only one has its name, and one that was not
 * added its id. Returns buffer. */
const char *pdnn_varying_label(const struct pdnn_varying *varying, const struct pdnn_instance *instance,
                               char buffer[PDNN_ID_TEXT]);

/* The shortest id of the instance: "resnet50,batch=4,threads=2", or the whole one of what is no preset.
 * Returns buffer. */
const char *pdnn_instance_name(const struct pdnn_instance *instance, char buffer[PDNN_ID_TEXT]);

/* Appends what labels leave out: "fc, layers=4, threads=2", or "threads=2; fc: layers=4; rnn: cell=gru".
 * Settings that have their defaults are left out, as in an id. Nothing for fewer than two instances. */
void pdnn_varying_common(const struct pdnn_varying *varying, struct pdnn_str *out);

#endif
