/* SPDX-License-Identifier: MIT */
/* The program by which other tools' files are read; here it is sampled by us. */
#include "../reads/target.c"
