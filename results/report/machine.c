/* What every source ran on: its roofs as a table, and its environment.yaml. */
#include "results/report/page.h"
#include "results/store/tables.h"

#include <string.h>

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    static const size_t columns[] = {PDNN_CEILING_KIND,  PDNN_CEILING_PATTERN, PDNN_CEILING_DTYPE,
                                     PDNN_CEILING_LEVEL, PDNN_CEILING_THREADS, PDNN_CEILING_VALUE,
                                     PDNN_CEILING_LOW,   PDNN_CEILING_HIGH,    PDNN_CEILING_REPETITIONS};
    for (size_t s = 0; s < page->data.n_sources; s++) {
        const struct pdnn_report_source *source = &page->source[s];
        if (source->ceilings->count) {
            pdnn_html_put(out, "<details><summary>All roofs of %s</summary>\n", source->name);
            struct pdnn_table roofs;
            pdnn_table_init(&roofs, &pdnn_ceilings_def);
            for (size_t i = 0; i < source->ceilings->count; i++)
                if (strcmp(source->ceilings->row[i].kind, "ladder") != 0)
                    pdnn_ceilings_add(&source->ceilings->row[i], &roofs);
            pdnn_html_put_table(out, &roofs, NULL, columns, sizeof columns / sizeof *columns,
                                "With the least and the greatest repetition: arithmetic in GFLOP/s, "
                                "bandwidth in GB/s, overhead in ns.");
            pdnn_table_finish(&roofs);
            pdnn_str_printf(out, "</details>\n");
        }
        if (!*source->environment)
            continue;
        pdnn_html_put(out, "<details><summary>Environment of %s</summary>\n<pre>", source->name);
        for (const char *line = source->environment; *line;
             line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
            struct pdnn_str text = {0};
            pdnn_str_append(&text, line, strcspn(line, "\n"));
            pdnn_html_put(out, "%s\n", pdnn_str_text(&text));
            pdnn_str_finish(&text);
        }
        pdnn_str_printf(out, "</pre></details>\n");
    }
}

const struct pdnn_report_section pdnn_section_machine = {.title = "Machine and roofs", .put = put};
