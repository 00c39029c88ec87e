"use strict";
(() => {
  // Pictures are written in a part of the figure format of plotly.js (scatter, bar, heatmap), drawn here as SVG.
  const root = document.documentElement;
  const specs = JSON.parse(document.getElementById("pictures").textContent);
  const FONT = "12px system-ui, sans-serif";
  const DASHES = { dash: "8 5", dot: "2 4", dashdot: "8 4 2 4", longdash: "14 5" };
  const MOST_TICKS = 7;
  const BAR_TICKS = 5;
  const REACH = 20; // pixels from a point within which it answers
  const UNSEEN = 360; // width of a picture in a window that is not shown
  const SHADES = 96; // of a heat map: cells of one shade are one path
  const pen = document.createElement("canvas").getContext("2d");

  // ---- numbers

  const signed = (text) => text.replace("e+", "e").replaceAll("-", "\u2212");
  const short = (value, digits) => signed(String(Number(value.toPrecision(digits))));
  const finite = (values) => values.flat().filter((value) => value !== null);
  const extent = (values) =>
    values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

  // Multiples of 1, 2 or 5 times a power of ten.
  function ticksOf([low, high], count) {
    const rough = (high - low) / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((nice) => nice * power >= rough * 0.999);
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    const tiny = Math.max(Math.abs(low), Math.abs(high)) < 1e-3;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return Array.from({ length: last - first + 1 }, (_, i) => {
      const value = (first + i) * step;
      const plain = !tiny && Math.abs(value) < 1e5;
      return { value, text: plain ? signed((value || 0).toFixed(digits)) : short(value, 4) };
    });
  }

  const widthOf = (text) => { pen.font = FONT; return pen.measureText(text).width; };
  const widest = (ticks) => Math.max(0, ...ticks.map((tick) => widthOf(tick.text)));

  // ---- elements

  function add(parent, kind, attributes = {}, style = {}) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    Object.assign(element.style, style); // style, unlike attributes, knows the names of colours
    parent.append(element);
    return element;
  }

  function write(parent, text, x, y, anchor = "middle", more = {}) {
    add(parent, "text", { x, y, "text-anchor": anchor, ...more }, { fill: "var(--ink)" }).textContent = text;
  }

  function path(places) {
    let open = false;
    return places.map((place) => {
      const letter = open ? "L" : "M";
      open = place !== null;
      return open ? `${letter}${place[0].toFixed(1)} ${place[1].toFixed(1)}` : "";
    }).join("");
  }

  // ---- colours: the style sheet names them; light, dark and paper give each name its value

  const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

  // What a share of a scale is painted with. A scale between two names is the second over the first, so that it
  // follows the style sheet: a page is printed as it was drawn, and nothing has to be drawn again.
  function colouring(scale) {
    const [first, last] = [scale[0][1], scale[scale.length - 1][1]];
    if (first === last) return () => ({ fill: last });
    if (first.startsWith("var(")) return (share) => ({ fill: last, fillOpacity: share.toFixed(3) });
    const stops = scale.map(([place, colour]) => [place, channels(colour)]);
    return (share) => {
      const next = Math.max(1, stops.findIndex(([place]) => place >= share));
      const [[left, from], [right, to]] = [stops[next - 1], stops[next]];
      const mixed = from.map((part, i) => Math.round(part + ((to[i] - part) * (share - left)) / (right - left)));
      return { fill: `rgb(${mixed})` };
    };
  }

  // ---- a picture: its frame

  function edges(middles) {
    const half = (middles[1] - middles[0]) / 2;
    return [middles[0] - half, middles[middles.length - 1] + half];
  }

  const halfBar = (trace, i) => (trace.width[i] ?? trace.width) / 2;

  // Heat maps and bars end where their cells do, bars stand on zero; curves have some air above and below.
  function rangeOf(spec, axis) {
    const given = spec.layout[`${axis}axis`].range;
    if (given) return given;
    const ends = spec.data.flatMap((trace) => {
      const values = finite(trace[axis]);
      if (trace.type === "heatmap") return edges(values);
      if (trace.type !== "bar") return values;
      if (axis === "y") return [0, ...values];
      return values.flatMap((value, i) => [value - halfBar(trace, i), value + halfBar(trace, i)]);
    });
    const [low, high] = ends.length ? extent(ends) : [0, 1];
    if (low === high) return [low - 1, high + 1];
    const airy = spec.data.some(
      (trace) => trace.type === "scatter" && (axis === "y" || trace.mode.includes("markers")),
    );
    const stands = low === 0 && spec.data.some((trace) => trace.type === "bar") ? 0 : 1;
    const air = airy || (axis === "y" && !stands) ? 0.05 * (high - low) : 0;
    return [low - air * stands, high + air];
  }

  function legendOf(spec, width) {
    const named = spec.data.filter((trace) => trace.showlegend !== false && trace.type !== "heatmap");
    if (named.length < 2) return { rows: 0, items: [] };
    let [x, row] = [0, 0];
    const items = named.map((trace) => {
      const wide = 30 + widthOf(trace.name) + 14;
      if (x > 0 && x + wide > width) [x, row] = [0, row + 1];
      x += wide;
      return { trace, x: x - wide, row };
    });
    return { rows: row + 1, items };
  }

  function colourBarOf(spec) {
    const trace = spec.data.find((one) => one.type === "heatmap" && one.showscale !== false);
    if (!trace) return null;
    const { tickvals, ticktext } = trace.colorbar ?? {};
    const range = [trace.zmin, trace.zmax];
    const ticks = tickvals ? tickvals.map((value, i) => ({ value, text: ticktext[i] })) : ticksOf(range, BAR_TICKS);
    return { trace, range, ticks };
  }

  function frameOf(spec, width) {
    const height = Math.round(Math.max(width * spec.aspect, 210));
    const legend = legendOf(spec, width - 60);
    const bar = colourBarOf(spec);
    const [top, bottom] = [8 + 18 * legend.rows, height - 40];
    const range = { x: rangeOf(spec, "x"), y: rangeOf(spec, "y") };
    const yTicks = ticksOf(range.y, Math.min(MOST_TICKS, (bottom - top) / 30));
    const left = 30 + widest(yTicks);
    const right = width - (bar ? 36 + widest(bar.ticks) : 14);
    let count = MOST_TICKS;
    let xTicks = ticksOf(range.x, count);
    while (count > 1 && xTicks.length * (widest(xTicks) + 14) > right - left) xTicks = ticksOf(range.x, --count);
    const x = (value) => left + ((value - range.x[0]) / (range.x[1] - range.x[0])) * (right - left);
    const y = (value) => bottom - ((value - range.y[0]) / (range.y[1] - range.y[0])) * (bottom - top);
    return { width, height, left, right, top, bottom, range, xTicks, yTicks, legend, bar, x, y };
  }

  function drawAxes(svg, frame, layout) {
    const { left, right, top, bottom, x, y } = frame;
    const line = (attributes, colour) => add(svg, "line", attributes, { stroke: `var(${colour})` });
    const colour = (tick) => (tick.value === 0 ? "--rule" : "--grid");
    const xAxis = add(svg, "g", { class: "xtick" });
    frame.xTicks.forEach((tick) => {
      line({ x1: x(tick.value), x2: x(tick.value), y1: top, y2: bottom }, colour(tick));
      line({ x1: x(tick.value), x2: x(tick.value), y1: bottom, y2: bottom + 4 }, "--rule");
      write(xAxis, tick.text, x(tick.value), bottom + 17);
    });
    frame.yTicks.forEach((tick) => {
      line({ x1: left, x2: right, y1: y(tick.value), y2: y(tick.value) }, colour(tick));
      line({ x1: left - 4, x2: left, y1: y(tick.value), y2: y(tick.value) }, "--rule");
      write(svg, tick.text, left - 7, y(tick.value) + 4, "end");
    });
    const [middle, centre] = [(left + right) / 2, (top + bottom) / 2];
    write(svg, layout.xaxis.title.text, middle, frame.height - 5);
    write(svg, layout.yaxis.title.text, 11, centre, "middle", { transform: `rotate(-90 11 ${centre})` });
  }

  function drawLegend(svg, frame) {
    frame.legend.items.forEach(({ trace, x, row }) => {
      const [start, y] = [frame.left + x, 10 + 18 * row];
      const filled = trace.fillcolor ?? trace.marker?.color;
      if (trace.type === "bar" || trace.fill) {
        const style = { fill: filled, opacity: trace.marker?.opacity ?? 1 };
        add(svg, "rect", { x: start, y: y - 5, width: 24, height: 10 }, style);
      } else {
        add(svg, "path", { d: `M${start} ${y}h24` }, stroke(trace.line));
      }
      write(svg, trace.name, start + 30, y + 4, "start");
    });
  }

  function drawColourBar(svg, frame, id) {
    if (!frame.bar) return;
    const { trace, range, ticks } = frame.bar;
    const [x, height] = [frame.right + 10, frame.bottom - frame.top];
    const gradient = add(svg, "linearGradient", { id: `${id}-colours`, x1: 0, x2: 0, y1: 1, y2: 0 });
    trace.colorscale.forEach(([offset, colour]) => add(gradient, "stop", { offset }, { stopColor: colour }));
    add(svg, "rect", { x, y: frame.top, width: 10, height, fill: `url(#${id}-colours)` });
    ticks.forEach((tick) => {
      const y = frame.bottom - ((tick.value - range[0]) / (range[1] - range[0])) * height;
      add(svg, "path", { d: `M${x + 10} ${y}h4` }, { stroke: "var(--rule)" });
      write(svg, tick.text, x + 17, y + 4, "start");
    });
  }

  // ---- a picture: its marks

  const stroke = ({ color, width, dash }) =>
    ({ fill: "none", stroke: color, strokeWidth: width, strokeDasharray: DASHES[dash] ?? "none" });
  const placesOf = ({ x, y }, frame) =>
    x.map((value, i) => (value === null || y[i] === null ? null : [frame.x(value), frame.y(y[i])]));

  function dot([x, y], radius) {
    const half = `${radius} ${radius} 0 1 0`;
    return `M${x - radius} ${y}a${half} ${2 * radius} 0a${half} ${-2 * radius} 0`;
  }

  const draws = {
    scatter(svg, trace, frame) {
      const places = placesOf(trace, frame);
      if (trace.fill) add(svg, "path", { d: `${path(places)}Z` }, { fill: trace.fillcolor });
      else if (trace.mode.includes("lines")) add(svg, "path", { d: path(places) }, stroke(trace.line));
      if (!trace.mode.includes("markers")) return;
      const { size, color } = trace.marker ?? { size: 6, color: trace.line.color };
      const dots = places.filter(Boolean).map((place) => dot(place, size / 2));
      add(svg, "path", { d: dots.join("") }, { fill: color });
    },

    bar(svg, trace, frame) {
      const bars = trace.x.map((x, i) => {
        const half = halfBar(trace, i);
        return `M${frame.x(x - half)} ${frame.y(0)}V${frame.y(trace.y[i])}H${frame.x(x + half)}V${frame.y(0)}Z`;
      });
      add(svg, "path", { d: bars.join("") }, { fill: trace.marker.color, opacity: trace.marker.opacity ?? 1 });
    },

    // Cells as paths, never as an image: a browser decodes images later, and would print without them.
    heatmap(svg, trace, frame) {
      const [[x0, x1], [y0, y1]] = [edges(trace.x), edges(trace.y)];
      const [low, high] = [trace.zmin ?? extent(finite(trace.z))[0], trace.zmax ?? extent(finite(trace.z))[1]];
      const across = (i) => frame.x(x0 + ((x1 - x0) * i) / trace.x.length);
      const down = (j) => frame.y(y0 + ((y1 - y0) * j) / trace.y.length);
      const shadeOf = (value) => {
        const share = high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0;
        return value === null ? null : Math.round(share * SHADES);
      };
      const colour = colouring(trace.colorscale);
      // Neighbours overlap, or a viewer of the printed page shows seams; not where both would shine through.
      const lap = "fillOpacity" in colour(0) ? 0 : 0.5;
      const cells = new Map();
      trace.z.forEach((row, j) => {
        const shades = row.map(shadeOf);
        for (let i = 0, end = 0; i < row.length; i = end) {
          for (end = i + 1; end < row.length && shades[end] === shades[i]; end += 1);
          if (shades[i] === null) continue;
          const [left, right, top, bottom] = [across(i), across(end) + lap, down(j + 1), down(j) + lap]
            .map((at) => at.toFixed(1));
          cells.set(shades[i], `${cells.get(shades[i]) ?? ""}M${left} ${top}H${right}V${bottom}H${left}Z`);
        }
      });
      // Crisp edges leave no seam on a screen.
      const sheet = add(svg, "g", { "shape-rendering": "crispEdges" });
      cells.forEach((d, shade) => add(sheet, "path", { d }, colour(shade / SHADES)));
    },
  };

  function draw(node) {
    const spec = specs[node.id];
    node.style.aspectRatio = "auto";
    const frame = frameOf(spec, Math.floor(node.clientWidth) || UNSEEN);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.style.font = FONT;
    svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`); // its place may become narrower: on paper
    const inside = { x: frame.left, y: frame.top, width: frame.right - frame.left, height: frame.bottom - frame.top };
    drawAxes(svg, frame, spec.layout);
    add(add(svg, "clipPath", { id: `${node.id}-inside` }), "rect", inside);
    const marks = add(svg, "g", { class: "marks", "clip-path": `url(#${node.id}-inside)` });
    spec.data.forEach((trace) => draws[trace.type](marks, trace, frame));
    drawLegend(svg, frame);
    drawColourBar(svg, frame, node.id);
    node.replaceChildren(svg);
    answer(node, spec, frame, add(svg, "rect", { class: "plane", ...inside }, { fill: "transparent" }));
  }

  // ---- pointing at a mark

  function cellAt(trace, frame, px, py) {
    const [[x0, x1], [y0, y1]] = [edges(trace.x), edges(trace.y)];
    const i = Math.floor(((px - frame.x(x0)) / (frame.x(x1) - frame.x(x0))) * trace.x.length);
    const j = Math.floor(((py - frame.y(y0)) / (frame.y(y1) - frame.y(y0))) * trace.y.length);
    const value = trace.z[j]?.[i] ?? null;
    if (value === null) return null;
    const [customdata, text] = [trace.customdata?.[j][i], trace.text?.[j][i]];
    return { trace, own: { x: trace.x[i], y: trace.y[j], z: value, customdata, text }, far: REACH };
  }

  function pointAt(trace, frame, px, py) {
    let best = null;
    placesOf(trace, frame).forEach((place, i) => {
      if (place === null) return;
      const far = trace.type === "bar" ? Math.abs(place[0] - px) : Math.hypot(place[0] - px, place[1] - py);
      if (far >= (best?.far ?? REACH)) return;
      best = { trace, own: { x: trace.x[i], y: trace.y[i], customdata: trace.customdata?.[i] }, far, place };
    });
    return best;
  }

  function found(spec, frame, px, py) {
    const answers = spec.data
      .filter((trace) => trace.hovertemplate && trace.hoverinfo !== "skip")
      .map((trace) => (trace.type === "heatmap" ? cellAt : pointAt)(trace, frame, px, py));
    return answers.filter(Boolean).reduce((best, one) => (best && best.far < one.far ? best : one), null);
  }

  function sentence({ trace, own }) {
    const text = trace.hovertemplate.replace(/%\{(\w+)(?:\[(\d)\])?(?::\.(\d)g)?\}/g, (_, name, place, digits) => {
      const value = place === undefined ? own[name] : own[name][place];
      return digits && typeof value === "number" ? short(value, Number(digits)) : String(value ?? "");
    });
    const [words, named] = text.split("<extra>");
    return (named === undefined && trace.name ? `${trace.name}\n` : "") + words.replaceAll("<br>", "\n");
  }

  const label = document.createElement("div"); // one for all: only one mark is pointed at
  label.className = "hover";

  function answer(node, spec, frame, plane) {
    const show = (event) => {
      const box = node.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      const mark = found(spec, frame, px, py);
      if (!mark) { label.remove(); return; }
      label.textContent = sentence(mark);
      node.append(label);
      const [x, y] = mark.place ?? [px, py];
      label.style.left = `${Math.max(0, Math.min(x + 12, frame.width - label.offsetWidth))}px`;
      label.style.top = `${Math.max(0, y - label.offsetHeight - 8)}px`;
    };
    plane.addEventListener("pointermove", show);
    plane.addEventListener("pointerdown", show);
    // A finger that is lifted leaves as well, but its owner has not read yet.
    plane.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") label.remove(); });
  }

  // ---- what is drawn as a table, equations to the clipboard

  const cell = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

  // A line for each mark that answers, and for both edges of a band: series, x, y, and what else is known of it.
  function tableOf(spec) {
    const { xaxis, yaxis } = spec.layout;
    const lines = [["series", xaxis.title.text, yaxis.title.text, ...spec.columns]];
    const also = (value) => (value === undefined ? [] : [value].flat());
    spec.data.forEach((trace) => {
      const name = trace.name ?? "";
      if (trace.fill) {
        const half = trace.x.length / 2;
        trace.x.forEach((x, i) => lines.push([`${name}, ${i < half ? "upper" : "lower"}`, x, trace.y[i]]));
      } else if (!trace.hovertemplate || trace.hoverinfo === "skip") {
        return;
      } else if (trace.type === "heatmap") {
        trace.z.forEach((row, j) => row.forEach((z, i) => {
          if (z !== null) lines.push([name, trace.x[i], trace.y[j], z, ...also(trace.customdata?.[j][i])]);
        }));
      } else {
        trace.x.forEach((x, i) => lines.push([name, x, trace.y[i], ...also(trace.customdata?.[i])]));
      }
    });
    return `${lines.map((line) => line.map((value) => cell(String(value ?? ""))).join(",")).join("\n")}\n`;
  }

  function save(text, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function copy(source) {
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch { // an old browser, or a page that may not: by a selection, which needs something visible
      source.closest("details").open = true;
      getSelection().selectAllChildren(source);
      document.execCommand("copy");
    }
  }

  function listen() {
    document.querySelectorAll("[data-saves]").forEach((button) => {
      button.hidden = false;
      const name = button.dataset.saves;
      button.addEventListener("click", () => save(tableOf(specs[name]), `${name}.csv`));
    });
    document.querySelectorAll("[data-copies]").forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", async () => {
        await copy(document.getElementById(button.dataset.copies));
        button.parentElement.querySelector("[role=status]").textContent = `${button.textContent} copied`;
      });
    });
  }

  // ---- the page

  // Tables that are wider than the window say so.
  const tellScrolling = () => document.querySelectorAll(".scroll").forEach((region) =>
    region.classList.toggle("wider", region.scrollWidth > region.clientWidth + 1));

  function drawAll() {
    document.querySelectorAll(".picture").forEach(draw);
    tellScrolling();
  }

  function onPaper(printing) {
    root.classList.toggle("paper", printing);
    drawAll();
  }

  function follow() {
    const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
    const visible = new Set();
    const watcher = new IntersectionObserver((entries) => {
      entries.forEach((entry) => visible[entry.isIntersecting ? "add" : "delete"](entry.target.id));
      const current = [...links.keys()].find((id) => visible.has(id));
      links.forEach((link, id) => {
        if (id === current) link.setAttribute("aria-current", "location");
        else link.removeAttribute("aria-current");
      });
    }, { rootMargin: "-10% 0px -60% 0px" });
    links.forEach((_, id) => watcher.observe(document.getElementById(id)));
  }

  function start() {
    drawAll();
    let waiting = 0;
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === width) return; // a phone's address bar coming and going
      width = innerWidth;
      clearTimeout(waiting);
      waiting = setTimeout(drawAll, 120);
    });
    addEventListener("pointerdown", () => label.remove(), { capture: true });
    addEventListener("beforeprint", () => onPaper(true));
    addEventListener("afterprint", () => onPaper(false));
  }

  follow();
  listen();
  try {
    start();
    root.dataset.drawn = "yes";
  } catch (error) {
    document.getElementById("trouble").hidden = false;
    root.dataset.drawn = "no";
    console.warn(error);
  }
})();
