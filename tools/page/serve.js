// SPDX-License-Identifier: Apache-2.0
// The live page: all controls are made from the filters' tables; whenever something changes, the program
// behind this page filters the part of the picture that is seen (serve_views.js).
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const filters = new Map(data.filters.map((f) => [f.name, f]));
const client = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");
const state = {id: null, picture: null, steps: [], pictures: data.pictures, number: 0, problem: "", last: null};

function address(path, query) {
  return path + "?" + new URLSearchParams(query);
}

async function ask(path, query, options) {
  const response = await fetch(address(path, query), options).catch((error) => {
    throw error.name === "AbortError" ? error
      : new Error("tamis does not answer any more: start tamis serve again and open the address that it prints");
  });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({error: response.statusText}));
  throw Object.assign(new Error(said.error), {status: response.status});
}

// ---- the chain as text

function stepText(step) {
  const given = filters.get(step.filter).params.filter((p) => step.values[p.name] !== undefined &&
                                                         step.values[p.name] !== defaultText(p));
  return step.filter + (given.length ? "=" + given.map((p) => `${p.name}=${step.values[p.name]}`).join(":") : "");
}

function chainText() {
  return state.steps.filter((s) => s.on).map(stepText).join(",");
}

function defaultText(p) {
  const text = String(p.default);
  return p.type === "value" && p.default_percent && p.default !== "auto" ? text + "%" : text;
}

function commandText() {
  const name = state.picture ? (state.picture.path || state.picture.name) : "in.png";
  return `tamis run ${quoted(chainText())} ${quoted(name)} -o ${quoted("out." + extension())}`;
}

function pythonText() {
  const name = state.picture ? (state.picture.path || state.picture.name) : "in.png";
  return `import tamis\n\nphoto, meta = tamis.read(${JSON.stringify(name)}, meta=True)\n` +
    `clean = tamis.Pipeline(${JSON.stringify(chainText())})(photo)\n` +
    `tamis.write(${JSON.stringify("out." + extension())}, clean, meta=meta)`;
}

// ---- controls

// Where a slider reaches: the whole range is often far more than anybody wants.
function reach(p) {
  const def = typeof p.default === "number" ? p.default : null;
  let low = p.min ?? 0, high = p.max ?? 100;
  const span = def > 0 ? def * 6 : p.type === "size" ? 31 : p.type === "int" ? 16 : p.unit === "deg" ? 180 : 10;
  if (high > span * 3) high = span;
  if (p.type === "value") high = p.default_percent ? 50 : Math.min(p.max ?? 255, Math.max(64, 4 * (def || 0)));
  if (low < -high) low = -high;
  if (p.odd && low % 2 === 0 && low > 0) low += 1;
  if (p.odd && low === 0) low = 1;
  const whole = p.type === "int" || p.type === "size";
  const step = p.odd ? 2 : whole ? 1 : Number(((high - low) / 200).toPrecision(1));
  if (!whole && low > 0 && low < step) low = step; // so that steps are at round numbers
  return {low, high, step};
}

const numeric = (p) => ["int", "float", "size", "value"].includes(p.type);

// One number as the text of a parameter, and back; null where the text is not one number.
function toText(p, number) {
  return String(Number(number.toPrecision(6))) + (p.type === "value" && p.default_percent ? "%" : "");
}
function toNumber(text) {
  const found = /^(-?[\d.]+(?:e-?\d+)?)%?$/.exec(text);
  return found ? Number(found[1]) : null;
}

function control(step, p, index) {
  const id = `p-${index}-${p.name}`, text = step.values[p.name] ?? defaultText(p);
  const node = el("div", {class: "param"}, el("label", {for: id, title: p.doc}, p.name));
  const set = (value) => {
    step.values[p.name] = value;
    node.classList.toggle("changed", value !== defaultText(p));
    changed();
  };
  node.classList.toggle("changed", text !== defaultText(p));
  if (p.type === "choice") {
    node.append(el("select", {id, class: "wide", onchange: (e) => set(e.target.value)},
                   p.choices.map((c) => el("option", {selected: c === text}, c))));
  } else if (!numeric(p)) {
    node.append(el("input", {id, type: "text", class: "wide", value: text, spellcheck: "false", list: p.words ? id + "-words" : null,
                             oninput: (e) => set(e.target.value.trim())}),
                p.words ? el("datalist", {id: id + "-words"}, p.words.map((w) => el("option", {value: w}))) : "");
  } else {
    const {low, high, step: by} = reach(p);
    const range = el("input", {id, type: "range", min: low, max: high, step: by, "aria-description": p.doc,
                               "aria-valuetext": text});
    // Defaults such as 11.7647058824 are shown by what says something of them.
    const plain = toNumber(text) === null ? text : toText(p, Number(toNumber(text).toPrecision(4))).replace(/%?$/, /%$/.test(text) ? "%" : "");
    const box = el("input", {type: "text", value: plain, "aria-label": `${p.name}, exact`, spellcheck: "false",
                             title: [p.min != null ? `${number(p.min)} to ${number(p.max)}` : "", p.unit, ...(p.words || [])].filter(Boolean).join(", ")});
    range.value = toNumber(text) ?? low;
    range.addEventListener("input", () => {
      box.value = toText(p, Number(range.value));
      range.setAttribute("aria-valuetext", box.value);
      set(box.value);
    });
    box.addEventListener("input", () => {
      const value = toNumber(box.value.trim());
      if (value !== null) range.value = value;
      range.setAttribute("aria-valuetext", box.value);
      set(box.value.trim() || defaultText(p));
    });
    node.append(range, box);
  }
  return node;
}

// What people reach for first; the rest is folded away.
function isMain(p, i) {
  return i < 3 && p.name !== "border";
}

function stepNode(step, i) {
  const filter = filters.get(step.filter);
  const main = filter.params.filter(isMain), rest = filter.params.filter((p, k) => !isMain(p, k));
  const button = (words, label, act, off) => el("button", {type: "button", "aria-label": label, title: label, "data-key": label, onclick: act, disabled: off}, words);
  const move = (to) => { state.steps.splice(to, 0, state.steps.splice(i, 1)[0]); drawSteps(to); changed(); };
  return el("li", {class: "card" + (step.on ? "" : " off")},
    el("div", {class: "head"},
      el("input", {type: "checkbox", checked: step.on, "aria-label": `Use ${step.filter}`, "data-key": "use",
                   onchange: (e) => { step.on = e.target.checked; drawSteps(); changed(); }}),
      el("select", {"aria-label": `Filter ${i + 1}`, "data-key": "filter", onchange: (e) => {
        state.steps[i] = newStep(e.target.value); drawSteps(); changed(); }},
        data.filters.filter((f) => f.min_inputs < 2 || f.name === step.filter).map((f) => el("option", {selected: f.name === step.filter}, f.name))),
      button("↑", "Earlier", () => move(i - 1), i === 0), button("↓", "Later", () => move(i + 1), i === state.steps.length - 1),
      button("×", "Remove", () => { state.steps.splice(i, 1); drawSteps(); changed(); })),
    el("p", {class: "small soft"}, filter.brief),
    main.map((p) => control(step, p, i)),
    rest.length ? el("details", {open: step.open, ontoggle: (e) => { step.open = e.target.open; }},
                     el("summary", {}, `${rest.length} more`), el("div", {class: "rest"}, rest.map((p) => control(step, p, i)))) : null);
}

function newStep(name) {
  return {filter: name, on: true, open: false, values: {}};
}

const stepList = el("ol", {class: "steps", "aria-label": "Chain"});

// All of it is made anew; what had the focus has it again, in the step that went to index `to`.
function drawSteps(to) {
  const had = document.activeElement, key = stepList.contains(had) && had.dataset.key;
  const index = to ?? [...stepList.children].indexOf(had.closest("li"));
  stepList.replaceChildren(...state.steps.map(stepNode));
  if (!key) return;
  const step = stepList.children[Math.min(index, state.steps.length - 1)];
  const same = step && step.querySelector(`[data-key="${key}"]:enabled`);
  (same || (step ? step.querySelector("select") : adder)).focus();
}

function changed() {
  showCode();
  if (state.picture) feeds[1].want();
}

// ---- what is said

const busy = el("i", {class: "busy", "aria-hidden": "true"}), facts = el("span"), readout = el("span", {class: "mono"});
// Said by screen readers when it changes; how much is there already is for the eye alone.
const exactness = el("span", {role: "status", id: "exactness"}), progress = el("span", {"aria-hidden": "true"});
const problem = el("div", {role: "alert"}), command = el("pre", {class: "card code", id: "command"}), python = el("pre", {class: "card code", id: "python"});

function showProblem() {
  problem.replaceChildren(...state.problem ? [el("div", {class: "problem"}, state.problem)] : []);
}

function showExactness(words, share) {
  if (exactness.textContent !== words) exactness.textContent = words;
  progress.textContent = share ? `${Math.round(100 * share)} %` : "";
}

function showStatus() {
  const last = state.last, p = state.picture;
  if (!p) return;
  const noise = p.noise ? `noise ${number(p.noise.reduce((a, b) => a + b, 0) / p.noise.length)}` : "";
  const how = last && last.how !== "all levels" ? `black ${number(last.low, 5)}, white ${number(last.high, 5)}` : "";
  facts.textContent = [shape(p), noise, how, last ? `${seconds(last.seconds)} on ${last.device}, ${seconds(last.total)} in all` : ""]
    .filter(Boolean).join("  ·  ");
}

function showCode() {
  command.textContent = commandText();
  python.textContent = pythonText();
}

function readSamples(at) {
  if (!at || !state.picture) { readout.textContent = ""; return; }
  const words = Object.entries(layers).map(([name, {part}]) => {
    if (!part || at.x < part.x || at.y < part.y || at.x >= part.x + part.w || at.y >= part.y + part.h) return "";
    const x = Math.floor((at.x - part.x) * part.node.width / part.w), y = Math.floor((at.y - part.y) * part.node.height / part.h);
    if (part.has && !part.has(part.rect.x + x, part.rect.y + y)) return "";
    const i = 4 * (y * part.node.width + x), {low, high} = part.said;
    const values = state.picture.channels >= 3 ? [0, 1, 2] : [0];
    return name + " " + values.map((c) => number(low + part.node.rgba[i + c] / 255 * (high - low))).join(" ");
  });
  readout.textContent = [`${at.x}, ${at.y}`, ...words.filter(Boolean)].join("   ");
}

// ---- pictures

const viewer = new Viewer({label: "Before and after", wheel: "always", onview: viewChanged, onhover: readSamples});
const picker = el("select", {id: "picture", "aria-label": "Picture", onchange: (e) => open(Number(e.target.value))});
const file = el("input", {type: "file", accept: "image/*,.tif,.tiff,.pgm,.ppm,.pam,.pfm,.npy", hidden: true, "aria-label": "Picture to open",
                          onchange: () => { if (file.files[0]) upload(file.files[0]); file.value = ""; }});
const empty = el("div", {class: "empty"}, el("p", {}, "Drop a picture here"), el("button", {type: "button", class: "main", onclick: () => file.click()}, "Choose a file"),
                 el("p", {class: "small"}, `It stays on this machine. Up to ${number(data.max_upload / 1048576)} MB.`));

function drawPicker() {
  picker.replaceChildren(...state.pictures.map((p) => el("option", {value: p.id, selected: p.id === state.id}, p.name)));
  picker.hidden = state.pictures.length === 0;
}

let wanted = null; // the picture chosen last: answers about others come too late

async function open(id) {
  wanted = id;
  try {
    const picture = await (await ask("picture", {id})).json();
    if (wanted !== id) return;
    Object.assign(state, {id, picture, problem: "", last: null});
    for (const layer of Object.values(layers)) Object.assign(layer, {whole: null, part: null, quick: null});
    empty.hidden = true;
    document.body.classList.remove("without");
    saver.disabled = false;
    formats.value = ["png", "jpeg", "tiff"].includes(picture.format) ? picture.format : "tiff";
    showProblem();
    showExactness("");
    viewer.setLayout("slide");
    for (const f of feeds) viewer.show(f.side, [], f.title);
    viewer.setSize(picture.width, picture.height);
    showCode();
    showStatus();
    // A small copy of all of it lies under the sharp part, for where that has not come yet.
    const level = Math.max(0, Math.ceil(Math.log2(Math.max(picture.width, picture.height) / 700)));
    const whole = await fetchView({id, chain: "", client: client + "w", number: ++state.number}, {level, x0: 0, y0: 0, x1: 1, y1: 1});
    if (wanted !== id) return;
    layers.before.whole = whole;
    feeds[0].draw();
  } catch (error) {
    if (wanted !== id) return;
    if (error.status !== 409) {
      state.problem = error.message;
      showProblem();
    }
  }
  drawPicker();
}

async function upload(chosen) {
  if (chosen.size > data.max_upload) {
    state.problem = `${chosen.name} is larger than ${number(data.max_upload / 1048576)} MB (tamis serve --max_upload)`;
    showProblem();
    return;
  }
  busy.classList.add("on");
  try {
    const added = await (await ask("upload", {name: chosen.name}, {method: "POST", body: chosen})).json();
    state.pictures = await (await ask("pictures", {})).json();
    await open(added.id);
  } catch (error) {
    state.problem = error.message;
    showProblem();
  }
  busy.classList.remove("on");
}

for (const [name, on] of [["dragover", true], ["dragleave", false], ["drop", false]])
  document.addEventListener(name, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", on);
    if (name === "drop" && event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]);
  });

// ---- saving

const formats = el("select", {id: "format", "aria-label": "Format to save", onchange: showCode},
                   ["png", "jpeg", "tiff", "pnm", "pfm", "npy"].map((f) => el("option", {}, f)));

function extension() {
  return {png: "png", jpeg: "jpg", tiff: "tif", pnm: "ppm", pfm: "pfm", npy: "npy"}[formats.value];
}

async function save() {
  busy.classList.add("on");
  try {
    const blob = await (await ask("save", {id: state.id, chain: chainText(), format: formats.value})).blob();
    const url = URL.createObjectURL(blob);
    el("a", {href: url, download: state.picture.name.replace(/\.\w+$/, "") + "_tamis." + extension()}).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    state.problem = "";
  } catch (error) {
    state.problem = error.message;
  }
  showProblem();
  busy.classList.remove("on");
}

const saver = el("button", {type: "button", class: "main", id: "save", disabled: true, onclick: save}, "Save result");

// ---- the page

// A list whose choices act at once: arrows and letters would take the first that they come to, and
// open it instead.
function actingList(select) {
  select.addEventListener("keydown", (event) => {
    const chooses = /^(Arrow|Page|Home|End)|^.$/.test(event.key) && !event.ctrlKey && !event.metaKey;
    if (!chooses || !select.showPicker || !CSS.supports("selector(:open)") || select.matches(":open")) return;
    event.preventDefault();
    select.showPicker();
  });
  return select;
}

const adder = actingList(el("select", {"aria-label": "Add a filter", onchange: () => {
  if (!adder.value) return;
  state.steps.push(newStep(adder.value));
  adder.value = "";
  drawSteps();
  changed();
}}, el("option", {value: ""}, "Add a filter …"), data.filters.filter((f) => f.min_inputs < 2).map((f) => el("option", {value: f.name}, f.name))));
// A preset's filters take the place of all that was there, with its values in the controls.
const groups = {own: "Your own", scene: "Scenes", noise: "Noise", video: "Video"};
const presetter = actingList(el("select", {"aria-label": "Start from a preset", onchange: () => {
  const preset = data.presets.find((p) => p.name === presetter.value);
  presetter.value = "";
  if (!preset) return;
  state.steps = preset.filters.map((f) => ({...newStep(f.filter), values: {...f.values}}));
  drawSteps();
  changed();
}}, el("option", {value: ""}, "Start from a preset …"), Object.entries(groups).map(([group, label]) => {
  const rows = data.presets.filter((p) => p.group === group);
  return rows.length ? el("optgroup", {label}, rows.map((p) => el("option", {value: p.name}, [p.name, p.about].filter(Boolean).join(" – ")))) : null;
})));
const layout = el("div", {class: "segments", role: "radiogroup", "aria-label": "Layout"},
  Object.entries({slide: "Slider", side: "Side by side"}).map(([value, words]) => el("label", {}, el("input", {
    type: "radio", name: "layout", value, checked: value === "slide", onchange: () => viewer.setLayout(value)}), words)));
const stage = el("div", {class: "holder"}, viewer.stage, empty);
const brand = mark("tamis");
brand.classList.add("brand");
page.replaceChildren(
  el("div", {class: "look"},
    el("div", {class: "toolbar row"}, brand, picker, el("button", {type: "button", onclick: () => file.click()}, "Open …"), file,
       layout, el("span", {class: "grow"}), viewer.zoomBar),
    stage, el("div", {class: "statusbar"}, el("span", {}, exactness, " ", progress, " ", busy), facts, readout)),
  el("aside", {class: "panel", "aria-label": "Filters"},
    el("h1", {class: "hidden"}, "tamis: filters on a picture"), problem, stepList, adder, presetter,
    el("div", {class: "row"}, saver, formats),
    el("div", {class: "row"}, el("h2", {class: "grow"}, "Command"), copyButton(commandText, "Copy")), command,
    el("div", {class: "row"}, el("h2", {class: "grow"}, "Python"), copyButton(pythonText, "Copy")), python),
  el("div", {class: "drop"}, "Drop the picture to open it"));
document.body.classList.add("without");
state.steps.push(newStep("bilateral"));
drawSteps();
drawPicker();
showCode();
if (state.pictures.length) open(state.pictures[0].id);
window.tamis = {data, state, viewer, layers, chainText};
