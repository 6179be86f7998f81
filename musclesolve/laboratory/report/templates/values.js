// Shows the values of the curves of a figure at the pointer. They are read from the paths that are drawn: chart.py and
// page_svg.py say what the attributes are. A figure is one SVG, or has an SVG for each panel.
(() => {
  const numbers = (text) => (text.match(/-?[\d.]+/g) ?? []).map(Number);
  // Points of each part of a path, whose first step is absolute and whose others are relative.
  const parts = (path) => path.getAttribute("d").split("M").slice(1).map((part) => {
    const steps = numbers(part), points = [];
    for (let k = 0, x = 0, y = 0; k + 1 < steps.length; k += 2) points.push([x += steps[k], y += steps[k + 1]]);
    return points;
  });
  const height = (points, at) => {
    const after = points.findIndex(([x]) => x >= at);
    if (after < 1) return after === 0 && points[0][0] === at ? points[0][1] : NaN;
    const [[x0, y0], [x1, y1]] = [points[after - 1], points[after]];
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0);
  };
  const shown = (value, [low, high]) =>
    value.toFixed(Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(high - low))))));
  // A value on an axis for a share of it.
  const within = ([low, high], share) => low + share * (high - low);

  const panelsOf = (figure) => figure.panels ??= [...figure.querySelectorAll("[data-box]")].map((panel) => {
    const curves = [...panel.querySelectorAll("[data-of]")].flatMap((curve) =>
      (curve.matches("path") ? [curve] : [...curve.querySelectorAll("path")])
        .map((path) => ({ of: curve.dataset.of, path, parts: parts(path) })));
    return { svg: panel.closest("svg"), across: panel.closest("[data-across]")?.dataset.across ?? "",
      box: numbers(panel.dataset.box), x: numbers(panel.dataset.x), y: numbers(panel.dataset.y), curves };
  });
  const valuesOf = ({ box: [, top, , tall], y, curves }, at) => {
    const found = new Map();
    for (const { of, path, parts } of curves) for (const points of parts) {
      const place = height(points, at);
      if (Number.isFinite(place) && !found.has(of)) found.set(of, [shown(within(y, 1 - (place - top) / tall), y), getComputedStyle(path).stroke]);
    }
    return found;
  };

  const hide = (figure) => {
    for (const { svg } of panelsOf(figure)) svg.cursor?.setAttribute("d", "");
    if (figure.tip) figure.tip.hidden = true;
  };
  const show = (figure, svg, event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const over = panelsOf(figure).find(({ svg: own, box: [left, top, wide, tall], curves }) =>
      own === svg && curves.length && x >= left && x <= left + wide && y >= top && y <= top + tall);
    hide(figure);
    if (!over) return;
    const share = (x - over.box[0]) / over.box[2], values = valuesOf(over, x);
    for (const { svg: own, x: ends, box: [left, top, wide, tall] } of figure.panels) {
      if (String(ends) !== String(over.x)) continue;
      own.cursor ??= own.appendChild(document.createElementNS(own.namespaceURI, "path"));
      own.cursor.setAttribute("class", "cursor");
      own.cursor.setAttribute("d", `${own.cursor.getAttribute("d") ?? ""}M${left + share * wide} ${top}v${tall}`);
    }
    figure.tip ??= figure.appendChild(Object.assign(document.createElement("div"), { className: "tip" }));
    figure.tip.replaceChildren(`${over.across} ${shown(within(over.x, share), over.x)}`, ...[...values].map(([of, [value, color]]) => {
      const row = Object.assign(document.createElement("div"), { textContent: `${of}: ${value}` });
      row.style.borderLeftColor = color;
      return row;
    }));
    figure.tip.hidden = false;
    const around = figure.tip.parentElement.getBoundingClientRect(), right = event.clientX - around.left > around.width / 2;
    figure.tip.style.left = right ? "" : `${event.clientX - around.left + 16}px`;
    figure.tip.style.right = right ? `${around.right - event.clientX + 16}px` : "";
    figure.tip.style.top = `${event.clientY - around.top + 16}px`;
  };
  document.querySelectorAll("figure.chart").forEach((figure) => {
    for (const svg of new Set([...figure.querySelectorAll("[data-box]")].map((panel) => panel.closest("svg")))) {
      svg.addEventListener("pointermove", (event) => show(figure, svg, event));
      svg.addEventListener("pointerleave", () => hide(figure));
    }
  });
})();
