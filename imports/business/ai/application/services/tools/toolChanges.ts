/**
 * Notices that a run goes on with another definition of a tool than it began with: the model may have chosen arguments,
 * or a person approved them, under the old one. What happens then, the tool's new definition says (`onChange`).
 */
import { createHash } from 'node:crypto';
import { isExternalTool } from '../../../domain/entities/Tool';
import type { FunctionTool, Tool } from '../../../domain/entities/Tool';
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { RunPlan, RunProgress, RunRecord, ToolHash } from '../../../domain/types/RunRecords';
import { canonicalJson } from '../../../domain/util/canonicalJson';
import type { ToolSet } from './ToolSet';

export interface ToolChange extends ToolHash {
  readonly onChange: NonNullable<FunctionTool['onChange']>;
}

const hashes = new WeakMap<FunctionTool, string>();

/** Hashes what a model sees of a tool, and whether others supply its results. @returns hexadecimal */
export function toolHash(tool: FunctionTool): string {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const { name, description = '', parameters } = tool;
  const text = canonicalJson({ name, description, parameters, external: isExternalTool(tool) });
  const hash = createHash('sha256').update(text).digest('hex');
  hashes.set(tool, hash);
  return hash;
}

/** The definitions of the server's tools, which a plan names only. */
export function toolHashes(tools: readonly (string | Tool)[], resolved: ToolSet): Pick<RunPlan, 'toolHashes'> {
  const named = tools.flatMap((tool) => {
    const definition = typeof tool === 'string' ? resolved.get(tool)?.definition : undefined;
    return definition === undefined ? [] : [{ name: definition.name, hash: toolHash(definition) }];
  });
  // A list that has grown item by item has room for more.
  return named.length === 0 ? {} : { toolHashes: named.slice() };
}

/** @param tools those of the run's plan, as this process has them */
export function toolChanges(
  { plan, toolHashes: later = [] }: Pick<RunRecord, 'plan' | 'toolHashes'>,
  tools: ToolSet,
): readonly ToolChange[] {
  const last = new Map([...(plan.toolHashes ?? []), ...later].map(({ name, hash }) => [name, hash]));
  return [...last].flatMap(([name, before]) => {
    const definition = tools.get(name)?.definition;
    const hash = definition === undefined ? before : toolHash(definition);
    return hash === before ? [] : [{ name, hash, onChange: definition?.onChange ?? 'continue' }];
  });
}

/** What a queued run is to begin with does not matter to it yet. */
export function hasBegun({ state }: Pick<RunRecord, 'state'>): boolean {
  return state !== 'queued';
}

/** What is recorded of the changes. */
export function toolProgress(
  run: Pick<RunRecord, 'state' | 'changedTools' | 'toolHashes'>,
  changes: readonly ToolChange[],
): Pick<RunProgress, 'changedTools' | 'toolHashes'> {
  if (changes.length === 0) return {};
  const names = changes.map(({ name }) => name);
  const unchanged = (run.toolHashes ?? []).filter(({ name }) => !names.includes(name));
  return {
    toolHashes: [...unchanged, ...changes.map(({ name, hash }) => ({ name, hash }))],
    ...(hasBegun(run) ? { changedTools: [...new Set([...(run.changedTools ?? []), ...names])] } : {}),
  };
}

/** @returns undefined if none of the changed tools demands it */
export function endOfChanged(changes: readonly ToolChange[]): LLMError | undefined {
  const names = changes.flatMap(({ name, onChange }) => (onChange === 'end' ? [name] : []));
  if (names.length === 0) return undefined;
  return new LLMInvalidRequestError(
    `The definition of a tool has changed since the run began, and the tool ends such runs: ${names.join(', ')}. Start the run again.`,
    { path: 'tools' },
  );
}

/** Why a person must decide whether the run goes on. @returns undefined if none of the changed tools demands it */
export function questionOfChanged(changes: readonly ToolChange[]): string | undefined {
  const names = changes.flatMap(({ name, onChange }) => (onChange === 'ask' ? [name] : []));
  if (names.length === 0 || endOfChanged(changes) !== undefined) return undefined;
  return `The definition of a tool has changed since the run began: ${names.join(', ')}. If the run is resumed, it goes on with the new one.`;
}
