#include "cli/compare_text.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "cli/terminal.h"
#include "results/analysis/compare_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const paragraphs[] = {
    "Joins the instances of two platforms by id and says how many times as fast B is as A: "
    "the ratio of their step times, A's over B's, with its interval. "
    "A ratio is clear if its 95 % interval excludes 1; of 20 equal instances at most about one is clear by chance. "
    "No interval has what shifts a whole run, such as another state of the machine. "
    "Then come geometric means, what explains the ratios, and the ops that the difference comes from.",
    "With two directories, instances are joined by their ids; if no id is in both, the one key that differs "
    "is found and left out. With one directory, both sides are in it; the key is then a run setting "
    "other than mode, optimizer and accumulate. "
    "--across names the keys that are to differ where there is a choice, "
    "and the values of both sides where there are more than two.",
    "What explains the ratios is said by the variance of their logarithm: "
    "the share of it that lies between the values of a key, without what as many values explain by chance. "
    "The effect of a kind of op is its factor in the geometric mean, in which every instance counts the same; "
    "sums of time belong to the longest steps.",
    "A and B are directories that sweeps wrote. Instances that did not end ok on both sides are counted, and "
    "--table unpaired lists them. `paradnn columns` explains the columns of each table: "
    "compare-pairs, compare-groups, compare-axes, compare-ops and compare-unpaired.",
    NULL,
};

/* Indices of `views`, then NULL. */
static const char *const tables[] = {"pairs", "groups", "axes", "ops", "unpaired", NULL};

enum { PAIRS, GROUPS, AXES, OPS, UNPAIRED, OVERVIEW };

static const struct pdnn_option_def options[] = {
    {"across", 'a', "KEYS", NULL, false,
     "the keys that differ between the sides: backend, threads=1:2 with A's and B's value, or several joined "
     "by commas; host: only the directories (default: found where there is no choice)"},
    {"by", 'b', "PARTS", NULL, false,
     "sum ops by category, group, pass, layer or op, or several joined by commas (default: op)"},
    PDNN_OPTION_ONLY,
    {"table", 't', "TABLE", tables, false,
     "print one whole table: pairs (the default of --format csv), groups, axes, ops or unpaired"},
    PDNN_OPTION_FORMAT,
};

static const struct pdnn_example examples[] = {
    {"paradnn compare old.results new.results", "what changed between two machines or versions"},
    {"paradnn compare fc.results --across threads=1:2", "what the second core brings"},
    {"paradnn compare cnn.results --across backend --table ops --by op,pass",
     "which ops make the difference between two libraries"},
};

static void append_csv(struct pdnn_str *out, const struct pdnn_columns *columns, const void *rows,
                       size_t n_rows, size_t size) {
    pdnn_columns_header(columns, out);
    for (size_t i = 0; i < n_rows; i++)
        pdnn_columns_row(columns, (const char *)rows + i * size, out);
}

static void append_table_csv(struct pdnn_str *out, struct pdnn_compared *c, int view) {
    const struct pdnn_comparison *comparison = &c->comparison;
    struct pdnn_columns columns;
    switch (view) {
    case GROUPS:
        append_csv(out, &pdnn_compare_groups_columns, c->sums.group, c->sums.n_groups, sizeof *c->sums.group);
        return;
    case AXES:
        append_csv(out, &pdnn_compare_axes_columns, c->sums.axis, c->sums.n_axes, sizeof *c->sums.axis);
        return;
    case OPS:
        append_csv(out, &pdnn_compare_ops_columns, c->ops.op, c->ops.count, sizeof *c->ops.op);
        return;
    case UNPAIRED:
        append_csv(out, &pdnn_unpaired_columns, comparison->unpaired, comparison->n_unpaired,
                   sizeof *comparison->unpaired);
        return;
    default:
        pdnn_pairs_columns_with_keys(comparison, &c->arena, &columns);
        append_csv(out, &columns, comparison->pair, comparison->n_pairs, sizeof *comparison->pair);
        return;
    }
}

static void append_text(struct pdnn_str *out, const struct pdnn_compared *compared, int view) {
    static void (*const views[])(struct pdnn_str *, const struct pdnn_compared *) = {
        [PAIRS] = pdnn_compare_pairs_text,       [GROUPS] = pdnn_compare_groups_text,
        [AXES] = pdnn_compare_axes_text,         [OPS] = pdnn_compare_ops_text,
        [UNPAIRED] = pdnn_compare_unpaired_text, [OVERVIEW] = pdnn_compare_overview_text,
    };
    views[view](out, compared);
}

static int view_of(const struct pdnn_arguments *arguments) {
    const char *table = pdnn_argument(arguments, "table");
    int view = pdnn_wants_csv(arguments) ? PAIRS : OVERVIEW;
    for (int i = 0; table && tables[i]; i++) {
        if (strcmp(tables[i], table) == 0)
            view = i;
    }
    return view;
}

/* What the view shows. */
static enum pdnn_status analyse(struct pdnn_compared *compared, int view, struct pdnn_err *err) {
    bool wants_ops = view == OPS || (view == OVERVIEW && pdnn_compare_has_ops(&compared->comparison));
    enum pdnn_status status = PDNN_OK;
    if (view == GROUPS || view == AXES || view == OVERVIEW)
        pdnn_compare_sums(&compared->comparison, &compared->arena, &compared->sums);
    if (wants_ops)
        status =
            pdnn_compare_ops(&compared->comparison, &compared->by, &compared->arena, &compared->ops, err);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    struct pdnn_compared compared = {.by = {{PDNN_BY_OP}, 1}};
    struct pdnn_compare_request request = {
        .directory = {arguments->operands[0], arguments->n_operands > 1 ? arguments->operands[1] : NULL},
        .across = pdnn_argument(arguments, "across")};
    struct pdnn_str out = {0};
    const char **only = NULL, *by = pdnn_argument(arguments, "by");
    int view = view_of(arguments);
    bool csv = pdnn_wants_csv(arguments);
    enum pdnn_status status = PDNN_OK;
    if (by && view != OPS && view != OVERVIEW)
        return pdnn_fail(err, PDNN_INVALID, "--by is for the table ops, not for %s", tables[view]);
    if (by)
        status = pdnn_by_parse(by, &compared.by, err);
    if (status == PDNN_OK)
        pdnn_argument_all(arguments, "only", &only, &request.n_only);
    request.only = only;
    if (status == PDNN_OK)
        status = pdnn_comparison_open(&compared.comparison, &request, err);
    if (status == PDNN_OK)
        status = analyse(&compared, view, err);
    if (status == PDNN_OK && !csv && pdnn_terminal_width(STDOUT_FILENO))
        pdnn_compare_find_varying(&compared);
    if (status == PDNN_OK && csv)
        append_table_csv(&out, &compared, view);
    if (status == PDNN_OK && !csv)
        append_text(&out, &compared, view);
    if (status == PDNN_OK)
        pdnn_text_print(&out, csv);
    if (status == PDNN_OK)
        fprintf(stderr, "%zu instance%s on both sides, %zu not compared\n", compared.comparison.n_pairs,
                compared.comparison.n_pairs == 1 ? "" : "s", compared.comparison.n_unpaired);
    pdnn_str_finish(&out);
    free(only);
    pdnn_comparison_close(&compared.comparison);
    pdnn_arena_finish(&compared.arena);
    return status;
}

const struct pdnn_command_def pdnn_command_compare = {
    .name = "compare",
    .summary = "Says how much faster one platform is than another, where, and why.",
    .operands = "A [B]",
    .min_operands = 1,
    .max_operands = 2,
    .reads_directories = true,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
