/* The rows of a family's axes and presets. Internal to gen/family. */
#ifndef GEN_FAMILY_AXES_H
#define GEN_FAMILY_AXES_H

#include "gen/family/reader.h"

const struct pdnn_definition_axis *pdnn_family_axes(const struct pdnn_reader *reader,
                                                    const struct pdnn_yaml *map, size_t *count);

const struct pdnn_definition_preset *pdnn_family_presets(const struct pdnn_reader *reader,
                                                         const struct pdnn_yaml *map, size_t *count);

#endif
