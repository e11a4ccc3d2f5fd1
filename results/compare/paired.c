#include "results/compare/paired.h"

#include "base/memory.h"
#include "runtime/protocol/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t list_turns(const struct pdnn_instance_visits *of, struct pdnn_turn *turns) {
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++)
        if (pdnn_visit_is_turn(&of->visit[i]))
            turns[count++] = pdnn_turn_of(&of->visit[i]);
    return count;
}

/* The pairs of one instance, on the heap, and how many are not among them for other choices. */
static double *list_logs(const struct pdnn_instance_visits of[2], size_t *count, size_t *others) {
    struct pdnn_turn *turns[2];
    size_t n[2];
    for (int side = 0; side < 2; side++) {
        turns[side] = pdnn_alloc(of[side].count + 1, sizeof **turns);
        n[side] = list_turns(&of[side], turns[side]);
    }
    double *logs = pdnn_alloc(n[0] + 1, sizeof *logs);
    *count = pdnn_pairs_logs(turns[0], n[0], turns[1], n[1], logs);
    *others = pdnn_pairs_others(turns[0], n[0], turns[1], n[1]);
    free(turns[0]);
    free(turns[1]);
    return logs;
}

void pdnn_pairs_find(const struct pdnn_instance_visits (*of)[2], size_t n, size_t comparisons,
                     double precision, struct pdnn_pairs_found *found) {
    for (size_t i = 0; i < n; i++) {
        size_t count, others;
        double *logs = list_logs(of[i], &count, &others), *scratch = pdnn_alloc(count + 1, sizeof *scratch);
        found[i] = (struct pdnn_pairs_found){.count = count >= pdnn_looks[0] ? count : 0, .others = others};
        if (found[i].count) {
            found[i].verdict = pdnn_pairs_judge(logs, count, comparisons, precision, scratch);
            found[i].logs = pdnn_pairs_interval(logs, count, PDNN_LOOKS_ALPHA);
        }
        free(scratch);
        free(logs);
    }
}

void pdnn_pairs_say(const struct pdnn_pairs_found *found, const char *a, const char *b,
                    struct pdnn_str *out) {
    static const char *const words[PDNN_PAIRED_COUNT] = {[PDNN_PAIRED_UNDECIDED] = "undecided beside",
                                                         [PDNN_PAIRED_SLOWER] = "slower than",
                                                         [PDNN_PAIRED_FASTER] = "faster than",
                                                         [PDNN_PAIRED_ALIKE] = "alike with"};
    if (pdnn_pairs_chose_apart(found))
        pdnn_str_printf(
            out, "%s is undecided beside %s: they ran other choices among implementations in %zu pair%s\n", b,
            a, found->others, found->others == 1 ? "" : "s");
    if (!found->count)
        return;
    pdnn_str_printf(out, "%s is %s %s: %+.1f %% time, 99 %% interval %+.1f to %+.1f %%, %zu pairs", b,
                    words[found->verdict], a, 100 * expm1(found->logs.center), 100 * expm1(found->logs.low),
                    100 * expm1(found->logs.high), found->count);
    if (found->others)
        pdnn_str_printf(out, ", without %zu in which they ran other choices", found->others);
    pdnn_str_append(out, "\n", 1);
}

double pdnn_pairs_narrow(size_t count) {
    const double degrees = (double)(count - 2 * (count / 5) - 1);
    return pdnn_student_t95(degrees) / pdnn_student_quantile(PDNN_LOOKS_ALPHA, degrees);
}
