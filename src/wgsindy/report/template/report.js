"use strict";
(() => {
  const root = document.documentElement;
  const specs = JSON.parse(document.getElementById("pictures").textContent);
  const pictures = () => [...document.querySelectorAll(".picture")];

  // The style sheet names colours; light, dark and paper give each name its value.
  function coloured(value, style) {
    if (typeof value === "string") {
      const name = /^var\((--[\w-]+)\)$/.exec(value);
      return name ? style.getPropertyValue(name[1]).trim() : value;
    }
    if (Array.isArray(value)) {
      const plain = value.length > 2 && typeof value[0] === "number"; // samples, not a colour scale
      return plain ? value : value.map((item) => coloured(item, style));
    }
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
    }
    return value;
  }

  function layoutOf(spec, width) {
    const axis = {
      automargin: true, fixedrange: true, gridcolor: "var(--grid)", linecolor: "var(--rule)", nticks: 7,
      ticks: "outside", ticklen: 4, tickcolor: "var(--rule)", zerolinecolor: "var(--rule)",
    };
    const legend = { orientation: "h", x: 0, y: 1, xanchor: "left", yanchor: "bottom", bgcolor: "rgba(0,0,0,0)" };
    const named = spec.data.filter((trace) => trace.showlegend !== false && trace.type !== "heatmap");
    return {
      ...spec.layout,
      xaxis: { ...axis, ...spec.layout.xaxis }, yaxis: { ...axis, ...spec.layout.yaxis },
      width, height: Math.round(Math.max(width * spec.aspect, 210)), dragmode: false, hovermode: "closest",
      margin: { l: 44, r: 8, t: named.length > 1 ? 26 : 8, b: 40 }, showlegend: named.length > 1, legend,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", bargap: 0,
      font: { family: "system-ui, sans-serif", size: 12, color: "var(--ink)" },
      hoverlabel: { bgcolor: "var(--card)", bordercolor: "var(--rule)", font: { color: "var(--ink)" } },
    };
  }

  function draw(node, width, style) {
    const spec = specs[node.id];
    node.style.aspectRatio = "auto";
    return Plotly.react(node, coloured(spec.data, style), coloured(layoutOf(spec, width), style), {
      displayModeBar: false, doubleClick: false, showTips: false,
    });
  }

  // All at once: a printer does not wait.
  function drawAll() {
    const style = getComputedStyle(root);
    const widths = pictures().map((node) => Math.floor(node.clientWidth));
    return Promise.all(pictures().map((node, place) => draw(node, widths[place], style)));
  }

  // One after the other, from the top: a reader does not wait for the last.
  async function drawInTurn() {
    const style = getComputedStyle(root);
    for (const node of pictures()) {
      await draw(node, Math.floor(node.clientWidth), style);
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  async function unpacked() {
    const packed = atob(document.getElementById("plotly-packed").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  function onPaper(printing) {
    root.classList.toggle("paper", printing);
    return drawAll();
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

  async function start() {
    const script = document.createElement("script");
    script.textContent = await unpacked();
    document.head.append(script);
    await drawInTurn();
    let waiting = 0;
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === width) return; // a phone's address bar coming and going
      width = innerWidth;
      clearTimeout(waiting);
      waiting = setTimeout(drawAll, 120);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
    addEventListener("beforeprint", () => onPaper(true));
    addEventListener("afterprint", () => onPaper(false));
    root.dataset.drawn = "yes";
  }

  follow();
  start().catch((error) => {
    document.getElementById("trouble").hidden = false;
    root.dataset.drawn = "no";
    console.warn(error);
  });
})();
