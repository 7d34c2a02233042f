"use strict";
(function () {
  var each = function (list, act) { Array.prototype.forEach.call(list, act); };
  var make = function (tag, text, parent) {
    var made = document.createElement(tag);
    made.textContent = text;
    if (parent) { parent.appendChild(made); }
    return made;
  };
  var opened = [];
  addEventListener("beforeprint", function () {
    each(document.querySelectorAll("details:not([open])"), function (one) { one.open = true; opened.push(one); });
  });
  addEventListener("afterprint", function () {
    opened.forEach(function (one) { one.open = false; });
    opened = [];
  });
  var tools = document.getElementById("tools");
  make("button", "Print", tools).onclick = function () { print(); };
  var all = make("button", "Open all tables", tools);
  all.onclick = function () {
    var open = all.textContent === "Open all tables";
    each(document.querySelectorAll("details"), function (one) { one.open = open; });
    all.textContent = open ? "Close all tables" : "Open all tables";
  };
  var worth = function (row, at) {
    var text = row.cells[at] ? row.cells[at].textContent.trim() : "";
    var number = parseFloat(text.replace(/[,±†]/g, ""));
    return isNaN(number) ? text.toLowerCase() : number;
  };
  each(document.querySelectorAll("table.sorts"), function (table) {
    each(table.tHead.rows[0].cells, function (head, at) {
      var button = document.createElement("button");
      button.className = "sort";
      while (head.firstChild) { button.appendChild(head.firstChild); }
      head.appendChild(button);
      button.onclick = function () {
        var up = head.getAttribute("aria-sort") !== "ascending";
        each(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        var body = table.tBodies[0];
        var rows = Array.prototype.slice.call(body.rows);
        rows.sort(function (one, other) {
          var a = worth(one, at), b = worth(other, at);
          if (typeof a !== typeof b) { return typeof a === "number" ? -1 : 1; }
          return (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1);
        });
        rows.forEach(function (row) { body.appendChild(row); });
      };
    });
  });
  each(document.querySelectorAll("[data-filter]"), function (place) {
    var label = make("label", "Filter ", place);
    var input = document.createElement("input");
    input.type = "search";
    label.appendChild(input);
    var count = make("span", "", place);
    count.setAttribute("role", "status");
    input.oninput = function () {
      var words = input.value.toLowerCase().split(/\s+/);
      var shown = 0;
      each(document.querySelectorAll(place.getAttribute("data-filter")), function (one) {
        var text = one.textContent.toLowerCase();
        one.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
        if (!one.hidden) { shown += 1; }
      });
      count.textContent = input.value ? " " + shown + " shown" : "";
    };
  });
})();
