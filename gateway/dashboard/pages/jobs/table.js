// The table of jobs, with columns to choose.
import { html } from "../../base/html.js";
import { ask, hrefOf, place } from "../../base/router.js";
import { Ago, duration } from "../../base/time.js";
import { termText } from "../../base/filter.js";
import { State } from "../../parts/badge.js";

const KEY = "leasehold.columns";
/** @type {Record<string, {title: string, cell: (row: any) => any}>} */
const COLUMNS = {
  queue: { title: "Queue", cell: (row) => html`<a href=${hrefOf("/jobs", { q: termText("queue", row.queue) })}><bdi>${row.queue}</bdi></a>` },
  key: { title: "Key", cell: (row) => (row.key === null ? html`<span class="quiet">–</span>` : html`<a href=${hrefOf("/jobs", { q: termText("key", row.key) })}><bdi>${row.key}</bdi></a>`) },
  attempt: { title: "Attempt", cell: (row) => `${row.attempt}/${row.max_attempts}` },
  priority: { title: "Priority", cell: (row) => row.priority },
  created: { title: "Created", cell: (row) => html`<${Ago} at=${row.created_at} />` },
  run_at: { title: "Not before", cell: (row) => html`<${Ago} at=${row.run_at} />` },
  took: { title: "Took", cell: (row) => (row.started_at && row.finished_at ? duration(Math.max(0, (Date.parse(row.finished_at) - Date.parse(row.started_at)) / 1000)) : "–") },
  worker: { title: "Worker", cell: (row) => html`<bdi>${row.worker_id ?? "–"}</bdi>` },
  error: { title: "Error", cell: (row) => (row.error ? html`<bdi class="quiet">${shorten(row.error.message ?? row.error.type ?? "")}</bdi>` : null) },
};
/** In an address an empty list would not be there. */
const NONE = "none";
const USUAL = ["queue", "key", "attempt", "created", "took", "error"];

/** @param {unknown} text */
const shorten = (text) => (String(text).length > 120 ? `${String(text).slice(0, 120)}…` : String(text));

/** The columns that the address names, else those that were chosen last. @returns {string[]} */
function chosenColumns() {
  const stored = place.value.query.get("columns") ?? localStorage.getItem(KEY);
  const names = stored === null ? USUAL : stored.split(",");
  return names.filter((name) => Object.hasOwn(COLUMNS, name));
}

/** @param {{rows: any[], selection: any}} props */
export function Table({ rows, selection }) {
  const columns = chosenColumns();
  const choose = (/** @type {string} */ name) => {
    const next = Object.keys(COLUMNS).filter((each) => columns.includes(each) !== (each === name));
    localStorage.setItem(KEY, next.join(","));
    ask({ columns: next.join(",") || NONE }, { replace: true });
  };
  return html`<div class="scroll"><table>
    <thead><tr>
      ${selection.isPossible ? html`<th class="tight"><input type="checkbox" aria-label="Choose all that are shown"
        checked=${selection.chosen.size > 0} onClick=${selection.toggleAll} /></th>` : null}
      <th class="tight">Id</th><th>Kind</th><th class="tight">State</th>
      ${columns.map((name) => html`<th key=${name}>${COLUMNS[name].title}</th>`)}
    </tr></thead>
    <tbody>${rows.map((row) => html`<${Row} key=${row.id} row=${row} columns=${columns} selection=${selection} />`)}</tbody>
  </table></div>
  <details class="columns-choice"><summary class="quiet">Columns</summary>
    <div class="actions">${Object.entries(COLUMNS).map(([name, each]) => html`<label key=${name}>
      <input type="checkbox" checked=${columns.includes(name)} onClick=${() => choose(name)} /> ${each.title}</label>`)}</div>
  </details>`;
}

/** @param {{row: any, columns: string[], selection: any}} props */
function Row({ row, columns, selection }) {
  const isChosen = selection.chosen.has(row.id);
  return html`<tr class=${isChosen ? "chosen" : row.isGone ? "gone" : ""} title=${row.isGone ? "The filter does not find it any more" : null} data-job=${row.id}>
    ${selection.isPossible ? html`<td class="tight"><input type="checkbox" aria-label="Choose job ${row.id}" checked=${isChosen}
      onClick=${(/** @type {MouseEvent} */ event) => selection.toggle(row.id, event.shiftKey)} /></td>` : null}
    <td class="tight number"><a href=${hrefOf(`/jobs/${row.id}`)}>${String(row.id)}</a></td>
    <td><bdi>${row.kind}</bdi></td>
    <td class="tight"><${State} state=${row.state} /></td>
    ${columns.map((name) => html`<td key=${name} class=${name === "error" ? "long" : ""}>${COLUMNS[name].cell(row)}</td>`)}
  </tr>`;
}
