// Calls that wait for a person: all that a decision counts for, and how to decide.

const decisions = []; // what was decided in this page, the newest first

function waitingView(requests, total, decides, again) {
  const more = total - requests.length;
  return el("section", { class: "waiting", "aria-label": "Waiting for a decision" },
    decisions.slice(0, 5).map((words) => el("p", { class: "decided", role: "status" }, said(words, 2000))),
    total ? el("h2", {}, `${plural(total, "call")} wait${total === 1 ? "s" : ""} for a decision`) : null,
    requests.map((request) => requestView(request, decides, again)),
    more > 0 ? el("p", { class: "note" }, `and ${count(more)} more`) : null);
}

function requestView(request, decides, again) {
  const isLate = request.expires !== null && request.expires <= Date.now() / 1000;
  return el("article", { class: "request", "data-call": request.call_id },
    el("h3", { class: "call-name" }, said(request.name, 200)),
    request.arguments === "{}" ? el("p", { class: "nothing" }, "no arguments") : block(request.arguments, { class: "code", open: true }),
    el("dl", {}, el("dt", {}, "why"), el("dd", {}, block(request.reason, { class: "plain", open: true })),
      el("dt", {}, "run"), el("dd", {}, el("a", { href: path("run", request.run_id) }, said(request.run_id, 80)), ", call ", said(request.call_id, 80)),
      el("dt", {}, "expires"), el("dd", {}, request.expires === null ? "never" : [moment(request.expires), isLate ? ": too late, it is asked again when the run is resumed" : null]),
      el("dt", {}, "digest"), el("dd", {}, el("code", {}, request.digest.slice(0, 16)))),
    decidable(request, decides) && !isLate ? buttons(request, again) : el("div", { class: "commands" },
      el("p", { class: "note" }, decides && !isLate ? "Not all of it can be shown here. To decide, type in a terminal:" : "To decide, type in a terminal:"),
      command(request.approve), command(request.deny)));
}

// Nobody decides on what is not all shown.
const decidable = (request, decides) => decides && request.is_whole && request.arguments.length <= MORE_CHARACTERS && request.reason.length <= MORE_CHARACTERS;

const command = (words) => el("pre", { class: "text code command", tabindex: "0" }, visible(words));

function buttons(request, again) {
  const why = el("input", { type: "text", placeholder: "why, for the model (where you deny)", "aria-label": "why, for the model", maxlength: "2000" });
  const told = el("p", { class: "bad", role: "status" });
  const decide = (isGranted) => async () => {
    for (const button of box.querySelectorAll("button")) button.disabled = true;
    try {
      const { run_id, call_id, digest } = request;
      const answer = await answered(await reached("/api/decide", { method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ run_id, call_id, digest, is_granted: isGranted, reason: isGranted ? "" : why.value }) }));
      decisions.unshift(`${answer.is_granted ? "Approved" : "Denied"} by ${answer.by}: ${request.name} (call ${request.call_id} of run ${request.run_id}). ${answer.next}`);
      again();
    } catch (error) {
      told.textContent = plain(error.message);
      for (const button of box.querySelectorAll("button")) button.disabled = false;
    }
  };
  const box = el("div", { class: "buttons" }, el("button", { class: "approve", onclick: decide(true) }, "Approve"),
    el("button", { class: "deny", onclick: decide(false) }, "Deny"), why);
  return [box, told];
}
