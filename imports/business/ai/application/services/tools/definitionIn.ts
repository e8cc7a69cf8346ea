import { withKind } from '../../../domain/entities/Tool';
import type { FunctionTool } from '../../../domain/entities/Tool';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';

/** Executors are written by others, and some return `null` for an unknown tool. */
export function definitionIn(
  executor: Pick<IToolExecutor, 'getToolDefinition'>,
  name: string,
): FunctionTool | undefined {
  const definition = executor.getToolDefinition(name) ?? undefined;
  return definition === undefined ? undefined : withKind(definition);
}
