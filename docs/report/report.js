// Shows the hint above each table and figure that is wider than the page.
function mark() {
  for (const box of document.querySelectorAll(".box")) {
    const inner = box.lastElementChild;
    box.classList.toggle("scrolls", inner.scrollWidth > inner.clientWidth + 1);
  }
}
addEventListener("resize", mark);
mark();
