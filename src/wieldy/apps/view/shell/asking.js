// Data of the journal: asked for again and again while somebody looks, and shown anew only where it is another one.

async function asked(route, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return answered(await reached(`/api/${route}?${new URLSearchParams(given)}`, { cache: "no-store" }));
}

const reached = (address, options) => fetch(address, options).catch(() => { throw new Error("The program behind this page cannot be reached."); });

async function answered(response) {
  if (response.status === 401) throw new Error("The program that has printed this page's address was started anew. Open the address that it prints now.");
  const told = await response.json().catch(() => { throw new Error("The program behind this page has failed; what it has printed says how."); });
  if (!response.ok) throw new Error(told.error);
  return told;
}

// There is nothing to show but why.
function explain(error) {
  document.title = "Runs";
  main.replaceChildren(el("p", { class: "notice" }, said(error.message, 1000)), el("p", {}, el("a", { href: "#/" }, "All runs")));
}

const trouble = document.getElementById("trouble");
function complain(error) {
  trouble.hidden = !error;
  if (error) trouble.replaceChildren("This may be out of date: ", said(error.message, 1000));
}

// `show` is given what there is, now and each time it has changed; `pause` says after how many milliseconds to look again.
function watch(route, parameters, show, pause) {
  let known, told, timer, isClosed = false, isAsking = false;
  const look = async () => {
    clearTimeout(timer);
    if (isAsking || isClosed) return;
    isAsking = true;
    const began = performance.now();
    try {
      const found = await asked(route, { ...parameters, known });
      if (isClosed) return;
      complain(null);
      if (found.version !== known) {
        known = found.version, told = found;
        show(told);
      }
    } catch (error) {
      if (isClosed) return;
      if (told) complain(error);
      else explain(error);
    } finally {
      isAsking = false;
    }
    if (!isClosed && !document.hidden) timer = setTimeout(look, told ? Math.max(pause(told), 4 * (performance.now() - began)) : 3000);
  };
  const seen = () => { if (!document.hidden) look(); };
  document.addEventListener("visibilitychange", seen);
  const close = () => {
    isClosed = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", seen);
  };
  return { first: look(), look, close };
}

// A part of the page is filled anew; what somebody has opened or closed in it stays so.
function refill(node, ...children) {
  const name = (details) => details.querySelector("summary").textContent.split(":")[0];
  const open = new Map([...node.querySelectorAll("details")].map((each) => [name(each), each.open]));
  node.replaceChildren(...present(children));
  for (const details of node.querySelectorAll("details")) if (open.has(name(details))) details.open = open.get(name(details));
}
