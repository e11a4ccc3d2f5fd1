#include "runtime/backends/onednn/dense/tune.h"

#include "runtime/backends/onednn/block.h"
#include "runtime/backends/onednn/library/reorder.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Measured shapes go up to these, about 10 ms on one thread: the library changes its algorithm somewhere
 * below a minibatch of 1024, so that is kept and the weights shrink. ROUNDS visits to each candidate in each
 * of the first COMPILES that meet the shape: noise comes in spells. */
enum { MAX_N = 1024, MAX_WEIGHTS = 1 << 22, MAX_MULTIPLY_ADDS = 600000000 };
enum { COMPILES = 2, ROUNDS = 3 };
enum { CANDIDATES = PDNN_ONEDNN_DENSE_PASSES * PDNN_ONEDNN_DENSE_VARIANTS, LINE_BYTES = 64 };

/* What is that much slower than the best is not measured to the end. */
static const double HOPELESS = 1.5;

struct pdnn_choice_entry {
    struct pdnn_choice_entry *next;
    struct pdnn_onednn_dense_shape shape;
    struct pdnn_onednn_dense_costs costs; /* the least of all measurements */
    struct pdnn_onednn_dense_choice choice;
    uint64_t compile; /* the last one that measured */
    int n_compiles;
};

struct candidate {
    struct tuner *tuner;
    enum pdnn_pass pass;
    struct pdnn_onednn_dense_variant variant;
    struct pdnn_onednn_dense_pass made;
    double ns; /* the least of the visits; INFINITY: it fails */
};

struct tuner {
    struct pdnn_onednn_library *library;
    const struct pdnn_step_options *own;
    struct pdnn_onednn_dense_shape shape; /* the measured one */
    struct candidate candidate[CANDIDATES];
    int n_candidates;
    struct pdnn_onednn_block x, w, b, y, out, scratch;
    struct pdnn_onednn_block moved;   /* as much as the step touches between two uses of one weight */
    uint64_t moved_bytes, used_bytes; /* used: up to where the last place in it ends */
};

void pdnn_onednn_dense_choices_finish(struct pdnn_onednn_dense_choices *choices) {
    while (choices->first) {
        struct pdnn_choice_entry *next = choices->first->next;
        free(choices->first);
        choices->first = next;
    }
}

static void shrink(struct pdnn_onednn_dense_shape *shape) {
    while (shape->N > MAX_N)
        shape->N /= 2;
    while (shape->I * shape->O > MAX_WEIGHTS || shape->N * shape->I * shape->O > MAX_MULTIPLY_ADDS)
        *(shape->I > shape->O ? &shape->I : &shape->O) /= 2;
}

static bool is_reference(const struct candidate *candidate) {
    const struct pdnn_onednn_primitive *primitive = candidate->made.primitive;
    return primitive && pdnn_onednn_primitive_is_reference(primitive);
}

static const struct candidate *find_candidate(const struct tuner *tuner, enum pdnn_pass pass,
                                              enum pdnn_onednn_dense_way way,
                                              enum pdnn_onednn_weights_format format) {
    for (int i = 0; i < tuner->n_candidates; i++) {
        const struct candidate *candidate = &tuner->candidate[i];
        if (candidate->pass == pass && candidate->variant.way == way && candidate->variant.format == format)
            return candidate;
    }
    return NULL;
}

/* PACKED that turned out to be one of the plain formats is no candidate of its own. */
static bool is_double(const struct tuner *tuner, const struct candidate *candidate) {
    if (candidate->variant.format != PDNN_ONEDNN_WEIGHTS_PACKED)
        return false;
    for (int format = 0; format < PDNN_ONEDNN_WEIGHTS_PACKED; format++) {
        const struct candidate *plain = find_candidate(
            tuner, candidate->pass, PDNN_ONEDNN_DENSE_INNER_PRODUCT, (enum pdnn_onednn_weights_format)format);
        if (plain && pdnn_onednn_layout_equal(plain->made.weights, candidate->made.weights))
            return true;
    }
    return false;
}

/* Every way to do the pass. Reference implementations count only where there is nothing else. */
static enum pdnn_status collect_pass(struct tuner *tuner, enum pdnn_pass pass, struct pdnn_err *err) {
    int first = tuner->n_candidates;
    struct candidate last_resort = {0};
    for (int i = 0; i < PDNN_ONEDNN_DENSE_VARIANTS; i++) {
        struct candidate *candidate = &tuner->candidate[tuner->n_candidates];
        *candidate =
            (struct candidate){.tuner = tuner, .pass = pass, .variant = pdnn_onednn_dense_variant_at(i)};
        struct pdnn_err refusal = {0};
        enum pdnn_status status = pdnn_onednn_dense_pass_create(
            tuner->library, &tuner->shape, pass, candidate->variant, &candidate->made, &refusal);
        if (status != PDNN_OK && err && (i == 0 || status != PDNN_UNSUPPORTED))
            *err = refusal;
        if (status == PDNN_UNSUPPORTED)
            continue;
        if (status != PDNN_OK) {
            pdnn_onednn_dense_pass_destroy(&last_resort.made);
            return status;
        }
        if (is_reference(candidate) && !last_resort.made.primitive)
            last_resort = *candidate;
        else if (is_reference(candidate) || is_double(tuner, candidate))
            pdnn_onednn_dense_pass_destroy(&candidate->made);
        else
            tuner->n_candidates++;
    }
    if (tuner->n_candidates > first) {
        pdnn_onednn_dense_pass_destroy(&last_resort.made);
        return PDNN_OK;
    }
    if (!last_resort.made.primitive)
        return PDNN_UNSUPPORTED;
    tuner->candidate[tuner->n_candidates++] = last_resort;
    return PDNN_OK;
}

static uint64_t scratch_bytes(const struct pdnn_onednn_dense_pass *made) {
    return made->primitive ? pdnn_onednn_primitive_scratchpad_bytes(made->primitive) : 0;
}

static enum pdnn_status allocate(struct tuner *tuner, struct pdnn_err *err) {
    const struct pdnn_onednn_dense_shape *shape = &tuner->shape;
    const struct pdnn_onednn_dense_dtypes dtype = pdnn_onednn_dense_dtypes_of(shape);
    uint64_t x = (uint64_t)(shape->N * shape->I) * pdnn_dtype_bytes(dtype.x), scratch = 0, w = 0;
    uint64_t y = (uint64_t)(shape->N * shape->O) * pdnn_dtype_bytes(dtype.y);
    for (int i = 0; i < tuner->n_candidates; i++) {
        const struct pdnn_onednn_dense_pass *made = &tuner->candidate[i].made;
        uint64_t bytes = pdnn_onednn_layout_bytes(made->weights);
        w = bytes > w ? bytes : w;
        bytes = scratch_bytes(made);
        scratch = bytes > scratch ? bytes : scratch;
    }
    uint64_t pair = 2 * (w + LINE_BYTES), step = (uint64_t)shape->footprint_bytes;
    uint64_t most = 2 * tuner->own->cache_bytes; /* no cache holds so much */
    tuner->moved_bytes = step < most ? step : most;
    tuner->moved_bytes = tuner->moved_bytes > pair ? tuner->moved_bytes : pair;
    uint64_t out = x > y ? x : y;
    out = w > out ? w : out;
    if (!pdnn_onednn_block_new(&tuner->x, x, 0) || !pdnn_onednn_block_new(&tuner->w, w, 5) ||
        !pdnn_onednn_block_new(&tuner->y, y, 10) ||
        !pdnn_onednn_block_new(&tuner->b, (uint64_t)shape->O * pdnn_dtype_bytes(dtype.b), 15) ||
        !pdnn_onednn_block_new(&tuner->out, out, 20) ||
        !pdnn_onednn_block_new(&tuner->scratch, scratch, 25) ||
        !pdnn_onednn_block_new(&tuner->moved, tuner->moved_bytes, 0))
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring layouts");
    return PDNN_OK;
}

static enum pdnn_status bind_candidate(struct tuner *tuner, struct candidate *candidate,
                                       struct pdnn_err *err) {
    struct pdnn_onednn_dense_pass *made = &candidate->made;
    enum pdnn_pass pass = candidate->pass;
    bool bias = pass == PDNN_FORWARD ? tuner->shape.bias
                                     : pass == PDNN_BACKWARD_WEIGHTS && tuner->shape.bias_gradient;
    void *x = pass == PDNN_BACKWARD_DATA ? tuner->out.data : tuner->x.data;
    void *w = pass == PDNN_BACKWARD_WEIGHTS ? tuner->out.data : tuner->w.data;
    void *y = pass == PDNN_FORWARD ? tuner->out.data : tuner->y.data;
    if (!made->primitive) {
        made->own.x = x;
        made->own.w = w;
        made->own.b = bias ? tuner->b.data : NULL;
        made->own.y = y;
        return PDNN_OK;
    }
    enum pdnn_status status = pdnn_onednn_primitive_bind(made->primitive, made->x, x, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_bind(made->primitive, made->w, w, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_bind(made->primitive, made->y, y, err);
    if (status == PDNN_OK && bias)
        status = pdnn_onednn_primitive_bind(made->primitive, made->b, tuner->b.data, err);
    if (status == PDNN_OK && tuner->shape.is_scaled)
        status = pdnn_onednn_primitive_bind(made->primitive, PDNN_ONEDNN_SCALE, tuner->b.data, err);
    if (status == PDNN_OK && scratch_bytes(made))
        status =
            pdnn_onednn_primitive_bind(made->primitive, PDNN_ONEDNN_SCRATCHPAD, tuner->scratch.data, err);
    return status;
}

/* The next place for so many bytes, round robin: what was there before has left the caches, if it does so in
 * the step. */
static char *next_place(struct tuner *tuner, uint64_t bytes) {
    uint64_t room = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    if (tuner->used_bytes + room > tuner->moved_bytes)
        tuner->used_bytes = 0;
    char *place = (char *)tuner->moved.data + tuner->used_bytes;
    tuner->used_bytes += room;
    return place;
}

/* Of what a few rows read, weights are nearly all: they are as cold as in the step, in one place after the
 * other. NULL: where they are already. */
static void *weights_place(const struct candidate *candidate) {
    struct tuner *tuner = candidate->tuner;
    bool moves = tuner->shape.N <= PDNN_DENSE_FEW_ROWS && candidate->pass != PDNN_BACKWARD_WEIGHTS;
    return moves ? next_place(tuner, pdnn_onednn_layout_bytes(candidate->made.weights)) : NULL;
}

static int run_candidate(const void *state) {
    const struct candidate *candidate = state;
    const struct pdnn_onednn_dense_pass *made = &candidate->made;
    struct pdnn_dense_few_job own = made->own;
    void *w = weights_place(candidate);
    if (!made->primitive) {
        own.w = w ? w : own.w;
        pdnn_dense_few_run(&own, candidate->tuner->own->threads);
        return 0;
    }
    if (w && pdnn_onednn_primitive_bind(made->primitive, made->w, w, NULL) != PDNN_OK)
        return -1;
    return pdnn_onednn_primitive_run(made->primitive);
}

static double least(const struct tuner *tuner, enum pdnn_pass pass) {
    double ns = 0;
    for (int i = 0; i < tuner->n_candidates; i++) {
        const struct candidate *candidate = &tuner->candidate[i];
        if (candidate->pass == pass && (ns == 0 || candidate->ns < ns))
            ns = candidate->ns;
    }
    return ns;
}

/* What all others are compared with. */
static bool is_yardstick(const struct candidate *candidate) {
    return candidate->variant.way == PDNN_ONEDNN_DENSE_INNER_PRODUCT &&
           candidate->variant.format == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR;
}

static enum pdnn_status measure(struct tuner *tuner, struct pdnn_err *err) {
    for (int i = 0; i < tuner->n_candidates; i++) {
        struct candidate *candidate = &tuner->candidate[i];
        enum pdnn_status status = bind_candidate(tuner, candidate, err);
        if (status != PDNN_OK)
            return status;
        /* The first run is no measure of anything. */
        int code = run_candidate(candidate);
        candidate->ns = code == 0 ? pdnn_measure_ns(run_candidate, candidate, 0) : INFINITY;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < tuner->n_candidates; i++) {
            struct candidate *candidate = &tuner->candidate[i];
            bool hopeless =
                !is_yardstick(candidate) && candidate->ns > HOPELESS * least(tuner, candidate->pass);
            if (hopeless || !isfinite(candidate->ns))
                continue;
            double ns = pdnn_measure_ns(run_candidate, candidate, candidate->ns);
            candidate->ns = isfinite(ns) && ns > candidate->ns ? candidate->ns : ns;
        }
    }
    return PDNN_OK;
}

/* ns of the reorder on weights as cold as the step's; INFINITY when it fails. The mean of single runs, as a
 * step has them: the least of them is what no step sees. */
static enum pdnn_status time_reorder(struct tuner *tuner, struct pdnn_onednn_reorder *reorder,
                                     uint64_t from_bytes, uint64_t to_bytes, void *scratch, double *ns,
                                     struct pdnn_err *err) {
    double sum = 0;
    *ns = INFINITY;
    for (int round = 0; round <= ROUNDS; round++) {
        char *from = next_place(tuner, from_bytes), *to = next_place(tuner, to_bytes);
        enum pdnn_status status = pdnn_onednn_reorder_bind(reorder, from, to, scratch, err);
        if (status != PDNN_OK)
            return status;
        uint64_t start = pdnn_clock_ns();
        int code = pdnn_onednn_reorder_run(reorder);
        double once = (double)(pdnn_clock_ns() - start);
        if (code != 0)
            return PDNN_OK;
        sum += round ? once : 0; /* the first run is no measure of anything */
    }
    *ns = sum / ROUNDS;
    return PDNN_OK;
}

/* What it costs to have the pass's weights in another layout than home; 0 when they are equal. */
static enum pdnn_status reorder_ns(struct tuner *tuner, const struct candidate *candidate,
                                   const struct pdnn_onednn_layout *stored, double *ns,
                                   struct pdnn_err *err) {
    bool writes = candidate->pass == PDNN_BACKWARD_WEIGHTS;
    const struct pdnn_onednn_layout *used = candidate->made.weights;
    const struct pdnn_onednn_layout *from = writes ? used : stored, *to = writes ? stored : used;
    struct pdnn_onednn_block scratch = {0};
    const int64_t dim[] = {tuner->shape.O, tuner->shape.I};
    struct pdnn_onednn_reorder reorder = {0};
    *ns = 0;
    if (pdnn_onednn_layout_equal(used, stored))
        return PDNN_OK;
    enum pdnn_status status =
        pdnn_onednn_reorder_create(tuner->library, tuner->own, from, to, dim, &reorder, err);
    if (status == PDNN_OK && !pdnn_onednn_block_new(&scratch, pdnn_onednn_reorder_scratch_bytes(&reorder), 0))
        status = pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring layouts");
    if (status == PDNN_OK)
        status = time_reorder(tuner, &reorder, pdnn_onednn_layout_bytes(from), pdnn_onednn_layout_bytes(to),
                              scratch.data, ns, err);
    pdnn_onednn_reorder_destroy(&reorder);
    free(scratch.memory);
    return status;
}

/* Fills in what the candidates' reorders cost for weights that live in the format. */
static enum pdnn_status measure_stored(struct tuner *tuner, enum pdnn_onednn_weights_format format,
                                       struct pdnn_onednn_dense_costs *costs, struct pdnn_err *err) {
    struct pdnn_onednn_layout *stored = NULL;
    enum pdnn_status status =
        pdnn_onednn_dense_weights_layout(tuner->library, &tuner->shape, format, &stored, err);
    for (int i = 0; status == PDNN_OK && i < tuner->n_candidates; i++) {
        const struct candidate *candidate = &tuner->candidate[i];
        const struct pdnn_onednn_dense_variant *variant = &candidate->variant;
        struct pdnn_onednn_dense_cost *cost = &costs->cost[candidate->pass][variant->way][variant->format];
        bool usual = variant->format == format &&
                     variant->way == pdnn_onednn_dense_usual(costs, candidate->pass, format).way;
        if (usual || pdnn_onednn_dense_cost_competes(costs, candidate->pass, candidate->ns, format))
            status = reorder_ns(tuner, candidate, stored, &cost->reorder_ns[format], err);
    }
    pdnn_onednn_layout_destroy(stored);
    return status;
}

static enum pdnn_status measure_costs(struct tuner *tuner, struct pdnn_onednn_dense_costs *costs,
                                      struct pdnn_err *err) {
    int last = tuner->shape.pinned ? PDNN_ONEDNN_WEIGHTS_ROW_MAJOR : PDNN_ONEDNN_WEIGHTS_PACKED;
    enum pdnn_status status = measure(tuner, err);
    pdnn_onednn_dense_costs_init(costs);
    for (int i = 0; i < tuner->n_candidates; i++) {
        const struct candidate *candidate = &tuner->candidate[i];
        costs->cost[candidate->pass][candidate->variant.way][candidate->variant.format].run_ns =
            candidate->ns;
    }
    for (int i = 0; status == PDNN_OK && i <= last; i++) {
        if (i == PDNN_ONEDNN_WEIGHTS_PACKED &&
            !find_candidate(tuner, PDNN_FORWARD, PDNN_ONEDNN_DENSE_INNER_PRODUCT, PDNN_ONEDNN_WEIGHTS_PACKED))
            continue;
        status = measure_stored(tuner, (enum pdnn_onednn_weights_format)i, costs, err);
    }
    return status;
}

static enum pdnn_status tune(struct pdnn_onednn_library *library, const struct pdnn_step_options *own,
                             const struct pdnn_onednn_dense_shape *shape,
                             struct pdnn_onednn_dense_costs *costs, struct pdnn_err *err) {
    struct tuner *tuner = calloc(1, sizeof *tuner);
    if (!tuner)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring layouts");
    tuner->library = library;
    tuner->shape = *shape;
    tuner->own = own;
    shrink(&tuner->shape);
    enum pdnn_status status = PDNN_OK;
    for (int pass = 0; status == PDNN_OK && pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
        if (shape->has_pass[pass])
            status = collect_pass(tuner, (enum pdnn_pass)pass, err);
    }
    if (status == PDNN_OK)
        status = allocate(tuner, err);
    if (status == PDNN_OK)
        status = measure_costs(tuner, costs, err);
    for (int i = 0; i < tuner->n_candidates; i++)
        pdnn_onednn_dense_pass_destroy(&tuner->candidate[i].made);
    void *memory[] = {tuner->x.memory,   tuner->w.memory,       tuner->b.memory,     tuner->y.memory,
                      tuner->out.memory, tuner->scratch.memory, tuner->moved.memory, tuner};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    return status;
}

static struct pdnn_choice_entry *find_entry(const struct pdnn_onednn_dense_choices *choices,
                                            const struct pdnn_onednn_dense_shape *shape) {
    struct pdnn_choice_entry *entry = choices->first;
    while (entry && memcmp(&entry->shape, shape, sizeof *shape) != 0)
        entry = entry->next;
    return entry;
}

static struct pdnn_choice_entry *new_entry(struct pdnn_onednn_dense_choices *choices,
                                           const struct pdnn_onednn_dense_shape *shape) {
    struct pdnn_choice_entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    memcpy(&entry->shape, shape, sizeof *shape); /* with its padding, for memcmp */
    pdnn_onednn_dense_costs_init(&entry->costs);
    entry->next = choices->first;
    choices->first = entry;
    return entry;
}

enum pdnn_status
pdnn_onednn_dense_choose(struct pdnn_onednn_dense_choices *choices, struct pdnn_onednn_library *library,
                         const struct pdnn_step_options *own, const struct pdnn_onednn_dense_shape *shape,
                         const struct pdnn_onednn_dense_choice **choice, struct pdnn_err *err) {
    if (choices->forced) {
        *choice = choices->forced;
        return PDNN_OK;
    }
    struct pdnn_choice_entry *entry = find_entry(choices, shape);
    if (!entry)
        entry = new_entry(choices, shape);
    if (!entry)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a choice");
    /* Within one compile a choice stays what it is: the weights that have it already must keep it. */
    bool settled = entry->n_compiles > 0 && entry->compile == choices->compile;
    if (!settled && entry->n_compiles < COMPILES) {
        struct pdnn_onednn_dense_costs costs;
        enum pdnn_status status = tune(library, own, shape, &costs, err);
        if (status != PDNN_OK)
            return status;
        pdnn_onednn_dense_costs_merge(&entry->costs, &costs);
        if (!pdnn_onednn_dense_decide(&entry->costs, shape, &entry->choice))
            return pdnn_fail(err, PDNN_INTERNAL, "every implementation of a pass fails");
        entry->compile = choices->compile;
        entry->n_compiles++;
    }
    *choice = &entry->choice;
    return PDNN_OK;
}
