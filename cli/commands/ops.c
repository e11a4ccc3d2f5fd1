#include "base/str.h"
#include "base/texts.h"
#include "base/visible.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "models/family.h"
#include "models/op.h"
#include "models/zoo/catalog.h"
#include "results/store/library.h"
#include "session/compose/operators.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char description[] =
    "Lists the operators that models are built from: what each computes, which passes it has, and which operators the "
    "setting fuse may run inside it (hosts).\n\n"
    "With the name of an operator, or several, lists what it reads, how its weights are sized and filled, what it is "
    "given and what it returns. Sizes and defaults are expressions: x.channels is a dimension of the operand x, and n the inputs of a unit, which is "
    "the product of the weight's dimensions but the first. stride stands for stride_h and stride_w, and so on. rnn is also the "
    "name of a family: rnn/layers=1 is a model of it.\n\n"
    "With specs or ids, lists what those models consist of as their backend would run them: how many models have each "
    "distinct operator, and how often it runs in one step of each, added up. Behind each operand's bytes stands how "
    "much other data the model touches between its last use and this one, rounded to a power of two: 64KiB is in the "
    "nearest cache, twice the last cache or more in none; * after it: that use wrote it. =0 is an operand in the "
    "memory of operand 0. No model runs or takes memory, but implementations are chosen by measuring, as in a sweep.";

static const struct pdnn_option_def options[] = {
    {"operators", 0, "DIR", .former = "library",
     .help = "list the measured operators in DIR/operators.csv, which paradnn compose keeps there"},
    PDNN_OPTIONS_MEASURE,
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn ops", "all kinds of operators"},
    {"paradnn ops conv2d", "what a convolution reads and is given"},
    {"paradnn ops fc/layers=8,nodes=1024,batch=64", "what this model consists of"},
    {"paradnn ops sweeps/fc.yaml --format csv", "how few operators a whole sweep consists of"},
    {"paradnn ops --operators fc.composed", "what paradnn compose measured there"},
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

enum { KIND, NAME, GIVEN, VALUES, DEFAULT, N_ROW_COLUMNS };
static const struct pdnn_column_def row_columns[N_ROW_COLUMNS] = {
    [KIND] =
        {"kind",
         .help =
             "formula; when, a condition without which it is left out; data, ids, label, weight or state, which it reads; attribute or coefficient; output"},
    [NAME] = {"name", .align = PDNN_ALIGN_WRAP, .help = "of the operator, and what it calls its own"},
    [GIVEN] =
        {"given", .align = PDNN_ALIGN_WRAP,
         .help =
             "required, optional, several (one or more), or data: a result may take the weight's place; never: "
             "always its default"},
    [VALUES] = {"values", .align = PDNN_ALIGN_WRAP, .help = "formula, dimensions, or words that it may be"},
    [DEFAULT] = {"default", .align = PDNN_ALIGN_WRAP,
                 .help = "what it is or how it is filled where nothing is said"},
};
static const struct pdnn_table_def row_def = {"ops OP", "what an operator reads and is given", row_columns,
                                              N_ROW_COLUMNS};

/* Appends the values that a weight or state begins with: "+-sqrt(6 / n)". */
static void append_fill(struct pdnn_str *out, const struct pdnn_operand *operand) {
    const char *n = operand->inputs ? operand->inputs : "n";
    const bool is_random = operand->fill == PDNN_FILL_UNIFORM || operand->fill == PDNN_FILL_NEAR_ONE;
    const char *sign = is_random ? "+-" : "";
    if (operand->fill == PDNN_FILL_NEAR_ONE)
        pdnn_str_printf(out, "1 ");
    if (operand->range == PDNN_RANGE_FIXED)
        pdnn_str_printf(out, "%s%g", sign, operand->scale);
    if (operand->range == PDNN_RANGE_HE || operand->range == PDNN_RANGE_INIT)
        pdnn_str_printf(out, "%ssqrt(6 / %s)", sign, n);
    if (operand->range == PDNN_RANGE_INIT)
        pdnn_str_printf(out, " with init: he, ");
    if (operand->range == PDNN_RANGE_LINEAR || operand->range == PDNN_RANGE_INIT)
        pdnn_str_printf(out, "%s1 / sqrt(%s)", sign, n);
    if (operand->range == PDNN_RANGE_INIT)
        pdnn_str_printf(out, " with init: linear");
}

static void add_operand(struct pdnn_table *table, const struct pdnn_operand *operand) {
    struct pdnn_str fill = {0};
    const char *given = operand->optional  ? "optional"
                        : operand->many    ? "several"
                        : operand->or_data ? "or data"
                        : operand->shape   ? NULL
                                           : "required";
    if (operand->shape)
        append_fill(&fill, operand);
    const char *const texts[] = {pdnn_operand_kind_name(operand->kind), operand->name, given, operand->shape,
                                 fill.length ? pdnn_str_text(&fill) : NULL};
    pdnn_table_add_texts(table, N_ROW_COLUMNS, texts);
    pdnn_str_finish(&fill);
}

/* What transforms and optimizers append is given nothing by families. */
static void add_attribute(struct pdnn_table *table, const struct pdnn_op_def *op,
                          const struct pdnn_attribute *row) {
    const bool is_named = op->operands[0].name;
    struct pdnn_str words = {0}, value = {0};
    for (const char *const *word = row->words; word && *word; word++)
        pdnn_str_printf(&words, "%s%s", words.length ? "|" : "", *word);
    if (row->fallback)
        pdnn_str_printf(&value, "%s", row->fallback);
    else if (row->words)
        pdnn_str_printf(&value, "%s", row->words[0]);
    else if (row->is_pattern)
        pdnn_str_printf(&words, "names of axes, whose sizes stand beside it");
    else if (is_named && !row->required)
        pdnn_str_printf(&value, "%g", row->coefficient ? op->coef[row->index] : 0);
    const char *const texts[] = {row->coefficient ? "coefficient" : "attribute", row->name,
                                 row->derived || !is_named ? "never"
                                 : row->required           ? "required"
                                                           : "optional",
                                 words.length ? pdnn_str_text(&words) : NULL,
                                 value.length ? pdnn_str_text(&value) : NULL};
    pdnn_table_add_texts(table, N_ROW_COLUMNS, texts);
    pdnn_str_finish(&words);
    pdnn_str_finish(&value);
}

static void add_op(struct pdnn_table *table, const struct pdnn_op_def *op) {
    pdnn_table_add_texts(table, N_ROW_COLUMNS - 1,
                         (const char *const[]){"formula", op->name, NULL, op->formula});
    if (op->when)
        pdnn_table_add_texts(table, N_ROW_COLUMNS - 1,
                             (const char *const[]){"when", op->name, NULL, op->when});
    for (const struct pdnn_operand *operand = op->operands; operand->name; operand++)
        add_operand(table, operand);
    for (const struct pdnn_attribute *row = op->attributes; row->name; row++)
        if (!row->is_size)
            add_attribute(table, op, row);
    for (int k = 0; op->outputs[k]; k++)
        pdnn_table_add_texts(table, 2, (const char *const[]){"output", op->outputs[k]});
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
        status = pdnn_operators_collect(&operators, session, workers, &rules,
                                        &(struct pdnn_operators_order){.seconds = -1}, err);
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

static enum pdnn_status run_ops(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_table table;
    if (pdnn_arguments_only(arguments, "OP", "format,columns", err) != PDNN_OK)
        return err->status;
    pdnn_table_init(&table, &row_def);
    for (size_t i = 0; i < arguments->n_operands; i++)
        add_op(&table, pdnn_op_find(arguments->operands[i]));
    return pdnn_table_print_prose(&table, arguments, err);
}

/* Refuses what is no model, but an operator or the like of one's name. */
static enum pdnn_status check_model(const char *name, struct pdnn_err *err) {
    struct pdnn_model_name model;
    struct pdnn_texts ops = {0};
    char buffer[PDNN_SUGGESTION_TEXT];
    if (name[strcspn(name, "/,:.")] || pdnn_model_find(name, false, &model, NULL) == PDNN_OK ||
        access(name, F_OK) == 0)
        return PDNN_OK;
    if (pdnn_op_find(name))
        return pdnn_fail(err, PDNN_INVALID, "'%s' is an operator: operators and models are listed apart",
                         name);
    for (const struct pdnn_op_def *const *op = pdnn_ops; *op; op++)
        pdnn_texts_add(&ops, (*op)->name);
    const char *hint = pdnn_suggest(buffer, name, ops.text, ops.count);
    pdnn_texts_finish(&ops);
    return *hint ? pdnn_fail(err, PDNN_INVALID, "unknown operator '%s'%s", name, hint) : PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const char *measured = pdnn_argument(arguments, "operators");
    struct pdnn_table table;
    size_t n_ops = 0;
    for (size_t i = 0; i < arguments->n_operands; i++)
        n_ops += pdnn_op_find(arguments->operands[i]) != NULL;
    if (n_ops && n_ops == arguments->n_operands)
        return run_ops(arguments, err);
    for (size_t i = 0; i < arguments->n_operands; i++)
        if (check_model(arguments->operands[i], err) != PDNN_OK)
            return err->status;
    if (arguments->n_operands)
        return run_models(arguments, err);
    if (pdnn_arguments_only(arguments, "without a SPEC", "operators,format,columns", err) != PDNN_OK)
        return err->status;
    if (measured && !pdnn_path_has(measured, "operators.csv") && errno != EACCES)
        return pdnn_fail(err, PDNN_INVALID, "%s has no operators.csv", measured);
    if (measured) {
        enum pdnn_status status = pdnn_library_read(measured, &table, err);
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

PDNN_COMMAND(ops, PDNN_COMMANDS_EXPLAIN, "[OP|SPEC|ID...]",
             "Lists the operators, what one reads and is given, or what models consist of.", .run = run);
