/* What was published of measured runs, each claim a row, and what tables say of it: that it holds, that it
 * does not, or that they cannot tell. A claim is in source_claims.c, if it is of one platform; in
 * pair_claims.c, of two; or in bert_claims.c. */
#ifndef RESULTS_CLAIMS_CLAIM_H
#define RESULTS_CLAIMS_CLAIM_H

#include "models/family.h"
#include "results/compare/compare.h"
#include "results/query/shares.h"
#include "results/stats/means.h"

enum pdnn_verdict { PDNN_HOLDS, PDNN_DOES_NOT_HOLD, PDNN_CANNOT_BE_TOLD, PDNN_VERDICT_COUNT };

/* A row for each claim and whatever it was checked on. */
enum pdnn_claim_column {
    PDNN_CLAIM_TEXT,
    PDNN_CLAIM_VERDICT,
    PDNN_CLAIM_NUMBERS,  /* what the verdict is based on, or why there is none */
    PDNN_CLAIM_COMPARED, /* the instances compared; if it cannot be told: those that are needed */
    PDNN_CLAIM_WHERE,    /* keys that distinguish these instances: "length=128, fuse=none" */
    PDNN_CLAIM_ID,       /* their common id, with a star for what differs */
    PDNN_CLAIM_COLUMNS,
    PDNN_CLAIM_NUMBER = PDNN_CLAIM_COLUMNS, /* in table 1; this and the next in the report only */
    PDNN_CLAIM_SOURCE,                      /* whose tables; empty: both, or all */
    PDNN_CLAIM_REPORT_COLUMNS
};
extern const struct pdnn_table_def pdnn_claims_def, pdnn_claims_report_def;

/* Two platforms that ran the same models, and what their sides are called. */
struct pdnn_claim_pairs {
    const struct pdnn_comparison *of;
    const char *name[PDNN_SIDES];
};

/* What claims are checked with. */
struct pdnn_claim_data {
    const struct pdnn_selection *const *rows; /* of each source, without what did not end ok */
    size_t n_sources;
    struct pdnn_ops_reader *readers; /* by directory of the rows; {0} where there is no ops.csv */
    const struct pdnn_claim_pairs *pairs;
    size_t n_pairs;
};

/* The row's family; NULL: unknown to this version. */
const struct pdnn_family_def *pdnn_claim_family(const struct pdnn_selection *rows, size_t at);

/* A kind of network, by what a family's layers are. */
typedef bool pdnn_network(const struct pdnn_family_def *family);
pdnn_network pdnn_network_is_fully_connected, pdnn_network_is_convolutional, pdnn_network_is_recurrent,
    pdnn_network_has_attention;

/* What holds of a mean or of a change. */
enum pdnn_claim_rule {
    PDNN_ABOVE,    /* it is above `factor` */
    PDNN_WITHIN,   /* within it either way */
    PDNN_BEYOND,   /* not within it */
    PDNN_OPPOSITE, /* the two have different signs */
    PDNN_GROWS,
    PDNN_FALLS,
};

enum { PDNN_CLAIM_AXES = 5 };

struct pdnn_question;
struct pdnn_claim_set;
struct pdnn_claim {
    int number; /* in table 1; 0: it is not there */
    const char *text;
    void (*check)(struct pdnn_question *question); /* NULL: the list's */
    const char *needs; /* the data that would decide it, where it cannot be told */
    /* What it is about; the check says what it takes. */
    const char *what, *of, *few, *size;
    pdnn_network *network;
    const char *(*key)(const struct pdnn_family_def *family);
    struct pdnn_mean (*collect)(struct pdnn_question *question);
    enum pdnn_claim_rule rule;
    double factor;
    const char *axes[PDNN_CLAIM_AXES];
    bool (*alike)(const struct pdnn_selection *selection, size_t a, size_t b);
    enum pdnn_verdict (*test)(struct pdnn_claim_set *set);
    unsigned groups;
};

struct pdnn_claim_list {
    const struct pdnn_claim *claim; /* ends with a row without a text */
    /* Calls pdnn_claim_say for each thing that it is checked on; if it never does, it cannot be told. */
    void (*check)(struct pdnn_question *question);
    bool is_of_pairs;      /* asked of two sources together, not of each */
    pdnn_network *network; /* nothing is said where no model is of this kind; NULL: any */
};

/* Wang, Wei, Brooks, "A Systematic Methodology for Analysis of Deep Learning Hardware and Software
 * Platforms", MLSys 2020: those with a number are rows of its table 1, the others are in its text. */
extern const struct pdnn_claim_list pdnn_source_claims, pdnn_pair_claims;

/* In which directions shares and counts move in BERT training (Pati et al., arXiv 2104.08335; derived
 * arithmetic where exact). */
extern const struct pdnn_claim_list pdnn_bert_claims;

/* Checks the claims and adds their rows, in their order. Adds to `told` how many rows have each verdict. */
void pdnn_claims_check(const struct pdnn_claim_data *data, const struct pdnn_claim_list *list,
                       struct pdnn_table *table, size_t told[PDNN_VERDICT_COUNT]);

#define PDNN_CLAIM_OF_BOTH ((size_t)-1)

/* A claim that is being checked. */
struct pdnn_question {
    struct pdnn_claim claim; /* the check may give it better words */
    const struct pdnn_claim_data *data;
    const struct pdnn_comparison *pairs; /* NULL: none; of a source the ones in which it is side B, else A */
    const char *name[PDNN_SIDES];        /* of these */
    size_t source;                       /* PDNN_CLAIM_OF_BOTH: of the pairs' */
    const struct pdnn_selection *rows;   /* of the source; of both: NULL */
    struct pdnn_arena arena;             /* of words and what the check computes */
    struct pdnn_table *table;
    size_t *told;
};

/* Adds a row with the numbers or reasons, and returns it. */
size_t pdnn_claim_say(struct pdnn_question *question, enum pdnn_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "2.10 (95 % interval 1.90 to 2.30", with what is between, to go on with and to close; "2.10 (no interval"
 * where there is none. In the question's arena. */
#define PDNN_CLAIM_NAMED " (95 % interval "
const char *pdnn_claim_ratio(struct pdnn_question *question, struct pdnn_mean_interval ratio,
                             const char *between);

/* Which it is; where an interval decides neither, more models or rounds would tell. */
enum pdnn_verdict pdnn_claim_judge(struct pdnn_question *question, bool holds, bool does_not);

/* Checks of a mean by the claim's rule and factor: of shares, or of ratios by their logarithms. Take
 * `collect`, which may say itself why there are none; `what` and `of` around the mean; `few`, what lacks. */
void pdnn_claim_check_share(struct pdnn_question *question);
void pdnn_claim_check_ratio(struct pdnn_question *question);

/* Whether the two platforms are one machine, by environment.yaml, and differ in this key alone. */
bool pdnn_claim_differ_only_in(const struct pdnn_question *question, const char *key);

#endif
