/**
 * What every use of a model goes through: load what is known of the request, refuse what may not be, decide what is run, write it down
 * once before and once after, and tell it. Safe to call twice: a request is started once.
 */
import { randomUUID } from 'node:crypto';
import { textOfContent } from '../../domain/entities/Content';
import { runOf } from '../../domain/entities/Run';
import { addUsage, NO_USAGE } from '../../domain/entities/Response';
import { isLLMError, LLMAuthError, LLMInvalidRequestError, LLMPermissionError, LLMServerError } from '../../domain/errors/LLMErrors';
import type { AccessPolicy, Permission, WantedUse } from '../../domain/interfaces/AccessPolicy';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunOutcome, RequestRecords } from '../../domain/interfaces/RequestRecords';
import type { Actor } from '../../domain/types/Actor';
import type { LLMInput } from '../../domain/types/LLMTypes';
import type { Item, Usage } from '../../domain/types/ResponsesAPITypes';
import type { UseEvent } from '../../domain/types/UseEvents';
import type { ExecuteOptions } from '../services/AgenticLoop';
import { normalizeInput } from '../services/ContentNormalizer';
import type { RequestLedger, StartedRequest } from '../services/RequestLedger';

/** What callers may say; everything else is the operator's. */
export interface UseRequest {
  /** Made by the client: the same id with the same arguments is the same request. */
  readonly requestId: string;
  readonly providerId: string;
  readonly input: LLMInput;
  /** Default: the provider's. */
  readonly model?: string;
  readonly instructions?: string;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
}

export interface RunLauncherPorts {
  readonly access: AccessPolicy;
  readonly runs: RequestRecords;
  readonly ledger: RequestLedger;
  /** The ids of the providers that there are. */
  readonly providers: { has(id: string): boolean };
  readonly tell?: (event: UseEvent) => void;
  readonly logger?: Logger;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** What was decided to be run. */
export interface DecidedRun {
  readonly executionId: string;
  readonly userId: string;
  readonly options: ExecuteOptions & { readonly model: string; readonly input: readonly Item[] };
  /** What was used so far; what the run of a thrown error used is added to it. */
  readonly spent: Spent;
}

export interface Spent {
  usage: Usage;
  /** Model calls. */
  iterations: number;
}

export interface RunWork<T> {
  /** The names of the tools that are wanted. */
  readonly tools: readonly string[];
  /** What makes two requests the same, beside the request itself; as JSON. */
  readonly args: object;
  readonly run: (decided: DecidedRun) => Promise<T>;
}

const REQUEST_ID = /^[^\s\p{C}]{1,128}$/u;
const TITLE_LENGTH = 80;

export class RunLauncher {
  private readonly ports: RunLauncherPorts;
  private readonly logger: Logger;
  private readonly now: () => number;

  constructor(ports: RunLauncherPorts) {
    this.ports = ports;
    this.logger = ports.logger ?? console;
    this.now = ports.now ?? Date.now;
  }

  /**
   * Resolves when the request is let in and written down; `done` is its end.
   * @throws LLMAuthError for nobody, LLMInvalidRequestError, LLMPermissionError; ConflictError for a request id that was used with other arguments
   */
  async launch<T>(actor: Actor, request: UseRequest, work: RunWork<T>): Promise<StartedRequest<T>> {
    try {
      if (actor.userId === '') throw new LLMAuthError('You must be logged in.');
      const known = { ...request, input: readInput(actor, request) };
      if (!REQUEST_ID.test(request.requestId)) throw new LLMInvalidRequestError('requestId must be a word of 1 to 128 characters', { path: 'requestId' });
      return await this.ports.ledger.once(actor.userId, request.requestId, { ...known, ...work.args }, () => this.start(actor, known, work));
    } catch (error) {
      const { requestId, providerId } = request;
      const code = isLLMError(error) ? error.code : 'vendor-error';
      this.tell({ type: 'use:refused', userId: actor.userId, source: actor.source, requestId, providerId, code });
      throw error;
    }
  }

  private async start<T>(actor: Actor, request: UseRequest & { readonly input: readonly Item[] }, work: RunWork<T>): Promise<StartedRequest<T>> {
    const { userId, source } = actor;
    const { requestId, providerId, model } = request;
    const budget = await this.permitted(actor, { providerId, tools: work.tools, ...(model === undefined ? {} : { model }) });
    const executionId = randomUUID();
    const options = { ...optionsOf(request), executionId, tools: work.tools, ...(budget === undefined ? {} : { budget }) };
    const createdAt = this.now();
    const title = titleOf(request.input);
    await this.ports.runs.create({ executionId, userId, requestId, source, providerId, title, createdAt, state: 'running', ...(model === undefined ? {} : { model }) });
    const named = { userId, source, requestId, providerId, executionId };
    this.tell({ type: 'use:started', ...named });
    const decided = { executionId, userId, options, spent: { usage: NO_USAGE, iterations: 0 } };
    const done = this.follow(decided, work, (outcome) => this.tell({ type: 'use:ended', ...named, state: outcome.state, usage: outcome.usage }));
    // Whoever asked for the id alone learns of the end by events and from the store.
    done.catch(() => undefined);
    return { executionId, done };
  }

  /** @throws LLMPermissionError; an unknown provider is told from a forbidden one only to those who may use it */
  private async permitted(actor: Actor, wanted: WantedUse): Promise<Extract<Permission, { allowed: true }>['budget']> {
    const permission = await this.decide(actor, wanted);
    if (!permission.allowed) throw new LLMPermissionError(permission.reason);
    if (!this.ports.providers.has(wanted.providerId)) throw new LLMInvalidRequestError(`no provider is called '${wanted.providerId}'`, { path: 'providerId' });
    return permission.budget;
  }

  private async decide(actor: Actor, wanted: WantedUse): Promise<Permission> {
    try {
      return await this.ports.access.decide(actor, wanted);
    } catch (cause) {
      if (isLLMError(cause)) throw cause;
      this.logger.error('whether a provider may be used could not be found out', cause);
      throw new LLMPermissionError('Whether you may do this could not be found out, so you may not.', { cause });
    }
  }

  private async follow<T>(decided: DecidedRun, work: RunWork<T>, ended: (outcome: RunOutcome) => void): Promise<T> {
    const { executionId, spent } = decided;
    try {
      const value = await work.run(decided);
      ended(await this.finish(executionId, { ...spent, state: 'completed', endedAt: this.now() }));
      return value;
    } catch (thrown) {
      const error = isLLMError(thrown) ? thrown : new LLMServerError('The request failed in an unexpected way.', { cause: thrown, retryable: false });
      const run = runOf(error);
      if (run !== undefined) add(spent, run);
      const { code, message } = error;
      ended(await this.finish(executionId, { ...spent, state: code === 'aborted' ? 'cancelled' : 'failed', endedAt: this.now(), error: { code, message } }));
      throw error;
    }
  }

  /** An answer is not lost because its record is. */
  private async finish(executionId: string, outcome: RunOutcome): Promise<RunOutcome> {
    try {
      await this.ports.runs.finish(executionId, outcome);
    } catch (error) {
      this.logger.error(`the end of the run ${executionId} could not be written down`, outcome, error);
    }
    return outcome;
  }

  private tell(event: UseEvent): void {
    try {
      this.ports.tell?.(event);
    } catch (error) {
      this.logger.error('a listener to the use of providers failed', error);
    }
  }
}

export function add(spent: Spent, { usage, iterations }: Readonly<Spent>): void {
  spent.usage = addUsage(spent.usage, usage);
  spent.iterations += iterations;
}

/** The operator's roles are for the server's own code. @throws LLMInvalidRequestError */
function readInput(actor: Actor, { input }: UseRequest): readonly Item[] {
  const items = normalizeInput(input);
  if (actor.source === 'job') return items;
  const at = items.findIndex((item) => item.type === 'message' && (item.role === 'system' || item.role === 'developer'));
  if (at === -1) return items;
  throw new LLMInvalidRequestError('messages with the role system or developer are the operator’s', { path: `input[${at}].role` });
}

function optionsOf({ providerId, model, input, instructions, temperature, maxOutputTokens }: UseRequest & { readonly input: readonly Item[] }) {
  return {
    model: model === undefined ? providerId : `${providerId}/${model}`,
    input,
    ...(instructions === undefined ? {} : { instructions }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
  };
}

function titleOf(input: readonly Item[]): string {
  const asked = input.findLast((item) => item.type === 'message' && item.role === 'user');
  const text = asked?.type === 'message' ? textOfContent(asked.content).replace(/\s+/g, ' ').trim() : '';
  return text.length <= TITLE_LENGTH ? text : `${text.slice(0, TITLE_LENGTH - 1).toWellFormed()}…`;
}
