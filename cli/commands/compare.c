#include "base/paths/folder.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "models/varying.h"
#include "results/compare/compare_ops.h"
#include "results/compare/compare_sums.h"
#include "results/compare/factors.h"
#include "results/compare/sides.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char description[] =
    "Joins the instances of two platforms by id and says how many times as fast B is as A: the ratio of their step "
    "times, A's over B's, with its interval. A ratio is clear if its 95 % interval excludes 1; of 20 equal instances "
    "at most about one is clear by chance. No interval has what shifts a whole run, such as another state of the "
    "machine. Then come geometric means, what explains the ratios, and the ops that the difference comes from.\n\n"
    "With two directories, instances are joined by their ids; if no id is in both, the one key that differs is found "
    "and left out. With one directory, both sides are in it; the key is then a run setting other than mode, optimizer "
    "and accumulate.\n\n"
    "What explains the ratios is said by the variance of their logarithm: the share of it that lies between the "
    "values of a key, without what as many values explain by chance. The effect of a kind of op is its factor in the "
    "geometric mean, in which every instance counts the same; sums of time belong to the longest steps. Instances "
    "that did not end ok on both sides are counted, and --table unpaired lists them.";

/* In the order of the words for --table; without one, people see the overview and programs the pairs. */
static const char *const tables[] = {"pairs", "groups", "axes", "ops", "unpaired", "sides", NULL};
enum { PAIRS, GROUPS, AXES, OPS, UNPAIRED, SIDES, OVERVIEW };

static const struct pdnn_option_def options[] = {
    {"across", 'a', "KEYS",
     .help =
         "the keys that differ between the sides: backend, threads=1:2 with A's and B's value, or several joined "
         "by commas; host: only the directories (default: found where there is no choice)"},
    {"by", 'b', "PARTS",
     .help = "sum ops by category, group, pass, layer or op, or several joined by commas (default: op)"},
    PDNN_OPTION_ONLY,
    {"table", 't', "TABLE", .choices = tables,
     .help = "print one whole table: pairs (the default for programs), groups, axes, ops, unpaired or sides"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn compare old.results new.results", "what changed between two machines or versions"},
    {"paradnn compare fc.results --across threads=1:2", "what the second core brings"},
    {"paradnn compare cnn.results --across backend --table ops --by op,pass",
     "which ops make the difference between two libraries"},
};

/* Where there is no terminal, sentences are filled to this width. */
enum { PLAIN_WIDTH = 100 };

/* How many of the greatest and of the least ratios, of ops and of a key's values the overview shows. */
enum { EXTREMES_SHOWN = 4, OPS_SHOWN = 8, VALUES_SHOWN = 16 };

struct compared {
    struct pdnn_comparison comparison;
    struct pdnn_ops_reader reader[PDNN_SIDES]; /* by directory; {0}: it has no ops.csv */
    struct pdnn_by_list by;
    struct pdnn_sides sides;
    struct pdnn_table groups, axes, ops;
    size_t n_op_pairs;
    struct pdnn_str others; /* of these, those with other implementations, in words */
};

/* Pairs and those without a ratio as people see them. */
static const size_t pair_columns[] = {PDNN_PAIR_RATIO, PDNN_PAIR_LOW,  PDNN_PAIR_DECISION, PDNN_PAIR_BEYOND,
                                      PDNN_PAIR_A_NS,  PDNN_PAIR_B_NS, PDNN_PAIR_ID};
static const size_t unpaired_columns[] = {PDNN_UNPAIRED_A_STATUS, PDNN_UNPAIRED_B_STATUS, PDNN_UNPAIRED_ID,
                                          PDNN_UNPAIRED_A_REASON, PDNN_UNPAIRED_B_REASON};

#define SHOW(out, table, rows, columns)                                                                      \
    pdnn_table_show(out, table, rows, columns, sizeof(columns) / sizeof *(columns))

/* A sentence, filled, and an empty line behind it, if there is one; finishes it. */
static void append_sentence(struct pdnn_str *out, struct pdnn_str *sentence) {
    const bool is_there = sentence->length > 0;
    pdnn_line_append(out, sentence, 0, PLAIN_WIDTH);
    pdnn_str_append(out, "\n", is_there);
}

/* On a terminal, pairs are shown by what varies among all; what their ids have in common is said once. */
static void append_pairs(struct pdnn_str *out, struct pdnn_comparison *comparison,
                         const struct pdnn_row_list *rows) {
    struct pdnn_table *pairs = &comparison->pairs;
    const size_t n = pdnn_terminal_width(STDOUT_FILENO) ? pairs->n_rows : 0;
    struct pdnn_varying varying = {0};
    struct pdnn_instance instance;
    char label[PDNN_ID_TEXT];
    for (size_t pair = 0; pair < n; pair++)
        if (pdnn_instance_parse(pdnn_table_text(pairs, pair, PDNN_PAIR_A_ID), &instance, NULL) == PDNN_OK)
            pdnn_varying_add(&varying, &instance);
    for (size_t k = 0; k < comparison->across.count; k++)
        pdnn_varying_leave_out(
            &varying, pdnn_results_name(&comparison->selection.results, comparison->across.column[k]));
    pdnn_common_append(out, &varying);
    for (size_t pair = 0; pair < n; pair++)
        if (pdnn_instance_parse(pdnn_table_text(pairs, pair, PDNN_PAIR_A_ID), &instance, NULL) == PDNN_OK)
            pdnn_table_set_text(pairs, pair, PDNN_PAIR_ID, pdnn_varying_label(&varying, &instance, label));
    SHOW(out, pairs, rows, pair_columns);
    pdnn_varying_finish(&varying);
}

/* The groups of one key of a scope, under its name as the title; only their number if there are many. */
static void append_key(struct pdnn_str *out, struct pdnn_table *groups, const char *family, const char *key) {
    struct pdnn_row_list rows = {0};
    for (size_t i = 0; i < groups->n_rows; i++)
        if (strcmp(pdnn_table_text(groups, i, PDNN_GROUP_FAMILY), family) == 0 &&
            strcmp(pdnn_table_text(groups, i, PDNN_GROUP_KEY), key) == 0)
            pdnn_rows_add(&rows, i);
    groups->column[PDNN_GROUP_FAMILY].def.show = groups->column[PDNN_GROUP_KEY].def.show = PDNN_SHOW_NEVER;
    groups->column[PDNN_GROUP_VALUE].def.title = key;
    if (rows.count > VALUES_SHOWN)
        pdnn_str_printf(out, "It has %zu values: --table groups\n\n", rows.count);
    else if (rows.count) {
        pdnn_table_show(out, groups, &rows, NULL, 0);
        pdnn_str_append(out, "\n", 1);
    }
    pdnn_rows_finish(&rows);
}

/* "fc: batch explains the ratios best: 71 % of the variance of their logarithm, then nodes 12 %", and what
 * the ratios are by that key. Nothing if the pairs differ in no key. */
static void append_axes(struct pdnn_str *out, struct compared *c, const char *family) {
    const struct pdnn_table *axes = &c->axes;
    const size_t best = pdnn_compare_best_axis(axes, family);
    const char *between = " explains the ratios best: ", *of = " of the variance of their logarithm";
    struct pdnn_str line = {0};
    bool has_axes = false;
    pdnn_str_printf(&line, "%s%s", family, *family ? ": " : "");
    if (best == SIZE_MAX)
        pdnn_str_printf(&line, "no key explains the ratios better than chance would");
    for (size_t i = 0; i < axes->n_rows; i++) {
        if (strcmp(pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_FAMILY), family) != 0)
            continue;
        has_axes = true;
        if (!pdnn_compare_axis_explains(axes, i))
            continue;
        pdnn_str_printf(&line, "%s%s%s%.0f %%%s", i == best ? "" : ", ",
                        pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_KEY), between,
                        pdnn_table_number(axes, i, PDNN_COMPARE_AXIS_ADJUSTED) * 100, of);
        between = " ";
        of = "";
    }
    pdnn_str_printf(&line, ".");
    if (has_axes)
        append_sentence(out, &line);
    if (best != SIZE_MAX && strcmp(pdnn_table_text(axes, best, PDNN_COMPARE_AXIS_KEY), "family") != 0)
        append_key(out, &c->groups, family, pdnn_table_text(axes, best, PDNN_COMPARE_AXIS_KEY));
    pdnn_str_finish(&line);
}

static void append_ops(struct pdnn_str *out, struct compared *c) {
    size_t of_all = 0;
    struct pdnn_row_list rows = {0};
    struct pdnn_str line = {0};
    if (!c->n_op_pairs) {
        pdnn_str_printf(out, "ops.csv does not say which ops the difference comes from.\n\n");
        return;
    }
    pdnn_str_printf(&line,
                    "Where the time goes, summed over %zu instance%s. The product of all effects is the "
                    "geometric mean; above 1, B gains time there.",
                    c->n_op_pairs, c->n_op_pairs == 1 ? "" : "s");
    append_sentence(out, &line);
    while (of_all < c->ops.n_rows && pdnn_table_is_empty(&c->ops, of_all, PDNN_COMPARE_OPS_FAMILY))
        of_all++;
    for (size_t i = 0; i < of_all; i++)
        if (i < OPS_SHOWN || i + 1 == of_all) /* the last one is the residual */
            pdnn_rows_add(&rows, i);
    c->ops.column[PDNN_COMPARE_OPS_FAMILY].def.show = PDNN_SHOW_NEVER;
    pdnn_table_show(out, &c->ops, &rows, NULL, 0);
    if (rows.count < of_all)
        pdnn_str_printf(out, "and %zu more with less effect: --table ops\n", of_all - rows.count);
    pdnn_str_append(out, "\n", 1);
    pdnn_rows_finish(&rows);
}

static void append_extremes(struct pdnn_str *out, struct pdnn_comparison *comparison) {
    struct pdnn_table *pairs = &comparison->pairs;
    struct pdnn_row_list all = pdnn_rows_all(pairs), rows = {0};
    pdnn_rows_sort(&all, pairs, &(struct pdnn_sort_key){PDNN_PAIR_RATIO, true}, 1);
    for (size_t i = 0; i < all.count; i++)
        if (i < EXTREMES_SHOWN || i + EXTREMES_SHOWN >= all.count)
            pdnn_rows_add(&rows, all.at[i]);
    if (rows.count < all.count)
        pdnn_str_printf(out, "The greatest and the least of %zu ratios, time of A over time of B:\n\n",
                        all.count);
    append_pairs(out, comparison, &rows);
    pdnn_rows_finish(&all);
    pdnn_rows_finish(&rows);
}

/* How many there are with each pair of statuses, and the first of them. */
static void append_unpaired(struct pdnn_str *out, struct pdnn_table *unpaired) {
    static const struct pdnn_column_def instances = {"instances", .kind = PDNN_KIND_COUNT};
    if (!unpaired->n_rows)
        return;
    pdnn_str_printf(out, "\nNot compared, because they did not end ok on both sides: %zu\n\n",
                    unpaired->n_rows);
    const size_t columns[] = {PDNN_UNPAIRED_A_STATUS, PDNN_UNPAIRED_B_STATUS,
                              pdnn_table_add_column(unpaired, &instances), PDNN_UNPAIRED_ID};
    struct pdnn_groups groups = pdnn_groups_make(unpaired, NULL, columns, 2);
    struct pdnn_row_list firsts = {0};
    for (size_t i = 0; i < groups.count; i++) {
        pdnn_rows_add(&firsts, groups.group[i].at[0]);
        pdnn_table_set_count(unpaired, groups.group[i].at[0], columns[2], groups.group[i].count);
    }
    unpaired->column[PDNN_UNPAIRED_ID].def.title = "for example";
    SHOW(out, unpaired, &firsts, columns);
    pdnn_rows_finish(&firsts);
    pdnn_groups_finish(&groups);
}

static void append_overview(struct pdnn_str *out, struct compared *c) {
    static const char *const names[PDNN_SIDES] = {"A", "B"};
    struct pdnn_str doubt = {0}, line = {0};
    for (int side = 0; side < PDNN_SIDES; side++) { /* "A: threads=1 of fc.results" */
        const char *label = c->comparison.label[side], *directory = c->comparison.directory[side];
        const bool is_key = label != directory;
        pdnn_str_printf(&line, "%c: %s%s%s", "AB"[side], label, is_key ? " of " : "",
                        is_key ? directory : "");
        pdnn_line_append(out, &line, 3, PLAIN_WIDTH);
    }
    pdnn_str_append(out, "\n", 1);
    if (c->sides.differing.n_rows) {
        pdnn_table_show(out, &c->sides.differing, NULL, NULL, 0);
        pdnn_str_append(out, "\n", 1);
    }
    if (pdnn_comparison_doubt(&c->comparison, &doubt))
        append_sentence(out, &doubt);
    if (!c->sides.by_intent)
        append_sentence(out, &c->others);
    pdnn_compare_say(&c->comparison, &c->groups, names, &line);
    append_sentence(out, &line);
    pdnn_factors_say(&c->comparison, &line);
    append_sentence(out, &line);
    pdnn_sides_say(&c->sides, names, &line);
    append_sentence(out, &line);
    append_sentence(out, &c->others);
    append_sentence(out, &doubt);
    append_key(out, &c->groups, "", "family");
    for (size_t i = 0; i < c->groups.n_rows; i++)
        if (pdnn_table_is_empty(&c->groups, i, PDNN_GROUP_KEY))
            append_axes(out, c, pdnn_table_text(&c->groups, i, PDNN_GROUP_FAMILY));
    append_ops(out, c);
    append_extremes(out, &c->comparison);
    append_unpaired(out, &c->comparison.unpaired);
}

/* Fills the tables, that of ops only where it is shown. */
static enum pdnn_status analyse(struct compared *c, size_t view, struct pdnn_err *err) {
    const char *const *directory = c->comparison.directory;
    for (size_t t = 0; t < c->comparison.selection.results.n_directories; t++)
        if ((view == OPS || (view != UNPAIRED && pdnn_path_has(directory[t], "ops.csv"))) &&
            pdnn_ops_reader_open(&c->reader[t], directory[t], err) != PDNN_OK)
            return err->status;
    pdnn_factors_set(&c->comparison);
    if (pdnn_sides_make(&c->sides, &c->comparison, c->reader, err) != PDNN_OK)
        return err->status;
    pdnn_compare_sums(&c->comparison, &c->groups, &c->axes);
    c->n_op_pairs = pdnn_compare_ops(&c->comparison, c->reader, &c->by, &c->ops, &c->others);
    return PDNN_OK;
}

static enum pdnn_status print(struct compared *c, size_t view, const struct pdnn_arguments *arguments,
                              struct pdnn_err *err) {
    struct pdnn_table *pairs = &c->comparison.pairs, *unpaired = &c->comparison.unpaired;
    struct pdnn_table *const printed[] = {pairs,   &c->groups, &c->axes,
                                          &c->ops, unpaired,   &c->sides.differing};
    const size_t n_pairs = pairs->n_rows, n_unpaired = unpaired->n_rows;
    const bool is_whole =
        !pdnn_wants_text(arguments) || view == GROUPS || view == AXES || view == OPS || view == SIDES;
    struct pdnn_str out = {0};
    if (!is_whole && !c->sides.n_projected)
        pairs->column[PDNN_PAIR_BEYOND].def.show = PDNN_SHOW_NEVER;
    if (is_whole && pdnn_table_print(printed[view], arguments, err) != PDNN_OK)
        return err->status;
    if (view == PAIRS && !is_whole)
        append_pairs(&out, &c->comparison, NULL);
    else if (view == UNPAIRED && !is_whole)
        SHOW(&out, unpaired, NULL, unpaired_columns);
    else if (!is_whole)
        append_overview(&out, c);
    pdnn_text_print(&out, false);
    fprintf(stderr, "%zu instance%s on both sides, %zu not compared\n", n_pairs, n_pairs == 1 ? "" : "s",
            n_unpaired);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct compared c = {.by = {{PDNN_BY_OP}, 1}};
    struct pdnn_compare_request request = {.directory = {arguments->operands[0], arguments->operands[1]},
                                           .across = pdnn_argument(arguments, "across")};
    const char *by = pdnn_argument(arguments, "by");
    const size_t view =
        pdnn_argument_choice(arguments, "table", pdnn_wants_text(arguments) ? OVERVIEW : PAIRS);
    if (by && view != OPS && view != OVERVIEW)
        return pdnn_fail(err, PDNN_INVALID, "--by is for the table ops, not for %s", tables[view]);
    request.only = pdnn_argument_all(arguments, "only", &request.n_only);
    if (by && pdnn_by_parse(by, &c.by, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = pdnn_comparison_open(&c.comparison, &request, err);
    if (status == PDNN_OK)
        pdnn_cli_tell_gaps(&c.comparison.selection);
    status = status == PDNN_OK ? analyse(&c, view, err) : status;
    status = status == PDNN_OK ? print(&c, view, arguments, err) : status;
    pdnn_sides_finish(&c.sides);
    pdnn_table_finish(&c.groups);
    pdnn_table_finish(&c.axes);
    pdnn_table_finish(&c.ops);
    pdnn_str_finish(&c.others);
    pdnn_ops_reader_close(&c.reader[0]);
    pdnn_ops_reader_close(&c.reader[1]);
    pdnn_comparison_close(&c.comparison);
    return status;
}

PDNN_COMMAND(compare, PDNN_COMMANDS_FIRST, "A [B]",
             "Says how much faster one platform is than another, where, and why.", .run = run,
             .reads_directories = true);
