#include "results/rows/roofline.h"
#include "models/cost/cost.h"
#include "models/cost/packing.h"
#include "models/op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An update in place costs at least this share of a byte: it is not free, even where caches write back while
 * they read. */
static const double least_update = 1.0 / 16;

enum { READ, COPY, TRIAD, UPDATE, PATTERNS };

/* Of a stretch of reuse distances, while its rows are read. */
struct stretch {
    uint64_t bytes; /* of a level its capacity, of a rung its working set */
    char level[PDNN_ROOF_ROW_TEXT];
    double gbs[PATTERNS]; /* measured; 0: not */
};

/* Ascending; a row that finds no room is left out. */
struct stretches {
    size_t count;
    struct stretch row[PDNN_ROOF_RUNGS];
};

static struct stretch *find_stretch(struct stretches *all, const struct pdnn_roof_row *row, uint64_t bytes,
                                    size_t room) {
    size_t at = 0;
    while (at < all->count && all->row[at].bytes != bytes)
        at++;
    if (at < all->count)
        return &all->row[at];
    if (all->count == room)
        return NULL;
    for (at = all->count++; at > 0 && all->row[at - 1].bytes > bytes; at--)
        all->row[at] = all->row[at - 1];
    all->row[at] = (struct stretch){.bytes = bytes};
    memcpy(all->row[at].level, row->level, sizeof all->row[at].level);
    return &all->row[at];
}

/* Both kinds of stores count, the better one: "copy" and "copy-streaming". */
static void add_bandwidth(struct stretches *all, const struct pdnn_roof_row *row, uint64_t bytes, size_t room,
                          double gbs) {
    static const char *const names[PATTERNS] = {"read", "copy", "triad", "update"};
    struct stretch *stretch = find_stretch(all, row, bytes, room);
    for (size_t k = 0; stretch && k < PATTERNS; k++)
        if (strncmp(row->pattern, names[k], strlen(names[k])) == 0)
            stretch->gbs[k] = fmax(stretch->gbs[k], gbs);
}

/* As the header defines them. */
static struct pdnn_roof_rung rung_of(const double gbs[PATTERNS]) {
    double pure = fmax(fmax(gbs[READ], gbs[COPY]), gbs[TRIAD]);
    double read = fmax(fmax(gbs[READ], gbs[COPY] / 2), fmax(gbs[TRIAD], gbs[UPDATE]) * 2 / 3);
    double mixed = 1 / fmax(pure, gbs[UPDATE] * (2 + least_update) / 3);
    double update = gbs[UPDATE] > 0 ? fmin(mixed, 3 / gbs[UPDATE] - 2 * mixed) : mixed;
    return (struct pdnn_roof_rung){.ns_per_byte = {
                                       [PDNN_TRAFFIC_READ] = 1 / read,
                                       [PDNN_TRAFFIC_MIXED] = mixed,
                                       [PDNN_TRAFFIC_UPDATE] = fmax(update, least_update * mixed),
                                   }};
}

static void set_levels(struct pdnn_roofs *roofs, const struct stretches *levels) {
    roofs->n_levels = levels->count;
    for (size_t i = levels->count; i-- > 0;) {
        const struct stretch *from = &levels->row[i];
        struct pdnn_roof_level *level = &roofs->level[i];
        level->capacity_bytes = from->bytes;
        level->gbs = fmax(fmax(from->gbs[READ], from->gbs[COPY]), fmax(from->gbs[TRIAD], from->gbs[UPDATE]));
        level->read_gbs = 1 / rung_of(from->gbs).ns_per_byte[PDNN_TRAFFIC_READ];
        memcpy(level->name, from->level, sizeof level->name);
        if (i + 1 < levels->count) {
            level->gbs = fmax(level->gbs, level[1].gbs);
            level->read_gbs = fmax(level->read_gbs, level[1].read_gbs);
        }
    }
}

static size_t level_named(const struct pdnn_roofs *roofs, const char *name) {
    size_t at = 0;
    while (at + 1 < roofs->n_levels && strcmp(roofs->level[at].name, name) != 0)
        at++;
    return at;
}

/* is_ladder: stretches begin at their working sets; else they end at their capacities. */
static void set_rungs(struct pdnn_roofs *roofs, const struct stretches *from, const struct stretches *levels,
                      bool is_ladder) {
    double seen[PATTERNS] = {0};
    roofs->n_rungs = roofs->n_levels ? from->count : 0;
    if (roofs->n_rungs)
        memcpy(seen, levels->row[levels->count - 1].gbs, sizeof seen);
    for (size_t i = roofs->n_rungs; i-- > 0;) {
        struct pdnn_roof_rung *rung = &roofs->rung[i];
        for (size_t k = 0; k < PATTERNS; k++)
            seen[k] = fmax(seen[k], from->row[i].gbs[k]);
        *rung = rung_of(seen);
        rung->level = level_named(roofs, from->row[i].level);
        if (i)
            rung->from_bytes = is_ladder ? from->row[i].bytes : from->row[i - 1].bytes + 1;
    }
}

static void add_peak(struct pdnn_roofs *roofs, const struct pdnn_roof_row *row, double gflops) {
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (strcmp(row->dtype, pdnn_dtype_name(d)) == 0)
            roofs->peak_gflops[d] = fmax(roofs->peak_gflops[d], gflops);
        if (strcmp(row->dtype, pdnn_dtype_name(d)) == 0 && strncmp(row->pattern, "gemm-", 5) == 0)
            roofs->product_gflops[d] = fmax(roofs->product_gflops[d], gflops);
    }
}

/* Of what joined measurements say. */
enum end { LOW, VALUE, HIGH };

/* 0: the row is of the other state. */
static double end_of(const struct pdnn_roof_row *row, bool far, enum end end) {
    if (*row->state && (strcmp(row->state, PDNN_ROOF_ROW_FAR) == 0) != far)
        return 0;
    return end == VALUE || row->measurements < 2 ? row->value : end == LOW ? row->low : row->high;
}

/* What each probe's row is for. */
static const struct {
    const char *pattern;
    size_t offset;
} probes[] = {{"fma", offsetof(struct pdnn_roofs, probe_gflops)},
              {"read", offsetof(struct pdnn_roofs, probe_gbs)}};

static void add_probe(struct pdnn_roofs *roofs, const struct pdnn_roof_row *row, double value) {
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (strcmp(row->pattern, probes[i].pattern) == 0)
            *(double *)((char *)roofs + probes[i].offset) = value;
}

static void init_end(struct pdnn_roofs *roofs, const struct pdnn_roof_rows *roof_rows, int64_t threads,
                     bool far, enum end end) {
    const enum end longest = end == VALUE ? end : end == LOW ? HIGH : LOW;
    struct stretches levels = {0}, ladder = {0};
    *roofs = (struct pdnn_roofs){.n_levels = 0};
    for (size_t i = 0; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        const double value = end_of(row, far, end);
        if (row->threads != threads || !(row->value > 0))
            continue;
        /* Levels and working sets are those of both states. */
        if (strcmp(row->kind, "bandwidth") == 0)
            add_bandwidth(&levels, row, row->capacity_bytes ? row->capacity_bytes : UINT64_MAX,
                          PDNN_ROOF_LEVELS, value);
        else if (strcmp(row->kind, "ladder") == 0)
            add_bandwidth(&ladder, row, row->capacity_bytes, PDNN_ROOF_RUNGS, value);
        if (!(value > 0))
            continue;
        roofs->repeats |= row->measurements > 1;
        if (strcmp(row->kind, "compute") == 0)
            add_peak(roofs, row, value);
        else if (strcmp(row->kind, "overhead") == 0)
            roofs->overhead_ns = end_of(row, far, longest);
        else if (strcmp(row->kind, "probe") == 0)
            add_probe(roofs, row, value);
    }
    set_levels(roofs, &levels);
    set_rungs(roofs, ladder.count ? &ladder : &levels, &levels, ladder.count > 0);
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        if (pdnn_dtype_is_half(d))
            roofs->peak_gflops[d] = fmax(roofs->peak_gflops[d], roofs->peak_gflops[PDNN_F32]);
}

void pdnn_roofs_init(struct pdnn_roofs *roofs, const struct pdnn_roof_rows *roof_rows, int64_t threads) {
    init_end(roofs, roof_rows, threads, false, VALUE);
}

/* Handoffs above this are of threads far apart; INFINITY where the roofs do not have both states. */
static double border_of(const struct pdnn_roof_rows *roof_rows, int64_t threads) {
    double near_ns = INFINITY, far_ns = INFINITY;
    for (size_t i = 0; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        if (row->threads == threads && strcmp(row->kind, "probe") == 0 &&
            strcmp(row->pattern, "handoff") == 0)
            *(strcmp(row->state, PDNN_ROOF_ROW_FAR) == 0 ? &far_ns : &near_ns) = row->value;
    }
    return sqrt(near_ns) * sqrt(far_ns);
}

static void add_ends(struct pdnn_roof_ends *ends, const struct pdnn_roof_rows *roof_rows, int64_t threads,
                     bool far) {
    for (size_t k = 0; k < 2; k++)
        init_end(&ends->end[ends->count++], roof_rows, threads, far, k ? HIGH : LOW);
}

void pdnn_roofs_of_visits(const struct pdnn_roof_rows *roof_rows, int64_t threads, const double *handoff_ns,
                          size_t count, struct pdnn_roofs *roofs, struct pdnn_roof_ends *ends) {
    const double border_ns = border_of(roof_rows, threads);
    size_t far = 0;
    for (size_t i = 0; i < count; i++)
        far += handoff_ns[i] > border_ns;
    const bool is_seen[] = {far < count || !count, isfinite(border_ns) && (far || !count)};
    init_end(roofs, roof_rows, threads, 2 * far > count, VALUE);
    ends->count = 0;
    for (int state = 0; state < 2; state++)
        if (is_seen[state] && (roofs->repeats || is_seen[!state]))
            add_ends(ends, roof_rows, threads, state);
}

void pdnn_roofs_range(const struct pdnn_roof_rows *roof_rows, int64_t threads, struct pdnn_roofs *low,
                      struct pdnn_roofs *high) {
    struct pdnn_roof_ends ends = {0};
    add_ends(&ends, roof_rows, threads, false);
    if (isfinite(border_of(roof_rows, threads)))
        add_ends(&ends, roof_rows, threads, true);
    *low = ends.end[0];
    *high = ends.end[1];
    for (size_t i = 2; i < ends.count; i++) {
        for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
            low->peak_gflops[d] = fmin(low->peak_gflops[d], ends.end[i].peak_gflops[d]);
            high->peak_gflops[d] = fmax(high->peak_gflops[d], ends.end[i].peak_gflops[d]);
        }
        for (size_t k = 0; k < low->n_levels; k++) {
            const struct pdnn_roof_level *other = &ends.end[i].level[k];
            low->level[k].gbs = fmin(low->level[k].gbs, other->gbs);
            low->level[k].read_gbs = fmin(low->level[k].read_gbs, other->read_gbs);
            high->level[k].gbs = fmax(high->level[k].gbs, other->gbs);
            high->level[k].read_gbs = fmax(high->level[k].read_gbs, other->read_gbs);
        }
    }
}

#define NEVER UINT64_MAX

/* Memory as laid out in the predicted plan, cut at the ends of every buffer, so all bytes of a piece were
 * last accessed at the same time. Time is counted in bytes accessed. */
struct walk {
    const struct pdnn_graph *graph;
    const struct pdnn_roofs *roofs;
    const struct pdnn_lifetime *lifetimes;
    uint64_t *start; /* of the pieces, ascending, and the end of the last one: n offsets */
    uint64_t *last;  /* time of the piece's last access, or NEVER */
    size_t n;
    uint64_t clock;
};

static int compare_offsets(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void cut_pieces(struct walk *walk) {
    size_t count = 0, n_tensors = walk->graph->n_tensors;
    walk->start = pdnn_arena_alloc(walk->graph->arena, 2 * n_tensors + 1, sizeof *walk->start);
    walk->last = pdnn_arena_alloc(walk->graph->arena, 2 * n_tensors + 1, sizeof *walk->last);
    for (size_t i = 0; i < n_tensors; i++) {
        const struct pdnn_lifetime *lifetime = &walk->lifetimes[i];
        walk->start[count++] = lifetime->offset;
        walk->start[count++] = lifetime->offset + lifetime->bytes;
    }
    qsort(walk->start, count, sizeof *walk->start, compare_offsets);
    for (size_t i = 0; i < count; i++) {
        walk->last[i] = NEVER;
        if (!walk->n || walk->start[i] != walk->start[walk->n - 1])
            walk->start[walk->n++] = walk->start[i];
    }
}

static size_t rung_at(const struct pdnn_roofs *roofs, uint64_t distance) {
    size_t rung = 0;
    while (rung + 1 < roofs->n_rungs && roofs->rung[rung + 1].from_bytes <= distance)
        rung++;
    return rung;
}

/* The part of `bytes` accessed in a buffer (perhaps fewer than its size) that falls
 * into its first `covered` bytes. */
static uint64_t part_of(uint64_t bytes, uint64_t covered, uint64_t whole) {
    return covered == whole ? bytes : (uint64_t)((double)bytes * ((double)covered / (double)whole));
}

/* by_rung: one of the parts of a traffic. */
static void access_tensor(struct walk *walk, uint32_t tensor, uint64_t bytes, uint64_t *by_rung) {
    const struct pdnn_lifetime *lifetime = &walk->lifetimes[tensor];
    uint64_t end = lifetime->offset + lifetime->bytes, done = 0;
    if (!lifetime->bytes)
        return;
    const uint64_t *first =
        bsearch(&lifetime->offset, walk->start, walk->n, sizeof *walk->start, compare_offsets);
    for (size_t i = (size_t)(first - walk->start); walk->start[i] < end; i++) {
        const uint64_t distance = walk->last[i] == NEVER ? NEVER : walk->clock - walk->last[i];
        uint64_t upto = part_of(bytes, walk->start[i + 1] - lifetime->offset, lifetime->bytes);
        by_rung[rung_at(walk->roofs, distance)] += upto - done;
        done = upto;
        walk->last[i] = walk->clock;
    }
    walk->clock += bytes;
}

/* Whether the node's output lies where one of its inputs does, so that its lines have just been read. */
static bool is_in_place(const struct walk *walk, const struct pdnn_node *node, uint32_t output) {
    bool found = false;
    for (int i = 0; i < node->n_inputs; i++)
        found = found || walk->lifetimes[node->input[i]].offset == walk->lifetimes[output].offset;
    return found && walk->lifetimes[output].bytes > 0;
}

static void access_node(struct walk *walk, const struct pdnn_node *node, struct pdnn_traffic *traffic) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    uint64_t bytes[PDNN_NODE_ACCESSES];
    int count = pdnn_cost_accesses(walk->graph, node, access, bytes);
    for (int k = 0; k < count; k++)
        access_tensor(walk, access[k].tensor, bytes[k],
                      !access[k].is_written                       ? traffic->read_bytes
                      : is_in_place(walk, node, access[k].tensor) ? traffic->updated_bytes
                                                                  : traffic->written_bytes);
}

enum pdnn_status pdnn_graph_inputs(const struct pdnn_graph *graph, const struct pdnn_roofs *roofs, bool cold,
                                   struct pdnn_place_input **inputs, struct pdnn_err *err) {
    struct pdnn_lifetime *lifetimes = pdnn_memory_lifetimes(graph);
    struct pdnn_place_input *all = pdnn_arena_alloc(graph->arena, graph->n_nodes + 1, sizeof *all);
    uint64_t total;
    enum pdnn_status status = pdnn_memory_pack(lifetimes, graph->n_tensors, graph->arena, &total, err);
    if (status != PDNN_OK)
        return status;
    struct walk walk = {.graph = graph, .roofs = roofs, .lifetimes = lifetimes};
    cut_pieces(&walk);
    for (int step = cold; step < 2; step++) {
        for (size_t i = 0; i < graph->n_nodes; i++) {
            all[i] = (struct pdnn_place_input){.calls = 1, .time_ns = NAN, .speed = {1, 1}};
            access_node(&walk, &graph->nodes[i], &all[i].traffic);
        }
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct pdnn_cost cost;
        status = pdnn_cost_node(graph, &graph->nodes[i], &cost, err);
        if (status != PDNN_OK)
            return status;
        all[i].flop_count[pdnn_node_dtype(graph, &graph->nodes[i])] = cost.in_bounds_flop_count;
    }
    *inputs = all;
    return PDNN_OK;
}

void pdnn_place_input_add(struct pdnn_place_input *sum, const struct pdnn_place_input *input) {
    for (size_t i = 0; i < PDNN_ROOF_RUNGS; i++) {
        sum->traffic.read_bytes[i] += input->traffic.read_bytes[i];
        sum->traffic.written_bytes[i] += input->traffic.written_bytes[i];
        sum->traffic.updated_bytes[i] += input->traffic.updated_bytes[i];
    }
    sum->traffic.extra_bytes += input->traffic.extra_bytes;
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++)
        sum->flop_count[d] += input->flop_count[d];
    sum->calls += input->calls;
}

void pdnn_traffic_from(struct pdnn_traffic *traffic, const struct pdnn_roofs *roofs, uint64_t bytes,
                       uint64_t distance) {
    size_t rung = rung_at(roofs, distance);
    *traffic = (struct pdnn_traffic){.read_bytes = {0}};
    traffic->read_bytes[rung] = bytes / 2;
    traffic->written_bytes[rung] = bytes - bytes / 2;
}

void pdnn_traffic_add_extra(struct pdnn_traffic *traffic, const struct pdnn_roofs *roofs,
                            const struct pdnn_extra_traffic *extra) {
    size_t rung = rung_at(roofs, extra->set_bytes);
    traffic->read_bytes[rung] += extra->read_bytes;
    traffic->written_bytes[rung] += extra->written_bytes;
    traffic->extra_bytes += extra->read_bytes + extra->written_bytes;
}

double pdnn_place_speed(const struct pdnn_placement *place, struct pdnn_speed speed) {
    return place->is_dram ? speed.memory : speed.compute;
}

/* The time that all bytes together need, or the reads alone if that is longer, and the level that needs most
 * of it. */
static double memory_time_ns(const struct pdnn_roofs *roofs, const struct pdnn_traffic *traffic,
                             char roof_level[PDNN_LEVEL_TEXT]) {
    enum { READS, ALL };
    double sum[2] = {0}, level_ns[2][PDNN_ROOF_LEVELS] = {{0}}, most = 0;
    for (size_t i = 0; i < roofs->n_rungs; i++) {
        if (!(traffic->read_bytes[i] || traffic->written_bytes[i] || traffic->updated_bytes[i]))
            continue;
        const double *ns_per_byte = roofs->rung[i].ns_per_byte;
        double read = (double)traffic->read_bytes[i], written = (double)traffic->written_bytes[i];
        double ns[] = {[READS] = read * ns_per_byte[PDNN_TRAFFIC_READ],
                       [ALL] = (read + written) * ns_per_byte[PDNN_TRAFFIC_MIXED] +
                               (double)traffic->updated_bytes[i] * ns_per_byte[PDNN_TRAFFIC_UPDATE]};
        for (size_t k = 0; k < 2; k++) {
            sum[k] += ns[k];
            level_ns[k][roofs->rung[i].level] += ns[k];
        }
    }
    size_t longer = sum[READS] > sum[ALL] ? READS : ALL;
    for (size_t i = 0; i < roofs->n_levels; i++) {
        if (level_ns[longer][i] > most)
            memcpy(roof_level, roofs->level[i].name, PDNN_LEVEL_TEXT);
        most = fmax(most, level_ns[longer][i]);
    }
    return sum[longer];
}

/* No roof is above the highest that was measured, at which the roof's time is least_ns. A row that ran faster
 * than the speed allows shows that its probes were held up, if they say that the machine was slower than
 * usual: how fast it was then is not known, which NaN says, unless the row reaches the highest roof itself.
 */
static double known_speed(double index, double roof_ns, double least_ns, double time_ns) {
    double most = roof_ns > least_ns ? roof_ns / least_ns : 1;
    double speed = fmin(most, index), shown = time_ns > 0 ? roof_ns / time_ns : 0;
    bool is_held_up = shown * 100 > speed * PDNN_ABOVE_ROOF_PCT;
    return !is_held_up ? speed : shown < most && index < 1 ? NAN : most;
}

bool pdnn_roof_times(const struct pdnn_roofs *roofs, const struct pdnn_place_input *input,
                     struct pdnn_roof_times *times) {
    const struct pdnn_traffic *of = &input->traffic;
    *times = (struct pdnn_roof_times){.calls_ns = (double)input->calls * roofs->overhead_ns};
    for (size_t i = 0; i < PDNN_ROOF_RUNGS; i++)
        times->bytes += (double)(of->read_bytes[i] + of->written_bytes[i] + of->updated_bytes[i]);
    times->bytes -= (double)of->extra_bytes;
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++) {
        times->flop += (double)input->flop_count[d];
        if (input->flop_count[d])
            times->compute_ns += (double)input->flop_count[d] / roofs->peak_gflops[d];
    }
    /* An op that is over before one call to the library would be was not called that way. */
    if (times->calls_ns > input->time_ns)
        times->calls_ns = 0;
    bool no_peak = !isfinite(times->compute_ns);
    bool no_bandwidth = times->bytes > 0 && !roofs->n_levels;
    if (no_peak || no_bandwidth || !(times->flop > 0 || times->bytes > 0))
        return false;
    times->memory_ns = memory_time_ns(roofs, &input->traffic, times->roof_level);
    if (!isfinite(times->memory_ns)) /* a state lacks the level */
        return false;
    if (times->calls_ns > fmax(times->compute_ns, times->memory_ns))
        times->bound = PDNN_BOUND_OVERHEAD;
    else
        times->bound = times->compute_ns > times->memory_ns ? PDNN_BOUND_COMPUTE : PDNN_BOUND_MEMORY;
    return true;
}

/* The shortest and the longest times of what bounds a row, by which bit of the bound it is. */
enum { BOUNDS = 3 };
struct span {
    double least_ns[BOUNDS], most_ns[BOUNDS];
};

static struct span span_of(const struct pdnn_roof_ends *ends, const struct pdnn_place_input *input,
                           const struct pdnn_roof_times *times) {
    struct pdnn_roof_times at = *times;
    struct span span;
    for (size_t i = 0; i <= ends->count; i++) {
        if (i && !pdnn_roof_times(&ends->end[i - 1], input, &at))
            continue;
        const double ns[BOUNDS] = {at.compute_ns, at.memory_ns, at.calls_ns};
        for (size_t b = 0; b < BOUNDS; b++) {
            span.least_ns[b] = i ? fmin(span.least_ns[b], ns[b]) : ns[b];
            span.most_ns[b] = i ? fmax(span.most_ns[b], ns[b]) : ns[b];
        }
    }
    return span;
}

/* All that may be the longest time. */
static enum pdnn_bound bounds_of(const struct span *span, enum pdnn_bound bound) {
    double least_ns = 0;
    for (size_t b = 0; b < BOUNDS; b++)
        least_ns = fmax(least_ns, span->least_ns[b]);
    for (size_t b = 0; b < BOUNDS; b++)
        bound |= span->most_ns[b] >= least_ns ? 1U << b : 0;
    return bound;
}

static void set_range(struct pdnn_placement *place, double work, double low_ns, double high_ns,
                      double time_ns) {
    place->roof_low = work / low_ns;
    place->roof_high = work / high_ns;
    if (time_ns > 0 && !pdnn_roof_is_known(place) && place->pct_of_roof > PDNN_ABOVE_ROOF_PCT)
        place->pct_of_roof = NAN;
}

void pdnn_place_within(const struct pdnn_roofs *roofs, const struct pdnn_roof_ends *ends,
                       const struct pdnn_place_input *input, struct pdnn_placement *place) {
    struct pdnn_roof_times times;
    bool is_known = pdnn_roof_times(roofs, input, &times), timed = input->time_ns > 0;
    pdnn_placement_init(place);
    if (times.bytes > 0)
        place->intensity_flop_per_byte = times.flop / times.bytes;
    if (timed && times.flop > 0)
        place->gflops = times.flop / input->time_ns;
    if (timed && times.bytes > 0)
        place->bw_gbs = times.bytes / input->time_ns;
    if (!is_known)
        return;
    const struct span span = span_of(ends, input, &times);
    const double roof_ns = fmax(fmax(times.compute_ns, times.memory_ns), input->link_ns),
                 least_ns = fmax(fmax(span.least_ns[0], span.least_ns[1]), input->link_ns),
                 most_ns = fmax(fmax(span.most_ns[0], span.most_ns[1]), input->link_ns);
    bool is_link = input->link_ns > 0 && roof_ns == input->link_ns;
    place->bound = is_link ? PDNN_BOUND_MEMORY : times.bound;
    snprintf(place->roof_level, sizeof place->roof_level, "%s", is_link ? "link" : times.roof_level);
    place->is_dram = place->bound == PDNN_BOUND_MEMORY && roofs->n_levels &&
                     strcmp(place->roof_level, roofs->level[roofs->n_levels - 1].name) == 0;
    const double index = is_link ? 1 : pdnn_place_speed(place, input->speed),
                 speed = known_speed(index, roof_ns, least_ns, input->time_ns);
    if (ends->count && !is_link)
        place->bound = bounds_of(&span, place->bound);
    place->roof_ns = roof_ns / speed;
    if (times.flop > 0)
        place->attainable_gflops = times.flop / place->roof_ns;
    if (timed)
        place->pct_of_roof = place->roof_ns / input->time_ns * 100;
    if (timed && times.flop > 0)
        place->pct_of_peak = times.compute_ns /
                             (input->time_ns * known_speed(input->speed.compute, times.compute_ns,
                                                           span.least_ns[0], input->time_ns)) *
                             100;
    if (ends->count)
        set_range(place, times.flop > 0 ? times.flop : times.bytes, most_ns / fmin(1, speed),
                  least_ns / fmin(1, speed), input->time_ns);
}

void pdnn_place(const struct pdnn_roofs *roofs, const struct pdnn_place_input *input,
                struct pdnn_placement *place) {
    pdnn_place_within(roofs, &(const struct pdnn_roof_ends){.count = 0}, input, place);
}
