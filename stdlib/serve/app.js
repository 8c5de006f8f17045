// Refreshes the parts of a page that change, while the page is visible, and filters while one types. Pages work without
// this script. A part is an element with an id in the list below; the server sends the whole page again.
"use strict";
const parts = ["about", "figures", "problems", "trials", "slices", "trial", "count"];
const pulse = document.getElementById("pulse");
let last = "", busy = false, shown = location.href, state = document.body.dataset.state || "";

function ticked() {
  return new Set(Array.from(document.querySelectorAll("#trials input:checked"), box => box.value));
}

function replace(page) {
  const fresh = new DOMParser().parseFromString(page, "text/html");
  const chosen = ticked(), old = document.querySelector("main"), next = fresh.querySelector("main");
  const known = parts.filter(id => document.getElementById(id) && fresh.getElementById(id));
  if (!known.length) {  // the list of studies, an error, or a page of another kind than before
    old.replaceWith(next);
    return;
  }
  const focus = document.activeElement && document.activeElement.id;
  for (const id of known) {
    const here = document.getElementById(id), there = fresh.getElementById(id);
    if (here.innerHTML === there.innerHTML) continue;
    const open = Array.from(here.querySelectorAll("details"), each => each.open);
    const scrolled = Array.from(here.querySelectorAll(".wide"), each => [each.scrollLeft, each.scrollTop]);
    here.replaceWith(there);
    there.querySelectorAll("details").forEach((each, i) => { each.open = open[i] || false; });
    there.querySelectorAll(".wide").forEach((each, i) => {
      if (scrolled[i]) [each.scrollLeft, each.scrollTop] = scrolled[i];
    });
  }
  for (const box of document.querySelectorAll("#trials input")) {
    if (chosen.has(box.value)) box.checked = true;
  }
  if (focus && document.getElementById(focus)) document.getElementById(focus).focus();
}

async function refresh() {
  if (busy || document.hidden) return;
  busy = true;
  try {
    const asked = location.href, target = new URL(asked);
    if (state && asked === shown) target.searchParams.set("seen", state);
    const answer = await fetch(target, { headers: { Accept: "text/html" } });
    if (answer.status !== 204) {  // 204: the store is the same
      const page = await answer.text();
      if (asked === location.href) {
        if (page !== last) replace(page);
        [last, shown, state] = [page, asked, (page.match(/<body[^>]* data-state="(\w+)"/) || [])[1] || ""];
      }
    }
    pulse.textContent = "live";
    pulse.className = "on";
  } catch (_) {
    pulse.textContent = "no connection";
    pulse.className = "off";
  }
  busy = false;
}

const filter = document.getElementById("filter");
if (filter) {
  let later = 0;
  const show = () => {
    const values = new URLSearchParams(new FormData(filter));
    if (!values.get("q")) values.delete("q");
    history.replaceState(null, "", "/study?" + values);
    refresh();
  };
  filter.addEventListener("input", () => { clearTimeout(later); later = setTimeout(show, 200); });
  filter.addEventListener("submit", event => { event.preventDefault(); show(); });
}

const interval = Number(document.body.dataset.live || 0);
if (interval) {
  setInterval(refresh, interval);
  document.addEventListener("visibilitychange", refresh);
  refresh();
}
