// What is shown at which address.

const KEYS = [["/", "search"], ["j  k", "next, previous row or step"], ["Enter", "open the row"], ["d", "first divergence (side by side)"],
  ["n  p", "next, previous difference"], ["Esc", "back to all runs"], ["t", "light or dark"], ["?", "this list"]];

function addressed() {
  const [where, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { parts: where.split("/").map(decoded), query: new URLSearchParams(query || "") };
}

let newest = 0, shown = "";

async function navigate() {
  const { parts: [kind, one, other], query } = addressed();
  if (kind === "run" && one === shown && other && view.find) return view.find(other);
  shown = kind === "run" ? one : "";
  const own = ++newest;
  view.close?.();
  view.list?.close();
  view = {};
  help.hidden = true;
  complain(null);
  scrollTo(0, 0);
  try {
    if (kind === "run" && one) await showRun(one, other);
    else if (kind === "entries" && one) await showEntries(one, other);
    else if (kind === "compare" && one && other) await showComparison([one, other]);
    else await showRuns(Object.fromEntries(["status", "text", "tool", "after"].map((name) => [name, query.get(name) || ""])));
  } catch (error) {
    if (own === newest) explain(error);
  }
  if (own === newest) main.focus({ preventScroll: true });
}

frame("Wieldy runs", KEYS);
listen({
  ...COMMON_ACTIONS,
  "/": () => { if (!document.getElementById("search")) go("#/"); requestAnimationFrame(() => document.getElementById("search")?.focus()); },
  Enter: () => view.open && view.list.active >= 0 && view.open(view.list.active),
  Escape: () => { if (!help.hidden) help.hidden = true; else go("#/"); },
});
addEventListener("hashchange", navigate);
navigate();
