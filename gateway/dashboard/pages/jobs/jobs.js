// The list of jobs: filter, pages, selection, and what can be done with many at once. Rows do not move while one looks.
import { get } from "../../base/api.js";
import { html, useMemo, useRef, useState } from "../../base/html.js";
import { writeJson } from "../../base/json.js";
import { useLoaded } from "../../base/loading.js";
import { ask, hrefOf, place } from "../../base/router.js";
import { may } from "../../base/session.js";
import { clock } from "../../base/time.js";
import { parseFilter, queryOf, STATES, withTerm } from "../../base/filter.js";
import { Glyph } from "../../parts/badge.js";
import { Pager } from "../../parts/pager.js";
import { Empty, Shown } from "../../parts/states.js";
import { Bulk } from "./bulk.js";
import { FilterBar } from "./filter_bar.js";
import { matches, merge, rangeOf } from "./rows.js";
import { SavedViews } from "./saved.js";
import { Table } from "./table.js";

const PAGE = 50;
const FIELDS = "id,state,kind,queue,key,priority,attempt,max_attempts,created_at,run_at,started_at,finished_at,worker_id,error";

export function JobsPage() {
  const { query } = place.value;
  const [text, cursor] = [query.get("q") ?? "", query.get("cursor") ?? ""];
  const columns = query.get("columns");
  const parsed = useMemo(() => parseFilter(text), [text]);
  const filter = queryOf(parsed.terms, clock());
  const news = useRef(/** @type {Set<number>} */ (new Set()));
  const [newCount, setNewCount] = useState(0);
  const shown = useRef(/** @type {{key: string, rows: any[], next: string | null}} */ ({ key: "", rows: [], next: null }));
  const key = `${text}\n${cursor}`;

  const load = async (/** @type {AbortSignal} */ signal) => {
    if (parsed.problem) return { rows: [], next: null };
    const page = await get("/api/jobs", { ...filter, args: textOf(filter.args), metadata: textOf(filter.metadata), fields: FIELDS, limit: PAGE, cursor }, signal);
    const isFresh = shown.current.key !== key;
    const rows = isFresh ? page.items : merge(shown.current.rows, page.items);
    if (isFresh) news.current.clear();
    for (const each of page.items) if (!rows.some((/** @type {any} */ row) => row.id === each.id)) news.current.add(each.id);
    setNewCount(news.current.size);
    shown.current = { key, rows, next: isFresh ? page.next : shown.current.next };
    return shown.current;
  };
  const loaded = useLoaded(load, [key], { live: true, when: (changes) => changes === null || changes.some((each) => matches(each, filter, shown.current.rows)) });
  const showNews = () => {
    shown.current = { key: "", rows: [], next: null };
    loaded.reload();
  };

  return html`<div class="title"><h1>Jobs</h1></div>
    <${FilterBar} text=${text} problem=${parsed.problem} onChange=${(/** @type {string} */ q) => ask({ q, cursor: "" })} />
    <${Chips} text=${text} columns=${columns} />
    <${SavedViews} />
    <section class="card">
      <${Selectable} key=${text} rows=${loaded.data?.rows ?? []} filter=${filter} terms=${parsed.terms} onDone=${showNews}>
        ${(/** @type {any} */ selection) => html`
          <div class="bar">
            ${selection.bar}
            ${newCount ? html`<button class="news" onClick=${showNews}>${newCount} new – show</button>` : null}
          </div>
          <${Shown} of=${loaded}>${(/** @type {any} */ data) => data.rows.length
            ? html`<${Table} rows=${data.rows} selection=${selection} />`
            : html`<${Nothing} text=${text} hasMore=${data.next !== null} />`}<//>`}
      <//>
      <${Pager} path="/jobs" next=${loaded.data?.next} />
    </section>`;
}

/** @param {any} part of a job, as the filter has it */
const textOf = (part) => part && writeJson(part, 0);

/** The states as links. @param {{text: string, columns: string | null}} props */
function Chips({ text, columns }) {
  const state = parseFilter(text).terms.find((each) => each.name === "state")?.value ?? "";
  return html`<nav class="chips" aria-label="States">
    ${["", ...STATES].map((each) => html`<a href=${hrefOf("/jobs", { q: withTerm(text, "state", each), columns })}
      aria-current=${each === state ? "true" : null}><${Glyph} of=${each} />${each || "all"}</a>`)}
  </nav>`;
}

/** @param {{text: string, hasMore: boolean}} props */
function Nothing({ text, hasMore }) {
  if (hasMore) return html`<${Empty}>None among the newest 20 000 jobs. Older ones may match: look further with “Older”.<//>`;
  if (text) return html`<${Empty}>No job matches. <a href=${hrefOf("/jobs")}>Show all jobs</a>.<//>`;
  return html`<${Empty}>There are no jobs yet. Enqueue one: <code>leasehold enqueue echo</code><//>`;
}

/**
 * Which rows are chosen.
 * @param {{rows: any[], filter: any, terms: any[], onDone: () => void, children: (selection: any) => any}} props
 */
function Selectable({ rows, filter, terms, onDone, children }) {
  const [chosen, setChosen] = useState(/** @type {Set<number>} */ (new Set()));
  const last = useRef(/** @type {number | null} */ (null));
  const toggle = (/** @type {number} */ id, /** @type {boolean} */ withRange) => {
    const next = new Set(chosen);
    const ids = withRange && last.current !== null ? rangeOf(rows, last.current, id) : [id];
    const isOn = !chosen.has(id);
    ids.forEach((each) => (isOn ? next.add(each) : next.delete(each)));
    last.current = id;
    setChosen(next);
  };
  const toggleAll = () => setChosen(chosen.size ? new Set() : new Set(rows.map((each) => each.id)));
  const done = () => {
    setChosen(new Set());
    onDone();
  };
  const bar = may("operate") ? html`<${Bulk} ids=${[...chosen]} filter=${filter} terms=${terms} onDone=${done} />` : null;
  return children({ chosen, toggle, toggleAll, bar, isPossible: may("operate") });
}
