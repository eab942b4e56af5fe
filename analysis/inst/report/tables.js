// SPDX-License-Identifier: BSD-3-Clause
// Search for pages that are read as files, and how tablesort compares their cells. A page without
// scripts shows everything, in the order in which it was written.
"use strict";
(function () {
  // A number at the beginning of a cell, else its text: "1.20 [1.10, 1.31]" sorts as 1.20, sizes
  // by their bytes. tablesort wants the larger first.
  var UNITS = { B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 };
  function valueOf(text) {
    var found = /^\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(B|KiB|MiB|GiB)?\b/.exec(text);
    return found ? Number(found[1]) * (UNITS[found[2]] || 1) : Infinity;
  }
  Tablesort.extend("value", function (text) { return valueOf(text) < Infinity; }, function (a, b) {
    var x = valueOf(a), y = valueOf(b);
    return x < y ? 1 : x > y ? -1 : 0;
  });
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
      var fold = hit && words.length ? item.closest("details") : null;
      for (; fold; fold = fold.parentElement.closest("details")) { fold.open = true; }
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
    Array.prototype.forEach.call(document.querySelectorAll("table.sortable"), function (table) {
      new Tablesort(table);
    });
    var input = document.getElementById("search");
    if (input) { input.addEventListener("input", function () { search(input); }); }
  });
}());
