<?php
// SPDX-License-Identifier: MIT
// Holds 60 MB.
echo "ready\n";
fgets(STDIN);
$kept = [];
for ($i = 0; $i < 96; $i++)
	$kept[] = str_repeat(chr(65 + $i % 20), 625 << 10);
echo "done\n";
fgets(STDIN);
