#include "base/units.h"
#include "base/visible.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "session/session.h"
#include "runtime/driver/worker/worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char description[] =
    "Runs one step of each instance on its backend and on the reference, with the same data, "
    "and compares every tensor: forward results, gradients, updated weights. "
    "The error is the largest difference, relative to the largest value of the tensor or, "
    "where that value is what remains of terms that cancel, to the size of those terms. "
    "The table shows the worst tensor of each operator; CSV has all of them.\n\n"
    "The reference is simple, not fast: instances with more FLOP than --max-flop are skipped, "
    "and the summary says how many.";

static const struct pdnn_option_def options[] = {
    {"backend", 'b', "NAME", .choices = pdnn_backend_names,
     .help = "check this backend instead of the instance's own"},
    {"max-flop", 0, "N", .kind = PDNN_OPTION_NUMBER, .least = 0, .most = 1e30,
     .help = "skip instances with more FLOP per step (default: 2e10, about a minute)"},
    {"time", 0, "TIME", .kind = PDNN_OPTION_TIME,
     .help = "give up on an instance after TIME (default: ten times the spec's limits.time)"},
    PDNN_OPTION_SLOW,
    PDNN_OPTION_NO_CACHE,
    PDNN_OPTION_SET,
    PDNN_OPTION_LIBRARY,
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn check sweeps/smoke.yaml --backend openblas",
     "whether OpenBLAS computes every operator of these models correctly"},
};

/* The reference is that much slower than what a sweep's time limit is for. */
enum { LENIENCE = 10 };

enum verdict { PASS, FAIL, SKIP, VERDICTS };

struct check {
    struct pdnn_cli_job job;
    struct pdnn_worker worker;
    const volatile int *stop;
    double max_flop;
    uint64_t time_limit_ns; /* for one instance */
    bool for_people;
    size_t count[VERDICTS];
    struct pdnn_table table; /* of one instance */
    struct pdnn_table_writer printer;
};

enum { ID, OP, TENSOR, ERROR, TOLERANCE, STATUS, REASON, N_COLUMNS };

static const struct pdnn_column_def columns[N_COLUMNS] = {
    {"id", .help = "the instance"},
    {"op", .align = PDNN_ALIGN_CUT, .help = "op and pass, and the layer after a space"},
    {"tensor", .align = PDNN_ALIGN_CUT, .help = "what was compared"},
    {"error", NULL, NULL, PDNN_KIND_NUMBER, PDNN_SHOW_FACTOR, .blank = "NaN",
     .help = "the largest difference, relative"},
    {"tolerance", NULL, NULL, PDNN_KIND_NUMBER, PDNN_SHOW_FACTOR, .help = "what the error may be"},
    {"status", .help = "pass, fail or skip"},
    {"reason", .help = "why nothing was compared"},
};
static const struct pdnn_table_def def = {"check", "backends against the reference", columns, N_COLUMNS};

static double severity(const struct pdnn_check_row *row) {
    return isnan(row->error) ? INFINITY : row->error / row->tolerance;
}

/* tensor: NULL if nothing was compared. */
static void add_row(struct pdnn_table *table, const char *id, const struct pdnn_check_row *tensor,
                    const char *status, const char *reason) {
    size_t row = pdnn_table_add_row(table);
    pdnn_table_set_text(table, row, ID, id);
    pdnn_table_set_text(table, row, STATUS, status);
    pdnn_table_set_text(table, row, REASON, reason);
    if (!tensor)
        return;
    pdnn_table_set_text(table, row, OP, tensor->op);
    pdnn_table_set_text(table, row, TENSOR, tensor->tensor);
    pdnn_table_set_number(table, row, ERROR, tensor->error);
    pdnn_table_set_number(table, row, TOLERANCE, tensor->tolerance);
}

/* The first of the worst rows of this one's op. The layer comes after a space: all layers of one op and pass
 * count as the same op. */
static size_t worst_of(const struct pdnn_check_row *rows, size_t n_rows, size_t at) {
    const size_t length = strcspn(rows[at].op, " ");
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < n_rows; i++)
        if (strcspn(rows[i].op, " ") == length && strncmp(rows[i].op, rows[at].op, length) == 0 &&
            (worst == SIZE_MAX || severity(&rows[i]) > severity(&rows[worst])))
            worst = i;
    return worst;
}

/* Counts an instance, and prints what was compared or, where nothing was, why. */
static void report(struct check *check, const char *id, enum verdict verdict, const char *reason,
                   const struct pdnn_check_row *rows, size_t n_rows) {
    static const size_t columns_shown[] = {OP, TENSOR, ERROR, TOLERANCE, STATUS};
    static const char *const words[VERDICTS] = {"pass", "fail", "skip"}, *const heads[VERDICTS] = {
                                                                             "PASS", "FAIL", "SKIP"};
    char shown[PDNN_VISIBLE_TEXT];
    struct pdnn_row_list worst = {0};
    struct pdnn_str out = {0};
    for (size_t i = 0; i < n_rows; i++) {
        const bool passes = rows[i].error <= rows[i].tolerance; /* false for NaN */
        verdict = passes ? verdict : FAIL;
        add_row(&check->table, id, &rows[i], words[passes ? PASS : FAIL], "");
        if (worst_of(rows, n_rows, i) == i)
            pdnn_rows_add(&worst, i);
    }
    check->count[verdict]++;
    if (!n_rows)
        add_row(&check->table, id, NULL, words[verdict], reason);
    if (check->for_people) {
        pdnn_str_printf(&out, "%s  %s%s%s\n", heads[verdict], id, *reason ? ": " : "",
                        pdnn_visible(shown, reason));
        if (n_rows)
            pdnn_table_show(&out, &check->table, &worst, columns_shown,
                            sizeof columns_shown / sizeof *columns_shown);
        pdnn_text_print(&out, false);
    } else {
        pdnn_table_print_rows(&check->printer, &check->table, NULL, NULL);
    }
    pdnn_table_clear(&check->table);
    pdnn_rows_finish(&worst);
}

static enum pdnn_status check_one(struct check *check, size_t at, struct pdnn_err *err) {
    const struct pdnn_session *session = &check->job.session;
    const struct pdnn_task *task = &session->tasks[at];
    const struct pdnn_worker_kind kind = pdnn_session_kind(session, at);
    char reason[128], flop[PDNN_UNIT_TEXT], most[PDNN_UNIT_TEXT];
    snprintf(reason, sizeof reason, "%s, more than the %s of --max-flop",
             pdnn_format_si(flop, (double)task->flop_count, "FLOP"),
             pdnn_format_si(most, check->max_flop, "FLOP"));
    if (task->closed || (double)task->flop_count > check->max_flop) {
        report(check, task->id, SKIP, task->closed ? session->rows[at].reason : reason, NULL, 0);
        return PDNN_OK;
    }
    pdnn_progress_tell(&check->job.bar, false);
    if (!pdnn_worker_is(&check->worker, kind))
        pdnn_worker_stop(&check->worker);
    if (!check->worker.pid &&
        pdnn_worker_start(&check->worker, &session->host, kind, session->memory_limit_bytes, err) != PDNN_OK)
        return err->status;
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    struct pdnn_err cause = {0};
    struct pdnn_request request = {.seed = session->spec.seed,
                                   .memory_limit_bytes = session->memory_limit_bytes,
                                   .allow_slow = session->allow_slow};
    snprintf(request.id, sizeof request.id, "%s", task->id);
    snprintf(request.choices, sizeof request.choices, "%s", session->cache);
    const struct pdnn_watch watch = {.time_limit_ns = check->time_limit_ns, .stop = check->stop};
    enum pdnn_status status = pdnn_worker_check(&check->worker, &request, &watch, &rows, &n_rows, &cause);
    if (status == PDNN_INTERRUPTED)
        return pdnn_fail(err, status, "%s", cause.text);
    const enum verdict verdict = status == PDNN_OK && n_rows                            ? PASS
                                 : status == PDNN_UNSUPPORTED || status == PDNN_TOO_BIG ? SKIP
                                                                                        : FAIL;
    report(check, task->id, verdict, cause.text, rows, n_rows);
    free(rows);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct check check = {.max_flop = pdnn_argument_number(arguments, "max-flop", 2e10),
                          .for_people = pdnn_wants_text(arguments)};
    const size_t *count = check.count;
    pdnn_cli_job_begin(&check.job, arguments);
    pdnn_cli_job_set(&check.job, "backend", "run.backend", NULL);
    enum pdnn_status status = pdnn_cli_job_open(&check.job, err);
    check.time_limit_ns =
        pdnn_argument_time(arguments, "time", LENIENCE * check.job.session.spec.limits.time_ns);
    check.stop = pdnn_interrupt_watch();
    check.printer = pdnn_table_printer(arguments);
    pdnn_table_init(&check.table, &def);
    if (status == PDNN_OK && !check.for_people)
        status = pdnn_table_print_rows(&check.printer, &check.table, NULL, err);
    for (size_t i = 0; i < check.job.session.n_tasks && status == PDNN_OK && !ferror(stdout); i++)
        status = check_one(&check, i, err);
    pdnn_worker_stop(&check.worker);
    pdnn_table_print_end(&check.printer);
    pdnn_table_finish(&check.table);
    if (status == PDNN_OK)
        fprintf(stderr, "%zu passed, %zu failed, %zu skipped%s\n", count[PASS], count[FAIL], count[SKIP],
                count[PASS] + count[FAIL] ? "" : ": nothing was compared");
    *arguments->some_failed = count[FAIL] > 0;
    pdnn_cli_job_finish(&check.job);
    return status;
}

PDNN_COMMAND(check, PDNN_COMMANDS_MEASURE, "ID|SPEC...",
             "Compares a backend with the reference, tensor by tensor.", .run = run);
