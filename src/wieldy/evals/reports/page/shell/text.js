// Elements and text. Text from outside becomes text nodes only, with every character that shows nothing made visible.

const el = (tag, options = {}, ...children) => filled(document.createElement(tag), options, children);
const svg = (tag, options = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), options, children);

function filled(node, options, children) {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, item] of Object.entries(value)) node.style.setProperty(key, item);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...present(children));
  return node;
}

// What may be left out of an element is null, undefined or false.
const present = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

// Control, format, private and unpaired characters: they could reorder a line, hide text, or look like nothing.
const UNSEEN = /\r(?!\n)|(?![\r\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

function escaped(character) {
  const code = character.codePointAt(0);
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}

// The text as nodes; what is made visible is marked, so that it cannot be taken for the same letters written out.
function visible(text) {
  const nodes = document.createDocumentFragment();
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    nodes.append(text.slice(from, found.index), el("span", { class: "escape" }, escaped(found[0])));
    from = found.index + found[0].length;
  }
  nodes.append(text.slice(from));
  return nodes;
}

const plain = (text) => text.replace(UNSEEN, escaped).replace(/\s+/g, " ");

// A short text from outside, which cannot change the direction of what stands beside it.
const said = (text, limit = 300) => {
  const cut = whole(text, limit);
  return el("bdi", cut.length < text.length ? { title: plain(whole(text, 2000)) } : {}, visible(oneLine(cut)),
    cut.length < text.length ? "…" : null);
};
const oneLine = (text) => text.replace(/\s+/g, " ").trim();

// The first characters, never half of one.
function whole(text, limit) {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit);
}

const FOLD_CHARACTERS = 1500, FOLD_LINES = 14, MORE_CHARACTERS = 200000;

// A text of any length: its beginning, and a button that says how much more there is and shows it.
function block(text, options = {}) {
  const pre = el("pre", { class: `text ${options.class || ""}`, dir: "auto", tabindex: "0" });
  const box = el("div", { class: "block" }, pre);
  const first = options.open ? whole(text, MORE_CHARACTERS) : folded(text);
  let shown = first.length;
  pre.append(visible(first));
  if (shown >= text.length) return box;
  const more = el("button", { class: "more", onclick: () => {
    const next = whole(text.slice(shown, shown + MORE_CHARACTERS + 1), MORE_CHARACTERS);
    pre.append(visible(next));
    shown += next.length;
    tell();
  } });
  const tell = () => {
    const left = text.length - shown;
    more.hidden = left === 0;
    more.textContent = left > MORE_CHARACTERS
      ? `Show ${count(MORE_CHARACTERS)} of ${count(left)} more characters`
      : `Show ${count(left)} more characters`;
  };
  tell();
  box.append(more);
  return box;
}

function folded(text) {
  let end = 0;
  for (let line = 0; line < FOLD_LINES && end >= 0; line += 1) end = text.indexOf("\n", end + (line ? 1 : 0));
  const cut = whole(end < 0 ? text : text.slice(0, Math.max(end, 1)), FOLD_CHARACTERS);
  return text.length - cut.length < 120 ? text : cut;
}

const count = (number) => Math.round(number).toLocaleString("en-US");
const percent = (rate, signed = false) =>
  rate === null || rate === undefined ? "–" : `${signed && rate > 0 ? "+" : ""}${(100 * rate).toFixed(1)} %`.replace("-", "−");
const within = (interval, signed = false) =>
  interval ? `[${percent(interval[0], signed)}, ${percent(interval[1], signed)}]` : "";
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

function seconds(value) {
  if (value === null || value === undefined) return "";
  if (value === 0) return "0 s";
  if (value < 0.001) return `${Math.round(value * 1e6)} µs`;
  if (value < 1) return `${(value * 1000).toPrecision(value < 0.1 ? 2 : 3)} ms`;
  if (value < 120) return `${value.toPrecision(3)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

function moment(epoch) {
  if (epoch === null || epoch === undefined) return "";
  const at = new Date(epoch * 1000), two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

const pValue = (value) => (value < 0.001 ? "p < 0.001" : `p = ${value.toPrecision(2)}`);
