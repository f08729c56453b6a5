// The frame of a page: its bar, its keys, light and dark.

let view = {};
const main = document.getElementById("main"), bar = document.querySelector("header.bar"), help = document.getElementById("help");
const go = (address) => { location.hash = address; };

// `keys` are pairs: a key, and what it does. `more` stands in the bar.
function frame(name, keys, ...more) {
  bar.append(el("a", { class: "brand", href: "#/" }, name), ...more, el("span", { class: "space" }),
    el("button", { title: "light or dark ( t )", "aria-label": "light or dark", onclick: theme }, "◐"),
    el("button", { title: "keys ( ? )", "aria-label": "keys", onclick: toggleHelp }, "?"));
  help.append(el("div", { class: "keys", role: "dialog", "aria-label": "keys" }, el("h2", {}, "Keys"),
    el("dl", {}, keys.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]))));
  help.addEventListener("click", () => { help.hidden = true; });
}

const toggleHelp = () => { help.hidden = !help.hidden; };

function theme() {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
}

// What all pages have in common; each adds its own.
const COMMON_ACTIONS = {
  j: () => view.list?.step(1), k: () => view.list?.step(-1), d: () => view.divergence?.(), n: () => view.difference?.(1), p: () => view.difference?.(-1),
  t: () => theme(), "?": () => toggleHelp(),
};

function listen(actions) {
  addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input:not([type=checkbox]), select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "Enter" && event.target.matches?.("a, button, summary, input")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
