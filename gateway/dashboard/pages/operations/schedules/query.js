// The query of a schedule: each of its rows is a job. It is tried before it is kept.
import { call } from "../../../base/api.js";
import { html, useEffect, useState } from "../../../base/html.js";
import { writeJson } from "../../../base/json.js";
import { count } from "../../../base/time.js";
import { textsOf } from "../../../parts/dialog.js";
import { trialOf } from "./form.js";

const ROWS = 5;

/** @param {{schedule?: any, form: {current: HTMLFormElement | null}, written: number}} props written: counts what was written */
export function QueryFields({ schedule, form, written }) {
  const [found, setFound] = useState(/** @type {{jobs?: number, rows?: any[], problem?: string}} */ ({}));
  useEffect(() => setFound({}), [written]);
  const attempt = async () => {
    try {
      const fields = textsOf(new FormData(form.current ?? undefined));
      const { query } = await call("POST", "/api/schedules/preview", { query: { count: 1, rows: ROWS }, body: trialOf(fields, schedule) });
      setFound(query ?? { problem: "Without a query each tick makes one job." });
    } catch (error) {
      setFound({ problem: error instanceof Error ? error.message : String(error) });
    }
  };
  return html`<fieldset><legend>A job for each row</legend>
    <label>Query: a SELECT, or nothing for one job a tick <textarea name="query" class="short" spellcheck=${false} defaultValue=${schedule?.query ?? ""}
      placeholder="select id as shop_id, 'shop-' || id as key from shops where is_open"></textarea></label>
    <div class="two"><label>It may run for (seconds) <input name="query_timeout" type="number" min="0.001" max="3600" step="any" required defaultValue=${String(schedule?.query_timeout ?? 30)} /></label>
      <label>Rows at most <input name="query_rows" type="number" min="1" max="100000" required defaultValue=${String(schedule?.query_rows ?? 10000)} /></label></div>
    <div><button type="button" onClick=${attempt}>Try the query</button></div>
    <div role="status" aria-live="polite">
      ${found.problem ? html`<div class="trouble" data-tone="warn"><bdi>${found.problem}</bdi></div>` : null}
      ${found.rows ? html`<p><b>${count(found.jobs)} job(s)</b> if it fired now${found.rows.length < (found.jobs ?? 0) ? `; the first ${found.rows.length}:` : ""}</p>
        <ol class="plain-list mono">${found.rows.map((row, at) => html`<li key=${at}><bdi>${writeJson(row, 0)}</bdi></li>`)}</ol>` : null}
    </div></fieldset>`;
}
