/* Memory that has the size of a tensor is asked for: where there is none, that becomes an outcome. The worker
 * runs with an allocator that notes what is taken without asking, and that refuses one request after the
 * other. */
#include "tests/asan_lets_fail.h"
#include "tests/cmocka_all.h"

#include "base/memory.h"
#include "runtime/worker/check.h"
#include "runtime/worker/operators.h"
#include "runtime/worker/visit.h"

#include <stdlib.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_reference, pdnn_backend_onednn;
const struct pdnn_backend_def *const pdnn_backends[] = {&pdnn_backend_onednn, &pdnn_backend_reference, NULL};

/* The linker's --wrap sends calls to the first of each pair; the second is the program's own. */
void *__wrap_pdnn_alloc(size_t count, size_t size);
void *__real_pdnn_alloc(size_t count, size_t size);
void *__wrap_pdnn_ask(size_t bytes, const char *purpose, struct pdnn_err *err);
void *__real_pdnn_ask(size_t bytes, const char *purpose, struct pdnn_err *err);

static size_t most_taken, n_asked, refused;

void *__wrap_pdnn_alloc(size_t count, size_t size) {
    most_taken = count * size > most_taken ? count * size : most_taken;
    return __real_pdnn_alloc(count, size);
}

void *__wrap_pdnn_ask(size_t bytes, const char *purpose, struct pdnn_err *err) {
    return __real_pdnn_ask(++n_asked == refused ? SIZE_MAX / 2 : bytes, purpose, err);
}

enum { WEIGHT_BYTES = 4 * 1024 * 2048 };

static const struct pdnn_request usual = {
    .id = "fc/layers=2,nodes=1024,input=2048,output=1024,batch=2,mode=infer,threads=1",
    .rules = {.min_samples = 1, .max_visit_ns = 1, .precision = 1},
};

static enum pdnn_status check(struct pdnn_process *process) {
    struct pdnn_check_row *rows = NULL;
    size_t n_rows;
    enum pdnn_status status = pdnn_check_run(process, &usual, &rows, &n_rows, NULL);
    free(rows);
    return status;
}

static enum pdnn_status status_of(struct pdnn_visit *visit) {
    enum pdnn_outcome outcome = visit->outcome;
    pdnn_visit_finish(visit);
    return outcome == PDNN_OUTCOME_OK    ? PDNN_OK
           : outcome == PDNN_OUTCOME_OOM ? PDNN_NO_MEMORY
                                         : PDNN_INTERNAL;
}

static enum pdnn_status visit(struct pdnn_process *process) {
    struct pdnn_visit visit = {0};
    pdnn_visit_run(process, &usual, &visit);
    return status_of(&visit);
}

static enum pdnn_status measure_operator(struct pdnn_process *process) {
    struct pdnn_operator_request request = {.request = usual};
    const struct pdnn_operator *operators;
    struct pdnn_operator_time *times;
    struct pdnn_visit visit;
    size_t count;
    pdnn_operators_list(process, &usual, &visit, &operators, &count);
    if (visit.outcome != PDNN_OUTCOME_OK)
        return status_of(&visit);
    memcpy(request.key, operators[0].key, sizeof request.key);
    pdnn_visit_finish(&visit);
    pdnn_operator_measure(process, &request, &visit, &times, &count);
    free(times);
    return status_of(&visit);
}

static void test_tensors_are_asked_for(void **state) {
    static const struct {
        const char *name;
        enum pdnn_status (*run)(struct pdnn_process *process);
    } jobs[] = {{"a check", check}, {"a visit", visit}, {"an operator", measure_operator}};
    struct pdnn_process process = {.fd = -1};
    struct pdnn_err err = {0};
    (void)state;
    assert_int_equal(pdnn_host_read(&process.host, &err), PDNN_OK);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        enum pdnn_status status = PDNN_NO_MEMORY;
        most_taken = 0;
        for (refused = 1; status == PDNN_NO_MEMORY; refused++) {
            n_asked = 0;
            status = jobs[i].run(&process);
            if (n_asked >= refused && status != PDNN_NO_MEMORY)
                fail_msg("%s: refused memory is status %d", jobs[i].name, status);
        }
        assert_int_equal(status, PDNN_OK);
        assert_true(n_asked > 0);
        if (most_taken >= WEIGHT_BYTES)
            fail_msg("%s takes %zu bytes at once without asking", jobs[i].name, most_taken);
    }
    pdnn_operators_close(&process);
    pdnn_process_finish(&process);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tensors_are_asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
