// Apply the stored theme before the page is drawn. Browsers without localStorage for files are supported.
"use strict";
(() => {
  const order = ["auto", "light", "dark"];
  const remember = (value) => {
    try { localStorage.setItem("graphtrial-theme", value); } catch { /* no storage: the theme holds for this page */ }
  };
  const recall = () => {
    try { return localStorage.getItem("graphtrial-theme"); } catch { return null; }
  };
  const apply = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  let theme = order.includes(recall()) ? recall() : "auto";
  apply(theme);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const say = () => { button.textContent = `Theme: ${theme}`; };
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      apply(theme);
      remember(theme);
      say();
    });
    say();
  });
})();
