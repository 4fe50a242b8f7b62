"use strict";
// Runs before the first paint, so that a dark page does not begin white. The other modules read the same key.
(() => {
  const chosen = localStorage.getItem("leasehold.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
