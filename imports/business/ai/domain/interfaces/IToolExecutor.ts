/** Provides tool definitions and runs the tools. */
import type { Handoff } from '../types/Handoff';
import type { FunctionTool, InputRequest } from '../entities/Tool';
import type { HostedMcpTool } from '../types/HostedMcp';
import type { JsonObject } from '../types/VendorTypes';

/** What a person has answered. `values` match the request's schema, whose defaults have been filled in. */
export type InputAnswer =
  | { readonly action: 'accept'; readonly values: JsonObject }
  | { readonly action: 'decline'; readonly reason: string };

export interface ToolCallContext {
  /**
   * Fires when the call times out or its run ends. The reason is a `ToolError`: `interrupted` if the process ends and
   * another one goes on with the call.
   */
  readonly signal: AbortSignal;
  readonly userId: string;
  readonly callId: string;
  readonly executionId: string;
  /** The same for every attempt at this call, including attempts after a crash. */
  readonly idempotencyKey: string;
  /** Reports progress. `fraction` from 0 to 1; `note` is cut to 500 characters. */
  readonly progress: (fraction: number, note?: string) => void;
  /**
   * Waits for a person, for up to 24 hours; the call's timeout pauses. The answer is `decline` if nobody answers, or
   * nobody can, as outside of runs. One request at a time. Absent: nobody can answer.
   */
  readonly requestInput?: (request: Omit<InputRequest, 'id'>) => Promise<InputAnswer>;
  /**
   * What an earlier attempt, which ended with its process, has saved last: the tool goes on from there, and does not
   * begin again. Absent: this is the first attempt, or it is to run again.
   */
  readonly checkpoint?: string;
  /**
   * Records what the tool can go on from if its process dies, or that there is nothing any more. Resolves when it is
   * stored; at most 64 KiB. Absent: nothing is stored.
   * @throws ToolError `threw` for a longer one
   */
  readonly saveCheckpoint?: (checkpoint: string | undefined) => Promise<void>;
  /**
   * The tool takes long: the call becomes a non-blocking one, and times out that many milliseconds after its start.
   * Absent: whoever has called waits in any case.
   */
  readonly detach?: (timeoutMs: number) => void;
}

export interface IToolExecutor {
  /**
   * Runs the tool with validated arguments. It may return a value or a promise, which the caller serializes;
   * whatever it throws fails the call.
   */
  execute(toolName: string, args: unknown, context: ToolCallContext): unknown;
  hasToolFunction(toolName: string): boolean;
  getToolDefinition(toolName: string): FunctionTool | undefined;
  /** The names of all tools. Absent: whoever needs tools names them. */
  listToolNames?(): readonly string[];
  /** The tool as a vendor may call it itself. Undefined, also if absent: Bolide calls it. */
  hostedMcpTool?(toolName: string): HostedMcpTool | undefined;
  /** The agent that a run goes on with after a call of the tool. Undefined, also if absent: the one that called. */
  handoff?(toolName: string): Handoff | undefined;
  /** Whether tools may appear later, so that runs wait for those that are missing. Default: false. */
  readonly gainsTools?: boolean;
}
