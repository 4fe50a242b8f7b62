// On a phone a table is a list of rows: each cell says what the head of its column says. One observer does it for all tables.
const phone = matchMedia("(max-width: 46rem)");

/** Have cells carry their heads where it is narrow, now and whenever rows come. */
export function startLabels() {
  new MutationObserver(label).observe(document.body, { childList: true, subtree: true });
  phone.addEventListener("change", label);
}

function label() {
  if (!phone.matches) return;
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("main .scroll > table"))) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((each) => (each.querySelector(".unseen, input") ? "" : each.textContent ?? ""));
    for (const { cells } of table.tBodies[0]?.rows ?? []) {
      for (const cell of cells) if (heads[cell.cellIndex] && cell.dataset.label === undefined) cell.dataset.label = heads[cell.cellIndex];
    }
  }
}
