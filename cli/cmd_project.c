#include "base/memory.h"
#include "cli/output.h"
#include "cli/projection_text.h"
#include "cli/registry.h"
#include "results/tables/columns.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const paragraphs[] = {
    "Projects measured steps onto other hardware: every op of ops.csv keeps the efficiency that was measured, "
    "under roofs that are changed by factors or taken from another machine's ceilings.csv. Prints the speed-up "
    "of whole models, which ops get another bound, and what each kind of op could give at most. Every row is "
    "labelled projected; nothing is measured.",
    "An op that took T, of which calling it cost a, would take a times the change of the overhead, plus (T - a) "
    "times the ratio of its roofs: the larger of its compute time and its memory time, where accesses are "
    "served by the level that they then fit. Time in no op changes with the overhead.",
    "With --onto, factors apply to the other roofs. --threads takes the roofs for that many threads in place "
    "of those that a row ran on; alone, it asks what ran on one thread what it would take on several.",
    "The limit of a kind is Amdahl's: the step over the step without these ops, as if they took no time. "
    "`paradnn columns` explains the columns of --format csv: projection, projection-ops, projection-moves and "
    "projection-limits. How far projections are off, and why: doc/projection.md.",
    NULL,
};

/* Indices of `views`, then NULL. */
static const char *const tables[] = {"models", "ops", "moves", "limits", NULL};

enum { MODELS, OPS, MOVES, LIMITS, OVERVIEW };

static const struct pdnn_option_def options[] = {
    PDNN_OPTIONS_HARDWARE,
    {"by", 'b', "PARTS", NULL, false,
     "sum limits by category, group, pass, layer or op, or several joined by commas (default: group)"},
    PDNN_OPTION_ONLY,
    {"table", 0, "TABLE", tables, false,
     "print one whole table: models (the default of --format csv), ops, moves or limits"},
    PDNN_OPTION_FORMAT,
};

static const struct pdnn_example examples[] = {
    {"paradnn project fc.results --compute 2", "what twice the FLOP rate would bring"},
    {"paradnn project bert.results --compute 2 --bandwidth 1.5 --by group,pass",
     "a machine with another ridge point, and which part of the model holds it back"},
    {"paradnn project fc.results --onto other.results", "how fast these models would run on another machine"},
};

struct command {
    struct pdnn_selection selection;
    struct pdnn_ops_reader *readers;
    struct pdnn_ceilings *ceilings;
    struct pdnn_hardware hardware;
    struct pdnn_by_list by;
    struct pdnn_arena arena;
    struct pdnn_str out;
    struct pdnn_hardware_projection made;
};

static enum pdnn_status open_tables(struct command *c, const struct pdnn_arguments *arguments,
                                    struct pdnn_err *err) {
    const char *by = pdnn_argument(arguments, "by"), **only = NULL;
    char path[4096];
    size_t n_only = 0;
    const struct pdnn_hardware_request request = {
        .compute = pdnn_argument(arguments, "compute"),
        .bandwidth = pdnn_argument(arguments, "bandwidth"),
        .cache = pdnn_argument(arguments, "cache"),
        .overhead = pdnn_argument(arguments, "overhead"),
        .onto = pdnn_argument(arguments, "onto"),
        .threads = pdnn_argument(arguments, "threads"),
    };
    enum pdnn_status status = pdnn_hardware_parse(&c->hardware, &request, err);
    if (status == PDNN_OK)
        status = pdnn_by_parse(by ? by : "group", &c->by, err);
    if (status == PDNN_OK)
        pdnn_argument_all(arguments, "only", &only, &n_only);
    if (status == PDNN_OK)
        status = pdnn_selection_open(&c->selection, arguments->operands[0], only, n_only, err);
    free(only);
    if (status == PDNN_OK)
        status = pdnn_selection_ops_open(&c->selection, &c->readers, err);
    if (status == PDNN_OK &&
        snprintf(path, sizeof path, "%s/ceilings.csv", arguments->operands[0]) >= (int)sizeof path)
        status = pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", arguments->operands[0]);
    c->ceilings = pdnn_alloc(1, sizeof *c->ceilings);
    return status == PDNN_OK ? pdnn_ceilings_read(path, NULL, c->ceilings, err) : status;
}

static void append_csv(struct command *c, int view) {
    const struct pdnn_hardware_projection *p = &c->made;
    const struct pdnn_columns *const columns[] = {
        [MODELS] = &pdnn_projected_columns,
        [OPS] = &pdnn_projected_ops_columns,
        [MOVES] = &pdnn_projected_moves_columns,
        [LIMITS] = &pdnn_projected_limits_columns,
    };
    pdnn_columns_header(columns[view], &c->out);
    for (size_t i = 0; i < p->n_models && view == MODELS; i++)
        pdnn_columns_row(columns[view], &p->model[i], &c->out);
    for (size_t i = 0; i < p->n_models && view == OPS; i++)
        for (size_t k = 0; k < p->model[i].n_ops; k++)
            pdnn_columns_row(columns[view], &p->model[i].op[k], &c->out);
    for (size_t i = 0; i < p->n_moves && view == MOVES; i++)
        pdnn_columns_row(columns[view], &p->move[i], &c->out);
    for (size_t i = 0; i < p->n_limits && view == LIMITS; i++)
        pdnn_columns_row(columns[view], &p->limit[i], &c->out);
}

static void append_text(struct command *c, int view) {
    static void (*const views[])(struct pdnn_str *, const struct pdnn_hardware_projection *) = {
        [MODELS] = pdnn_projection_models_text,
        [OPS] = pdnn_projection_ops_text,
        [MOVES] = pdnn_projection_moves_text,
        [LIMITS] = pdnn_projection_limits_text,
    };
    if (view == OVERVIEW)
        pdnn_projection_overview_text(&c->out, &c->hardware, &c->made);
    else
        views[view](&c->out, &c->made);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    struct command c = {.readers = NULL};
    const char *table = pdnn_argument(arguments, "table");
    bool csv = pdnn_wants_csv(arguments);
    int view = csv ? MODELS : OVERVIEW;
    for (int i = 0; table && tables[i]; i++)
        view = strcmp(tables[i], table) == 0 ? i : view;
    enum pdnn_status status = open_tables(&c, arguments, err);
    const struct pdnn_projection_request request = {&c.selection, c.readers, c.ceilings, &c.hardware, &c.by};
    if (status == PDNN_OK)
        status = pdnn_project(&request, &c.arena, &c.made, err);
    if (status == PDNN_OK && csv)
        append_csv(&c, view);
    else if (status == PDNN_OK)
        append_text(&c, view);
    size_t left_out = c.selection.left_out + c.made.without_ops;
    if (status == PDNN_OK)
        pdnn_text_print(&c.out, csv);
    if (status == PDNN_OK)
        fprintf(stderr, "%zu instance%s projected, %zu left out\n", c.made.n_models,
                c.made.n_models == 1 ? "" : "s", left_out);
    pdnn_str_finish(&c.out);
    pdnn_hardware_finish(&c.hardware);
    pdnn_selection_ops_close(&c.selection, c.readers);
    pdnn_selection_close(&c.selection);
    free(c.ceilings);
    pdnn_arena_finish(&c.arena);
    return status;
}

const struct pdnn_command_def pdnn_command_project = {
    .name = "project",
    .summary = "Says how long measured models would take on other hardware.",
    .operands = "RESULTS",
    .min_operands = 1,
    .max_operands = 1,
    .reads_directories = true,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
