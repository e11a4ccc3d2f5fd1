#include "runtime/kernels/roofs/chain.h"

#include "base/clock.h"
#include "base/stats.h"

enum { RUNS = 6, ADDS = 64, LOOPS = 256 };

#if defined(__x86_64__) || defined(__aarch64__)

/* Processors may skip additions of constants (Golden Cove does), and never those of two registers. */
static void run_chain(void) {
    uint64_t sum = 0, one = 1, loops = LOOPS;
#if defined(__x86_64__)
    __asm__ volatile("1:\n\t"
                     ".rept %c3\n\t"
                     "addq %2, %0\n\t"
                     ".endr\n\t"
                     "decq %1\n\t"
                     "jnz 1b"
                     : "+r"(sum), "+r"(loops)
                     : "r"(one), "i"(ADDS)
                     : "cc");
#else
    __asm__ volatile("1:\n\t"
                     ".rept %c3\n\t"
                     "add %0, %0, %2\n\t"
                     ".endr\n\t"
                     "subs %1, %1, #1\n\t"
                     "b.ne 1b"
                     : "+r"(sum), "+r"(loops)
                     : "r"(one), "i"(ADDS)
                     : "cc");
#endif
}

double pdnn_chain_ghz(int64_t threads, uint64_t clock_cost_ns) {
    double slowest = 0;
#pragma omp parallel num_threads((int)threads)
    {
        double ghz[RUNS];
        for (int run = 0; run < RUNS; run++) {
            const uint64_t start_ns = pdnn_clock_ns();
            run_chain();
            ghz[run] =
                (double)(ADDS * LOOPS) / (double)pdnn_clock_net_ns(pdnn_clock_ns() - start_ns, clock_cost_ns);
        }
        const double own = pdnn_median(ghz + 1, RUNS - 1);
#pragma omp critical
        slowest = slowest > 0 && slowest < own ? slowest : own;
    }
    return slowest;
}

#else

double pdnn_chain_ghz(int64_t threads, uint64_t clock_cost_ns) {
    (void)threads, (void)clock_cost_ns;
    return 0;
}

#endif
