/* What families declare about their layers: every layer that a graph names is a row, some graph names every
 * row, and the minibatch is the one in the graph's data. */
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"

#include "models/graph.h"

#include <string.h>

/* Together these name every layer of every family. */
static const char *const ids[] = {
    "fc/layers=2,nodes=4,input=3,output=2,batch=2",
    "fc/layers=2,nodes=4,input=3,output=2,batch=2,mode=infer,dtype=int8,fuse=post-ops",
    "cnn/block=residual,blocks=1,filters=2,image=32,output=3,batch=2,accumulate=2,checkpoint=layer",
    "cnn/block=bottleneck,blocks=1,filters=2,image=32,output=3,batch=2,mode=infer,dtype=int8,fuse=post-ops",
    "cnn/block=plain,blocks=1-1,filters=2,image=8,output=3,batch=2,dense=4,dtype=bf16",
    "mobilenet_v1/width=0.25,image=32,output=3,batch=2",
    "mobilenet_v2/width=0.1,image=32,output=3,batch=2",
    "mobilenet_v3/width=0.1,image=32,output=3,batch=2",
    "efficientnet/width=0.1,depth=0.5,image=32,output=3,batch=2",
    "regnet/depths=1,widths=8,group=4,image=32,output=3,batch=2",
    "resnext/blocks=1,filters=8,groups=2,base=16,image=32,output=3,batch=2",
    "convnext/depths=1-2,widths=4-6,image=16,output=3,batch=2",
    "shufflenet_v2/widths=4-6-8-5,repeats=1-2-1,image=32,output=3,batch=2",
    "sd_unet/widths=4-8,repeats=1,heads=2,groups=2,text=3,tokens=3,image=4,batch=2",
    "minigo/board=3,blocks=1,filters=4,units=3,planes=2,batch=2",
    "dit/layers=2,hidden=8,heads=2,image=4,classes=5,batch=2",
    "ssd_resnet34/image=257,classes=3,batch=1,checkpoint=layer",
    "retinanet/height=32,width=32,classes=2,anchors=2,blocks=1,filters=2,channels=4,batch=1",
    "mask_rcnn/height=32,width=32,classes=2,regions=4,masks=4,blocks=1,filters=2,channels=4,units=3,batch=1",
    "graphsage/layers=2,hidden=3,features=4,fanout=2,output=3,batch=2",
    "dlrm/dim=4,bottom=5,top=6-3,features=3,pooling=2,rows_cap=9,batch=2",
    "ncf/users=9,items=7,factors=4,mlp=5-3,input=6,batch=2",
    "vit/layers=2,hidden=6,heads=3,patch=2,image=4,output=3,batch=2",
    "mlp_mixer/layers=2,hidden=6,patch=2,image=4,output=3,batch=2",
    "mamba/layers=2,hidden=8,states=3,length=4,vocabulary=5,batch=2",
    "mamba/layers=2,hidden=8,states=3,vocabulary=5,batch=2,phase=decode,mode=infer",
    "llama/layers=2,hidden=8,heads=2,kv_heads=1,ffn=6,length=4,vocabulary=5,batch=2,qk_norm=yes",
    "llama/layers=2,hidden=8,heads=2,kv_heads=1,ffn=6,vocabulary=5,batch=2,phase=decode,mode=infer,context=4",
    "llama/layers=2,hidden=8,heads=2,ffn=6,experts=4,active=2,length=4,vocabulary=5,batch=2",
    "unet/depth=2,filters=4,image=16,output=3,batch=2",
    "squeezenet/stem=4,kernel=3,width=0.125,image=32,output=3,batch=2",
    "densenet/blocks=1-2-1,growth=4,filters=4,image=32,output=3,batch=2",
    "googlenet/width=0.125,image=32,output=3,batch=2",
    "inception_v3/image=75,output=3,batch=2",
    "swin/depths=2-1,hidden=4,head=2,window=2,patch=1,image=8,output=3,batch=2",
    "t5/layers=1,hidden=4,heads=2,width=3,ffn=6,buckets=4,distance=5,length=5,target=4,vocabulary=7,batch=2",
    "t5/layers=1,hidden=4,heads=2,width=3,ffn=6,buckets=4,distance=5,length=5,vocabulary=7,batch=2,phase=decode,context=3,mode=infer",
    "whisper/layers=1,hidden=4,heads=2,frames=4,mels=3,length=3,vocabulary=5,batch=2",
    "whisper/layers=1,hidden=4,heads=2,frames=4,vocabulary=5,batch=2,phase=decode,context=3,mode=infer",
    "rnn/layers=2,embedding=3,length=4,vocabulary=5,batch=2,bidirectional=yes,dropout=10,output_at=last",
    "gnmt/hidden=4,layers=3,vocabulary=9,source=3,target=2,batch=2",
    "deepspeech2/hidden=4,layers=2,frames=41,characters=5,labels=2,batch=2,optimizer=lamb",
    "transformer/layers=2,hidden=4,heads=2,length=8,vocabulary=9,batch=2,objective=masked-lm",
    "transformer/layers=2,hidden=4,heads=2,length=8,vocabulary=9,batch=2,qkv=separate,accumulate=2",
    "transformer/layers=2,hidden=4,heads=2,length=8,vocabulary=9,batch=2,fuse=blocks,checkpoint=layer",
    "transformer/architecture=decoder,layers=2,hidden=4,heads=2,vocabulary=9,batch=2,phase=decode,mode=infer,"
    "context=8,norm=pre",
    "transformer/architecture=encoder-decoder,layers=2,hidden=4,heads=2,length=8,target=6,vocabulary=9,"
    "batch=2,objective=causal-lm,qkv=separate,optimizer=adam",
    "transformer/architecture=encoder-decoder,layers=2,hidden=4,heads=2,length=8,target=6,vocabulary=9,batch=2",
};
enum { N_IDS = sizeof ids / sizeof *ids, LAYERS_MAX = 64 };

/* Marks the rows of the layers that the graph's nodes belong to. */
static void mark_layers(const char *id, bool *named) {
    const struct pdnn_family_def *family = instance_of(id).family;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph(id, &arena, &graph);
    for (uint32_t i = 0; i < graph.n_nodes; i++) {
        char text[PDNN_LAYER_TEXT];
        const char *stem = graph.nodes[i].layer.stem;
        const struct pdnn_layer_def *layer =
            pdnn_layer_find(family, pdnn_layer_format(graph.nodes[i].layer, text));
        if (!stem || !layer || strcmp(layer->stem, stem) != 0)
            fail_msg("%s: node %u is of a layer '%s' without a row", id, i, text);
        named[layer - family->layers] = true;
    }
    pdnn_arena_finish(&arena);
}

static void test_layers_are_rows(void **state) {
    (void)state;
    for (size_t f = 0; pdnn_family_at(f); f++) {
        const struct pdnn_family_def *family = pdnn_family_at(f);
        bool named[LAYERS_MAX] = {false};
        assert_true(family->n_layers > 0 && family->n_layers <= LAYERS_MAX);
        for (size_t i = 0; i < N_IDS; i++) {
            if (instance_of(ids[i]).family == family)
                mark_layers(ids[i], named);
        }
        for (size_t k = 0; k < family->n_layers; k++) {
            if (!named[k])
                fail_msg("%s: no graph names the layer '%s'", family->name, family->layers[k].stem);
            assert_true(family->layers[k].part > PDNN_LAYER_OTHER &&
                        family->layers[k].part < PDNN_LAYER_COUNT);
        }
    }
}

/* Elements of data that are the same for all examples: the masks of swin's shifted windows, of four by four
 * patches, 16 in the first stage and 4 in the second. */
static int64_t shared_elements(const char *id) {
    return strncmp(id, "swin/", 5) == 0 ? (16 + 4) * 4 * 4 : 0;
}

/* Doubling the minibatch doubles the data and labels that the model reads, but for what examples share. */
static void test_minibatch_param_scales_the_data(void **state) {
    (void)state;
    for (size_t i = 0; i < N_IDS; i++) {
        int64_t elements[2] = {0, 0};
        for (int twice = 0; twice < 2; twice++) {
            struct pdnn_instance instance = instance_of(ids[i]);
            char id[PDNN_ID_TEXT];
            struct pdnn_arena arena;
            struct pdnn_graph graph;
            instance.hyper[instance.family->minibatch_param].number <<= twice;
            build_graph(pdnn_instance_format(&instance, id), &arena, &graph);
            for (uint32_t t = 0; t < graph.n_tensors; t++) {
                enum pdnn_role role = graph.tensors[t].role;
                if (role == PDNN_ROLE_INPUT || role == PDNN_ROLE_LABEL)
                    elements[twice] += pdnn_tensor_elements(&graph.tensors[t]);
            }
            pdnn_arena_finish(&arena);
        }
        for (int twice = 0; twice < 2; twice++)
            elements[twice] -= shared_elements(ids[i]);
        if (!elements[0] || elements[1] != 2 * elements[0])
            fail_msg("%s: %lld and %lld elements of data", ids[i], (long long)elements[0],
                     (long long)elements[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_are_rows),
        cmocka_unit_test(test_minibatch_param_scales_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
