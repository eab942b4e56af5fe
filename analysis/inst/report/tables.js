// SPDX-License-Identifier: BSD-3-Clause
// Search and sort for pages that are read as files: nothing is fetched. A page without scripts
// shows everything, in the order in which it was written.
"use strict";
(function () {
  // A number at the beginning of a cell, else its text: "1.20 [1.10, 1.31]" sorts as 1.20, sizes
  // by their bytes.
  var UNITS = { B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 };
  function valueOf(text) {
    var found = /^\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(B|KiB|MiB|GiB)?\b/.exec(text);
    return found ? Number(found[1]) * (UNITS[found[2]] || 1) : null;
  }
  function compare(a, b) {
    var x = valueOf(a), y = valueOf(b);
    if (x !== null && y !== null) { return x - y; }
    if (x !== null) { return -1; }
    if (y !== null) { return 1; }
    return a < b ? -1 : a > b ? 1 : 0;
  }
  function sortBy(table, column, up) {
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows).map(function (row, i) {
      return { row: row, text: row.cells[column] ? row.cells[column].textContent : "", i: i };
    });
    rows.sort(function (a, b) { return (up ? 1 : -1) * compare(a.text, b.text) || a.i - b.i; });
    rows.forEach(function (r) { body.appendChild(r.row); });
  }
  function makeSortable(table) {
    var heads = Array.prototype.slice.call(table.tHead ? table.tHead.rows[0].cells : []);
    heads.forEach(function (head, column) {
      head.tabIndex = 0;
      head.title = "sort";
      function turn() {
        var up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sortBy(table, column, up);
      }
      head.addEventListener("click", turn);
      head.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); turn(); }
      });
    });
  }
  // What has the class `found` is shown when it has every word that was typed.
  function search(input) {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    var items = document.querySelectorAll(".found, .sortable tbody tr");
    Array.prototype.forEach.call(items, function (item) {
      var text = (item.getAttribute("data-words") || item.textContent).toLowerCase();
      var hit = words.every(function (word) { return text.indexOf(word) >= 0; });
      item.hidden = !hit;
      if (hit) { shown += 1; }
      // What is found must not stay folded.
      var fold = item.closest("details");
      if (hit && words.length && fold) { fold.open = true; }
    });
    var count = document.getElementById("count");
    if (count) { count.textContent = words.length ? shown + " found" : ""; }
  }
  // Paper has no way to unfold.
  var folded = [];
  window.addEventListener("beforeprint", function () {
    folded = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
    folded.forEach(function (fold) { fold.open = true; });
  });
  window.addEventListener("afterprint", function () {
    folded.forEach(function (fold) { fold.open = false; });
  });
  document.addEventListener("DOMContentLoaded", function () {
    Array.prototype.forEach.call(document.querySelectorAll("table.sortable"), makeSortable);
    var input = document.getElementById("search");
    if (input) { input.addEventListener("input", function () { search(input); }); }
  });
}());
