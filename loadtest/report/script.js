"use strict";
// The crosshair: the values of all lines nearest to the mouse. The plots are complete without it.
for (const source of document.querySelectorAll("script.data")) {
  const data = JSON.parse(source.textContent);
  const svg = document.getElementById(data.for);
  const figure = svg.closest("figure");
  const tip = figure.appendChild(document.createElement("div"));
  tip.className = "tip";
  const cross = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
  cross.setAttribute("class", "cross");
  cross.style.display = "none";

  const write = (value) => {
    const size = Math.abs(value);
    return size >= 100 ? value.toFixed(0) : size >= 1 ? value.toFixed(1) : value.toFixed(3);
  };
  const nearest = (points, x) =>
    points.reduce((best, point) => (Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best));

  svg.addEventListener("mousemove", (event) => {
    const box = svg.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    const x = data.low + ((place - data.first) / (data.last - data.first)) * (data.high - data.low);
    const lines = data.series.filter((each) => each.points.length);
    if (!lines.length || x < data.low || x > data.high) return leave();
    const longest = lines.reduce((a, b) => (b.points.length > a.points.length ? b : a));
    const at = nearest(longest.points, x)[0];
    tip.replaceChildren(
      ...[`${write(at)} ${data.x}`, ...lines.map((each) => `${each.name}: ${write(nearest(each.points, at)[1])}`)].map(
        (text) => Object.assign(document.createElement("div"), { textContent: text }),
      ),
    );
    const left = data.first + ((at - data.low) / (data.high - data.low)) * (data.last - data.first);
    for (const [name, value] of [["x1", left], ["x2", left], ["y1", 54], ["y2", svg.viewBox.baseVal.height - 48]])
      cross.setAttribute(name, value);
    cross.style.display = "";
    tip.style.display = "block";
    const pixels = (left / svg.viewBox.baseVal.width) * box.width;
    tip.style.left = (pixels > box.width / 2 ? pixels - tip.offsetWidth - 12 : pixels + 12) + "px";
  });
  const leave = () => { cross.style.display = tip.style.display = "none"; };
  svg.addEventListener("mouseleave", leave);
}
document.body.dataset.ready = "yes";
