/* fusion/capture/control/control.h -- branches and loops on tensors that stay in a graph.
 *
 * A trace reaches them by its struct trace_control.
 */
#ifndef FUSION_CAPTURE_CONTROL_CONTROL_H
#define FUSION_CAPTURE_CONTROL_CONTROL_H

#include "fusion/capture/trace/trace.h"

extern const struct trace_control control_flow;

#endif
