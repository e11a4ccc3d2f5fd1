#include "results/rows/counted.h"

#include "results/store/results.h"

#include <math.h>

void pdnn_counted_add(struct pdnn_counted_sum *sum, const struct pdnn_counted *counted, size_t visit) {
    if (!counted->instructions)
        return;
    const double cycles = (double)counted->instructions / counted->ipc;
    sum->instructions += (double)counted->instructions;
    sum->cycles += cycles;
    sum->running_ns += cycles / counted->effective_ghz;
    sum->visits += sum->last != visit + 1;
    sum->last = visit + 1;
}

void pdnn_counted_scale(struct pdnn_counted_sum *sum, double factor) {
    sum->instructions *= factor;
    sum->cycles *= factor;
    sum->running_ns *= factor;
}

struct pdnn_counted pdnn_counted_mean(const struct pdnn_counted_sum *sum) {
    if (!sum->visits)
        return (struct pdnn_counted){NAN, PDNN_ABSENT, NAN};
    return (struct pdnn_counted){.effective_ghz = sum->cycles / sum->running_ns,
                                 .instructions = (uint64_t)(sum->instructions / (double)sum->visits + 0.5),
                                 .ipc = sum->instructions / sum->cycles};
}
