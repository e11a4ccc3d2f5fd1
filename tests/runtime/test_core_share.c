#define _POSIX_C_SOURCE 200809L
/* What a share of the cores says: the figures are those of a quiet machine, and of one and two busy programs
 * beside a step of two threads. */
#include "runtime/backend/core_share.h"
#include "tests/cmocka_all.h"

#include <pthread.h>
#include <stdlib.h>

static const uint64_t ms = 1000000;

/* The clock in the team's first place becomes that of a thread which ends. */
static void *take_place(void *user) {
    struct pdnn_thread_team *team = user;
    pthread_getcpuclockid(pthread_self(), &team->thread[0].clock);
    return NULL;
}

static void test_core_share_is_low_rows(void **state) {
    static const struct {
        double share; /* of two cores */
        int64_t threads;
        bool is_low;
    } rows[] = {
        {1, 2, false},   {0.93, 2, false}, {0.76, 2, true},  {0.70, 2, true},
        {0.45, 2, true}, {0.45, 0, false}, {0.70, 1, false}, /* 1.4 of its one core: loaders ran too */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_core_share share = {.cpu_ns = (uint64_t)(2 * rows[i].share * 350 * (double)ms),
                                              .wall_ns = 350 * ms};
        if (pdnn_core_share_is_low(pdnn_core_share_of(&share, rows[i].threads)) != rows[i].is_low)
            fail_msg("row %zu", i);
    }
    assert_true(pdnn_core_share_of(&(struct pdnn_core_share){0}, 2) == 0);
}

/* A stop of three seconds is one. What is short, or has a little more than a tenth of a core, is not. */
static void test_stops_add_rows(void **state) {
    struct pdnn_stops stops = {0};
    (void)state;
    assert_false(pdnn_stops_add(&stops, 20 * ms, 10 * ms));
    assert_true(pdnn_stops_add(&stops, 20 * ms, 3000 * ms));
    assert_false(pdnn_stops_add(&stops, 2 * ms, 99 * ms));
    assert_false(pdnn_stops_add(&stops, 400 * ms, 3000 * ms));
    assert_int_equal(stops.lost_ns, 3000 * ms);
}

/* Threads that sleep while they wait, for data or by OpenMP's policy, say nothing about neighbours. */
static void test_core_share_waiting(void **state) {
    struct pdnn_stops stops = {0};
    (void)state;
    pdnn_stops_begin(&stops);
    assert_false(pdnn_stops_end(&stops, UINT64_MAX));
    assert_int_equal(stops.lost_ns, 0);
    unsetenv("OMP_WAIT_POLICY");
    assert_int_equal(pdnn_core_share_threads(2), 2);
    setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
    assert_int_equal(pdnn_core_share_threads(2), 0);
    setenv("OMP_WAIT_POLICY", "active", 1);
    assert_int_equal(pdnn_core_share_threads(2), 2);
}

/* The clocks of a team grow with its work; one whose thread has ended is not a clock any more. */
static void test_core_share_of_a_team(void **state) {
    struct pdnn_thread_team team = {0};
    struct pdnn_host host;
    struct pdnn_err err = {0};
    (void)state;
    assert_int_equal(pdnn_host_read(&host, &err), PDNN_OK);
    assert_int_equal(pdnn_threads_set(&host, host.threads, &team, &err), PDNN_OK);
    struct pdnn_core_share share = {.team = &team};
    const uint64_t made = team.made, before = pdnn_threads_cpu_ns(&team);
    assert_true(before > 0);
    assert_int_equal(pdnn_threads_set(&host, host.threads, &team, &err), PDNN_OK);
    assert_int_equal(team.made, made); /* the same threads */
    pdnn_core_share_begin(&share);
    while (pdnn_threads_cpu_ns(&team) < before + 2 * ms)
        ;
    pdnn_core_share_end(&share);
    assert_true(share.cpu_ns > 0 && share.wall_ns > 0);
    const struct pdnn_core_share seen = share;
    pdnn_core_share_begin(&share);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, take_place, &team), 0);
    pthread_join(other, NULL);
    pdnn_core_share_end(&share);
    assert_int_equal(share.cpu_ns, seen.cpu_ns);
    assert_int_equal(share.wall_ns, seen.wall_ns);
    pdnn_thread_team_finish(&team);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_share_is_low_rows),
        cmocka_unit_test(test_stops_add_rows),
        cmocka_unit_test(test_core_share_waiting),
        cmocka_unit_test(test_core_share_of_a_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
