#define _GNU_SOURCE /* madvise */
#include "runtime/backends/onednn/choose.h"

#include "runtime/backends/onednn/reorder.h"
#include "runtime/core/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Measured shapes go up to these, about 10 ms on one thread: the library changes its algorithm somewhere
 * below a minibatch of 1024, so that is kept and the weights shrink. ROUNDS visits to each candidate, of at
 * least VISIT_NS. */
enum { MAX_N = 1024, MAX_WEIGHTS = 1 << 22, MAX_MULTIPLY_ADDS = 600000000 };
enum { ROUNDS = 3, VISIT_NS = 50000, MAX_REPEATS = 50 };
enum {
    CANDIDATES = PDNN_DENSE_PASSES * 2 * PDNN_WEIGHTS_FORMAT_COUNT,
    HUGE_PAGE_BYTES = 2 << 20,
    LINE_BYTES = 64
};

/* Plain inner product on row-major weights is taken unless something beats it by more than this: noise must
 * not make two runs of one instance differ. HOPELESS ones are not measured to the end. */
static const double VARIANT_MARGIN = 0.9, HOME_MARGIN = 0.9, HOPELESS = 1.5;

struct pdnn_choice_entry {
    struct pdnn_choice_entry *next;
    struct pdnn_dense_shape shape;
    struct pdnn_dense_choice choice;
};

struct candidate {
    enum pdnn_pass pass;
    struct pdnn_dense_variant variant;
    struct pdnn_dense_pass made;
    double ns; /* the least of the visits */
};

struct block {
    void *memory, *data; /* data lies in memory */
};

struct tuner {
    struct pdnn_onednn_library *library;
    const struct pdnn_own_options *own;
    struct pdnn_dense_shape shape; /* the measured one */
    struct candidate candidate[CANDIDATES];
    int n_candidates;
    struct block x, w, b, y, out, scratch;
};

void pdnn_choices_finish(struct pdnn_choices *choices) {
    while (choices->first) {
        struct pdnn_choice_entry *next = choices->first->next;
        free(choices->first);
        choices->first = next;
    }
}

static void shrink(struct pdnn_dense_shape *shape) {
    while (shape->N > MAX_N)
        shape->N /= 2;
    while (shape->I * shape->O > MAX_WEIGHTS || shape->N * shape->I * shape->O > MAX_MULTIPLY_ADDS)
        *(shape->I > shape->O ? &shape->I : &shape->O) /= 2;
}

static bool is_reference(const struct candidate *candidate) {
    return strstr(pdnn_onednn_primitive_name(candidate->made.primitive), "ref") != NULL;
}

static const struct candidate *find_candidate(const struct tuner *tuner, enum pdnn_pass pass, bool matmul,
                                              enum pdnn_weights_format format) {
    for (int i = 0; i < tuner->n_candidates; i++) {
        const struct candidate *candidate = &tuner->candidate[i];
        if (candidate->pass == pass && candidate->variant.matmul == matmul &&
            candidate->variant.format == format)
            return candidate;
    }
    return NULL;
}

/* PACKED that turned out to be one of the plain formats is no candidate of its own. */
static bool is_double(const struct tuner *tuner, const struct candidate *candidate) {
    if (candidate->variant.format != PDNN_WEIGHTS_PACKED)
        return false;
    for (int format = 0; format < PDNN_WEIGHTS_PACKED; format++) {
        const struct candidate *plain =
            find_candidate(tuner, candidate->pass, false, (enum pdnn_weights_format)format);
        if (plain && pdnn_onednn_layout_equal(plain->made.weights, candidate->made.weights))
            return true;
    }
    return false;
}

/* Every way to do the pass. Reference implementations count only where there is nothing else. */
static enum pdnn_status collect_pass(struct tuner *tuner, enum pdnn_pass pass, struct pdnn_err *err) {
    int first = tuner->n_candidates;
    struct candidate last_resort = {0};
    for (int i = 0; i < 2 * PDNN_WEIGHTS_FORMAT_COUNT; i++) {
        struct candidate *candidate = &tuner->candidate[tuner->n_candidates];
        *candidate = (struct candidate){.pass = pass};
        candidate->variant = (struct pdnn_dense_variant){
            i >= PDNN_WEIGHTS_FORMAT_COUNT, (enum pdnn_weights_format)(i % PDNN_WEIGHTS_FORMAT_COUNT)};
        struct pdnn_err refusal = {0};
        enum pdnn_status status = pdnn_dense_pass_create(tuner->library, &tuner->shape, pass,
                                                         candidate->variant, &candidate->made, &refusal);
        if (status != PDNN_OK && err && (i == 0 || status != PDNN_UNSUPPORTED))
            *err = refusal;
        if (status == PDNN_UNSUPPORTED)
            continue;
        if (status != PDNN_OK) {
            pdnn_dense_pass_destroy(&last_resort.made);
            return status;
        }
        if (is_reference(candidate) && !last_resort.made.primitive)
            last_resort = *candidate;
        else if (is_reference(candidate) || is_double(tuner, candidate))
            pdnn_dense_pass_destroy(&candidate->made);
        else
            tuner->n_candidates++;
    }
    if (tuner->n_candidates > first) {
        pdnn_dense_pass_destroy(&last_resort.made);
        return PDNN_OK;
    }
    if (!last_resort.made.primitive)
        return PDNN_UNSUPPORTED;
    tuner->candidate[tuner->n_candidates++] = last_resort;
    return PDNN_OK;
}

/* On huge pages, like a plan's memory; a few lines off them, so that no two arrays begin at the same place.
 */
static bool new_data(struct block *block, uint64_t bytes, int lines_off) {
    uint64_t room = bytes + (uint64_t)lines_off * LINE_BYTES;
    if (posix_memalign(&block->memory, HUGE_PAGE_BYTES, room + LINE_BYTES) != 0) {
        block->memory = NULL;
        return false;
    }
    madvise(block->memory, room, MADV_HUGEPAGE);
    block->data = (char *)block->memory + lines_off * LINE_BYTES;
    float *values = block->data;
    for (uint64_t i = 0; i < bytes / sizeof *values; i++)
        values[i] = (float)(i % 97) * 0.01F - 0.5F;
    return true;
}

static enum pdnn_status allocate(struct tuner *tuner, struct pdnn_err *err) {
    const struct pdnn_dense_shape *shape = &tuner->shape;
    uint64_t element = pdnn_dtype_bytes(shape->dtype), scratch = 0, w = 0;
    uint64_t x = (uint64_t)(shape->N * shape->I) * element, y = (uint64_t)(shape->N * shape->O) * element;
    for (int i = 0; i < tuner->n_candidates; i++) {
        const struct pdnn_dense_pass *made = &tuner->candidate[i].made;
        uint64_t bytes = pdnn_onednn_layout_bytes(made->weights);
        w = bytes > w ? bytes : w;
        bytes = pdnn_onednn_primitive_scratchpad_bytes(made->primitive);
        scratch = bytes > scratch ? bytes : scratch;
    }
    uint64_t out = x > y ? x : y;
    out = w > out ? w : out;
    if (!new_data(&tuner->x, x, 0) || !new_data(&tuner->w, w, 5) || !new_data(&tuner->y, y, 10) ||
        !new_data(&tuner->b, (uint64_t)shape->O * element, 15) || !new_data(&tuner->out, out, 20) ||
        !new_data(&tuner->scratch, scratch, 25))
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring layouts");
    return PDNN_OK;
}

static enum pdnn_status bind_candidate(struct tuner *tuner, struct candidate *candidate,
                                       struct pdnn_err *err) {
    struct pdnn_dense_pass *made = &candidate->made;
    enum pdnn_pass pass = candidate->pass;
    bool bias = pass == PDNN_FORWARD ? tuner->shape.bias
                                     : pass == PDNN_BACKWARD_WEIGHTS && tuner->shape.bias_gradient;
    void *x = pass == PDNN_BACKWARD_DATA ? tuner->out.data : tuner->x.data;
    void *w = pass == PDNN_BACKWARD_WEIGHTS ? tuner->out.data : tuner->w.data;
    void *y = pass == PDNN_FORWARD ? tuner->out.data : tuner->y.data;
    enum pdnn_status status = pdnn_onednn_primitive_bind(made->primitive, made->x, x, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_bind(made->primitive, made->w, w, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_bind(made->primitive, made->y, y, err);
    if (status == PDNN_OK && bias)
        status = pdnn_onednn_primitive_bind(made->primitive, made->b, tuner->b.data, err);
    if (status == PDNN_OK && pdnn_onednn_primitive_scratchpad_bytes(made->primitive))
        status =
            pdnn_onednn_primitive_bind(made->primitive, PDNN_ONEDNN_SCRATCHPAD, tuner->scratch.data, err);
    return status;
}

/* ns per run over as many runs as fill a visit, given about how long one takes. */
static double visit(const struct pdnn_onednn_primitive *primitive, double about_ns) {
    int repeats = about_ns * MAX_REPEATS < VISIT_NS ? MAX_REPEATS : 1 + (int)(VISIT_NS / about_ns);
    uint64_t start = pdnn_clock_ns();
    for (int i = 0; i < repeats; i++)
        pdnn_onednn_primitive_run(primitive);
    return (double)(pdnn_clock_ns() - start) / repeats;
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

static enum pdnn_status measure(struct tuner *tuner, struct pdnn_err *err) {
    for (int i = 0; i < tuner->n_candidates; i++) {
        struct candidate *candidate = &tuner->candidate[i];
        enum pdnn_status status = bind_candidate(tuner, candidate, err);
        if (status != PDNN_OK)
            return status;
        pdnn_onednn_primitive_run(candidate->made.primitive); /* the first run is no measure of anything */
        candidate->ns = visit(candidate->made.primitive, 2 * VISIT_NS);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < tuner->n_candidates; i++) {
            struct candidate *candidate = &tuner->candidate[i];
            if (candidate->ns > HOPELESS * least(tuner, candidate->pass))
                continue;
            double ns = visit(candidate->made.primitive, candidate->ns);
            candidate->ns = ns < candidate->ns ? ns : candidate->ns;
        }
    }
    return PDNN_OK;
}

/* What it costs to have the pass's weights in another layout than home; 0 when they are equal. */
static enum pdnn_status reorder_ns(struct tuner *tuner, const struct candidate *candidate,
                                   const struct pdnn_onednn_layout *home, double *ns, struct pdnn_err *err) {
    bool writes = candidate->pass == PDNN_BACKWARD_WEIGHTS;
    const struct pdnn_onednn_layout *used = candidate->made.weights;
    struct block scratch = {0};
    const int64_t dim[] = {tuner->shape.O, tuner->shape.I};
    struct pdnn_reorder reorder = {0};
    *ns = 0;
    if (pdnn_onednn_layout_equal(used, home))
        return PDNN_OK;
    enum pdnn_status status = pdnn_reorder_create(tuner->library, tuner->own, writes ? used : home,
                                                  writes ? home : used, dim, &reorder, err);
    if (status == PDNN_OK && !new_data(&scratch, pdnn_reorder_scratch_bytes(&reorder), 0))
        status = pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring layouts");
    if (status == PDNN_OK)
        status = pdnn_reorder_bind(&reorder, tuner->w.data, tuner->out.data, scratch.data, err);
    for (int round = 0; status == PDNN_OK && round <= ROUNDS; round++) {
        uint64_t start = pdnn_clock_ns();
        pdnn_reorder_run(&reorder);
        double once = (double)(pdnn_clock_ns() - start);
        *ns = round == 0 || once < *ns ? once : *ns;
    }
    pdnn_reorder_destroy(&reorder);
    free(scratch.memory);
    return status;
}

/* The best variant of the pass given home, and its time with the reorder. */
static enum pdnn_status best_variant(struct tuner *tuner, enum pdnn_pass pass,
                                     enum pdnn_weights_format format, const struct pdnn_onednn_layout *home,
                                     struct pdnn_dense_variant *variant, double *best_ns,
                                     struct pdnn_err *err) {
    const struct candidate *usual = find_candidate(tuner, pass, false, format);
    *best_ns = 0;
    if (usual) {
        enum pdnn_status status = reorder_ns(tuner, usual, home, best_ns, err);
        if (status != PDNN_OK)
            return status;
        *best_ns += usual->ns;
        *variant = usual->variant;
    }
    for (int i = 0; i < tuner->n_candidates; i++) {
        const struct candidate *candidate = &tuner->candidate[i];
        double ns = 0, bar = *best_ns * (usual && variant->format == format ? VARIANT_MARGIN : 1);
        if (candidate->pass != pass || candidate == usual || (*best_ns > 0 && candidate->ns >= bar))
            continue;
        enum pdnn_status status = reorder_ns(tuner, candidate, home, &ns, err);
        if (status != PDNN_OK)
            return status;
        ns += candidate->ns;
        if (*best_ns > 0 && ns >= bar)
            continue;
        *best_ns = ns;
        *variant = candidate->variant;
    }
    return PDNN_OK;
}

static enum pdnn_status decide(struct tuner *tuner, struct pdnn_dense_choice *choice, struct pdnn_err *err) {
    double least_ns = 0;
    int last = tuner->shape.pinned ? PDNN_WEIGHTS_ROW_MAJOR : PDNN_WEIGHTS_PACKED;
    for (int i = 0; i <= last; i++) {
        enum pdnn_weights_format format = (enum pdnn_weights_format)i;
        struct pdnn_dense_choice tried = {.home = format};
        struct pdnn_onednn_layout *home = NULL;
        double total_ns = 0, ns = 0;
        if (format == PDNN_WEIGHTS_PACKED && !find_candidate(tuner, PDNN_FORWARD, false, format))
            continue;
        enum pdnn_status status =
            pdnn_dense_weights_layout(tuner->library, &tuner->shape, format, &home, err);
        for (int pass = 0; status == PDNN_OK && pass < PDNN_DENSE_PASSES; pass++) {
            if (!tuner->shape.has_pass[pass])
                continue;
            status = best_variant(tuner, (enum pdnn_pass)pass, format, home, &tried.variant[pass], &ns, err);
            total_ns += ns;
        }
        pdnn_onednn_layout_destroy(home);
        if (status != PDNN_OK)
            return status;
        if (least_ns > 0 && total_ns >= least_ns * HOME_MARGIN)
            continue;
        least_ns = total_ns;
        *choice = tried;
    }
    return PDNN_OK;
}

static enum pdnn_status tune(struct pdnn_onednn_library *library, const struct pdnn_own_options *own,
                             const struct pdnn_dense_shape *shape, struct pdnn_dense_choice *choice,
                             struct pdnn_err *err) {
    struct tuner *tuner = calloc(1, sizeof *tuner);
    if (!tuner)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for measuring layouts");
    tuner->library = library;
    tuner->shape = *shape;
    tuner->own = own;
    shrink(&tuner->shape);
    enum pdnn_status status = PDNN_OK;
    for (int pass = 0; status == PDNN_OK && pass < PDNN_DENSE_PASSES; pass++) {
        if (shape->has_pass[pass])
            status = collect_pass(tuner, (enum pdnn_pass)pass, err);
    }
    if (status == PDNN_OK)
        status = allocate(tuner, err);
    if (status == PDNN_OK)
        status = measure(tuner, err);
    if (status == PDNN_OK)
        status = decide(tuner, choice, err);
    for (int i = 0; i < tuner->n_candidates; i++)
        pdnn_dense_pass_destroy(&tuner->candidate[i].made);
    void *memory[] = {tuner->x.memory,
                      tuner->w.memory,
                      tuner->b.memory,
                      tuner->y.memory,
                      tuner->out.memory,
                      tuner->scratch.memory,
                      tuner};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    return status;
}

enum pdnn_status pdnn_choose(struct pdnn_choices *choices, struct pdnn_onednn_library *library,
                             const struct pdnn_own_options *own, const struct pdnn_dense_shape *shape,
                             const struct pdnn_dense_choice **choice, struct pdnn_err *err) {
    if (choices->forced) {
        *choice = choices->forced;
        return PDNN_OK;
    }
    for (const struct pdnn_choice_entry *entry = choices->first; entry; entry = entry->next) {
        if (memcmp(&entry->shape, shape, sizeof *shape) == 0) {
            *choice = &entry->choice;
            return PDNN_OK;
        }
    }
    struct pdnn_choice_entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a choice");
    memcpy(&entry->shape, shape, sizeof *shape); /* with its padding, for memcmp */
    enum pdnn_status status = tune(library, own, shape, &entry->choice, err);
    if (status != PDNN_OK) {
        free(entry);
        return status;
    }
    entry->next = choices->first;
    choices->first = entry;
    *choice = &entry->choice;
    return PDNN_OK;
}
