/**
 * Measures the gateway against a plain relay: `npm run bench:gateway`, or a part of it: `npm run bench:gateway --
 * paced-chat --rounds 3`. Vendor, relay and gateway are processes of their own, and rounds alternate between the two,
 * so that other load on the machine affects both alike. Prints CPU per request or delta, and memory.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as send } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { PATHS, PROVIDERS } from './paths';
import type { ProcessUsage } from './reportUsage';
import { SCENARIOS } from './scenarios';
import type { Scenario } from './scenarios';

const BUILD = path.join(__dirname, '..', '.build', 'gateway');
const TOKEN = 'bench-token';
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

interface Contender {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Microseconds of CPU per request or delta, and bytes of memory. One of each per round. */
interface Costs {
  readonly each: number[];
  readonly memory: number[];
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: 'string', default: '5' } },
  });
  const scenarios = SCENARIOS.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
  if (scenarios.length === 0)
    throw new Error(`Unknown scenario. Expected any of: ${SCENARIOS.map(({ id }) => id).join(', ')}.`);
  await bundle();
  const directory = await mkdtemp(path.join(tmpdir(), 'bolide-bench-'));
  const children: ChildProcess[] = [];
  try {
    const vendor = fork(path.join(BUILD, 'vendor.js'));
    children.push(vendor);
    const [port] = (await once(vendor, 'message')) as [number];
    const vendorUrl = `http://127.0.0.1:${port}`;
    const relay = await start('relay', { VENDOR_URL: vendorUrl }, children);
    const gateway = await start('bolide', gatewayEnvironment(vendorUrl, directory), children);
    console.log('| scenario | API | relay | gateway | added | ratio | goal | memory of relay, gateway |');
    console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
    for (const scenario of scenarios) console.log(await compare(scenario, relay, gateway, Number(values.rounds)));
  } finally {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

async function bundle(): Promise<void> {
  await build({
    entryPoints: ['vendor', 'relay', 'bolide'].map((name) => path.join(__dirname, `${name}.ts`)),
    outdir: BUILD,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'warning',
  });
}

function gatewayEnvironment(vendorUrl: string, directory: string): NodeJS.ProcessEnv {
  return {
    PORT: '0',
    DATA_DIR: directory,
    BOLIDE_API_TOKEN: TOKEN,
    LOG_LEVEL: 'error',
    AI_ALLOW_PRIVATE_HOSTS: 'true',
    OPENAI_API_KEY: 'simulated',
    OPENAI_API_BASE: `${vendorUrl}/v1`,
    ANTHROPIC_API_KEY: 'simulated',
    ANTHROPIC_BASE_URL: vendorUrl,
    GROQ_API_KEY: 'simulated',
    GROQ_BASE_URL: vendorUrl,
  };
}

async function start(name: string, env: NodeJS.ProcessEnv, children: ChildProcess[]): Promise<Contender> {
  const child = fork(path.join(BUILD, `${name}.js`), [], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.push(child);
  const [url] = (await once(child, 'message')) as [string];
  return { child, url };
}

async function compare(scenario: Scenario, relay: Contender, gateway: Contender, rounds: number): Promise<string> {
  const costs = new Map<Contender, Costs>([relay, gateway].map((each) => [each, { each: [], memory: [] }]));
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1)
    for (const contender of round % 2 === 0 ? [relay, gateway] : [gateway, relay]) {
      const { cpu, memory } = await measure(scenario, contender, contender === gateway);
      if (round === 0) continue;
      costs.get(contender)?.each.push(cpu / (scenario.requests * (scenario.deltas ?? 1)));
      costs.get(contender)?.memory.push(memory);
    }
  const [plain, own] = [costs.get(relay), costs.get(gateway)];
  if (plain === undefined || own === undefined) throw new Error('Nothing was measured.');
  const ratios = own.each.map((cost, round) => cost / (plain.each[round] ?? NaN));
  const [low, high] = [median(plain.each), median(own.each)];
  const megabytes = [plain, own].map(({ memory }) => `${Math.round(Math.max(...memory) / 1_048_576)} MB`);
  return `| ${[
    scenario.title,
    scenario.wire + (scenario.provider === undefined ? '' : ` on ${scenario.provider}`),
    `${low.toFixed(1)} µs`,
    `${high.toFixed(1)} µs`,
    `${(high - low).toFixed(1)} µs`,
    median(ratios).toFixed(2),
    `≤ ${scenario.goal.toFixed(1)}`,
    megabytes.join(', '),
  ].join(' | ')} |`;
}

async function measure(scenario: Scenario, { child, url }: Contender, isGateway: boolean): Promise<ProcessUsage> {
  await usageOf(child);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < scenario.requests) {
      next += 1;
      await ask(scenario, url, isGateway);
    }
  };
  await Promise.all(Array.from({ length: scenario.concurrency }, worker));
  return usageOf(child);
}

async function usageOf(child: ChildProcess): Promise<ProcessUsage> {
  const answer = once(child, 'message') as Promise<[ProcessUsage]>;
  child.send('usage');
  return (await answer)[0];
}

/** Resolves at the end of the response. @throws Error for one that is not complete */
async function ask({ wire, provider, deltas, every = 0 }: Scenario, url: string, isGateway: boolean): Promise<void> {
  const model = deltas === undefined ? 'json' : `${deltas}-${every}`;
  const question = 'How is the weather today?';
  const body = JSON.stringify({
    model: isGateway ? `${provider ?? PROVIDERS[wire]}/${model}` : model,
    ...(wire === 'openai' ? { input: question, store: false } : { messages: [{ role: 'user', content: question }] }),
    ...(wire === 'anthropic' ? { max_tokens: 1_000 } : {}),
    ...(deltas === undefined ? {} : { stream: true }),
  });
  const outgoing = send(url + PATHS[wire], {
    agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      authorization: `Bearer ${TOKEN}`,
      'anthropic-version': '2023-06-01',
    },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let length = 0;
  let tail = '';
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    tail = chunk.toString('latin1').slice(-500);
  });
  await once(response, 'end');
  if (response.statusCode !== 200 || length < (deltas ?? 1) * 20)
    throw new Error(`${url} answered ${response.statusCode} with ${length} bytes: ${tail}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || !child.connected) return;
  child.disconnect();
  await once(child, 'exit');
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

void main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
