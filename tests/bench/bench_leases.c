/* Time per claim, end, reading of the log and sign of life of a joined sweep, in a directory on the file
 * system that is to be measured.
 *
 * bench_leases DIR [LEASES]; DIR must not exist. */
#include "base/clock.h"
#include "session/join/leases.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { ACTIONS = 4, LEASES_MAX = 100000 };

static const char *const names[ACTIONS] = {"claim", "read", "beat", "end"};

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* One lease from its claim to its end; sets what each action took. */
static enum pdnn_status run_lease(struct pdnn_leases *leases, uint32_t instance, uint64_t ns[ACTIONS],
                                  struct pdnn_err *err) {
    uint64_t at_ns[ACTIONS + 1];
    size_t lease;
    at_ns[0] = pdnn_clock_ns();
    enum pdnn_status status = pdnn_leases_claim(leases, &instance, 1, 1, &lease, err);
    at_ns[1] = pdnn_clock_ns();
    if (status == PDNN_OK)
        status = pdnn_leases_read(leases, err);
    at_ns[2] = pdnn_clock_ns();
    leases->beat_ns = 0; /* due now */
    pdnn_leases_beat(leases);
    at_ns[3] = pdnn_clock_ns();
    if (status == PDNN_OK)
        status = pdnn_leases_end(leases, lease, &instance, 1, err);
    at_ns[4] = pdnn_clock_ns();
    for (int i = 0; i < ACTIONS; i++)
        ns[i] = at_ns[i + 1] - at_ns[i];
    return status;
}

int main(int argc, char **argv) {
    static uint64_t all_ns[ACTIONS][LEASES_MAX];
    size_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 500;
    struct pdnn_leases leases = {.folder.fd = -1};
    const struct pdnn_holder self = pdnn_holder_self("bench");
    struct pdnn_err err = {0};
    const struct pdnn_lease_plan plan = {.instances = count, .instances_hash = 1};
    if (argc < 2 || !count || count > LEASES_MAX || mkdir(argv[1], 0777) != 0) {
        fprintf(stderr, "usage: bench_leases DIR [LEASES], where DIR does not exist\n");
        return 2;
    }
    enum pdnn_status status = pdnn_leases_open(&leases, argv[1], &plan, &self, &err);
    for (uint32_t i = 0; i < count && status == PDNN_OK; i++) {
        uint64_t ns[ACTIONS];
        status = run_lease(&leases, i, ns, &err);
        for (int k = 0; k < ACTIONS; k++)
            all_ns[k][i] = ns[k];
    }
    uint64_t began_ns = pdnn_clock_ns();
    pdnn_leases_close(&leases);
    if (status == PDNN_OK)
        status = pdnn_leases_open(&leases, argv[1], NULL, &self, &err);
    double open_ms = (double)(pdnn_clock_ns() - began_ns) * 1e-6;
    pdnn_leases_close(&leases);
    if (status != PDNN_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int k = 0; k < ACTIONS; k++) {
        qsort(all_ns[k], count, sizeof all_ns[k][0], compare);
        printf("%-6s median %.3f ms, 99 %% %.3f ms, longest %.3f ms\n", names[k],
               (double)all_ns[k][count / 2] * 1e-6, (double)all_ns[k][count * 99 / 100] * 1e-6,
               (double)all_ns[k][count - 1] * 1e-6);
    }
    printf("to join after %zu leases: %.1f ms\n", count, open_ms);
    return 0;
}
