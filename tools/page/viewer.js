// SPDX-License-Identifier: Apache-2.0
// Two pictures over or beside each other, moved and enlarged together: by mouse, touch and keys.
// Positions are pixels of the picture; what is shown there are elements that the page provides.
"use strict";

class Viewer {
  // options: label, wheel ("focus": the wheel zooms once the stage has been clicked, else the page
  // scrolls; "always"), onview(), onhover({x, y} or null), onlayout().
  constructor(options) {
    this.options = options;
    this.size = {w: 1, h: 1};
    this.scale = 1;
    this.x = this.y = 0; // of the picture, at the pane's upper left corner
    this.divider = 0.5;
    this.layout = "slide";
    this.fitted = true;
    this.pointers = new Map();
    this.build();
    this.listen();
  }

  build() {
    const pane = (side) => {
      const world = el("div", {class: "world"}), name = el("span", {class: "name"});
      const node = el("div", {class: "pane " + side}, world, name);
      return {node, world, name};
    };
    this.left = pane("left");
    this.right = pane("right");
    this.handle = el("div", {class: "divider", role: "slider", tabindex: 0, "aria-orientation": "horizontal",
                             "aria-label": "Divider between the two pictures",
                             "aria-valuemin": 0, "aria-valuemax": 100},
                     svg("svg", {viewBox: "0 0 20 20", fill: "none", stroke: "currentColor",
                                 "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round",
                                 "aria-hidden": "true"},
                         svg("path", {d: "M7 5l-5 5 5 5M13 5l5 5-5 5"})));
    this.stage = el("div", {class: "stage", tabindex: 0, role: "group", "aria-label": this.options.label,
                            "aria-description": "Arrow keys move the picture, plus and minus enlarge and " +
                              "reduce it, 0 fits it, 1 shows its pixels, comma and period move the divider"},
                    this.right.node, this.left.node, this.handle);
    this.percent = el("output", {"aria-label": "Zoom"});
    const button = (words, label, act) => el("button", {type: "button", "aria-label": label, title: label,
                                                        onclick: act}, words);
    this.zoomBar = el("div", {class: "row zoom", role: "group", "aria-label": "Zoom"},
                      button("−", "Zoom out", () => this.zoom(1 / 1.5)), this.percent,
                      button("+", "Zoom in", () => this.zoom(1.5)),
                      button("Fit", "Show all of the picture", () => this.fit()),
                      button("1:1", "One pixel of the picture for one of the screen", () => this.actual()));
  }

  // ---- what is shown

  setSize(w, h) {
    this.size = {w, h};
    this.fit();
  }

  // items: [{node, x, y, w, h}], replaced as a whole.
  show(side, items, name, checks) {
    const pane = this[side];
    const back = checks ? [el("div", {class: "checks", style: `width:${this.size.w}px;height:${this.size.h}px`})] : [];
    for (const item of items)
      Object.assign(item.node.style, {left: item.x + "px", top: item.y + "px", width: item.w + "px",
                                      height: item.h + "px"});
    pane.world.replaceChildren(...back, ...items.map((item) => item.node));
    pane.name.textContent = name;
    this.place();
  }

  setLayout(layout) {
    this.layout = layout;
    for (const name of ["slide", "side", "single"]) this.stage.classList.toggle(name, name === layout);
    this.left.node.hidden = layout === "single";
    if (this.fitted) this.fit();
    else this.place();
  }

  setDivider(share) {
    this.divider = Math.min(1, Math.max(0, share));
    this.place();
  }

  // ---- where

  pane() {
    const box = this.stage.getBoundingClientRect();
    return {w: this.layout === "side" ? box.width / 2 - 1 : box.width, h: box.height};
  }

  fitScale() {
    const pane = this.pane();
    return Math.min(pane.w / this.size.w, pane.h / this.size.h, Math.max(1, 16 / devicePixelRatio));
  }

  fit() {
    const pane = this.pane();
    this.fitted = true;
    this.scale = this.fitScale();
    this.x = (this.size.w - pane.w / this.scale) / 2;
    this.y = (this.size.h - pane.h / this.scale) / 2;
    this.place();
  }

  actual(at) {
    this.zoom(1 / devicePixelRatio / this.scale, at);
  }

  // By a factor, keeping the point of the stage (default: its middle) where it is.
  zoom(factor, at) {
    const pane = this.pane(), p = at || {x: pane.w / 2, y: pane.h / 2};
    const least = Math.min(this.fitScale(), 1 / devicePixelRatio), most = 64 / devicePixelRatio;
    const scale = Math.min(most, Math.max(least, this.scale * factor));
    const x = this.x + p.x / this.scale, y = this.y + p.y / this.scale;
    this.scale = scale;
    this.x = x - p.x / scale;
    this.y = y - p.y / scale;
    this.fitted = Math.abs(scale / this.fitScale() - 1) < 1e-6;
    this.keepInside();
    this.place();
  }

  move(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.keepInside();
    this.place();
  }

  // Of a picture that is larger than the pane no edge comes inside; a smaller one stays in the middle.
  keepInside() {
    const pane = this.pane();
    const axis = (at, shown, size) => shown >= size ? (size - shown) / 2 : Math.min(size - shown, Math.max(0, at));
    this.x = axis(this.x, pane.w / this.scale, this.size.w);
    this.y = axis(this.y, pane.h / this.scale, this.size.h);
  }

  // The part of the picture that is seen, in whole pixels.
  visible() {
    const pane = this.pane();
    const x = Math.max(0, Math.floor(this.x)), y = Math.max(0, Math.floor(this.y));
    return {x, y, w: Math.min(this.size.w, Math.ceil(this.x + pane.w / this.scale)) - x,
            h: Math.min(this.size.h, Math.ceil(this.y + pane.h / this.scale)) - y,
            scale: this.scale * devicePixelRatio};
  }

  place() {
    const box = this.stage.getBoundingClientRect();
    const transform = `translate(${-this.x * this.scale}px, ${-this.y * this.scale}px) scale(${this.scale})`;
    this.left.world.style.transform = this.right.world.style.transform = transform;
    const at = this.divider * box.width;
    this.handle.style.left = at + "px";
    this.left.node.style.clipPath = this.layout === "slide" ? `inset(0 ${box.width - at}px 0 0)` : "";
    this.right.node.style.clipPath = this.layout === "slide" ? `inset(0 0 0 ${at}px)` : "";
    const share = Math.round(100 * this.divider);
    this.handle.setAttribute("aria-valuenow", share);
    this.handle.setAttribute("aria-valuetext", `${share} % ${this.left.name.textContent}`);
    const pane = this.pane();
    this.stage.classList.toggle("fits", this.layout === "slide" && this.scale * this.size.w <= pane.w + 1 &&
                                this.scale * this.size.h <= pane.h + 1);
    this.stage.classList.toggle("pixels", this.scale * devicePixelRatio >= 2);
    this.percent.textContent = number(100 * this.scale * devicePixelRatio) + " %";
    if (this.options.onview) this.options.onview();
  }

  // ---- mouse and touch

  listen() {
    const s = this.stage;
    s.addEventListener("pointerdown", (e) => this.down(e));
    s.addEventListener("pointermove", (e) => this.moved(e));
    for (const name of ["pointerup", "pointercancel"]) s.addEventListener(name, (e) => this.up(e));
    s.addEventListener("pointerleave", () => this.hover(null));
    s.addEventListener("wheel", (e) => this.wheel(e), {passive: false});
    s.addEventListener("dblclick", (e) => this.fitted ? this.actual(this.point(e)) : this.fit());
    s.addEventListener("keydown", (e) => this.key(e));
    this.handle.addEventListener("keydown", (e) => this.dividerKey(e));
    new ResizeObserver(() => this.fitted ? this.fit() : (this.keepInside(), this.place())).observe(s);
  }

  point(event) {
    const box = this.stage.getBoundingClientRect(), x = event.clientX - box.left, half = box.width / 2;
    const shift = this.layout === "side" && x > half ? half + 1 : 0;
    return {x: x - shift, y: event.clientY - box.top, stage: x};
  }

  down(event) {
    if (event.button > 0) return;
    const p = this.point(event), width = this.stage.getBoundingClientRect().width;
    const near = this.layout === "slide" && Math.abs(p.stage - this.divider * width) < 22;
    this.pointers.set(event.pointerId, p);
    this.dragging = near || this.stage.classList.contains("fits") ? "divider" : "picture";
    if (this.dragging === "divider") this.setDivider(p.stage / width);
    this.stage.classList.toggle("moving", this.dragging === "picture");
    this.stage.setPointerCapture(event.pointerId);
    (near ? this.handle : this.stage).focus({preventScroll: true});
    event.preventDefault();
  }

  moved(event) {
    const p = this.point(event), old = this.pointers.get(event.pointerId);
    this.hover(p);
    if (!old) return;
    this.pointers.set(event.pointerId, p);
    if (this.pointers.size === 2) this.pinch(event.pointerId, old, p);
    else if (this.dragging === "divider") this.setDivider(p.stage / this.stage.getBoundingClientRect().width);
    else this.move(p.x - old.x, p.y - old.y);
  }

  pinch(id, old, now) {
    const [other] = [...this.pointers].filter(([key]) => key !== id).map(([, p]) => p);
    const length = (p) => Math.hypot(p.x - other.x, p.y - other.y) || 1;
    const middle = {x: (now.x + other.x) / 2, y: (now.y + other.y) / 2};
    this.dragging = "picture";
    this.zoom(length(now) / length(old), middle);
    this.move((now.x - old.x) / 2, (now.y - old.y) / 2);
  }

  up(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size === 0) this.stage.classList.remove("moving");
  }

  hover(p) {
    if (!this.options.onhover) return;
    const x = p && Math.floor(this.x + p.x / this.scale), y = p && Math.floor(this.y + p.y / this.scale);
    const inside = p && x >= 0 && y >= 0 && x < this.size.w && y < this.size.h;
    this.options.onhover(inside ? {x, y} : null);
  }

  wheel(event) {
    if (this.options.wheel !== "always" && !event.ctrlKey && !event.metaKey &&
        !this.stage.contains(document.activeElement)) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    this.zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY * lines)) / 300), this.point(event));
  }

  // ---- keys

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pane = this.pane(), step = event.shiftKey ? this.scale : pane.w / 8;
    const acts = {
      ArrowLeft: () => this.move(step, 0), ArrowRight: () => this.move(-step, 0),
      ArrowUp: () => this.move(0, step), ArrowDown: () => this.move(0, -step),
      "+": () => this.zoom(1.25), "=": () => this.zoom(1.25), "-": () => this.zoom(0.8),
      0: () => this.fit(), 1: () => this.actual(),
      ",": () => this.setDivider(this.divider - 0.02), ".": () => this.setDivider(this.divider + 0.02),
    };
    if (!acts[event.key]) return;
    acts[event.key]();
    event.preventDefault();
  }

  dividerKey(event) {
    const step = event.shiftKey ? 0.1 : 0.02;
    const to = {ArrowLeft: this.divider - step, ArrowDown: this.divider - step, ArrowRight: this.divider + step,
                ArrowUp: this.divider + step, PageDown: this.divider - 0.1, PageUp: this.divider + 0.1,
                Home: 0, End: 1}[event.key];
    if (to === undefined) return;
    this.setDivider(to);
    event.preventDefault();
    event.stopPropagation();
  }
}

// A picture from a URL as a canvas, whose samples can be looked at; maps get their colors.
async function pictureCanvas(url, isMap) {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = el("canvas", {width: image.naturalWidth, height: image.naturalHeight});
  const context = canvas.getContext("2d", {willReadFrequently: true});
  context.drawImage(image, 0, 0);
  if (!isMap) return canvas;
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height), d = pixels.data;
  canvas.levels = new Uint8Array(canvas.width * canvas.height);
  for (let i = 0, at = 0; at < d.length; i++, at += 4) {
    const v = canvas.levels[i] = d[at];
    d[at] = heatColors[3 * v];
    d[at + 1] = heatColors[3 * v + 1];
    d[at + 2] = heatColors[3 * v + 2];
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}
