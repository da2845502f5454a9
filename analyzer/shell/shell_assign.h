/* SPDX-License-Identifier: MIT */
/* shell_assign.h - lines of the shell that set an option. They print what is wrong with them. */
#ifndef HI_SHELL_ASSIGN_H
#define HI_SHELL_ASSIGN_H

#include "shell_settings.h"
#include "shell_view.h"
#include "shell_words.h"

struct shell_assign {
	struct shell_settings *settings;
	struct shell_view view; /* has these settings; a value that no view accepts is not kept */
};

/* Runs NAME=VALUE, NAME = VALUE or NAME. False if the line is none of these. */
bool shell_assign_setting(const struct shell_assign *assign, const struct shell_words *words);
/*
 * Runs mean_TYPE and total_TYPE, which say as in pprof what is counted, and whether by means. False
 * if the line is none of these.
 */
bool shell_assign_type(const struct shell_assign *assign, const struct shell_words *words);

#endif
