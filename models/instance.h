/* An instance: one family, all its hyper-parameters, all run settings. Its id is printed from the values that
 * run, in canonical order, and parses back; it is the key for resume, compare and merge. */
#ifndef MODELS_INSTANCE_H
#define MODELS_INSTANCE_H

#include "base/err.h"
#include "models/family.h"

#include <stdbool.h>
#include <stdint.h>

enum pdnn_setting {
    PDNN_SETTING_MODE,
    PDNN_SETTING_DTYPE,
    PDNN_SETTING_OPTIMIZER, /* enum pdnn_optimizer; applies to training only */
    PDNN_SETTING_BACKEND,   /* index into pdnn_backend_names */
    PDNN_SETTING_THREADS,   /* 0 = all the cores this process may use, until resolved */
    PDNN_SETTING_CACHE,
    PDNN_SETTING_FUSE,
    PDNN_SETTING_COUNT
};

enum pdnn_mode { PDNN_MODE_INFER, PDNN_MODE_TRAIN };
enum pdnn_cache { PDNN_CACHE_WARM, PDNN_CACHE_COLD };
enum pdnn_fuse { PDNN_FUSE_NONE, PDNN_FUSE_POST_OPS };

/* The rows of the run settings, indexed by enum pdnn_setting. */
extern const struct pdnn_param_def pdnn_settings[PDNN_SETTING_COUNT];

/* The backends' names in the order of the build's list, NULL-terminated; what they are is the runtime's
 * business. */
extern const char *const pdnn_backend_names[];

struct pdnn_instance {
    const struct pdnn_family_def *family;
    int64_t hyper[PDNN_HYPER_MAX];
    int64_t setting[PDNN_SETTING_COUNT];
};

enum { PDNN_ID_TEXT = 512 };

/* All defaults of the family and the settings. */
void pdnn_instance_init(struct pdnn_instance *instance, const struct pdnn_family_def *family);

/* True when the setting changes what runs: the optimizer of an inference does not, is left out of the id and
 * is an empty column. An axis over such a setting collapses to its first value. */
bool pdnn_setting_applies(const struct pdnn_instance *instance, enum pdnn_setting setting);

/* Puts numbers for words: threads 0 becomes `threads`. */
void pdnn_instance_resolve(struct pdnn_instance *instance, int64_t threads);

/* "fc/layers=4,nodes=1024,...,mode=train,..."; every applicable value, hyper-parameters first. Returns
 * buffer. */
const char *pdnn_instance_format(const struct pdnn_instance *instance, char buffer[PDNN_ID_TEXT]);

/* Parses "family/key=value,...", "family:preset,key=value,..." or "family"; what is left out takes its
 * default. A duplicate or unknown key is PDNN_INVALID with the nearest one in the message. */
enum pdnn_status pdnn_instance_parse(const char *text, struct pdnn_instance *instance, struct pdnn_err *err);

#endif
