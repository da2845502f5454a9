// SPDX-License-Identifier: MIT
// colors.js - what a box is filled with: the colour of its module or its namespace, of its age, or from blue (less) to orange (more) by how it has changed.
//
// Colours are made in OKLCH, where lightness is what the eye sees: one lightness for all modules keeps every label readable, in both themes.
"use strict";

function oklch(lightness, chroma, hue) {
	const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
	const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
	const linear = [
		4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
		-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
		-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
	];
	const byte = (value) => Math.round(255 * Math.min(1, Math.max(0, value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055)));
	return "#" + linear.map((value) => byte(value).toString(16).padStart(2, "0")).join("");
}

const MODULE_HUES = [75, 235, 150, 20, 300, 195, 110, 345];

class Colors {
	constructor(profile) {
		this.profile = profile;
		this.isDark = false;
		this.hasModules = profile.module.some((module) => module !== "");
	}

	// mode: module, namespace, change (in a comparison), age, growth
	setMode(mode) {
		this.mode = mode;
		this.groups = this.chooseGroups();
		this.setDark(this.isDark);
	}

	// Where no module is known, as in files of other tools, the first part of a name says where a function belongs.
	groupOf(functionIndex) {
		if (functionIndex < 0)
			return "";
		if (this.hasModules && this.mode !== "namespace")
			return this.profile.module[functionIndex];
		return (/^[^(<\s]*?(?=::|\.|\/)/.exec(this.profile.name[functionIndex]) || [""])[0];
	}

	// The heaviest groups get a colour each; by group, its number.
	chooseGroups() {
		const weights = new Map(), tree = this.profile.tree;
		for (let node = 0; node < tree.count; node++) {
			const group = this.groupOf(tree.functionOf[node]);
			for (let type = 0; group && type < tree.now.length; type++) {
				const whole = tree.now[type][0] + tree.old[type][0];
				if (whole > 0)
					weights.set(group, (weights.get(group) || 0) + (tree.now[type][node] + tree.old[type][node]) / whole);
			}
		}
		const sorted = Array.from(weights.keys()).sort((a, b) => weights.get(b) - weights.get(a) || (a < b ? -1 : 1));
		return new Map(sorted.map((group, index) => [group, index]));
	}

	setDark(isDark) {
		this.isDark = isDark;
		this.text = isDark ? "#f1f3f5" : "#1c1e21";
		this.neutral = isDark ? "#3a3d43" : "#dcdfe3";
		this.byFunction = new Map();
		this.byNode = new Map();
	}

	// One of eight hues, and then the same again, paler.
	ofGroup(group, shade) {
		const index = this.groups.get(group);
		if (index === undefined)
			return this.neutral;
		const hue = MODULE_HUES[index % MODULE_HUES.length], isPale = index >= MODULE_HUES.length;
		return this.isDark ? oklch(0.46 + shade, isPale ? 0.035 : 0.08, hue) : oklch(0.84 + shade, isPale ? 0.035 : 0.085, hue);
	}

	// Functions of one module differ a little, so that boxes side by side can be told apart.
	ofFunction(functionIndex) {
		let color = this.byFunction.get(functionIndex);
		if (!color) {
			color = this.ofGroup(this.groupOf(functionIndex), functionIndex < 0 ? 0 : (functionIndex * 37 % 7 - 3) * 0.008);
			this.byFunction.set(functionIndex, color);
		}
		return color;
	}

	// change: -1 to 1. Small changes are made out more easily than they would be in proportion.
	ofChange(change) {
		const step = Math.round(change * 40) / 40, size = Math.abs(step) ** 0.7, hue = step > 0 ? 60 : 255, chroma = step > 0 ? 0.14 : 0.125;
		if (this.isDark)
			return oklch(0.36 + 0.16 * size, 0.005 + chroma * size, hue);
		return oklch(0.93 - 0.18 * size, 0.005 + chroma * size, hue);
	}

	// part: 0 (old) to 1 (young)
	ofAge(part) {
		const step = Math.round(part * 20) / 20, hue = 300 - 150 * step;
		return this.isDark ? oklch(0.34 + 0.14 * step, 0.075, hue) : oklch(0.76 + 0.15 * step, 0.085, hue);
	}

	// What may be chance is pale. Only nodes of the tree itself have an age or a growth of their own.
	ofNode(tree, node, type) {
		const { profile, mode } = this, functionIndex = tree.functionOf[node];
		if (mode === "age" && tree === profile.tree)
			return Number.isNaN(profile.birth[node]) ? this.neutral : this.ofAge(profile.birth[node]);
		if (mode === "growth" && tree === profile.tree)
			return this.ofChange(profile.growth[node]);
		if (mode !== "change")
			return mode === "age" || mode === "growth" ? this.neutral : this.ofFunction(functionIndex);
		if (!this.byNode.has(tree))
			this.byNode.set(tree, profile.types.map(() => []));
		const known = this.byNode.get(tree)[type];
		if (!known[node]) {
			const figure = tree.figure(node, type);
			known[node] = this.ofChange(changeOf(figure) * (isCertain(figure) ? 1 : 0.3));
		}
		return known[node];
	}
}
