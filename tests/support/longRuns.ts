/** A run of many turns on the simulator, in a window that its transcript outgrows. */
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { RuleModel } from '../../imports/simulator/model/RuleModel';
import type { Conversation, Turn } from '../../imports/simulator/model/Conversation';
import type { ModelTurn } from '../../imports/simulator/model/ModelTurn';
import type { Simulator } from '../../imports/simulator/Simulator';
import { simulatedProvider } from './simulatedProviders';
import type { SimulatedVendor } from './simulatedProviders';
import type { AgenticLoopOptions } from '../../imports/business/ai/application/services/AgenticLoop';

/** In the user's message, in the first result, and in the second. */
export const FACTS = ['FACT-USER-4711', 'FACT-FIRST-0815', 'FACT-SECOND-2342'] as const;
const FILLER = 'The shelf holds maps, letters and a ledger of ships. '.repeat(12);

export const LONG_INPUT = `Remember ${FACTS[0]}. Visit every shelf, then say what you were to remember.`;

export function longTools(visits: number[] = []): ToolRegistry {
  return new ToolRegistry().register({
    name: 'visit',
    description: 'Visits a shelf.',
    parameters: { type: 'object', properties: { shelf: { type: 'integer' } }, required: ['shelf'] },
    execute: ({ shelf }: { readonly shelf: number }) => {
      visits.push(shelf);
      return `Shelf ${shelf}. ${FACTS[shelf] ?? ''} ${FILLER}`;
    },
  });
}

/**
 * Visits as many shelves, one in each turn, and then says what it was to remember.
 * @param query what it looks for in the history that it no longer sees
 */
export function longModel(turns: number, query: string = FACTS[1]): RuleModel {
  return {
    respond(conversation: Conversation): ModelTurn {
      const { turns: history, tools, instructions } = conversation;
      if (instructions.includes('You keep the record of a conversation')) return text(summaryOf(history));
      const last = lastShelf(history);
      if (last < turns) return call('visit', { shelf: last + 1 });
      const offersRecall = tools.some(({ name }) => name === 'recall');
      const hasRecalled = history.some((turn) => turn.type === 'call' && turn.name === 'recall');
      if (offersRecall && !hasRecalled) return call('recall', { query });
      const seen = JSON.stringify(history);
      return text(FACTS.filter((fact) => seen.includes(fact)).join(' '));
    },
    summarize: ({ turns: history }) => summaryOf(history),
  };
}

/** A summary that a model might write: where it is, and what is remarkable. */
function summaryOf(history: readonly Turn[]): string {
  const seen = JSON.stringify(history);
  const shelves = [...seen.matchAll(/Shelf (\d+)\b/g)].map(([, shelf]) => Number(shelf));
  const second = seen.includes(FACTS[2]) ? `Shelf 2 had ${FACTS[2]}.` : '';
  return `Shelf ${Math.max(0, ...shelves)} was the last one. ${second}`;
}

function lastShelf(history: readonly Turn[]): number {
  const last = history.findLast((turn) => turn.type === 'call' && turn.name === 'visit');
  // Not the model's own calls of the tool that recalls.
  if (last?.type === 'call') return (JSON.parse(last.arguments) as { readonly shelf: number }).shelf;
  const found = /Shelf (\d+) was the last one/.exec(JSON.stringify(history));
  return Number(found?.[1] ?? 0);
}

function call(name: string, args: object): ModelTurn {
  return { calls: [{ name, arguments: JSON.stringify(args) }], ending: 'complete' };
}

function text(content: string): ModelTurn {
  return { calls: [], text: content, ending: 'complete' };
}

export function longLoop(
  simulator: Simulator,
  vendor: SimulatedVendor,
  options: Partial<AgenticLoopOptions> = {},
): AgenticLoop {
  return new AgenticLoop({
    provider: simulatedProvider(simulator, vendor),
    toolExecutor: longTools(),
    maxIterations: 10_000,
    runTimeout: 3_600_000,
    ...options,
  });
}
