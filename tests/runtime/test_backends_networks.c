/* Networks that mix images, rows and attention, against `reference`, fused in every way: inference and whole
 * steps of training. What 16 bits round the other way grows with every layer, so that is left to `paradnn
 * check`, which compares op by op, as are gradients that cancel (cli/check_test.py). */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "models/instance.h"

#include <stdbool.h>
#include <stdio.h>

extern const struct pdnn_backend_def pdnn_backend_onednn;

static const struct {
    const char *id;
    bool cancels; /* inference only: some gradients of biases, exactly: a later normalization takes them away
                   */
} networks[] = {
    {"convnext/depths=1-2,widths=6-20,image=20,output=5,batch=2", false},
    {"shufflenet_v2/widths=8-20-36-10,repeats=2-1-2,image=40,output=5,batch=2", true},
    {"sd_unet/widths=12-20,repeats=1,heads=2,groups=2,text=6,tokens=5,image=8,batch=2", true},
    {"dit/layers=1,hidden=12,heads=2,image=8,classes=5,batch=2", false},
    {"mlp_mixer/layers=1,hidden=12,patch=4,image=16,output=5,batch=2", true},
};
static const char *const fuses[] = {"none", "post-ops", "blocks"};
enum { NETWORKS = sizeof networks / sizeof *networks, FUSES = sizeof fuses / sizeof *fuses };

static void check(const struct opened *backend, const char *network, const char *mode, const char *fuse) {
    char id[PDNN_ID_TEXT];
    snprintf(id, sizeof id, "%s,mode=%s,fuse=%s", network, mode, fuse);
    check_instance(backend, 1, id);
}

static void test_networks(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int i = 0; i < NETWORKS; i++)
        for (int k = 0; k < FUSES; k++) {
            check(&backend, networks[i].id, "infer", fuses[k]);
            if (!networks[i].cancels)
                check(&backend, networks[i].id, "train,optimizer=sgd", fuses[k]);
        }
    close_backend(&backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
