// Sortable and filterable tables, and commands with a copy button.
"use strict";
(() => {
  // Sort key of a cell: its data-sort, else its text; as a number if it is one. Empty cells always come last.
  const value = (cell) => {
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };

  // Rows with the lines below them, which are moved and hidden together.
  const rowsOf = (table) => {
    const groups = [];
    for (const row of table.tBodies[0].rows) {
      if (row.classList.contains("below")) groups.at(-1).push(row);
      else groups.push([row]);
    }
    return groups;
  };

  const sortBy = (table, column, descending) => {
    const rows = rowsOf(table).map((group) => [value(group[0].cells[column]), group]);
    rows.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      return descending ? compare(b, a) : compare(a, b);
    });
    table.tBodies[0].append(...rows.flatMap(([, group]) => group));
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };

  const makeSortable = (table) => {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        // The first click sorts numbers descending, words ascending.
        const first = head.classList.contains("n") ? "descending" : "ascending";
        const next = before === null ? first : before === "ascending" ? "descending" : "ascending";
        sortBy(table, column, next === "descending");
      });
    });
  };

  const makeFilterable = (grid) => {
    const input = grid.querySelector("input[type=search]");
    const count = grid.querySelector(".count");
    const textOf = (group) => group.map((row) => row.textContent).join(" ").toLowerCase();
    const rows = rowsOf(grid.querySelector("table")).map((group) => [group, textOf(group)]);
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [group, text] of rows) {
        const fits = words.every((word) => text.includes(word));
        for (const row of group) row.hidden = !fits;
        shown += fits;
      }
      count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
    };
    input.addEventListener("input", apply);
    apply();
  };

  // Classes for the sides to which a table can be scrolled, where the style sheet draws an edge.
  const watchScroll = (scroll) => {
    const look = () => {
      const left = scroll.scrollLeft, room = scroll.scrollWidth - scroll.clientWidth;
      scroll.classList.toggle("more-left", left > 1);
      scroll.classList.toggle("more-right", left < room - 1);
    };
    scroll.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(scroll);
    look();
  };

  for (const grid of document.querySelectorAll(".grid")) {
    watchScroll(grid.querySelector(".scroll"));
    if (grid.classList.contains("printed")) continue;  // in the order of the paper
    makeSortable(grid.querySelector("table"));
    if (grid.querySelector("input[type=search]")) makeFilterable(grid);
  }
  for (const button of document.querySelectorAll(".command button")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
    });
  }
})();
