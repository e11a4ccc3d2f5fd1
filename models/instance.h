/* An instance: one family, all its hyper-parameters, all run settings. Its id is printed from the values that
 * run, in canonical order, and parses back; it is the key for resume, compare and merge. Since ids leave out
 * the settings that have their defaults, a new setting changes no id, and a default once released stays. */
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
    PDNN_SETTING_ALGORITHM,  /* of convolutions; applies to families that have them */
    PDNN_SETTING_RNN,        /* of recurrent layers; applies to families that have them */
    PDNN_SETTING_ACCUMULATE, /* micro-steps of one step; applies to training only */
    PDNN_SETTING_CHECKPOINT, /* applies to the training of families that mark segments */
    PDNN_SETTING_LAYERS_RUN, /* layers that run, the others extrapolated; 0 = all of them */
    PDNN_SETTING_ISA,        /* enum pdnn_isa (models/isa.h) */
    PDNN_SETTING_COUNT
};

enum pdnn_mode { PDNN_MODE_INFER, PDNN_MODE_TRAIN };
enum pdnn_cache { PDNN_CACHE_WARM, PDNN_CACHE_COLD };
enum pdnn_fuse { PDNN_FUSE_NONE, PDNN_FUSE_POST_OPS, PDNN_FUSE_BLOCKS };
enum pdnn_checkpoint { PDNN_CHECKPOINT_NONE, PDNN_CHECKPOINT_LAYER };

/* The rows of the run settings, indexed by enum pdnn_setting. */
extern const struct pdnn_param_def pdnn_settings[PDNN_SETTING_COUNT];

/* The backends' names in the order of the build's list, NULL-terminated; what they are is the runtime's
 * business. */
extern const char *const pdnn_backend_names[];

struct pdnn_instance {
    const struct pdnn_family_def *family;
    struct pdnn_value hyper[PDNN_HYPER_MAX];
    int64_t setting[PDNN_SETTING_COUNT];
};

enum { PDNN_ID_TEXT = 512, PDNN_CONDITION_TEXT = 96 };

/* All defaults of the family and the settings. */
void pdnn_instance_init(struct pdnn_instance *instance, const struct pdnn_family_def *family);

/* All defaults, then a preset's hyper-parameters. */
void pdnn_instance_init_preset(struct pdnn_instance *instance, const struct pdnn_family_def *family,
                               const struct pdnn_preset *preset);

/* True if the setting changes what runs. The optimizer of an inference does not: it is left out of the id,
 * its column is empty, and an axis over it collapses to one instance. */
bool pdnn_setting_applies(const struct pdnn_instance *instance, enum pdnn_setting setting);

/* PDNN_INVALID when it does not apply: "algorithm does not apply to fc", "optimizer does not apply with
 * mode=infer, only with mode=train". */
enum pdnn_status pdnn_setting_check(const struct pdnn_instance *instance, enum pdnn_setting setting,
                                    struct pdnn_err *err);

/* The same for a hyper-parameter: `kernel` means nothing in a network whose blocks fix their kernels. */
bool pdnn_hyper_applies(const struct pdnn_instance *instance, size_t param);

/* The condition under which a parameter applies, with all others as in the instance: "block=plain". Empty if
 * it always applies. Returns buffer. */
const char *pdnn_hyper_condition(const struct pdnn_instance *instance, size_t param,
                                 char buffer[PDNN_CONDITION_TEXT]);

/* For messages: "unknown key 'lenght' for rnn, did you mean 'length'?" Returns PDNN_INVALID. */
enum pdnn_status pdnn_instance_unknown_key(const struct pdnn_family_def *family, const char *key,
                                           struct pdnn_err *err);

/* PDNN_INVALID when it does not apply: "kernel does not apply to cnn with block=residual, only with
 * block=plain". */
enum pdnn_status pdnn_hyper_check(const struct pdnn_instance *instance, size_t param, struct pdnn_err *err);

/* Resets what does not apply to its default, so that instances with the same id are equal. */
void pdnn_instance_settle(struct pdnn_instance *instance);

/* Puts numbers for words (threads 0 becomes `threads`, a hidden size like the embedding's becomes that) and
 * lists in their shortest form, so that instances that run the same are equal. Later changes to hyper-
 * parameters do not reach what a word stood for. */
void pdnn_instance_resolve(struct pdnn_instance *instance, int64_t threads);

/* The instance that a worker runs and whose memory counts: with `layers_run` layers. */
struct pdnn_instance pdnn_instance_as_run(const struct pdnn_instance *instance);

/* All layers over those that run: 1 if all do. */
double pdnn_instance_repetitions(const struct pdnn_instance *instance);

/* "fc/layers=4,nodes=1024,...,mode=infer,threads=2": every hyper-parameter that applies, then the threads and
 * those settings that differ from their defaults. Returns buffer. */
const char *pdnn_instance_format(const struct pdnn_instance *instance, char buffer[PDNN_ID_TEXT]);

/* The id as this version prints it, from one that an earlier version may have printed. Returns buffer, or id
 * itself if it does not parse, such as that of a family that is gone. */
const char *pdnn_instance_reprint(const char *id, char buffer[PDNN_ID_TEXT]);

/* Parses "family/key=value,...", "family:preset,key=value,..." or "family"; what is left out takes its
 * default. A duplicate or unknown key is PDNN_INVALID with the nearest one in the message, and so is one that
 * does not apply. */
enum pdnn_status pdnn_instance_parse(const char *text, struct pdnn_instance *instance, struct pdnn_err *err);

#endif
