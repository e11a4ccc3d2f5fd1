#include "base/units.h"
#include "gen/instances.h"
#include "base/visible.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "session/session.h"
#include "results/table/csv.h"
#include "runtime/driver/worker.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const paragraphs[] = {
    "Runs one step of each instance on its backend and on the reference, with the same data, "
    "and compares every tensor: forward results, gradients, updated weights. "
    "The error is the largest difference, relative to the largest value of the tensor or, "
    "where that value is what remains of terms that cancel, to the size of those terms. "
    "The table shows the worst tensor of each operator; CSV has all of them.",
    "The reference is simple, not fast: instances with more FLOP than --max-flop are skipped, "
    "and the summary says how many.",
    NULL,
};

static const struct pdnn_option_def options[] = {
    {"backend", 'b', "NAME", pdnn_backend_names, false, "check this backend instead of the instance's own"},
    {"max-flop", 0, "N", NULL, false,
     "skip instances with more FLOP per step (default: 2e10, about a minute)"},
    {"time", 0, "TIME", NULL, false,
     "give up on an instance after TIME (default: ten times the spec's limits.time)"},
    PDNN_OPTION_SLOW,
    PDNN_OPTION_NO_CACHE,
    PDNN_OPTION_SET,
    PDNN_OPTION_FORMAT,
};

static const struct pdnn_example examples[] = {
    {"paradnn check sweeps/smoke.yaml --backend openblas",
     "whether OpenBLAS computes every operator of these models correctly"},
};

/* The reference is that much slower than what a sweep's time limit is for. */
enum { LENIENCE = 10 };

struct check {
    struct pdnn_session session;
    struct pdnn_worker worker;
    const volatile int *stop;
    double max_flop;
    uint64_t time_limit_ns; /* for one instance */
    bool csv, allow_slow;
    size_t passed, failed, skipped;
};

static const struct pdnn_sheet_column columns[] = {
    {"op", PDNN_ALIGN_CUT},          {"tensor", PDNN_ALIGN_CUT}, {"error", PDNN_ALIGN_RIGHT},
    {"tolerance", PDNN_ALIGN_RIGHT}, {"", PDNN_ALIGN_LEFT},
};

static bool row_passes(const struct pdnn_check_row *row) {
    return row->error <= row->tolerance; /* false for NaN */
}

static double severity(const struct pdnn_check_row *row) {
    return isnan(row->error) ? INFINITY : row->error / row->tolerance;
}

static void print_csv_row(const char *id, const struct pdnn_check_row *row, const char *status,
                          const char *reason) {
    struct pdnn_str line = {0};
    struct pdnn_csv_writer writer = {.out = &line};
    pdnn_csv_put_text(&writer, id);
    pdnn_csv_put_text(&writer, row ? row->op : "");
    pdnn_csv_put_text(&writer, row ? row->tensor : "");
    pdnn_csv_put_number(&writer, row ? row->error : NAN, PDNN_DIGITS_TABLE);
    pdnn_csv_put_number(&writer, row ? row->tolerance : NAN, PDNN_DIGITS_TABLE);
    pdnn_csv_put_text(&writer, status);
    pdnn_csv_put_text(&writer, reason);
    pdnn_csv_end_row(&writer);
    fputs(pdnn_str_text(&line), stdout);
    pdnn_str_finish(&line);
}

/* The layer comes after a space, so all layers of one op and pass count as the same
 * op: one line reports the worst. */
static bool same_op(const struct pdnn_check_row *a, const struct pdnn_check_row *b) {
    size_t length = strcspn(a->op, " ");
    return length == strcspn(b->op, " ") && strncmp(a->op, b->op, length) == 0;
}

/* True if another row of the same op is worse, or equally bad and earlier. */
static bool is_outdone(const struct pdnn_check_row *rows, size_t n_rows, size_t at) {
    for (size_t i = 0; i < n_rows; i++) {
        if (i == at || !same_op(&rows[i], &rows[at]))
            continue;
        double other = severity(&rows[i]), mine = severity(&rows[at]);
        if (other > mine || (other == mine && i < at))
            return true;
    }
    return false;
}

static void print_rows(const struct pdnn_check_row *rows, size_t n_rows) {
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < n_rows; i++) {
        if (is_outdone(rows, n_rows, i))
            continue;
        pdnn_sheet_cell(&table, "%s", rows[i].op);
        pdnn_sheet_cell(&table, "%s", rows[i].tensor);
        pdnn_sheet_cell(&table, "%.2e", rows[i].error);
        pdnn_sheet_cell(&table, "%.2e", rows[i].tolerance);
        pdnn_sheet_cell(&table, "%s", row_passes(&rows[i]) ? "ok" : "FAIL");
    }
    pdnn_sheet_print(&table, false);
    pdnn_sheet_finish(&table);
}

static void report(struct check *check, const char *id, const struct pdnn_check_row *rows, size_t n_rows) {
    bool passes = n_rows > 0;
    for (size_t i = 0; i < n_rows; i++)
        passes = passes && row_passes(&rows[i]);
    check->passed += passes;
    check->failed += !passes;
    if (!check->csv) {
        printf("%s  %s\n", passes ? "PASS" : "FAIL", id);
        print_rows(rows, n_rows);
        return;
    }
    for (size_t i = 0; i < n_rows; i++)
        print_csv_row(id, &rows[i], row_passes(&rows[i]) ? "pass" : "fail", "");
}

static void report_without_rows(const struct check *check, const char *id, const char *status,
                                const char *reason) {
    char shown[PDNN_VISIBLE_TEXT];
    if (check->csv)
        print_csv_row(id, NULL, status, reason);
    else
        printf("%s  %s: %s\n", strcmp(status, "skip") == 0 ? "SKIP" : "FAIL", id,
               pdnn_visible(shown, reason));
}

static void skip(struct check *check, const char *id, const char *reason) {
    check->skipped++;
    report_without_rows(check, id, "skip", reason);
}

/* Makes sure a worker with this isa is running. */
static enum pdnn_status make_alive(struct check *check, enum pdnn_isa isa, struct pdnn_err *err) {
    const struct pdnn_session *session = &check->session;
    if (check->worker.pid && check->worker.isa != isa)
        pdnn_worker_stop(&check->worker);
    if (check->worker.pid)
        return PDNN_OK;
    return pdnn_worker_start(&check->worker, &session->host, isa, session->memory_limit_bytes, err);
}

static enum pdnn_status check_one(struct check *check, size_t at, struct pdnn_err *err) {
    const struct pdnn_session *session = &check->session;
    const struct pdnn_task *task = &session->tasks[at];
    char reason[128];
    if (task->closed) {
        skip(check, task->id, *session->rows[at].reason ? session->rows[at].reason : "filtered");
        return PDNN_OK;
    }
    if ((double)task->flop_count > check->max_flop) {
        snprintf(reason, sizeof reason, "%.3g FLOP, more than --max-flop %.3g", (double)task->flop_count,
                 check->max_flop);
        skip(check, task->id, reason);
        return PDNN_OK;
    }
    if (make_alive(check, (enum pdnn_isa)task->instance.setting[PDNN_SETTING_ISA], err) != PDNN_OK)
        return err->status;
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    struct pdnn_err cause = {0};
    struct pdnn_request request = {.seed = session->spec.seed,
                                   .memory_limit_bytes = session->memory_limit_bytes,
                                   .allow_slow = check->allow_slow};
    snprintf(request.id, sizeof request.id, "%s", task->id);
    snprintf(request.choices, sizeof request.choices, "%s", session->cache);
    enum pdnn_status status = pdnn_worker_check(&check->worker, &request, check->time_limit_ns, check->stop,
                                                &rows, &n_rows, &cause);
    if (status == PDNN_OK) {
        report(check, task->id, rows, n_rows);
        free(rows);
        return status;
    }
    if (status == PDNN_INTERRUPTED)
        return pdnn_fail(err, status, "%s", cause.text);
    if (status == PDNN_UNSUPPORTED || status == PDNN_TOO_BIG) {
        skip(check, task->id, cause.text);
        return PDNN_OK;
    }
    check->failed++;
    report_without_rows(check, task->id, "fail", cause.text);
    return PDNN_OK;
}

/* Puts the backend into every task; instances that differed only in the backend become one. */
static enum pdnn_status replace_backend(struct pdnn_session *session, const char *name,
                                        struct pdnn_err *err) {
    struct pdnn_instance_set seen = {0};
    enum pdnn_status status = PDNN_OK;
    struct pdnn_value backend;
    size_t kept = 0;
    if (pdnn_param_parse(&pdnn_settings[PDNN_SETTING_BACKEND], name, &backend, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < session->n_tasks && status == PDNN_OK; i++) {
        struct pdnn_task task = session->tasks[i];
        char text[PDNN_ID_TEXT];
        bool is_new = false;
        task.instance.setting[PDNN_SETTING_BACKEND] = backend.number;
        task.id = pdnn_arena_strdup(&session->arena, pdnn_instance_format(&task.instance, text));
        status = pdnn_instance_set_add(&seen, &task.instance, &is_new, err);
        if (!is_new)
            continue;
        session->rows[kept] = session->rows[i];
        session->tasks[kept++] = task;
    }
    session->n_tasks = kept;
    pdnn_instance_set_finish(&seen);
    return status;
}

static enum pdnn_status prepare(struct check *check, const struct pdnn_arguments *arguments,
                                struct pdnn_err *err) {
    const char **sets;
    size_t n_sets;
    const char *max_flop = pdnn_argument(arguments, "max-flop"),
               *backend = pdnn_argument(arguments, "backend");
    check->max_flop = 2e10;
    check->csv = pdnn_wants_csv(arguments);
    check->allow_slow = pdnn_argument(arguments, "allow-slow");
    if (max_flop && (!pdnn_parse_double(max_flop, &check->max_flop) || check->max_flop < 0))
        return pdnn_fail(err, PDNN_INVALID, "--max-flop is '%s', expected a number", max_flop);
    pdnn_argument_all(arguments, "set", &sets, &n_sets);
    enum pdnn_status status =
        pdnn_session_open(&check->session, arguments->operands, arguments->n_operands, sets, n_sets, err);
    free(sets);
    check->time_limit_ns = LENIENCE * check->session.spec.limits.time_ns;
    if (status == PDNN_OK)
        status = pdnn_argument_time(arguments, "time", &check->time_limit_ns, err);
    if (status == PDNN_OK && backend)
        status = replace_backend(&check->session, backend, err);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    struct check check = {0};
    check.session.no_cache = pdnn_argument(arguments, "no-cache");
    enum pdnn_status status = prepare(&check, arguments, err);
    check.stop = pdnn_interrupt_watch();
    if (status == PDNN_OK && check.csv)
        printf("id,op,tensor,error,tolerance,status,reason\n");
    for (size_t i = 0; i < check.session.n_tasks && status == PDNN_OK && !ferror(stdout); i++) {
        status = check_one(&check, i, err);
        fflush(stdout);
    }
    pdnn_worker_stop(&check.worker);
    if (status == PDNN_OK)
        fprintf(stderr, "%zu passed, %zu failed, %zu skipped\n", check.passed, check.failed, check.skipped);
    /* If nothing was compared, that is not a success. */
    *some_failed = check.failed > 0 || check.passed == 0;
    pdnn_session_finish(&check.session);
    return status;
}

const struct pdnn_command_def pdnn_command_check = {
    .name = "check",
    .summary = "Compares a backend with the reference, tensor by tensor.",
    .operands = "ID|SPEC...",
    .min_operands = 1,
    .max_operands = PDNN_OPERANDS_ANY,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .resolves_threads = true,
    .run = run,
};
