/* The published observations as claims that tables confirm, contradict or cannot tell. Those with a number
 * are rows of table 1 in Wang, Wei, Brooks, "A Systematic Methodology for Analysis of Deep Learning Hardware
 * and Software Platforms", MLSys 2020; the others are in its text. */
#ifndef RESULTS_CLAIMS_CLAIMS_H
#define RESULTS_CLAIMS_CLAIMS_H

#include "models/family.h"
#include "results/compare/compare.h"
#include "results/stats/means.h"
#include "results/query/selection.h"

/* What tables say of a claim. */
enum pdnn_verdict { PDNN_HOLDS, PDNN_DOES_NOT_HOLD, PDNN_CANNOT_BE_TOLD, PDNN_VERDICT_COUNT };

/* "holds", "does not hold", "cannot be told". */
const char *pdnn_verdict_name(enum pdnn_verdict verdict);

struct pdnn_ops_reader;
struct pdnn_report_op_times;

/* The two platforms of the report, where it has them. */
struct pdnn_report_sides {
    const struct pdnn_comparison *pairs; /* NULL: no two platforms ran the same models */
    const char *name[PDNN_SIDES];
    struct pdnn_ops_reader *readers[PDNN_SIDES]; /* may be one */
};

#define PDNN_REPORT_BOTH ((size_t)-1)

/* What a claim is checked with, and what the check says. */
struct pdnn_report_question {
    const struct pdnn_report_claim *claim;
    size_t source;                     /* PDNN_REPORT_BOTH: of all sources together */
    const struct pdnn_selection *rows; /* of the source, without what did not end ok; of both: NULL */
    const struct pdnn_report_op_times *times;
    const struct pdnn_report_sides *sides;
    struct pdnn_arena *arena; /* of sentences */
    enum pdnn_verdict verdict;
    const char *sentence; /* why, with n and interval */
    const char *tells;    /* where it cannot be told: what would tell, instead of what the claim says */
};

/* A kind of network that published observations speak of, by what a family's layers are. */
typedef bool pdnn_report_network(const struct pdnn_family_def *family);
pdnn_report_network pdnn_report_is_fully_connected, pdnn_report_is_convolutional, pdnn_report_is_recurrent;

/* What holds of a mean: it is above `factor`; within it either way; not within it. */
enum pdnn_report_rule { PDNN_ABOVE, PDNN_WITHIN, PDNN_BEYOND };

struct pdnn_report_claim {
    int number; /* 0: not in table 1 */
    const char *text;
    void (*check)(struct pdnn_report_question *question); /* calls pdnn_report_say once */
    const char *tells; /* the data that would decide it, where it cannot be told */
    /* What it is about, where several claims share a check, which says what it takes. */
    const char *what, *of, *few, *size;
    pdnn_report_network *network;
    const char *(*key)(const struct pdnn_family_def *family);
    struct pdnn_mean (*collect)(struct pdnn_report_question *question);
    enum pdnn_report_rule rule;
    double factor;
};

/* Claims about one platform, each checked for every source. */
extern const struct pdnn_report_claim pdnn_report_claims[];
extern const size_t pdnn_report_n_claims;
/* Claims about two platforms, compared model by model; checked only where there are pairs. */
extern const struct pdnn_report_claim pdnn_report_claims_of_pairs[];
extern const size_t pdnn_report_n_claims_of_pairs;

/* The sentence that says why. */
void pdnn_report_say(struct pdnn_report_question *question, enum pdnn_verdict verdict, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/* "2.10 (95 % interval 1.90 to 2.30", with what is between, to go on with and to close; "2.10 (no interval"
 * where there is none. */
enum { PDNN_REPORT_RATIO = 128 };
#define PDNN_REPORT_NAMED " (95 % interval "
const char *pdnn_report_ratio(char text[PDNN_REPORT_RATIO], struct pdnn_mean_interval ratio,
                              const char *between);

/* Which it is; where an interval decides neither, more models or rounds would tell. */
enum pdnn_verdict pdnn_report_judge(struct pdnn_report_question *question, bool holds, bool does_not);

/* The same of an interval, by the claim's rule. */
enum pdnn_verdict pdnn_report_apply(struct pdnn_report_question *question,
                                    struct pdnn_mean_interval interval);

/* Says what follows from ratios whose logarithms these are: "BEGINS 2.1 (95 % interval 1.9 to 2.3, geometric
 * mean of 5 OF)." */
void pdnn_report_conclude(struct pdnn_report_question *question, const struct pdnn_mean *logs,
                          const char *begins, const char *of);

/* Whether the two platforms are one machine, by environment.yaml, and differ in this key alone. */
bool pdnn_report_differ_only_in(const struct pdnn_report_question *question, const char *key);

#endif
