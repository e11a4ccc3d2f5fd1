/* A sweep spec: what the YAML file (or several, and --set) says, checked against the tables, with defaults
 * filled in. Expansion is gen/expansion/expand; nothing here runs anything. */
#ifndef GEN_SPEC_H
#define GEN_SPEC_H

#include "base/arena.h"
#include "base/err.h"
#include "gen/libraries.h"
#include "gen/seqpoint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDNN_SPEC_DATASETS = 16 };

struct pdnn_family_def;
struct pdnn_spec_model; /* one entry of `models`, private to gen/ */

enum {
    PDNN_SPEC_MODELS = 10000 /* entries of `models`, and documents, in all specs together */
};

enum pdnn_order { PDNN_ORDER_SHUFFLED, PDNN_ORDER_COST, PDNN_ORDER_PAIRED };

enum pdnn_spec_choices { PDNN_CHOICES_SHARED, PDNN_CHOICES_OWN };

/* Values that the setting which paired order compares may have. */
enum { PDNN_SPEC_SIDES = 4 };

struct pdnn_spec_measure {
    int64_t rounds;
    double precision;
    int64_t min_samples;
    uint64_t max_time_ns; /* per instance, all visits; in paired order of all its sides */
    bool probe;
    bool counters;
    enum pdnn_order order;
    enum pdnn_spec_choices choices; /* in paired order, of the sides */
    int compared;                   /* in paired order: the enum pdnn_setting in which the sides differ */
    uint64_t sides;                 /* and how many values it has in all models; 1 in other orders */
    int64_t unpaired_rounds;        /* rounds and max_time_ns in other orders */
    uint64_t unpaired_max_time_ns;
};

enum pdnn_spec_reach { PDNN_SPEC_REACH_SPREAD, PDNN_SPEC_REACH_SMALLEST };

struct pdnn_spec_limits {
    double memory_fraction; /* of what this process may use; applies if memory_bytes is 0 */
    uint64_t memory_bytes;
    uint64_t time_ns;
    uint64_t budget_ns; /* of the whole command; 0: none */
    int reach;          /* enum pdnn_spec_reach: what comes first if there is no time for all */
    int64_t instances;  /* points of all models together, before `where` */
};

struct pdnn_spec {
    struct pdnn_arena arena;
    /* The first `sweep`, or the name of the first file without .yaml; NULL if there is neither. */
    const char *name;
    uint64_t seed;
    struct pdnn_spec_measure measure;
    struct pdnn_spec_limits limits;
    struct pdnn_spec_seqpoint seqpoint;
    const char *datasets[PDNN_SPEC_DATASETS]; /* directories, as written */
    size_t n_datasets;
    struct pdnn_spec_libraries libraries;
    struct pdnn_spec_model *models;
    size_t n_models;
    /* The content of spec.yaml: YAML that gives the same instances when read again, overrides included;
     * comments say where it came from. */
    const char *text;
    const char *installed; /* the path of the first spec that came with the program; NULL: none did */
};

/* Reads and checks files and overrides. Models of several files follow one another; sweep, seed, measure,
 * limits and seqpoint come from the first file; `run` settings belong to the models of their own file. An
 * instance id or a preset ("fc/layers=4", "cnn:resnet50") counts as a spec of one model, and each of several
 * documents in a file as a file. Messages start with file:line:col. *spec is written only on success;
 * release with pdnn_spec_finish. */
enum pdnn_status pdnn_spec_load(const char *const *arguments, size_t n_arguments, const char *const *sets,
                                size_t n_sets, struct pdnn_spec *spec, struct pdnn_err *err);

/* The same with other models: YAML, a list of entries as a spec has it under `models`, which takes the place
 * of all models. The spec must be one document. */
enum pdnn_status pdnn_spec_load_models(const char *argument, const char *const *sets, size_t n_sets,
                                       const char *models, struct pdnn_spec *spec, struct pdnn_err *err);

void pdnn_spec_finish(struct pdnn_spec *spec);

/* For those who do not visit sides next to each other: shuffled instead of paired order. */
void pdnn_spec_unpair(struct pdnn_spec *spec);

/* The families of its models, in the order of their first entries, in the arena. Returns how many. */
size_t pdnn_spec_families(const struct pdnn_spec *spec, struct pdnn_arena *arena,
                          const struct pdnn_family_def ***families);

#endif
