/** Runs one turn of the Responses API, over HTTP or a WebSocket: generates or streams the response, and saves it. */
import { EventStream } from '../../../business/ai/domain/events/EventStream';
import { NO_USAGE } from '../../../business/ai/domain/entities/Response';
import { isLLMError, LLMAbortedError, LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { TooLargeToStoreError } from '../../../business/ai/domain/errors/TooLargeToStoreError';
import type { StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { LLMResponse, OutputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { createStreamEncoder } from '../../../business/ai/infrastructure/streaming/createStreamEncoder';
import type { RawReasoningName } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import { ByteRelay } from '../../http/ByteRelay';
import type { FrameSink } from '../../http/FrameSink';
import { ResponseSink } from '../../http/ResponseSink';
import { writeStream } from '../../http/writeStream';
import type { WriteStreamOptions } from '../../http/writeStream';
import { openAICode } from '../../http/errorResponse';
import { isObject } from '../../../business/ai/domain/util/json';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import { conversationField } from '../conversations/Conversations';
import type { Conversations } from '../conversations/Conversations';
import type { VendorCall } from '../vendorCall';
import type { PreparedResponse } from './prepareResponse';
import { conform, emptyResource, toResponseResource, withStatus } from './responseResource';
import { ResponsesRelay } from './ResponsesRelay';

/** Saves a turn. @param isStored whether the client asked to store it beyond the connection */
export type SaveTurn = (stored: StoredResponse, isStored: boolean) => Promise<void>;

export interface TurnOptions extends Pick<WriteStreamOptions, 'hasLeft' | 'toError' | 'keepAliveAfter' | 'fail'> {
  readonly call: VendorCall;
  readonly saveTurn: SaveTurn;
  /** Receives why the response cannot be retrieved or continued. It is sent unless this throws. */
  readonly onNotStored: (error: TooLargeToStoreError) => void;
  readonly rawReasoningName: RawReasoningName;
}

type SaveOptions = Pick<TurnOptions, 'saveTurn' | 'onNotStored'>;
export type PrepareOptions = SaveOptions & Pick<TurnOptions, 'rawReasoningName'>;

export class ResponseService {
  private readonly manager: AIModule['manager'];
  private readonly conversations: Conversations;

  constructor({ manager, conversations }: Pick<AIModule, 'manager'> & { readonly conversations: Conversations }) {
    this.manager = manager;
    this.conversations = conversations;
  }

  /**
   * Returns the complete response. A failed one is returned, not thrown, if the vendor itself speaks this API.
   * @throws the manager's errors; LLMServerError for a response that `tool_choice` does not allow
   */
  async generate(
    turn: PreparedResponse,
    { call, ...options }: Pick<TurnOptions, 'call'> & SaveOptions,
  ): Promise<JsonObject> {
    let response: LLMResponse;
    try {
      response = await this.manager.generate(turn.userId, { ...turn.options, ...call });
    } catch (error) {
      const failed = failedResponse(error);
      if (failed === undefined) throw error;
      response = failed;
    }
    turn.guard.checkResponse(response);
    const named = withIdentity(response, turn);
    const body = toResponseResource(named, turn.echo);
    await this.save(turn, toStoredResponse(turn, named, body), options);
    return body;
  }

  /** Stores the conversation so far for the next turn of the connection, and completes without calling a model. */
  async prepare(turn: PreparedResponse, sink: FrameSink, options: PrepareOptions): Promise<void> {
    const { generatedId: id, createdAt: created, echo } = turn;
    const stored = unfinishedResponse(turn, 'completed');
    const { model } = stored.response;
    const { rawReasoningName } = options;
    const encoder = createStreamEncoder('openai_responses', { model, id, created, echo, rawReasoningName });
    const events: readonly ResponseStreamEvent[] = [
      { type: 'response.created', id, model },
      { type: 'response.completed', response: conform(stored.response, echo) },
    ];
    await this.save(turn, { ...stored, keptByProvider: false }, options);
    await sink.write([...events.flatMap((event) => encoder.push(event)), ...encoder.end()]);
  }

  /** @throws the manager's errors, if nothing has been emitted yet */
  async stream(turn: PreparedResponse, sink: FrameSink, options: TurnOptions): Promise<void> {
    const { generatedId: id, createdAt: created, echo, route, guard } = turn;
    const { rawReasoningName } = options;
    const model = turn.options.model ?? route.providerId;
    const plain = createStreamEncoder('openai_responses', { model, id, created, echo, rawReasoningName });
    // A background response was promised under the generated id, so its stream has it from the start.
    const isSame = route.wire === 'responses' && !turn.isBackground;
    const relaying = isSame
      ? new ResponsesRelay({
          encoder: plain,
          rawReasoningName,
          echo,
          initial: emptyResource(echo, { id, created_at: created, model, status: 'in_progress' }),
          overrides: { ...previousIdOverride(turn), ...conversationField(echo) },
          checkItem: (item) => guard.checkItem(item),
        })
      : undefined;
    const encoder = relaying ?? plain;
    const relay = relaying === undefined || !(sink instanceof ResponseSink) ? undefined : new ByteRelay(sink, relaying);
    const events = this.manager.stream(turn.userId, {
      ...turn.options,
      ...options.call,
      ...(isSame ? { relay: true } : {}),
      ...omitUndefined({ relayTo: relay }),
    });
    if (turn.isBackground) await sink.write(encoder.push({ type: 'response.created', id, model }));
    let completed: LLMResponse | undefined;
    await writeStream(EventStream.of(events), encoder, sink, {
      ...options,
      relay,
      fail:
        options.fail ??
        (async (error) => {
          const conforming = conformingError(error, turn);
          const frames = encoder.fail(conforming);
          const failed = failedResponse(conforming) ?? endedInBackground(turn, error);
          if (failed !== undefined)
            await this.save(turn, toStoredResponse(turn, failed, terminalBody(frames)), options);
          return frames;
        }),
      prepare: (event) => {
        guard.check(event);
        if (event.type === 'response.created' && !isSame) return { ...event, id };
        if (event.type === 'response.output_item.done') return { ...event, item: withStatus(event.item) };
        if (event.type !== 'response.completed') return event;
        completed = withIdentity(event.response, turn);
        return { ...event, response: conform(completed, echo) };
      },
      beforeComplete: async (frames) => {
        if (completed !== undefined)
          await this.save(turn, toStoredResponse(turn, completed, terminalBody(frames)), options);
      },
    });
  }

  /** The conversation comes first, so that clients who find the response complete find its items, too. */
  private async save(turn: PreparedResponse, stored: StoredResponse, options: SaveOptions): Promise<void> {
    try {
      await this.conversations.extend(stored);
      await options.saveTurn(stored, turn.isStored);
    } catch (error) {
      if (!(error instanceof TooLargeToStoreError)) throw error;
      options.onNotStored(error);
    }
  }
}

/** A turn that is queued, in progress, cancelled or failed: for responses that are fetched later. */
export function unfinishedResponse(
  turn: PreparedResponse,
  status: LLMResponse['status'],
  error?: LLMError,
): StoredResponse {
  const failure = error === undefined ? {} : { error: { code: openAICode(error), message: error.message } };
  const fields = {
    id: turn.generatedId,
    created_at: turn.createdAt,
    status,
    model: turn.options.model ?? turn.route.providerId,
  };
  const response: LLMResponse = { ...EMPTY_RESPONSE, ...fields, ...failure };
  return toStoredResponse(turn, response, emptyResource(turn.echo, { ...fields, ...failure }));
}

/** Nobody sees a background response fail, so its end is stored. */
function endedInBackground(turn: PreparedResponse, error: LLMError): LLMResponse | undefined {
  if (!turn.isBackground) return undefined;
  const isCancelled = error instanceof LLMAbortedError;
  return unfinishedResponse(turn, isCancelled ? 'cancelled' : 'failed', isCancelled ? undefined : error).response;
}

/** A provider that received the conversation's items instead of an id reports no previous response. */
function previousIdOverride({ previousId, options }: PreparedResponse): JsonObject {
  return previousId === undefined || previousId === options.previous_response_id
    ? {}
    : { previous_response_id: previousId };
}

const EMPTY_RESPONSE = {
  object: 'response',
  output: [],
  output_text: '',
  usage: NO_USAGE,
  vendor: { name: '', wire: 'responses', finish_reason: null, warnings: [], losses: [] },
} as const satisfies Partial<LLMResponse>;

/** A failed response is sent in full, so it must conform like any other. */
function conformingError(error: LLMError, turn: PreparedResponse): LLMError {
  if (error.response === undefined) return error;
  const response = conform(withIdentity(error.response, turn), turn.echo);
  return new LLMError(error.code, error.message, Object.assign({}, error, { response }));
}

/** The Responses API reports a failure as a response with status 200, where its clients expect it. */
function failedResponse(error: unknown): LLMResponse | undefined {
  const response = isLLMError(error) ? error.response : undefined;
  return response?.vendor.wire === 'responses' && response.status === 'failed' ? response : undefined;
}

/**
 * Applies the generated id, unless the provider speaks the Responses API and assigned its own. A background response
 * was promised under the generated id before the provider was called.
 */
function withIdentity(response: LLMResponse, turn: PreparedResponse): LLMResponse {
  const { generatedId, isBackground } = turn;
  const isForeign = response.vendor.wire !== 'responses' || isBackground;
  const { vendor } = response;
  const own = { ...(isBackground ? { background: true } : {}), ...conversationField(turn.echo) };
  return {
    ...response,
    // The provider knows neither that it ran in the background nor the conversation.
    vendor: vendor.fields === undefined ? vendor : { ...vendor, fields: { ...vendor.fields, ...own } },
    ...(isForeign ? { id: generatedId } : {}),
    ...previousIdOverride(turn),
  };
}

function toStoredResponse(turn: PreparedResponse, response: LLMResponse, body: JsonObject): StoredResponse {
  const { route, isStored, isBackground, previousId, conversation, input, userId } = turn;
  // The provider does not know the id of a response from the cache.
  const { wire, cached, omitted_calls } = response.vendor;
  const isOwn = wire === 'responses' && route.wire === 'responses' && cached !== true && omitted_calls === undefined;
  return omitUndefined({
    id: response.id,
    userId,
    // A fallback may have served the request.
    providerId: response.vendor.providerId ?? route.providerId,
    keptByProvider: isOwn && isStored && !isBackground && route.capabilities.keepsState,
    previousId,
    conversation,
    input,
    response: { ...response, output: withIds(response.output, body.output) },
    body,
  });
}

/** Stores the items under the ids that the client received. */
function withIds(output: readonly OutputItem[], given: unknown): readonly OutputItem[] {
  if (!Array.isArray(given) || given.length !== output.length) return output;
  return output.map((item, index) => {
    const sent: unknown = given[index];
    return isObject(sent) && typeof sent.id === 'string' && sent.id !== item.id ? { ...item, id: sent.id } : item;
  });
}

/** The response in the stream's terminal event. */
function terminalBody(frames: readonly string[]): JsonObject {
  for (const frame of frames) {
    if (!TERMINAL.test(frame)) continue;
    const event: unknown = JSON.parse(frame.slice(frame.indexOf('\ndata: ') + '\ndata: '.length));
    if (isObject(event) && isObject(event.response)) return event.response;
  }
  return {};
}

const TERMINAL = /^event: response\.(?:completed|incomplete|failed)\n/;
