// Finds names by the words typed. A word in a name weighs most, then another library's name for it, then a word in the
// sentence about it, then one in the text of a page or recipe. Titles of pages and recipes weigh more than other
// names, and names of fields less. Fields with equal names and sentences are one hit. Stems and synonyms of a word
// count less, as in `moonrank doc`, whose rules for words are the same. Names with every word come before others. If
// nothing is found, names that differ from the word by one letter are shown. `groups`: file, and [anchor, name,
// sentence, other names, words of the text] of each name; `synonyms`: pairs of words; `endings`: endings of words,
// without which they are stems.
(function () {
  var names = [], other = {}, box = document.getElementById("search"), field = document.getElementById("q");
  var hits = document.getElementById("hits"), here = document.querySelector(".site ul ul [aria-current]");
  synonyms.forEach(function (pair) { other[pair[0]] = pair[1]; });
  groups.forEach(function (group) {
    group[1].forEach(function (entry) {
      var low = entry[1].toLowerCase();
      names.push({ name: entry[1], url: group[0] + (entry[0] ? "#" + encodeURIComponent(entry[0]) : ""), low: low,
        last: low.split(/[.:]\s*/).pop(), text: entry[2] || "", words: (entry[2] || "").toLowerCase(),
        also: (entry[3] || "").split(" "), page: entry[4] || "", field: /^mr\..*[A-Z]\w*\.\w+$/.test(entry[1]) });
    });
  });
  // Returns the words of a search. Words that have a synonym together are replaced by it, the longest first. More words
  // than `most` would only make the search slow.
  function wordsOf(text) {
    var most = 12, all = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, most), words = [];
    for (var i = 0; i < all.length; i++) {
      var found = [all[i]];
      for (var last = Math.min(all.length, i + 4); last > i + 1; last--) {
        var together = all.slice(i, last).join(" ");
        if (Object.prototype.hasOwnProperty.call(other, together)) {
          found = other[together].split(" ");
          i = last - 1;
          break;
        }
      }
      words = words.concat(found);
    }
    return words;
  }
  function synonym(word) { return Object.prototype.hasOwnProperty.call(other, word) ? [other[word]] : []; }
  // Returns the word, the word without a cutoff ("recall" for "recall@20"), its stems, and synonyms of all these.
  function forms(word) {
    var found = [word].concat((word.match(/^([a-z]\w*)@[\dk]*$/) || []).slice(1));
    endings.forEach(function (end) {
      var stem = word.slice(0, -end.length);
      if (stem.length >= 3 && word.slice(-end.length) === end) found.push(end === "ies" ? stem + "y" : stem);
    });
    return found.concat.apply(found, found.map(synonym));
  }
  function inside(text, word, whole, part) {
    var at = text.indexOf(word), found = at < 0 ? 0 : part;
    for (; at >= 0; at = text.indexOf(word, at + 1)) {
      if (!/\w/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(at + word.length))) return whole;
    }
    return found;
  }
  function score(name, word) {
    var s = inside(name.low, word, 40, 20) + inside(name.last, word, 60, 30) +
      (name.last === word || name.low === word ? 60 : name.last.indexOf(word) === 0 ? 30 : 0);
    return (name.field ? s * 0.2 : s) + inside(name.words, word, 20, 8) + (name.also.indexOf(word) >= 0 ? 40 : 0) +
      (name.page && s ? 30 : 0) + inside(name.page, word, 15, 5);
  }
  function best(name, list) {
    return Math.max.apply(null, list.map(function (form, i) { return score(name, form) * (i ? 0.75 : 1); }));
  }
  function hitsOf(text) {
    var words = wordsOf(text).map(forms), all = [], some = [];
    names.forEach(function (name) {
      var scores = words.map(function (list) { return best(name, list); });
      var total = scores.reduce(function (a, b) { return a + b; }, 0);
      if (total > 0) (Math.min.apply(null, scores) > 0 ? all : some).push({ of: name, score: total });
    });
    function order(a, b) { return b.score - a.score || a.of.name.length - b.of.name.length ||
      (a.of.name < b.of.name ? -1 : 1); }
    var first = {};
    return all.sort(order).concat(some.sort(order)).filter(function (hit) {
      var key = hit.of.field ? hit.of.last + ": " + hit.of.text : hit.of.url, found = first[key];
      if (found) found.equal += 1; else first[key] = hit;
      hit.equal = 0;
      return !found;
    }).slice(0, 12);
  }
  // Returns the text with blanks in place of dots, parentheses, underscores, hyphens and cutoffs. Of a method or
  // field of a variable, such as loss.item(), returns only the name after the dot. Single letters are left out if there
  // are other words.
  function divided(text) {
    var name = text.replace(/^\s*\w+[.:](\w+)\s*[()]*\s*$/, "$1");
    var words = name.replace(/@[\dk]*/g, " ").replace(/[()._@\/-]/g, " ").split(/\s+/).filter(Boolean);
    var long = words.filter(function (word) { return word.length > 1; });
    return (long.length ? long : words).join(" ");
  }
  // True if two words differ by one letter that is added, missing or wrong, or by two neighbours in the other order.
  function isNear(a, b) {
    if (Math.abs(a.length - b.length) > 1 || a === b) return false;
    var i = 0, j = 0;
    while (i < a.length && a[i] === b[i]) i++;
    while (j < a.length - i && j < b.length - i && a[a.length - 1 - j] === b[b.length - 1 - j]) j++;
    var left = a.slice(i, a.length - j), right = b.slice(i, b.length - j);
    return left.length <= 1 && right.length <= 1 || left.length === 2 && left[0] + left[1] === right[1] + right[0];
  }
  // Returns the text with each word of four letters or more that is misspelt replaced by a name that is near it.
  function corrected(text) {
    return wordsOf(text).map(function (word) {
      var near = word.length < 4 ? [] : names.filter(function (name) { return isNear(word, name.last); });
      return near.length ? near[0].last : word;
    }).join(" ");
  }
  // If the words as typed are not found, their parts are searched, and then those with misspelt words corrected.
  function find(text) {
    var whole = hitsOf(text.replace(/[()]/g, " "));
    if (whole.length || /^mr\./.test(text)) return whole;
    var parts = hitsOf(divided(text));
    return parts.length ? parts : hitsOf(corrected(divided(text)));
  }
  function show() {
    hits.textContent = "";
    find(field.value).forEach(function (hit) {
      var item = document.createElement("li"), link = document.createElement("a"),
        text = document.createElement("span");
      link.href = hit.of.url;
      link.textContent = hit.of.name;
      link.onclick = function () { hits.textContent = ""; };
      text.textContent = hit.of.text + (hit.equal ? " (" + hit.equal + " more with this option)" : "");
      link.appendChild(text);
      item.appendChild(link);
      hits.appendChild(item);
    });
    if (field.value.trim() && !hits.firstChild) {
      hits.appendChild(document.createElement("li")).textContent = "Nothing found";
    }
  }
  function step(by) {
    var links = Array.prototype.slice.call(hits.querySelectorAll("a")), at = links.indexOf(document.activeElement) + by;
    (links[at] || field).focus();
  }
  box.hidden = false;
  field.oninput = show;
  box.onsubmit = function () {
    var first = hits.querySelector("a");
    if (first) { location.href = first.href; hits.textContent = ""; }
    return false;
  };
  box.addEventListener("keydown", function (e) {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") { e.preventDefault(); step(e.key === "ArrowDown" ? 1 : -1); }
  });
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { hits.textContent = ""; field.blur(); }
    if (e.key === "/" && document.activeElement !== field) { e.preventDefault(); field.focus(); }
  });
  if (here) scrollInto(here.closest("div"), here);
})();
