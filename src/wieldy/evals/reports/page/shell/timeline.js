// Where the time of a run went.

// Spans below one another on the run's time; each row is a link to the entry with which it began.
function waterfall(run, options) {
  const whole_s = run.took_s || 1e-9, inner = el("div", { class: "spans" }), box = el("div", { class: "waterfall", tabindex: "0", "aria-label": "where the time went" }, inner);
  const row = (span) => el(span.entry < 0 ? "div" : "a", { class: `span ${span.what}`, href: span.entry < 0 ? null : options.place(span.entry) },
    el("span", { class: "label" }, el("b", {}, span.what), " ", said(span.name, 80)),
    el("span", { class: "track" }, el("span", { class: "bar", style: { left: `${(100 * span.at_s) / whole_s}%`, width: `${(100 * span.took_s) / whole_s}%` } })),
    el("span", { class: "took" }, seconds(span.took_s)));
  const HEIGHT = 22;
  const fill = () => {
    const all = run.spans.length <= 400, first = all ? 0 : Math.max(0, Math.floor(box.scrollTop / HEIGHT) - 10);
    const last = all ? run.spans.length : Math.min(run.spans.length, first + 60);
    inner.style.setProperty("padding-top", `${first * HEIGHT}px`);
    inner.style.setProperty("padding-bottom", `${(run.spans.length - last) * HEIGHT}px`);
    inner.replaceChildren(...run.spans.slice(first, last).map(row));
  };
  box.addEventListener("scroll", fill, { passive: true });
  fill();
  return box;
}
