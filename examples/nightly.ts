/**
 * A nightly job: one queued run per city, each of which saves a report. The process may be killed at any time; when
 * started again, it continues where it was and saves no report twice. Without --now, it waits until 3 a.m.
 *
 * DATA_DIR=.data/nightly npm run example:nightly -- [--now [2026-11-22]]
 */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Actor } from '../imports/business/ai/domain/types/Actor';
import { createAIModule } from '../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../imports/business/ai/infrastructure/factories/createAIModule';
import { openRunStore } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { openDatabase } from '../imports/database/openDatabase';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { openJobQueue } from '../imports/host/openJobQueue';
import { readJobSettings } from '../imports/host/settings/jobSettings';
import { valueOf } from '../imports/host/settings/environment';
import { openSettings } from '../imports/host/moduleFromEnvironment';
import { SIMULATION_NOTICE } from '../imports/host/simulation';

/** The server's own code: has the rights of an admin, and a budget of its own. */
const NIGHTLY: Actor = { userId: 'nightly', source: 'job' };
const CITIES = ['Lisbon', 'Oslo', 'Rome', 'Paris', 'Vienna', 'Madrid'];
const DATA_DIR = process.env['DATA_DIR'] ?? '.data/nightly';
const REPORTS = join(DATA_DIR, 'reports.txt');

/** The idempotency key is the same for every attempt at a call, so a repeated call after a crash is recognized. */
async function saveReport({ city }: { readonly city: string }, key: string): Promise<string> {
  const saved = await readFile(REPORTS, 'utf8').catch(() => '');
  if (!saved.includes(key)) await appendFile(REPORTS, `${city} ${key}\n`);
  console.log(`saved ${city}`);
  return 'saved';
}

/** Queues the day's runs. The request ids identify them, so queueing the same day again adds no further runs. */
async function queueReports(module: AIModule, day: string): Promise<readonly string[]> {
  const queued = CITIES.map(async (city) => {
    const request = {
      requestId: `report-${day}-${city}`,
      providerId: module.settings.defaultProvider ?? '',
      input: `Save the report of ${city}.`,
      tools: ['save_report'],
    };
    const { executionId } = await module.useCases.queueRun.execute(NIGHTLY, request);
    return executionId;
  });
  return Promise.all(queued);
}

async function main(): Promise<void> {
  await mkdir(DATA_DIR, { recursive: true });
  const { settings, simulator } = await openSettings(process.env);
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const database = await openDatabase({ ...process.env, DATA_DIR });
  const tools = new ToolRegistry().register({
    name: 'save_report',
    description: 'Saves the report of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'A city, such as Lisbon.' } },
      required: ['city'],
      additionalProperties: false,
    },
    idempotent: true,
    execute: (args: { city: string }, { idempotencyKey }) => saveReport(args, idempotencyKey),
  });
  const jobs = await openJobQueue(
    { concurrency: 2, ...readJobSettings((name) => valueOf(process.env, name)) },
    database,
  );
  const module = createAIModule(settings, { tools, jobs, runs: await openRunStore(database) });
  await jobs.schedule({ name: 'reports', cron: '0 3 * * *', timezone: 'Europe/Lisbon' }, async () => {
    await queueReports(module, new Date().toISOString().slice(0, 10));
  });
  // First take over the runs that an earlier process left unfinished.
  await module.recovery.start();
  await module.queue.start();
  const [flag, day = new Date().toISOString().slice(0, 10)] = process.argv.slice(2);
  if (flag !== '--now') {
    console.log('waiting for 3 a.m.');
    return;
  }
  const runs = await queueReports(module, day);
  const results = await Promise.all(runs.map((executionId) => module.loop.waitForResult(executionId)));
  console.log(
    `${results.length} reports of ${day} are done, in ${results.reduce((sum, { iterations }) => sum + iterations, 0)} model calls`,
  );
  await module.close();
  await database.close();
  await simulator?.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
