/** The searches of a history among a run's tools, and what is written in place of their results. */
import { toolNamesIn } from '../../../domain/entities/toolFindings';
import type { FunctionTool } from '../../../domain/entities/Tool';
import type { FunctionCallItem, FunctionCallOutputItem, InputItem } from '../../../domain/types/ResponsesAPITypes';
import type { FindableTools } from '../../../domain/types/ToolSearch';

/** The calls of a history that search, and their results. */
export class SearchCalls {
  private readonly searchTool: string;
  private readonly ids = new Set<string>();

  constructor({ searchTool }: Pick<FindableTools, 'searchTool'>) {
    this.searchTool = searchTool;
  }

  /** @returns whether the call searches */
  note({ name, call_id }: FunctionCallItem): boolean {
    if (name !== this.searchTool) return false;
    this.ids.add(call_id);
    return true;
  }

  /** The vendor may store the call. */
  isResult({ call_id, name, deferred }: FunctionCallOutputItem): boolean {
    return deferred !== true && (this.ids.has(call_id) || name === this.searchTool);
  }
}

export function foundIn(
  output: FunctionCallOutputItem,
  names: ReadonlyMap<string, FunctionTool>,
): readonly FunctionTool[] {
  return [...new Set(toolNamesIn(output))].flatMap((name) => names.get(name) ?? []);
}

interface Written {
  readonly by: object;
  readonly tools: readonly FunctionTool[];
  readonly item: InputItem;
}

/** Items are immutable and sent again with every turn, so each is written once: converters find theirs by identity. */
const written = new WeakMap<object, Written>();

export function writtenOnce(
  source: object,
  by: object,
  tools: readonly FunctionTool[],
  write: () => InputItem,
): InputItem {
  const known = written.get(source);
  if (known?.by === by && known.tools.length === tools.length && known.tools.every((tool, at) => tool === tools[at]))
    return known.item;
  const item = write();
  written.set(source, { by, tools, item });
  return item;
}
