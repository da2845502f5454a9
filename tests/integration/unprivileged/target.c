/* SPDX-License-Identifier: MIT */
#include "../hoarding.h"

int main(void)
{
	return hoard_on_command();
}
