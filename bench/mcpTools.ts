/**
 * Measures what 200 tools of ten MCP servers cost a turn: `npm run bench:mcp -- [--rounds 20] [--save]`. A run asks for
 * the weather five times. CPU time and bytes of a request are relative to a run with ten tools of one server, and CPU
 * time to the official SDKs with those ten tools. The servers and the vendor are another process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { createAIModule } from '../imports/business/ai/infrastructure/factories/createAIModule';
import { mcp } from '../imports/business/mcp/mcp';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { MODELS } from './Contender';
import type { Sent, Served } from './mcpTools/serve';
import { FINAL_TEXT } from './responses';
import { saveSection, table } from './resultsPage';
import { median, spread } from './statistics';

interface Contender {
  readonly title: string;
  readonly goals: readonly [string, string];
  /** The first part of the vendor's path. */
  readonly name: string;
  readonly run: () => Promise<string>;
  readonly close: () => Promise<void>;
}

interface Cost {
  /** CPU microseconds of a turn. */
  readonly cpu: number;
  readonly bytes: number;
}

const QUESTION = 'How is the weather?';
const FEW = 10;
const RUNS = 10;
const WARM_UP = 30;
const HEAD = ['run', 'goals', 'bytes of a request', 'bytes / ten tools', 'CPU of a turn / ten tools', 'CPU / raw SDKs'];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '20' }, save: { type: 'boolean', default: false } },
  });
  const child = fork(path.join(__dirname, 'mcpTools', 'serve.ts'));
  const [served] = (await once(child, 'message')) as [Served];
  const sentTo = async (name: string): Promise<Sent> => {
    child.send(name);
    return ((await once(child, 'message')) as [Sent])[0];
  };
  const last = served.servers.slice(-1);
  const contenders = [
    await bolide(served, 'few', { title: '10 tools of a server', goals: ['–', '–'], servers: last, count: FEW }),
    await raw(served, 'raw'),
    await bolide(served, 'search', {
      ...{ title: '200 tools of ten servers, with tool search', goals: ['≤ 1.0', '≤ 1.2'] },
      servers: served.servers,
    }),
    await bolide(served, 'all', {
      ...{ title: '200 tools of ten servers, all sent', goals: ['–', '–'], toolSearch: false },
      servers: served.servers,
    }),
  ];
  const costs = new Map<string, Cost[]>(contenders.map(({ name }) => [name, []]));
  try {
    for (const each of contenders) await measure(each, WARM_UP, sentTo);
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const each of round % 2 === 0 ? contenders : contenders.toReversed())
        costs.get(each.name)?.push(await measure(each, RUNS, sentTo));
  } finally {
    for (const each of contenders) await each.close();
    child.disconnect();
  }
  const of = (name: string): readonly Cost[] => costs.get(name) ?? [];
  const rows = contenders.map(({ title, name, goals: [bytes, cpu] }) => {
    const against = (other: string, field: keyof Cost): number[] =>
      of(name).map((cost, round) => cost[field] / (of(other)[round]?.[field] ?? NaN));
    return [
      title,
      bytes === '–' ? '–' : `bytes ${bytes}, CPU ${cpu}`,
      String(Math.round(median(of(name).map((cost) => cost.bytes)))),
      median(against('few', 'bytes')).toFixed(2),
      spread(against('few', 'cpu')),
      spread(against('raw', 'cpu')),
    ];
  });
  console.log(table(HEAD, rows));
  if (values.save)
    await saveSection({
      title: 'Tools of MCP servers',
      intro:
        '`npm run bench:mcp -- --save`: runs that call a tool of an MCP server five times, one call a turn, on the OpenAI wire. Bytes are those of the average request to the vendor, CPU time is that of a turn with its call; a search is a turn of its own. The median of the rounds, with quartiles in parentheses.',
      head: HEAD,
      keys: 1,
      rows,
      rounds: Number(values.rounds),
    });
}

async function measure({ name, run }: Contender, runs: number, sentTo: (name: string) => Promise<Sent>): Promise<Cost> {
  const before = await sentTo(name);
  const started = process.cpuUsage();
  for (let count = 0; count < runs; count += 1) {
    const text = await run();
    if (text !== FINAL_TEXT) throw new Error(`Unexpected response: ${JSON.stringify(text)}`);
  }
  const { user, system } = process.cpuUsage(started);
  const after = await sentTo(name);
  const requests = after.requests - before.requests;
  return { cpu: (user + system) / requests, bytes: (after.bytes - before.bytes) / requests };
}

interface BolideOptions extends Pick<Contender, 'title' | 'goals'> {
  readonly servers: Served['servers'];
  /** The number of tools that a run has. Default: all. */
  readonly count?: number;
  readonly toolSearch?: false;
}

async function bolide(
  { vendor }: Served,
  name: string,
  { title, goals, servers, count, toolSearch }: BolideOptions,
): Promise<Contender> {
  const tools = new ToolRegistry();
  for (const each of servers) await tools.addSource(mcp({ ...each, allowPrivateHosts: true }));
  const module = createAIModule(
    { providers: [{ vendor: 'openai', apiKey: 'bench', baseURL: `${vendor}/${name}`, allowPrivateHosts: true }] },
    { tools },
  );
  // The one that is called is the last.
  const names = tools.tools.map((tool) => tool.name).slice(count === undefined ? 0 : -count);
  return {
    ...{ title, goals, name },
    async run() {
      const { response } = await module.loop.execute('bench', {
        ...{ model: `openai/${MODELS.openai}`, input: QUESTION, tools: names },
        ...(toolSearch === undefined ? {} : { toolSearch }),
      });
      return response.output_text;
    },
    async close() {
      await module.close();
      await tools.closeSources();
    },
  };
}

/** The official clients of the vendor and of the protocol, with ten tools of a server. */
async function raw({ vendor, servers }: Served, name: string): Promise<Contender> {
  const openai = new OpenAI({ apiKey: 'bench', baseURL: `${vendor}/${name}`, maxRetries: 2 });
  const server = servers.at(-1);
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(server?.url ?? '')));
  const prefix = `${server?.name ?? ''}_`;
  const tools = (await client.listTools()).tools.slice(-FEW).map((tool) => ({
    type: 'function' as const,
    name: prefix + tool.name,
    description: tool.description ?? null,
    parameters: tool.inputSchema,
    strict: false,
  }));
  return {
    ...{ title: '10 tools of a server, raw SDKs', goals: ['–', '–'] as const, name },
    async run() {
      const input: ResponseInputItem[] = [{ role: 'user', content: QUESTION }];
      for (;;) {
        const response = await openai.responses.create({ model: MODELS.openai, input, tools });
        const calls = response.output.filter((item) => item.type === 'function_call');
        if (calls.length === 0) return response.output_text;
        input.push(...(response.output as ResponseInputItem[]));
        for (const call of calls) {
          const result = await client.callTool({
            name: call.name.slice(prefix.length),
            arguments: JSON.parse(call.arguments) as Record<string, unknown>,
          });
          const output = JSON.stringify(result.content);
          input.push({ type: 'function_call_output', call_id: call.call_id, output });
        }
      }
    },
    close: () => client.close(),
  };
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
