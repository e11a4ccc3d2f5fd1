/* ceilings.csv: one row per measured roof. */
#include "results/tables/columns.h"
#include "results/tables/csv.h"
#include "runtime/facts/ceilings.h"

#define AT(field)     .offset = offsetof(struct pdnn_ceiling, field)
#define TEXT(field)   PDNN_COLUMN_TEXT, AT(field), sizeof((struct pdnn_ceiling *)0)->field
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_EXACT

static const struct pdnn_column columns[] = {
    {"kind", "", TEXT(kind), .help = "compute, bandwidth, ladder, overhead or probe"},
    {"pattern", "", TEXT(pattern),
     .help =
         "compute: fma, or the processor's own instruction for the type, from registers, "
         "and gemm-BACKEND; bandwidth and ladder: read, copy, triad, update (in place), with -streaming stores; "
         "otherwise a name for the measurement"},
    {"dtype", "", TEXT(dtype), .help = "compute: element type; int8 is u8 times s8, accumulated in s32"},
    {"level", "", TEXT(level), .help = "bandwidth and ladder: L1, L2, L3 or DRAM"},
    {"threads", "threads", PDNN_COLUMN_WHOLE, AT(threads), .help = "one per core"},
    {"capacity_bytes", "bytes", PDNN_COLUMN_COUNT, AT(capacity_bytes),
     .help =
         "bandwidth: what the level was found to hold for these threads together, 0 for DRAM; ladder: the "
         "working set"},
    {"value", "by kind", NUMBER(value),
     .help = "best repetition; compute: 1e9 FLOP/s, bandwidth and ladder: 1e9 B/s, overhead: ns"},
    {"low", "by kind", NUMBER(low), .help = "least of the repetitions"},
    {"high", "by kind", NUMBER(high), .help = "greatest of the repetitions"},
    {"repetitions", "", PDNN_COLUMN_WHOLE, AT(repetitions), .help = "number of repetitions"},
    {"median", "by kind", NUMBER(median), .is_later = true,
     .help = "median of the repetitions; far from value if the machine was disturbed"},
    {"reported_bytes", "bytes", PDNN_COLUMN_COUNT, AT(reported_bytes), .is_later = true,
     .help = "bandwidth: capacity of the level for these threads together, as reported by the host"},
};

const struct pdnn_columns pdnn_ceilings_columns = {"ceilings.csv", columns,
                                                   sizeof columns / sizeof columns[0]};
