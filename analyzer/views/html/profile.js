// SPDX-License-Identifier: MIT
// profile.js - the profiles of the page. What is shown is a tree made of their columns by select(): one of the profiles, or the difference of two, without
// what is filtered out. Nothing here knows of the page.
"use strict";

class Profile {
	constructor(data) {
		this.meta = data;
		this.types = data.types;
		this.name = data.functions.name.map((index) => data.names[index]);
		this.module = data.functions.module.map((index) => data.names[index]);
		this.file = data.functions.file.map((index) => data.names[index]);
		this.count = data.nodes.function.length;
		this.parent = this.readParents(data.nodes.depth);
		this.isFolded = new Uint8Array(this.count);
		for (const node of data.nodes.folded)
			this.isFolded[node] = 1;
		this.hasFolded = data.nodes.folded.length > 0;
	}

	readParents(depths) {
		const path = [], parents = new Int32Array(depths.length);
		depths.forEach((depth, node) => {
			parents[node] = depth ? path[depth - 1] : 0;
			path[depth] = node;
		});
		return parents;
	}

	// ---- what is shown ----

	// filter: fold; snapshot and against (numbers, -1 = none); from and to (slices, null = all); thread (-1 = all); focus, ignore and hide (patterns, or null).
	// The figures of the nodes of the data themselves, by sample type.
	columns(filter) {
		const { nodes, snapshots } = this.meta, types = this.types.map((_, type) => type), nothing = () => new Float64Array(this.count);
		const squares = (values) => Float64Array.from(values, (value) => value * value);
		const columns = {
			now: types.map((type) => Float64Array.from(nodes.self[type])),
			old: types.map((type) => nodes.base ? Float64Array.from(nodes.base[type]) : nothing()),
			variance: types.map((type) => nodes.deviation ? squares(nodes.deviation[type]) : nothing()),
			unit: types.map((type) => nodes.unit ? Float64Array.from(nodes.unit[type]) : nothing()),
		};
		const spread = (snapshot, type, values, target, change) => snapshot.node.forEach((node, i) => {
			target[type][node] += change(values[type][i]);
		});
		if (filter.snapshot >= 0) {
			const chosen = snapshots[filter.snapshot];
			columns.now = types.map(nothing);
			columns.variance = types.map(nothing);
			for (const type of types) {
				spread(chosen, type, chosen.self, columns.now, (value) => value);
				if (chosen.deviation)
					spread(chosen, type, chosen.deviation, columns.variance, (value) => value * value);
			}
		}
		if (filter.against >= 0) {
			const base = snapshots[filter.against];
			for (const type of types) {
				spread(base, type, base.self, columns.old, (value) => value);
				if (base.deviation)
					spread(base, type, base.deviation, columns.variance, (value) => value * value);
			}
		}
		if (filter.from !== null)
			this.takePart(columns, this.partOfRange(filter));
		if (filter.thread >= 0)
			this.takePart(columns, this.partOfThread(filter.thread));
		return columns;
	}

	// By type, what was allocated in some slices and is in use; null where that is not asked.
	partOfRange({ from, to }) {
		const { ages } = this.meta, objects = new Float64Array(this.count), bytes = new Float64Array(this.count);
		ages.node.forEach((node, i) => {
			if (ages.slice[i] >= from && ages.slice[i] <= to) {
				objects[node] += ages.objects[i];
				bytes[node] += ages.bytes[i];
			}
		});
		return [null, null, objects, bytes];
	}

	partOfThread(thread) {
		const { threads } = this.meta;
		return [threads.allocObjects, threads.allocSpace, threads.inuseObjects, threads.inuseSpace].map((values) => {
			const part = new Float64Array(this.count);
			threads.node.forEach((node, i) => {
				if (threads.thread[i] === thread)
					part[node] += values[i];
			});
			return part;
		});
	}

	// All samples of a node weigh about the same, so a part of a figure has that part of its variance.
	takePart(columns, part) {
		part.forEach((values, type) => {
			for (let node = 0; values && node < this.count; node++) {
				const was = columns.now[type][node], now = Math.min(values[node], was);
				columns.variance[type][node] *= was > 0 ? now / was : 0;
				columns.now[type][node] = now;
			}
		});
	}

	// By function, whether a filter's pattern finds its name, file or module; null = there is no pattern.
	found(pattern) {
		return pattern && this.name.map((name, i) => pattern.test(name) || pattern.test(this.file[i]) || pattern.test(this.module[i]));
	}

	select(filter) {
		this.filter = filter;
		this.isComparison = Boolean(this.meta.nodes.base) || filter.against >= 0;
		const columns = this.columns(filter);
		this.isExact = [...columns.variance, ...columns.unit].every((values) => values.every((value) => value === 0));
		this.tree = this.makeTree(columns, filter);
		this.merged = new Map();
		this.ages = this.growing = null;
	}

	makeTree(columns, filter) {
		const { function: functionOf, line } = this.meta.nodes, { count, parent } = this, width = this.name.length + 2, tree = new CallTree(this.types.length);
		const focus = this.found(filter.focus), ignore = this.found(filter.ignore), hide = this.found(filter.hide), steps = new Map();
		const image = new Int32Array(count), isFocused = new Uint8Array(count), isIgnored = new Uint8Array(count);
		for (let node = 0; node < count; node++) {
			const functionIndex = functionOf[node], isFunction = functionIndex >= 0, above = image[parent[node]];
			isFocused[node] = !focus || (isFunction && focus[functionIndex]) || (node > 0 && isFocused[parent[node]]) ? 1 : 0;
			isIgnored[node] = (ignore && isFunction && ignore[functionIndex]) || (node > 0 && isIgnored[parent[node]]) ? 1 : 0;
			if (node === 0)
				image[node] = tree.add(ROOT, 0);
			else if ((filter.fold && this.isFolded[node]) || (hide && isFunction && hide[functionIndex]))
				image[node] = above;
			else {
				const key = above * width + functionIndex + 2;
				if (!steps.has(key))
					steps.set(key, tree.add(functionIndex, above));
				image[node] = steps.get(key);
				tree.line[image[node]] = tree.line[image[node]] || line[node];
			}
		}
		const isIn = (node) => isFocused[node] && !isIgnored[node];
		this.self = this.types.map((_, type) => this.sumSelves(columns, type, tree, image, isIn));
		for (let node = tree.count - 1; node > 0; node--)
			tree.include(tree.parent[node], tree, node);
		tree.image = image;
		tree.isIn = isIn;
		return tree;
	}

	sumSelves(columns, type, tree, image, isIn) {
		const now = tree.now[type], old = tree.old[type], variance = tree.variance[type], unit = tree.unit[type];
		for (let node = 0; node < this.count; node++) {
			if (!isIn(node))
				continue;
			const at = image[node];
			now[at] += columns.now[type][node];
			old[at] += columns.old[type][node];
			variance[at] += columns.variance[type][node];
			unit[at] = Math.max(unit[at], columns.unit[type][node]);
		}
		const self = { now: now.slice(), old: old.slice(), variance: variance.slice(), unit: unit.slice() };
		return (node) => ({ now: self.now[node], old: self.old[node], variance: self.variance[node], unit: self.unit[node] });
	}

	// A column of the data by node, summed up over the subtrees that are shown.
	sumUp(nodes, value) {
		const { tree } = this, sum = new Float64Array(tree.count);
		nodes.forEach((node, i) => {
			if (tree.isIn(node))
				sum[tree.image[node]] += value(i);
		});
		for (let node = tree.count - 1; node > 0; node--)
			sum[tree.parent[node]] += sum[node];
		return sum;
	}

	// By node, when what is in use was allocated, in the mean: 0 at the start of the window to 1 at its end; NaN = not known.
	get birth() {
		if (!this.ages) {
			const { ages, duration } = this.meta, isKnown = (i) => ages.slice[i] !== ages.unknown;
			const bytes = this.sumUp(ages.node, (i) => isKnown(i) ? ages.bytes[i] : 0);
			const moments = this.sumUp(ages.node, (i) => isKnown(i) ? ages.bytes[i] * (ages.slice[i] + 0.5) * ages.width / duration : 0);
			this.ages = Array.from(bytes, (weight, node) => weight > 0 ? Math.min(1, moments[node] / weight) : NaN);
		}
		return this.ages;
	}

	// By node, -1 to 1: how much of it was not there in the first profile, or which part of it belongs to stacks that grow.
	get growth() {
		if (!this.growing) {
			const { snapshots, growing, nodes } = this.meta, isGrowing = new Set(growing || []);
			const nodesAll = Array.from(nodes.function.keys()), inUse = this.sumUp(nodesAll, (node) => nodes.self[3][node]);
			const first = snapshots ? this.sumUp(snapshots[0].node, (i) => snapshots[0].self[3][i]) : null;
			const part = snapshots ? null : this.sumUp(nodesAll, (node) => isGrowing.has(node) ? nodes.self[3][node] : 0);
			this.growing = Array.from(inUse, (now, node) => snapshots ? changeOf({ now, old: first[node] }) : now > 0 ? part[node] / now : 0);
		}
		return this.growing;
	}

	// ---- functions ----

	nameOf(functionIndex) {
		return functionIndex === ROOT ? "all" : functionIndex === OTHER ? "(other)" : this.name[functionIndex];
	}

	moduleOf(functionIndex) {
		return functionIndex < 0 ? "" : this.module[functionIndex];
	}

	fileOf(functionIndex) {
		return functionIndex < 0 ? "" : this.file[functionIndex];
	}

	// Nodes of a function that lie below no other one of it: what they hold counts once. wanted: of a function, whether it counts.
	topmost(wanted) {
		const tree = this.tree, isBelow = new Uint8Array(tree.count), found = [];
		for (let node = 0; node < tree.count; node++) {
			const isWanted = wanted(tree.functionOf[node]);
			if (node > 0)
				isBelow[node] = isBelow[tree.parent[node]];
			if (isWanted && !isBelow[node]) {
				found.push(node);
				isBelow[node] = 1;
			}
		}
		return found;
	}

	// What matches, in all. As above.
	sumOf(wanted, type) {
		const sum = { now: 0, old: 0, variance: 0, unit: 0 };
		for (const node of this.topmost(wanted))
			addFigures(sum, this.tree.figure(node, type));
		return sum;
	}

	// Two trees with the function as root: who calls it, and what it calls. Made when they are asked for.
	around(functionIndex) {
		if (!this.merged.has(functionIndex)) {
			const nodes = this.topmost((candidate) => candidate === functionIndex);
			this.merged.set(functionIndex, { callers: this.callersOf(functionIndex, nodes), callees: this.calleesOf(functionIndex, nodes) });
		}
		return this.merged.get(functionIndex);
	}

	merger(functionIndex) {
		const tree = new CallTree(this.types.length), steps = new Map();
		tree.add(functionIndex, 0);
		const step = (at, next, line) => {
			const key = at * (this.name.length + 2) + next + 2;
			if (!steps.has(key))
				steps.set(key, tree.add(next, at));
			tree.line[steps.get(key)] = tree.line[steps.get(key)] || line;
			return steps.get(key);
		};
		return { tree, step };
	}

	callersOf(functionIndex, nodes) {
		const { tree, step } = this.merger(functionIndex), source = this.tree;
		for (const node of nodes) {
			let at = 0;
			tree.include(0, source, node);
			for (let caller = source.parent[node]; caller > 0; caller = source.parent[caller]) {
				at = step(at, source.functionOf[caller], source.line[caller]);
				tree.include(at, source, node);
			}
		}
		return tree;
	}

	calleesOf(functionIndex, nodes) {
		const { tree, step } = this.merger(functionIndex), source = this.tree;
		const pending = nodes.map((node) => ({ node, at: 0 }));
		while (pending.length) {
			const { node, at } = pending.pop();
			tree.include(at, source, node);
			for (const child of source.children[node])
				pending.push({ node: child, at: step(at, source.functionOf[child], source.line[child]) });
		}
		return tree;
	}

	// Sums by what `groupOf` gives for a function, each once per stack: self, total.
	rowsBy(groupOf, type) {
		const { tree } = this, groups = tree.functionOf.map((functionIndex) => groupOf(functionIndex)), rows = new Map();
		const nothing = () => ({ now: 0, old: 0, variance: 0, unit: 0 });
		for (let node = 0; node < tree.count; node++) {
			const self = this.self[type](node), group = groups[node];
			if (node === 0 && !self.now && !self.old)
				continue;
			if (!rows.has(group))
				rows.set(group, { group, self: nothing(), total: nothing() });
			const row = rows.get(group);
			addFigures(row.self, self);
			let above = tree.parent[node];
			while (above > 0 && groups[above] !== group)
				above = tree.parent[above];
			if (above === 0 || node === 0)
				addFigures(row.total, node === 0 ? self : tree.figure(node, type));
		}
		return Array.from(rows.values()).filter((row) => row.total.now > 0 || row.total.old > 0);
	}

	// The table: each function once, as in a report of functions. A row: function, self, total.
	functionRows(type) {
		return this.rowsBy((functionIndex) => functionIndex, type).map((row) => ({ functionIndex: row.group, self: row.self, total: row.total }));
	}
}
