// Loading what a view shows, and loading it again when something has happened: never twice at once, at most once a second.
import { ApiProblem } from "./api.js";
import { useCallback, useEffect, useRef, useState } from "./html.js";
import { isPaused, listen } from "./live.js";

/**
 * @template T
 * @typedef {{data: T | undefined, problem: ApiProblem | null, reload: () => void}} Loaded
 */

/**
 * What `load` answers; what was loaded before stays until the next answer comes.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {any[]} needs loads anew when one of them changes
 * @param {{live?: boolean | import("./live.js").Sort, only?: string, every?: number, pause?: number, when?: (changes: any[] | null) => boolean}} [how]
 *   live: again when something happens, of this sort; only: the query of the stream; every: again after so many seconds; pause: seconds
 *   between two loads, at least; when: whether these changes matter
 * @returns {Loaded<T>}
 */
export function useLoaded(load, needs, { live = false, only = "", every = 0, pause = 1, when = () => true } = {}) {
  const [answer, setAnswer] = useState(/** @type {{data?: T, problem: ApiProblem | null, key: string}} */ ({ problem: null, key: "" }));
  const key = JSON.stringify(needs);
  const now = useRef({ load, when, key });
  now.current = { load, when, key };
  const loader = useRef(/** @type {Loader | null} */ (null));
  useEffect(() => {
    const mine = new Loader(async (signal) => {
      try {
        const data = await now.current.load(signal);
        if (!signal.aborted) setAnswer({ data, problem: null, key });
      } catch (error) {
        if (signal.aborted) return;
        const problem = error instanceof ApiProblem ? error : new ApiProblem(0, "internal", String(error));
        setAnswer((before) => ({ data: before.key === key ? before.data : undefined, problem, key }));
      }
    }, pause);
    loader.current = mine;
    mine.ask();
    const stop = live ? listen((changes) => now.current.when(changes) && mine.ask(), only, live === true ? "changes" : live) : () => {};
    const timer = every ? setInterval(() => !document.hidden && !isPaused.peek() && mine.ask(), every * 1000) : 0;
    return () => {
      stop();
      clearInterval(timer);
      mine.close();
    };
  }, [key, live, only, every, pause]);
  const reload = useCallback(() => loader.current?.ask(), []);
  return { data: answer.data, problem: answer.problem, reload };
}

/** Calls again and again, one call at a time. */
class Loader {
  /** @param {(signal: AbortSignal) => Promise<void>} work @param {number} pause seconds */
  constructor(work, pause) {
    this.pause = pause * 1000;
    this.work = work;
    this.control = new AbortController();
    this.isBusy = false;
    this.isAsked = false;
  }

  ask() {
    this.isAsked = true;
    if (!this.isBusy) void this.run();
  }

  async run() {
    this.isBusy = true;
    while (this.isAsked && !this.control.signal.aborted) {
      this.isAsked = false;
      await this.work(this.control.signal);
      if (this.isAsked) await new Promise((resolve) => setTimeout(resolve, this.pause));
    }
    this.isBusy = false;
  }

  close() {
    this.control.abort();
  }
}
