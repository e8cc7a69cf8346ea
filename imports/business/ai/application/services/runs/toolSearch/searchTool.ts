/** The tool with which a model finds those of a run's tools whose definitions it was not given. */
import type { FunctionTool } from '../../../../domain/entities/Tool';
import { ToolError } from '../../../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../../domain/interfaces/IToolExecutor';
import { fieldsOf } from '../../../../domain/util/json';
import type { ToolChoice } from '../../../../domain/types/LLMTypes';
import type { ToolSearchPlan } from '../../../../domain/types/ToolSearch';
import { resolveTools } from '../../tools/ToolSet';
import type { OfferedTool, ToolSet } from '../../tools/ToolSet';
import { deferredNames } from './planToolSearch';
import { ToolIndex } from './ToolIndex';

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;
/** Characters of a description in a result: the model is given the whole definition with the next request. */
const EXCERPT = 300;

const NO_TOOLS: IToolExecutor = {
  execute: () => undefined,
  hasToolFunction: () => false,
  getToolDefinition: () => undefined,
};

/** By its name: a tool that is offered again with every run is converted once. */
const offers = new Map<string, OfferedTool>();

/** The tools of a run, with the one that finds those that are deferred. */
export function withToolSearch(tools: ToolSet, plan: ToolSearchPlan, choice: ToolChoice | undefined): ToolSet {
  const names = deferredNames(tools, choice, plan);
  // The program has its own.
  if (tools.get(plan.name) !== undefined) return tools.deferring({ names, searchTool: plan.name });
  const search = offerOf(plan.name);
  const execute = (args: unknown): Promise<unknown> => find(tools, names, fieldsOf(args));
  return tools.with({ ...search, execute }, { names, searchTool: plan.name });
}

function offerOf(name: string): OfferedTool {
  const known = offers.get(name);
  if (known !== undefined) return known;
  const offered = resolveTools([definitionOf(name)], NO_TOOLS).get(name);
  if (offered === undefined) throw new TypeError(`"${name}" is no name of a tool.`);
  offers.set(name, offered);
  return offered;
}

function definitionOf(name: string): FunctionTool {
  return {
    type: 'function',
    name,
    description:
      'There are more tools than are listed here. This one finds them by what they do: give words such as ' +
      '"create calendar event". The tools that it returns can be called from then on. Search before you say that ' +
      'something cannot be done.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words for what the tool is to do, or parts of its name.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LIMIT,
          description: `How many tools are returned at most. Default ${DEFAULT_LIMIT}.`,
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    idempotent: true,
    readOnly: true,
  };
}

/** Runs with the same tools search the same index. */
const indexes = new WeakMap<ToolSet, { readonly names: ReadonlySet<string>; readonly index: Promise<ToolIndex> }>();

function indexOf(tools: ToolSet, names: ReadonlySet<string>): Promise<ToolIndex> {
  const known = indexes.get(tools);
  if (known !== undefined && isSame(known.names, names)) return known.index;
  const index = ToolIndex.create([...names].flatMap((name) => tools.get(name)?.definition ?? []));
  indexes.set(tools, { names, index });
  return index;
}

function isSame(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((name) => right.has(name));
}

/** @throws ToolError */
async function find(
  tools: ToolSet,
  names: ReadonlySet<string>,
  { query, limit = DEFAULT_LIMIT }: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  if (typeof query !== 'string' || typeof limit !== 'number' || query.trim() === '')
    throw new ToolError('invalid-arguments', 'Give words for what the tool is to do as "query".');
  const index = await indexOf(tools, names);
  const found = index.find(query, limit).map((name) => {
    const { description = '' } = tools.get(name)?.definition ?? {};
    return { name, description: description.slice(0, EXCERPT).toWellFormed() };
  });
  return found.length > 0 ? { tools: found } : { tools: [], note: 'No tool has these words. Try others.' };
}
