// Finds names that have every word typed; those that end in what was typed come first. `groups`: file, beginning of names, ends of names
// (or pairs of an anchor and a title).
(function () {
  var names = [], box = document.getElementById("search"), field = document.getElementById("q"), hits = document.getElementById("hits");
  groups.forEach(function (g) {
    g[2].forEach(function (end) {
      var titled = typeof end !== "string", id = titled ? end[0] : g[1] + end;
      names.push({ name: titled ? end[1] : id, url: g[0] + (id ? "#" + encodeURIComponent(id) : "") });
    });
  });
  function find(text) {
    var words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    return names.map(function (n) {
      var low = n.name.toLowerCase(), last = low.split(/[.:]/).pop(), first = words[0];
      if (!words.every(function (w) { return low.indexOf(w) >= 0; })) return null;
      return { of: n, rank: low === first || last === first ? 0 : last.indexOf(first) === 0 ? 1 : 2 };
    }).filter(Boolean).sort(function (a, b) {
      return a.rank - b.rank || a.of.name.length - b.of.name.length || (a.of.name < b.of.name ? -1 : 1);
    }).slice(0, 12);
  }
  function show() {
    hits.textContent = "";
    find(field.value).forEach(function (hit) {
      var item = document.createElement("li"), link = document.createElement("a");
      link.href = hit.of.url;
      link.textContent = hit.of.name;
      link.onclick = function () { hits.textContent = ""; };
      item.appendChild(link);
      hits.appendChild(item);
    });
  }
  box.hidden = false;
  field.oninput = show;
  box.onsubmit = function () {
    var first = hits.querySelector("a");
    if (first) { location.href = first.href; hits.textContent = ""; }
    return false;
  };
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { hits.textContent = ""; field.blur(); }
    if (e.key === "/" && document.activeElement !== field) { e.preventDefault(); field.focus(); }
  });
})();
