/* Two platforms side by side: the instances that both of them ran, joined by id without the keys that are to
 * differ, and the ratio of their step times, A's over B's: above 1 B is faster. A platform is whatever
 * differs: a run setting within one result directory or between two, or only the machine or the software of
 * two directories. Of several directories the first is A, the base, and each other one is B of a comparison
 * with it. A pure function of tables on disk.
 *
 * The interval of a headline holds that of another equal run with 95 % probability, so its half-width on a
 * logarithmic scale, h = ln(ci_high_ns / ci_low_ns) / 2, covers the scatter of two runs, and the logarithm of
 * a ratio lies within sqrt((h_a^2 + h_b^2) / 2) of ln(a / b), which is h if they are equal. A ratio is clear
 * if its interval excludes 1; equal platforms give one at most once in 20, if both found the machine in the
 * same state (doc/noise.md). Between directories of one host, where the threads were at different distances,
 * the visits of one state are compared if both sides have enough of them (states.h).
 *
 * Where both sides were visited next to each other, often enough, ratio, interval and decision are those of
 * the pairs (paired.h), which have no such shift in them.
 *
 * The interval of a geometric mean is the wider of two: Student's t of the ratios' logarithms, which takes
 * the instances as a sample of their kind, and sqrt(sum h^2) / n, the error of measurement alone. Neither has
 * what shifts a whole run. */
#ifndef RESULTS_COMPARE_COMPARE_H
#define RESULTS_COMPARE_COMPARE_H

#include "results/compare/beside.h"
#include "results/query/selection.h"

enum { PDNN_SIDE_A, PDNN_SIDE_B, PDNN_SIDES };

struct pdnn_comparison {
    struct pdnn_selection selection;   /* a part of all directories' rows, which has those of both sides */
    size_t source[PDNN_SIDES];         /* their directories; equal if both sides are in one */
    const char *directory[PDNN_SIDES]; /* the same by name */
    size_t number;                     /* of side B: 1 is called B, 2 is called C */
    struct pdnn_axes across;           /* the keys that differ; none: only the directories do */
    const char *value[PDNN_SELECTION_AXES_MAX][PDNN_SIDES]; /* of these; NULL: any, between directories */
    const char *label[PDNN_SIDES];         /* "backend=onednn", or the directory where no key differs */
    struct pdnn_texts *values[PDNN_SIDES]; /* by column of a key, as far as they were asked for */
    struct pdnn_texts ids;                 /* of instances, without the keys that differ */
    struct pdnn_table pairs, unpaired;
    size_t (*at)[PDNN_SIDES];    /* of each pair: the places of its rows among the chosen ones */
    size_t (*of_id)[PDNN_SIDES]; /* of each id: the places of its rows, chosen or not, from 1; 0: none */
    struct pdnn_arena arena;
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
    PDNN_PAIR_PAIRS,
    PDNN_PAIR_OTHERS,
    PDNN_PAIR_INTERVAL_PCT,
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

/* What B is, compared with A. */
extern const char pdnn_faster[], pdnn_slower[], pdnn_undecided[], pdnn_alike[];

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

/* Joins rows of a selection of several directories or of one, which lives longer: those of the first with
 * those of directory number `other`, or for 0 both sides in it. across: the keys that are to differ:
 * "backend", "threads=1:2" with A's and B's value, or several, joined by commas. NULL: between directories
 * with common ids none, otherwise the only key whose change pairs instances. "host" stands for the
 * directories themselves. PDNN_INVALID if it cannot be told which keys are to differ (the message names the
 * candidates), or if two rows of one side are alike without them; PDNN_UNSUPPORTED if no instance ended ok on
 * both sides. Release *comparison with pdnn_comparison_close after a success. */
enum pdnn_status pdnn_comparison_make(struct pdnn_comparison *comparison, const struct pdnn_selection *all,
                                      size_t other, const char *across, struct pdnn_err *err);
void pdnn_comparison_close(struct pdnn_comparison *comparison);

/* Whether that status says that these sides cannot be compared, which others may be. */
bool pdnn_comparison_is_refused(enum pdnn_status status);

/* In one directory, how many sides beside the first ones all its models have, those of other values than the
 * two of this comparison and those that failed, too: the comparisons that its sweep makes. */
size_t pdnn_comparison_count_sides(const struct pdnn_comparison *comparison);

/* Whether the sides are two directories. */
bool pdnn_comparison_has_two(const struct pdnn_comparison *comparison);

/* Whether the sides are of several directories or hosts, so that whatever shifts a whole run is in ratios. */
bool pdnn_comparison_are_apart(const struct pdnn_comparison *comparison);

/* Whether each pair's rows are alike in the column. */
bool pdnn_comparison_are_alike(const struct pdnn_comparison *comparison, const char *name);

/* The value of a column of results on one side of a pair. */
double pdnn_pair_value(const struct pdnn_comparison *comparison, size_t pair, int side,
                       enum pdnn_result_column column);

/* Sets the times of both sides, and what follows from them; half of the logarithm of each one's interval, NaN
 * without one. */
void pdnn_pair_set(struct pdnn_table *pairs, size_t pair, const double ns[PDNN_SIDES],
                   const double half[PDNN_SIDES]);

/* Of a pair: the ratio, the time of one side, and half of the logarithm of the ratio's 95 % interval, NaN if
 * there is none. */
double pdnn_pair_ratio(const struct pdnn_comparison *comparison, size_t pair);
double pdnn_pair_ns(const struct pdnn_comparison *comparison, size_t pair, int side);
double pdnn_pair_half(const struct pdnn_comparison *comparison, size_t pair);

/* Whose cells of the column stand for the pairs: A's, unless all of these are empty. */
int pdnn_comparison_side(const struct pdnn_comparison *comparison, int column);

/* The value of a run setting of a pair on one side. */
const char *pdnn_comparison_setting(const struct pdnn_comparison *comparison, size_t pair, int side,
                                    enum pdnn_setting setting);

#endif
