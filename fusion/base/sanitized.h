/* fusion/base/sanitized.h -- whether the address or the thread sanitizer is built in.
 *
 * gcc says it by a macro, clang by a feature. */
#ifndef FUSION_BASE_SANITIZED_H
#define FUSION_BASE_SANITIZED_H

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ADDRESS_SANITIZED 1
#else
#define ADDRESS_SANITIZED 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define THREAD_SANITIZED 1
#else
#define THREAD_SANITIZED 0
#endif

#endif
