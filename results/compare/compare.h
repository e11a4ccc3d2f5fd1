/* Two platforms side by side: the instances that both of them ran, joined by id without the keys that are to
 * differ, and the ratio of their step times, A's over B's: above 1 B is faster. A platform is whatever
 * differs: a run setting within one result directory or between two, or only the machine or the software of
 * two directories. A pure function of tables on disk.
 *
 * The interval of a headline holds that of another equal run with 95 % probability, so its half-width on a
 * logarithmic scale, h = ln(ci_high_ns / ci_low_ns) / 2, covers the scatter of two runs, and the logarithm of
 * a ratio lies within sqrt((h_a^2 + h_b^2) / 2) of ln(a / b), which is h if they are equal. A ratio is clear
 * if its interval excludes 1; equal platforms give one at most once in 20, if both found the machine in the
 * same state (doc/noise.md). Between directories of one host, where the threads were at different distances,
 * the visits of one state are compared if both sides have enough of them (states.h).
 *
 * The interval of a geometric mean is the wider of two: Student's t of the ratios' logarithms, which takes
 * the instances as a sample of their kind, and sqrt(sum h^2) / n, the error of measurement alone. Neither has
 * what shifts a whole run. */
#ifndef RESULTS_COMPARE_COMPARE_H
#define RESULTS_COMPARE_COMPARE_H

#include "results/query/selection.h"

enum { PDNN_SIDE_A, PDNN_SIDE_B, PDNN_SIDES };

struct pdnn_comparison {
    struct pdnn_selection selection;   /* of one or two directories, with the rows of both sides */
    const char *directory[PDNN_SIDES]; /* equal if there is only one */
    struct pdnn_axes across;           /* the keys that differ; none: only the directories do */
    const char *value[PDNN_SELECTION_AXES_MAX][PDNN_SIDES]; /* of these; NULL: any, between directories */
    const char *label[PDNN_SIDES];         /* "backend=onednn", or the directory where no key differs */
    struct pdnn_texts *values[PDNN_SIDES]; /* by column of a key, as far as they were asked for */
    struct pdnn_texts ids;                 /* of instances, without the keys that differ */
    struct pdnn_table pairs, unpaired;
    size_t (*at)[PDNN_SIDES]; /* of each pair: the places of its rows among the chosen ones */
    struct pdnn_arena arena;
};

struct pdnn_compare_request {
    const char *directory[PDNN_SIDES]; /* B may be NULL: both sides are in A's */
    /* The keys that are to differ: "backend", "threads=1:2" with A's and B's value, or several, joined by
     * commas. NULL: between directories with common ids none, otherwise the only key whose change pairs
     * instances. "host" stands for the directories themselves. */
    const char *across;
    const char *const *only; /* as in pdnn_selection_open_all, on both sides */
    size_t n_only;
};

/* One row for each instance that ended ok on both sides, in the order of A's rows; from PDNN_PAIR_KEYS on,
 * the keys that both sides have in common, with their names as titles. */
enum {
    PDNN_PAIR_ID, /* without the keys that differ */
    PDNN_PAIR_A_ID,
    PDNN_PAIR_B_ID,
    PDNN_PAIR_FAMILY,
    PDNN_PAIR_A_NS,
    PDNN_PAIR_B_NS,
    PDNN_PAIR_RATIO,
    PDNN_PAIR_LOW,
    PDNN_PAIR_HIGH,
    PDNN_PAIR_CLEAR,
    PDNN_PAIR_DECISION,
    PDNN_PAIR_INSTRUCTIONS, /* these three are the ratio's factors (factors.h) */
    PDNN_PAIR_CPI,
    PDNN_PAIR_CYCLE_RATE,
    PDNN_PAIR_BEYOND, /* empty before pdnn_sides_make */
    PDNN_PAIR_STATE,
    PDNN_PAIR_DISTANCE_RATIO,
    PDNN_PAIR_CLOCK_RATIO,
    PDNN_PAIR_PROBE_RATIO,
    PDNN_PAIR_KEYS
};
extern const struct pdnn_table_def pdnn_pairs_def;

/* Whether B is clearly faster or slower than A. */
extern const char pdnn_faster[], pdnn_slower[], pdnn_undecided[];

/* One row for each other instance, in the order of A's rows, then those that only B has. */
enum {
    PDNN_UNPAIRED_ID,
    PDNN_UNPAIRED_A_ID,
    PDNN_UNPAIRED_B_ID,
    PDNN_UNPAIRED_A_STATUS,
    PDNN_UNPAIRED_B_STATUS,
    PDNN_UNPAIRED_A_REASON,
    PDNN_UNPAIRED_B_REASON,
    PDNN_UNPAIRED_COLUMNS
};
extern const struct pdnn_table_def pdnn_unpaired_def;

/* How far clock_ratio and probe_ratio may be from 1, as factors, in the same state of one machine. */
#define PDNN_SAME_CLOCK 1.05
#define PDNN_SAME_READS 1.15

/* Reads the tables and joins their rows. PDNN_INVALID if it cannot be told which keys are to differ (the
 * message names the candidates), if two rows of one side are alike without them, or if no instance ran on
 * both sides. Release *comparison with pdnn_comparison_close after a success. */
enum pdnn_status pdnn_comparison_open(struct pdnn_comparison *comparison,
                                      const struct pdnn_compare_request *request, struct pdnn_err *err);
void pdnn_comparison_close(struct pdnn_comparison *comparison);

/* Whether the sides are of several directories or hosts, so that whatever shifts a whole run is in ratios. */
bool pdnn_comparison_are_apart(const struct pdnn_comparison *comparison);

/* Appends what speaks against the ratios: unusable times, or another state of the machine: the threads'
 * distance, the clock, or the rate of reads (which tell where both sides have one host, threads and isa). And
 * which ratios are of the visits in one state only. True if it is to be said before any ratio:
 * with unusable times, and where most pairs found another state. */
bool pdnn_comparison_doubt(const struct pdnn_comparison *comparison, struct pdnn_str *out);

/* Of a pair: the ratio, the time of one side, and half of the logarithm of the ratio's interval, NaN if there
 * is none. */
double pdnn_pair_ratio(const struct pdnn_comparison *comparison, size_t pair);
double pdnn_pair_ns(const struct pdnn_comparison *comparison, size_t pair, int side);
double pdnn_pair_half(const struct pdnn_comparison *comparison, size_t pair);

/* Whose cells of the column stand for the pairs: A's, unless all of these are empty. */
int pdnn_comparison_side(const struct pdnn_comparison *comparison, int column);

/* The value of a run setting of a pair on one side. */
const char *pdnn_comparison_setting(const struct pdnn_comparison *comparison, size_t pair, int side,
                                    enum pdnn_setting setting);

#endif
