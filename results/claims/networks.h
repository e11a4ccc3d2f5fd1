/* The kinds of network that published observations speak of, by what a family's layers are. */
#ifndef RESULTS_CLAIMS_NETWORKS_H
#define RESULTS_CLAIMS_NETWORKS_H

#include "models/family.h"

#include <stdbool.h>

bool pdnn_report_is_fully_connected(const struct pdnn_family_def *family);
bool pdnn_report_is_convolutional(const struct pdnn_family_def *family);
bool pdnn_report_is_recurrent(const struct pdnn_family_def *family);

#endif
