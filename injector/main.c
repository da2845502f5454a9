/* SPDX-License-Identifier: MIT */
/* main.c - heapinject. Everything is in cli.c, so that tests can link all but this file. */
#include "cli.h"

int main(int argc, char **argv)
{
	return cli_run(argc, argv);
}
