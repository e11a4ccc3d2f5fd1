#include "cli/list_totals.h"

#include "base/rng.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "session/estimate.h"
#include "session/session.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>

struct range {
    uint64_t min, max;
};

static void range_add(struct range *range, uint64_t value) {
    range->min = value < range->min ? value : range->min;
    range->max = value > range->max ? value : range->max;
}

/* 128 bits, because 1e5 instances of 1e18 FLOP do not fit in 64. */
struct totals {
    uint64_t instances, filtered, uncounted; /* uncounted: instances whose counts do not fit */
    uint64_t too_large;                      /* for the memory here */
    pdnn_u128 flop_count, in_bounds_flop_count, byte_count;
    struct range params;
};

enum { U128_TEXT = 48 };

static const char *format_u128(char buffer[U128_TEXT], pdnn_u128 value) {
    char *at = buffer + U128_TEXT - 1;
    *at = 0;
    do {
        *--at = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    return at;
}

enum { INSTANCES, FILTERED, FLOP, IN_BOUNDS, BYTES, PARAMS_MIN, PARAMS_MAX, N_COLUMNS };

/* Sums are text because they may need more than 64 bits. */
static const struct pdnn_column_def columns[N_COLUMNS] = {
    {"instances", NULL, NULL, PDNN_KIND_COUNT, .help = "that a sweep would run"},
    {"filtered", NULL, NULL, PDNN_KIND_COUNT, .help = "instances that a where-expression leaves out"},
    {"flop_count", NULL, "FLOP", .help = "of one step of each, exact"},
    {"in_bounds_flop_count", NULL, "FLOP", .help = "the same without taps on padding"},
    {"byte_count", NULL, "bytes", .help = "compulsory traffic of one step of each"},
    {"params_min", NULL, NULL, PDNN_KIND_COUNT, .help = "parameters of the smallest model"},
    {"params_max", NULL, NULL, PDNN_KIND_COUNT, .help = "parameters of the largest model"},
};
static const struct pdnn_table_def def = {"list --count", "what a sweep amounts to", columns, N_COLUMNS};

static void print_for_programs(const struct totals *totals, const struct pdnn_arguments *arguments) {
    char buffer[U128_TEXT];
    struct pdnn_table table;
    pdnn_table_init(&table, &def);
    pdnn_table_add_row(&table);
    pdnn_table_set_count(&table, 0, INSTANCES, totals->instances);
    pdnn_table_set_count(&table, 0, FILTERED, totals->filtered);
    pdnn_table_set_text(&table, 0, FLOP, format_u128(buffer, totals->flop_count));
    pdnn_table_set_text(&table, 0, IN_BOUNDS, format_u128(buffer, totals->in_bounds_flop_count));
    pdnn_table_set_text(&table, 0, BYTES, format_u128(buffer, totals->byte_count));
    if (totals->instances > totals->uncounted) {
        pdnn_table_set_count(&table, 0, PARAMS_MIN, totals->params.min);
        pdnn_table_set_count(&table, 0, PARAMS_MAX, totals->params.max);
    }
    pdnn_table_print(&table, NULL, arguments);
    pdnn_table_finish(&table);
}

static void print_for_people(const struct totals *totals, const struct pdnn_shard_deal *deal) {
    char shard[PDNN_DURATION_TEXT], all[PDNN_DURATION_TEXT];
    char exact[U128_TEXT], rounded[PDNN_UNIT_TEXT];
    struct pdnn_str out = {0};
    pdnn_str_printf(&out, "instances  %" PRIu64 "\nfiltered   %" PRIu64 "\n", totals->instances,
                    totals->filtered);
    pdnn_str_printf(&out, "flop       %s (%s in one step of each)\n", format_u128(exact, totals->flop_count),
                    pdnn_format_si(rounded, (double)totals->flop_count, "FLOP"));
    if (totals->in_bounds_flop_count != totals->flop_count)
        pdnn_str_printf(&out, "in bounds  %s (%s: without taps on padding)\n",
                        format_u128(exact, totals->in_bounds_flop_count),
                        pdnn_format_si(rounded, (double)totals->in_bounds_flop_count, "FLOP"));
    pdnn_str_printf(&out, "bytes      %s (%s)\n", format_u128(exact, totals->byte_count),
                    pdnn_format_si(rounded, (double)totals->byte_count, "B"));
    if (totals->instances > totals->uncounted)
        pdnn_str_printf(&out, "params     %" PRIu64 " to %" PRIu64 "\n", totals->params.min,
                        totals->params.max);
    if (deal->mine)
        pdnn_str_printf(&out, "predicted  %s at nominal speed, %s for all shards\n",
                        pdnn_duration_format(shard, deal->seconds),
                        pdnn_duration_format(all, deal->seconds_all));
    pdnn_text_print(&out, false);
}

/* Whether weights, and their gradients in training, do not even fit into memory. */
static bool is_too_large(const struct pdnn_expanded *item, uint64_t memory_bytes) {
    const int64_t *setting = item->instance.setting;
    double each = (double)pdnn_dtype_bytes((enum pdnn_dtype)setting[PDNN_SETTING_DTYPE]);
    double copies = setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN ? 2 : 1;
    return (double)item->totals.params * each * copies > (double)memory_bytes;
}

static void add(struct totals *totals, const struct pdnn_expanded *item) {
    if (item->filtered) {
        totals->filtered++;
        return;
    }
    totals->instances++;
    if (!item->has_totals) {
        totals->uncounted++;
        return;
    }
    totals->flop_count += item->totals.cost.flop_count;
    totals->in_bounds_flop_count += item->totals.cost.in_bounds_flop_count;
    totals->byte_count += item->totals.cost.byte_count;
    range_add(&totals->params, item->totals.params);
}

static void print_estimate(const struct pdnn_estimate *estimate, uint64_t n_too_large) {
    struct pdnn_str line = {0};
    pdnn_estimate_format(estimate, &line);
    if (n_too_large)
        pdnn_str_printf(&line, ", without %" PRIu64 " instances that are larger than the memory",
                        n_too_large);
    fprintf(stderr, "%s\n", pdnn_str_text(&line));
    pdnn_str_finish(&line);
}

static enum pdnn_status sum_up(struct totals *totals, struct pdnn_estimate *estimate, uint64_t memory_bytes,
                               struct pdnn_shard_deal *deal, struct pdnn_walk *walk, struct pdnn_err *err) {
    for (;;) {
        struct pdnn_expanded item;
        bool done;
        enum pdnn_status status = pdnn_shard_walk_next(deal, walk, &item, &done, err);
        if (status != PDNN_OK || done)
            return status;
        add(totals, &item);
        if (item.filtered || !item.has_totals)
            continue;
        if (is_too_large(&item, memory_bytes))
            totals->too_large++;
        else if (pdnn_estimate_add(estimate, &item.instance, &item.totals, err) != PDNN_OK)
            return err->status;
    }
}

enum pdnn_status pdnn_list_totals(const struct pdnn_spec *spec, const struct pdnn_host *host,
                                  struct pdnn_shard_deal *deal, struct pdnn_walk *walk,
                                  const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct totals totals = {.params = {UINT64_MAX, 0}};
    char cache[PDNN_KEPT_PATH];
    uint64_t start_ns = pdnn_clock_ns();
    pdnn_session_cache(false, cache);
    struct pdnn_estimate *estimate = pdnn_estimate_create(spec, host, cache, NULL);
    enum pdnn_status status =
        sum_up(&totals, estimate, pdnn_session_memory_limit(spec, host), deal, walk, err);
    if (status == PDNN_OK) {
        double seconds = (double)(pdnn_clock_ns() - start_ns) * 1e-9;
        fprintf(stderr, "%.3f s, %.0f instances/s\n", seconds,
                (double)(totals.instances + totals.filtered) / seconds);
        if (totals.instances > totals.uncounted + totals.too_large)
            print_estimate(estimate, totals.too_large);
    }
    if (status == PDNN_OK && totals.uncounted)
        fprintf(stderr,
                "paradnn: %" PRIu64
                " instances are not in the sums: they are invalid, or their counts do not fit in 64 bits\n",
                totals.uncounted);
    pdnn_estimate_destroy(estimate);
    if (status != PDNN_OK)
        return status;
    if (pdnn_wants_text(arguments))
        print_for_people(&totals, deal);
    else
        print_for_programs(&totals, arguments);
    return PDNN_OK;
}
