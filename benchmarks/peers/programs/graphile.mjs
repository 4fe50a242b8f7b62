// Graphile Worker.
import { makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const [dsn, action, count = "0", tasks = "1"] = process.argv.slice(2);
const pgPool = new pg.Pool({ connectionString: dsn, max: Math.max(10, Number(tasks)) });
pgPool.on("error", console.error);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

if (action === "work") {
  const noop = async (payload) => { if (payload.at) console.log(Date.now() - payload.at); };
  const preset = { worker: { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } };
  const quiet = { debug() {}, info() {}, warn() {}, error: console.error };
  const { Logger } = await import("graphile-worker");
  const runner = await run({ preset, pgPool, taskList: { noop }, logger: new Logger(() => (level, text) => level === "error" && quiet.error(text)) });
  await runner.promise;
} else {
  const utils = await makeWorkerUtils({ pgPool });
  if (action === "prepare") await utils.migrate();
  else {
    await pgPool.query("select 1");
    const started = performance.now(), cpu = process.cpuUsage();
    if (action === "bulk") for (let n = 0; n < count / 1000; n++) await utils.addJobs(Array.from({ length: 1000 }, () => ({ identifier: "noop", payload: {} })));
    else if (action === "ping") for (let n = 0; n < count; n++) { await utils.addJob("noop", { at: Date.now() }); await sleep(50); }
    else await Promise.all(Array.from({ length: Number(tasks) }, async () => { for (let n = 0; n < count / tasks; n++) await utils.addJob("noop", {}); }));
    const used = process.cpuUsage(cpu);
    console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, cpu: (used.user + used.system) / 1e6 }));
  }
  await utils.release();
  await pgPool.end();
}
