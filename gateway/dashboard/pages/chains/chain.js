// One chain: how far the whole has come, its graph, its jobs, and cancelling or retrying them.
import { ApiProblem, call, get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf, place } from "../../base/router.js";
import { may } from "../../base/session.js";
import { Ago, count } from "../../base/time.js";
import { State, toneOf } from "../../parts/badge.js";
import { Asking } from "../../parts/dialog.js";
import { JsonCard } from "../../parts/json_tree.js";
import { Pager } from "../../parts/pager.js";
import { Empty, Shown } from "../../parts/states.js";
import { toast } from "../../parts/toasts.js";
import { Trial } from "../../parts/trial.js";
import { Graph } from "./graph.js";

const STATES = ["completed", "open", "failed", "cancelled"];

/** @param {{name: string}} props */
export function ChainPage({ name: id }) {
  const cursor = place.value.query.get("cursor");
  const load = async (/** @type {AbortSignal} */ signal) => {
    const part = (/** @type {string} */ name, query = {}) => get(`/api/chains/${id}${name}`, query, signal);
    try {
      const [chain, graph, jobs] = await Promise.all([part(""), part("/graph"), part("/jobs", { cursor })]);
      return { chain, graph, jobs };
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "unknown_job") return { chain: null, graph: null, jobs: null };
      throw error;
    }
  };
  /** @type {any} */
  const loaded = useLoaded(load, [id, cursor], { live: true, every: 15, when: (changes) => concerns(changes, loaded.data?.graph) });
  return html`<${Shown} of=${loaded}>${(/** @type {any} */ data) => data.chain === null
    ? html`<h1>Chain ${id}</h1><${Empty}>There is no chain ${id}. A chain has the id of its first job. <a href=${hrefOf("/chains")}>Show the chains that there are</a>.<//>`
    : html`<${Whole} data=${data} reload=${loaded.reload} />`}<//>`;
}

/** @param {any[] | null} changes @param {any} graph */
const concerns = (changes, graph) => changes === null || !graph || changes.some((each) => graph.nodes.some((/** @type {any} */ node) => node.chain_id === each.chain_id));

/** @param {{data: any, reload: () => void}} props */
function Whole({ data: { chain, graph, jobs }, reload }) {
  return html`
    <div class="title">
      <h1><bdi>${chain.kind ?? chain.job_kind}</bdi> <span class="quiet">chain ${String(chain.chain_id)}</span></h1> <${State} state=${chain.state} />
      ${may("operate") ? html`<${Actions} chain=${chain} nodes=${graph.nodes} reload=${reload} />` : null}
    </div>
    <section class="card"><h2>The whole</h2><${Progress} nodes=${graph.nodes} isPartial=${graph.is_partial} /><${Graph} nodes=${graph.nodes} /></section>
    <section class="card"><h2>Jobs of this chain</h2><${Jobs} jobs=${jobs} />
      <${Pager} path=${`/chains/${chain.chain_id}`} next=${jobs.next} first="First" more="Next" /></section>
    <${JsonCard} title="Output" value=${chain.output} />`;
}

/** How many chains are in which state. @param {{nodes: any[], isPartial: boolean}} props */
function Progress({ nodes, isPartial }) {
  const counts = STATES.map((state) => ({ state, chains: nodes.filter((each) => each.state === state).length })).filter((each) => each.chains);
  return html`
    ${isPartial ? html`<p class="trouble" data-tone="warn">There are more chains than are loaded; the nearest are shown.</p>` : null}
    <div class="progress" role="img" aria-label=${counts.map((each) => `${each.chains} ${each.state}`).join(", ")}>
      ${counts.map(({ state, chains }) => html`<i key=${state} data-tone=${state === "open" ? "busy" : toneOf(state)} style=${{ flexGrow: chains }}></i>`)}
    </div>
    <p class="quiet">${nodes.length === 1 ? "It waits for no other chain, and none waits for it." : `${count(nodes.length)} chains: ${counts.map((each) => `${count(each.chains)} ${each.state}`).join(", ")}`}</p>`;
}

/** @param {{chain: any, nodes: any[], reload: () => void}} props */
function Actions({ chain, nodes, reload }) {
  const open = nodes.filter((each) => each.state === "open").map((each) => each.job_id);
  const failed = nodes.filter((each) => each.state === "failed" || each.state === "cancelled").map((each) => each.job_id);
  const cancel = async () => {
    await call("POST", `/api/chains/${chain.chain_id}/cancel`);
    toast("It is cancelled.");
    reload();
  };
  return html`<div class="actions" role="group" aria-label="Do with this chain">
    ${failed.length ? html`<${Trial} label="Retry what failed" path="/api/jobs/bulk/retry" body=${{ ids: failed, state: "any" }} verb="Retry" done="made to run again" onDone=${reload} />` : null}
    ${open.length > 1 ? html`<${Trial} label="Cancel all open" path="/api/jobs/bulk/cancel" body=${{ ids: open }} verb="Cancel" done="cancelled" isDangerous=${true} onDone=${reload} />` : null}
    ${chain.state === "open" ? html`<${Asking} label="Cancel" title="Cancel chain ${String(chain.chain_id)}?" verb="Cancel it" isDangerous=${true} onYes=${cancel}>
      <p>Its open job, ${String(chain.job_id)}, is cancelled. What waits for the chain goes on waiting until you retry or cancel that, too.</p><//>` : null}
  </div>`;
}

/** @param {{jobs: any}} props */
function Jobs({ jobs }) {
  return html`<div class="scroll"><table>
    <thead><tr><th class="tight">Place</th><th class="tight">Job</th><th>Kind</th><th class="tight">State</th><th>Created</th><th>Finished</th></tr></thead>
    <tbody>${jobs.items.map((/** @type {any} */ each) => html`<tr key=${each.id}>
      <td class="tight number">${each.chain_position + 1}</td>
      <td class="tight number"><a href=${hrefOf(`/jobs/${each.id}`)}>${String(each.id)}</a></td>
      <td><bdi>${each.kind}</bdi></td><td class="tight"><${State} state=${each.state} /></td>
      <td><${Ago} at=${each.created_at} /></td><td><${Ago} at=${each.finished_at} /></td></tr>`)}</tbody></table></div>`;
}
