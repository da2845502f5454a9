/* SPDX-License-Identifier: MIT */
/* must_check.h - marks functions whose result, 0 or a negative errno, may not be ignored. */
#ifndef HI_MUST_CHECK_H
#define HI_MUST_CHECK_H

#define must_check __attribute__((warn_unused_result))

#endif
