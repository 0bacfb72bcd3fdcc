/* server/cli/device_flag.h -- --device cuda:N: which GPU a command runs on. */
#ifndef SERVER_DEVICE_FLAG_H
#define SERVER_DEVICE_FLAG_H

#include <stdbool.h>

/* Where *device (NULL: not given) is "cuda:N", it becomes "cuda", and GPU N, of those that
 * CUDA_VISIBLE_DEVICES shows, the only one that this process and its children see; other texts
 * stay.  False after a message.  Before CUDA is used, and before there are threads. */
bool device_flag_take(const char *command, const char **device);

#endif
