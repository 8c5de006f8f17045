// Marks the section in view in the table of contents: the last section whose heading has reached the top of the window,
// or the first section before that. Short sections at the end of a page never reach the top. When the page is scrolled
// to its end, the section named in the address is marked if it is in view, otherwise the last one.
"use strict";
function scrollInto(box, link) {
  const at = link.getBoundingClientRect(), around = box.getBoundingClientRect();
  if (at.top < around.top || at.bottom > around.bottom) box.scrollTop += at.top - around.top - box.clientHeight / 2;
}
(function () {
  const links = Array.from(document.querySelectorAll(".contents a"));
  const sections = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  function mark() {
    const tops = sections.map(each => each.getBoundingClientRect().top);
    let at = Math.max(tops.findLastIndex(top => top < 40), tops[0] < innerHeight ? 0 : -1);
    if (scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 1) {
      const named = sections.indexOf(document.querySelector(":target"));
      at = tops[named] >= 0 ? named : tops.length - 1;
    }
    links.forEach((link, i) => {
      if (i !== at) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        scrollInto(link.closest("div"), link);
      }
    });
  }
  for (const event of ["scroll", "resize", "hashchange"]) addEventListener(event, mark);
  mark();
})();
