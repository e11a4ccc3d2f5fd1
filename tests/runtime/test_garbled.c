/* Answers that a driver must not believe, from a worker whose memory is corrupt: this program is its own
 * worker, and the variable PDNN_TEST_GARBLED says what it answers. */
#define _DEFAULT_SOURCE
#include "runtime/driver/worker/worker.h"
#include "runtime/driver/worker/worker_program.h"
#include "runtime/protocol/check.h"
#include "runtime/protocol/protocol.h"
#include "tests/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char variable[] = "PDNN_TEST_GARBLED", garbled[] = "the worker's answer was garbled";

static const struct pdnn_watch unwatched;
static const struct pdnn_host host = {.threads = 2, .core_pu = {0, 1}};
static const struct pdnn_request request = {.id = "none"}; /* the worker is sent no family */

/* The texts in answers; the one of the variable's number is filled to its end. */
#define TEXT(kind, type, member)                                                                             \
    {                                                                                                        \
        PDNN_MESSAGE_##kind, sizeof(struct type), offsetof(struct type, member),                             \
            sizeof((struct type *)0)->member                                                                 \
    }
static const struct {
    enum pdnn_message_kind kind;
    size_t bytes, offset, length;
} texts[] = {
    TEXT(VISIT, pdnn_visit_op, key),
    TEXT(VISIT, pdnn_visit_op, layer),
    TEXT(VISIT, pdnn_visit_op, implementation),
    TEXT(ROOFS, pdnn_roof_row, kind),
    TEXT(ROOFS, pdnn_roof_row, pattern),
    TEXT(ROOFS, pdnn_roof_row, dtype),
    TEXT(ROOFS, pdnn_roof_row, level),
    TEXT(ROOFS, pdnn_roof_row, host),
    TEXT(CHECK, pdnn_check_row, op),
    TEXT(CHECK, pdnn_check_row, tensor),
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void send_welcome(int fd, const char *what) {
    struct pdnn_welcome welcome = {.software = {1, {{"reference", "naive"}}}};
    const struct pdnn_part part = {&welcome, sizeof welcome};
    memcpy(welcome.build, pdnn_build, sizeof welcome.build);
    if (strcmp(what, "version") == 0)
        memset(welcome.software.row[0].version, 'x', sizeof welcome.software.row[0].version);
    if (strcmp(what, "backend") == 0)
        memset(welcome.software.row[0].backend, 'x', sizeof welcome.software.row[0].backend);
    if (strcmp(what, "count") == 0)
        welcome.software.count = PDNN_SOFTWARE_MAX + 1;
    pdnn_message_send(fd, PDNN_MESSAGE_HELLO, &part, 1, NULL);
}

static void send_row(int fd, enum pdnn_message_kind kind, const char *what) {
    static char row[4096];
    const struct pdnn_visit visit = {.n_ops = 1};
    size_t i = strtoul(what, NULL, 10), bytes = 0;
    for (size_t k = 0; k < TEXTS; k++)
        bytes = texts[k].kind == kind ? texts[k].bytes : bytes;
    const struct pdnn_part parts[] = {{&visit, kind == PDNN_MESSAGE_VISIT ? sizeof visit : 0}, {row, bytes}};
    if (i < TEXTS && texts[i].kind == kind)
        memset(row + texts[i].offset, 'x', texts[i].length);
    pdnn_message_send(fd, kind, parts, 2, NULL);
}

static int be_worker(int fd) {
    struct pdnn_inbox inbox = {0};
    struct pdnn_message message;
    const char *what = getenv(variable);
    bool ended = false;
    while (!ended) {
        if (pdnn_inbox_next(&inbox, &message) != PDNN_INBOX_MESSAGE) {
            if (pdnn_inbox_receive(&inbox, fd, &ended, NULL) != PDNN_OK)
                break;
        } else if (message.kind == PDNN_MESSAGE_HELLO) {
            send_welcome(fd, what);
        } else if (strcmp(what, "no reason") == 0) {
            const struct pdnn_err err = {.status = PDNN_UNSUPPORTED};
            const struct pdnn_part part = {&err, sizeof err};
            pdnn_message_send(fd, PDNN_MESSAGE_FAILED, &part, 1, NULL);
        } else {
            send_row(fd, message.kind, what);
        }
    }
    pdnn_inbox_finish(&inbox);
    return 0;
}

/* Asks for everything. endless: of which kind the answer must be refused. */
static void ask_all(const char *what, enum pdnn_message_kind endless) {
    static struct pdnn_roof_rows roof_rows;
    static const enum pdnn_message_kind kinds[] = {PDNN_MESSAGE_VISIT, PDNN_MESSAGE_ROOFS,
                                                   PDNN_MESSAGE_CHECK};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool is_refused = kinds[i] == endless;
        struct pdnn_worker worker;
        struct pdnn_visit visit = {0};
        struct pdnn_check_row *rows = NULL;
        struct pdnn_err err = {0};
        size_t n_rows = 0;
        enum pdnn_status status;
        setenv(variable, what, 1);
        assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), PDNN_OK);
        roof_rows.count = 0;
        if (kinds[i] == PDNN_MESSAGE_VISIT) {
            assert_int_equal(pdnn_worker_visit(&worker, &request, &unwatched, &visit, &err), PDNN_OK);
            assert_int_equal(visit.outcome, is_refused ? PDNN_OUTCOME_CRASH : PDNN_OUTCOME_OK);
            assert_string_equal(visit.reason, is_refused ? garbled : "");
        } else {
            status = kinds[i] == PDNN_MESSAGE_ROOFS
                         ? pdnn_worker_roofs(&worker, 2, 1, &unwatched, &roof_rows, &err)
                         : pdnn_worker_check(&worker, &request, &unwatched, &rows, &n_rows, &err);
            assert_int_equal(status, is_refused ? PDNN_IO : PDNN_OK);
            assert_string_equal(err.text, is_refused ? garbled : "");
            assert_int_equal(roof_rows.count + n_rows, is_refused ? 0 : 1);
        }
        assert_int_equal(worker.pid == 0, is_refused);
        pdnn_visit_finish(&visit);
        free(rows);
        pdnn_worker_stop(&worker);
    }
}

static void test_texts_without_an_end(void **state) {
    (void)state;
    ask_all("1000", PDNN_MESSAGE_COUNT);
    for (size_t i = 0; i < TEXTS; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        ask_all(number, texts[i].kind);
    }
}

static void test_software(void **state) {
    static const char *const cases[] = {"version", "backend", "count"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_worker worker;
        struct pdnn_err err = {0};
        setenv(variable, cases[i], 1);
        assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), PDNN_IO);
        assert_non_null(strstr(err.text, garbled));
    }
}

static void test_failure_without_a_reason(void **state) {
    struct pdnn_worker worker;
    struct pdnn_err err = {0};
    struct pdnn_check_row *rows = NULL;
    size_t n_rows = 0;
    (void)state;
    setenv(variable, "no reason", 1);
    assert_int_equal(pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, &err), PDNN_OK);
    assert_int_equal(pdnn_worker_check(&worker, &request, &unwatched, &rows, &n_rows, &err),
                     PDNN_UNSUPPORTED);
    assert_string_equal(err.text, "the worker gave no reason");
    pdnn_worker_stop(&worker);
}

int main(int argc, char **argv) {
    if (argc == 2)
        return be_worker((int)strtol(argv[1], NULL, 10));
    setenv(PDNN_WORKER_VARIABLE, "/proc/self/exe", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_without_an_end),
        cmocka_unit_test(test_software),
        cmocka_unit_test(test_failure_without_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
