#include "results/compare/settle.h"

#include "base/units.h"
#include "results/compare/paired.h"
#include "results/compare/states.h"
#include "results/stats/means.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

/* Whether a state of the machine means the same on both sides. */
static bool has_state(const struct pdnn_comparison *comparison) {
    return pdnn_comparison_are_alike(comparison, "host") &&
           pdnn_comparison_are_alike(comparison, "threads") && pdnn_comparison_are_alike(comparison, "isa");
}

static unsigned flags_of(const struct pdnn_comparison *comparison, size_t pair) {
    unsigned flags = 0;
    for (int side = 0; side < PDNN_SIDES; side++)
        flags |= pdnn_flags_parse(
            pdnn_selection_word(&comparison->selection, comparison->at[pair][side], PDNN_RESULT_ROW_FLAGS));
    return flags;
}

/* Whether a side's visits are in both states of the distance, or the sides are in different ones. */
static bool has_moved(const struct pdnn_comparison *comparison, size_t pair) {
    const double a = pdnn_pair_value(comparison, pair, PDNN_SIDE_A, PDNN_RESULT_HANDOFF_NS),
                 b = pdnn_pair_value(comparison, pair, PDNN_SIDE_B, PDNN_RESULT_HANDOFF_NS);
    return flags_of(comparison, pair) & PDNN_FLAG_MOVED || pdnn_distances_differ(fmin(a, b), fmax(a, b));
}

/* The id of the side's row as this version prints it. */
static const char *id_of(const struct pdnn_comparison *comparison, size_t pair, int side,
                         char today[PDNN_ID_TEXT]) {
    return pdnn_instance_reprint(pdnn_table_text(&comparison->pairs, pair, PDNN_PAIR_A_ID + (size_t)side),
                                 today);
}

static bool is_wanted(const void *user, const char *id) {
    return pdnn_texts_find(user, id) != SIZE_MAX;
}

/* The visits to the instances of the pairs, one side's. None in a directory without a journal. */
static enum pdnn_status read_visits(const struct pdnn_comparison *comparison, const size_t *pairs, size_t n,
                                    int side, struct pdnn_visits *visits, struct pdnn_err *err) {
    struct pdnn_texts ids = {0};
    char today[PDNN_ID_TEXT];
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < n; i++)
        pdnn_texts_add(&ids, id_of(comparison, pairs[i], side, today));
    if (pdnn_path_has(comparison->directory[side], "journal.csv"))
        status = pdnn_journal_read(comparison->directory[side], is_wanted, &ids, visits, err);
    pdnn_texts_finish(&ids);
    return status;
}

static void take_state(struct pdnn_comparison *comparison, size_t pair,
                       const struct pdnn_state_choice *choice) {
    double ns[PDNN_SIDES];
    if (!choice->name)
        return;
    for (int side = 0; side < PDNN_SIDES; side++)
        ns[side] = pdnn_pair_ns(comparison, pair, side) * choice->factor[side];
    pdnn_pair_set(&comparison->pairs, pair, ns, choice->half);
    pdnn_table_set_text(&comparison->pairs, pair, PDNN_PAIR_STATE, choice->name);
}

/* By the pairs of their visits: ratio, interval and decision. */
static void take_pairs(struct pdnn_comparison *comparison, size_t pair,
                       const struct pdnn_pairs_found *found) {
    static const char *const decisions[PDNN_PAIRED_COUNT] = {[PDNN_PAIRED_UNDECIDED] = pdnn_undecided,
                                                             [PDNN_PAIRED_SLOWER] = pdnn_slower,
                                                             [PDNN_PAIRED_FASTER] = pdnn_faster,
                                                             [PDNN_PAIRED_ALIKE] = pdnn_alike};
    struct pdnn_table *pairs = &comparison->pairs;
    if (found->count || found->others)
        pdnn_table_set_count(pairs, pair, PDNN_PAIR_OTHERS, found->others);
    if (pdnn_pairs_chose_apart(found)) {
        pdnn_table_set_count(pairs, pair, PDNN_PAIR_CLEAR, 0);
        pdnn_table_set_text(pairs, pair, PDNN_PAIR_DECISION, pdnn_undecided);
    }
    if (!found->count)
        return;
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_RATIO, exp(-found->logs.center));
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_LOW, exp(-found->logs.high));
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_HIGH, exp(-found->logs.low));
    pdnn_table_set_count(pairs, pair, PDNN_PAIR_PAIRS, found->count);
    pdnn_table_set_count(pairs, pair, PDNN_PAIR_INTERVAL_PCT, 99);
    pdnn_table_set_count(pairs, pair, PDNN_PAIR_CLEAR,
                         found->verdict == PDNN_PAIRED_SLOWER || found->verdict == PDNN_PAIRED_FASTER);
    pdnn_table_set_text(pairs, pair, PDNN_PAIR_DECISION, decisions[found->verdict]);
}

static bool is_paired(const struct pdnn_comparison *comparison, size_t pair) {
    return !pdnn_table_is_empty(&comparison->pairs, pair, PDNN_PAIR_PAIRS);
}

bool pdnn_pair_chose_apart(const struct pdnn_comparison *comparison, size_t pair) {
    return !is_paired(comparison, pair) && pdnn_table_number(&comparison->pairs, pair, PDNN_PAIR_OTHERS) > 0;
}

const char *pdnn_comparison_interval(const struct pdnn_comparison *comparison) {
    size_t n_paired = 0;
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++)
        n_paired += is_paired(comparison, pair);
    return !n_paired                              ? "95 % interval"
           : n_paired == comparison->pairs.n_rows ? "99 % interval"
                                                  : "95 or 99 % interval";
}

/* Whether visits of the sides are next to each other: those of one directory in paired order. *precision:
 * within which sides are alike. */
static bool may_be_paired(const struct pdnn_comparison *comparison, double *precision) {
    struct pdnn_str fact = {0};
    pdnn_environment_get(comparison->directory[PDNN_SIDE_A], PDNN_FACT_PAIRED, &fact);
    const bool is_paired = pdnn_parse_double(pdnn_str_text(&fact), precision);
    pdnn_str_finish(&fact);
    return is_paired && !pdnn_comparison_has_two(comparison);
}

/* Compares pairs of visits where there are some; else the visits of one state where the sides' threads were
 * at different distances. */
enum pdnn_status pdnn_comparison_settle(struct pdnn_comparison *comparison, struct pdnn_err *err) {
    const size_t n_pairs = comparison->pairs.n_rows;
    double precision = 0;
    const bool pairs = may_be_paired(comparison, &precision),
               states = pdnn_comparison_has_two(comparison) && has_state(comparison);
    size_t *wanted = pdnn_arena_alloc(&comparison->arena, n_pairs, sizeof *wanted), n = 0;
    struct pdnn_visits visits[PDNN_SIDES] = {{.room = 0}};
    enum pdnn_status status = PDNN_OK;
    for (size_t pair = 0; pair < n_pairs; pair++)
        if (pairs || (states && has_moved(comparison, pair)))
            wanted[n++] = pair;
    for (int side = 0; side < PDNN_SIDES && n && status == PDNN_OK; side++)
        status = read_visits(comparison, wanted, n, side, &visits[side], err);
    if (n && status == PDNN_OK) {
        struct pdnn_instance_visits(*of)[PDNN_SIDES] = pdnn_arena_alloc(&comparison->arena, n, sizeof *of);
        struct pdnn_pairs_found *found = pdnn_arena_alloc(&comparison->arena, n, sizeof *found);
        struct pdnn_state_choice *choices = pdnn_arena_alloc(&comparison->arena, n, sizeof *choices);
        char today[PDNN_ID_TEXT];
        size_t moved = 0;
        for (size_t i = 0; i < n; i++)
            for (int side = 0; side < PDNN_SIDES; side++)
                of[i][side] = pdnn_visits_of(&visits[side], id_of(comparison, wanted[i], side, today));
        if (pairs)
            pdnn_pairs_find((const struct pdnn_instance_visits(*)[2])of, n,
                            pdnn_comparison_count_sides(comparison), precision, found);
        for (size_t i = 0; i < n; i++) {
            take_pairs(comparison, wanted[i], &found[i]);
            if (!states || found[i].count || !has_moved(comparison, wanted[i]))
                continue;
            memcpy(of[moved], of[i], sizeof *of);
            wanted[moved++] = wanted[i];
        }
        pdnn_states_choose((const struct pdnn_instance_visits(*)[2])of, moved, choices);
        for (size_t i = 0; i < moved; i++)
            take_state(comparison, wanted[i], &choices[i]);
    }
    for (int side = 0; side < PDNN_SIDES; side++)
        pdnn_visits_finish(&visits[side]);
    return status;
}

static bool is_apart(const struct pdnn_table *pairs, size_t pair, size_t column, double most) {
    const double ratio = pdnn_table_number(pairs, pair, column);
    return ratio > most || ratio < 1 / most;
}

/* What was in another state on either side, in how many pairs. */
struct differing {
    size_t distance, clock, reads, any;
};

static struct differing count_differing(const struct pdnn_comparison *comparison) {
    const struct pdnn_table *pairs = &comparison->pairs;
    struct differing count = {.any = 0};
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        const bool is_settled = *pdnn_table_text(pairs, pair, PDNN_PAIR_STATE);
        if (is_paired(comparison, pair)) /* both sides of each pair found one state */
            continue;
        const bool distance = !is_settled && has_moved(comparison, pair),
                   clock = is_apart(pairs, pair, PDNN_PAIR_CLOCK_RATIO, PDNN_SAME_CLOCK),
                   reads = !is_settled && is_apart(pairs, pair, PDNN_PAIR_PROBE_RATIO, PDNN_SAME_READS);
        count.distance += distance;
        count.clock += clock;
        count.reads += reads;
        count.any += distance || clock || reads;
    }
    return count;
}

static void append_differing(struct pdnn_str *out, const struct differing *count) {
    const struct {
        const char *what;
        size_t count;
    } rows[] = {{"the threads' distance", count->distance},
                {"the clock", count->clock},
                {"the rate of DRAM reads", count->reads}};
    const char *separator = " (";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].count)
            continue;
        pdnn_str_printf(out, "%s%s in %zu", separator, rows[i].what, rows[i].count);
        separator = ", ";
    }
    pdnn_str_printf(out, ")");
}

bool pdnn_comparison_doubt(const struct pdnn_comparison *comparison, struct pdnn_str *out) {
    const struct pdnn_table *pairs = &comparison->pairs;
    const struct differing differing =
        has_state(comparison) ? count_differing(comparison) : (struct differing){.any = 0};
    size_t unusable = 0, busy = 0, settled = 0, apart = 0;
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        const unsigned flags = is_paired(comparison, pair) ? 0 : flags_of(comparison, pair);
        unusable += (flags & PDNN_FLAG_UNUSABLE) != 0;
        busy += (flags & PDNN_FLAG_UNUSABLE) && (flags & PDNN_FLAG_PREEMPTED);
        settled += *pdnn_table_text(pairs, pair, PDNN_PAIR_STATE) != 0;
        apart += pdnn_pair_chose_apart(comparison, pair);
    }
    const bool is_doubtful = 2 * differing.any > pairs->n_rows;
    if (unusable)
        pdnn_str_printf(out, "Unusable: %zu of %zu", unusable, pairs->n_rows);
    if (busy)
        pdnn_str_printf(out, ", the machine was busy in %zu of these", busy);
    if (unusable)
        pdnn_str_printf(out, differing.any ? ". " : ".");
    if (differing.any) {
        pdnn_str_printf(out, "%s%zu of %zu found the machine in another state on either side",
                        is_doubtful ? "Which side is faster cannot be told: " : "", differing.any,
                        pairs->n_rows);
        append_differing(out, &differing);
        pdnn_str_printf(out, "%s.", is_doubtful ? "" : ", so that their intervals are too narrow");
    }
    if (apart)
        pdnn_str_printf(out,
                        "%s%zu of %zu are undecided, since the sides ran other choices among implementations "
                        "in their pairs of visits.",
                        out->length ? " " : "", apart, pairs->n_rows);
    if (settled)
        pdnn_str_printf(out,
                        "%s%zu of %zu ratios are of the visits in one state only, since the threads were at "
                        "different distances (column state).",
                        out->length ? " " : "", settled, pairs->n_rows);
    return is_doubtful || unusable || apart;
}
