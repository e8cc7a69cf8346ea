/**
 * The span and the metrics of one model call, from its request to the end of its response. Attempts that failed are
 * events of the span.
 */
import type { Attributes, Context } from '@opentelemetry/api';
import { billedResponse, isLLMError } from '../../domain/errors/LLMErrors';
import type { ModelRoute } from '../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Embeddings } from '../../domain/types/EmbeddingTypes';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { FailedAttempt, LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { MetricRecorder } from './metrics/MetricRecorder';
import { errorTypeOf } from './errorTypeOf';
import { tracing } from './openTelemetry';
import type { TracedSpan, Tracing } from './Tracing';
import { openRunSpan } from './RunSpan';
import type { RunSpan, SpanPorts } from './RunSpan';
import { usageAttributes } from './usageAttributes';

/** `generate_content`: a relayed request, such as for images. */
export type ModelOperation = 'chat' | 'embeddings' | 'generate_content';

export interface ModelCallPorts extends SpanPorts {
  readonly metrics: MetricRecorder;
  /** The conventions' name of a provider. */
  readonly providerNameOf: (providerId: string) => string;
}

interface TracedCall {
  readonly traces: Tracing;
  readonly span: TracedSpan;
  /** With the span as the active one. */
  readonly context: Context;
}

export type CallOptions = Partial<Omit<GenerateOptions, 'input'>> & { readonly input?: unknown };

export class ModelCallSpan {
  private readonly ports: ModelCallPorts;
  private readonly operation: ModelOperation;
  private readonly options: CallOptions;
  /** Undefined without an SDK for traces: then there are metrics only. */
  private readonly traced: TracedCall | undefined;
  private readonly startedAt = performance.now();
  private readonly isStream: boolean;
  private readonly target: ReturnType<ModelCallPorts['targetOf']>;
  private firstChunkAt: number | undefined;
  private hasEnded = false;

  /** @param route where the call goes first */
  constructor(
    ports: ModelCallPorts,
    operation: ModelOperation,
    options: CallOptions,
    { isStream, route }: { readonly isStream: boolean; readonly route: ModelRoute | undefined },
  ) {
    this.ports = ports;
    this.operation = operation;
    this.options = options;
    this.isStream = isStream;
    this.target = ports.targetOf(options, route);
    this.traced = this.begin();
  }

  /** Does a part of the call with its span as the active one. */
  within<T>(work: () => T): T {
    return this.traced === undefined ? work() : this.traced.traces.within(this.traced.context, work);
  }

  get isRecording(): boolean {
    return this.traced?.span.isRecording === true;
  }

  /** Has the caller's listeners, too. */
  retryListener(): (attempt: FailedAttempt) => void {
    const { onRetry } = this.options;
    return (attempt) => {
      this.traced?.span.addEvent('bolide.attempt.failed', attemptAttributes(attempt));
      onRetry?.(attempt);
    };
  }

  receivedChunk(): void {
    this.firstChunkAt ??= performance.now();
  }

  completed(response: LLMResponse): void {
    this.end(response, () => this.ports.content?.response(response) ?? {});
  }

  embedded(made: Embeddings): void {
    this.end(made, () => {
      const [first] = made.embeddings;
      return first === undefined ? {} : { 'gen_ai.embeddings.dimension.count': first.length };
    });
  }

  relayed(): void {
    this.end(undefined, () => ({}));
  }

  /** @param error undefined if the consumer stopped reading */
  failed(error: unknown): void {
    if (this.hasEnded) return;
    const isAborted = error === undefined || (this.options.signal?.aborted === true && !isTimeout(error));
    const errorType = isAborted ? 'aborted' : errorTypeOf(error);
    this.traced?.span.fail(errorType);
    this.end(billedResponse(error), () => ({}), errorType);
  }

  private begin(): TracedCall | undefined {
    const traces = tracing();
    if (traces === undefined) return undefined;
    const { ports, operation, options, isStream, target } = this;
    const run = openRunSpan(options.executionId);
    const parent = run?.context ?? traces.active;
    const name = target.model === undefined ? operation : `${operation} ${target.model}`;
    const span = traces.startSpan(name, { kind: traces.api.SpanKind.CLIENT, links: run?.takeLinks() ?? [] }, parent);
    if (span.isRecording)
      span.setAttributes(
        ports.write({
          'gen_ai.operation.name': operation,
          'gen_ai.provider.name': target.providerName,
          ...omitUndefined({ 'gen_ai.request.model': target.model }),
          ...requestAttributes(options, operation, isStream, run),
          ...(operation === 'chat' ? ports.content?.request(options) : {}),
        }),
      );
    return { traces, span, context: span.in(parent) };
  }

  private end(received: LLMResponse | Embeddings | undefined, more: () => Attributes, errorType?: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (this.isRecording)
      this.traced?.span.setAttributes(
        this.ports.write({
          ...(received === undefined ? {} : this.responseAttributes(received)),
          ...omitUndefined({
            'gen_ai.response.time_to_first_chunk':
              this.firstChunkAt === undefined ? undefined : (this.firstChunkAt - this.startedAt) / 1_000,
          }),
          ...more(),
        }),
      );
    this.traced?.span.end();
    this.measure(received, errorType);
  }

  private measure(received: LLMResponse | Embeddings | undefined, errorType: string | undefined): void {
    const { metrics, providerNameOf } = this.ports;
    const { providerName, model } = this.target;
    const providerId = received?.vendor.providerId;
    const attributes = omitUndefined({
      'gen_ai.operation.name': this.operation,
      'gen_ai.provider.name': providerId === undefined ? providerName : providerNameOf(providerId),
      'gen_ai.request.model': model,
      'gen_ai.response.model': received?.model,
      'error.type': errorType,
    });
    metrics.record('gen_ai.client.operation.duration', (performance.now() - this.startedAt) / 1_000, attributes);
    if (this.isStream && this.firstChunkAt !== undefined) {
      const seconds = (this.firstChunkAt - this.startedAt) / 1_000;
      metrics.record('gen_ai.client.operation.time_to_first_chunk', seconds, attributes);
    }
    if (received === undefined || isCached(received)) return;
    const { usage, vendor } = received;
    metrics.record('gen_ai.client.token.usage', usage.input_tokens, { ...attributes, 'gen_ai.token.type': 'input' });
    if (this.operation === 'chat')
      metrics.record('gen_ai.client.token.usage', usage.output_tokens, {
        ...attributes,
        'gen_ai.token.type': 'output',
      });
    if (vendor.cost !== undefined) metrics.record('bolide.cost', vendor.cost, attributes);
  }

  private responseAttributes(received: LLMResponse | Embeddings): Attributes {
    const { model, usage, vendor } = received;
    const { providerId, request_id: requestId, cost } = vendor;
    const fromCache = isCached(received);
    const finishReason = 'finish_reason' in vendor ? vendor.finish_reason : null;
    return {
      'gen_ai.response.model': model,
      ...('id' in received ? { 'gen_ai.response.id': received.id } : {}),
      ...(finishReason === null ? {} : { 'gen_ai.response.finish_reasons': [finishReason] }),
      // A fallback is another provider than the one that was asked.
      ...(providerId === undefined
        ? {}
        : { 'gen_ai.provider.name': this.ports.providerNameOf(providerId), 'bolide.provider.id': providerId }),
      // The usage of a cached response is that of an earlier call.
      ...(fromCache ? { 'bolide.response.cached': true } : usageAttributes(usage, this.operation)),
      ...omitUndefined({ 'bolide.vendor.request_id': requestId }),
      ...(cost === undefined || fromCache ? {} : { 'bolide.cost.usd': cost }),
    };
  }
}

/** A cached response has used and cost nothing. */
function isCached({ vendor }: LLMResponse | Embeddings): boolean {
  return 'cached' in vendor;
}

function requestAttributes(
  options: CallOptions,
  operation: ModelOperation,
  isStream: boolean,
  run: RunSpan | undefined,
): Attributes {
  if (operation !== 'chat') return {};
  const { stop, response_format: format } = options;
  return omitUndefined({
    'gen_ai.request.stream': isStream ? true : undefined,
    'gen_ai.conversation.id': run?.conversationId,
    'gen_ai.request.max_tokens': options.max_output_tokens,
    'gen_ai.request.temperature': options.temperature,
    'gen_ai.request.top_p': options.top_p,
    'gen_ai.request.top_k': options.top_k,
    'gen_ai.request.seed': options.seed,
    'gen_ai.request.frequency_penalty': options.frequency_penalty,
    'gen_ai.request.presence_penalty': options.presence_penalty,
    'gen_ai.request.stop_sequences': stop === undefined ? undefined : typeof stop === 'string' ? [stop] : [...stop],
    'gen_ai.output.type': format === undefined ? undefined : format.type === 'text' ? 'text' : 'json',
  });
}

function attemptAttributes({ providerId, reason, status, delay, fallback }: FailedAttempt): Attributes {
  return omitUndefined({
    'error.type': reason,
    'bolide.provider.id': providerId,
    'http.response.status_code': status,
    'bolide.attempt.fallback': fallback,
    'bolide.attempt.delay': delay / 1_000,
  });
}

function isTimeout(error: unknown): boolean {
  return isLLMError(error) && error.code === 'timeout';
}
