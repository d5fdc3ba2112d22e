// Charts from the JSON of each figure: values on hover and by arrow keys, and as a table.
"use strict";
(() => {
  const { svg, html, show, tick, several, colour, cut, scale, frame, say, listen, selection, legend, table } = window.drawing;

  // ---- kinds of charts: each draws a view and returns the columns and rows of its table ----------------------------

  // Upper limit of a robust axis: outlying lines, which diverge, are clipped. Infinity where there are none.
  const ceiling = (series) => {
    const tops = series.map(({ points }) => points.map((p) => p[1]).sort((a, b) => a - b)).filter((all) => all.length)
      .map((all) => all[Math.floor(0.95 * (all.length - 1))]);
    const middle = [...tops].sort((a, b) => a - b)[Math.floor((tops.length - 1) / 2)];
    if (!(middle > 0)) return Infinity;
    const top = 3 * Math.max(...tops.filter((one) => one <= 1000 * middle));
    const highest = Math.max(...series.flatMap(({ points }) => points.map((p) => p[1])));
    return highest > 10 * top ? top : Infinity;
  };

  const lines = (figure, plot, view, chosen, redraw) => {
    const every = view.series.map((series, i) => {
      const pairs = view.xs[series.x].map((at, k) => [at, series.y[k]]);
      return { ...series, i, points: pairs.filter((p) => p[1] !== null), broken: pairs.some((p) => p[1] === null) };
    });
    const seen = every.filter(({ i }) => chosen.has(i));
    const drawing = seen.some(({ points }) => points.length) ? seen : every;
    const most = view.y.robust ? ceiling(drawing) : Infinity;
    const all = drawing.flatMap((series) => series.points);
    const ends = drawing.flatMap(({ low = [], high = [] }) => [...low, ...high]);
    const height = plot.clientWidth < 480 ? 240 : 320;
    const { root, x, y } = frame(plot, view, all.length ? all.map((p) => p[0]) : [0, 1], all.length ? [...all.map((p) => Math.min(p[1], most)), ...ends] : [0, 1], height);
    const targets = [], drawn = [];
    for (const { name, points, href, i, low, high } of seen) {
      if (low) {
        const at = (values) => points.map((p, k) => `${x(p[0]).toFixed(1)},${y(values[k]).toFixed(1)}`);
        root.append(svg("polygon", { class: `band f${colour(chosen.colour(i))}`, points: [...at(low), ...at(high).reverse()].join(" ") }));
      }
      const places = points.map((p) => [x(p[0]), y(Math.min(p[1], most))]);
      const line = svg("polyline", { class: `line c${colour(chosen.colour(i))}`, points: places.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ") });
      root.append(line);
      drawn.push([i, line]);
      points.forEach((p, k) => {
        const text = [`${view.x.label} ${show(p[0])}`, `${view.y.label} ${show(p[1])}`, ...(low ? [`interval ${show(low[k])} to ${show(high[k])}`] : [])];
        targets.push({ x: places[k][0], y: places[k][1], series: i, name, lines: text, href });
      });
    }
    listen(plot, root, targets, {
      mark: (target) => drawn.forEach(([i, line]) => {
        line.classList.toggle("away", target !== null && target.series !== i);
        line.classList.toggle("near", target !== null && target.series === i);
      }),
    });
    const above = seen.filter(({ points }) => points.some((p) => p[1] > most));
    const highest = Math.max(...above.flatMap(({ points }) => points.map((p) => p[1])));
    const broken = seen.filter((series) => series.broken);
    say(figure, [
      every.length > chosen.most ? `${seen.length} of ${every.length} lines, ${chosen.most} at most; click a name to show or hide its line.` : "",
      chosen.note,
      above.length ? `Clipped at ${tick(Number(most.toPrecision(2)))}: ${several(above.map((s) => s.name))} go up to ${tick(Number(highest.toPrecision(2)))}; Values has all.` : "",
      broken.length ? `Not shown: epochs of ${several(broken.map((s) => s.name))} with a value that is not finite.` : "",
    ]);
    legend(figure, view.series.map((s) => s.name), chosen, redraw,
      (number) => svg("line", { x1: 0, x2: 18, y1: 5, y2: 5, class: `c${colour(number)}`, "stroke-width": 2.5 }));
    return () => {
      const at = [...new Set(every.flatMap((s) => s.points.map((p) => p[0])))].sort((a, b) => a - b);
      const maps = every.map((s) => new Map(s.points));
      return [[view.x.label, ...every.map((s) => s.name)], at.map((v) => [v, ...maps.map((m) => m.get(v) ?? null)])];
    };
  };

  const points = (figure, plot, view, chosen, redraw) => {
    const seen = view.series.map((series, i) => ({ ...series, i })).filter(({ i }) => chosen.has(i));
    const all = (seen.length ? seen : view.series).flatMap((series) => series.points);
    const { root, x, y } = frame(plot, view, all.map((p) => p.x), all.flatMap((p) => [p.low ?? p.y, p.high ?? p.y]), plot.clientWidth < 480 ? 250 : 330);
    const targets = [];
    for (const { name, points: places, i } of seen) {
      for (const p of places) {
        const at = { x: x(p.x), y: y(p.y) };
        if (p.low !== null) root.append(svg("line", { class: `whisker thin c${colour(chosen.colour(i))}`, x1: at.x, x2: at.x, y1: y(p.low), y2: y(p.high) }));
        root.append(svg("circle", { class: `f${colour(chosen.colour(i))}`, cx: at.x, cy: at.y, r: 4.5 }));
        targets.push({ ...at, series: i, name: p.name, href: p.href, lines: [`${view.y.label} ${p.text}`, `${view.x.label} ${show(p.x)}`] });
      }
    }
    listen(plot, root, targets);
    legend(figure, view.series.map((s) => s.name), chosen, redraw, (number) => svg("circle", { cx: 9, cy: 5, r: 4.5, class: `f${colour(number)}` }));
    return () => [["", view.x.label, view.y.label], view.series.flatMap((s) => s.points.map((p) => [p.name, p.x, p.y]))];
  };

  // One line per item: a label on the left, a mark on a common scale on the right.
  const ladder = (plot, items, values, label, { least = null, room = 0.04 } = {}) => {
    const width = Math.max(plot.clientWidth, 240), step = 28, height = items.length * step + 46;
    const most = Math.max(...items.map((item) => item.name.length));
    const left = Math.min(most * 7.2 + 14, width * 0.42);
    const { place, marks } = scale(values, left, width - 16, { count: width < 480 ? 3 : 6, least, room });
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: "img" });
    for (const v of marks) {
      root.append(svg("line", { class: "rule", x1: place(v), x2: place(v), y1: 4, y2: height - 40 }));
      root.append(svg("text", { x: place(v), y: height - 24, "text-anchor": "middle" }, tick(v)));
    }
    root.append(svg("text", { x: (left + width) / 2, y: height - 5, "text-anchor": "middle" }, label));
    items.forEach((item, i) => {
      root.append(svg("text", { class: "name", x: left - 10, y: i * step + 21, "text-anchor": "end" }, cut(item.name, Math.floor((left - 12) / 6.6))));
    });
    plot.append(root);
    return { root, place, left, height, y: (i) => i * step + 17 };
  };

  const intervals = (figure, plot, view) => {
    const values = view.items.flatMap((item) => [item.low, item.high, item.mean, item.published, item.published_low, item.published_high]).filter((v) => v !== null);
    const { root, place, y } = ladder(plot, view.items, values, view.x.label);
    const targets = [];
    view.items.forEach((item, i) => {
      if (item.published !== null) {
        const at = place(item.published);
        if (item.published_low !== null) root.append(svg("line", { class: "axis", x1: place(item.published_low), x2: place(item.published_high), y1: y(i) + 5, y2: y(i) + 5 }));
        root.append(svg("path", { class: "published", d: `M${at} ${y(i) + 0.5}l4.5 4.5l-4.5 4.5l-4.5 -4.5z` }));
      }
      if (item.mean === null) return;
      if (item.low !== null) root.append(svg("line", { class: "whisker c0", x1: place(item.low), x2: place(item.high), y1: y(i) - 4, y2: y(i) - 4 }));
      root.append(svg("circle", { class: "f0", cx: place(item.mean), cy: y(i) - 4, r: 4.5 }));
      targets.push({ x: place(item.mean), y: y(i) - 4, series: i, name: item.name, href: item.href, lines: item.lines });
    });
    listen(plot, root, targets, { vertical: true });
    return () => [["", "ours", "CI low", "CI high", "published"], view.items.map((t) => [t.name, t.mean, t.low, t.high, t.published])];
  };

  const bars = (figure, plot, view) => {
    const { root, place, left, y } = ladder(plot, view.items, [0, ...view.items.map((item) => item.value)], view.x.label, { least: 0 });
    const targets = view.items.map((item, i) => {
      root.append(svg("rect", { class: "f0", x: left, y: y(i) - 8, width: Math.max(1, place(item.value) - left), height: 13, rx: 2 }));
      return { x: place(item.value), y: y(i) - 1, series: i, name: item.name, href: item.href, lines: [`${view.x.label} ${show(item.value)}`] };
    });
    listen(plot, root, targets, { vertical: true });
    return () => [["", view.x.label], view.items.map((item) => [item.name, item.value])];
  };

  // Critical-difference diagram: mean ranks on an axis, best on the left; bars join models within the critical difference.
  const ranks = (figure, plot, view) => {
    const width = Math.max(plot.clientWidth, 240), items = [...view.items].sort((a, b) => a.rank - b.rank);
    const half = Math.ceil(items.length / 2), step = 20, margin = Math.min(200, width * 0.32);
    const bottom = 52 + view.groups.length * 9, height = bottom + half * step + 12;
    const most = Math.max(items.length, 2);
    const place = (rank) => margin + ((rank - 1) / (most - 1)) * (width - 2 * margin);
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: "img" });
    root.append(svg("line", { class: "axis", x1: margin, x2: width - margin, y1: 40, y2: 40 }));
    const every = Math.ceil(most / Math.max(2, (width - 2 * margin) / 28));
    for (let rank = 1; rank <= most; rank++) {
      root.append(svg("line", { class: "axis", x1: place(rank), x2: place(rank), y1: 35, y2: 40 }));
      if ((rank - 1) % every === 0) root.append(svg("text", { x: place(rank), y: 29, "text-anchor": "middle" }, String(rank)));
    }
    const fits = view.cd < most - 1;
    if (fits) root.append(svg("line", { class: "whisker c7", x1: place(1), x2: place(1 + view.cd), y1: 8, y2: 8 }));
    root.append(svg("text", { x: fits ? place(1 + view.cd) + 6 : place(1), y: 12 }, `critical difference ${show(view.cd)}`));
    const targets = items.map((item, i) => {
      const onLeft = i < half, line = onLeft ? i : items.length - 1 - i;
      const y = bottom + line * step + 8, edge = onLeft ? margin - 6 : width - margin + 6;
      root.append(svg("polyline", { class: `line thin c${colour(i)}`, points: `${place(item.rank)},40 ${place(item.rank)},${y - 4} ${edge},${y - 4}` }));
      root.append(svg("circle", { class: `f${colour(i)}`, cx: place(item.rank), cy: 40, r: 4 }));
      root.append(svg("text", { class: "name", x: onLeft ? edge - 4 : edge + 4, y, "text-anchor": onLeft ? "end" : "start" }, cut(item.name, Math.floor((margin - 10) / 6.6))));
      return { x: place(item.rank), y: 40, series: i, name: item.name, lines: [`mean rank ${show(item.rank)}`], href: item.href };
    });
    view.groups.forEach(([from, to], i) => {
      root.append(svg("line", { class: "whisker c7", "stroke-width": 4, x1: place(from) - 5, x2: place(to) + 5, y1: 51 + i * 9, y2: 51 + i * 9 }));
    });
    plot.append(root);
    listen(plot, root, targets);
    return () => [["", "mean rank"], items.map((item) => [item.name, item.rank])];
  };

  const KINDS = { lines, points, intervals, bars, ranks };

  const start = (figure) => {
    const { views, xs, most } = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const plot = figure.querySelector(".plot"), numbers = figure.querySelector("details");
    // Views with the same lines share the selection of lines.
    const selections = new Map();
    const chosenOf = (one) => {
      const names = (one.series ?? []).map((series) => series.name), key = JSON.stringify([one.kind, names]);
      if (!selections.has(key)) selections.set(key, selection(names, one.kind === "lines" ? most : Infinity));
      return selections.get(key);
    };
    let view = views[0], width = 0, rows = null;
    const fill = () => { if (numbers.open) numbers.replaceChildren(numbers.firstElementChild, table(...rows())); };
    const draw = () => {
      plot.replaceChildren();
      figure.querySelectorAll(".legend, .said").forEach((node) => node.remove());
      width = plot.clientWidth;
      rows = KINDS[view.kind](figure, plot, { ...view, xs }, chosenOf(view), draw);
      const drawing = plot.querySelector("svg");
      drawing.setAttribute("aria-label", `${figure.dataset.title}. ${view.name}. Arrow keys read the values.`);
      fill();
    };
    if (views.length > 1) {
      const select = html("select", {}, ...views.map((one, i) => html("option", { value: i }, one.name)));
      figure.querySelector("figcaption").append(html("label", {}, "Show ", select));
      select.addEventListener("change", () => { view = views[Number(select.value)]; draw(); });
    }
    numbers.hidden = false;
    numbers.addEventListener("toggle", fill);
    new ResizeObserver(() => { if (plot.clientWidth !== width) draw(); }).observe(plot);
    draw();
  };

  document.querySelectorAll("figure.chart").forEach(start);
})();
