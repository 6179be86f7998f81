// Shows the values of the curves of a figure at the pointer. They are read from the paths that are drawn: page_svg.py
// says what the attributes are.
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

  const panelsOf = (svg) => svg.panels ??= [...svg.querySelectorAll("[data-box]")].map((panel) => {
    const curves = [...panel.querySelectorAll("[data-of]")].flatMap((curve) => [...curve.querySelectorAll("path")]
      .map((path) => ({ of: curve.dataset.of, path, parts: parts(path) })));
    return { box: numbers(panel.dataset.box), x: numbers(panel.dataset.x), y: numbers(panel.dataset.y), curves };
  });
  const valuesOf = ({ box: [, top, , tall], y, curves }, at) => {
    const found = new Map();
    for (const { of, path, parts } of curves) for (const points of parts) {
      const place = height(points, at);
      if (Number.isFinite(place) && !found.has(of)) found.set(of, [shown(within(y, 1 - (place - top) / tall), y), getComputedStyle(path).stroke]);
    }
    return found;
  };

  const hide = (svg) => { svg.cursor?.setAttribute("d", ""); if (svg.tip) svg.tip.hidden = true; };
  const show = (svg, event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const over = panelsOf(svg).find(({ box: [left, top, wide, tall], curves }) =>
      curves.length && x >= left && x <= left + wide && y >= top && y <= top + tall);
    if (!over) return hide(svg);
    const share = (x - over.box[0]) / over.box[2], values = valuesOf(over, x);
    svg.cursor ??= svg.appendChild(document.createElementNS(svg.namespaceURI, "path"));
    svg.cursor.setAttribute("class", "cursor");
    svg.cursor.setAttribute("d", svg.panels.filter((each) => String(each.x) === String(over.x))
      .map(({ box: [left, top, wide, tall] }) => `M${left + share * wide} ${top}v${tall}`).join(""));
    svg.tip ??= svg.parentElement.parentElement.appendChild(Object.assign(document.createElement("div"), { className: "tip" }));
    svg.tip.replaceChildren(`${svg.dataset.across} ${shown(within(over.x, share), over.x)}`, ...[...values].map(([of, [value, color]]) => {
      const row = Object.assign(document.createElement("div"), { textContent: `${of}: ${value}` });
      row.style.borderLeftColor = color;
      return row;
    }));
    svg.tip.hidden = false;
    const around = svg.tip.parentElement.getBoundingClientRect(), right = event.clientX - around.left > around.width / 2;
    svg.tip.style.left = right ? "" : `${event.clientX - around.left + 16}px`;
    svg.tip.style.right = right ? `${around.right - event.clientX + 16}px` : "";
    svg.tip.style.top = `${event.clientY - around.top + 16}px`;
  };
  document.querySelectorAll("figure.chart svg").forEach((svg) => {
    svg.addEventListener("pointermove", (event) => show(svg, event));
    svg.addEventListener("pointerleave", () => hide(svg));
  });
})();
