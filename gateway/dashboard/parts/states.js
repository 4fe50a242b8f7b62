// What a view shows while it has nothing to show.
import { html } from "../base/html.js";

/**
 * The content once it is there; before, that it loads; and what went wrong.
 * @param {{of: import("../base/loading.js").Loaded<any>, children: (data: any) => any}} props
 */
export function Shown({ of, children }) {
  const { data, problem, reload } = of;
  return html`
    ${problem ? html`<div class="trouble" data-tone="bad" role="alert">
      <span>${problem.message}</span> <button onClick=${reload}>Try again</button>
    </div>` : null}
    ${data !== undefined ? children(data) : problem ? null : html`<p class="empty">Loading…</p>`}`;
}

/** @param {{children?: any}} props */
export const Empty = ({ children }) => html`<div class="empty">${children}</div>`;
