/* SPDX-License-Identifier: MIT */
/* go_rows_of_cpu.h - aarch64: kind and CFA of rows of functions of Go, for go_rows_test. */
#ifndef HI_GO_ROWS_OF_CPU_H
#define HI_GO_ROWS_OF_CPU_H

#define ROW_AT_ENTRY HI_UNWIND_LINK, 0
#define ROW_OF_24 HI_UNWIND_ALONE, 3
#define ROW_OF_64 HI_UNWIND_ALONE, 8
#define BP_SLOT_OF_SPILLED -3

#endif
