/**
 * A conversation of many turns with the tools of ten servers, of which the model finds one after another, with recalled
 * memories, and with runs that another process takes over; and what the vendor read of its requests from its cache.
 */
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { Item, Usage } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { createMemory } from '../../imports/library/createMemory';
import type { Conversation, Turn } from '../../imports/simulator/model/Conversation';
import type { ModelCall, ModelTurn } from '../../imports/simulator/model/ModelTurn';
import type { RuleModel } from '../../imports/simulator/model/RuleModel';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { deferred } from './deferred';
import { manyTools } from './manyTools';
import { simulatedProvider } from './simulatedProviders';
import type { SimulatedVendor } from './simulatedProviders';

export interface TurnPlan {
  readonly runs: number;
  readonly turnsPerRun: number;
  readonly discoveries: number;
}

export interface CachedTurn {
  /** Tokens of the request before it. */
  readonly earlier: number;
  /** Tokens that were read from the cache. */
  readonly cached: number;
}

export interface CachedTurns {
  readonly turns: readonly CachedTurn[];
  /** Names of the tools that ran, without the search. */
  readonly tools: ReadonlySet<string>;
  readonly takeovers: number;
  /** The memories that the last input shows. */
  readonly memories: number;
  readonly refusals: readonly unknown[];
}

/** Long enough for every vendor's cache, and for steps of 128 tokens to make no difference. */
const HANDBOOK = 'Do what was asked, with one call at a time, and keep to the handbook of the house. '.repeat(200);
const SUBJECTS = ['tea', 'trains', 'chess', 'opera', 'sailing', 'pottery', 'bees', 'maps', 'violins', 'comets'];

/** In turn: one of each server, and so on. */
function wantedTool(discovery: number): { readonly name: string; readonly query: string } {
  const servers = ['mail', 'files', 'issues', 'calendar', 'crm', 'wiki', 'chat', 'deploy', 'metrics'];
  const verbs = ['create', 'delete', 'list', 'update', 'export'];
  const server = servers[discovery % servers.length]!;
  const verb = verbs[Math.floor(discovery / servers.length) % verbs.length]!;
  return { name: `${server}_${verb}_record`, query: `${verb} record of the ${server} server` };
}

/** Searches at equal distances, calls what it has found in between, and answers after the turns of a run. */
function modelOf({ runs, turnsPerRun, discoveries }: TurnPlan): RuleModel {
  const discoveryAt = (call: number): number => Math.floor((call * discoveries) / (runs * turnsPerRun));
  return {
    respond({ turns, tools }: Conversation): ModelTurn {
      const isCall = (turn: Turn): boolean => turn.type === 'call';
      const calls = turns.filter(isCall).length;
      const sinceQuestion = turns.slice(turns.findLastIndex(({ type }) => type === 'user')).filter(isCall).length;
      if (sinceQuestion >= turnsPerRun) return { calls: [], text: `Done after ${calls} calls.`, ending: 'complete' };
      const { name, query } = wantedTool(discoveryAt(calls));
      const offers = (tool: string): boolean => tools.some((each) => each.name === tool);
      if (calls === 0 || discoveryAt(calls) > discoveryAt(calls - 1))
        return callOf({ name: 'search_tools', arguments: JSON.stringify({ query, limit: 1 }) });
      const args = JSON.stringify({ workspace: `w${calls}` });
      if (offers(name)) return callOf({ name, arguments: args });
      if (offers('call_tool'))
        return callOf({ name: 'call_tool', arguments: JSON.stringify({ name, arguments: args }) });
      throw new Error(`The tool "${name}" is not offered.`);
    },
  };
}

function callOf(call: ModelCall): ModelTurn {
  return { calls: [call], ending: 'complete' };
}

/** Every third run is taken over in the middle. */
function isTakenOver(run: number): boolean {
  return run % 3 === 1;
}

export async function cachedTurns(vendor: SimulatedVendor, plan: TurnPlan): Promise<CachedTurns> {
  const simulator = await startSimulator({ model: modelOf(plan), cachesPrompts: true, historyLimit: 10_000 });
  const memory = await createMemory();
  const runStore = new MemoryRunStore();
  const usages: Usage[] = [];
  const tools = new Set<string>();
  try {
    for (const subject of SUBJECTS)
      await memory.save('ann', { text: `Ann likes ${subject}, above all in the morning.` });
    /** A process, which stops at its call of that number. */
    const processOf = async (stopsAt = Infinity) => {
      const stopped = deferred();
      let calls = 0;
      const toolExecutor = await manyTools({ fields: { idempotent: true } });
      const loop = new AgenticLoop({
        provider: counting(simulatedProvider(simulator, vendor), usages),
        toolExecutor,
        runStore,
        memory,
        maxIterations: 10_000,
        runTimeout: 3_600_000,
      });
      loop.on('tool:executing', ({ name }) => {
        if (name !== 'search_tools') tools.add(name);
        calls += 1;
        if (calls === stopsAt) stopped.resolve();
      });
      return { loop, toolExecutor, stopped };
    };
    let items: readonly Item[] = [];
    let takeovers = 0;
    for (let run = 0; run < plan.runs; run += 1) {
      const first = await processOf(isTakenOver(run) ? Math.floor(plan.turnsPerRun / 2) : Infinity);
      const executionId = `run-${run}`;
      const question = `What about ${SUBJECTS[run % SUBJECTS.length]}?`;
      const started = first.loop.execute('ann', {
        model: vendor.model,
        instructions: HANDBOOK,
        input: [...items, { type: 'message', role: 'user', content: [{ type: 'input_text', text: question }] }],
        tools: first.toolExecutor.tools.map(({ name }) => name),
        executionId,
        recall: { limit: 2 },
      });
      let result;
      if (isTakenOver(run)) {
        started.catch(() => undefined);
        await first.stopped.promise;
        await first.loop.close();
        takeovers += 1;
        result = await (await processOf()).loop.resume(executionId);
      } else result = await started;
      items = result.transcript;
    }
    return {
      turns: usages.slice(1).map(({ input_tokens_details: { cached_tokens: cached } }, index) => ({
        earlier: usages[index]!.input_tokens,
        cached,
      })),
      tools,
      takeovers,
      memories: items.filter((item) => JSON.stringify(item).includes('<recalled_memories>')).length,
      refusals: simulator.requests.filter(({ status }) => status !== 200),
    };
  } finally {
    await simulator.close();
  }
}

function counting(provider: ILLMProvider, usages: Usage[]): ILLMProvider {
  return new Proxy(provider, {
    get: (target, name, receiver) => {
      if (name !== 'generate') return Reflect.get(target, name, receiver) as unknown;
      return async (...args: Parameters<ILLMProvider['generate']>) => {
        const response = await target.generate(...args);
        usages.push(response.usage);
        return response;
      };
    },
  });
}
