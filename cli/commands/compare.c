#include "base/memory.h"
#include "base/paths/folder.h"
#include "base/units.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "models/varying.h"
#include "results/compare/builds.h"
#include "results/compare/compared.h"
#include "results/compare/factors.h"
#include "results/compare/gate.h"
#include "results/compare/settle.h"
#include "results/compare/sides.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char description[] =
    "Joins the instances of two platforms by id and says how many times as fast B is as A: the ratio of their step "
    "times, A's over B's, with its interval. A ratio is clear if its 95 % interval excludes 1; of 20 equal instances "
    "at most about one is clear by chance. No interval has what shifts a whole run, such as another state of the "
    "machine. Then come geometric means, what explains the ratios, and the ops that the difference comes from.\n\n"
    "With two directories, instances are joined by their ids; if no id is in both, the one key that differs is found "
    "and left out. With more, A is the base, and B, C and so on are each compared with it, a column each. With one "
    "directory, all sides are in it; the key is then a run setting other than mode, optimizer and "
    "accumulate.\n\n"
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
         "the keys that differ between the sides: backend, threads=1:2 with A's and B's value, in one directory also "
         "1:2:4 with C's, or several joined by commas; host: only the directories (default: found where there is no choice)"},
    {"by", 'b', "PARTS",
     .help = "sum ops by category, group, pass, layer or op, or several joined by commas (default: op)"},
    {"gate", 'g', "PERCENT",
     .help =
         "fail if B is slower by this or more in some model, by pairs of visits: exit status 0 if the slow-down's "
         "99 % interval is below it in all models, 1 if it is decided that B is slower in one and its interval is "
         "not below, 3 if it could not be told, also where a model has no pairs or one side only"},
    PDNN_OPTION_ONLY,
    {"table", 't', "TABLE", .choices = tables,
     .help = "print one whole table: pairs (the default for programs), groups, axes, ops, unpaired or sides"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn compare old.results new.results", "what changed between two machines or versions"},
    {"paradnn compare zen3.results zen5.results xeon.results", "two machines beside a first one"},
    {"paradnn compare fc.results --across threads=1:2:4", "what the second core brings, and the fourth"},
    {"paradnn compare ways.results --gate 2%", "whether B is slower by 2 % anywhere, for scripts"},
    {"paradnn compare cnn.results --across backend --table ops --by op,pass",
     "which ops make the difference between two libraries"},
};

/* Where there is no terminal, sentences are filled to this width. */
enum { PLAIN_WIDTH = 100 };

/* What the columns of a table are enough for. */
enum { SIDES_MAX = 64 };

/* How many of the greatest and of the least ratios, of ops and of a key's values the overview shows. */
enum { EXTREMES_SHOWN = 4, OPS_SHOWN = 8, VALUES_SHOWN = 16 };

struct compared {
    struct pdnn_comparisons all;
    struct pdnn_ops_reader *reader; /* by directory; {0}: it has no ops.csv */
    struct pdnn_by_list by;
    struct pdnn_sides sides;
    struct pdnn_compared found;
};

/* Shows rows (NULL: all) of a table of all sides: those columns of its kind, each for each side. */
static void show(struct pdnn_str *out, const struct compared *c, const struct pdnn_table *table,
                 const struct pdnn_beside *beside, const struct pdnn_row_list *rows, const size_t *columns,
                 size_t n_columns) {
    size_t *shown = pdnn_alloc(c->all.n * n_columns, sizeof *shown);
    pdnn_table_show(out, table, rows, shown,
                    pdnn_beside_columns(beside, c->all.n, columns, n_columns, shown));
    free(shown);
}

/* That table's column of a side. */
static struct pdnn_column_def *column_of(const struct compared *c, const struct pdnn_table *table,
                                         const struct pdnn_beside *beside, size_t column, size_t side) {
    return &table->column[pdnn_beside_column(beside, c->all.n, column, side)].def;
}

/* A sentence, filled, and an empty line behind it, if there is one; finishes it. */
static void append_sentence(struct pdnn_str *out, struct pdnn_str *sentence) {
    const bool is_there = sentence->length > 0;
    pdnn_line_append(out, sentence, 0, PLAIN_WIDTH);
    pdnn_str_append(out, "\n", is_there);
}

/* The same behind "C: " where there are several sides. */
static void append_of(struct pdnn_str *out, const struct compared *c, const struct pdnn_compared_side *other,
                      struct pdnn_str *sentence) {
    struct pdnn_str line = {0};
    if (sentence->length)
        pdnn_str_printf(&line, "%s%s%s", c->all.n > 1 ? other->name : "", c->all.n > 1 ? ": " : "",
                        sentence->text);
    pdnn_str_finish(sentence);
    append_sentence(out, &line);
}

/* On a terminal, pairs are shown by what varies among all; what their ids have in common is said once. */
static void append_pairs(struct pdnn_str *out, struct compared *c, const struct pdnn_row_list *rows) {
    static const size_t columns[] = {PDNN_PAIR_RATIO,  PDNN_PAIR_LOW,  PDNN_PAIR_PAIRS, PDNN_PAIR_DECISION,
                                     PDNN_PAIR_BEYOND, PDNN_PAIR_A_NS, PDNN_PAIR_B_NS,  PDNN_PAIR_ID};
    struct pdnn_table *pairs = &c->found.pairs;
    const size_t n = pdnn_terminal_width(STDOUT_FILENO) ? pairs->n_rows : 0,
                 id = pdnn_beside_column(&pdnn_pairs_beside, c->all.n, PDNN_PAIR_ID, 1),
                 a_id = pdnn_beside_column(&pdnn_pairs_beside, c->all.n, PDNN_PAIR_A_ID, 1);
    struct pdnn_varying varying = {0};
    struct pdnn_instance instance;
    char label[PDNN_ID_TEXT];
    for (size_t pair = 0; pair < n; pair++)
        if (pdnn_instance_parse(pdnn_table_text(pairs, pair, a_id), &instance, NULL) == PDNN_OK)
            pdnn_varying_add(&varying, &instance);
    for (size_t i = 0; i < c->all.n; i++)
        for (size_t k = 0; k < c->all.of[i].across.count; k++)
            pdnn_varying_leave_out(
                &varying, pdnn_results_name(&c->all.selection.results, c->all.of[i].across.column[k]));
    pdnn_common_append(out, &varying);
    for (size_t pair = 0; pair < n; pair++)
        if (pdnn_instance_parse(pdnn_table_text(pairs, pair, a_id), &instance, NULL) == PDNN_OK)
            pdnn_table_set_text(pairs, pair, id, pdnn_varying_label(&varying, &instance, label));
    show(out, c, pairs, &pdnn_pairs_beside, rows, columns, sizeof columns / sizeof *columns);
    pdnn_varying_finish(&varying);
}

/* The groups of one key of a scope, under its name as the title; only their number if there are many. */
static void append_key(struct pdnn_str *out, struct compared *c, const char *family, const char *key) {
    static const size_t columns[] = {PDNN_GROUP_VALUE,  PDNN_GROUP_INSTANCES, PDNN_GROUP_MEAN,
                                     PDNN_GROUP_LOW,    PDNN_GROUP_LEAST,     PDNN_GROUP_GREATEST,
                                     PDNN_GROUP_FASTER, PDNN_GROUP_SLOWER,    PDNN_GROUP_UNDECIDED,
                                     PDNN_GROUP_ABOVE_1};
    struct pdnn_table *groups = &c->found.groups;
    struct pdnn_row_list rows = {0};
    for (size_t i = 0; i < groups->n_rows; i++)
        if (strcmp(pdnn_table_text(groups, i, PDNN_GROUP_FAMILY), family) == 0 &&
            strcmp(pdnn_table_text(groups, i, PDNN_GROUP_KEY), key) == 0)
            pdnn_rows_add(&rows, i);
    groups->column[PDNN_GROUP_VALUE].def.title = key;
    if (rows.count > VALUES_SHOWN)
        pdnn_str_printf(out, "It has %zu values: --table groups\n\n", rows.count);
    else if (rows.count) {
        show(out, c, groups, &pdnn_groups_beside, &rows, columns, sizeof columns / sizeof *columns);
        pdnn_str_append(out, "\n", 1);
    }
    pdnn_rows_finish(&rows);
}

/* "layers, nodes are left out, since instances that are open confound them.", after this */
static void append_confounded(struct pdnn_str *out, const struct pdnn_table *axes, const char *family,
                              const char *before) {
    size_t count = 0;
    for (size_t i = 0; i < axes->n_rows; i++)
        if (strcmp(pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_FAMILY), family) == 0 &&
            !pdnn_table_is_empty(axes, i, PDNN_COMPARE_AXIS_WITH))
            pdnn_str_printf(out, "%s%s", count++ ? ", " : before,
                            pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_KEY));
    if (count)
        pdnn_str_printf(out, " %s left out, since instances that are open confound %s.",
                        count == 1 ? "is" : "are", count == 1 ? "it" : "them");
}

/* "fc: batch explains the ratios best: 71 % of the variance of their logarithm, then nodes 12 %". Nothing if
 * the pairs differ in no key. Returns the best one, or NULL. */
static const char *append_axes(struct pdnn_str *out, const struct compared *c,
                               const struct pdnn_compared_side *other, const char *family) {
    const struct pdnn_table *axes = &other->axes;
    const size_t best = pdnn_compare_best_axis(axes, family);
    const char *between = " explains the ratios best: ", *of = " of the variance of their logarithm";
    struct pdnn_str line = {0};
    bool has_axes = false;
    pdnn_str_printf(&line, "%s%s", family, *family ? ": " : "");
    const size_t begin = line.length;
    for (size_t i = 0; i < axes->n_rows; i++) {
        if (strcmp(pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_FAMILY), family) != 0 ||
            !pdnn_table_is_empty(axes, i, PDNN_COMPARE_AXIS_WITH))
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
    if (has_axes && best == SIZE_MAX)
        pdnn_str_printf(&line, "no key explains the ratios better than chance would");
    pdnn_str_append(&line, ".", has_axes);
    append_confounded(&line, axes, family, has_axes ? " " : "");
    if (line.length == begin)
        pdnn_str_finish(&line);
    append_of(out, c, other, &line);
    return best == SIZE_MAX ? NULL : pdnn_table_text(axes, best, PDNN_COMPARE_AXIS_KEY);
}

/* What explains the ratios of each side in a scope, and what they are by these keys. */
static void append_scope(struct pdnn_str *out, struct compared *c, const char *family) {
    struct pdnn_texts keys = {0};
    for (size_t i = 0; i < c->all.n; i++) {
        const char *key = append_axes(out, c, &c->found.side[i], family);
        if (key && strcmp(key, "family") != 0)
            pdnn_texts_add(&keys, key);
    }
    for (size_t k = 0; k < keys.count; k++)
        append_key(out, c, family, keys.text[k]);
    pdnn_texts_finish(&keys);
}

/* How many instances have rows in ops.csv, and what effects are. */
static void append_ops_head(struct pdnn_str *out, const struct compared *c) {
    struct pdnn_str line = {0};
    if (c->all.n == 1) {
        pdnn_str_printf(&line,
                        "Where the time goes, summed over %zu instance%s. The product of all effects is the "
                        "geometric mean; above 1, B gains time there.",
                        c->found.side[0].n_op_pairs, c->found.side[0].n_op_pairs == 1 ? "" : "s");
    } else {
        pdnn_str_printf(&line, "Where the time goes, summed over");
        for (size_t i = 0; i < c->all.n; i++)
            pdnn_str_printf(&line, "%s %zu instance%s of A and %s", i ? "," : "", c->found.side[i].n_op_pairs,
                            c->found.side[i].n_op_pairs == 1 ? "" : "s", c->found.side[i].name);
        pdnn_str_printf(&line, ". The product of all effects of a side is its geometric mean; above 1, it "
                               "gains time there.");
    }
    append_sentence(out, &line);
}

static void append_ops(struct pdnn_str *out, struct compared *c) {
    static const size_t columns[] = {
        PDNN_COMPARE_OPS_KEYS,     PDNN_COMPARE_OPS_KEYS + 1, PDNN_COMPARE_OPS_KEYS + 2,
        PDNN_COMPARE_OPS_KEYS + 3, PDNN_COMPARE_OPS_KEYS + 4, PDNN_COMPARE_OPS_INSTANCES,
        PDNN_COMPARE_OPS_A_NS,     PDNN_COMPARE_OPS_B_NS,     PDNN_COMPARE_OPS_GAIN,
        PDNN_COMPARE_OPS_GAIN_PCT, PDNN_COMPARE_OPS_EFFECT};
    size_t of_all = 0, n_op_pairs = 0;
    struct pdnn_row_list rows = {0};
    for (size_t i = 0; i < c->all.n; i++)
        n_op_pairs += c->found.side[i].n_op_pairs;
    if (!n_op_pairs) {
        pdnn_str_printf(out, "ops.csv does not say which ops the difference comes from.\n\n");
        return;
    }
    append_ops_head(out, c);
    while (of_all < c->found.ops.n_rows &&
           pdnn_table_is_empty(&c->found.ops, of_all, PDNN_COMPARE_OPS_FAMILY))
        of_all++;
    for (size_t i = 0; i < of_all; i++)
        if (i < OPS_SHOWN || i + 1 == of_all) /* the last one is the residual */
            pdnn_rows_add(&rows, i);
    show(out, c, &c->found.ops, &pdnn_compare_ops_beside, &rows, columns, sizeof columns / sizeof *columns);
    if (rows.count < of_all)
        pdnn_str_printf(out, "and %zu more with less effect: --table ops\n", of_all - rows.count);
    pdnn_str_append(out, "\n", 1);
    pdnn_rows_finish(&rows);
}

/* Adds the ends of one side's ratios, unless they are there. */
static void add_extremes(const struct compared *c, size_t side, struct pdnn_row_list *rows) {
    const size_t ratio = pdnn_beside_column(&pdnn_pairs_beside, c->all.n, PDNN_PAIR_RATIO, side),
                 most = c->all.n > 1 ? EXTREMES_SHOWN / 2 : EXTREMES_SHOWN;
    struct pdnn_row_list all = pdnn_rows_all(&c->found.pairs);
    pdnn_rows_sort(&all, &c->found.pairs, &(struct pdnn_sort_key){ratio, true}, 1);
    while (all.count && pdnn_table_is_empty(&c->found.pairs, all.at[all.count - 1], ratio))
        all.count--;
    for (size_t i = 0; i < all.count; i++) {
        size_t known = 0;
        while (known < rows->count && rows->at[known] != all.at[i])
            known++;
        if ((i < most || i + most >= all.count) && known == rows->count)
            pdnn_rows_add(rows, all.at[i]);
    }
    pdnn_rows_finish(&all);
}

static void append_extremes(struct pdnn_str *out, struct compared *c) {
    struct pdnn_row_list rows = {0};
    const size_t ratio = pdnn_beside_column(&pdnn_pairs_beside, c->all.n, PDNN_PAIR_RATIO, 1);
    for (size_t side = 1; side <= c->all.n; side++)
        add_extremes(c, side, &rows);
    pdnn_rows_sort(&rows, &c->found.pairs, &(struct pdnn_sort_key){ratio, true}, 1);
    if (rows.count < c->found.pairs.n_rows && c->all.n > 1)
        pdnn_str_printf(out, "Each side's greatest and least of %zu ratios, time of A over its own:\n\n",
                        c->found.pairs.n_rows);
    else if (rows.count < c->found.pairs.n_rows)
        pdnn_str_printf(out, "The greatest and the least of %zu ratios, time of A over time of B:\n\n",
                        c->found.pairs.n_rows);
    append_pairs(out, c, &rows);
    pdnn_rows_finish(&rows);
}

/* How many there are with each combination of statuses, and the first of them. */
static void append_unpaired(struct pdnn_str *out, struct compared *c) {
    static const struct pdnn_column_def instances = {"instances", .kind = PDNN_KIND_COUNT};
    struct pdnn_table *unpaired = &c->found.unpaired;
    const size_t n = c->all.n;
    if (!unpaired->n_rows)
        return;
    pdnn_str_printf(out, "\nNot compared, because they did not end ok on %s sides: %zu\n\n",
                    n > 1 ? "all" : "both", unpaired->n_rows);
    size_t *columns = pdnn_alloc(n + 3, sizeof *columns);
    columns[0] = pdnn_beside_column(&pdnn_unpaired_beside, n, PDNN_UNPAIRED_A_STATUS, 1);
    for (size_t side = 1; side <= n; side++)
        columns[side] = pdnn_beside_column(&pdnn_unpaired_beside, n, PDNN_UNPAIRED_B_STATUS, side);
    columns[n + 1] = pdnn_table_add_column(unpaired, &instances);
    columns[n + 2] = pdnn_beside_column(&pdnn_unpaired_beside, n, PDNN_UNPAIRED_ID, 1);
    struct pdnn_groups groups = pdnn_groups_make(unpaired, NULL, columns, n + 1);
    struct pdnn_row_list firsts = {0};
    for (size_t i = 0; i < groups.count; i++) {
        pdnn_rows_add(&firsts, groups.group[i].at[0]);
        pdnn_table_set_count(unpaired, groups.group[i].at[0], columns[n + 1], groups.group[i].count);
    }
    unpaired->column[columns[n + 2]].def.title = "for example";
    pdnn_table_show(out, unpaired, &firsts, columns, n + 3);
    pdnn_rows_finish(&firsts);
    pdnn_groups_finish(&groups);
    free(columns);
}

/* "A: threads=1 of fc.results" */
static void append_sides(struct pdnn_str *out, const struct compared *c) {
    struct pdnn_str line = {0};
    for (size_t i = 0; i <= c->all.n; i++) {
        const struct pdnn_comparison *of = &c->all.of[i ? i - 1 : 0];
        const int side = i ? PDNN_SIDE_B : PDNN_SIDE_A;
        const bool is_key = of->label[side] != of->directory[side];
        char name[PDNN_SIDE_TEXT];
        pdnn_str_printf(&line, "%s: %s%s%s", pdnn_side_name(i, name), of->label[side], is_key ? " of " : "",
                        is_key ? of->directory[side] : "");
        pdnn_line_append(out, &line, 3, PLAIN_WIDTH);
    }
    pdnn_str_append(out, "\n", 1);
}

/* What is said of one side and the base. */
static void append_other(struct pdnn_str *out, struct compared *c, size_t i) {
    struct pdnn_compared_side *other = &c->found.side[i];
    const char *const names[PDNN_SIDES] = {"A", other->name};
    struct pdnn_str doubt = {0}, line = {0};
    pdnn_builds_say(other->of, &line);
    append_of(out, c, other, &line);
    if (pdnn_comparison_doubt(other->of, &doubt))
        append_of(out, c, other, &doubt);
    if (!c->sides.of[i].by_intent)
        append_of(out, c, other, &other->others);
    pdnn_compare_say(other->of, &other->groups, names, &line);
    append_of(out, c, other, &line);
    pdnn_factors_say(other->of, &line);
    append_of(out, c, other, &line);
    pdnn_sides_say(&c->sides.of[i], names, &line);
    append_of(out, c, other, &line);
    append_of(out, c, other, &other->others);
    append_of(out, c, other, &doubt);
}

static void append_overview(struct pdnn_str *out, struct compared *c) {
    append_sides(out, c);
    if (c->sides.differing.n_rows) {
        pdnn_table_show(out, &c->sides.differing, NULL, NULL, 0);
        pdnn_str_append(out, "\n", 1);
    }
    for (size_t i = 0; i < c->all.n; i++)
        append_other(out, c, i);
    append_key(out, c, "", "family");
    for (size_t i = 0; i < c->found.groups.n_rows; i++)
        if (pdnn_table_is_empty(&c->found.groups, i, PDNN_GROUP_KEY))
            append_scope(out, c, pdnn_table_text(&c->found.groups, i, PDNN_GROUP_FAMILY));
    append_ops(out, c);
    append_extremes(out, c);
    append_unpaired(out, c);
}

/* Fills the tables, that of ops only where it is shown. */
static enum pdnn_status analyse(struct compared *c, size_t view, struct pdnn_err *err) {
    const struct pdnn_results *results = &c->all.selection.results;
    c->reader = pdnn_alloc(results->n_directories, sizeof *c->reader);
    for (size_t d = 0; d < results->n_directories; d++)
        if ((view == OPS || (view != UNPAIRED && pdnn_path_has(results->directory[d], "ops.csv"))) &&
            pdnn_ops_reader_open(&c->reader[d], results->directory[d], err) != PDNN_OK)
            return err->status;
    for (size_t i = 0; i < c->all.n; i++)
        pdnn_factors_set(&c->all.of[i]);
    if (pdnn_sides_make(&c->sides, c->all.of, c->all.n, c->reader, err) != PDNN_OK)
        return err->status;
    pdnn_compared_make(&c->found, c->all.of, c->all.n, c->reader, &c->by);
    return PDNN_OK;
}

/* Pairs of visits where there are none, and intervals by their level. */
static void show_pairs(struct compared *c, size_t side) {
    const struct pdnn_comparison *of = &c->all.of[side - 1];
    bool has_pairs = false;
    for (size_t pair = 0; pair < of->pairs.n_rows; pair++)
        has_pairs |= !pdnn_table_is_empty(&of->pairs, pair, PDNN_PAIR_PAIRS);
    if (!has_pairs)
        column_of(c, &c->found.pairs, &pdnn_pairs_beside, PDNN_PAIR_PAIRS, side)->show = PDNN_SHOW_NEVER;
    column_of(c, &c->found.pairs, &pdnn_pairs_beside, PDNN_PAIR_LOW, side)->title =
        pdnn_comparison_interval(of);
}

/* What people need not see. */
static void hide(struct compared *c) {
    static const size_t ends[] = {PDNN_GROUP_LEAST, PDNN_GROUP_GREATEST, PDNN_GROUP_ABOVE_1};
    for (size_t side = 1; side <= c->all.n; side++) {
        show_pairs(c, side);
        if (!c->sides.of[side - 1].n_projected)
            column_of(c, &c->found.pairs, &pdnn_pairs_beside, PDNN_PAIR_BEYOND, side)->show = PDNN_SHOW_NEVER;
        for (size_t k = 0; c->all.n > 1 && k < sizeof ends / sizeof *ends; k++)
            column_of(c, &c->found.groups, &pdnn_groups_beside, ends[k], side)->show = PDNN_SHOW_NEVER;
        for (size_t k = PDNN_COMPARE_OPS_A_NS; c->all.n > 1 && k < PDNN_COMPARE_OPS_EFFECT; k++)
            if (k != PDNN_COMPARE_OPS_GAIN)
                column_of(c, &c->found.ops, &pdnn_compare_ops_beside, k, side)->show = PDNN_SHOW_NEVER;
    }
}

/* What nothing is confounded with says nothing to people. */
static void hide_unconfounded(struct compared *c) {
    for (size_t side = 1; side <= c->all.n; side++) {
        const size_t column = pdnn_beside_column(&pdnn_axes_beside, c->all.n, PDNN_COMPARE_AXIS_WITH, side);
        bool is_confounded = false;
        for (size_t i = 0; i < c->found.axes.n_rows; i++)
            is_confounded = is_confounded || !pdnn_table_is_empty(&c->found.axes, i, column);
        if (!is_confounded)
            c->found.axes.column[column].def.show = PDNN_SHOW_NEVER;
    }
}

static enum pdnn_status print(struct compared *c, size_t view, const struct pdnn_arguments *arguments,
                              struct pdnn_err *err) {
    static const size_t unpaired[] = {PDNN_UNPAIRED_A_STATUS, PDNN_UNPAIRED_B_STATUS, PDNN_UNPAIRED_ID,
                                      PDNN_UNPAIRED_A_REASON, PDNN_UNPAIRED_B_REASON};
    struct pdnn_table *const printed[] = {&c->found.pairs, &c->found.groups,   &c->found.axes,
                                          &c->found.ops,   &c->found.unpaired, &c->sides.differing};
    const bool is_whole =
        !pdnn_wants_text(arguments) || view == GROUPS || view == AXES || view == OPS || view == SIDES;
    struct pdnn_str out = {0};
    if (pdnn_wants_text(arguments))
        hide_unconfounded(c);
    if (!is_whole)
        hide(c);
    if (is_whole && pdnn_table_print(printed[view], arguments, err) != PDNN_OK)
        return err->status;
    if (view == PAIRS && !is_whole)
        append_pairs(&out, c, NULL);
    else if (view == UNPAIRED && !is_whole)
        show(&out, c, &c->found.unpaired, &pdnn_unpaired_beside, NULL, unpaired,
             sizeof unpaired / sizeof *unpaired);
    else if (!is_whole)
        append_overview(&out, c);
    pdnn_text_print(&out, false);
    for (size_t i = 0; i < c->all.n; i++) {
        const struct pdnn_comparison *of = &c->all.of[i];
        fprintf(stderr, "%s%s%zu instance%s on both sides, %zu not compared\n",
                c->all.n > 1 ? c->found.side[i].name : "", c->all.n > 1 ? ": " : "", of->pairs.n_rows,
                of->pairs.n_rows == 1 ? "" : "s", of->unpaired.n_rows);
    }
    return PDNN_OK;
}

/* Judges all comparisons. PDNN_INVALID where there is nothing to judge by. */
static enum pdnn_status judge(const struct compared *c, double limit, struct pdnn_compare_gate *gate,
                              struct pdnn_err *err) {
    for (size_t i = 0; i < c->all.n; i++)
        pdnn_gate_add(gate, &c->all.of[i], limit);
    return gate->paired
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID,
                           "--gate judges pairs of visits, and %s has none: sweep with measure.order=paired, "
                           "at least 8 rounds",
                           c->all.of[0].directory[PDNN_SIDE_A]);
}

/* What the gate comes to, on stderr and as exit status. */
static void tell(const struct compared *c, double limit, const struct pdnn_compare_gate *gate,
                 const struct pdnn_arguments *arguments) {
    const char *directory = c->all.of[0].directory[PDNN_SIDE_A];
    struct pdnn_str out = {0};
    pdnn_gate_say(gate, limit, &out);
    pdnn_str_append(&out, "\n", 1);
    if (gate->most_pairs && !pdnn_comparison_has_two(&c->all.of[0])) {
        const size_t rounds = 2 * gate->most_pairs;
        pdnn_next_append(&out, "sweep */spec.yaml --set measure.rounds=", directory);
        pdnn_str_printf(&out, "%zu -o ", rounds < 10000 ? rounds : 10000);
        pdnn_word_append(&out, directory);
        pdnn_str_append(&out, "\n", 1);
    }
    fputs(pdnn_str_text(&out), stderr);
    *arguments->some_failed = gate->broken > 0;
    *arguments->untold = pdnn_gate_is_untold(gate);
    pdnn_str_finish(&out);
}

static void finish(struct compared *c) {
    pdnn_compared_finish(&c->found);
    for (size_t d = 0; c->reader && d < c->all.selection.results.n_directories; d++)
        pdnn_ops_reader_close(&c->reader[d]);
    free(c->reader);
    pdnn_sides_finish(&c->sides);
    pdnn_comparisons_close(&c->all);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct compared c = {.by = {{PDNN_BY_OP}, 1}};
    struct pdnn_compare_request request = {.directories = arguments->operands,
                                           .n_directories = arguments->n_operands,
                                           .across = pdnn_argument(arguments, "across")};
    const char *by = pdnn_argument(arguments, "by");
    const size_t view =
        pdnn_argument_choice(arguments, "table", pdnn_wants_text(arguments) ? OVERVIEW : PAIRS);
    const char *gate = pdnn_argument(arguments, "gate");
    struct pdnn_compare_gate judged = {.passed = 0};
    double limit = 0;
    if (gate && !(pdnn_parse_percent(gate, &limit) && limit > 0))
        return pdnn_fail(err, PDNN_INVALID, "--gate is '%.60s', expected a percentage above 0, such as 2%%",
                         gate);
    if (by && view != OPS && view != OVERVIEW)
        return pdnn_fail(err, PDNN_INVALID, "--by is for the table ops, not for %s", tables[view]);
    request.only = pdnn_argument_all(arguments, "only", &request.n_only);
    if (by && pdnn_by_parse(by, &c.by, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = pdnn_comparisons_open(&c.all, &request, err);
    if (status == PDNN_UNSUPPORTED && gate) { /* is no pass */
        fprintf(stderr, "gate %g %%: could not be told, %s\n", 100 * limit, err->text);
        *arguments->untold = true;
        finish(&c);
        return PDNN_OK;
    }
    if (status == PDNN_OK && c.all.n >= SIDES_MAX)
        status = pdnn_fail(err, PDNN_INVALID, "%zu sides are more than the %d that a table has columns for",
                           c.all.n + 1, SIDES_MAX);
    if (status == PDNN_OK)
        pdnn_cli_tell_pair_gaps(&c.all);
    status = status == PDNN_OK ? analyse(&c, view, err) : status;
    if (status == PDNN_OK && gate)
        status = judge(&c, limit, &judged, err);
    status = status == PDNN_OK ? print(&c, view, arguments, err) : status;
    if (status == PDNN_OK && gate)
        tell(&c, limit, &judged, arguments);
    pdnn_gate_finish(&judged);
    finish(&c);
    return status;
}

PDNN_COMMAND(compare, PDNN_COMMANDS_FIRST, "A [B...]",
             "Says how much faster one platform is than another, where, and why.", .run = run,
             .reads_directories = true);
