// SPDX-License-Identifier: MIT
// Holds some 100 MB of objects, and 12 MB of buffers.
globalThis.kept = [];

process.stdin.once("data", () => {
	for (let i = 0; i < 96; i++) {
		const own = [];
		for (let k = 0; k < 16000; k++)
			own.push({ k, text: [k] });
		kept.push(own, i % 2 ? Buffer.alloc(125 << 10, 1) : new Uint8Array(125 << 10).fill(1));
	}
	console.log("done");
});
console.log("ready");
