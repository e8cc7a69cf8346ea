/** Tool handling for a vendor's native chat session, with the same `ToolProcessor` as the agentic loop. */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { ToolCall } from '../../domain/entities/Tool';
import { LLMAbortedError, LLMInvalidRequestError, MaxIterationsError } from '../../domain/errors/LLMErrors';
import { isList } from '../../domain/util/json';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { ToolAdapter } from '../../domain/interfaces/ToolAdapter';
import type { LooseTool } from '../../domain/types/LLMTypes';
import { ToolProcessor } from './ToolProcessor';
import type { ToolProcessorOptions } from './ToolProcessor';
import { toToolResult } from '../../domain/run/toolOutputs';
import { resolveTools } from './tools/ToolSet';
import { ToolConcurrency } from './tools/ToolConcurrency';
import { requireOptions } from './shared/requireOptions';
import { watching } from '../../domain/util/watching';
import { consoleLogger } from '../../../../log/consoleLogger';

export interface ToolExecutionLoopOptions extends ToolProcessorOptions {
  /** Responses of the model, including the initial one; default 10. */
  readonly maxIterations?: number;
  /** Default 8. */
  readonly maxParallelTools?: number;
}

export interface SessionRunOptions<Response, Message> {
  readonly initialResponse: Response;
  readonly adapter: ToolAdapter<Response, Message>;
  /** Names of the executor's tools, or definitions. Default: all tools of an executor that can list them. */
  readonly tools?: readonly (string | LooseTool)[];
  /** Whose calls they are, for the tools. Default: `local`. */
  readonly userId?: string;
  readonly signal?: AbortSignal;
  /** Receives a call each time it changes. */
  readonly onToolCall?: (call: ToolCall) => void;
}

export interface SessionResult<Response> {
  /** The first response without tool calls. */
  readonly response: Response;
  readonly iterations: number;
  readonly toolCalls: readonly ToolCall[];
}

export class ToolExecutionLoop {
  private readonly toolExecutor: IToolExecutor;
  private readonly processor: ToolProcessor;
  private readonly maxIterations: number;
  private readonly maxParallelTools: number;

  constructor(options: ToolExecutionLoopOptions) {
    requireOptions(options, ['toolExecutor'], 'new ToolExecutionLoop({ toolExecutor })');
    this.toolExecutor = options.toolExecutor;
    this.processor = new ToolProcessor(options);
    this.maxIterations = options.maxIterations ?? 10;
    this.maxParallelTools = options.maxParallelTools ?? 8;
  }

  /**
   * Runs the tool calls of a session until a response has none. Every call is awaited, as if it were blocking. Tools
   * that need approval, and external tools, are refused, because a native session cannot wait for anyone.
   * @throws MaxIterationsError, LLMAbortedError, LLMInvalidRequestError for an unknown tool name, and whatever the
   *   adapter's SDK throws
   */
  async run<Response, Message>(session: SessionRunOptions<Response, Message>): Promise<SessionResult<Response>> {
    const offered: unknown = session.tools ?? this.toolExecutor.listToolNames?.();
    // Boundary: callers without types pass anything.
    if (!isList(offered))
      throw new LLMInvalidRequestError(
        '"tools" must be a list of names of tools, or of definitions. It may be left out if the executor has ' +
          '"listToolNames", as a ToolRegistry does.',
        { path: 'tools' },
      );
    const { adapter, userId = 'local', onToolCall, signal = new AbortController().signal } = session;
    // Each open call adds a listener; Node would warn of a leak from the eleventh on.
    setMaxListeners(0, signal);
    const tools = resolveTools(offered as readonly (string | LooseTool)[], this.toolExecutor);
    const concurrency = new ToolConcurrency(this.maxParallelTools);
    const context = { userId, executionId: randomUUID(), signal, concurrency };
    const report = onToolCall && watching('onToolCall', onToolCall, consoleLogger);
    const toolCalls: ToolCall[] = [];
    let response = session.initialResponse;
    for (let iterations = 1; ; iterations += 1) {
      const calls = adapter.getToolCalls(response);
      if (calls.length === 0) return { response, iterations, toolCalls };
      if (iterations >= this.maxIterations)
        throw new MaxIterationsError(`The session reached its limit of ${this.maxIterations} responses.`);
      adapter.recordAssistantMessage(response);
      const settled = await Promise.all(
        calls.map((call, index) =>
          this.processor.settleAlone({ ...call, id: `${call.call_id}:${iterations}.${index}` }, context, tools, report),
        ),
      );
      toolCalls.push(...settled);
      if (signal.aborted) throw new LLMAbortedError('The session was aborted.', { cause: signal.reason });
      const messages = settled.map((call) =>
        adapter.buildToolResponseMessage({ ...toToolResult(call), call_id: call.call_id }, call.name),
      );
      response = await adapter.sendToolResponses(messages, signal);
    }
  }
}
