// SPDX-License-Identifier: MIT
// What the C library keeps for itself, open files and their buffers among it, is none.
// want: nothing
#include <dirent.h>
#include <locale.h>
#include <netdb.h>
#include <time.h>

#include "leaky.h"

int main(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[100];

	setlocale(LC_ALL, "");
	setenv("LEAKY_VARIABLE", "a value that is long enough for a block", 1);
	tzset();
	if (!file || !fgets(line, sizeof(line), file))
		return 1;
	printf("%.1s\n", line);
	getservbyname("nothing", "tcp");
	return 0;
}
