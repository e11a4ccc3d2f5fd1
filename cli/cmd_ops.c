#include "cli/output.h"
#include "cli/registry.h"
#include "models/op.h"

static const char *const paragraphs[] = {
    "Lists the operators that models are built from: what each computes, which passes it has, "
    "and which operators the setting fuse may run inside it (hosts).",
    NULL,
};

static const struct pdnn_option_def options[] = {PDNN_OPTION_FORMAT};

static const struct pdnn_table_column columns[] = {
    {"op", PDNN_ALIGN_WRAP},    {"category", PDNN_ALIGN_WRAP}, {"passes", PDNN_ALIGN_WRAP},
    {"hosts", PDNN_ALIGN_WRAP}, {"formula", PDNN_ALIGN_WRAP},
};

/* The ops that may be fused into some pass of this op. */
static void add_posts(struct pdnn_str *text, const struct pdnn_op_def *op) {
    for (const struct pdnn_op_def *const *post = pdnn_ops; *post; post++) {
        bool hosted = false;
        for (int pass = 0; pass < PDNN_PASS_COUNT; pass++)
            hosted = hosted || pdnn_op_takes(op, (enum pdnn_pass)pass, *post);
        if (hosted)
            pdnn_str_printf(text, "%s%s", text->length ? "|" : "", (*post)->name);
    }
}

static void add_row(struct pdnn_table *table, const struct pdnn_op_def *op) {
    struct pdnn_str passes = {0}, posts = {0};
    add_posts(&posts, op);
    for (int pass = 0; pass < PDNN_PASS_COUNT; pass++)
        if (op->pass[pass].flop)
            pdnn_str_printf(&passes, "%s%s", passes.length ? "|" : "", pdnn_pass_name((enum pdnn_pass)pass));
    pdnn_table_cell(table, "%s", op->name);
    pdnn_table_cell(table, "%s", op->category);
    pdnn_table_cell(table, "%s", pdnn_str_text(&passes));
    pdnn_table_cell(table, "%s", pdnn_str_text(&posts));
    pdnn_table_cell(table, "%s", op->formula);
    pdnn_str_finish(&passes);
    pdnn_str_finish(&posts);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    struct pdnn_table table;
    pdnn_table_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (const struct pdnn_op_def *const *op = pdnn_ops; *op; op++)
        add_row(&table, *op);
    enum pdnn_status status = pdnn_table_print(&table, pdnn_wants_csv(arguments), err);
    pdnn_table_finish(&table);
    return status;
}

const struct pdnn_command_def pdnn_command_ops = {
    .name = "ops",
    .summary = "Lists the operators.",
    .operands = "",
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
