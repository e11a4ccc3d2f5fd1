#include "runtime/worker/loading.h"

#include "base/memory.h"
#include "runtime/data/pages.h"

#include <stdio.h>

enum pdnn_status pdnn_loading_check(const struct pdnn_instance *instance, struct pdnn_err *err) {
    const char *data = pdnn_settings[PDNN_SETTING_DATA].choices[instance->setting[PDNN_SETTING_DATA]];
    if (instance->setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD)
        return pdnn_fail(err, PDNN_INVALID,
                         "data=%s needs cache=warm: the loaders would work while the caches are evicted",
                         data);
    if (instance->setting[PDNN_SETTING_LAYERS_RUN])
        return pdnn_fail(
            err, PDNN_INVALID,
            "data=%s needs all layers to run: waiting cannot be extrapolated, leave out layers_run", data);
    return PDNN_OK;
}

/* A part of the visit's time goes into the loaders alone. */
enum { ALONE_SHARE = 8 };

enum pdnn_status pdnn_loading_init(struct pdnn_loading *loading, const struct pdnn_process *process,
                                   const struct pdnn_model *model, const struct pdnn_request *request,
                                   struct pdnn_err *err) {
    const int64_t *setting = model->instance.setting;
    bool reads = setting[PDNN_SETTING_DATA] == PDNN_DATA_FILE;
    const struct pdnn_feed_request feed = {.graph = &model->graph,
                                           .seed = request->seed,
                                           .sets = reads ? request->sets : NULL,
                                           .drops = setting[PDNN_SETTING_PAGES] == PDNN_PAGES_DROPPED};
    *loading = (struct pdnn_loading){.feed = {.fd = -1}};
    loading->request = (struct pdnn_infeed_request){.feed = &loading->feed,
                                                    .loaders = setting[PDNN_SETTING_LOADERS],
                                                    .host = &process->host,
                                                    .threads = model->threads};
    struct pdnn_infeed_alone alone = {.minibatches = 0};
    enum pdnn_status status = pdnn_feed_open(&loading->feed, &feed, err);
    if (status == PDNN_OK && reads)
        status = feed.drops ? pdnn_pages_drop(&loading->feed.set, err)
                            : pdnn_pages_load(&loading->feed.set, process->host.memory_limit_bytes / 2, err);
    if (status == PDNN_OK)
        status =
            pdnn_infeed_measure(&loading->request, request->rules.max_visit_ns / ALONE_SHARE, &alone, err);
    loading->seen.loader_ns = alone.minibatch_ns;
    loading->seen.loader_bytes = (uint64_t)(alone.read_bytes + 0.5);
    if (status == PDNN_OK && reads) {
        struct pdnn_pages_found found = pdnn_pages_count(&loading->feed.set);
        snprintf(loading->seen.page_cache, sizeof loading->seen.page_cache, "%s", pdnn_pages_name(&found));
    }
    return status == PDNN_OK ? pdnn_infeed_create(&loading->request, &loading->infeed, err) : status;
}

void pdnn_loading_finish(struct pdnn_loading *loading) {
    pdnn_infeed_destroy(loading->infeed);
    if (loading->request.feed)
        pdnn_feed_close(&loading->feed);
}

uint64_t pdnn_loading_bytes(const struct pdnn_model *model) {
    int64_t depth = pdnn_infeed_depth(model->instance.setting[PDNN_SETTING_LOADERS]);
    return pdnn_feed_bytes_of(&model->graph) * (uint64_t)(depth ? depth : 1);
}

void pdnn_loading_report(const struct pdnn_loading *loading, struct pdnn_visit *visit,
                         struct pdnn_call_rows *rows) {
    const struct pdnn_feed *feed = &loading->feed;
    rows->ops = pdnn_resize(rows->ops, rows->n_ops + 1, sizeof *rows->ops);
    visit->infeed = loading->seen;
    visit->infeed.wait_ns = visit->waited_share * visit->median_ns;
    struct pdnn_visit_op *wait = &rows->ops[rows->n_ops++];
    *wait = (struct pdnn_visit_op){.count = 1, .time_ns = visit->infeed.wait_ns};
    char shape[PDNN_SHAPE_TEXT] = "";
    if (feed->n_parts)
        pdnn_tensor_shape(&feed->graph->tensors[feed->parts[0].tensor], shape);
    snprintf(wait->key, sizeof wait->key, PDNN_INFEED_OP "/forward/%s", shape);
    pdnn_feed_format(feed, wait->implementation);
}
