// Taking back the jobs of a worker that is gone, without waiting for the reaper.
import { call } from "../base/api.js";
import { html } from "../base/html.js";
import { count } from "../base/time.js";
import { Asking } from "./dialog.js";
import { toast } from "./toasts.js";

/** No lease is as old: only those that have run out are taken back. */
const EVER_MINUTES = 52_596_000;

/**
 * @param {{jobs: number, worker?: any, minutes?: number, onDone: () => void}} props worker: only its jobs; minutes: also those whose lease has
 *   not run out, if they have not been renewed for so long
 */
export function TakeBack({ jobs, worker, minutes = EVER_MINUTES, onDone }) {
  const take = async () => {
    const { recovered } = await call("POST", "/api/jobs/recover-stale", { query: { minutes, worker: worker?.incarnation } });
    toast(`${count(recovered)} job(s) taken back${recovered < jobs ? "; the others were renewed meanwhile, or have one lease more since this was their last attempt" : ""}.`);
    onDone();
  };
  return html`<${Asking} label="Take back ${count(jobs)}" title="Take back ${count(jobs)} job(s)${worker ? ` of ${worker.name}` : ""}?" verb="Take them back" isDangerous=${true} onYes=${take}>
    <p>They run again at once, or fail where their attempts are used up. A worker that is only slow loses them: what it then writes about them is refused.</p><//>`;
}
