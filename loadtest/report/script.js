"use strict";
// The crosshair: shows the row of a chart's table that is nearest to the mouse. Charts and tables are complete without it.
for (const figure of document.querySelectorAll("figure[data-low]")) {
  const [low, high, left, right, top, bottom] = ["low", "high", "left", "right", "top", "bottom"].map((name) => Number(figure.dataset[name]));
  const svg = figure.querySelector("svg");
  const table = figure.parentElement.querySelector("details table");
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const rows = [...table.tBodies[0].rows];
  const tip = figure.appendChild(Object.assign(document.createElement("div"), { className: "tip" }));
  const cross = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
  for (const [name, value] of [["class", "cross"], ["y1", top], ["y2", bottom], ["visibility", "hidden"]]) cross.setAttribute(name, value);

  const leave = () => { cross.setAttribute("visibility", "hidden"); tip.style.display = "none"; };
  svg.addEventListener("mouseleave", leave);
  svg.addEventListener("mousemove", (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const x = low + (((event.clientX - box.left) * scale - left) / (right - left)) * (high - low);
    if (!rows.length || x < low || x > high) return leave();
    const distance = (row) => Math.abs(Number(row.dataset.x) - x);
    const row = rows.reduce((best, each) => (distance(each) < distance(best) ? each : best));
    const words = [...row.cells].map((cell, index) => [names[index], cell.textContent]).filter(([, text]) => text);
    tip.replaceChildren(
      ...words.map(([name, text], index) =>
        Object.assign(document.createElement("div"), { textContent: index ? `${name}: ${text}` : `${text} ${name}` })),
    );
    const place = left + ((Number(row.dataset.x) - low) / (high - low)) * (right - left);
    cross.setAttribute("x1", place);
    cross.setAttribute("x2", place);
    cross.setAttribute("visibility", "visible");
    tip.style.display = "block";
    tip.style.left = (place / scale > box.width / 2 ? place / scale - tip.offsetWidth - 12 : place / scale + 12) + "px";
  });
}
document.body.dataset.ready = "yes";
