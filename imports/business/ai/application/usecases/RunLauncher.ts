/**
 * What every use of a model goes through: load what is known of the request, refuse what may not be, decide what is
 * run, write it down once before and once after, and tell it. Safe to call twice: a request is started once.
 */
import { createHash, randomUUID } from 'node:crypto';
import { textOfContent } from '../../domain/entities/Content';
import { runOf } from '../../domain/entities/Run';
import type { RunResult } from '../../domain/entities/Run';
import { addUsage, NO_USAGE } from '../../domain/entities/Response';
import {
  ConflictError,
  isLLMError,
  LLMAuthError,
  LLMInvalidRequestError,
  LLMPermissionError,
  LLMServerError,
} from '../../domain/errors/LLMErrors';
import type { AccessPolicy, Permission, RequestedUse } from '../../domain/interfaces/AccessPolicy';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { Actor } from '../../domain/types/Actor';
import type { LLMInput } from '../../domain/types/LLMTypes';
import type { Item, Usage } from '../../domain/types/ResponsesAPITypes';
import type { AuditEvent } from '../../domain/types/AuditEvents';
import type { AgenticLoop, ExecuteOptions } from '../services/AgenticLoop';
import { canonicalJson } from '../services/shared/canonicalJson';
import { normalizeInput } from '../services/ContentNormalizer';

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
  readonly loop: Pick<AgenticLoop, 'start' | 'waitForResult'>;
  /** Where the loop writes its runs down. */
  readonly runs: Pick<RunStore, 'findRequest'>;
  /** The ids of the providers that there are. */
  readonly providers: { has(id: string): boolean };
  readonly tell?: (event: AuditEvent) => void;
  readonly logger?: Logger;
}

/** A request that was let in and written down: known by its id at once, done later. */
export interface StartedRequest<T> {
  readonly executionId: string;
  readonly done: Promise<T>;
}

/** What was decided to be run. */
export interface AuthorizedRun {
  readonly options: ExecuteOptions & { readonly model: string; readonly input: readonly Item[] };
  /** What was used so far, also by runs that failed. */
  readonly spent: Readonly<RunCost>;
  /**
   * Runs, or gives what it gave when it was run before a crash or for the same request. The first bears the
   * request's id.
   */
  readonly execute: (options: ExecuteOptions) => Promise<RunResult>;
}

export interface RunCost {
  usage: Usage;
  /** Model calls. */
  iterations: number;
}

export interface RunWork<T> {
  /** The names of the tools that are wanted. */
  readonly tools: readonly string[];
  /** What makes two requests the same, beside the request itself; as JSON. */
  readonly args: object;
  readonly run: (decided: AuthorizedRun) => Promise<T>;
}

type ReadRequest = UseRequest & { readonly input: readonly Item[] };

const REQUEST_ID = /^[^\s\p{C}]{1,128}$/u;
const TITLE_LENGTH = 80;

export class RunLauncher {
  private readonly ports: RunLauncherPorts;
  private readonly logger: Logger;

  constructor(ports: RunLauncherPorts) {
    this.ports = ports;
    this.logger = ports.logger ?? console;
  }

  /**
   * Resolves when the request is let in and written down; `done` is its end. A request that comes again, as clients
   * send it after a lost connection, is the same run, in whichever process it is under way or has ended.
   * @throws LLMAuthError for nobody, LLMInvalidRequestError, LLMPermissionError; ConflictError for a request id
   *   that was used with other arguments
   */
  async launch<T>(actor: Actor, request: UseRequest, work: RunWork<T>): Promise<StartedRequest<T>> {
    try {
      if (actor.userId === '') throw new LLMAuthError('You must be logged in.');
      const read = { ...request, input: readInput(actor, request) };
      if (!REQUEST_ID.test(request.requestId))
        throw new LLMInvalidRequestError('requestId must be a word of 1 to 128 characters', { path: 'requestId' });
      const hash = createHash('sha256')
        .update(canonicalJson({ ...read, ...work.args }))
        .digest('hex');
      return (await this.join(actor, read, hash, work)) ?? (await this.begin(actor, read, hash, work));
    } catch (error) {
      const { requestId, providerId } = request;
      const code = isLLMError(error) ? error.code : 'vendor-error';
      this.tell({ type: 'use:refused', userId: actor.userId, source: actor.source, requestId, providerId, code });
      throw error;
    }
  }

  /** @returns undefined for a request that is not known yet @throws ConflictError */
  private async join<T>(
    { userId }: Actor,
    request: ReadRequest,
    hash: string,
    work: RunWork<T>,
  ): Promise<StartedRequest<T> | undefined> {
    const { requestId } = request;
    const known = await this.ports.runs.findRequest(userId, requestId);
    if (known === undefined) return undefined;
    if (known.argumentsHash !== hash)
      throw new ConflictError(`the request id '${requestId}' was used with other arguments`, { path: 'requestId' });
    const { executionId } = known;
    const runs = new RequestRuns(
      userId,
      executionId,
      (options) => this.ports.loop.waitForResult(executionId, options.signal),
      this.ports.loop,
    );
    return { executionId, done: quiet(work.run(runs.decided(optionsOf(request)))) };
  }

  private async begin<T>(
    actor: Actor,
    request: ReadRequest,
    hash: string,
    work: RunWork<T>,
  ): Promise<StartedRequest<T>> {
    const { userId, source } = actor;
    const { requestId, providerId, model, input } = request;
    const budget = await this.permitted(actor, {
      providerId,
      tools: work.tools,
      ...(model === undefined ? {} : { model }),
    });
    const executionId = randomUUID();
    const named = { userId, source, requestId, providerId, executionId };
    const asked = {
      requestId,
      argumentsHash: hash,
      source,
      providerId,
      title: titleOf(input),
      ...(model === undefined ? {} : { model }),
    };
    try {
      return await new Promise<StartedRequest<T>>((accepted, refuse) => {
        let isLetIn = false;
        const first = async (options: ExecuteOptions): Promise<RunResult> => {
          const starting = this.ports.loop.start(userId, { ...options, executionId }, asked);
          starting.catch(refuse);
          const started = await starting;
          isLetIn = true;
          this.tell({ type: 'use:started', ...named });
          accepted({ executionId, done });
          return started.done;
        };
        const runs = new RequestRuns(userId, executionId, first, this.ports.loop);
        const decided = runs.decided({
          ...optionsOf(request),
          tools: work.tools,
          ...(budget === undefined ? {} : { budget }),
        });
        const done = quiet(
          this.reportEnd(work.run(decided), (state) => {
            if (isLetIn) this.tell({ type: 'use:ended', ...named, state, usage: decided.spent.usage });
          }),
        );
        done.catch(refuse);
      });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      // The same request was let in somewhere else meanwhile.
      const joined = await this.join(actor, request, hash, work);
      if (joined === undefined) throw error;
      return joined;
    }
  }

  private async reportEnd<T>(
    done: Promise<T>,
    ended: (state: 'completed' | 'failed' | 'cancelled') => void,
  ): Promise<T> {
    try {
      const value = await done;
      ended('completed');
      return value;
    } catch (thrown) {
      const error = isLLMError(thrown)
        ? thrown
        : new LLMServerError('The request failed in an unexpected way.', { cause: thrown, retryable: false });
      ended(error.code === 'aborted' ? 'cancelled' : 'failed');
      throw error;
    }
  }

  /** @throws LLMPermissionError; an unknown provider is told from a forbidden one only to those who may use it */
  private async permitted(
    actor: Actor,
    wanted: RequestedUse,
  ): Promise<Extract<Permission, { allowed: true }>['budget']> {
    const permission = await this.decide(actor, wanted);
    if (!permission.allowed) throw new LLMPermissionError(permission.reason);
    if (!this.ports.providers.has(wanted.providerId))
      throw new LLMInvalidRequestError(`no provider is called '${wanted.providerId}'`, { path: 'providerId' });
    return permission.budget;
  }

  private async decide(actor: Actor, wanted: RequestedUse): Promise<Permission> {
    try {
      return await this.ports.access.decide(actor, wanted);
    } catch (cause) {
      if (isLLMError(cause)) throw cause;
      this.logger.error('whether a provider may be used could not be found out', cause);
      throw new LLMPermissionError('Whether you may do this could not be found out, so you may not.', { cause });
    }
  }

  private tell(event: AuditEvent): void {
    try {
      this.ports.tell?.(event);
    } catch (error) {
      this.logger.error('a listener to the use of providers failed', error);
    }
  }
}

/** The runs of one request: the first bears its id, the next ones' ids follow from it, so that they are found again. */
class RequestRuns {
  readonly spent: RunCost = { usage: NO_USAGE, iterations: 0 };
  private count = 0;
  private readonly userId: string;
  private readonly executionId: string;
  private readonly first: (options: ExecuteOptions) => Promise<RunResult>;
  private readonly loop: RunLauncherPorts['loop'];

  constructor(
    userId: string,
    executionId: string,
    first: (options: ExecuteOptions) => Promise<RunResult>,
    loop: RunLauncherPorts['loop'],
  ) {
    this.userId = userId;
    this.executionId = executionId;
    this.first = first;
    this.loop = loop;
  }

  decided(options: AuthorizedRun['options']): AuthorizedRun {
    return { options, spent: this.spent, execute: (wanted) => this.execute(wanted) };
  }

  private async execute(options: ExecuteOptions): Promise<RunResult> {
    this.count += 1;
    try {
      const result = await (this.count === 1
        ? this.first(options)
        : this.again(`${this.executionId}-${this.count}`, options));
      add(this.spent, result);
      return result;
    } catch (error) {
      const run = runOf(error);
      if (run !== undefined) add(this.spent, run);
      throw error;
    }
  }

  private async again(executionId: string, options: ExecuteOptions): Promise<RunResult> {
    try {
      const started = await this.loop.start(this.userId, { ...options, executionId });
      return await started.done;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return this.loop.waitForResult(executionId, options.signal);
    }
  }
}

function add(spent: RunCost, { usage, iterations }: Readonly<RunCost>): void {
  spent.usage = addUsage(spent.usage, usage);
  spent.iterations += iterations;
}

/** Whoever asked for the id alone learns of the end by events and from the store. */
function quiet<T>(done: Promise<T>): Promise<T> {
  done.catch(() => undefined);
  return done;
}

/** The operator's roles are for the server's own code. @throws LLMInvalidRequestError */
function readInput(actor: Actor, { input }: UseRequest): readonly Item[] {
  const items = normalizeInput(input);
  if (actor.source === 'job') return items;
  const at = items.findIndex(
    (item) => item.type === 'message' && (item.role === 'system' || item.role === 'developer'),
  );
  if (at === -1) return items;
  throw new LLMInvalidRequestError('messages with the role system or developer are the operator’s', {
    path: `input[${at}].role`,
  });
}

function optionsOf({
  providerId,
  model,
  input,
  instructions,
  temperature,
  maxOutputTokens,
}: UseRequest & { readonly input: readonly Item[] }) {
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
