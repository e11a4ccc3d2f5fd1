/* One entry of `models`: a family, the axes over its hyper-parameters and over the run settings of its file,
 * how they combine, what filters them and how they are sampled. Private to gen/. */
#ifndef GEN_MODEL_H
#define GEN_MODEL_H

#include "gen/axis.h"
#include "gen/expansion/sample.h"

enum { PDNN_MODEL_AXES_MAX = PDNN_HYPER_MAX + PDNN_SETTING_COUNT };

/* Axes that advance together: one dimension of the space. */
struct pdnn_axis_group {
    size_t first, n_axes; /* consecutive axes of the model, all of the same length */
};

struct pdnn_spec_model {
    const struct pdnn_yaml *node; /* the family's key, which messages point to */
    struct pdnn_instance base;    /* defaults or the preset; axes overwrite it */
    struct pdnn_axis *axes;       /* in the arena, by group: run settings first, then as written */
    size_t n_axes;
    struct pdnn_axis_group groups[PDNN_MODEL_AXES_MAX]; /* the last one fastest */
    uint64_t counts[PDNN_MODEL_AXES_MAX];               /* of each group */
    size_t n_groups;
    uint64_t points;               /* product of counts */
    const struct pdnn_yaml *where; /* or NULL */
    enum pdnn_sample_method method;
    uint64_t sample_count;
};

/* Puts a map in place of each entry that is only the name of a model. */
void pdnn_spec_models_spell_out(struct pdnn_yaml *root, struct pdnn_arena *arena);

/* Reads an entry. settings: the axes of its file's `run` and `measure: cache`. Everything
 * lives in the arena. */
enum pdnn_status pdnn_spec_model_read(const struct pdnn_yaml *entry, const struct pdnn_axis *settings,
                                      size_t n_settings, struct pdnn_arena *arena,
                                      struct pdnn_spec_model *model, struct pdnn_err *err);

#endif
