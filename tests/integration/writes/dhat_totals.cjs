// SPDX-License-Identifier: MIT
// dhat_totals.cjs DH_VIEW.JS FILE: FILE in the tree that valgrind's viewer builds: bytes and blocks in all, at the end, and lifetimes.
'use strict';

const fs = require('fs');
const vm = require('vm');

const page = vm.createContext({ console, Intl, document: {}, text_: fs.readFileSync(process.argv[3], 'utf8') });
vm.runInContext(fs.readFileSync(process.argv[2], 'utf8'), page, { filename: 'dh_view.js' });
vm.runInContext(`
	gSelect = { childNodes: gSelectData.map(() => ({})), selectedIndex: 1 };
	gData = JSON.parse(text_);
	buildTree();
	root_ = { total: [gRoot._totalBytes, gRoot._totalBlocks], end: [gRoot._atTEndBytes, gRoot._atTEndBlocks], lifetimes: gRoot._totalLifetimes };`, page);

const data = JSON.parse(page.text_);
for (const point of data.pps) {
	for (const frame of point.fs) if (!data.ftbl[frame]) throw new Error(`no frame ${frame}`);
	if (point.mb < point.eb || point.mb > point.tb || point.gb > point.mb) throw new Error(`impossible maximum: ${JSON.stringify(point)}`);
}
console.log(...page.root_.total, ...page.root_.end, page.root_.lifetimes);
