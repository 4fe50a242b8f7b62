// Where the handlers of a worker are right now.
import { html, useState } from "../../../base/html.js";
import { hrefOf } from "../../../base/router.js";
import { Empty } from "../../../parts/states.js";
import { attempt, toast } from "../../../parts/toasts.js";
import { sendCommand } from "./commands.js";

/** @param {{worker: any, onDone: () => void}} props */
export function Stacks({ worker, onDone }) {
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  const [isBusy, setBusy] = useState(false);
  const take = async () => {
    setBusy(true);
    await attempt(async () => {
      const command = await sendCommand(worker, "dump_stacks");
      if (command.state === "failed") throw new Error(command.error);
      if (command.state === "done") setAnswer(command.result);
      else toast("It has not answered yet: its event loop may be blocked, or it does not listen. Its log has the stack if a handler blocks it.", "bad");
      onDone();
    });
    setBusy(false);
  };
  return html`<section class="card"><div class="copyable"><h2>Stacks</h2><button onClick=${take} disabled=${isBusy}>${isBusy ? "Asking…" : answer ? "Take them again" : "Take the stacks"}</button></div>
    ${answer === null ? html`<p class="quiet">Shows the line at which each of its handlers is, without stopping them.</p>` : html`<${Answer} answer=${answer} />`}</section>`;
}

/** @param {{answer: any}} props */
function Answer({ answer }) {
  const stacks = answer.stacks ?? [];
  if (stacks.length === 0) return html`<${Empty}>It runs nothing at the moment.<//>`;
  return html`${stacks.map((/** @type {any} */ each) => html`<details class="trace" open key=${each.job_id}><summary><a href=${hrefOf(`/jobs/${each.job_id}`)}>Job ${String(each.job_id)}</a> <bdi>${each.kind}</bdi></summary>
    <pre tabindex="0">${each.stack}</pre></details>`)}`;
}
