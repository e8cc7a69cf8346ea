/** Runs each tool with its span as the active one, so that what the tool does belongs to it. */
import { context } from '@opentelemetry/api';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { RunSpans } from './RunSpans';

export function traceTools(executor: IToolExecutor, runs: RunSpans): IToolExecutor {
  return {
    execute(toolName, args, call) {
      const within = runs.contextOf(toolName, call);
      if (within === undefined) return executor.execute(toolName, args, call);
      return context.with(within, () => executor.execute(toolName, args, call));
    },
    hasToolFunction: (name) => executor.hasToolFunction(name),
    getToolDefinition: (name) => executor.getToolDefinition(name),
  };
}
