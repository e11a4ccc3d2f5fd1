#include "results/claims/claims.h"

static const struct {
    enum pdnn_claim_origin origin;
    const struct pdnn_claim *claims;
    bool is_of_pairs;
    pdnn_network *network; /* nothing is said where there is none; NULL: any */
} registry[] = {
    {PDNN_CLAIM_OF_PLATFORMS, pdnn_source_claims, false, NULL},
    {PDNN_CLAIM_OF_PLATFORMS, pdnn_pair_claims, true, NULL},
    {PDNN_CLAIM_OF_BERT, pdnn_bert_claims, false, pdnn_network_has_attention},
};

static bool has_network(const struct pdnn_claim_data *data, pdnn_network *network) {
    for (size_t s = 0; s < data->n_sources && network; s++)
        for (size_t at = 0; at < data->rows[s]->count; at++) {
            const struct pdnn_family_def *family = pdnn_claim_family(data->rows[s], at);
            if (family && network(family))
                return true;
        }
    return !network;
}

/* Of one source, or of both, which is then returned. */
static bool check(struct pdnn_question question) {
    const struct pdnn_claim *claim = question.claim;
    const size_t before = question.table->n_rows;
    question.what = claim->what;
    question.of = claim->of;
    question.needs = claim->needs;
    if (question.source != PDNN_CLAIM_OF_BOTH)
        question.rows = question.data->rows[question.source];
    if (question.rows || question.data->pairs)
        claim->check(&question);
    else
        pdnn_claim_say(&question, PDNN_CANNOT_BE_TOLD, "No two platforms ran the same models.");
    if (question.table->n_rows == before)
        pdnn_claim_say(&question, PDNN_CANNOT_BE_TOLD, "%s", "");
    pdnn_arena_finish(&question.arena);
    return question.source == PDNN_CLAIM_OF_BOTH;
}

void pdnn_claims_check(const struct pdnn_claim_data *data, enum pdnn_claim_origin origin,
                       struct pdnn_table *table, size_t told[PDNN_VERDICT_COUNT]) {
    for (size_t k = 0; k < sizeof registry / sizeof *registry; k++) {
        if (registry[k].origin != origin || !has_network(data, registry[k].network))
            continue;
        for (const struct pdnn_claim *claim = registry[k].claims; claim->text; claim++) {
            size_t s = registry[k].is_of_pairs ? PDNN_CLAIM_OF_BOTH : 0;
            while (!check((struct pdnn_question){claim, data, s, .table = table, .told = told}) &&
                   ++s < data->n_sources)
                ;
        }
    }
}
