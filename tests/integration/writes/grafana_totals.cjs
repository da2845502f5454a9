// SPDX-License-Identifier: MIT
// grafana_totals.cjs PACKAGE FILE: FILE as the panel of @grafana/flamegraph lays it out: value of the root on both sides, sum of what
// the nodes have themselves, unit.
//
// The panel's own code reads the frame and makes levels of it. What loads a frame and draws text is a package of several hundred
// others (@grafana/data), of which little is needed here.
'use strict';

const Module = require('module');
const path = require('path');
const fs = require('fs');

const standIns = {
	'@grafana/data': {
		FieldType: { string: 'string', number: 'number', enum: 'enum' },
		createTheme: () => ({}),
		getDisplayProcessor: () => (value) => ({ text: String(value), numeric: value }),
	},
	lodash: {},
};
const load = Module._load;
Module._load = function (name, ...rest) {
	return name in standIns ? standIns[name] : load.call(this, name, ...rest);
};
const panel = require(path.join(process.argv[2], 'dist', 'cjs', 'FlameGraph', 'dataTransform.cjs'));

const frames = JSON.parse(fs.readFileSync(process.argv[3], 'utf8'));
const [{ schema, data }] = frames;
if (frames.length !== 1 || schema.fields.length !== data.values.length) throw new Error('not one frame with a column for each field');
const fields = schema.fields.map((field, index) => ({ config: {}, ...field, values: data.values[index] }));
const length = fields[0].values.length;
if (!fields.every((field) => field.values.length === length)) throw new Error('the columns differ in length');

const container = new panel.FlameGraphDataContainer({ fields, length }, { collapsing: false });
const levels = container.getLevels();
let self = 0, nodes = 0;
for (const level of levels) {
	for (const item of level) {
		const [index] = item.itemIndexes;
		const width = item.children.reduce((sum, child) => sum + child.value, 0);
		const own = container.getSelf(index) + (container.isDiffFlamegraph() ? container.getSelfRight(index) : 0);
		if (width + own !== item.value) throw new Error(`${container.getLabel(index)}: ${item.value} is not ${width} + ${own}`);
		self += own;
		nodes++;
	}
}
if (levels[0].length !== 1 || nodes !== length) throw new Error(`${levels[0].length} roots, ${nodes} of ${length} nodes`);
console.log(container.getValue(0), container.getValueRight(0) || 0, self, container.getUnitTitle());
