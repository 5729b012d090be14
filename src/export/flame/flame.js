"use strict";
// The numbers of a frame stand in data-s (where it begins) and data-n (how much it is), of the whole's unit.
const MARGIN = 10, WIDTH = 1180, CHARACTER = 7.2;
let frames, from = 0, size = 0, total = 0;
const byId = (id) => document.getElementById(id);
const name = (g) => g.firstChild.textContent.replace(/ \([^()]*\)$/, "");

function place(g, zoomed) {
  const start = (g.s - from) / size * WIDTH, width = g.n / size * WIDTH;
  const left = Math.max(start, 0), right = Math.min(start + width, WIDTH);
  g.setAttribute("display", right - left < 0.1 ? "none" : "inline");
  g.classList.toggle("faded", zoomed && g.s <= from && g.s + g.n >= from + size && g.n > size);
  const rect = g.querySelector("rect"), text = g.querySelector("text");
  rect.setAttribute("x", MARGIN + left);
  rect.setAttribute("width", Math.max(right - left, 0));
  text.setAttribute("x", MARGIN + left + 3);
  const room = Math.floor((right - left - 6) / CHARACTER), whole = name(g);
  text.textContent = whole.length <= room ? whole : room < 3 ? "" : whole.slice(0, room - 2) + "..";
}

function show(start, number) {
  from = start;
  size = number;
  frames.forEach((g) => place(g, number < total));
  byId("reset").setAttribute("display", number < total ? "inline" : "none");
}

function search() {
  const term = prompt("Names to look for, as a regular expression (nothing: none)");
  if (term === null) return;
  let wanted = null;
  try { wanted = term ? new RegExp(term) : null; } catch (error) { return alert(error.message); }
  let end = 0, sum = 0;
  frames.forEach((g) => {
    const found = wanted !== null && wanted.test(name(g));
    g.classList.toggle("found", found);
    // Frames come with those upon them: one that stands upon a found one is counted with it.
    if (found && g.s >= end) { sum += g.n; end = g.s + g.n; }
  });
  byId("matched").textContent = wanted ? "matched: " + (sum * 100 / total).toFixed(2) + "%" : " ";
}

addEventListener("load", () => {
  frames = Array.from(byId("frames").children);
  frames.forEach((g) => { g.s = Number(g.dataset.s); g.n = Number(g.dataset.n); total = Math.max(total, g.s + g.n); });
  size = total;
  frames.forEach((g) => {
    g.addEventListener("click", () => show(g.s, g.n));
    g.addEventListener("mouseover", () => { byId("pointed").textContent = g.firstChild.textContent; });
  });
  byId("reset").addEventListener("click", () => show(0, total));
  byId("search").addEventListener("click", search);
});
