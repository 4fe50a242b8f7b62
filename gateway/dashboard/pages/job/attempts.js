// What the attempts of a job left: errors, lines of the log, how far they came.
import { html } from "../../base/html.js";
import { Ago, exact } from "../../base/time.js";
import { Gauge } from "../../parts/badge.js";
import { Empty } from "../../parts/states.js";
import { latest, useNews, withNews } from "./news.js";

/** @param {{errors: any[]}} props */
export function Errors({ errors }) {
  return html`<ol class="plain-list">${[...errors].reverse().map((each, index) => html`<li key=${`${each.attempt} ${each.at}`}>
    <div>Attempt ${each.attempt} <span class="quiet"><${Ago} at=${each.at} />${each.worker_id ? html` on <bdi>${each.worker_id}</bdi>` : null}</span></div>
    <div><strong><bdi>${each.type}</bdi></strong>: <bdi>${each.message}</bdi></div>
    ${each.traceback ? html`<details class="trace" open=${index === 0}><summary>Traceback</summary><pre tabindex="0">${each.traceback}</pre></details>` : null}
  </li>`)}</ol>`;
}

/** @param {{id: string, loaded: any[]}} props loaded: the lines that the page has loaded; later ones come by themselves */
export function Logs({ id, loaded }) {
  const lines = withNews(loaded, useNews(id, "logs"));
  if (lines.length === 0) return html`<${Empty}>Its handler has logged nothing with <code>job.log</code>.<//>`;
  return html`<div class="log" role="log" tabindex="0" aria-label="Log">${lines.map((each) => html`<div key=${each.number}>
    <time datetime=${each.at} title=${exact(each.at)}>${new Date(each.at).toLocaleTimeString()}</time>
    <span class=${each.level === "error" || each.level === "critical" ? "badge" : "quiet"} data-tone="bad">${each.level}</span>
    <bdi>${each.message}</bdi></div>`)}</div>`;
}

/** @param {{id: string, loaded: any, isRunning: boolean}} props loaded: what the page has loaded */
export function Progress({ id, loaded, isRunning }) {
  const newest = useNews(id, "progress").at(-1);
  const progress = isRunning ? latest(loaded, newest) : loaded;
  if (!progress) return null;
  return html`<section class="trouble" aria-label="Progress">
    <${Gauge} share=${progress.fraction} label="Done" /> <bdi>${progress.message ?? ""}</bdi> <span class="quiet"><${Ago} at=${progress.at} /></span>
  </section>`;
}
