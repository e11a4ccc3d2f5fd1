/* A model family: parameter rows, presets, and a function that builds the forward graph from registered ops.
 * Families know nothing about the runtime, and the runtime knows nothing about them. */
#ifndef MODELS_FAMILY_H
#define MODELS_FAMILY_H

#include "base/str.h"
#include "models/param.h"

#include <stdbool.h>
#include <stddef.h>

struct pdnn_compiled;
struct pdnn_graph;
struct pdnn_instance;

enum { PDNN_HYPER_MAX = 24 };

/* What a layer is, whatever its family calls it: tables and pictures put layers together by this. */
enum pdnn_layer_part {
    PDNN_LAYER_OTHER,
    PDNN_LAYER_EMBEDDING,
    PDNN_LAYER_DENSE, /* hidden dense layers, with their activation */
    PDNN_LAYER_CONVOLUTION,
    PDNN_LAYER_RECURRENT,
    PDNN_LAYER_PROJECTION, /* of attention: queries, keys, values and its output */
    PDNN_LAYER_ATTENTION,  /* scores and contexts of every head, and the cache they read */
    PDNN_LAYER_SOFTMAX,    /* from scores to probabilities */
    PDNN_LAYER_ADDITIVE_ATTENTION,
    PDNN_LAYER_FEED_FORWARD, /* the products of the feed-forward net */
    PDNN_LAYER_ACTIVATION,   /* what stands between them */
    PDNN_LAYER_NORM,         /* between parts: dropout, residual sum, normalization */
    PDNN_LAYER_OUTPUT,       /* heads and loss */
    PDNN_LAYER_COUNT
};

/* A layer that a family names: struct pdnn_layer with this stem. Its index says which one of several it is;
 * layers without an index do not grow with the depth of the model. */
struct pdnn_layer_def {
    const char *stem;
    enum pdnn_layer_part part;
};

/* The hyper-parameters that say how long the data of a step are: what changes from step to step with real
 * data, where minibatches are padded to their longest example. */
struct pdnn_lengths_def {
    int source; /* index of the parameter */
    int target; /* of the decoder's length, or of the labels; -1: none. It may not apply (pdnn_hyper_applies)
                 */
    int positions; /* of the most steps that the model can tell apart, 0 for any number; -1: none */
    /* Of audio: floor(per_second * seconds) + plus steps; 0: lengths are counted. */
    double per_second;
    int64_t plus;
};

/* When parameters apply: with some words of others, whatever the numbers. The words of the deciding
 * parameters are an index, the sum of stride[k] * word of deciding[k]; bit p of bits[index] is whether
 * parameter p changes anything.
 */
struct pdnn_masks {
    const uint32_t *bits; /* NULL: all apply */
    const int *deciding, *stride;
    size_t n_deciding, count; /* count: of bits */
};

struct pdnn_preset {
    const char *name;
    const char *values; /* as in an id: "layers=12,hidden=768"; what is left out has its default */
    const char *help;   /* what it is and where it was published */
};

struct pdnn_family_def {
    const char *name;
    const char *hash; /* of its definition, eight hex digits; NULL for what was only compiled */
    bool ships;       /* ids have its name alone; else NAME@HASH */
    const char *help;
    const char *file;                    /* that a user's was read from; NULL: it ships */
    const struct pdnn_param_def *params; /* canonical order of ids and columns */
    size_t n_params;
    const struct pdnn_preset *presets;
    size_t n_presets;
    const struct pdnn_layer_def *layers; /* every stem that its graphs name; a test builds them */
    size_t n_layers;
    int minibatch_param; /* index of the parameter that says how many examples a step has */
    /* Index of the parameter whose every step beyond 1 repeats one identical block, so that params, FLOP and
     * bytes are affine in it; -1 if there is none. A test compares with full builds. */
    int depth_param;
    const struct pdnn_lengths_def *lengths; /* NULL: every example has the same size */
    bool convolves;                         /* the run setting `algorithm` applies */
    bool recurs;                            /* the run setting `rnn` applies */
    bool has_segments;   /* pdnn_graph_segment_begin: the run setting `checkpoint` applies, in training */
    bool repeats_layers; /* the run setting `layers_run` applies, to the depth parameter */
    bool quantizes;      /* the run setting `dtype` has a meaning for int8, in inference */
    bool has_blocks;     /* the run setting `fuse` has the value blocks; elsewhere that is post-ops */
    bool stems_apart; /* stems name parts of the model: identical nodes with different stems are separate rows
                       */
    struct pdnn_masks applies;
    const struct pdnn_compiled *compiled; /* what builds it (models/definition) */
    /* Puts hyper-parameters that can be written in several ways into one form: words that stand for numbers
     * become numbers, lists are no longer than needed. Leaves alone what does not apply. NULL: none. Call
     * pdnn_instance_resolve instead. */
    void (*resolve)(struct pdnn_instance *instance);
    /* Appends the forward graph of a resolved instance (with the loss if it trains). Errors
     * stick in the graph. */
    void (*build)(const struct pdnn_instance *instance, struct pdnn_graph *graph);
    /* The target's length where the data have only the source's. */
    int64_t (*target_of)(const struct pdnn_family_def *family, int64_t source);
};

/* The family's row of the layer that a table names, "norm1.3..norm1.24" or "hidden2": of a range, the first
 * layer counts. NULL where the family has none of that name. */
const struct pdnn_layer_def *pdnn_layer_find(const struct pdnn_family_def *family, const char *layer);

const struct pdnn_preset *pdnn_preset_find(const struct pdnn_family_def *family, const char *name);

#endif
