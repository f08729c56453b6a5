// A long list in the page: only what is near the window is there. Rows may have any height, which is measured.

class LongList {
  // `render(at)` makes the row; `estimate` is the height, in pixels, of one that was not seen yet.
  constructor(root, length, render, estimate) {
    Object.assign(this, { root, length, render, estimate, active: -1, rows: new Map(), all: false });
    this.heights = new Float64Array(length).fill(estimate);
    this.offsets = new Float64Array(length + 1);
    root.classList.add("long");
    root.setAttribute("role", "list");
    this.before = el("div"), this.after = el("div");
    root.replaceChildren(this.before, this.after);
    this.observer = new ResizeObserver(() => this.measure() && this.update());
    this.onscroll = () => this.update();
    addEventListener("scroll", this.onscroll, { passive: true });
    addEventListener("resize", this.onscroll);
    LongList.open.add(this);
    this.sum();
    this.update();
  }

  close() {
    removeEventListener("scroll", this.onscroll);
    removeEventListener("resize", this.onscroll);
    this.observer.disconnect();
    LongList.open.delete(this);
  }

  // There are so many rows now, and those from `from` on are other ones.
  renew(length, from) {
    for (const [at, row] of this.rows) {
      if (at < from) continue;
      this.observer.unobserve(row);
      row.remove();
      this.rows.delete(at);
    }
    const heights = new Float64Array(length).fill(this.estimate);
    heights.set(this.heights.subarray(0, length));
    Object.assign(this, { length, heights, offsets: new Float64Array(length + 1) });
    this.sum();
    this.update();
  }

  sum() {
    for (let at = 0; at < this.length; at += 1) this.offsets[at + 1] = this.offsets[at] + this.heights[at];
  }

  // The row at this distance from the list's top.
  rowAt(distance) {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.offsets[middle + 1] > distance) high = middle;
      else low = middle + 1;
    }
    return Math.min(low, Math.max(0, this.length - 1));
  }

  update() {
    if (!this.length) return;
    const top = this.root.getBoundingClientRect().top, margin = 600;
    const first = this.all ? 0 : this.rowAt(-top - margin);
    const last = this.all ? this.length - 1 : this.rowAt(-top + innerHeight + margin);
    for (const [at, row] of this.rows) {
      if (at < first || at > last) {
        this.observer.unobserve(row);
        row.remove();
        this.rows.delete(at);
      }
    }
    let next = this.after;
    for (let at = last; at >= first; at -= 1) {
      let row = this.rows.get(at);
      if (!row) {
        row = this.render(at);
        row.setAttribute("role", "listitem");
        row.setAttribute("aria-posinset", at + 1);
        row.setAttribute("aria-setsize", this.length);
        row.classList.toggle("active", at === this.active);
        this.root.insertBefore(row, next);
        this.rows.set(at, row);
        this.observer.observe(row);
      }
      next = row;
    }
    this.first = first, this.last = last;
    this.space();
    if (this.measure()) this.space();
  }

  space() {
    this.before.style.setProperty("height", `${this.offsets[this.first]}px`);
    this.after.style.setProperty("height", `${this.offsets[this.length] - this.offsets[this.last + 1]}px`);
  }

  // True where a row has another height than was thought; what is looked at stays where it is.
  measure() {
    const seen = this.rowAt(-this.root.getBoundingClientRect().top);
    let changed = false, above = 0;
    for (const [at, row] of this.rows) {
      const height = row.getBoundingClientRect().height;
      if (Math.abs(height - this.heights[at]) < 0.5 || !row.isConnected) continue;
      if (at < seen) above += height - this.heights[at];
      this.heights[at] = height;
      changed = true;
    }
    if (!changed) return false;
    this.sum();
    this.space();
    if (above) scrollBy(0, above);
    return true;
  }

  // The row is below the bars at the top; heights become known on the way, so that it takes a few steps.
  show(at, gap = 140) {
    if (at < 0 || at >= this.length) return;
    for (let step = 0; step < 8; step += 1) {
      const wanted = this.root.getBoundingClientRect().top + scrollY + this.offsets[at] - gap;
      if (step && Math.abs(wanted - scrollY) < 1) break;
      scrollTo(0, wanted);
      this.update();
      if (scrollY + innerHeight >= document.documentElement.scrollHeight - 1 && step > 2) break;
    }
    this.activate(at);
  }

  activate(at) {
    this.rows.get(this.active)?.classList.remove("active");
    this.active = at;
    this.rows.get(at)?.classList.add("active");
  }

  step(by) {
    const from = this.active < 0 ? this.rowAt(140 - this.root.getBoundingClientRect().top) - (by > 0 ? 1 : 0) : this.active;
    this.show(Math.min(this.length - 1, Math.max(0, from + by)));
  }
}

LongList.open = new Set();

// What is printed is all of it.
addEventListener("beforeprint", () => LongList.open.forEach((list) => { list.all = true; list.update(); }));
addEventListener("afterprint", () => LongList.open.forEach((list) => { list.all = false; list.update(); }));
