// Parts of charts: scales, axes, pointer and keyboard, selection of lines, table of values.
"use strict";
(() => {
  const COLOURS = 8;

  const svg = (tag, attributes = {}, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) if (value !== "") node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const html = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };

  // Four significant digits, thousands with a thin space, no exponent where it can be avoided.
  const show = (value) => {
    if (value === null || value === undefined) return "–";
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en").replaceAll(",", "\u2009");
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2);
    return String(Number(value.toPrecision(4)));
  };
  const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text);
  const colour = (number) => number % COLOURS;
  const several = (names) => (names.length < 4 ? names.join("; ") : `${names.slice(0, 2).join("; ")} and ${names.length - 2} more`);

  // A tick label: large and small numbers as powers of ten, 3×10⁵.
  const tick = (value) => {
    const size = Math.abs(value);
    if (size === 0 || (size >= 1e-3 && size < 1e5)) return show(value);
    const power = Math.floor(Math.log10(size) + 1e-9);
    const digits = [...String(power)].map((one) => (one === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[one])).join("");
    const times = Number((value / 10 ** power).toPrecision(3));
    return times === 1 ? `10${digits}` : `${times}×10${digits}`;
  };

  // ---- scales ---------------------------------------------------------------------------------------------------

  const steps = (low, high, count) => {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10);
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
  };
  // Ticks of a logarithmic axis: powers of ten, every k-th if there are too many; also 2 and 5 times if few.
  const decades = (low, high, count) => {
    const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
    const every = Math.max(1, Math.ceil((to - from) / count));
    const ticks = [];
    for (let power = from - 1; power <= to; power++) {
      if (power % every) continue;
      for (const m of to - from < 2 ? [1, 2, 5] : [1]) {
        const at = m * 10 ** power;
        if (at >= low * 0.999 && at <= high * 1.001) ticks.push(Number(at.toPrecision(6)));
      }
    }
    return ticks;
  };
  // A scale from values to pixels. Logarithmic where all values are positive with a maximum over `ratio` times the minimum.
  const scale = (values, from, to, { ratio = Infinity, room = 0.04, count = 5, least = null } = {}) => {
    let low = Math.min(...values), high = Math.max(...values);
    const log = low > 0 && high / low > ratio;
    if (least !== null && low > least && !log) low = least;
    if (low === high) { const wide = Math.abs(low) * 0.1 || 1; low -= wide; high += wide; }
    const into = log ? Math.log : (v) => v;
    let [a, b] = [into(low), into(high)];
    const pad = (b - a) * room;
    a -= low === least ? 0 : pad;
    b += pad;
    const place = (v) => from + ((into(v) - a) / (b - a)) * (to - from);
    const back = log ? Math.exp : (v) => v;
    let marks = log ? decades(back(a), back(b), count) : steps(a, b, count);
    if (log && marks.length < 2) marks = steps(back(a), back(b), count).filter((v) => v > 0);
    return { place, marks };
  };

  // ---- frame, notes, pointer and keyboard -------------------------------------------------------------------------------------

  // Axes with labels; returns the SVG element and the two scales.
  const frame = (plot, view, xs, ys, height) => {
    const width = Math.max(plot.clientWidth, 240);
    const vertical = scale(ys, height - 44, 30, { ratio: view.y.log_ratio ?? Infinity, count: 5 });
    const wide = Math.max(...vertical.marks.map((v) => tick(v).length)) * 7 + 12;
    const horizontal = scale(xs, wide, width - 14, { ratio: view.x.log_ratio ?? Infinity, count: width < 480 ? 4 : 7, room: 0.02 });
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: "img" });
    for (const v of vertical.marks) {
      const y = vertical.place(v);
      root.append(svg("line", { class: "rule", x1: wide, x2: width - 10, y1: y, y2: y }));
      root.append(svg("text", { x: wide - 7, y: y + 4, "text-anchor": "end" }, tick(v)));
    }
    root.append(svg("line", { class: "axis", x1: wide, x2: width - 10, y1: height - 40, y2: height - 40 }));
    for (const v of horizontal.marks) {
      root.append(svg("text", { x: horizontal.place(v), y: height - 24, "text-anchor": "middle" }, tick(v)));
    }
    root.append(svg("text", { x: (wide + width - 10) / 2, y: height - 5, "text-anchor": "middle" }, view.x.label));
    root.append(svg("text", { x: 0, y: 11 }, view.y.label));
    plot.append(root);
    return { root, x: horizontal.place, y: vertical.place, width };
  };

  // Remarks below a chart.
  const say = (figure, sentences) => {
    const text = sentences.filter(Boolean).join(" ");
    if (text) figure.querySelector(".plot").after(html("p", { class: "note said", role: "status" }, text));
  };

  // Tooltips: targets are points with a name and lines of text; the pointer selects the nearest, arrow keys the next.
  const listen = (plot, root, targets, { vertical = false, mark = () => {} } = {}) => {
    const tip = html("div", { class: "tip", role: "status", hidden: "" });
    const ring = svg("circle", { class: "ring", r: 6, visibility: "hidden" });
    root.append(ring);
    plot.append(tip);
    root.classList.toggle("opens", targets.some((target) => target.href));
    let at = null;
    const hide = () => {
      tip.hidden = true;
      ring.setAttribute("visibility", "hidden");
      at = null;
      mark(null);
    };
    const tell = (target) => {
      at = target;
      ring.setAttribute("cx", target.x);
      ring.setAttribute("cy", target.y);
      ring.setAttribute("visibility", "visible");
      tip.replaceChildren(html("b", {}, target.name), ...target.lines.flatMap((line, i) => (i ? [html("br"), line] : [line])));
      tip.hidden = false;
      const scaled = root.clientWidth / root.viewBox.baseVal.width;
      const room = plot.clientWidth - tip.offsetWidth;
      const left = target.x * scaled + 14;
      tip.style.left = `${Math.max(0, left > room ? Math.min(room, target.x * scaled - tip.offsetWidth - 14) : left)}px`;
      tip.style.top = `${Math.max(0, target.y * scaled - tip.offsetHeight - 10)}px`;
      mark(target);
    };
    const nearest = (event) => {
      const box = root.getBoundingClientRect();
      const scaled = root.viewBox.baseVal.width / box.width;
      const [x, y] = [(event.clientX - box.left) * scaled, (event.clientY - box.top) * scaled];
      let closest = null, best = Infinity;
      for (const target of targets) {
        const distance = (vertical ? 0.05 : 1) * (target.x - x) ** 2 + (target.y - y) ** 2;
        if (distance < best) [closest, best] = [target, distance];
      }
      return closest;
    };
    const walk = (along, across) => {
      if (!at) return targets[0];
      if (across) {
        const names = [...new Set(targets.map((t) => t.series))];
        const next = names[(names.indexOf(at.series) + across + names.length) % names.length];
        const there = targets.filter((t) => t.series === next);
        return there.reduce((a, b) => (Math.abs(b.x - at.x) < Math.abs(a.x - at.x) ? b : a));
      }
      const line = vertical ? targets : targets.filter((t) => t.series === at.series);
      return line[Math.min(line.length - 1, Math.max(0, line.indexOf(at) + along))];
    };
    root.addEventListener("pointermove", (event) => { const t = nearest(event); if (t) tell(t); });
    root.addEventListener("pointerdown", (event) => { const t = nearest(event); if (t) tell(t); });
    root.addEventListener("pointerleave", hide);
    root.addEventListener("blur", hide);
    root.addEventListener("click", () => { if (at?.href && matchMedia("(hover: hover)").matches) location.href = at.href; });
    root.addEventListener("keydown", (event) => {
      const moves = {
        ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: vertical ? [1, 0] : [0, 1], ArrowUp: vertical ? [-1, 0] : [0, -1],
      };
      if (event.key in moves && targets.length) {
        event.preventDefault();
        tell(walk(...moves[event.key]));
      } else if (event.key === "Escape") hide();
      else if (event.key === "Enter" && at?.href) location.href = at.href;
    });
  };

  // Selection of the series to draw, each in its own colour; beyond `most`, a new one replaces the oldest.
  const selection = (names, most) => {
    const shown = new Map(names.slice(0, most).map((_, i) => [i, i]));
    const add = (i) => {
      const used = new Set(shown.values());
      let free = 0;
      while (used.has(free)) free++;
      shown.set(i, free);
    };
    return {
      most, note: "",
      has: (i) => shown.has(i),
      colour: (i) => shown.get(i) ?? i,
      toggle(i) {
        this.note = "";
        if (shown.delete(i)) return;
        if (shown.size >= most) {
          const oldest = shown.keys().next().value;
          shown.delete(oldest);
          this.note = `${names[i]} replaces ${names[oldest]}.`;
        }
        add(i);
      },
      turn() {
        const last = Math.max(-1, ...shown.keys());
        const next = Array.from({ length: Math.min(most, names.length) }, (_, k) => (last + 1 + k) % names.length);
        shown.clear();
        next.forEach(add);
        this.note = "";
      },
    };
  };

  const legend = (figure, names, chosen, redraw, shape) => {
    if (names.length < 2) return;
    const list = html("div", { class: "legend", role: "group", "aria-label": "Show or hide" });
    const again = (place) => {
      redraw();
      figure.querySelectorAll(".legend button")[place]?.focus();
    };
    names.forEach((name, i) => {
      const swatch = svg("svg", { viewBox: "0 0 18 10", "aria-hidden": "true" }, ...(chosen.has(i) ? [shape(chosen.colour(i))] : []));
      const button = html("button", { type: "button", "aria-pressed": String(chosen.has(i)) }, swatch, name);
      button.addEventListener("click", () => { chosen.toggle(i); again(i); });
      list.append(button);
    });
    if (names.length > chosen.most) {
      const next = html("button", { type: "button", class: "quiet" }, `Next ${chosen.most}`);
      next.addEventListener("click", () => { chosen.turn(); again(names.length); });
      list.append(next);
    }
    figure.querySelector(".plot").after(list);
  };

  const table = (columns, rows) => {
    const head = html("tr", {}, ...columns.map((name) => html("th", { class: "n", scope: "col" }, name)));
    const body = rows.map((row) => html("tr", {}, ...row.map((cell) =>
      html("td", { class: typeof cell === "string" ? "" : "n" }, typeof cell === "string" ? cell : show(cell)))));
    return html("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Values" },
      html("table", {}, html("thead", {}, head), html("tbody", {}, ...body)));
  };

  window.drawing = { svg, html, show, tick, several, colour, cut, scale, frame, say, listen, selection, legend, table };
})();
