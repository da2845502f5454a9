/* SPDX-License-Identifier: MIT */
/* Any command: keeps 20 MB more. */
#include "../hoarding.h"

int main(void)
{
	return hoard_on_command();
}
