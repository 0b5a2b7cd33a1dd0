// SPDX-License-Identifier: Apache-2.0
// What the program behind the live page makes of the part that is seen. Where the result takes its
// time, a preview with fewer pixels comes first, and then the result itself piece by piece, from the
// middle of what is seen; a newer wish stops both.
"use strict";

const QUICK = 0.05; // seconds within which something should be seen
const BUDGET = 0.02; // of these, for filtering; the rest goes into bringing and drawing it
const PIECE = 0.1; // seconds that a piece of the result may take
const MOST_PIECES = {memory: 64, file: 16}; // by where the picture is: each piece costs something of its own

const layers = {before: {whole: null, part: null}, after: {quick: null, part: null}};

function canvasOf(pixels, w, h) {
  const node = el("canvas", {width: w, height: h});
  if (pixels) node.getContext("2d").putImageData(new ImageData(pixels, w, h), 0, 0);
  node.rgba = pixels;
  return node;
}

// What was asked for, in pixels of the picture before, whose frame all is shown in.
function placed(node, said) {
  const across = state.picture.width / said.whole_width, down = state.picture.height / said.whole_height;
  return {node, said, x: said.x * across, y: said.y * down, w: said.width * across, h: said.height * down};
}

async function fetchPixels(wish, box, signal) {
  const response = await ask("view", {...wish, ...box}, {signal});
  return {said: JSON.parse(response.headers.get("X-View")), rgba: new Uint8ClampedArray(await response.arrayBuffer())};
}

async function fetchView(wish, box, signal) {
  const {said, rgba} = await fetchPixels(wish, box, signal);
  return placed(canvasOf(rgba, said.width, said.height), said);
}

// ---- rectangles of pixels

const inside = (r, x, y) => x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;

function common(a, b) {
  const x = Math.max(a.x, b.x), y = Math.max(a.y, b.y);
  const w = Math.min(a.x + a.w, b.x + b.w) - x, h = Math.min(a.y + a.h, b.y + b.h) - y;
  return w > 0 && h > 0 ? {x, y, w, h} : null;
}

// What is left of a without b.
function without(a, b) {
  const c = common(a, b);
  if (!c) return [a];
  return [{x: a.x, y: a.y, w: a.w, h: c.y - a.y}, {x: a.x, y: c.y + c.h, w: a.w, h: a.y + a.h - c.y - c.h},
          {x: a.x, y: c.y, w: c.x - a.x, h: c.h}, {x: c.x + c.w, y: c.y, w: a.x + a.w - c.x - c.w, h: c.h}]
    .filter((r) => r.w > 0 && r.h > 0);
}

function distance(r, x, y) {
  return Math.hypot(Math.max(r.x - x, 0, x - r.x - r.w), Math.max(r.y - y, 0, y - r.y - r.h));
}

// ---- the part that is seen, at the level that is seen

function box() {
  const v = viewer.visible(), {width, height} = state.picture;
  const level = Math.max(0, Math.min(12, Math.floor(-Math.log2(v.scale) + 1e-6)));
  return {level, x0: v.x / width, y0: v.y / height, x1: (v.x + v.w) / width, y1: (v.y + v.h) / height};
}

// Of previews the level that has about a pixel for one of the screen.
function quickLevel() {
  return Math.max(0, Math.min(12, Math.round(-Math.log2(viewer.visible().scale) + 0.2)));
}

function viewPixels(b) {
  return (b.x1 - b.x0) * (b.y1 - b.y0) * state.picture.width * state.picture.height / 4 ** b.level;
}

// The middle of what is seen of the result, as shares of the picture.
function middle(b) {
  const from = viewer.layout === "slide" ? b.x0 + (b.x1 - b.x0) * viewer.divider : b.x0;
  return {x: (from + b.x1) / 2, y: (b.y0 + b.y1) / 2};
}

// Pixels of the result, as they come. `done` are the rectangles that are there.
class Part {
  constructor(said, box, key) {
    const w = said.whole_width, h = said.whole_height;
    const x = Math.floor(box.x0 * w), y = Math.floor(box.y0 * h);
    this.rect = {x, y, w: Math.min(w, Math.ceil(box.x1 * w)) - x, h: Math.min(h, Math.ceil(box.y1 * h)) - y};
    this.key = key;
    this.done = [];
    this.left = [this.rect];
    const all = {...said, x, y, width: this.rect.w, height: this.rect.h, seconds: 0};
    Object.assign(this, placed(canvasOf(null, this.rect.w, this.rect.h), all));
    this.node.rgba = new Uint8ClampedArray(4 * this.rect.w * this.rect.h);
  }

  // All of it in one piece, whose pixels need not be copied.
  static of({said, rgba}, key) {
    const rect = {x: said.x, y: said.y, w: said.width, h: said.height};
    return Object.assign(Object.create(Part.prototype), {rect, key, done: [rect], left: []},
                         placed(canvasOf(rgba, rect.w, rect.h), said));
  }

  // Pixels of rows of `from`, for what they and this have in common.
  put(rgba, from) {
    const c = common(this.rect, from);
    if (!c) return;
    const cut = new Uint8ClampedArray(4 * c.w * c.h);
    for (let row = 0; row < c.h; row++) {
      const at = 4 * ((c.y + row - from.y) * from.w + c.x - from.x), line = rgba.subarray(at, at + 4 * c.w);
      cut.set(line, 4 * row * c.w);
      this.node.rgba.set(line, 4 * ((c.y + row - this.rect.y) * this.rect.w + c.x - this.rect.x));
    }
    this.node.getContext("2d").putImageData(new ImageData(cut, c.w, c.h), c.x - this.rect.x, c.y - this.rect.y);
    this.done.push(c);
    this.left = this.left.flatMap((r) => without(r, c));
    if (this.left.length === 0) this.done = [this.rect];
  }

  take({said, rgba}) {
    this.said.seconds += said.seconds;
    this.put(rgba, {x: said.x, y: said.y, w: said.width, h: said.height});
  }

  // What an older part of the same result has.
  keep(old) {
    for (const r of old.done) {
      const c = common(r, this.rect);
      if (!c) continue;
      const cut = new Uint8ClampedArray(4 * c.w * c.h);
      for (let row = 0; row < c.h; row++) {
        const at = 4 * ((c.y + row - old.rect.y) * old.rect.w + c.x - old.rect.x);
        cut.set(old.node.rgba.subarray(at, at + 4 * c.w), 4 * row * c.w);
      }
      this.put(cut, c);
    }
  }

  // The piece to ask for next: what is left next to the point, cut until it has so few pixels, into bands
  // or into what is about as wide as high.
  next(at, pixels, bands) {
    const x = at.x * this.said.whole_width, y = at.y * this.said.whole_height;
    let piece = this.left.reduce((a, b) => distance(a, x, y) <= distance(b, x, y) ? a : b);
    while (piece.w * piece.h > pixels && (bands ? piece.h > 16 : Math.max(piece.w, piece.h) > 64)) {
      const {w, h} = piece, across = !bands && w > h, half = Math.ceil((across ? w : h) / 2);
      const a = across ? {...piece, w: half} : {...piece, h: half};
      const b = across ? {...piece, x: piece.x + half, w: w - half} : {...piece, y: piece.y + half, h: h - half};
      piece = distance(a, x, y) <= distance(b, x, y) ? a : b;
    }
    return piece;
  }

  // As shares of the result, which the program rounds outward.
  boxOf(r) {
    const w = this.said.whole_width, h = this.said.whole_height, e = 0.01;
    return {level: this.said.level, x0: (r.x + e) / w, y0: (r.y + e) / h, x1: (r.x + r.w - e) / w, y1: (r.y + r.h - e) / h};
  }

  share() {
    return 1 - this.left.reduce((sum, r) => sum + r.w * r.h, 0) / (this.rect.w * this.rect.h);
  }

  has(x, y) {
    return this.done.some((r) => inside(r, x, y));
  }
}

// Through pixels that let something through no preview is to be seen.
function clearUnder(quick, part, r) {
  const across = quick.said.whole_width / part.said.whole_width, down = quick.said.whole_height / part.said.whole_height;
  quick.node.getContext("2d").clearRect(r.x * across - quick.said.x, r.y * down - quick.said.y, r.w * across, r.h * down);
}

// ---- feeds

// Newest wishes only: while a preview is on its way, later ones wait, and all but the last are
// forgotten; the rest of a result is given up for them.
class Feed {
  constructor(name, side, title) {
    Object.assign(this, {name, side, title, running: false, wanted: false, stop: null, costs: new Map()});
  }

  async want() {
    this.wanted = true;
    if (this.running && this.stop) this.stop.abort();
    if (this.running) return;
    this.running = true;
    busy.classList.add("on");
    while (this.wanted && state.picture) {
      this.wanted = false;
      const id = state.id;
      this.stop = null;
      try {
        await this.once({id, chain: this.name === "before" ? "" : chainText(), client: client + this.name[0], number: ++state.number}, box());
      } catch (error) {
        if (error.name !== "AbortError" && error.status !== 409 && id === state.id && this.name === "after") this.fail(error);
      }
    }
    this.running = false;
    busy.classList.toggle("on", feeds.some((f) => f.running));
  }

  draw() {
    const {whole, part, quick} = layers[this.name], clear = state.picture.alpha !== "none";
    if (clear && part && quick) for (const r of part.done) clearUnder(quick, part, r);
    const title = quick ? `${this.title} (preview)` : this.title;
    viewer.show(this.side, [whole, quick, part].filter(Boolean), title, clear);
  }

  async once(wish, all) {
    const view = await fetchView(wish, all);
    if (wish.id !== state.id) return;
    layers.before.part = view;
    this.draw();
  }
}

class ResultFeed extends Feed {
  fail(error) {
    state.problem = error.message;
    showProblem();
    showExactness("");
  }

  // Seconds for a pixel, as it was last with these filters at this level.
  costKey(level) {
    return [state.id, level, ...state.steps.filter((s) => s.on).map((s) => s.filter)].join();
  }

  async once(wish, all) {
    const started = performance.now(), key = [wish.id, wish.chain, all.level].join(), costKey = this.costKey(all.level);
    const old = layers.after.part && layers.after.part.key === key ? layers.after.part : null;
    const expected = viewPixels(all) * (this.costs.get(costKey) || Infinity);
    let quick = null;
    if (expected > QUICK / 2) {
      quick = await this.preview(wish, all, old);
      if (wish.id !== state.id || this.wanted && !(quick && quick.said.exact)) return;
    }
    this.stop = expected > QUICK / 2 ? new AbortController() : null;
    const part = quick && quick.said.exact ? Part.of({said: quick.said, rgba: quick.node.rgba}, key) : await this.result(wish, all, key, costKey, quick, old);
    if (!part || wish.id !== state.id) return;
    Object.assign(layers.after, {part, quick: null});
    Object.assign(state, {problem: "", last: {...part.said, chain: wish.chain, total: (performance.now() - started) / 1000}});
    this.draw();
    showProblem();
    showStatus();
    showExactness("Exact pixels");
  }

  // null where there is none: then the result, or why there is none either, is waited for.
  async preview(wish, all, old) {
    let quick;
    try {
      quick = await fetchView(wish, {...all, level: all.level === 0 ? 0 : Math.max(all.level, quickLevel()), budget: BUDGET});
    } catch (error) {
      if (error.status === 409 || !error.status) throw error;
      return null;
    }
    if (wish.id !== state.id || quick.said.exact) return quick;
    Object.assign(layers.after, {quick, part: old});
    this.draw();
    showExactness(quick.said.level ? `Preview at 1/${2 ** quick.said.level} of the size; exact pixels follow` : "Preview; exact pixels follow", 0);
    return quick;
  }

  // The first piece, in the middle.
  firstBox(all, at, pixels, bands) {
    const {width, height} = state.picture;
    const w = bands ? 1 : Math.sqrt(pixels) / 2 / width, h = bands ? pixels / width / 2 / height : w * width / height;
    return {level: all.level, x0: Math.max(all.x0, at.x - w), y0: Math.max(all.y0, at.y - h),
            x1: Math.min(all.x1, at.x + w), y1: Math.min(all.y1, at.y + h)};
  }

  // The result, piece by piece; at once where that is quick, where levels to show it by depend on all
  // of it, and where pieces need all of the picture. Files that are read by parts mostly hold whole rows:
  // of these pieces are bands, where memory allows it.
  async result(wish, all, key, costKey, quick, old) {
    const signal = this.stop && this.stop.signal, at = middle(all);
    const cost = () => this.costs.get(costKey) || 2e-7 * 4 ** all.level;
    const fetchPiece = async (box) => {
      const began = performance.now(), piece = await fetchPixels(wish, box, signal);
      this.costs.set(costKey, (performance.now() - began) / 1000 / (piece.said.width * piece.said.height));
      return piece;
    };
    const atOnce = async () => Part.of(await fetchPiece(all), key);
    if (!quick || !quick.said.own_window) return atOnce();
    let part = null, bands = !state.picture.whole, most = Infinity;
    // Smaller pieces next time, where memory has a limit.
    const cutDown = (error, pixels) => {
      if (error.status !== 413 || pixels < 4096) throw error;
      bands = false;
      most = pixels / 4;
    };
    if (old) {
      part = new Part(old.said, all, key);
      part.keep(old);
    } else {
      if (viewPixels(all) * cost() <= 1.5 * PIECE) return atOnce();
      let piece = null;
      while (!piece) {
        const pixels = Math.min(most, PIECE / cost());
        try {
          piece = await fetchPiece(this.firstBox(all, at, pixels * 4 ** all.level, bands));
        } catch (error) {
          cutDown(error, pixels);
        }
      }
      if (!piece.said.own_window || piece.said.source > 0.9 * state.picture.width * state.picture.height) return atOnce();
      part = new Part(piece.said, all, key);
      part.take(piece);
    }
    const least = part.rect.w * part.rect.h / MOST_PIECES[state.picture.whole ? "memory" : "file"];
    while (part.left.length) {
      if (wish.id !== state.id) return null;
      layers.after.part = part;
      this.draw();
      showExactness(exactness.textContent, part.share());
      const pixels = Math.min(most, Math.max(PIECE / cost(), least));
      try {
        part.take(await fetchPiece(part.boxOf(part.next(at, pixels, bands))));
      } catch (error) {
        cutDown(error, pixels);
      }
    }
    return part;
  }
}

const feeds = [new Feed("before", "left", "Before"), new ResultFeed("after", "right", "After")];
let waiting = false;

// Drawing a view places it, too: only another part is another wish.
function viewChanged() {
  if (!state.picture || waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const wish = state.picture && JSON.stringify([state.id, box()]);
    if (!wish || wish === state.seen) return;
    state.seen = wish;
    feeds.forEach((f) => f.want());
  });
}
