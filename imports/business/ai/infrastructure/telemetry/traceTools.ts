/** Runs each tool with its span as the active one, and with its ids in the log, so that what it does belongs to it. */
import { context } from '@opentelemetry/api';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import { withLogIds } from './logContext';
import type { RunSpans } from './RunSpans';

export function traceTools(executor: IToolExecutor, runs: RunSpans): IToolExecutor {
  return {
    execute(toolName, args, call) {
      const within = runs.contextOf(toolName, call);
      const execute = (): unknown =>
        withLogIds({ run: call.executionId, call: call.callId }, () => executor.execute(toolName, args, call));
      return within === undefined ? execute() : context.with(within, execute);
    },
    hasToolFunction: (name) => executor.hasToolFunction(name),
    getToolDefinition: (name) => executor.getToolDefinition(name),
  };
}
