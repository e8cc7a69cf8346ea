/** Runs as tasks: a call of `start_run` is one, and the task is the run, so it outlives the process. */
import { fieldsOf, isList } from '../../ai/domain/util/json';
import type { RunDetail } from '../../ai/domain/types/RunViews';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import type { McpCaller } from './McpCaller';
import { taskFields } from './McpTasks';
import type { TaskSource } from './McpTasks';
import { toMcpFailure } from './McpTools';
import type { McpTools } from './McpTools';
import { summaryOf } from './runTools';
import type { RunToolPorts } from './runTools';

export interface RunTasksPorts {
  readonly runs: RunToolPorts['runs'];
  readonly tools: McpTools;
  readonly homeUrl: string;
}

export class RunTasks implements TaskSource {
  private readonly ports: RunTasksPorts;

  constructor(ports: RunTasksPorts) {
    this.ports = ports;
  }

  async start(name: string, args: unknown, caller: McpCaller): Promise<JsonObject | undefined> {
    const tool = name === 'start_run' && this.mayAsk(caller) ? this.ports.tools.runTool(name, caller) : undefined;
    if (tool === undefined) return undefined;
    const { executionId } = await tool.execute(caller, args);
    return this.find(String(executionId), caller);
  }

  /** @throws what reading the run throws */
  async find(taskId: string, caller: McpCaller): Promise<JsonObject | undefined> {
    if (!this.mayAsk(caller)) return undefined;
    return toTask(await this.ports.runs.queries.run(caller.actor, taskId), this.ports.homeUrl);
  }

  /** @throws what cancelling the run throws */
  async cancel(taskId: string, caller: McpCaller): Promise<boolean> {
    if (!this.mayAsk(caller)) return false;
    await this.ports.runs.methods['ai.runs.cancel'](caller.actor, { executionId: taskId });
    return true;
  }

  /** Without the right to read runs, nobody could ask about the task. */
  private mayAsk(caller: McpCaller): boolean {
    return this.ports.tools.runTool('get_run', caller) !== undefined;
  }
}

function toTask(detail: RunDetail, homeUrl: string): JsonObject {
  const summary = summaryOf(detail, homeUrl);
  const { _id, state, createdAt, endedAt } = detail.run;
  const task = taskFields(_id, { createdAt, changedAt: endedAt ?? Date.now() });
  switch (state) {
    case 'completed': {
      const { answer = '' } = summary;
      const content = [{ type: 'text', text: answer }];
      return { ...task, status: 'completed', result: { content, structuredContent: summary } };
    }
    // What the model or a tool did is no error of the protocol.
    case 'failed': {
      const { error } = summary;
      const message = typeof error === 'string' ? error : 'The run failed.';
      return { ...task, status: 'completed', result: { ...toMcpFailure(message) } };
    }
    case 'cancelled':
      return { ...task, status: 'cancelled' };
    default: {
      const { waitingCalls } = summary;
      const waiting = isList(waitingCalls) ? waitingCalls[0] : undefined;
      const decideAt: unknown = fieldsOf(waiting)['decideAt'];
      const note = typeof decideAt === 'string' ? { statusMessage: `Waits for a decision at ${decideAt}` } : {};
      return { ...task, status: 'working', ...note };
    }
  }
}
