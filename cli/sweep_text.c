#include "cli/sweep_text.h"

#include "base/clock.h"
#include "base/visible.h"
#include "results/analysis/roofline.h"
#include "runtime/facts/visit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* If the machine was busy while the roofs or the sweep were measured, every placement
 * on the roofline is doubtful. */
void pdnn_sweep_warn_speed(const struct pdnn_sweep_directory *sweep) {
    static const double most = 1.5, least = 0.67;
    const double index = sweep->speed_index;
    if (!sweep->written || isnan(index) || (index >= least && index <= most))
        return;
    fprintf(
        stderr,
        "paradnn: the machine was %.0f %% %s while the roofs were measured than during the sweep; measure "
        "them on a quiet machine (paradnn ceilings -o FILE) and give them (--ceilings FILE)\n",
        index > 1 ? (1 - 1 / index) * 100 : (1 / index - 1) * 100, index > 1 ? "slower" : "faster");
}

/* Where the wall time went; a sweep is for the part in timed steps. */
static void append_wall(struct pdnn_str *out, const struct pdnn_sweep_directory *sweep,
                        const struct pdnn_sweep_result *result) {
    const struct pdnn_visit_spent *spent = &result->spent;
    double wall = (double)(pdnn_clock_ns() - sweep->session->started_ns);
    double timed = (double)(spent->samples_ns + spent->stamped_ns);
    const struct {
        const char *name;
        uint64_t ns;
    } parts[] = {{"samples", spent->samples_ns}, {"stamped steps", spent->stamped_ns},
                 {"warm-up", spent->warmup_ns},  {"probes", spent->probe_ns},
                 {"choosing", spent->choose_ns}, {"other preparation", spent->prepare_ns - spent->choose_ns},
                 {"roofs", sweep->roofs_ns}};
    pdnn_str_printf(out, "%.1f s, %.0f %% in timed steps:", wall * 1e-9, 100 * timed / wall);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        pdnn_str_printf(out, " %s %.1f s,", parts[i].name, (double)parts[i].ns * 1e-9);
        wall -= (double)parts[i].ns;
    }
    pdnn_str_printf(out, " other %.1f s\n", wall * 1e-9);
    pdnn_str_printf(out, "%zu visits, %.2f ms of the driver's own time each", result->visits,
                    (double)result->overhead_ns / (double)result->visits * 1e-6);
    if (result->workers_lost)
        pdnn_str_printf(out, ", %zu workers lost", result->workers_lost);
    pdnn_str_printf(out, "; choices: %" PRIu64 " measured, %" PRIu64 " from earlier processes\n",
                    spent->measured, spent->recalled);
}

static void append_counts(struct pdnn_str *out, const struct pdnn_sweep_directory *sweep,
                          const struct pdnn_sweep_result *result) {
    const char *separator = " ";
    pdnn_str_printf(out, "%zu instances:", sweep->session->n_tasks);
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++) {
        if (sweep->counts[outcome])
            pdnn_str_printf(out, "%s%zu %s", separator, sweep->counts[outcome],
                            pdnn_outcome_name((enum pdnn_outcome)outcome));
        separator = sweep->counts[outcome] ? ", " : separator;
    }
    if (result->unfinished)
        pdnn_str_printf(out, "; %zu with fewer visits than the %" PRId64 " asked for", result->unfinished,
                        sweep->session->spec.measure.rounds);
    if (result->out_of_time)
        pdnn_str_printf(out, "; %s", pdnn_session_end_text(sweep->session));
    pdnn_str_append(out, "\n", 1);
}

/* "slowest: 1.2 GFLOP/s, 4 % of its roof (memory L3): nodes=128,batch=1". */
static void append_row(struct pdnn_str *out, const char *name, const struct pdnn_session *session,
                       const struct pdnn_extreme_row *row) {
    char label[PDNN_ID_TEXT];
    const struct pdnn_placement *place = &row->place;
    pdnn_str_printf(out, "%s: %.3g GFLOP/s", name, place->gflops);
    if (place->pct_of_roof > PDNN_ABOVE_ROOF_PCT)
        pdnn_str_printf(out, ", above its roof");
    else if (!isnan(place->pct_of_roof))
        pdnn_str_printf(out, ", %.0f %% of its roof (%s%s%s)", place->pct_of_roof,
                        pdnn_bound_name(place->bound), place->bound == PDNN_BOUND_MEMORY ? " " : "",
                        place->bound == PDNN_BOUND_MEMORY ? place->roof_level : "");
    pdnn_str_printf(out, ": %s\n",
                    row->parsed ? pdnn_varying_label(&session->varying, &row->instance, label) : row->id);
}

static bool is_same(const struct pdnn_extreme_row *a, const struct pdnn_extreme_row *b) {
    return strcmp(a->id, b->id) == 0;
}

static void append_bounds(struct pdnn_str *out, const struct pdnn_summary *summary) {
    const char *separator = "";
    if (summary->bound[PDNN_BOUND_UNKNOWN] < summary->n_ok)
        pdnn_str_printf(out, "bound by ");
    for (int bound = PDNN_BOUND_UNKNOWN + 1; bound < PDNN_BOUND_COUNT; bound++) {
        if (!summary->bound[bound])
            continue;
        pdnn_str_printf(out, "%s%s: %zu", separator, pdnn_bound_name((enum pdnn_bound)bound),
                        summary->bound[bound]);
        separator = ", ";
    }
    pdnn_str_printf(out, "%snoisy: %zu of %zu", *separator ? "; " : "", summary->n_noisy, summary->n_ok);
    separator = " (";
    for (size_t bit = 0; bit < PDNN_FLAG_COUNT; bit++) {
        char flag[PDNN_FLAGS_TEXT];
        if (!summary->noisy_flag[bit])
            continue;
        pdnn_str_printf(out, "%s%zu of them %s", separator, summary->noisy_flag[bit],
                        pdnn_flags_format(1u << bit, flag));
        separator = ", ";
    }
    pdnn_str_printf(out, "%s\n", *separator == ',' ? ")" : "");
}

static void append_findings(struct pdnn_str *out, const struct pdnn_sweep_directory *sweep) {
    const struct pdnn_summary *summary = &sweep->summary;
    const struct pdnn_extreme_row *row = summary->row;
    if (!summary->n_ok)
        return;
    if (row[PDNN_EXTREME_FASTEST].found)
        append_row(out, summary->n_ok > 1 ? "fastest" : "rate", sweep->session, &row[PDNN_EXTREME_FASTEST]);
    if (row[PDNN_EXTREME_SLOWEST].found && !is_same(&row[PDNN_EXTREME_SLOWEST], &row[PDNN_EXTREME_FASTEST]))
        append_row(out, "slowest", sweep->session, &row[PDNN_EXTREME_SLOWEST]);
    if (row[PDNN_EXTREME_FARTHEST].found &&
        !is_same(&row[PDNN_EXTREME_FARTHEST], &row[PDNN_EXTREME_SLOWEST]) && summary->n_ok > 1)
        append_row(out, "farthest from its roof", sweep->session, &row[PDNN_EXTREME_FARTHEST]);
    append_bounds(out, summary);
}

/* A text as one word of a command line. */
static void append_word(struct pdnn_str *out, const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:@%+-";
    char shown[PDNN_VISIBLE_TEXT];
    if (*text && !text[strspn(text, plain)]) {
        pdnn_str_printf(out, "%s", text);
        return;
    }
    pdnn_str_append(out, "'", 1);
    for (text = pdnn_visible(shown, text); *text; text++)
        pdnn_str_printf(out, *text == '\'' ? "'\\''" : "%c", *text);
    pdnn_str_append(out, "'", 1);
}

/* More visits where noise is what stands out, else a look at the row farthest from its roof; and the picture
 * of all. */
static void append_next(struct pdnn_str *out, const struct pdnn_sweep_directory *sweep,
                        const struct pdnn_sweep_result *result) {
    const struct pdnn_summary *summary = &sweep->summary;
    const struct pdnn_extreme_row *farthest = &summary->row[PDNN_EXTREME_FARTHEST];
    const char *path = sweep->request.path;
    char shard[PDNN_SHARD_TEXT];
    if (result->unfinished)
        pdnn_str_printf(out, "resume: run the same command again\n");
    else if (summary->n_noisy * 2 > summary->n_ok) {
        pdnn_str_printf(out, "next:   paradnn sweep ");
        append_word(out, path);
        pdnn_str_printf(out, "/spec.yaml --set measure.rounds=%" PRId64,
                        sweep->session->spec.measure.rounds * 2);
        if (*pdnn_shard_format(&sweep->session->shard, shard))
            pdnn_str_printf(out, " --shard %s", shard);
        pdnn_str_printf(out, " -o ");
        append_word(out, path);
        pdnn_str_append(out, "\n", 1);
    } else if (farthest->found) {
        pdnn_str_printf(out, "next:   paradnn breakdown ");
        append_word(out, path);
        pdnn_str_printf(out, " --only ");
        pdnn_str_printf(out, "id=");
        append_word(out, farthest->id);
        pdnn_str_append(out, "\n", 1);
    }
    if (summary->n_ok) {
        pdnn_str_printf(out, "next:   paradnn plot roofline ");
        append_word(out, path);
        pdnn_str_append(out, "\n", 1);
    }
}

void pdnn_sweep_text(struct pdnn_str *out, const struct pdnn_sweep_directory *sweep,
                     const struct pdnn_sweep_result *result) {
    char shown[PDNN_VISIBLE_TEXT];
    const char *path = pdnn_visible(shown, sweep->request.path);
    if (result->visits)
        append_wall(out, sweep, result);
    if (!sweep->written)
        return;
    append_counts(out, sweep, result);
    append_findings(out, sweep);
    pdnn_str_printf(out, "tables: %s/results.csv, %s/ops.csv\n", path, path);
    append_next(out, sweep, result);
}
