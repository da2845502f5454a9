/* SPDX-License-Identifier: MIT */
#include "../serve/target.c"
