// Tables that can be sorted by any column and filtered by words, and commands that can be copied.
"use strict";
(() => {
  // What a cell is sorted by: its data-sort, else its text; a number where it is one. Empty cells come last either way.
  const value = (cell) => {
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };

  const sortBy = (table, column, descending) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      return descending ? compare(b, a) : compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
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
        // Numbers are looked at from the top first, words from A.
        const first = head.classList.contains("n") ? "descending" : "ascending";
        const next = before === null ? first : before === "ascending" ? "descending" : "ascending";
        sortBy(table, column, next === "descending");
      });
    });
  };

  const makeFilterable = (grid) => {
    const input = grid.querySelector("input[type=search]");
    const count = grid.querySelector(".count");
    const rows = [...grid.querySelectorAll("tbody tr")].map((row) => [row, row.textContent.toLowerCase()]);
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [row, text] of rows) {
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
    };
    input.addEventListener("input", apply);
    apply();
  };

  for (const grid of document.querySelectorAll(".grid")) {
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
