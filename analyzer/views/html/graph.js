// SPDX-License-Identifier: MIT
// graph.js - the drawing: one or two call trees as boxes on a canvas, what lies under the pointer, and the box that has the keyboard's focus.
//
// Only what is on the screen is drawn, so that ten thousand nodes move smoothly. A canvas means nothing to a screen reader: the box in focus is therefore also
// an element, a treeitem that moves with it.
"use strict";

const ROW_HEIGHT = 21, GAP = 28, NARROWEST = 0.4, LABEL_FROM = 30, LETTERS_MIN = 4, MOVE_MS = 220;

// Where the nodes of a tree lie: x and width in units of the sample type, children side by side.
class Layout {
	constructor(profile, tree, options) {
		const { type, byName, withVanished } = options, children = tree.children, now = tree.now[type], old = tree.old[type];
		this.tree = tree;
		this.x = new Float64Array(tree.count);
		this.width = new Float64Array(tree.count);
		// What has vanished is as wide as it was; in all, nodes are as wide as what is in them.
		for (let node = tree.count - 1; node >= 0; node--) {
			const side = now[node] > 0 ? now : withVanished ? old : null;
			if (side)
				this.width[node] += children[node].reduce((rest, child) => rest - side[child], side[node]);
			this.width[node] = Math.max(this.width[node], 0);
			if (node > 0)
				this.width[tree.parent[node]] += this.width[node];
		}
		const name = (node) => profile.nameOf(tree.functionOf[node]);
		const isOther = (node) => tree.functionOf[node] === OTHER ? 1 : 0;
		this.children = children.map((list) => list.filter((child) => this.width[child] > 0).sort((a, b) =>
			isOther(a) - isOther(b) || (byName ? 0 : this.width[b] - this.width[a]) || (name(a) < name(b) ? -1 : 1)));
		for (let node = 0; node < tree.count; node++) {
			let x = this.x[node];
			for (const child of this.children[node]) {
				this.x[child] = x;
				x += this.width[child];
			}
		}
	}

	// The deepest level with a box at least that wide in the window.
	depthIn(window, narrowest) {
		const pending = [0];
		let depth = 0;
		while (pending.length) {
			const node = pending.pop();
			if (this.width[node] < narrowest || this.x[node] >= window.to || this.x[node] + this.width[node] <= window.from)
				continue;
			depth = Math.max(depth, this.tree.depth[node]);
			pending.push(...this.children[node]);
		}
		return depth;
	}

	at(x, depth) {
		let node = 0;
		while (this.tree.depth[node] < depth) {
			node = this.children[node].find((child) => x >= this.x[child] && x < this.x[child] + this.width[child]);
			if (node === undefined)
				return null;
		}
		return x >= this.x[node] && x < this.x[node] + this.width[node] ? node : null;
	}
}

class Graph {
	// handlers: choose(layout, node), focus(layout, node), hover(layout, node or null, event)
	constructor(host, profile, colors, handlers) {
		Object.assign(this, { host, profile, colors, handlers });
		this.space = host.querySelector(".space");
		this.canvas = host.querySelector("canvas");
		this.context = this.canvas.getContext("2d");
		this.bands = [];
		this.width = 1;
		this.height = ROW_HEIGHT;
		this.letterWidths = new Map();
		this.window = { from: 0, to: 1 };
		this.matches = null; // by function, whether the search has found it
		this.hovered = null;
		this.focused = null; // { layout, node }
		this.canvas.addEventListener("click", (event) => this.clicked(event));
		this.canvas.addEventListener("mousemove", (event) => this.moved(event));
		this.canvas.addEventListener("mouseleave", (event) => this.hover(null, event));
		host.addEventListener("scroll", () => this.draw());
		new ResizeObserver(() => this.arrange()).observe(host);
	}

	// One tree (upwards: the root at the bottom), or callers above callees.
	show(bands, type, window) {
		cancelAnimationFrame(this.frame); // a move in what was there before
		this.bands = bands;
		this.type = type;
		this.window = window;
		this.arrange();
	}

	get scale() {
		return this.width / (this.window.to - this.window.from);
	}

	// Heights of the bands, for what can be seen in the window.
	arrange() {
		let top = 0;
		if (!this.space.clientWidth)
			return; // its tab is not open
		this.width = this.space.clientWidth;
		for (const [index, band] of this.bands.entries()) {
			band.rows = band.layout.depthIn(this.window, NARROWEST / this.scale) + (band.hidesRoot ? 0 : 1);
			band.top = top + (index ? GAP : 0);
			top = band.top + band.rows * ROW_HEIGHT;
		}
		this.height = Math.max(top + 2, ROW_HEIGHT);
		this.space.style.height = this.height + "px";
		this.width = this.space.clientWidth; // a scroll bar may have come or gone
		this.draw();
		this.placeFocus();
	}

	rowTop(band, depth) {
		const row = depth - (band.hidesRoot ? 1 : 0);
		return band.top + (band.isUpward ? band.rows - 1 - row : row) * ROW_HEIGHT;
	}

	bandOf(layout) {
		return this.bands.find((band) => band.layout === layout);
	}

	// Of a node on the screen, cut to the window.
	box(layout, node) {
		const left = (layout.x[node] - this.window.from) * this.scale, right = left + layout.width[node] * this.scale;
		const from = Math.max(left, 0), to = Math.min(right, this.width);
		return { left: from, width: to - from, top: this.rowTop(this.bandOf(layout), layout.tree.depth[node]) };
	}

	scrollTo(layout, node) {
		const { top } = this.box(layout, node), { scrollTop, clientHeight } = this.host;
		if (top < scrollTop || top + ROW_HEIGHT > scrollTop + clientHeight)
			this.host.scrollTop = top - clientHeight / 2;
	}

	// With room for what lies below it.
	scrollToZoomed(layout, node) {
		this.host.scrollTop = this.box(layout, node).top - this.host.clientHeight * (this.bandOf(layout).isUpward ? 0.75 : 0.2);
	}

	// Where the root is: at the bottom of a flame graph.
	scrollToRoot() {
		const band = this.bands[this.bands.length - 1];
		this.host.scrollTop = this.bands.length > 1 ? band.top - this.host.clientHeight / 2 : band.isUpward ? this.height : 0;
	}

	// Moves the window, in a moment or at once.
	moveTo(window, isAnimated, whenThere) {
		const start = performance.now(), from = this.window;
		cancelAnimationFrame(this.frame);
		const step = (time) => {
			const part = isAnimated ? Math.min((time - start) / MOVE_MS, 1) : 1, ease = 1 - (1 - part) ** 3;
			this.window = { from: from.from + (window.from - from.from) * ease, to: from.to + (window.to - from.to) * ease };
			if (part < 1) {
				this.draw();
				this.frame = requestAnimationFrame(step);
				return;
			}
			this.window = window;
			this.arrange();
			whenThere();
		};
		if (isAnimated)
			this.frame = requestAnimationFrame(step);
		else
			step(start);
	}

	// ---- drawing ----

	draw() {
		const ratio = window.devicePixelRatio || 1, { width } = this, height = Math.min(this.host.clientHeight, this.height);
		const { canvas, context } = this;
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.height = height + "px";
		}
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		context.translate(0, -this.host.scrollTop);
		context.font = "12px " + getComputedStyle(this.host).fontFamily;
		context.textBaseline = "middle";
		for (const band of this.bands)
			this.drawBand(band, this.host.scrollTop, this.host.scrollTop + height);
		this.outline();
	}

	drawBand(band, from, to) {
		if (band.label) {
			this.context.fillStyle = getComputedStyle(this.host).getPropertyValue("--quiet");
			this.context.fillText(band.label, 5, band.top - GAP / 2 - 1);
		}
		this.eachBox(band, (node, box) => {
			if (box.top < to && box.top + ROW_HEIGHT > from)
				this.drawBox(band, node, box);
		});
	}

	// Calls what is given for each box that is wide enough to be seen.
	eachBox(band, found) {
		const { layout } = band, pending = [0], scale = this.scale;
		while (pending.length) {
			const node = pending.pop(), width = layout.width[node] * scale;
			if (width < NARROWEST || layout.x[node] >= this.window.to || layout.x[node] + layout.width[node] <= this.window.from)
				continue;
			if (!(band.hidesRoot && layout.tree.depth[node] === 0))
				found(node, this.box(layout, node));
			pending.push(...layout.children[node]);
		}
	}

	drawBox(band, node, box) {
		const { context, profile } = this, { tree } = band.layout, functionIndex = tree.functionOf[node];
		const isVanished = tree.now[this.type][node] <= 0 && tree.old[this.type][node] > 0;
		const isCaller = band.layout.width[node] > (this.window.to - this.window.from) * 1.0001;
		const isMiss = this.matches && !this.matches[functionIndex];
		const width = Math.max(box.width - (box.width > 2 ? 1 : 0), 0.5);
		context.globalAlpha = isMiss ? 0.28 : isCaller ? 0.55 : 1;
		context.fillStyle = this.colors.ofNode(tree, node, this.type);
		if (width > 5) {
			context.beginPath();
			context.roundRect(box.left, box.top, width, ROW_HEIGHT - 1.5, 2.5);
			context.fill();
		} else
			context.fillRect(box.left, box.top, width, ROW_HEIGHT - 1.5);
		if (isVanished && width > 2) {
			context.strokeStyle = this.colors.text;
			context.setLineDash([3, 3]);
			context.strokeRect(box.left + 0.5, box.top + 0.5, width - 1, ROW_HEIGHT - 2.5);
			context.setLineDash([]);
		}
		context.globalAlpha = isMiss ? 0.55 : 1;
		if (width >= LABEL_FROM)
			this.drawLabel(this.signOf(tree, node), profile.nameOf(functionIndex), box, width);
		context.globalAlpha = 1;
	}

	// Colours are not for everyone.
	signOf(tree, node) {
		return this.profile.isComparison ? formatChange(tree.figure(node, this.type)) : "";
	}

	// The change is there as a whole or not at all; of the name a few letters at least.
	drawLabel(sign, name, box, width) {
		const middle = box.top + ROW_HEIGHT / 2 - 0.5;
		let left = box.left + 5, room = width - 10;
		this.context.fillStyle = this.colors.text;
		if (sign) {
			const { text, width: signWidth } = this.fitting(sign, room, sign.length);
			this.context.fillText(text, left, middle);
			left += signWidth + 7;
			room -= signWidth + 7;
		}
		const { text } = this.fitting(name, room, LETTERS_MIN);
		if (text)
			this.context.fillText(text, left, middle);
	}

	letterWidth(letter) {
		let width = this.letterWidths.get(letter);
		if (width === undefined) {
			width = this.context.measureText(letter).width;
			this.letterWidths.set(letter, width);
		}
		return width;
	}

	// What fits of a text, with a sign that it was cut; nothing if that is less than so many letters. Its width is that of its letters.
	fitting(text, room, lettersMin) {
		const cutRoom = room - this.letterWidth("\u2026");
		let width = 0, cut = 0, letters = 0;
		for (const letter of text) {
			width += this.letterWidth(letter);
			letters++;
			if (width <= cutRoom)
				cut = letters;
			if (width > room)
				return { text: cut < lettersMin ? "" : Array.from(text.slice(0, 2 * cut)).slice(0, cut).join("") + "\u2026", width };
		}
		return { text, width };
	}

	outline() {
		if (this.hovered && this.bandOf(this.hovered.layout)) {
			const box = this.box(this.hovered.layout, this.hovered.node);
			this.context.strokeStyle = this.colors.text;
			this.context.lineWidth = 1.5;
			this.context.strokeRect(box.left + 0.75, box.top + 0.75, Math.max(box.width - 2.5, 1), ROW_HEIGHT - 3);
			this.context.lineWidth = 1;
		}
	}

	// ---- pointer ----

	hit(event) {
		const area = this.canvas.getBoundingClientRect();
		const y = event.clientY - area.top + this.host.scrollTop, x = this.window.from + (event.clientX - area.left) / this.scale;
		for (const band of this.bands) {
			const row = Math.floor((y - band.top) / ROW_HEIGHT);
			if (row < 0 || row >= band.rows)
				continue;
			const depth = (band.isUpward ? band.rows - 1 - row : row) + (band.hidesRoot ? 1 : 0);
			const node = band.layout.at(x, depth);
			return node === null ? null : { layout: band.layout, node };
		}
		return null;
	}

	clicked(event) {
		const hit = this.hit(event);
		if (hit)
			this.handlers.choose(hit.layout, hit.node, event);
	}

	moved(event) {
		this.hover(this.hit(event), event);
	}

	hover(hit, event) {
		const isSame = hit && this.hovered && hit.layout === this.hovered.layout && hit.node === this.hovered.node;
		this.canvas.style.cursor = hit ? "pointer" : "";
		this.handlers.hover(hit, event);
		if (isSame || hit === this.hovered)
			return;
		this.hovered = hit;
		this.draw();
	}

	// ---- focus: one element in the tab order, over the box that it stands for ----

	setFocus(layout, node, label, takesIt) {
		const had = this.item && document.activeElement === this.item;
		this.focused = { layout, node };
		const siblings = node ? layout.children[layout.tree.parent[node]] : [0], item = document.createElement("div");
		item.className = "focus";
		item.tabIndex = 0;
		item.setAttribute("role", "treeitem");
		item.setAttribute("aria-level", layout.tree.depth[node] + 1);
		item.setAttribute("aria-posinset", siblings.indexOf(node) + 1);
		item.setAttribute("aria-setsize", siblings.length);
		item.setAttribute("aria-label", label);
		if (layout.children[node].length)
			item.setAttribute("aria-expanded", "true");
		this.space.append(item);
		if (takesIt || had)
			item.focus({ preventScroll: true });
		if (this.item)
			this.item.remove();
		this.item = item;
		this.placeFocus();
	}

	placeFocus() {
		if (!this.item || !this.bandOf(this.focused.layout))
			return;
		const box = this.box(this.focused.layout, this.focused.node);
		this.item.style.cssText = `left:${box.left}px;top:${box.top}px;width:${Math.max(box.width - 1, 3)}px;height:${ROW_HEIGHT - 1.5}px`;
	}
}
