/**
 * Runs the server's tools for somebody outside, without a run and without a model: the same checks of rights and
 * arguments, the same limits of time and size, as for the calls of a run. Each tool that runs is in the audit trail,
 * since no run records it.
 */
import { randomUUID } from 'node:crypto';
import { applyToolEvent, createToolCall, isExternalTool } from '../../domain/entities/Tool';
import type { FunctionTool, ToolCall } from '../../domain/entities/Tool';
import { ToolError } from '../../domain/errors/LLMErrors';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { Logger } from '../../domain/interfaces/Logger';
import type { Actor } from '../../domain/types/Actor';
import type { JsonObject } from '../../domain/types/VendorTypes';
import type { AuditRecorder } from '../../domain/interfaces/AuditRecorder';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { ToolProcessor } from './ToolProcessor';
import { definitionIn } from './tools/definitionIn';
import { ToolConcurrency } from './tools/ToolConcurrency';
import { resolveTools } from './tools/ToolSet';
import type { Approval } from './tools/decisions';

export interface ToolCallerPorts {
  readonly tools: IToolExecutor & { readonly tools: readonly FunctionTool[] };
  /** Default: everyone may call every tool. */
  readonly access?: Pick<AccessPolicy, 'refusalOfTool'> | undefined;
  /** Default: calls are not recorded. */
  readonly audit?: Pick<AuditRecorder, 'carryOut' | 'record'> | undefined;
  readonly logger: Logger;
}

/** A tool that can be called by itself. */
export interface CallableTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** A repeated call has no further effect. */
  readonly idempotent: boolean;
  /** A call changes nothing. */
  readonly readOnly: boolean;
}

export interface DirectCall {
  /** The same for repetitions of a call that was interrupted for its approval. Default: a new one. */
  readonly callId?: string;
  readonly name: string;
  readonly arguments: unknown;
  /** Ends the call. */
  readonly signal: AbortSignal;
  /** @param fraction from 0 to 1 */
  readonly onProgress?: (fraction: number, note: string | undefined) => void;
  /** Called for a tool that needs approval, once its arguments are known to be valid. */
  readonly approve: () => Approval | Promise<Approval>;
}

/** Tool calls of one user at a time; others wait. */
const MAX_PARALLEL = 8;

export class ToolCaller {
  private readonly ports: ToolCallerPorts;
  /** Users with calls in progress, by id. */
  private readonly open = new Map<string, { readonly concurrency: ToolConcurrency; calls: number }>();

  constructor(ports: ToolCallerPorts) {
    this.ports = ports;
  }

  /**
   * The tools that the actor may call now, by name. Those whose result another service supplies are left out, since
   * only a run can wait for it, and those with an invalid schema.
   */
  async list(actor: Actor, isOffered: (name: string) => boolean): Promise<readonly CallableTool[]> {
    const { tools, access } = this.ports;
    const offered = tools.tools.filter((tool) => !isExternalTool(tool) && isOffered(tool.name));
    const refusals = await Promise.all(offered.map(async ({ name }) => access?.refusalOfTool?.(actor, name)));
    return offered
      .filter((_, index) => refusals[index] === undefined)
      .flatMap((tool) => this.describe(tool) ?? [])
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Whether the server has the tool, and it can be called without a run. */
  has(name: string): boolean {
    const tool = definitionIn(this.ports.tools, name);
    return tool !== undefined && !isExternalTool(tool);
  }

  /** Whether the tool is a non-blocking one whose calls nobody has to approve. */
  runsInBackground(name: string): boolean {
    const { blocking, needsApproval = false } = definitionIn(this.ports.tools, name) ?? {};
    return blocking === false && needsApproval === false;
  }

  /**
   * @returns the settled call
   * @throws LLMInvalidRequestError for an unknown tool, and one with an invalid schema
   */
  async call(actor: Actor, { callId = randomUUID(), name, signal, ...given }: DirectCall): Promise<ToolCall> {
    const { tools, access } = this.ports;
    const toolSet = resolveTools([name], tools);
    const { userId, tokenId } = actor;
    const executionId = `call_${callId}`;
    const slot = this.slotOf(userId);
    let call = createToolCall({
      ...{ id: callId, call_id: callId, name },
      arguments: JSON.stringify(given.arguments ?? {}),
      blocking: true,
      createdAt: Date.now(),
    });
    slot.calls += 1;
    try {
      const processor = new ToolProcessor({ toolExecutor: this.audited(actor), access });
      await processor.process(
        {
          ...{ userId, executionId, signal, call },
          origin: omitUndefined({ source: 'manager', tokenId }),
          concurrency: slot.concurrency,
          report: (event) => {
            call = applyToolEvent(call, event);
            if (event.type === 'tool:progress') given.onProgress?.(event.fraction, event.note);
          },
          awaitApproval: () => Promise.resolve(given.approve()),
          awaitExternal: () => Promise.reject(new ToolError('rejected', 'Only a run can wait for its result.')),
        },
        toolSet,
      );
    } finally {
      slot.calls -= 1;
      if (slot.calls === 0) this.open.delete(userId);
    }
    return call;
  }

  /** Records that the actor approved or rejected the call. @throws LLMOverloadedError if it cannot be recorded */
  async recordDecision(actor: Actor, { callId, name, isApproved }: DirectDecision): Promise<void> {
    await this.ports.audit?.record(
      actor,
      {
        action: isApproved ? 'call.approve' : 'call.reject',
        subject: { kind: 'tool', id: name, ownerId: actor.userId },
        details: { callId },
      },
      { isSafe: !isApproved },
    );
  }

  private describe(tool: FunctionTool): CallableTool | undefined {
    const { name, description = '', idempotent = false, readOnly = false } = tool;
    try {
      const { definition } = resolveTools([name], this.ports.tools).get(name) ?? {};
      // What models are offered is an object as well, and the protocol demands that it be stated.
      const parameters = { ...definition?.parameters, type: 'object' };
      return { name, description, parameters, idempotent, readOnly };
    } catch (error) {
      this.ports.logger.warn(`The tool "${name}" is not offered, since its schema is invalid.`, error);
      return undefined;
    }
  }

  /** The tools, of which each that runs is recorded as an act of the actor. */
  private audited(actor: Actor): IToolExecutor {
    const { tools, audit } = this.ports;
    return {
      getToolDefinition: (name) => tools.getToolDefinition(name),
      hasToolFunction: (name) => tools.hasToolFunction(name),
      execute: (name, args, context) => {
        if (audit === undefined) return tools.execute(name, args, context);
        const { callId } = context;
        const subject = { kind: 'tool', id: name, ownerId: actor.userId } as const;
        return audit.carryOut(actor, { action: 'tool.call', subject, details: { callId } }, async () => {
          // It may have been cancelled while it was recorded.
          context.signal.throwIfAborted();
          return await tools.execute(name, args, context);
        });
      },
    };
  }

  private slotOf(userId: string): { readonly concurrency: ToolConcurrency; calls: number } {
    const known = this.open.get(userId);
    if (known !== undefined) return known;
    const slot = { concurrency: new ToolConcurrency(MAX_PARALLEL), calls: 0 };
    this.open.set(userId, slot);
    return slot;
  }
}

interface DirectDecision {
  readonly callId: string;
  readonly name: string;
  readonly isApproved: boolean;
}
