/* Every claim, checked for every source, or for both. */
#include "results/report/page.h"

#include <stdlib.h>

static enum pdnn_status check(struct pdnn_report_question question, const struct pdnn_report_claim *claim,
                              size_t source) {
    question.claim = claim;
    *question.finding =
        (struct pdnn_report_finding){.number = claim->number, .claim = claim->text, .source = source};
    claim->check(&question);
    if (question.finding->verdict == PDNN_CANNOT_BE_TOLD && !question.finding->tells)
        question.finding->tells = claim->tells;
    return question.status;
}

/* What can be told first, then in the order of table 1 after what is not in it, and of the sources. Claims of
 * the text come in the order of the list. */
static int compare_findings(const void *a, const void *b) {
    const struct pdnn_report_finding *one = a, *other = b;
    bool x = one->verdict == PDNN_CANNOT_BE_TOLD, y = other->verdict == PDNN_CANNOT_BE_TOLD;
    if (x != y)
        return x ? 1 : -1;
    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

enum pdnn_status pdnn_report_find(struct pdnn_report_page *page, struct pdnn_err *err) {
    size_t most = pdnn_report_n_claims * page->n_sources + pdnn_report_n_claims_of_pairs, count = 0;
    struct pdnn_report_finding *made = pdnn_arena_alloc(&page->arena, most, sizeof *made);
    struct pdnn_report_question question = {.times = &page->times, .sides = &page->sides, .err = err};
    enum pdnn_status status = PDNN_OK;
    for (size_t k = 0; k < pdnn_report_n_claims; k++) {
        bool is_of_both = false;
        for (size_t s = 0; s < page->n_sources && !is_of_both && status == PDNN_OK; s++, count++) {
            question.rows = &page->source[s].selection;
            question.finding = &made[count];
            status = check(question, &pdnn_report_claims[k], s);
            is_of_both = made[count].source == PDNN_REPORT_BOTH;
        }
    }
    question.rows = NULL;
    for (size_t k = 0; k < pdnn_report_n_claims_of_pairs && status == PDNN_OK; k++, count++) {
        question.finding = &made[count];
        status = check(question, &pdnn_report_claims_of_pairs[k], PDNN_REPORT_BOTH);
    }
    if (status != PDNN_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        made[i].order = i;
    qsort(made, count, sizeof *made, compare_findings);
    page->findings = made;
    page->n_findings = count;
    return PDNN_OK;
}
