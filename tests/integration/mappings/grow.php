<?php
/* SPDX-License-Identifier: MIT */
/* Keeps so many megabytes for each line that it reads, in strings that PHP's own allocator gives. */
$kept = [];
ini_set('memory_limit', '-1');
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
	for ($i = 0; $i < 10 * (int)$line; $i++)
		$kept[] = str_repeat(chr(65 + $i % 26), 104000) . $i;
	echo "kept\n";
}
