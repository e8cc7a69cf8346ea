/**
 * Tool handling for a vendor's own session: the same engine as the agentic loop, on whatever conversation the
 * caller holds.
 */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { applyToolEvent, createToolCall } from '../../domain/entities/Tool';
import type { ToolCall } from '../../domain/entities/Tool';
import { LLMAbortedError, MaxIterationsError, ToolError } from '../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { NativeToolCall, ToolAdapter } from '../../domain/interfaces/ToolAdapter';
import type { LooseTool } from '../../domain/types/LLMTypes';
import { toToolResult } from './toolResults';
import { ToolProcessor } from './ToolProcessor';
import type { ToolProcessorOptions } from './ToolProcessor';
import { resolveTools } from './tools/ToolSet';
import type { ToolSet } from './tools/ToolSet';
import { ToolConcurrency } from './tools/ToolConcurrency';

export interface ToolExecutionLoopOptions extends ToolProcessorOptions {
  /** Answers of the model, the initial one included; default 10. */
  readonly maxIterations?: number;
  /** Default 8. */
  readonly maxParallelTools?: number;
}

export interface SessionRun<Response, Message> {
  readonly initialResponse: Response;
  readonly adapter: ToolAdapter<Response, Message>;
  /** Names of the executor's tools, or definitions. */
  readonly tools: readonly (string | LooseTool)[];
  readonly userId: string;
  readonly signal?: AbortSignal;
  readonly onToolCall?: (call: ToolCall) => void;
}

export interface SessionResult<Response> {
  /** The first answer without calls. */
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
    this.toolExecutor = options.toolExecutor;
    this.processor = new ToolProcessor(options);
    this.maxIterations = options.maxIterations ?? 10;
    this.maxParallelTools = options.maxParallelTools ?? 8;
  }

  /**
   * Answers the calls of a session until the model makes none. A native session has no later turn of its own, so
   * every call is waited for, and there is nobody to ask: tools that need approval are refused, external ones too.
   * @throws MaxIterationsError, LLMAbortedError, and whatever the adapter's own SDK throws
   */
  async run<Response, Message>(session: SessionRun<Response, Message>): Promise<SessionResult<Response>> {
    const { adapter, signal = new AbortController().signal } = session;
    // Each open call listens; Node would take more than ten for a leak.
    setMaxListeners(0, signal);
    const work = {
      tools: resolveTools(session.tools, this.toolExecutor),
      executionId: randomUUID(),
      slots: new ToolConcurrency(this.maxParallelTools),
    };
    const toolCalls: ToolCall[] = [];
    let response = session.initialResponse;
    for (let iterations = 1; ; iterations += 1) {
      const calls = adapter.getToolCalls(response);
      if (calls.length === 0) return { response, iterations, toolCalls };
      if (iterations >= this.maxIterations)
        throw new MaxIterationsError(`The session reached its limit of ${this.maxIterations} answers.`);
      adapter.recordAssistantMessage(response);
      const settled = await Promise.all(
        calls.map((call, index) => this.settle(call, `${call.call_id}:${iterations}.${index}`, session, signal, work)),
      );
      toolCalls.push(...settled);
      if (signal.aborted) throw new LLMAbortedError('The session was aborted.', { cause: signal.reason });
      const messages = settled.map((call) =>
        adapter.buildToolResponseMessage({ ...toToolResult(call), call_id: call.call_id }, call.name),
      );
      response = await adapter.sendToolResponses(messages, signal);
    }
  }

  private async settle<Response, Message>(
    { call_id, name, arguments: text }: NativeToolCall,
    id: string,
    session: SessionRun<Response, Message>,
    signal: AbortSignal,
    work: { readonly tools: ToolSet; readonly executionId: string; readonly slots: ToolConcurrency },
  ): Promise<ToolCall> {
    let call = createToolCall({ id, call_id, name, arguments: text, blocking: true, createdAt: Date.now() });
    const { settled } = this.processor.process(
      {
        call,
        userId: session.userId,
        executionId: work.executionId,
        signal,
        slots: work.slots,
        report: (event) => {
          call = applyToolEvent(call, event);
          session.onToolCall?.(call);
        },
        awaitApproval: () => Promise.resolve({ approved: false, reason: 'nobody can approve it in this session' }),
        awaitExternal: () =>
          Promise.reject(
            new ToolError('rejected', 'Its result is submitted from outside, which this session cannot wait for.'),
          ),
      },
      work.tools,
    );
    await settled;
    return call;
  }
}
