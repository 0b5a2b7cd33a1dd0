// SPDX-License-Identifier: Apache-2.0
// Two pictures and what was measured of them.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const sides = ["before", "after", "original"].filter((side) => data.files[side]);
const sideNames = {before: "Before", after: "After", original: "Original"};

function comparison(a, b) {
  return data.comparisons.find((c) => c.sides[0] === a && c.sides[1] === b);
}

function sigma(side) {
  return data.noise[side] && mean(data.noise[side].sigma);
}

function mean(list) {
  return list ? list.reduce((sum, v) => sum + v, 0) / list.length : null;
}

function decibel(c) {
  if (!c) return "–";
  return c.psnr == null ? (c.identical ? "∞" : "–") : c.psnr.toFixed(2);
}

// ---- key figures

function figure(title, value, unit, note) {
  return el("div", {}, el("dt", {}, title), el("dd", {}, value, unit ? el("small", {}, " " + unit) : null),
            note ? el("dd", {class: "note"}, note) : null);
}

function keyFigures() {
  const list = el("dl", {class: "card figures"});
  const change = comparison("before", "after"), was = comparison("original", "before"),
    is = comparison("original", "after");
  const [before, after] = [sigma("before"), sigma("after")];
  if (before != null && after != null) {
    const {range} = data.files.before, same = range === data.files.after.range;
    list.append(same ? figure("Noise, standard deviation", `${number(before)} → ${number(after)}`, "",
                              before > 0 ? `levels; ${number(100 * after / before)} % is left` : "levels")
      : figure("Noise, standard deviation", `${number(100 * before / range)} → ${number(100 * after / data.files.after.range)}`, "%",
               "of each one's own range"));
  }
  if (was && is) {
    list.append(figure("PSNR to the original", `${decibel(was)} → ${decibel(is)}`, "dB",
                       was.psnr != null && is.psnr != null ? signed(is.psnr - was.psnr, 2) + " dB" : ""));
    if (is.ssim != null)
      list.append(figure("SSIM to the original", `${was.ssim.toFixed(3)} → ${is.ssim.toFixed(3)}`, "",
                         signed(is.ssim - was.ssim, 3)));
  } else if (change) {
    list.append(figure("PSNR, before to after", decibel(change), "dB"));
    if (change.ssim != null) list.append(figure("SSIM, before to after", change.ssim.toFixed(4)));
  }
  if (change)
    list.append(figure("Mean change", number(change.mae), "levels", `largest ${number(change.max_abs)}`));
  if (data.run)
    list.append(figure("Filtering", seconds(data.run.filter_seconds), "", `on ${deviceName(data.run)}`));
  return list;
}

function signed(value, digits) {
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
}

function deviceName(run) {
  return run.device === "cpu" ? `CPU (${run.cpu}), ${run.threads} thread${run.threads > 1 ? "s" : ""}` : run.device;
}

// ---- the viewer

const pictures = new Map(); // of a key and "view" or "detail": a promise of a canvas

function canvasOf(key, which) {
  const name = key + " " + which, isMap = data.maps.some((m) => m.key === key);
  if (!pictures.has(name)) pictures.set(name, pictureCanvas(data.pictures[key][which], isMap));
  return pictures.get(name);
}

function titleOf(key) {
  const map = data.maps.find((m) => m.key === key);
  return map ? map.title : sideNames[key];
}

function picker(name, words, keys, chosen, onchange) {
  const select = el("select", {id: name, "aria-label": words, onchange}, keys.map((key) => el("option", {value: key,
                    selected: key === chosen}, titleOf(key))));
  return {select, node: el("span", {class: "pick"}, el("label", {for: name}, words), select)};
}

function segments(name, label, choices, chosen, onchange) {
  return el("div", {class: "segments", role: "radiogroup", "aria-label": label},
            Object.entries(choices).map(([value, words]) => el("label", {}, el("input", {
              type: "radio", name, value, checked: value === chosen, onchange: () => onchange(value)}), words)));
}

function legendOf(key) {
  const map = data.maps.find((m) => m.key === key);
  if (!map) return null;
  const words = map.kind === "ssim" ? ["1: alike", "0"] : ["0", `${number(map.high)} levels and more`];
  return el("span", {class: "legend"}, el("span", {}, map.title), el("span", {}, words[0]),
            el("i", {style: "background:" + heatGradient()}), el("span", {}, words[1]));
}

// The value of a map as its legend counts.
function mapValue(key, level) {
  const map = data.maps.find((m) => m.key === key);
  const v = map.low + level / 255 * (map.high - map.low);
  return map.kind === "ssim" ? v.toFixed(2) : number(v);
}

function buildViewer() {
  const keys = Object.keys(data.pictures), first = data.files.before;
  const shown = {which: "view", left: "before", right: "after"}, canvases = {};
  const readout = el("span", {class: "mono", id: "readout"}), legends = el("span", {class: "row"});
  const idle = "Point at the picture to read its samples";
  readout.textContent = idle;
  const viewer = new Viewer({label: "Before and after", onhover: (at) => { readout.textContent = at ? values(at) : idle; }});

  // Samples of what is shown, as numbers of the file where a pixel is a pixel.
  function values(at) {
    const parts = [`x ${at.x + (shown.which === "detail" ? data.detail.x : 0)}  y ${at.y +
      (shown.which === "detail" ? data.detail.y : 0)}`];
    for (const side of ["left", "right"]) {
      const canvas = canvases[side], key = shown[side];
      if (!canvas) continue;
      const x = Math.min(canvas.width - 1, Math.floor(at.x * canvas.width / viewer.size.w));
      const y = Math.min(canvas.height - 1, Math.floor(at.y * canvas.height / viewer.size.h));
      let text;
      if (canvas.levels) text = mapValue(key, canvas.levels[y * canvas.width + x]);
      else {
        const {window: w, channels} = data.files[key];
        const rgba = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
        text = [...rgba.slice(0, channels >= 3 ? 3 : 1)].map((v) => number(w.low + v / 255 * (w.high - w.low))).join(" ");
      }
      parts.push(`${titleOf(key)} ${text}`);
    }
    return parts.join("   ");
  }

  async function refresh() {
    const wanted = {...shown};
    const loaded = await Promise.all(["left", "right"].map((side) => canvasOf(wanted[side], wanted.which)));
    if (JSON.stringify(wanted) !== JSON.stringify(shown)) return;
    ["left", "right"].forEach((side, i) => {
      // One canvas cannot be in two places.
      let node = loaded[i];
      if (i === 1 && node === loaded[0]) {
        node = el("canvas", {width: node.width, height: node.height});
        node.getContext("2d").drawImage(loaded[0], 0, 0);
        node.levels = loaded[0].levels;
      }
      canvases[side] = node;
      const file = data.files[shown[side]];
      viewer.show(side, [{node, x: 0, y: 0, ...fitted(node)}], titleOf(shown[side]), file && file.alpha !== "none");
    });
    legends.replaceChildren(...[...new Set([shown.left, shown.right])].map(legendOf).filter(Boolean));
  }

  // Pictures of another size than the first are fitted into its frame.
  function fitted(node) {
    const scale = Math.min(viewer.size.w / node.width, viewer.size.h / node.height);
    return {w: node.width * scale, h: node.height * scale};
  }

  function sizeStage() {
    if (shown.which === "view") viewer.setSize(first.width, first.height);
    else viewer.setSize(data.detail.width, data.detail.height);
  }

  const withDetail = keys.filter((key) => data.pictures[key].detail);
  const left = picker("left", "Left", keys, shown.left, () => { shown.left = left.select.value; refresh(); });
  const right = picker("right", "Right", keys, shown.right, () => { shown.right = right.select.value; refresh(); });
  const which = data.detail && segments("which", "What is shown", {view: "All", detail: "Pixels"}, "view", (value) => {
    shown.which = value;
    for (const pick of [left, right]) {
      for (const option of pick.select.options)
        option.disabled = value === "detail" && !withDetail.includes(option.value);
      if (pick.select.selectedOptions[0].disabled) pick.select.value = pick === left ? "before" : "after";
    }
    shown.left = left.select.value;
    shown.right = right.select.value;
    sizeStage();
    refresh();
  });
  const node = el("div", {class: "card viewer"},
    el("div", {class: "toolbar row"}, left.node, right.node,
       segments("layout", "Layout", {slide: "Slider", side: "Side by side"}, "slide", (v) => viewer.setLayout(v)),
       which, el("span", {class: "grow"}), viewer.zoomBar),
    viewer.stage, el("div", {class: "statusbar"}, readout, legends));
  viewer.stage.style.height = `min(72vh, ${Math.max(0.4, first.height / first.width) * 100}vw, 46rem)`;
  return {node, start: () => { viewer.setLayout("slide"); sizeStage(); refresh(); }, viewer};
}

function viewerNotes() {
  const notes = [], {before, after} = data.files;
  for (const side of sides) {
    const file = data.files[side];
    if (file.type === "u8" && file.window.how === "all levels") continue;
    notes.push(`${sideNames[side]}: ${number(file.window.low, 5)} is shown as black, ` +
               `${number(file.window.high, 5)} as white (${file.window.how}).`);
  }
  if (data.detail)
    notes.push(`The picture is shown ${number(Math.max(before.width, before.height) / 1600)} times smaller; “Pixels” ` +
               `shows ${data.detail.width} × ${data.detail.height} of it as they are, from ${data.detail.x}, ` +
               `${data.detail.y} on, ${data.detail.most_changed ? "where most has changed" : "its middle"}.`);
  if (before.width !== after.width || before.height !== after.height)
    notes.push("The pictures differ in size: the second is fitted into the frame of the first, and nothing is measured between them.");
  else if (before.channels !== after.channels)
    notes.push("The pictures differ in their number of channels: nothing is measured between them.");
  else if (before.range !== after.range)
    notes.push("The pictures' types have different ranges: the measures take their numbers as they are.");
  const original = data.files.original;
  if (original && ["width", "height", "channels"].some((key) => original[key] !== after[key]))
    notes.push("The original differs from the result in size or in its number of channels: nothing is measured between them.");
  if (sides.some((side) => data.files[side].pages > 1)) notes.push("The first page is shown; the measures are of all pages.");
  if (data.measured_on !== "all pixels") notes.push("The pictures are too large to be compared in memory: PSNR and SSIM are of the scaled copies.");
  return el("div", {class: "small soft"}, notes.map((text) => el("p", {}, text)),
            el("p", {}, "Drag to move the divider or the picture; the wheel (after a click), pinching or ",
               el("kbd", {}, "+"), " ", el("kbd", {}, "−"), " zoom; ", el("kbd", {}, "0"), " fits, ", el("kbd", {}, "1"),
               " shows pixels; arrow keys move; ", el("kbd", {}, ","), " ", el("kbd", {}, "."), " move the divider."));
}

// ---- histograms

function histogramPath(counts, top, scale, closed) {
  const n = counts.length;
  const y = (v) => (100 - 100 * Math.min(1, scale(v) / scale(top))).toFixed(2);
  let path = counts.map((v, i) => `${i ? "L" : "M"}${(i + 0.5) / n * 256} ${y(v)}`).join("");
  if (closed) path += `L256 100L0 100Z`;
  return path;
}

function histogramFigure(channel, name, log) {
  const scale = log ? (v) => Math.log10(1 + v) : (v) => v;
  const counts = Object.fromEntries(sides.map((side) => [side, (data.histograms[side] || [])[channel]]));
  // The ends hold what is clipped, a few peaks what is flat: both would flatten all else.
  const inner = Object.values(counts).filter(Boolean).flatMap((c) => c.slice(1, -1));
  const sorted = [...inner].sort((a, b) => a - b);
  const top = Math.max(1, 1.15 * sorted[Math.floor(0.985 * (sorted.length - 1))] || 0);
  const chart = svg("svg", {viewBox: "0 0 256 100", preserveAspectRatio: "none", role: "img",
                            "aria-label": `Histogram of ${name}, ${sides.map((s) => sideNames[s]).join(", ")}`});
  for (const side of sides) {
    if (!counts[side]) continue;
    const filled = side === "before";
    chart.append(svg("path", {d: histogramPath(counts[side], top, scale, filled), "vector-effect": "non-scaling-stroke",
                              fill: filled ? "var(--before)" : "none", "fill-opacity": 0.35,
                              stroke: `var(--${side})`, "stroke-width": filled ? 0 : 1.6,
                              "stroke-dasharray": side === "original" ? "4 3" : "none"}));
  }
  const w = data.files.before.window;
  return el("figure", {class: "card"}, el("figcaption", {}, name), chart,
            el("div", {class: "axis"}, el("span", {}, number(w.low, 5)), el("span", {}, number(w.high, 5))));
}

function histogramSection() {
  const names = channelNames(data.histograms.before.length), grid = el("div", {class: "histograms"});
  const draw = (log) => grid.replaceChildren(...names.map((name, i) => histogramFigure(i, name, log)));
  draw(false);
  return el("section", {"aria-labelledby": "h-histograms"},
    el("div", {class: "row"}, el("h2", {id: "h-histograms"}, "Histograms"), el("span", {class: "grow"}),
       sides.map((side) => el("span", {class: "key"}, el("i", {style: `background:var(--${side})`}), sideNames[side])),
       segments("scale", "Scale of counts", {linear: "Linear", log: "Log"}, "linear", (v) => draw(v === "log"))),
    grid);
}

// ---- tables

function table(words, head, rows) {
  return scroller(words, "card scroll", el("table", {},
    el("thead", {}, el("tr", {}, head.map((cell, i) => cell === "" ? el("td")
      : el("th", {scope: "col", class: rows[0][i] instanceof Node ? rows[0][i].className : ""}, cell)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => cell instanceof Node ? cell : el("td", {}, cell)))))));
}

function measures() {
  if (!data.comparisons.length) return null;
  const first = data.comparisons[0];
  return el("section", {"aria-labelledby": "h-measures"}, el("h2", {id: "h-measures"}, "Measures"),
    table("Measures", ["", "PSNR, dB", "SSIM", "MSE", "Mean difference", "Largest", "At", "Samples that differ"],
          data.comparisons.map((c) => [
            `${sideNames[c.sides[0]]} and ${sideNames[c.sides[1]].toLowerCase()}`, decibel(c),
            c.ssim == null ? "–" : c.ssim.toFixed(4), number(c.mse, 4), number(c.mae, 4), number(c.max_abs, 5),
            c.identical ? "–" : `${c.max_abs_at.x}, ${c.max_abs_at.y}`,
            `${number(100 * c.different / c.samples)} %`])),
    el("p", {class: "small soft"}, `Data range ${number(first.data_range, 6)}. SSIM: ${data.ssim_variant}.`));
}

function noise() {
  const known = sides.filter((side) => data.noise[side]);
  if (!known.length) return null;
  const names = channelNames(data.noise[known[0]].sigma.length);
  const impulses = known.some((side) => mean(data.noise[side].impulses) >= 0.001);
  return el("section", {"aria-labelledby": "h-noise"}, el("h2", {id: "h-noise"}, "Noise"),
    table("Noise", ["Standard deviation, levels", ...names, "% of the range", ...impulses ? ["Impulses"] : []],
          known.map((side) => [sideNames[side],
            ...names.map((_, i) => i < data.noise[side].sigma.length ? data.noise[side].sigma[i].toFixed(data.files[side].range > 1 ? 2 : 5) : "–"),
            number(100 * sigma(side) / data.files[side].range),
            ...impulses ? [number(100 * mean(data.noise[side].impulses)) + " %"] : []])),
    el("p", {class: "small soft"}, "Estimated from each picture alone, as tamis estimate does."));
}

function paramRow(p) {
  const value = p.unit && /\d$/.test(p.value) ? `${p.value} ${p.unit}` : p.value;
  return el("tr", {}, el("td", {class: "mono"}, p.name), el("td", {}, value), el("td", {}, p.doc));
}

function step(s, i) {
  const given = s.params.filter((p) => !p.is_default), rest = s.params.filter((p) => p.is_default);
  const list = (params) => scroller(`Parameters of ${s.filter}`, "scroll", el("table", {}, el("tbody", {}, params.map(paramRow))));
  return el("div", {class: "card padded step"},
    el("h3", {}, el("span", {class: "soft"}, String(i + 1)), s.filter), el("p", {class: "small soft"}, s.brief),
    given.length ? list(given) : null,
    rest.length ? el("details", {}, el("summary", {}, `${rest.length} at their defaults`), list(rest)) : null);
}

function chain() {
  const run = data.run;
  if (!run) return null;
  const command = `tamis run ${quoted(run.chain)} ${quoted(data.files.before.name)} -o ${quoted(data.files.after.name)}`;
  return el("section", {"aria-labelledby": "h-chain"}, el("h2", {id: "h-chain"}, "Chain"),
    el("div", {class: "card padded command"}, el("code", {}, command), copyButton(command, "Copy")),
    el("div", {class: "steps"}, run.steps.map(step)));
}

/* Choosing only where the chain left something to the picture. */
function times(run) {
  const parts = [["Choosing", run.choose_seconds], ["Reading", run.read_seconds],
                 ["Filtering", run.filter_seconds], ["Writing", run.write_seconds]]
    .filter((part) => part[1] !== undefined);
  return table("Device and times", ["Device", ...parts.map((part) => part[0])],
               [[deviceName(run), ...parts.map((part) => seconds(part[1]))]]);
}

function machine() {
  const run = data.run;
  const rows = sides.map((side) => {
    const f = data.files[side];
    return [sideNames[side], el("td", {class: "text"}, f.name), el("td", {class: "text"}, shape(f)),
            el("td", {class: "text"}, f.format + (f.detail ? ", " + f.detail : ""))];
  });
  return el("section", {"aria-labelledby": "h-files"}, el("h2", {id: "h-files"}, "Files and machine"),
    table("Files", ["", "File", "Picture", "Format"], rows),
    run ? times(run) : null,
    el("p", {class: "small soft"}, `Made by tamis ${data.version}. This page is one file and loads nothing.`));
}

const viewer = buildViewer();
const {before, after} = data.files;
page.replaceChildren(...[
  el("header", {}, mark("tamis report"), el("h1", {}, `${baseName(before.name)} → ${baseName(after.name)}`),
     el("p", {class: "soft small"}, [data.run && data.run.chain, shape(before)].filter(Boolean).join("  ·  "))),
  keyFigures(),
  el("section", {"aria-label": "Pictures"}, viewer.node, viewerNotes()),
  chain(), noise(), measures(), histogramSection(), machine()].filter(Boolean));
viewer.start();
window.tamis = {data, viewer: viewer.viewer};
