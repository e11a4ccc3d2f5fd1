#include "results/analysis/roofline.h"
#include "models/memory.h"
#include "models/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The measured GB/s of a level by pattern; 0: not measured. */
struct patterns {
    double read, copy, triad;
};

/* Levels are sorted by capacity, nearest to the core first; DRAM (capacity 0, meaning unlimited) is last.
 * patterns is kept in the same order as the levels. */
static struct patterns *find_level(struct pdnn_roofs *roofs, const struct pdnn_ceiling *row,
                                   struct patterns patterns[PDNN_ROOF_LEVELS]) {
    uint64_t capacity = row->capacity_bytes ? row->capacity_bytes : UINT64_MAX;
    size_t at = 0;
    while (at < roofs->n_levels && strcmp(roofs->level[at].name, row->level) != 0)
        at++;
    if (at < roofs->n_levels)
        return &patterns[at];
    if (roofs->n_levels == PDNN_ROOF_LEVELS)
        return NULL;
    for (at = roofs->n_levels++; at > 0 && roofs->level[at - 1].capacity_bytes > capacity; at--) {
        roofs->level[at] = roofs->level[at - 1];
        patterns[at] = patterns[at - 1];
    }
    roofs->level[at] = (struct pdnn_roof_level){.capacity_bytes = capacity};
    memcpy(roofs->level[at].name, row->level, sizeof roofs->level[at].name);
    patterns[at] = (struct patterns){0};
    return &patterns[at];
}

static void add_bandwidth(struct pdnn_roofs *roofs, const struct pdnn_ceiling *row,
                          struct patterns patterns[PDNN_ROOF_LEVELS]) {
    struct patterns *of_level = find_level(roofs, row, patterns);
    if (!of_level)
        return;
    double *rate = strcmp(row->pattern, "read") == 0   ? &of_level->read
                   : strcmp(row->pattern, "copy") == 0 ? &of_level->copy
                                                       : &of_level->triad;
    *rate = fmax(*rate, row->value);
}

/* The two rates as the header defines them. A level without measured writes is assumed
 * to write as fast as it reads. */
static void set_rates(struct pdnn_roof_level *level, const struct patterns *patterns) {
    double read = fmax(patterns->read, fmax(patterns->copy / 2, patterns->triad * 2 / 3)), added = INFINITY;
    if (patterns->copy > 0)
        added = 2 / patterns->copy - 1 / read;
    if (patterns->triad > 0)
        added = fmin(added, 3 / patterns->triad - 2 / read);
    level->gbs = fmax(patterns->read, fmax(patterns->copy, patterns->triad));
    level->read_ns_per_byte = 1 / read;
    level->write_ns_per_byte = isinf(added) ? 1 / read : fmax(0, added);
}

static void set_levels(struct pdnn_roofs *roofs, const struct patterns patterns[PDNN_ROOF_LEVELS]) {
    for (size_t i = roofs->n_levels; i-- > 0;) {
        struct pdnn_roof_level *level = &roofs->level[i];
        set_rates(level, &patterns[i]);
        if (i + 1 == roofs->n_levels)
            continue;
        level->gbs = fmax(level->gbs, level[1].gbs);
        level->read_ns_per_byte = fmin(level->read_ns_per_byte, level[1].read_ns_per_byte);
        level->write_ns_per_byte = fmin(level->write_ns_per_byte, level[1].write_ns_per_byte);
    }
}

static void add_peak(struct pdnn_roofs *roofs, const struct pdnn_ceiling *row) {
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (strcmp(row->dtype, pdnn_dtype_name(d)) == 0)
            roofs->peak_gflops[d] = fmax(roofs->peak_gflops[d], row->value);
    }
}

void pdnn_roofs_init(struct pdnn_roofs *roofs, const struct pdnn_ceilings *ceilings, int64_t threads) {
    struct patterns patterns[PDNN_ROOF_LEVELS];
    *roofs = (struct pdnn_roofs){.n_levels = 0};
    for (size_t i = 0; i < ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ceilings->row[i];
        if (row->threads != threads || !(row->value > 0))
            continue;
        if (strcmp(row->kind, "compute") == 0)
            add_peak(roofs, row);
        else if (strcmp(row->kind, "bandwidth") == 0)
            add_bandwidth(roofs, row, patterns);
        else if (strcmp(row->kind, "overhead") == 0)
            roofs->overhead_ns = row->value;
        else if (strcmp(row->kind, "probe") == 0 && strcmp(row->pattern, "fma") == 0)
            roofs->probe_gflops = row->value;
        else if (strcmp(row->kind, "probe") == 0 && strcmp(row->pattern, "read") == 0)
            roofs->probe_gbs = row->value;
    }
    set_levels(roofs, patterns);
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (pdnn_dtype_is_half(d))
            roofs->peak_gflops[d] = fmax(roofs->peak_gflops[d], roofs->peak_gflops[PDNN_F32]);
    }
}

/* Memory as laid out in the predicted plan, cut at the ends of every buffer, so all bytes of a piece were
 * last accessed at the same time. Time is counted in bytes accessed. */
struct pieces {
    uint64_t *start; /* n + 1 offsets, ascending */
    uint64_t *last;  /* time of the piece's last access, or NEVER */
    size_t n;
    uint64_t clock;
};

#define NEVER UINT64_MAX

struct walk {
    const struct pdnn_graph *graph;
    const struct pdnn_roofs *roofs;
    const struct pdnn_lifetime *lifetimes;
    struct pieces pieces;
};

static int compare_offsets(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool cut_pieces(struct walk *walk) {
    struct pieces *pieces = &walk->pieces;
    size_t count = 0, n_tensors = walk->graph->n_tensors;
    pieces->start = pdnn_arena_alloc(walk->graph->arena, 2 * n_tensors + 1, sizeof *pieces->start);
    pieces->last = pdnn_arena_alloc(walk->graph->arena, 2 * n_tensors + 1, sizeof *pieces->last);
    if (!pieces->start || !pieces->last)
        return false;
    for (size_t i = 0; i < n_tensors; i++) {
        const struct pdnn_lifetime *lifetime = &walk->lifetimes[i];
        pieces->start[count++] = lifetime->offset;
        pieces->start[count++] = lifetime->offset + lifetime->bytes;
    }
    qsort(pieces->start, count, sizeof *pieces->start, compare_offsets);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        if (!distinct || pieces->start[i] != pieces->start[distinct - 1])
            pieces->start[distinct++] = pieces->start[i];
    }
    pieces->n = distinct ? distinct - 1 : 0;
    return true;
}

static void forget_accesses(struct pieces *pieces) {
    for (size_t i = 0; i < pieces->n; i++)
        pieces->last[i] = NEVER;
}

static size_t piece_at(const struct pieces *pieces, uint64_t offset) {
    size_t low = 0, high = pieces->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (pieces->start[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t level_of(const struct pdnn_roofs *roofs, uint64_t distance) {
    size_t level = 0;
    while (level + 1 < roofs->n_levels && roofs->level[level].capacity_bytes < distance)
        level++;
    return level;
}

/* The part of `bytes` accessed in a buffer (perhaps fewer than its size) that falls
 * into its first `covered` bytes. */
static uint64_t part_of(uint64_t bytes, uint64_t covered, uint64_t whole) {
    return covered == whole ? bytes : (uint64_t)((double)bytes * ((double)covered / (double)whole));
}

/* by_level: the read or the written half of a traffic. */
static void access_tensor(struct walk *walk, uint32_t tensor, uint64_t bytes, uint64_t *by_level) {
    struct pieces *pieces = &walk->pieces;
    const struct pdnn_lifetime *lifetime = &walk->lifetimes[tensor];
    uint64_t end = lifetime->offset + lifetime->bytes, done = 0;
    if (!lifetime->bytes)
        return;
    for (size_t i = piece_at(pieces, lifetime->offset); i < pieces->n && pieces->start[i] < end; i++) {
        bool never = pieces->last[i] == NEVER;
        size_t level = level_of(walk->roofs, never ? UINT64_MAX : pieces->clock - pieces->last[i]);
        uint64_t upto = part_of(bytes, pieces->start[i + 1] - lifetime->offset, lifetime->bytes);
        by_level[level] += upto - done;
        done = upto;
        pieces->last[i] = pieces->clock;
    }
    pieces->clock += bytes;
}

/* The same accesses and bytes that models/cost counts. */
static void access_node(struct walk *walk, const struct pdnn_node *node, struct pdnn_traffic *traffic) {
    const struct pdnn_graph *graph = walk->graph;
    uint64_t own[PDNN_NODE_INPUTS + PDNN_NODE_OUTPUTS];
    bool generic = !node->op->pass[node->pass].bytes;
    if (!generic)
        node->op->pass[node->pass].bytes(graph, node, own);
    for (int k = 0; k < node->n_inputs + node->n_outputs; k++) {
        bool is_read = k < node->n_inputs;
        uint32_t tensor = is_read ? node->input[k] : node->output[k - node->n_inputs];
        access_tensor(walk, tensor, generic ? pdnn_tensor_bytes(&graph->tensors[tensor]) : own[k],
                      is_read ? traffic->read_bytes : traffic->written_bytes);
    }
    for (int k = 0; k < node->n_posts; k++) {
        const struct pdnn_post *post = &node->posts[k];
        bool is_read = post->pass != PDNN_BACKWARD_WEIGHTS;
        uint32_t extra = is_read ? post->input : post->output;
        if (extra != PDNN_NONE)
            access_tensor(walk, extra, pdnn_tensor_bytes(&graph->tensors[extra]),
                          is_read ? traffic->read_bytes : traffic->written_bytes);
    }
}

enum pdnn_status pdnn_graph_traffic(const struct pdnn_graph *graph, const struct pdnn_roofs *roofs, bool cold,
                                    struct pdnn_traffic **traffic, struct pdnn_err *err) {
    struct pdnn_lifetime *lifetimes;
    uint64_t total;
    enum pdnn_status status = pdnn_memory_lifetimes(graph, &lifetimes, err);
    if (status == PDNN_OK)
        status = pdnn_memory_pack(lifetimes, graph->n_tensors, graph->arena, &total, err);
    if (status != PDNN_OK)
        return status;
    struct walk walk = {.graph = graph, .roofs = roofs, .lifetimes = lifetimes};
    struct pdnn_traffic *all = pdnn_arena_alloc(graph->arena, graph->n_nodes, sizeof *all);
    if (!all || !cut_pieces(&walk))
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the accesses of %zu nodes", graph->n_nodes);
    forget_accesses(&walk.pieces);
    for (size_t i = 0; !cold && i < graph->n_nodes; i++) {
        struct pdnn_traffic before = {{0}, {0}};
        access_node(&walk, &graph->nodes[i], &before);
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        access_node(&walk, &graph->nodes[i], &all[i]);
    *traffic = all;
    return PDNN_OK;
}

void pdnn_traffic_add(struct pdnn_traffic *sum, const struct pdnn_traffic *traffic) {
    for (size_t i = 0; i < PDNN_ROOF_LEVELS; i++) {
        sum->read_bytes[i] += traffic->read_bytes[i];
        sum->written_bytes[i] += traffic->written_bytes[i];
    }
}

void pdnn_traffic_from(struct pdnn_traffic *traffic, const struct pdnn_roofs *roofs, uint64_t bytes,
                       uint64_t distance) {
    size_t level = level_of(roofs, distance);
    *traffic = (struct pdnn_traffic){{0}, {0}};
    traffic->read_bytes[level] = bytes / 2;
    traffic->written_bytes[level] = bytes - bytes / 2;
}

double pdnn_place_speed(const struct pdnn_placement *place, const struct pdnn_roofs *roofs,
                        struct pdnn_speed speed) {
    bool from_last =
        roofs->n_levels && strcmp(place->roof_level, roofs->level[roofs->n_levels - 1].name) == 0;
    return place->bound == PDNN_BOUND_MEMORY && from_last ? speed.memory : speed.compute;
}

/* The time that all levels together need, and the level that needs most of it. */
static double memory_time_ns(const struct pdnn_roofs *roofs, const struct pdnn_traffic *traffic,
                             struct pdnn_placement *place) {
    double sum = 0, most = -1;
    for (size_t i = 0; i < roofs->n_levels; i++) {
        const struct pdnn_roof_level *level = &roofs->level[i];
        double ns = (double)traffic->read_bytes[i] * level->read_ns_per_byte +
                    (double)traffic->written_bytes[i] * level->write_ns_per_byte;
        sum += ns;
        if ((traffic->read_bytes[i] || traffic->written_bytes[i]) && ns > most) {
            most = ns;
            memcpy(place->roof_level, roofs->level[i].name, sizeof place->roof_level);
        }
    }
    return sum;
}

/* The time that the arithmetic needs at the peaks, and its FLOP; infinite if a peak is unknown. */
static double compute_time_ns(const struct pdnn_roofs *roofs, const struct pdnn_place_input *input,
                              double *flop) {
    double sum = 0;
    *flop = 0;
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++) {
        *flop += (double)input->flop_count[d];
        if (input->flop_count[d])
            sum += (double)input->flop_count[d] / roofs->peak_gflops[d];
    }
    return sum;
}

/* If a neighbour disturbed the probe, the row itself says more: the machine was at least as fast as the row
 * shows. A speed above 1 is cut to 1: no roof is above the measured one. */
static double bounded_speed(double index, double roof_ns, double time_ns) {
    double shown = time_ns > 0 ? roof_ns / time_ns : 0;
    return fmin(1, fmax(index, shown));
}

void pdnn_place(const struct pdnn_roofs *roofs, const struct pdnn_place_input *input,
                struct pdnn_placement *place) {
    double flop, bytes = 0, compute_ns = compute_time_ns(roofs, input, &flop);
    bool timed = input->time_ns > 0;
    pdnn_placement_init(place);
    for (size_t i = 0; i < PDNN_ROOF_LEVELS; i++)
        bytes += (double)(input->traffic.read_bytes[i] + input->traffic.written_bytes[i]);
    if (bytes > 0)
        place->intensity_flop_per_byte = flop / bytes;
    if (timed && flop > 0)
        place->gflops = flop / input->time_ns;
    if (timed && bytes > 0)
        place->bw_gbs = bytes / input->time_ns;
    bool no_peak = !isfinite(compute_ns);
    bool no_bandwidth = bytes > 0 && !roofs->n_levels;
    if (no_peak || no_bandwidth || !(flop > 0 || bytes > 0))
        return;
    double memory_ns = memory_time_ns(roofs, &input->traffic, place);
    double roof_ns = fmax(compute_ns, memory_ns);
    if ((double)input->calls * roofs->overhead_ns > roof_ns)
        place->bound = PDNN_BOUND_OVERHEAD;
    else
        place->bound = compute_ns > memory_ns ? PDNN_BOUND_COMPUTE : PDNN_BOUND_MEMORY;
    double index = pdnn_place_speed(place, roofs, input->speed);
    place->roof_ns = roof_ns / bounded_speed(index, roof_ns, input->time_ns);
    if (flop > 0)
        place->attainable_gflops = flop / place->roof_ns;
    if (timed)
        place->pct_of_roof = place->roof_ns / input->time_ns * 100;
    if (timed && flop > 0)
        place->pct_of_peak =
            compute_ns / (input->time_ns * bounded_speed(input->speed.compute, compute_ns, input->time_ns)) *
            100;
}
