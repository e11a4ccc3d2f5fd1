#include "results/claims/claim.h"
#include "models/zoo/catalog.h"
#include "results/table/table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const struct pdnn_column_def columns[PDNN_CLAIM_REPORT_COLUMNS] = {
    {"claim", .align = PDNN_ALIGN_WRAP, .help = "what is claimed of measured runs"},
    {"verdict", .help = "holds, does not hold or cannot be told"},
    {"numbers", .align = PDNN_ALIGN_WRAP,
     .help = "what the verdict is based on, in the order of `compared`, or why there is none"},
    {"compared", "compared, or needed", .align = PDNN_ALIGN_WRAP,
     .help = "the instances compared; if it cannot be told: the data that would decide it"},
    {"condition", .align = PDNN_ALIGN_WRAP,
     .help = "what distinguishes this set of instances from others in the sweep"},
    {"id", .help = "the id of all of them, with a star for what differs"},
    {"number", "no.", .kind = PDNN_KIND_COUNT,
     .help = "in table 1 of Wang, Wei and Brooks (2020); the others are in its text"},
    {"source", .blank = "both", .help = "whose tables; empty: those of both"},
};
const struct pdnn_table_def pdnn_claims_def = {"claims", "what tables say of claims", columns,
                                               PDNN_CLAIM_COLUMNS},
                            pdnn_claims_report_def = {"claims", "what tables say of claims", columns,
                                                      PDNN_CLAIM_REPORT_COLUMNS};

size_t pdnn_claim_say(struct pdnn_question *question, enum pdnn_verdict verdict, const char *format, ...) {
    static const char *const names[PDNN_VERDICT_COUNT] = {"holds", "does not hold", "cannot be told"};
    struct pdnn_table *table = question->table;
    struct pdnn_str numbers = {0};
    va_list arguments;
    va_start(arguments, format);
    pdnn_str_vprintf(&numbers, format, arguments);
    va_end(arguments);
    const char *const texts[] = {question->claim.text, names[verdict], pdnn_str_text(&numbers),
                                 verdict == PDNN_CANNOT_BE_TOLD ? question->claim.needs : NULL};
    const size_t row = pdnn_table_add_texts(table, sizeof texts / sizeof *texts, texts);
    if (table->n_columns > PDNN_CLAIM_NUMBER && question->claim.number)
        pdnn_table_set_count(table, row, PDNN_CLAIM_NUMBER, (uint64_t)question->claim.number);
    if (table->n_columns > PDNN_CLAIM_SOURCE && question->source != PDNN_CLAIM_OF_BOTH)
        pdnn_table_set_text(table, row, PDNN_CLAIM_SOURCE, question->rows->results.name[question->source]);
    else if (table->n_columns > PDNN_CLAIM_SOURCE && question->data->n_pairs > 1)
        pdnn_table_set_text(table, row, PDNN_CLAIM_SOURCE,
                            pdnn_arena_printf(&question->arena, "%s and %s", question->name[PDNN_SIDE_A],
                                              question->name[PDNN_SIDE_B]));
    question->told[verdict]++;
    pdnn_str_finish(&numbers);
    return row;
}

const char *pdnn_claim_ratio(struct pdnn_question *question, struct pdnn_mean_interval ratio,
                             const char *between) {
    struct pdnn_str out = {0};
    pdnn_factor_append(&out, ratio.at);
    pdnn_str_printf(&out, "%s", isnan(ratio.low) ? " (no interval" : between);
    if (!isnan(ratio.low)) {
        pdnn_factor_append(&out, ratio.low);
        pdnn_str_printf(&out, " to ");
        pdnn_factor_append(&out, ratio.high);
    }
    const char *text = pdnn_arena_strdup(&question->arena, pdnn_str_text(&out));
    pdnn_str_finish(&out);
    return text;
}

enum pdnn_verdict pdnn_claim_judge(struct pdnn_question *question, bool holds, bool does_not) {
    if (!holds && !does_not)
        question->claim.needs = "A narrower interval: more models like these, or more rounds.";
    return holds ? PDNN_HOLDS : does_not ? PDNN_DOES_NOT_HOLD : PDNN_CANNOT_BE_TOLD;
}

static enum pdnn_verdict apply(struct pdnn_question *question, struct pdnn_mean_interval interval) {
    const double factor = question->claim.factor;
    const bool is_above = interval.low > factor,
               is_below = interval.high<factor, is_within = interval.low> 1 / factor && is_below,
               is_beyond = is_above || interval.high < 1 / factor;
    return question->claim.rule == PDNN_WITHIN   ? pdnn_claim_judge(question, is_within, is_beyond)
           : question->claim.rule == PDNN_BEYOND ? pdnn_claim_judge(question, is_beyond, is_within)
                                                 : pdnn_claim_judge(question, is_above, is_below);
}

/* Whether there are enough numbers. */
static bool collect(struct pdnn_question *question, struct pdnn_mean *numbers) {
    const size_t before = question->table->n_rows;
    *numbers = question->claim.collect(question);
    const bool is_few = isnan(pdnn_mean_interval(numbers).at);
    if (is_few && question->table->n_rows == before)
        pdnn_claim_say(question, PDNN_CANNOT_BE_TOLD, "%s: %zu; at least 3 are needed.", question->claim.few,
                       numbers->n);
    return !is_few;
}

void pdnn_claim_check_share(struct pdnn_question *question) {
    struct pdnn_mean numbers;
    if (!collect(question, &numbers))
        return;
    const struct pdnn_mean_interval share = pdnn_mean_interval(&numbers),
                                    pct = {share.at * 100, fmax(fmin(0, share.at), share.low) * 100,
                                           fmin(1, share.high) * 100};
    const char *text = pdnn_claim_ratio(question, pct, " % (95 % interval ");
    pdnn_claim_say(question, apply(question, share), "%s, %s %%) of %s, mean of %zu models.",
                   question->claim.what, text, question->claim.of, numbers.n);
}

void pdnn_claim_check_ratio(struct pdnn_question *question) {
    struct pdnn_mean logs;
    if (!collect(question, &logs))
        return;
    const struct pdnn_mean_interval ratio = pdnn_mean_exp(pdnn_mean_interval(&logs));
    const char *text = pdnn_claim_ratio(question, ratio, PDNN_CLAIM_NAMED);
    pdnn_claim_say(question, apply(question, ratio), "%s %s, geometric mean of %zu %s).",
                   question->claim.what, text, logs.n, question->claim.of);
}

const struct pdnn_family_def *pdnn_claim_family(const struct pdnn_selection *rows, size_t at) {
    return pdnn_family_find(pdnn_selection_get(rows, at, rows->family));
}

bool pdnn_network_is_recurrent(const struct pdnn_family_def *family) {
    return family->recurs;
}

/* Speech recognition convolves before it recurs. */
bool pdnn_network_is_convolutional(const struct pdnn_family_def *family) {
    return family->convolves && !family->recurs;
}

static bool has_part(const struct pdnn_family_def *family, enum pdnn_layer_part part) {
    size_t k = 0;
    while (k < family->n_layers && family->layers[k].part != part)
        k++;
    return k < family->n_layers;
}

bool pdnn_network_is_fully_connected(const struct pdnn_family_def *family) {
    return has_part(family, PDNN_LAYER_DENSE) && !family->convolves && !family->recurs;
}

bool pdnn_network_has_attention(const struct pdnn_family_def *family) {
    return has_part(family, PDNN_LAYER_ATTENTION);
}

static bool has_network(const struct pdnn_claim_data *data, pdnn_network *network) {
    for (size_t s = 0; s < data->n_sources && network; s++)
        for (size_t at = 0; at < data->rows[s]->count; at++) {
            const struct pdnn_family_def *family = pdnn_claim_family(data->rows[s], at);
            if (family && network(family))
                return true;
        }
    return !network;
}

static void check(const struct pdnn_claim_list *list, struct pdnn_question *question) {
    const size_t before = question->table->n_rows;
    if (!question->rows && !question->pairs)
        pdnn_claim_say(question, PDNN_CANNOT_BE_TOLD, "No two platforms ran the same models.");
    else
        (question->claim.check ? question->claim.check : list->check)(question);
    if (question->table->n_rows == before)
        pdnn_claim_say(question, PDNN_CANNOT_BE_TOLD, "%s", "");
    pdnn_arena_finish(&question->arena);
}

/* Of a source the pairs in which it is side B, or A. */
static size_t pairs_of(const struct pdnn_claim_data *data, size_t source) {
    for (size_t i = 0; i < data->n_pairs; i++)
        if (data->pairs[i].of->source[PDNN_SIDE_B] == source)
            return i;
    return 0;
}

void pdnn_claims_check(const struct pdnn_claim_data *data, const struct pdnn_claim_list *list,
                       struct pdnn_table *table, size_t told[PDNN_VERDICT_COUNT]) {
    const size_t n = !list->is_of_pairs ? data->n_sources : data->n_pairs ? data->n_pairs : 1;
    if (!has_network(data, list->network))
        return;
    for (const struct pdnn_claim *claim = list->claim; claim->text; claim++)
        for (size_t i = 0; i < n; i++) {
            struct pdnn_question question = {.claim = *claim,
                                             .data = data,
                                             .source = list->is_of_pairs ? PDNN_CLAIM_OF_BOTH : i,
                                             .rows = list->is_of_pairs ? NULL : data->rows[i],
                                             .table = table,
                                             .told = told};
            if (data->n_pairs) {
                const struct pdnn_claim_pairs *pairs =
                    &data->pairs[list->is_of_pairs ? i : pairs_of(data, i)];
                question.pairs = pairs->of;
                memcpy(question.name, pairs->name, sizeof question.name);
            }
            check(list, &question);
        }
}
