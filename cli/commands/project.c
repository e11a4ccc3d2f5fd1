#include "cli/job.h"
#include "cli/print/output.h"
#include "results/whatif/projection.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdio.h>

static const char description[] =
    "Projects measured steps onto other hardware: every op of ops.csv keeps the efficiency that was measured, under "
    "roofs that are changed by factors or taken from another machine's ceilings.csv. Prints the speed-up of whole "
    "models, which ops get another bound, and what each kind of op could give at most. Every row is labelled "
    "projected; nothing is measured.\n\n"
    "An op that took T, of which calling it cost a, would take a times the change of the overhead, plus (T - a) times "
    "the ratio of its roofs: the larger of its compute time and its memory time, where accesses are served by the "
    "level that they then fit. Time in no op changes with the overhead.\n\n"
    "With --onto, factors apply to the other roofs. --threads alone asks what ran on one thread what it would take on "
    "several. The limit of a kind is Amdahl's: the step over the step without these ops, as if they took no time. How "
    "far projections are off, and why: doc/projection.md.";

static const char *const tables[] = {"models", "ops", "moves", "limits", "families", NULL};

enum { BEFORE = PDNN_HARDWARE_MEASURED, AFTER = PDNN_HARDWARE_PROJECTED, FOREMOST = 12 };

#define LEAST_LIMIT 1.05

static const struct pdnn_option_def options[] = {
    PDNN_OPTIONS_HARDWARE,
    {"by", 'b', "PARTS",
     .help =
         "sum limits by category, group, pass, layer or op, or several joined by commas (default: group)"},
    PDNN_OPTION_ONLY,
    {"table", 0, "TABLE", .choices = tables,
     .help = "print one whole table: models (the default of --format), ops, moves, limits or families"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn project fc.results --compute 2", "what twice the FLOP rate would bring"},
    {"paradnn project bert.results --compute 2 --bandwidth 1.5 --by group,pass",
     "a machine with another ridge point, and which part of the model holds it back"},
    {"paradnn project fc.results --onto other.results", "how fast these models would run on another machine"},
};

/* What changes, the ridge points, families, the foremost moves and limits. */
static void print_overview(const struct pdnn_hardware *hardware,
                           const struct pdnn_hardware_projection *made) {
    struct pdnn_str out = {0};
    struct pdnn_row_list moves = pdnn_rows_all(&made->moves), limits = {0};
    for (size_t row = 0; row < made->limits.n_rows; row++) {
        const double limit = fmax(pdnn_table_number(&made->limits, row, PDNN_PROJECTED_LIMIT_LIMIT),
                                  pdnn_table_number(&made->limits, row, PDNN_PROJECTED_LIMIT_LIMIT + 2));
        if (!(limit < LEAST_LIMIT)) /* also if it is unknown */
            pdnn_rows_add(&limits, row);
    }
    pdnn_str_printf(&out, "projected: ");
    pdnn_hardware_text(hardware, &out);
    if (made->ridge[BEFORE] > 0 && made->ridge[AFTER] > 0)
        pdnn_str_printf(&out, "\nridge point in f32: %.3g -> %.3g FLOP/byte", made->ridge[BEFORE],
                        made->ridge[AFTER]);
    pdnn_str_printf(&out, "\n\n");
    pdnn_table_show(&out, &made->families, NULL, NULL, 0);
    pdnn_str_printf(&out, "\nops that get another bound%s\n",
                    moves.count > FOREMOST ? ", those with the largest shares"
                    : moves.count          ? ""
                                           : ": none");
    moves.count = moves.count < FOREMOST ? moves.count : FOREMOST;
    if (moves.count)
        pdnn_table_show(&out, &made->moves, &moves, NULL, 0);
    pdnn_str_printf(&out, "\nlimit: how many times as fast a step could be if these ops took no time\n");
    pdnn_table_show(&out, &made->limits, &limits, NULL, 0);
    pdnn_rows_finish(&moves);
    pdnn_rows_finish(&limits);
    pdnn_text_print(&out, false);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const struct pdnn_hardware_request wanted = pdnn_cli_hardware(arguments);
    const char *by_text = pdnn_argument(arguments, "by");
    struct pdnn_arena arena = {0};
    struct pdnn_roof_rows *roof_rows = pdnn_arena_alloc(&arena, 1, sizeof *roof_rows);
    struct pdnn_selection selection = {.count = 0};
    struct pdnn_hardware hardware;
    struct pdnn_by_list by;
    struct pdnn_hardware_projection made = {.without_ops = 0};
    struct pdnn_projection_request request = {&selection, NULL, roof_rows, &hardware, &by};
    struct pdnn_table *const tables_of[] = {&made.models, &made.ops, &made.moves, &made.limits,
                                            &made.families};
    enum pdnn_status status =
        pdnn_hardware_parse(&hardware, &wanted, &arena, err) != PDNN_OK ||
                pdnn_by_parse(by_text ? by_text : "group", &by, err) != PDNN_OK ||
                pdnn_cli_select(arguments, 1, &selection, &request.readers, err) != PDNN_OK ||
                pdnn_roof_rows_read_in(arguments->operands[0], roof_rows, err) != PDNN_OK
            ? err->status
            : pdnn_project(&request, &made, err);
    const size_t count = made.models.n_rows;
    if (status == PDNN_OK && (pdnn_argument(arguments, "table") || !pdnn_wants_text(arguments)))
        status = pdnn_table_print(tables_of[pdnn_argument_choice(arguments, "table", 0)], arguments, err);
    else if (status == PDNN_OK)
        print_overview(&hardware, &made);
    if (status == PDNN_OK)
        fprintf(stderr, "%zu instance%s projected, %zu left out\n", count, count == 1 ? "" : "s",
                selection.left_out + made.without_ops);
    pdnn_hardware_projection_finish(&made);
    pdnn_selection_ops_close(&selection, request.readers);
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
    return status;
}

PDNN_COMMAND(project, PDNN_COMMANDS_LOOK, "RESULTS",
             "Says how long measured models would take on other hardware.", .run = run,
             .reads_directories = true);
