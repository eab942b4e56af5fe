// SPDX-License-Identifier: BSD-3-Clause
// Charts that a reader can change, drawn by uPlot from the data in the page: the case, the library
// that is the baseline, and the axis. Figures beside them show the same without scripts.
"use strict";
(function () {
  var HEIGHT = 320;
  function make(parent, tag, attributes, text) {
    var node = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) {
      node.setAttribute(name, attributes[name]);
    });
    if (text !== undefined) { node.textContent = text; }
    parent.appendChild(node);
    return node;
  }
  function choice(parent, title, options) {
    var label = make(parent, "label", {}, title + " ");
    var select = make(label, "select");
    options.forEach(function (text, i) { make(select, "option", { value: i }, text); });
    return select;
  }
  function digits(x) { return x === null ? "" : String(Number(x.toPrecision(3))); }
  function inverse(x) { return x === null ? null : 1 / x; }
  // The ratio of each other library to a baseline; a pair is kept in one direction only.
  function ratios(data, baseline) {
    return data.pairs.filter(function (pair) {
      return pair.a === baseline || pair.b === baseline;
    }).map(function (pair) {
      var turn = pair.a === baseline;
      var other = data.libraries[turn ? pair.b : pair.a];
      return {
        name: other.name, colour: other.colour, n: pair.n,
        y: turn ? pair.y.map(inverse) : pair.y,
        low: turn ? pair.high.map(inverse) : pair.low,
        high: turn ? pair.low.map(inverse) : pair.high
      };
    });
  }
  function colour(name) {
    return function () { return getComputedStyle(document.body).getPropertyValue(name); };
  }
  // The sizes that have room for a label.
  function few(places, most) {
    var gap = (places[places.length - 1] - places[0]) / most, last = -Infinity;
    return places.filter(function (place) {
      if (place - last < gap) { return false; }
      last = place;
      return true;
    });
  }
  function draw(holder, data, lines, unit, logarithmic) {
    var places = data.sizes.map(function (size) { return Math.log2(Math.max(size, 0.5)); });
    var columns = [places], series = [{ label: "Message size", value: function (u, x, s, i) {
      return i === null || i === undefined ? "" : data.labels[i];
    } }], bands = [];
    lines.forEach(function (line) {
      var at = columns.length;
      columns.push(line.y, line.low, line.high);
      series.push({
        label: line.name, stroke: line.colour, width: 2, points: { show: true, size: 6 },
        value: function (u, y, s, i) {
          if (i === null || i === undefined || y === null) { return ""; }
          return digits(y) + unit + " [" + digits(line.low[i]) + ", " + digits(line.high[i]) +
            "], n = " + line.n[i];
        }
      });
      [0, 1].forEach(function () { series.push({ class: "end", width: 0, points: { show: false } }); });
      bands.push({ series: [at + 2, at + 1], fill: line.colour + "33" });
    });
    var axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 } };
    var width = Math.max(260, holder.clientWidth);
    var plot = new uPlot({
      width: width, height: HEIGHT, bands: bands, series: series,
      cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false },
        y: logarithmic ? { distr: 3, log: unit === " \u00b5s" ? 10 : 2 } : {} },
      axes: [
        Object.assign({
          splits: function () { return few(places, width / 90); },
          values: function (u, shown) {
            return shown.map(function (x) { return data.labels[places.indexOf(x)]; });
          }
        }, axis),
        Object.assign({ size: 64, values: function (u, shown) {
          return shown.map(function (y) { return y === null ? "" : digits(y); });
        } }, axis)
      ],
      hooks: {
        // The interval is hidden with its library.
        setSeries: [function (u, i, options) {
          if (i !== null && i % 3 === 1 && options.show !== undefined) {
            u.setSeries(i + 1, options);
            u.setSeries(i + 2, options);
          }
        }]
      }
    }, columns, holder);
    return plot;
  }
  function build(box) {
    if (box.built) { return; }
    box.built = true;
    var cases = JSON.parse(box.querySelector("script").textContent);
    var form = make(box, "div", { class: "controls" });
    var which = choice(form, "Case", cases.map(function (one) { return one.title; }));
    which.parentNode.hidden = cases.length < 2;
    var what = choice(form, "Show", []);
    var scale = choice(form, "Axis", ["logarithmic", "linear"]);
    var holder = make(box, "div", { class: "holder", tabindex: 0, role: "group" });
    make(box, "p", { class: "hint" }, "Bands: interval (of times: 95 %). Point at a size, or focus the chart " +
      "and press the left and right arrow keys, to read values, intervals and launches (n). " +
      "Choose a library in the legend to hide it.");
    var plot = null, at = null;
    function redraw() {
      if (plot) { plot.destroy(); }
      at = null;
      var data = cases[Number(which.value)], baseline = Number(what.value) - 1;
      var times = baseline < 0;
      plot = draw(holder, data, times ? data.libraries : ratios(data, baseline),
        times ? " \u00b5s" : "", scale.value === "0");
      var title = times ? "Median time by message size" : "Time of each library divided by the " +
        "time of " + data.libraries[baseline].name + ", by message size; below 1 the library is faster";
      holder.setAttribute("aria-label", title);
      heading.textContent = title + (times ? " (\u00b5s)" : "");
      plot.root.querySelector(".u-legend").setAttribute("aria-live", "polite");
    }
    var heading = make(box, "p", { class: "title" });
    box.insertBefore(heading, holder);
    function fill() {
      what.textContent = "";
      var data = cases[Number(which.value)];
      make(what, "option", { value: 0 }, "times");
      data.libraries.forEach(function (library, i) {
        if (ratios(data, i).length) {
          make(what, "option", { value: i + 1 }, "ratio to " + library.name);
        }
      });
      what.value = what.options[what.options.length - 1].value;
      redraw();
    }
    which.addEventListener("change", fill);
    what.addEventListener("change", redraw);
    scale.addEventListener("change", redraw);
    holder.addEventListener("keydown", function (event) {
      var step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) { return; }
      event.preventDefault();
      var last = plot.data[0].length - 1;
      at = at === null ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, at + step));
      plot.setCursor({ left: plot.valToPos(plot.data[0][at], "x"), top: 10 });
    });
    var wide = window.innerWidth;
    window.addEventListener("resize", function () {
      if (window.innerWidth !== wide) { wide = window.innerWidth; redraw(); }
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    fill();
  }
  document.addEventListener("DOMContentLoaded", function () {
    Array.prototype.forEach.call(document.querySelectorAll(".chart"), function (box) {
      var fold = box.closest("details");
      if (!fold || fold.open) { build(box); return; }
      fold.addEventListener("toggle", function () { if (fold.open) { build(box); } });
    });
  });
}());
