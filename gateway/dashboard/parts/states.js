// What a view shows while it has nothing to show.
import { ApiProblem } from "../base/api.js";
import { html } from "../base/html.js";

/** What went wrong, and what can be quoted of it. @param {{error: unknown}} props */
export const Wrong = ({ error }) => html`<span><bdi>${error instanceof Error ? error.message : String(error)}</bdi>
  ${error instanceof ApiProblem && error.request ? html` <small>${error.code}, request <code>${error.request}</code></small>` : null}</span>`;

/**
 * The content once it is there; before, that it loads; and what went wrong.
 * @param {{of: import("../base/loading.js").Loaded<any>, children: (data: any) => any}} props
 */
export function Shown({ of, children }) {
  const { data, problem, reload } = of;
  return html`
    ${problem ? html`<div class="trouble" data-tone="bad" role="alert">
      <${Wrong} error=${problem} /> <button onClick=${reload}>Try again</button>
    </div>` : null}
    ${data !== undefined ? children(data) : problem ? null : html`<p class="empty">Loading…</p>`}`;
}

/** @param {{children?: any}} props */
export const Empty = ({ children }) => html`<div class="empty">${children}</div>`;
