/** One turn of the Responses API, over HTTP or a socket: asked, answered whole or streamed, remembered. */
import { NO_USAGE } from '../../../business/ai/domain/entities/Response';
import { isLLMError, LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import type { LLMResponse, OutputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { createStreamEncoder } from '../../../business/ai/infrastructure/streaming/createStreamEncoder';
import type { RawReasoningName } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { FrameSink } from '../../http/FrameSink';
import { writeStream } from '../../http/writeStream';
import type { PumpOptions } from '../../http/writeStream';
import { openAICode } from '../../http/errorResponse';
import { isObject } from '../../../business/ai/domain/json';
import type { PreparedResponse } from './prepareResponse';
import { conform, emptyResource, toResponseResource } from './responseResource';
import { ResponsesRelay } from './ResponsesRelay';

/** Keeps a turn; whether for long is for whoever keeps it to say. */
export type Remember = (stored: StoredResponse, isStored: boolean) => Promise<void>;

export interface TurnOptions extends Pick<PumpOptions, 'hasLeft' | 'toError' | 'keepAliveAfter' | 'fail'> {
  readonly signal: AbortSignal;
  readonly remember: Remember;
  /** Told what came before the answer. */
  readonly onHead?: GenerateOptions['onHead'];
  readonly rawReasoningName: RawReasoningName;
}

export class ResponseService {
  private readonly manager: AIModule['manager'];

  constructor({ manager }: Pick<AIModule, 'manager'>) {
    this.manager = manager;
  }

  /**
   * The whole answer; also a failed one, where the vendor behind speaks this API and answers so.
   * @throws what the manager throws, LLMServerError for an answer that `tool_choice` does not allow
   */
  async generate(
    turn: PreparedResponse,
    { signal, remember, onHead }: Pick<TurnOptions, 'signal' | 'remember' | 'onHead'>,
  ): Promise<JsonObject> {
    let response: LLMResponse;
    try {
      response = await this.manager.generate(turn.userId, { ...turn.options, signal, ...told(onHead) });
    } catch (error) {
      const failed = failedAnswer(error);
      if (failed === undefined) throw error;
      response = failed;
    }
    turn.guard.checkWhole(response);
    const named = withIdentity(response, turn);
    const body = toResponseResource(named, turn.echo);
    await remember(storedTurn(turn, named, body), turn.isStored);
    return body;
  }

  /** @throws what the manager throws before it says anything */
  async stream(turn: PreparedResponse, sink: FrameSink, options: TurnOptions): Promise<void> {
    const { mintedId: id, createdAt: created, echo, route, guard } = turn;
    const { rawReasoningName } = options;
    const model = turn.options.model ?? route.providerId;
    const plain = createStreamEncoder('openai_responses', { model, id, created, echo, rawReasoningName });
    const isSame = route.wire === 'responses';
    const encoder = isSame
      ? new ResponsesRelay({
          encoder: plain,
          rawReasoningName,
          echo,
          begun: emptyResource(echo, { id, created_at: created, model, status: 'in_progress' }),
          ours: replayedFrom(turn),
          checkItem: (item) => guard.checkItem(item),
        })
      : plain;
    const events = this.manager.stream(turn.userId, {
      ...turn.options,
      signal: options.signal,
      ...told(options.onHead),
      ...(isSame ? { relay: true } : {}),
    });
    let whole: LLMResponse | undefined;
    await writeStream(events, encoder, sink, {
      ...options,
      fail:
        options.fail ??
        (async (error) => {
          const told = conformingError(error, turn);
          const frames = encoder.fail(told);
          const failed = failedAnswer(told);
          if (failed !== undefined)
            await options.remember(storedTurn(turn, failed, terminalBody(frames)), turn.isStored);
          return frames;
        }),
      prepare: (event) => {
        guard.check(event);
        if (event.type === 'response.created' && route.wire !== 'responses') return { ...event, id };
        if (event.type !== 'response.completed') return event;
        whole = withIdentity(event.response, turn);
        return { ...event, response: conform(whole, echo) };
      },
      beforeComplete: async (frames) => {
        if (whole !== undefined) await options.remember(storedTurn(turn, whole, terminalBody(frames)), turn.isStored);
      },
    });
  }
}

function told(onHead: GenerateOptions['onHead']): Pick<GenerateOptions, 'onHead'> {
  return onHead === undefined ? {} : { onHead };
}

/** A turn that has begun, is waiting, or went wrong: for answers that are fetched later. */
export function unfinishedTurn(
  turn: PreparedResponse,
  status: LLMResponse['status'],
  error?: LLMError,
): StoredResponse {
  const told = error === undefined ? {} : { error: { code: openAICode(error), message: error.message } };
  const facts = {
    id: turn.mintedId,
    created_at: turn.createdAt,
    status,
    model: turn.options.model ?? turn.route.providerId,
  };
  const response: LLMResponse = { ...NOTHING_SAID, ...facts, ...told };
  return storedTurn(turn, response, emptyResource(turn.echo, { ...facts, ...told }));
}

/** To a host that was given the conversation again it was a new one. */
function replayedFrom({ previousId, options }: PreparedResponse): JsonObject {
  return previousId === undefined || previousId === options.previous_response_id
    ? {}
    : { previous_response_id: previousId };
}

const NOTHING_SAID = {
  object: 'response',
  output: [],
  output_text: '',
  usage: NO_USAGE,
  vendor: { name: '', wire: 'responses', finish_reason: null, warnings: [], losses: [] },
} as const satisfies Partial<LLMResponse>;

/** A failed response is told whole, so it has to be what every response is. */
function conformingError(error: LLMError, turn: PreparedResponse): LLMError {
  if (error.response === undefined) return error;
  const response = conform(withIdentity(error.response, turn), turn.echo);
  return new LLMError(error.code, error.message, Object.assign({}, error, { response }));
}

/** Responses hosts answer a failure with 200 and the failed response: their clients look there for it. */
function failedAnswer(error: unknown): LLMResponse | undefined {
  const response = isLLMError(error) ? error.response : undefined;
  return response?.vendor.wire === 'responses' && response.status === 'failed' ? response : undefined;
}

/**
 * Only Responses hosts name their answers for this API, unless the answer was promised under another name before
 * they were asked.
 */
function withIdentity(response: LLMResponse, turn: PreparedResponse): LLMResponse {
  const { mintedId, isBackground } = turn;
  const isForeign = response.vendor.wire !== 'responses' || isBackground;
  const { vendor } = response;
  return {
    ...response,
    // To its host it was an answer like any other.
    ...(isBackground && vendor.fields !== undefined
      ? { vendor: { ...vendor, fields: { ...vendor.fields, background: true } } }
      : {}),
    ...(isForeign ? { id: mintedId } : {}),
    ...replayedFrom(turn),
  };
}

function storedTurn(turn: PreparedResponse, response: LLMResponse, body: JsonObject): StoredResponse {
  const { route, isStored, isBackground, previousId, input, userId } = turn;
  const isOwn = response.vendor.wire === 'responses' && route.wire === 'responses';
  return {
    id: response.id,
    userId,
    providerId: route.providerId,
    keptByProvider: isOwn && isStored && !isBackground && route.capabilities.keepsState,
    ...(previousId === undefined ? {} : { previousId }),
    input,
    response: { ...response, output: withIds(response.output, body.output) },
    body,
  };
}

/** Clients know the items by the ids that they were given with. */
function withIds(output: readonly OutputItem[], given: unknown): readonly OutputItem[] {
  if (!Array.isArray(given) || given.length !== output.length) return output;
  return output.map((item, index) => {
    const told: unknown = given[index];
    return isObject(told) && typeof told.id === 'string' && item.id === undefined ? { ...item, id: told.id } : item;
  });
}

/** The response as the stream's last event told it. */
function terminalBody(frames: readonly string[]): JsonObject {
  for (const frame of frames) {
    if (!TERMINAL.test(frame)) continue;
    const event: unknown = JSON.parse(frame.slice(frame.indexOf('\ndata: ') + '\ndata: '.length));
    if (isObject(event) && isObject(event.response)) return event.response;
  }
  return {};
}

const TERMINAL = /^event: response\.(?:completed|incomplete|failed)\n/;
