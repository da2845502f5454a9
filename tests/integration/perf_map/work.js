// SPDX-License-Identifier: MIT
// work.js FILE: allocates in functions of known names, and makes FILE once these are compiled.
const fs = require('fs');

let kept = [];
function growsInScript(n) {
	kept.push(Buffer.alloc(9000, n));
	if (kept.length > 100)
		kept = [];
	return n;
}
function callsThroughArray(n) {
	return [n, n + 1].map((one) => growsInScript(one))[0];
}
function outermostOfScript(round) {
	for (let i = 0; i < 200; i++)
		callsThroughArray(i);
	if (round === 40)
		fs.writeFileSync(process.argv[2], 'ready');
	setImmediate(outermostOfScript, round + 1);
}
outermostOfScript(0);
