/** The tools of the simulated runs: each kind that the machine, or whoever starts its calls, treats differently. */
import type { FunctionTool } from '../../../imports/business/ai/domain/entities/Tool';

const DEFINITIONS = {
  note: { idempotent: true },
  charge: {},
  pay: { needsApproval: true },
  webhook: { kind: 'external' },
  child: { kind: 'run' },
  job: { blocking: false, idempotent: true },
  mail: { blocking: false, delivery: 'when_idle' },
  log: { blocking: false, idempotent: true, delivery: 'silent' },
  order: { blocking: false, needsApproval: true },
  hook: { blocking: false, kind: 'external' },
  branch: { blocking: false, kind: 'run' },
} as const satisfies Readonly<Record<string, Partial<FunctionTool>>>;

export type ToolName = keyof typeof DEFINITIONS;

export const TOOL_NAMES = Object.keys(DEFINITIONS) as readonly ToolName[];

export const TOOLS: ReadonlyMap<string, FunctionTool> = new Map(
  TOOL_NAMES.map((name) => [name, { type: 'function', name, ...DEFINITIONS[name] }]),
);

/** @throws RangeError for an unknown tool */
export function toolOf(name: string): FunctionTool {
  const tool = TOOLS.get(name);
  if (tool === undefined) throw new RangeError(`There is no tool "${name}".`);
  return tool;
}
