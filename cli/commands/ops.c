#include "base/visible.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "models/op.h"
#include "results/store/library.h"
#include "session/compose/operators.h"

#include <errno.h>
#include <stdio.h>

static const char description[] =
    "Lists the operators that models are built from: what each computes, which passes it has, and which operators the "
    "setting fuse may run inside it (hosts).\n\n"
    "With specs or ids, lists what those models consist of as their backend would run them: how many models have each "
    "distinct operator, and how often it runs in one step of each, added up. Behind each operand's bytes stands how "
    "much other data the model touches between its last use and this one, rounded to a power of two: 64KiB is in the "
    "nearest cache, twice the last cache or more in none; * after it: that use wrote it. =0 is an operand in the "
    "memory of operand 0. No model runs or takes memory, but implementations are chosen by measuring, as in a sweep.";

static const struct pdnn_option_def options[] = {
    {"library", 'l', "DIR",
     .help = "list the measured operators in DIR/operators.csv, which paradnn compose keeps there"},
    PDNN_OPTIONS_MEASURE,
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn ops", "all kinds of operators"},
    {"paradnn ops fc/layers=8,nodes=1024,batch=64", "what this model consists of"},
    {"paradnn ops sweeps/fc.yaml --format csv", "how few operators a whole sweep consists of"},
    {"paradnn ops --library fc.composed", "what paradnn compose measured there"},
};

enum { N_COLUMNS = 5 };
static const struct pdnn_column_def columns[N_COLUMNS] = {
    {"op", .align = PDNN_ALIGN_WRAP, .help = "what tables and specs call it"},
    {"category", .align = PDNN_ALIGN_WRAP, .help = "the kind of operator it is"},
    {"passes", .align = PDNN_ALIGN_WRAP, .help = "the passes that it has, joined by |"},
    {"hosts", .align = PDNN_ALIGN_WRAP, .help = "the ops that may run inside it, joined by |"},
    {"formula", .align = PDNN_ALIGN_WRAP, .help = "what it computes"},
};
static const struct pdnn_table_def ops_def = {"ops", "the operators", columns, N_COLUMNS};

/* With the ops that may be fused into some pass of this one. */
static void add_row(struct pdnn_table *table, const struct pdnn_op_def *op) {
    struct pdnn_str passes = {0}, posts = {0};
    for (enum pdnn_pass pass = 0; pass < PDNN_PASS_COUNT; pass++)
        if (op->pass[pass].flop)
            pdnn_str_printf(&passes, "%s%s", passes.length ? "|" : "", pdnn_pass_name(pass));
    for (const struct pdnn_op_def *const *post = pdnn_ops; *post; post++) {
        bool is_hosted = false;
        for (enum pdnn_pass pass = 0; pass < PDNN_PASS_COUNT; pass++)
            is_hosted = is_hosted || pdnn_op_takes(op, pass, *post);
        if (is_hosted)
            pdnn_str_printf(&posts, "%s%s", posts.length ? "|" : "", (*post)->name);
    }
    const char *const texts[] = {op->name, op->category, pdnn_str_text(&passes), pdnn_str_text(&posts),
                                 op->formula};
    pdnn_table_add_texts(table, N_COLUMNS, texts);
    pdnn_str_finish(&passes);
    pdnn_str_finish(&posts);
}

enum { MODELS, RUNS, OPERAND_BYTES, OPERATOR, N_FOUND };
static const struct pdnn_column_def found_columns[N_FOUND] = {
    [MODELS] = {"models", NULL, NULL, PDNN_KIND_COUNT, .help = "how many models have it"},
    [RUNS] = {"runs", NULL, NULL, PDNN_KIND_COUNT, .help = "how often it runs in one step of each, added up"},
    [OPERAND_BYTES] = {"operand_bytes", NULL, "bytes", PDNN_KIND_COUNT, .help = "of all its operands"},
    [OPERATOR] = {"operator", .align = PDNN_ALIGN_WRAP, .help = "its shape, implementation and operands"},
};
static const struct pdnn_table_def found_def = {"ops SPEC", "what models consist of", found_columns, N_FOUND};

/* Instances that cannot run have no operators: says how many there are of each outcome, with one reason. */
static void report_others(const struct pdnn_session *session, const struct pdnn_operators *operators,
                          size_t counts[PDNN_OUTCOME_COUNT]) {
    const char *reasons[PDNN_OUTCOME_COUNT] = {NULL};
    char shown[PDNN_VISIBLE_TEXT];
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_instance_visits listed = pdnn_visits_of(&operators->listed, session->tasks[i].id);
        enum pdnn_outcome outcome = listed.count ? listed.visit->outcome : session->rows[i].outcome;
        counts[outcome]++;
        if (!reasons[outcome])
            reasons[outcome] = listed.count ? listed.visit->reason : session->rows[i].reason;
    }
    for (int i = 0; i < PDNN_OUTCOME_COUNT; i++)
        if (i != PDNN_OUTCOME_OK && counts[i])
            fprintf(stderr, "%zu %s, such as: %s\n", counts[i], pdnn_outcome_name((enum pdnn_outcome)i),
                    pdnn_visible(shown, reasons[i]));
}

static enum pdnn_status run_models(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_cli_job job;
    struct pdnn_session *session = &job.session;
    struct pdnn_operators operators = {0};
    struct pdnn_table table;
    size_t counts[PDNN_OUTCOME_COUNT] = {0};
    if (pdnn_arguments_only(arguments, "SPEC", "set,ceilings,allow-slow,no-cache,format,columns", err) !=
        PDNN_OK)
        return err->status;
    pdnn_cli_job_begin(&job, arguments);
    enum pdnn_status status = pdnn_table_check_columns(&found_def, arguments, err);
    if (status == PDNN_OK)
        status = pdnn_cli_job_open(&job, err);
    if (status == PDNN_OK && session->spec.limits.budget_ns)
        fprintf(stderr, "limits.budget is for sweep; ops finds all operators, however long that takes\n");
    if (status == PDNN_OK)
        status = pdnn_cli_job_roofs(&job, err);
    if (status == PDNN_OK) {
        struct pdnn_sweep_workers *workers =
            pdnn_sweep_workers_create(&session->host, session->memory_limit_bytes);
        const struct pdnn_sweep_rules rules = pdnn_session_rules(session);
        status = pdnn_operators_collect(&operators, session, workers, &rules, NULL, err);
        pdnn_sweep_workers_destroy(workers);
    }
    if (status == PDNN_OK) {
        report_others(session, &operators, counts);
        fprintf(stderr, "%zu models, %zu operators\n", counts[PDNN_OUTCOME_OK], operators.keys.count);
        *arguments->some_failed = pdnn_session_has_failed(counts);
        pdnn_table_init(&table, &found_def);
        for (size_t i = 0; i < operators.keys.count; i++) {
            size_t row = pdnn_table_add_row(&table);
            pdnn_table_set_count(&table, row, MODELS, operators.facts[i].models);
            pdnn_table_set_count(&table, row, RUNS, operators.facts[i].runs);
            pdnn_table_set_count(&table, row, OPERAND_BYTES, operators.facts[i].bytes);
            pdnn_table_set_text(&table, row, OPERATOR, operators.keys.text[i]);
        }
        status = pdnn_table_print(&table, arguments, err);
    }
    pdnn_operators_finish(&operators);
    pdnn_cli_job_finish(&job);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const char *library = pdnn_argument(arguments, "library");
    struct pdnn_table table;
    if (arguments->n_operands)
        return run_models(arguments, err);
    if (pdnn_arguments_only(arguments, "without a SPEC", "library,format,columns", err) != PDNN_OK)
        return err->status;
    if (library && !pdnn_path_has(library, "operators.csv") && errno != EACCES)
        return pdnn_fail(err, PDNN_INVALID, "%s has no operators.csv", library);
    if (library) {
        enum pdnn_status status = pdnn_library_read(library, &table, err);
        if (status == PDNN_OK)
            return pdnn_table_print(&table, arguments, err);
        pdnn_table_finish(&table);
        return status;
    }
    pdnn_table_init(&table, &ops_def);
    for (const struct pdnn_op_def *const *op = pdnn_ops; *op; op++)
        add_row(&table, *op);
    return pdnn_table_print_prose(&table, arguments, err);
}

PDNN_COMMAND(ops, PDNN_COMMANDS_EXPLAIN, "[SPEC|ID...]", "Lists the operators, or what models consist of.",
             .run = run);
