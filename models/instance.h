/* An instance: one family with all its hyper-parameters and all run settings. Its id is the canonical text of
 * the values that run, and parses back; resume, compare and merge use it as the key. Ids omit settings that
 * have their defaults, so adding a setting changes no id, but a default must never change once released. The
 * graph is not here: models/build makes it. */
#ifndef MODELS_INSTANCE_H
#define MODELS_INSTANCE_H

#include "base/err.h"
#include "models/family.h"

#include <stdbool.h>
#include <stdint.h>

enum pdnn_setting {
    PDNN_SETTING_MODE,
    PDNN_SETTING_DTYPE,
    PDNN_SETTING_OPTIMIZER, /* enum pdnn_optimizer; training only */
    PDNN_SETTING_BACKEND,   /* index into pdnn_backend_names */
    PDNN_SETTING_THREADS,   /* 0: all cores this process may use, until resolved */
    PDNN_SETTING_CACHE,
    PDNN_SETTING_FUSE,
    PDNN_SETTING_ALGORITHM,  /* of convolutions; families that have them */
    PDNN_SETTING_RNN,        /* of recurrent layers; families that have them */
    PDNN_SETTING_ACCUMULATE, /* micro-steps per step; training only */
    PDNN_SETTING_CHECKPOINT, /* training of families that mark segments */
    PDNN_SETTING_LAYERS_RUN, /* layers that run, the rest is extrapolated; 0: all */
    PDNN_SETTING_ISA,        /* enum pdnn_isa (models/isa.h) */
    PDNN_SETTING_LIBRARY,    /* a packed name (models/param.h); 0: what the worker loads by itself */
    PDNN_SETTING_DATA,       /* enum pdnn_data: where each step's minibatch comes from */
    PDNN_SETTING_LOADERS,    /* threads that prepare minibatches; unless data is resident */
    PDNN_SETTING_PAGES,      /* enum pdnn_pages: the page cache; data=file only */
    PDNN_SETTING_RANKS,      /* processes that share a step (models/transform/distribute.h); training only */
    PDNN_SETTING_ALLREDUCE,  /* enum pdnn_allreduce; with several ranks */
    PDNN_SETTING_BUCKET,     /* 1e6 bytes of gradients per message; with all-reduce */
    PDNN_SETTING_COUNT
};

enum pdnn_mode { PDNN_MODE_INFER, PDNN_MODE_TRAIN };
enum pdnn_cache { PDNN_CACHE_WARM, PDNN_CACHE_COLD };
enum pdnn_fuse { PDNN_FUSE_NONE, PDNN_FUSE_POST_OPS, PDNN_FUSE_BLOCKS };
enum pdnn_data { PDNN_DATA_RESIDENT, PDNN_DATA_GENERATED, PDNN_DATA_FILE };
enum pdnn_pages { PDNN_PAGES_WARM, PDNN_PAGES_DROPPED };
enum pdnn_checkpoint { PDNN_CHECKPOINT_NONE, PDNN_CHECKPOINT_LAYER };
/* How gradients are averaged over ranks: not at all; by a call that returns when a bucket is averaged; by
 * calls that return at once and progress between ops; by such a blocking call in a thread of its own. */
enum pdnn_allreduce {
    PDNN_ALLREDUCE_NONE,
    PDNN_ALLREDUCE_BLOCKING,
    PDNN_ALLREDUCE_BUCKETED,
    PDNN_ALLREDUCE_THREAD
};

/* The rows of the run settings. */
extern const struct pdnn_param_def pdnn_settings[PDNN_SETTING_COUNT];

/* The backends' names in the order of the build's list, NULL-terminated. The models know only the names. */
extern const char *const pdnn_backend_names[];

struct pdnn_instance {
    const struct pdnn_family_def *family;
    struct pdnn_value hyper[PDNN_HYPER_MAX];
    int64_t setting[PDNN_SETTING_COUNT];
};

enum { PDNN_ID_TEXT = 640, PDNN_CONDITION_TEXT = 96 };
/* Samples that one visit can hold: enough for a second of the shortest ones, in no more memory than a small
 * cache. A spec cannot ask for more. */
enum { PDNN_VISIT_SAMPLES_MAX = 1 << 14 };

/* Sets everything to the defaults. */
void pdnn_instance_init(struct pdnn_instance *instance, const struct pdnn_family_def *family);

/* Sets all defaults, then the preset's hyper-parameters. */
void pdnn_instance_init_preset(struct pdnn_instance *instance, const struct pdnn_family_def *family,
                               const struct pdnn_preset *preset);

/* The same where the preset's values may be wrong. */
enum pdnn_status pdnn_instance_parse_preset(struct pdnn_instance *instance,
                                            const struct pdnn_family_def *family,
                                            const struct pdnn_preset *preset, struct pdnn_err *err);

/* The presets of one family, parsed for many questions; {0} is empty. */
enum { PDNN_PRESETS_MAX = 32 };
struct pdnn_parsed_presets {
    const struct pdnn_family_def *family;
    struct pdnn_instance plain, preset[PDNN_PRESETS_MAX];
};

/* The preset that a resolved instance is, at any minibatch, length or other input; NULL if it is none. Parses
 * its family's presets unless they are there. */
const struct pdnn_preset *pdnn_instance_preset(const struct pdnn_instance *instance,
                                               struct pdnn_parsed_presets *parsed);

/* True if the setting changes what runs. The optimizer does not in inference: the id omits it, its column is
 * empty, and a sweep axis over it collapses to one instance. */
bool pdnn_setting_applies(const struct pdnn_instance *instance, enum pdnn_setting setting);

/* Whether the setting says how a step runs, and not what it does, as mode, optimizer and accumulate do:
 * values of it are ways to run one model, which may be compared. */
bool pdnn_setting_says_how(enum pdnn_setting setting);

/* How many examples a step has: those of its minibatch, of all micro-steps and ranks. */
int64_t pdnn_instance_examples(const struct pdnn_instance *instance);

/* Whether a hyper-parameter does: `kernel` does not apply to networks whose blocks fix their kernels. */
bool pdnn_hyper_applies(const struct pdnn_instance *instance, size_t param);

/* The condition for a parameter to apply, with all others as in the instance, such as "block=plain" or
 * "architecture=decoder and phase=decode"; empty if it always applies. Returns buffer. */
const char *pdnn_hyper_condition(const struct pdnn_instance *instance, size_t param,
                                 char buffer[PDNN_CONDITION_TEXT]);

/* PDNN_INVALID if the parameter does not apply: "kernel does not apply to cnn with block=residual,
 * only with block=plain". */
enum pdnn_status pdnn_hyper_check(const struct pdnn_instance *instance, size_t param, struct pdnn_err *err);

/* Resets what does not apply to its default, so that instances with equal ids are equal. */
void pdnn_instance_settle(struct pdnn_instance *instance);

/* Replaces words by numbers (threads=0 becomes `threads`, hidden=embedding the embedding's size) and shortens
 * lists, so that instances that run the same are equal. Changing a hyper-parameter afterwards does not
 * update numbers that replaced a word. */
void pdnn_instance_resolve(struct pdnn_instance *instance, int64_t threads);

/* Two independent 64-bit hashes of what is in the id. Instances with equal prints are taken to be equal; for
 * a million of them, the odds that this is wrong are about 1 in 1e26. Never {0, 0}. Not for files: a print
 * holds for this process only. */
struct pdnn_instance_print {
    uint64_t a, b;
};
struct pdnn_instance_print pdnn_instance_print(const struct pdnn_instance *instance);

/* The instance that the worker runs and whose memory counts: with `layers_run` layers. */
struct pdnn_instance pdnn_instance_as_run(const struct pdnn_instance *instance);

/* All layers divided by the layers that run; 1 if all of them run. */
double pdnn_instance_repetitions(const struct pdnn_instance *instance);

/* "fc/layers=4,nodes=1024,...,mode=infer,threads=2": every hyper-parameter that applies, then threads and the
 * settings that differ from their defaults. Returns buffer. */
const char *pdnn_instance_format(const struct pdnn_instance *instance, char buffer[PDNN_ID_TEXT]);

/* The id without a setting, which those that differ in it alone have in common. Returns buffer. */
const char *pdnn_instance_group(const struct pdnn_instance *instance, int setting, char buffer[PDNN_ID_TEXT]);

/* "onednn threads=2 isa=default": what its operators run on, with " library=NAME" before isa unless that is
 * the default. Returns buffer. */
const char *pdnn_instance_platform(const struct pdnn_instance *instance, char buffer[PDNN_CONDITION_TEXT]);

/* The length of the part of an id that names the model; what follows its comma are the run settings. */
size_t pdnn_id_model_length(const char *id);

/* Converts an id printed by an earlier version to the current form. Returns buffer, or id itself if it does
 * not parse, as for a family that no longer exists. */
const char *pdnn_instance_reprint(const char *id, char buffer[PDNN_ID_TEXT]);

/* Parses "family", "family:preset" or "preset", and then "key=value,..." after '/' or ','; omitted keys take
 * their defaults.
 * PDNN_INVALID for keys that are duplicate, unknown (the message suggests the nearest) or do not apply. */
enum pdnn_status pdnn_instance_parse(const char *text, struct pdnn_instance *instance, struct pdnn_err *err);

/* True if the text begins with the name of a family or preset, as an id does; the rest may still be wrong. */
bool pdnn_instance_is_named(const char *text);

#endif
