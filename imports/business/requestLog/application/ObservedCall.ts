/** Collects what the request log needs of one call, from its start to its end. */
import { addCosts, priceUsage } from '../../ai/domain/entities/CallCost';
import { addUsage, NO_USAGE } from '../../ai/domain/entities/Response';
import { billedResponse, isLLMError } from '../../ai/domain/errors/LLMErrors';
import type { LLMError } from '../../ai/domain/errors/LLMErrors';
import { safeMessage } from '../../ai/domain/errors/safeText';
import type { RequestLog } from '../domain/RequestLog';
import type { Embeddings } from '../../ai/domain/types/EmbeddingTypes';
import type { GuardrailAnnotation } from '../../ai/domain/types/GuardrailAnnotation';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { CallCost, ModelPrice } from '../../ai/domain/types/ModelPrice';
import type {
  CallOrigin,
  LoggedAttempt,
  RequestBodies,
  RequestEntry,
  VendorExchange,
} from '../../ai/domain/types/RequestRecords';
import type { LLMResponse, Usage } from '../../ai/domain/types/ResponsesAPITypes';
import { promptHashes } from './promptHashes';
import { unreportedResponse } from '../../ai/application/services/routing/unreportedResponse';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';

export interface ObservedCallPorts {
  readonly log: RequestLog;
  /** The provider and model that a requested model leads to, before any fallback. Undefined for an unknown model. */
  readonly routeOf: (
    model: string | undefined,
  ) => { readonly providerId: string; readonly model: string | undefined } | undefined;
  /** The list price of a requested model, for calls whose usage is estimated. */
  readonly priceOf: (model: string | undefined) => ModelPrice | undefined;
}

/** The usage of a call that did not complete: computed only if the vendor reported none. */
type EstimateUsage = (() => Usage) | undefined;

/** Attempts whose vendor's request and response are logged. */
const MAX_EXCHANGES = 5;

const MAX_ANNOTATIONS = 100;

const APP: CallOrigin = { source: 'manager' };

/** What the log needs of the options of a call; the others are logged as they are. */
export type ObservedOptions = Pick<
  GenerateOptions,
  | 'model'
  | 'route'
  | 'signal'
  | 'origin'
  | 'executionId'
  | 'turn'
  | 'onAttempt'
  | 'onHead'
  | 'onRetry'
  | 'onExchange'
  | 'onBody'
  | 'onCache'
  | 'onRateLimits'
  | 'onAnnotation'
  | 'relayTo'
  | 'batch'
  | 'backgroundTurn'
  | 'tools'
  | 'findableTools'
  | 'instructions'
>;

/** What a call returned or received, as far as it is billed. */
type Received = LLMResponse | Embeddings | Usage;

type Outcome = Pick<RequestEntry, 'state'> & Partial<RequestEntry>;

export class ObservedCall<O extends ObservedOptions = GenerateOptions> {
  /** The caller's, with listeners for what happens inside the router. */
  readonly options: O;
  private readonly userId: string;
  private readonly given: O;
  private readonly isStream: boolean;
  private readonly ports: ObservedCallPorts;
  private readonly at = Date.now();
  private readonly startedAt = performance.now();
  private readonly attempts: LoggedAttempt[] = [];
  private readonly annotations: GuardrailAnnotation[] = [];
  private exchanges: readonly VendorExchange[] = [];
  private vendorRequestId: string | undefined;
  private firstContentAt: number | undefined;
  private isAnswered = false;
  private hasEnded = false;

  constructor(userId: string, options: O, isStream: boolean, ports: ObservedCallPorts) {
    this.userId = userId;
    this.given = options;
    this.isStream = isStream;
    this.ports = ports;
    const { onRetry, onHead, onExchange, onAnnotation } = options;
    this.options = {
      ...options,
      onHead: (head) => {
        this.isAnswered = true;
        this.vendorRequestId = head.requestId;
        onHead?.(head);
      },
      onRetry: (failed) => {
        this.attempts.push({ ...failed, at: this.elapsed() });
        onRetry?.(failed);
      },
      onAnnotation: (annotation) => {
        if (this.annotations.length < MAX_ANNOTATIONS) this.annotations.push(annotation);
        onAnnotation?.(annotation);
      },
      ...(ports.log.recordsBodies
        ? {
            onExchange: (exchange: VendorExchange) => {
              this.exchanges = [...this.exchanges, exchange].slice(-MAX_EXCHANGES);
              onExchange?.(exchange);
            },
          }
        : {}),
    };
  }

  receivedContent(): void {
    this.firstContentAt ??= performance.now();
  }

  completed(response: LLMResponse): void {
    if (this.hasEnded) return;
    this.end({ ...fieldsOf(response), state: response.status === 'incomplete' ? 'incomplete' : 'completed' }, response);
  }

  embedded(made: Embeddings): void {
    if (this.hasEnded) return;
    const { request_id: requestId, warnings, providerId } = made.vendor;
    const outcome = omitUndefined({
      model: made.model,
      providerId,
      vendorRequestId: requestId,
      warnings: warnings.length === 0 ? undefined : warnings,
    });
    this.end({ ...outcome, state: 'completed' }, made);
  }

  relayed(requestId: string | undefined, usage: Usage | undefined): void {
    if (this.hasEnded) return;
    this.end(omitUndefined({ state: 'completed', vendorRequestId: requestId }), usage);
  }

  /** The consumer stopped reading. */
  left(usage: EstimateUsage): void {
    if (this.hasEnded) return;
    const error = { code: 'aborted', message: 'The stream was not read to its end.' } as const;
    this.end({ state: 'cancelled', error }, usage?.());
  }

  failed(error: unknown, usage: EstimateUsage): void {
    if (this.hasEnded) return;
    const { signal } = this.given;
    const failure = isLLMError(error) ? error : undefined;
    const isAborted = signal?.aborted === true && failure?.code !== 'timeout';
    const response = failure?.response;
    this.end(
      {
        ...(response === undefined ? {} : fieldsOf(response)),
        state: isAborted ? 'cancelled' : 'failed',
        ...(failure === undefined || isAborted ? {} : this.statusOf(failure)),
        ...omitUndefined({ vendorRequestId: failure?.requestId }),
        error: {
          code: failure?.code ?? (isAborted ? 'aborted' : 'vendor-error'),
          message: safeMessage(error instanceof Error ? error.message : String(error)),
        },
      },
      billedResponse(error) ?? usage?.(),
    );
  }

  /** The vendor's status, or the one that the gateway reports a call with that no vendor has answered. */
  private statusOf({ status, httpStatus }: LLMError): Pick<RequestEntry, 'status'> {
    if (status !== undefined) return { status };
    return this.given.origin?.source === 'gateway' && !this.isAnswered ? { status: httpStatus } : {};
  }

  /** @param received the response, or the usage of what arrived of it */
  private end(outcome: Outcome, received: Received | undefined): void {
    this.hasEnded = true;
    const { log, routeOf } = this.ports;
    const { model: asked, route: rule, origin: given = APP } = this.given;
    const { ownObjectsOnly: _, ...origin } = given;
    const route = routeOf(asked);
    const fallback = this.attempts.findLast((attempt) => attempt.fallback !== undefined)?.fallback;
    const providerId = fallback ?? route?.providerId;
    // A fallback has a model of its own.
    const model = fallback === undefined ? route?.model : undefined;
    const entry: RequestEntry = omitUndefined({
      at: this.at,
      userId: this.userId,
      requestedModel: asked === undefined ? undefined : (rule?.name ?? asked),
      ...origin,
      route: rule?.name,
      isStream: this.isStream,
      providerId,
      model,
      prompt: origin.iteration === undefined ? undefined : promptHashes(this.given),
      attempts: this.attempts,
      annotations: this.annotations.length === 0 ? undefined : this.annotations,
      duration: this.elapsed(),
      ...this.bill(received),
      timeToFirstToken: this.firstContentAt === undefined ? undefined : tenths(this.firstContentAt - this.startedAt),
      vendorRequestId: this.vendorRequestId,
      ...outcome,
    });
    if (log.recordsBodies) log.add(entry, this.bodies(received));
    else log.add(entry);
  }

  /** Includes the responses that were received and discarded before another attempt. */
  private bill(received: Received | undefined): Pick<RequestEntry, 'usage'> & CallCost {
    let bill = this.billOf(
      received !== undefined && isResponse(received) ? unreportedResponse(received, this.attempts) : received,
    );
    for (const { usage, cost, unpriced } of this.attempts) {
      if (usage === undefined) continue;
      bill = {
        ...bill,
        usage: addUsage(bill.usage, usage),
        ...addCosts([bill, omitUndefined({ cost, unpriced })]),
      };
    }
    return bill;
  }

  private billOf(received: Received | undefined): Pick<RequestEntry, 'usage'> & CallCost {
    if (received === undefined) return { usage: NO_USAGE };
    if ('vendor' in received) {
      // The usage of a cached response is that of an earlier call.
      if (isResponse(received) && received.vendor.cached === true) return { usage: NO_USAGE, cost: 0 };
      const { cost, unpriced } = received.vendor;
      return omitUndefined({ usage: received.usage, cost, unpriced });
    }
    const { model } = this.given;
    return { usage: received, ...priceUsage(received, this.ports.priceOf(model), model ?? 'default') };
  }

  private elapsed(): number {
    return tenths(performance.now() - this.startedAt);
  }

  private bodies(received: Received | undefined): RequestBodies {
    const {
      signal,
      onAttempt,
      onHead,
      onRetry,
      onExchange,
      onBody,
      onCache,
      onRateLimits,
      onAnnotation,
      relayTo,
      batch,
      backgroundTurn,
      origin,
      executionId,
      turn,
      findableTools,
      ...request
    } = this.given;
    // The entry is stored later, when the rest of a body may have been received.
    const exchanges = this.exchanges.map(({ providerId, wire, request: sent, status, response }) => ({
      providerId,
      wire,
      request: sent,
      status,
      response,
    }));
    return {
      request,
      ...(received !== undefined && isResponse(received) ? { response: received } : {}),
      ...(exchanges.length === 0 ? {} : { exchanges }),
    };
  }
}

/** Rounds to a tenth of a millisecond. */
function tenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}

function isResponse(received: Received): received is LLMResponse {
  return 'output' in received;
}

function fieldsOf({ id, model, vendor }: LLMResponse): Partial<RequestEntry> {
  const { request_id: requestId, finish_reason: finishReason, warnings, providerId, cached } = vendor;
  return omitUndefined({
    responseId: id,
    model,
    providerId,
    cached,
    finishReason: finishReason ?? undefined,
    vendorRequestId: requestId,
    warnings: warnings.length === 0 ? undefined : warnings,
  });
}
