/* SPDX-License-Identifier: MIT */
/* go_rows_of_cpu.h - x86-64: kind and CFA of rows of functions of Go, for go_rows_test. */
#ifndef HI_GO_ROWS_OF_CPU_H
#define HI_GO_ROWS_OF_CPU_H

#define ROW_AT_ENTRY HI_UNWIND_SP, 1
#define ROW_OF_24 HI_UNWIND_SP, 4
#define ROW_OF_64 HI_UNWIND_SP, 9
#define BP_SLOT_OF_SPILLED 0

#endif
